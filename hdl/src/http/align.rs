//! A beat turned to the byte that a step begins at, and values that wait while the block pauses.
use crate::leaf::Context;
use rust_hdl::prelude::*;

/// A beat without the bytes before a place, in two steps: whole lanes, then bytes of a lane. `B` is `8 * W`.
#[derive(LogicBlock, Default)]
pub struct DropBytes<const B: usize> {
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes to drop, up to 7.
    pub count: Signal<In, Bits<3>>,
    /// What is left, zeros above it.
    pub rest: Signal<Out, Bits<B>>,
}

impl<const B: usize> Logic for DropBytes<B> {
    fn update(&mut self) {
        self.rest.next = dropped(self.data.val(), 8 * self.count.val().index());
    }
    fn connect(&mut self) {
        self.rest.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) rest = data >> {count, 3'd0};\n".into())
    }
}

/// See [`DropBytes`].
#[derive(LogicBlock, Default)]
pub struct DropLanes<const B: usize> {
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Lanes to drop, fewer than the beat has.
    pub count: Signal<In, Bits<3>>,
    /// What is left, zeros above it.
    pub rest: Signal<Out, Bits<B>>,
}

impl<const B: usize> Logic for DropLanes<B> {
    fn update(&mut self) {
        let lanes = B / 64;
        self.rest.next = dropped(self.data.val(), 64 * (self.count.val().index() & (lanes - 1)));
    }
    fn connect(&mut self) {
        self.rest.connect();
    }
    fn hdl(&self) -> Verilog {
        let bits = (B / 64).trailing_zeros();
        Verilog::Custom(match bits {
            0 => "always @(*) rest = data;\n".to_string(),
            _ => format!("always @(*) rest = data >> {{count[{}:0], 6'd0}};\n", bits - 1),
        })
    }
}

fn dropped<const B: usize>(data: Bits<B>, by: usize) -> Bits<B> {
    if by == 0 {
        return data;
    }
    let mut rest = [false; B];
    rest.iter_mut().enumerate().for_each(|(i, bit)| *bit = i + by < B && data.get_bit(i + by));
    Bits::Long(rest.into())
}

/// A mask of so many bytes, from the lowest up; all of them if there are more.
#[derive(LogicBlock, Default)]
pub struct Mask<const W: usize> {
    /// Bytes.
    pub count: Signal<In, Bits<7>>,
    /// A bit for each.
    pub mask: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for Mask<W> {
    fn update(&mut self) {
        let count = self.count.val().index().min(W);
        self.mask.next = (0..count).fold(Bits::default(), |mask: Bits<W>, i| mask.replace_bit(i, true));
    }
    fn connect(&mut self) {
        self.mask.connect();
    }
    fn hdl(&self) -> Verilog {
        let bits: String = (0..W).map(|i| format!("  mask[{i}] = count > 7'd{i};\n")).collect();
        Verilog::Custom(format!("always @(*) begin\n{bits}end\n"))
    }
}

/// Delays `W` bits by `N` clocks with `go`, at least 2; without it nothing moves. One shift register, as `leaf::Delay`.
#[derive(LogicBlock, Default)]
pub struct Line<const W: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A step is made.
    pub go: Signal<In, Bit>,
    /// Value.
    pub d: Signal<In, Bits<W>>,
    /// Value of `N` steps before.
    pub q: Signal<Out, Bits<W>>,
    _line: std::collections::VecDeque<Bits<W>>,
}

impl<const W: usize, const N: usize> Logic for Line<W, N> {
    fn update(&mut self) {
        if self._line.is_empty() {
            self._line.extend([Bits::default(); N]);
        }
        if self.clock.pos_edge() && self.go.val() {
            self._line.pop_front();
            self._line.push_back(self.d.val());
            self.q.next = self._line[0];
        }
    }
    fn connect(&mut self) {
        self.q.connect();
    }
    fn hdl(&self) -> Verilog {
        assert!(N >= 2, "a delay of one clock is a flip-flop");
        Verilog::Custom(format!(
            "reg [{top}:0] line;\n\
             initial begin\n  line = 0;\n  q = 0;\nend\n\
             always @(posedge clock) if (go) begin\n  line <= {shifted};\n  q <= line[{top} -: {w}];\nend\n",
            top = W * (N - 1) - 1,
            w = W,
            shifted = if N == 2 { "d".to_string() } else { format!("{{line[{}:0], d}}", W * (N - 2) - 1) }
        ))
    }
}

