//! One SipRound, and the packing of a state.
use rust_hdl::prelude::*;

/// One round of SipHash over four words; wires only.
#[derive(LogicBlock, Default)]
pub struct SipRound {
    /// The words before.
    pub v: [Signal<In, Bits<64>>; 4],
    /// The words after.
    pub w: [Signal<Out, Bits<64>>; 4],
    sum0: Signal<Local, Bits<64>>,
    sum2: Signal<Local, Bits<64>>,
    // each rotation is two shifts, each in a place of its own
    v1_up13: Signal<Local, Bits<64>>,
    v1_down51: Signal<Local, Bits<64>>,
    v3_up16: Signal<Local, Bits<64>>,
    v3_down48: Signal<Local, Bits<64>>,
    mid1: Signal<Local, Bits<64>>,
    mid3: Signal<Local, Bits<64>>,
    sum0_up32: Signal<Local, Bits<64>>,
    sum0_down32: Signal<Local, Bits<64>>,
    mid0: Signal<Local, Bits<64>>,
    end0: Signal<Local, Bits<64>>,
    end2: Signal<Local, Bits<64>>,
    mid1_up17: Signal<Local, Bits<64>>,
    mid1_down47: Signal<Local, Bits<64>>,
    mid3_up21: Signal<Local, Bits<64>>,
    mid3_down43: Signal<Local, Bits<64>>,
    end2_up32: Signal<Local, Bits<64>>,
    end2_down32: Signal<Local, Bits<64>>,
}

impl Logic for SipRound {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum0.next = self.v[0].val() + self.v[1].val();
        self.sum2.next = self.v[2].val() + self.v[3].val();
        self.v1_up13.next = self.v[1].val() << 13;
        self.v1_down51.next = self.v[1].val() >> 51;
        self.mid1.next = (self.v1_up13.val() | self.v1_down51.val()) ^ self.sum0.val();
        self.v3_up16.next = self.v[3].val() << 16;
        self.v3_down48.next = self.v[3].val() >> 48;
        self.mid3.next = (self.v3_up16.val() | self.v3_down48.val()) ^ self.sum2.val();
        self.sum0_up32.next = self.sum0.val() << 32;
        self.sum0_down32.next = self.sum0.val() >> 32;
        self.mid0.next = self.sum0_up32.val() | self.sum0_down32.val();
        self.end2.next = self.sum2.val() + self.mid1.val();
        self.end0.next = self.mid0.val() + self.mid3.val();
        self.mid1_up17.next = self.mid1.val() << 17;
        self.mid1_down47.next = self.mid1.val() >> 47;
        self.mid3_up21.next = self.mid3.val() << 21;
        self.mid3_down43.next = self.mid3.val() >> 43;
        self.end2_up32.next = self.end2.val() << 32;
        self.end2_down32.next = self.end2.val() >> 32;
        self.w[0].next = self.end0.val();
        self.w[1].next = (self.mid1_up17.val() | self.mid1_down47.val()) ^ self.end2.val();
        self.w[2].next = self.end2_up32.val() | self.end2_down32.val();
        self.w[3].next = (self.mid3_up21.val() | self.mid3_down43.val()) ^ self.end0.val();
    }
}

/// Five words to one, the first one lowest.
#[derive(LogicBlock, Default)]
pub struct PackState {
    /// The words.
    pub word: [Signal<In, Bits<64>>; 5],
    /// All of them.
    pub state: Signal<Out, Bits<320>>,
}

impl Logic for PackState {
    fn update(&mut self) {
        let mut bits = [false; 320];
        for (i, bit) in bits.iter_mut().enumerate() {
            *bit = self.word[i / 64].val().get_bit(i % 64);
        }
        self.state.next = Bits::Long(bits.into());
    }
    fn connect(&mut self) {
        self.state.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) state = {word$4, word$3, word$2, word$1, word$0};\n".into())
    }
}
