//! The beat behind the one at work.
use super::beat::{HeaderEnds, LineEnds};
use super::function::function;
use rust_hdl::prelude::*;

function! {
    /// What a beat says beside its bytes, in one word.
    Notes, notes, notes_text;
    NotesIn {
        /// First beat of a connection.
        start: [Bit],
        /// The connection ends.
        close: [Bit],
        /// Command.
        command: [Bits<2>],
        /// Bank of the command.
        bank: [Bit],
        /// Reason of the command.
        reason: [Bits<5>],
    }
    NotesOut {
        /// All of them, the first one lowest.
        word: [Bits<10>],
    }
}

fn notes(i: NotesIn) -> NotesOut {
    NotesOut { word: i.start | i.close << 1 | i.command << 2 | i.bank << 4 | i.reason << 5 }
}

fn notes_text() -> String {
    "always @(*) word = {reason, bank, command, close, start};\n".into()
}

/// Takes a beat while the one before it is at work, and looks for line ends in it.
#[derive(LogicBlock, Default)]
pub struct Intake<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A step is made.
    pub go: Signal<In, Bit>,
    /// There is a beat at the input.
    pub s_valid: Signal<In, Bit>,
    /// It is taken.
    pub s_ready: Signal<Out, Bit>,
    /// Bytes, first one lowest.
    pub s_data: Signal<In, Bits<B>>,
    /// How many there are.
    pub s_count: Signal<In, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<In, Bits<A>>,
    /// As `Notes` says.
    pub s_notes: Signal<In, Bits<10>>,
    /// The beat is handed on.
    pub take: Signal<In, Bit>,
    /// There is one.
    pub valid: Signal<Out, Bit>,
    /// Its bytes.
    pub data: Signal<Out, Bits<B>>,
    /// How many there are.
    pub count: Signal<Out, Bits<7>>,
    /// Its connection.
    pub connection: Signal<Out, Bits<A>>,
    /// As `Notes` says.
    pub notes: Signal<Out, Bits<10>>,
    /// A header may end with this byte.
    pub ends: Signal<Out, Bits<W>>,
    /// As `HeaderEnds` says.
    pub edges: Signal<Out, Bits<11>>,
    line_ends: LineEnds<W, B>,
    header_ends: HeaderEnds<W>,
    r_valid: DFF<Bit>,
    r_data: DFF<Bits<B>>,
    r_lf: DFF<Bits<W>>,
    r_cr: DFF<Bits<W>>,
    r_count: DFF<Bits<7>>,
    r_connection: DFF<Bits<A>>,
    r_notes: DFF<Bits<10>>,
    free: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Intake<W, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_valid, r_data, r_lf, r_cr, r_count, r_connection, r_notes);
        self.free.next = self.go.val() & (!self.r_valid.q.val() | self.take.val());
        self.s_ready.next = self.free.val();
        self.line_ends.data.next = self.s_data.val();
        // a beat that is handed on leaves room, as `take` comes with `go` only; what is offered is kept whether or not it is
        // valid, so that only `free` has to come in time
        if self.free.val() {
            self.r_valid.d.next = self.s_valid.val();
            self.r_data.d.next = self.s_data.val();
            self.r_lf.d.next = self.line_ends.lf.val();
            self.r_cr.d.next = self.line_ends.cr.val();
            self.r_count.d.next = self.s_count.val();
            self.r_connection.d.next = self.s_connection.val();
            self.r_notes.d.next = self.s_notes.val();
        }
        self.header_ends.lf.next = self.r_lf.q.val();
        self.header_ends.cr.next = self.r_cr.q.val();
        self.header_ends.count.next = self.r_count.q.val();
        self.valid.next = self.r_valid.q.val();
        self.data.next = self.r_data.q.val();
        self.count.next = self.r_count.q.val();
        self.connection.next = self.r_connection.q.val();
        self.notes.next = self.r_notes.q.val();
        self.ends.next = self.header_ends.ends.val();
        self.edges.next = self.header_ends.edges.val();
        if self.reset.val() {
            self.r_valid.d.next = false;
        }
    }
}