/// The state of one stage, for every connection, in a pipeline that stands still without `go`; see `leaf::Context`.
#[derive(LogicBlock, Default)]
pub struct Slice<const S: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A step is made.
    pub go: Signal<In, Bit>,
    /// Connection at the stage after the next step.
    pub ahead: Signal<In, Bits<A>>,
    /// Connection at the stage.
    pub connection: Signal<In, Bits<A>>,
    /// With a step `state_next` is kept.
    pub valid: Signal<In, Bit>,
    /// Begin with a state of zero.
    pub first: Signal<In, Bit>,
    /// State before.
    pub state: Signal<Out, Bits<S>>,
    /// State after.
    pub state_next: Signal<In, Bits<S>>,
    kept: Context<S, A>,
}

impl<const S: usize, const A: usize> Logic for Slice<S, A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.kept.clock.next = self.clock.val();
        self.kept.next_connection.next = self.connection.val();
        if self.go.val() {
            self.kept.next_connection.next = self.ahead.val();
        }
        self.kept.connection.next = self.connection.val();
        self.kept.valid.next = self.valid.val() & self.go.val();
        self.kept.first.next = self.first.val();
        self.kept.state_next.next = self.state_next.val();
        self.state.next = self.kept.state.val();
    }
}

/// The state of the connection at work, where that stays for some clocks or changes: as `leaf::Context`, but for what the
/// next connection is, which is known late. The lower `S - K` bits begin with zero where `first` is set.
#[derive(LogicBlock, Default)]
pub struct Turn<const S: usize, const K: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Connection at work.
    pub connection: Signal<In, Bits<A>>,
    /// That of the next beat.
    pub other: Signal<In, Bits<A>>,
    /// The next beat is at work in the next clock.
    pub turn: Signal<In, Bit>,
    /// `state_next` is to be kept.
    pub valid: Signal<In, Bit>,
    /// Begin with zero.
    pub first: Signal<In, Bit>,
    /// State before.
    pub state: Signal<Out, Bits<S>>,
    /// State after.
    pub state_next: Signal<In, Bits<S>>,
    _words: Vec<Bits<S>>,
    _read: Bits<S>,
    _held: Bits<S>,
    _held_connection: usize,
    _again: bool,
}

impl<const S: usize, const K: usize, const A: usize> Logic for Turn<S, K, A> {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![Bits::default(); 1 << A];
        }
        if self.clock.pos_edge() {
            let next = if self.turn.val() { self.other.val() } else { self.connection.val() }.index();
            self._read = self._words[next];
            if self.valid.val() {
                self._words[self.connection.val().index()] = self.state_next.val();
                self._held = self.state_next.val();
                self._held_connection = self.connection.val().index();
            }
            self._again = self._held_connection == next;
        }
        let state = if self._again { self._held } else { self._read };
        let cleared = if self.first.val() { S - K } else { 0 };
        self.state.next = (0..cleared).fold(state, |state, i| state.replace_bit(i, false));
    }
    fn connect(&mut self) {
        self.state.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check *) reg [{s}:0] words [0:{last}];\n\
             reg [{s}:0] read, held, now;\n\
             reg [{a}:0] held_connection;\n\
             reg again;\n\
             wire [{a}:0] next = turn ? other : connection;\n\
             wire turns = valid ? connection == other : held_connection == other;\n\
             wire stays = valid | (held_connection == connection);\n\
             integer k;\n\
             initial begin\n  read = 0;\n  held = 0;\n  held_connection = 0;\n  again = 0;\n  \
             for (k = 0; k <= {last}; k = k + 1) words[k] = 0;\nend\n\
             always @(posedge clock) begin\n  read <= words[next];\n  again <= turn ? turns : stays;\n  \
             if (valid) begin\n    words[connection] <= state_next;\n    held <= state_next;\n    \
             held_connection <= connection;\n  end\nend\n\
             always @(*) begin\n  now = again ? held : read;\n  \
             state = {{now[{s} -: {K}], now[{low}:0] & {{{cleared}{{~first}}}}}};\nend\n",
            s = S - 1,
            a = A - 1,
            low = S - K - 1,
            cleared = S - K,
            last = (1usize << A) - 1
        ))
    }
}
