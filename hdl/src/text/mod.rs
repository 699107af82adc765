//! Keeps the text of the last model of each request; see the page beside this file.
mod cut;
mod length;
mod place;
mod store;

pub use cut::Cut;
pub use length::{Length, Run};
pub use place::{Room, Turn, TurnWords};
pub use store::Store;

use crate::leaf::Context;
use forebay_spec::limits::MODEL_NAME_BYTES_MAX;
use rust_hdl::prelude::*;

/// Bytes of a text that are kept.
pub const TEXT_BYTES: usize = 64;
/// What `out_bytes` is for a text of more than [`TEXT_BYTES`].
pub const OVER: usize = TEXT_BYTES + 1;
/// Bytes of the widest beat that needs two clocks alone.
pub const NARROW: usize = 8;

/// Clocks from the last beat of a request at the input to its text at the output, by the bytes of a beat.
pub const fn latency_clocks(width: usize) -> usize {
    if width <= NARROW {
        2
    } else {
        3
    }
}

// Widths of the ports below.
const _: () = assert!(TEXT_BYTES == MODEL_NAME_BYTES_MAX && 8 * TEXT_BYTES == 512 && OVER < 1 << 7);

/// Bytes of a word, the lowest first; zero behind them.
fn to_bytes<const B: usize>(word: &Bits<B>) -> [u8; TEXT_BYTES] {
    let mut bytes = [0; TEXT_BYTES];
    (0..B).for_each(|i| bytes[i / 8] |= u8::from(word.get_bit(i)) << (i % 8));
    bytes
}

/// The word of these bytes; more than 32 bits.
fn from_bytes<const B: usize>(byte: impl Fn(usize) -> u8) -> Bits<B> {
    let mut bits = [false; B];
    for (i, lane) in bits.chunks_mut(8).enumerate() {
        let byte = byte(i);
        lane.iter_mut().enumerate().for_each(|(k, bit)| *bit = byte >> k & 1 == 1);
    }
    Bits::Long(bits.into())
}

