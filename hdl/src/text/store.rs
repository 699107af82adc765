//! The texts of all connections.
use super::{from_bytes, to_bytes, TEXT_BYTES};
use rust_hdl::prelude::*;

/// `TEXT_BYTES` bytes for each of `2^A` connections, written byte by byte. `B` is `8 * W`.
///
/// Bytes are only ever added, so nothing has to be read in order to write. The word is read one clock ahead; what the
/// beat right before added comes from a register, as the memory would not have it yet. Bytes behind the text read as
/// zero, so nothing has to be cleared either.
#[derive(LogicBlock, Default)]
pub struct Store<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Connection of the beat of the next clock.
    pub next_connection: Signal<In, Bits<A>>,
    /// That beat continues the text of this one.
    pub forward: Signal<In, Bit>,
    /// Connection of the beat.
    pub connection: Signal<In, Bits<A>>,
    /// Keep the beat. Not in a clock with `forward` whose next beat shows its text.
    pub we: Signal<In, Bit>,
    /// The beat by lanes; zero where nothing is taken.
    pub lanes: Signal<In, Bits<B>>,
    /// Bytes that are in the text already.
    pub old: Signal<In, Bits<64>>,
    /// Bytes where the beat goes.
    pub room: Signal<In, Bits<64>>,
    /// The text with the beat.
    pub text: Signal<Out, Bits<512>>,
    _words: Vec<[u8; TEXT_BYTES]>,
    _read: Vec<u8>,
    _forwarded: Vec<Option<u8>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Store<W, B, A> {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![[0; TEXT_BYTES]; 1 << A];
            self._read = vec![0; TEXT_BYTES];
            self._forwarded = vec![None; TEXT_BYTES];
        }
        let (lanes, old, room) = (to_bytes(&self.lanes.val()), self.old.val(), self.room.val());
        if self.clock.pos_edge() {
            let (forward, we) = (self.forward.val(), self.we.val());
            self._read.copy_from_slice(&self._words[self.next_connection.val().index()]);
            let word = &mut self._words[self.connection.val().index()];
            for j in 0..TEXT_BYTES {
                let byte = room.get_bit(j).then_some(lanes[j % W]);
                self._forwarded[j] = byte.filter(|_| forward);
                word[j] = byte.filter(|_| we).unwrap_or(word[j]);
            }
        }
        self.text.next = from_bytes(|j| match (old.get_bit(j), room.get_bit(j)) {
            (true, _) => self._forwarded[j].unwrap_or(self._read[j]),
            (false, true) => lanes[j % W],
            (false, false) => 0,
        });
    }
    fn connect(&mut self) {
        self.text.connect();
    }
    fn hdl(&self) -> Verilog {
        let (b, last) = (B - 1, (1usize << A) - 1);
        let copies = TEXT_BYTES / W;
        let byte = "[8*i +: 8]";
        let mut code = format!("(* no_rw_check *) reg [511:0] words [0:{last}];\nreg [511:0] read;\n");
        code += &format!("reg [{b}:0] kept;\nreg [63:0] forwarded;\ninteger i, k;\n");
        code +=
            &format!("wire [511:0] placed = {{{copies}{{lanes}}}};\nwire [511:0] earlier = {{{copies}{{kept}}}};\n");
        code += "initial begin\n  read = 0;\n  kept = 0;\n  forwarded = 0;\n";
        code += &format!("  for (k = 0; k <= {last}; k = k + 1) words[k] = 0;\nend\n");
        code += "always @(posedge clock) begin\n  read <= words[next_connection];\n  kept <= lanes;\n";
        code += "  forwarded <= room & {64{forward}};\n  for (k = 0; k < 64; k = k + 1)\n";
        code += "    if (we & room[k]) words[connection][8*k +: 8] <= placed[8*k +: 8];\nend\n";
        code += &format!("always @(*)\n  for (i = 0; i < 64; i = i + 1)\n    text{byte} = old[i] ? ");
        code += &format!("(forwarded[i] ? earlier{byte} : read{byte}) : placed{byte} & {{8{{room[i]}}}};\n");
        Verilog::Custom(code)
    }
}