/// The block: `W` bytes a beat, 8 to 64, `B` is `8 * W`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Text<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// There is a beat at the input. It is always taken.
    pub text_valid: Signal<In, Bit>,
    /// First beat of a request.
    pub text_first: Signal<In, Bit>,
    /// Last beat of a request: its text follows.
    pub text_last: Signal<In, Bit>,
    /// Connection of the beat.
    pub text_connection: Signal<In, Bits<A>>,
    /// Bank of the request; looked at with `text_last`.
    pub text_bank: Signal<In, Bit>,
    /// Bytes, first one lowest.
    pub text_data: Signal<In, Bits<B>>,
    /// A value of the model starts in this beat: what was captured before is dropped.
    pub text_clear: Signal<In, Bit>,
    /// Bytes of its string in this beat: one run without a gap, or none.
    pub text_take: Signal<In, Bits<W>>,
    /// The string closes in this beat.
    pub text_end: Signal<In, Bit>,
    /// The text of a request, for one clock. It must be taken.
    pub out_valid: Signal<Out, Bit>,
    /// Bank of the request.
    pub out_bank: Signal<Out, Bit>,
    /// The last value of the model is a string that has closed; otherwise text and length tell nothing.
    pub out_present: Signal<Out, Bit>,
    /// Its first bytes, the first one lowest, zero behind them.
    pub out_text: Signal<Out, Bits<512>>,
    /// Its length, bytes; [`OVER`] for all that are longer than [`TEXT_BYTES`].
    pub out_bytes: Signal<Out, Bits<7>>,
    // stage 1: which bytes are taken
    run: Run<W, B>,
    s1_valid: DFF<Bit>,
    s1_last: DFF<Bit>,
    s1_connection: DFF<Bits<A>>,
    s1_bank: DFF<Bit>,
    s1_clear: DFF<Bit>,
    s1_end: DFF<Bit>,
    s1_taken: DFF<Bits<B>>,
    s1_any: DFF<Bit>,
    s1_start: DFF<Bits<6>>,
    s1_more: DFF<Bits<6>>,
    // stage 2: the length; 7 bits of it, and one that says that the string has closed
    so_far: Context<8, A>,
    length: Length<W>,
    space: Room<W>,
    closed: Signal<Local, Bit>,
    present: Signal<Local, Bit>,
    kept: Signal<Local, Bits<8>>,
    again: Signal<Local, Bit>,
    connection_ahead: Cut<Bits<A>, W>,
    connection: Cut<Bits<A>, W>,
    forward: Cut<Bit, W>,
    we: Cut<Bit, W>,
    data: Cut<Bits<B>, W>,
    turn: Turn<B>,
    words: Cut<Bits<3>, W>,
    old: Cut<Bits<64>, W>,
    room: Cut<Bits<64>, W>,
    shows: Cut<Bit, W>,
    shows_bank: Cut<Bit, W>,
    shows_present: Cut<Bit, W>,
    shows_bytes: Cut<Bits<7>, W>,
    // the same stage or one more: the bytes, behind those that are there
    turn_words: TurnWords<B>,
    store: Store<W, B, A>,
    r_valid: DFF<Bit>,
    r_bank: DFF<Bit>,
    r_present: DFF<Bit>,
    r_text: DFF<Bits<512>>,
    r_bytes: DFF<Bits<7>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Text<W, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_valid, s1_last, s1_connection, s1_bank, s1_clear, s1_end);
        dff_setup!(self, clock, s1_taken, s1_any, s1_start, s1_more);
        dff_setup!(self, clock, r_valid, r_bank, r_present, r_text, r_bytes);
        clock!(self, clock, so_far, store, connection_ahead, connection, forward, we, data, words);
        clock!(self, clock, old, room, shows, shows_bank, shows_present, shows_bytes);
        // 1: which bytes are taken
        self.run.data.next = self.text_data.val();
        self.run.take.next = self.text_take.val();
        self.s1_valid.d.next = self.text_valid.val();
        self.s1_last.d.next = self.text_last.val();
        self.s1_connection.d.next = self.text_connection.val();
        self.s1_bank.d.next = self.text_bank.val();
        self.s1_clear.d.next = self.text_clear.val() | self.text_first.val();
        self.s1_end.d.next = self.text_end.val();
        self.s1_taken.d.next = self.run.taken.val();
        self.s1_any.d.next = self.run.any.val();
        self.s1_start.d.next = self.run.start.val();
        self.s1_more.d.next = self.run.more.val();
        // 2: the length
        self.so_far.next_connection.next = self.text_connection.val();
        self.so_far.connection.next = self.s1_connection.q.val();
        self.so_far.valid.next = self.s1_valid.q.val();
        self.so_far.first.next = self.s1_clear.q.val();
        self.closed.next = self.so_far.state.val().get_bit(7);
        self.length.count.next = self.so_far.state.val().get_bits::<7>(0);
        self.length.closed.next = self.closed.val();
        self.length.any.next = self.s1_any.q.val();
        self.length.start.next = self.s1_start.q.val();
        self.length.more.next = self.s1_more.q.val();
        self.present.next = self.closed.val() | self.s1_end.q.val();
        self.kept.next = bit_cast::<8, 7>(self.length.count_next.val());
        if self.present.val() {
            self.kept.next = self.kept.val() | 0x80;
        }
        self.so_far.state_next.next = self.kept.val();
        // the memory is not written in the clock in which the next beat reads the same text to show it
        self.again.next = self.s1_connection.q.val() == self.text_connection.val();
        self.connection_ahead.d.next = self.text_connection.val();
        self.connection.d.next = self.s1_connection.q.val();
        self.forward.d.next = self.s1_valid.q.val() & self.again.val();
        self.we.d.next = self.s1_valid.q.val() & !(self.again.val() & self.text_valid.val() & self.text_last.val());
        self.turn.data.next = self.s1_taken.q.val();
        self.turn.lanes.next = self.length.turn.val().get_bits::<3>(0);
        self.data.d.next = self.turn.turned.val();
        self.words.d.next = self.length.turn.val().get_bits::<3>(3);
        self.space.count.next = self.so_far.state.val().get_bits::<7>(0);
        self.space.closed.next = self.closed.val();
        self.old.d.next = self.space.old.val();
        self.room.d.next = self.space.room.val();
        self.shows.d.next = self.s1_valid.q.val() & self.s1_last.q.val() & !self.reset.val();
        self.shows_bank.d.next = self.s1_bank.q.val();
        self.shows_present.d.next = self.present.val();
        self.shows_bytes.d.next = self.length.count_next.val();
        // 2 or 3: the bytes, behind those that are there
        self.turn_words.data.next = self.data.q.val();
        self.turn_words.words.next = self.words.q.val();
        self.store.next_connection.next = self.connection_ahead.q.val();
        self.store.forward.next = self.forward.q.val();
        self.store.connection.next = self.connection.q.val();
        self.store.we.next = self.we.q.val();
        self.store.lanes.next = self.turn_words.turned.val();
        self.store.old.next = self.old.q.val();
        self.store.room.next = self.room.q.val();
        self.r_valid.d.next = self.shows.q.val() & !self.reset.val();
        self.r_bank.d.next = self.shows_bank.q.val();
        self.r_present.d.next = self.shows_present.q.val();
        self.r_text.d.next = self.store.text.val();
        self.r_bytes.d.next = self.shows_bytes.q.val();
        // out
        self.out_valid.next = self.r_valid.q.val();
        self.out_bank.next = self.r_bank.q.val();
        self.out_present.next = self.r_present.q.val();
        self.out_text.next = self.r_text.q.val();
        self.out_bytes.next = self.r_bytes.q.val();
        if self.reset.val() {
            self.s1_valid.d.next = false;
        }
    }
}
