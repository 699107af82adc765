//! Walks the beats: lanes of headers, bodies, and what has no bytes, a step a clock.
use super::align::Turn;
use super::beat::{BodyStep, LaneEnd, LaneOf};
use super::function::{function, parts};
use crate::leaf::Ram;
use rust_hdl::prelude::*;

/// Bits of a connection's state.
const STATE_BITS: usize = 36;
/// Bits of the number of a connection's life: there are more lives than steps in the pipeline.
pub(crate) const LIFE_BITS: usize = 5;

parts! {
    /// State of one connection; all zero between requests, but for its life.
    PackFramer, UnpackFramer, 36;
    /// 0 header, 1 body, 2 dead.
    phase: [Bits<2>],
    /// Bytes of the request have come.
    started: [Bit],
    /// The last byte is a line feed.
    lf: [Bit],
    /// The last two are a line feed and a carriage return.
    two: [Bit],
    /// Bytes of the body to come.
    left: [Bits<25>],
    /// There are more than 127.
    many: [Bit],
    /// How often connections with this number have begun, modulo 32.
    life: [Bits<5>],
}

function! {
    /// What goes along with a step to the gate, in one word.
    Along, along, along_text;
    AlongIn {
        /// As `Notes` says.
        notes: [Bits<10>],
        /// The first bit of `notes` counts.
        start: [Bit],
        /// The others do.
        special: [Bit],
        /// The step is bytes of a body.
        body: [Bit],
        /// The header or the body ends with it.
        last: [Bit],
        /// Life of the connection.
        life: [Bits<5>],
        /// Bytes.
        count: [Bits<7>],
    }
    AlongOut {
        /// All of them; the lower ones are those of `notes`.
        word: [Bits<24>],
    }
}

fn along(i: AlongIn) -> AlongOut {
    let notes = if i.special == 1 { i.notes & !1 } else { 0 };
    AlongOut { word: notes | i.start | i.body << 10 | i.last << 11 | i.life << 12 | i.count << 17 }
}

fn along_text() -> String {
    "always @(*) word = {count, life, last, body, notes[9:1] & {9{special}}, start};\n".into()
}

/// Makes a step a clock of the beats.
///
/// A lane of a header is a step, until the header ends; then the verdict on it is waited for. The bytes of a body in
/// one beat are a step. A beat without bytes is one, and so is one of a connection that is dead.
#[derive(LogicBlock, Default)]
pub struct Framer<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A step may be made.
    pub go: Signal<In, Bit>,
    /// No lane of a header may be sent.
    pub hold: Signal<In, Bit>,
    /// There is a beat, as of `Intake`.
    pub s_valid: Signal<In, Bit>,
    /// It is taken.
    pub take: Signal<Out, Bit>,
    /// Bytes, first one lowest.
    pub s_data: Signal<In, Bits<B>>,
    /// How many there are.
    pub s_count: Signal<In, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<In, Bits<A>>,
    /// As `Notes` says.
    pub s_notes: Signal<In, Bits<10>>,
    /// A header may end with this byte.
    pub s_ends: Signal<In, Bits<W>>,
    /// As `HeaderEnds` says.
    pub s_edges: Signal<In, Bits<11>>,
    /// A header has got its verdict:
    pub verdict: Signal<In, Bit>,
    /// it is accepted,
    pub accepted: Signal<In, Bit>,
    /// its body is so long,
    pub body_bytes: Signal<In, Bits<25>>,
    /// and it has a credential,
    pub credential: Signal<In, Bit>,
    /// which is not looked up yet.
    pub looking: Signal<In, Bit>,
    /// The gate has seen a step: its connection,
    pub mark_valid: Signal<In, Bit>,
    /// see above,
    pub mark_connection: Signal<In, Bits<A>>,
    /// the connection's life, and whether it is dead.
    pub mark: Signal<In, Bits<6>>,
    /// There is a beat at work.
    pub busy: Signal<Out, Bit>,
    /// It is a command.
    pub commanded: Signal<Out, Bit>,
    /// There is a step.
    pub valid: Signal<Out, Bit>,
    /// It is a lane of a header.
    pub lane: Signal<Out, Bit>,
    /// It is the first of its request.
    pub first: Signal<Out, Bit>,
    /// Its connection.
    pub connection: Signal<Out, Bits<A>>,
    /// As `Along` says.
    pub along: Signal<Out, Bits<24>>,
    /// The beat.
    pub data: Signal<Out, Bits<B>>,
    /// Bytes of it before those of the step.
    pub offset: Signal<Out, Bits<6>>,
    /// Of a lane: its bytes up to the step's end.
    pub stop: Signal<Out, Bits<4>>,
    // the beat at work
    b_valid: DFF<Bit>,
    b_data: DFF<Bits<B>>,
    b_ends: DFF<Bits<W>>,
    b_count: DFF<Bits<7>>,
    b_connection: DFF<Bits<A>>,
    b_notes: DFF<Bits<10>>,
    b_edges: DFF<Bits<11>>,
    b_special: DFF<Bit>,
    /// No step of it has been made; the connection begins with the first.
    untouched: DFF<Bit>,
    is_start: DFF<Bit>,
    /// Bytes used up, bytes left, and whether there are any.
    used: DFF<Bits<7>>,
    rest: DFF<Bits<7>>,
    more: DFF<Bit>,
    /// Ends of headers in the lane at `used`, and whether they are those of this lane.
    lane_ends: DFF<Bits<8>>,
    fetched: DFF<Bit>,
    /// The header at work has ended, and its verdict is to come.
    waiting: DFF<Bit>,
    answered: DFF<Bit>,
    r_accepted: DFF<Bit>,
    r_body_bytes: DFF<Bits<25>>,
    r_credential: DFF<Bit>,
    // its connection
    contexts: Turn<STATE_BITS, LIFE_BITS, A>,
    marks: Ram<6, A>,
    /// The mark is not one that was being written.
    mark_counts: DFF<Bit>,
    now: UnpackFramer,
    then: PackFramer,
    next_connection: Signal<Local, Bits<A>>,
    mark_meets: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    is_dead: Signal<Local, Bit>,
    life: Signal<Local, Bits<5>>,
    mark_life: Signal<Local, Bits<5>>,
    in_header: Signal<Local, Bit>,
    in_body: Signal<Local, Bit>,
    run: Signal<Local, Bit>,
    header_step: Signal<Local, Bit>,
    fetch_step: Signal<Local, Bit>,
    body_step: Signal<Local, Bit>,
    drop_step: Signal<Local, Bit>,
    resume: Signal<Local, Bit>,
    no_body: Signal<Local, Bit>,
    gives_up: Signal<Local, Bit>,
    new_state: Signal<Local, Bit>,
    // a lane of a header
    early: Signal<Local, Bits<2>>,
    lane_end: LaneEnd,
    lane_now: Signal<Local, Bits<4>>,
    lane_next: Signal<Local, Bits<4>>,
    lane_used: Signal<Local, Bits<7>>,
    next_used: Signal<Local, Bits<7>>,
    fetch: LaneOf<W>,
    // a body
    step: BodyStep,
    // the step
    done: Signal<Local, Bit>,
    take_now: Signal<Local, Bit>,
    pack: Along,
    i_valid: DFF<Bit>,
    i_lane: DFF<Bit>,
    i_first: DFF<Bit>,
    i_connection: DFF<Bits<A>>,
    i_along: DFF<Bits<24>>,
    i_data: DFF<Bits<B>>,
    i_offset: DFF<Bits<6>>,
    i_stop: DFF<Bits<4>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Framer<W, B, A> {
    // tidy: long because one state machine reads best in one place
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, b_valid, b_data, b_ends, b_count, b_connection, b_notes, b_edges, b_special);
        dff_setup!(self, clock, untouched, is_start, used, rest, more, lane_ends, fetched, waiting, answered);
        dff_setup!(self, clock, r_accepted, r_body_bytes, r_credential, mark_counts);
        dff_setup!(self, clock, i_valid, i_lane, i_first, i_connection, i_along, i_data, i_offset, i_stop);
        clock!(self, clock, contexts, marks);

        // where the connection stands; a life that begins is alive, whatever the mark says
        self.contexts.connection.next = self.b_connection.q.val();
        self.contexts.other.next = self.s_connection.val();
        self.contexts.first.next = self.is_start.q.val();
        self.now.word.next = self.contexts.state.val();
        self.life.next = self.now.life.val();
        if self.is_start.q.val() {
            self.life.next = self.now.life.val() + 1;
        }
        self.mark_life.next = self.marks.rdata.val().get_bits::<5>(0);
        self.is_dead.next = self.mark_counts.q.val()
            & self.marks.rdata.val().get_bit(5)
            & !self.is_start.q.val()
            & (self.mark_life.val() == self.now.life.val());
        self.in_header.next = self.now.phase.val() == 0;
        self.in_body.next = self.now.phase.val() == 1;

        // what this clock does
        self.run.next = self.b_valid.q.val() & self.go.val() & !self.waiting.q.val();
        self.header_step.next =
            self.run.val() & self.more.q.val() & self.fetched.q.val() & !self.hold.val() & self.in_header.val();
        self.fetch_step.next = self.run.val() & self.more.q.val() & !self.fetched.q.val() & self.in_header.val();
        self.body_step.next = self.run.val() & self.more.q.val() & self.in_body.val();
        self.drop_step.next = self.run.val() & (!self.more.q.val() | self.now.phase.val().get_bit(1));
        self.resume.next = self.b_valid.q.val()
            & self.go.val()
            & self.waiting.q.val()
            & self.answered.q.val()
            & (!self.r_accepted.q.val() | !self.r_credential.q.val() | !self.looking.val());
        self.no_body.next = self.resume.val() & self.r_accepted.q.val() & !self.r_body_bytes.q.val().any();

        // a lane of a header: up to the end of the header, of the lane, of the beat
        self.is_last.next = self.used.q.val().get_bits::<3>(3) == self.b_edges.q.val().get_bits::<3>(4);
        self.early.next = 0.into();
        if self.untouched.q.val() & self.now.two.val() {
            self.early.next = self.early.val().replace_bit(0, true);
        }
        if self.untouched.q.val() & self.now.lf.val() & self.b_edges.q.val().get_bit(2) {
            self.early.next = self.early.val().replace_bit(1, true);
        }
        self.lane_end.ends.next = self.lane_ends.q.val();
        self.lane_end.early.next = self.early.val();
        self.lane_end.is_last.next = self.is_last.val();
        self.lane_end.bytes.next = self.b_edges.q.val().get_bits::<4>(7);
        self.lane_now.next = self.used.q.val().get_bits::<4>(3);
        self.lane_next.next = self.lane_now.val() + 1;
        self.fetch.mask.next = self.b_ends.q.val();
        self.fetch.place.next = self.used.q.val().get_bits::<3>(0);
        self.fetch.cut.next = !self.header_step.val();
        self.fetch.lane.next = self.used.q.val().get_bits::<3>(3);
        if self.header_step.val() {
            self.fetch.lane.next = self.lane_next.val().get_bits::<3>(0);
        }
        // bytes used up behind the lane, and at an end within it
        self.next_used.next = bit_cast::<7, 4>(self.lane_next.val()) << 3;
        self.lane_used.next =
            (bit_cast::<7, 4>(self.lane_now.val()) << 3) | bit_cast::<7, 3>(self.lane_end.stop.val().get_bits::<3>(0));

        // a body
        self.step.left.next = self.now.left.val();
        self.step.many.next = self.now.many.val();
        self.step.rest.next = self.rest.q.val();

        // where the beat stands
        if self.header_step.val() {
            self.used.d.next = self.lane_used.val();
            if self.lane_end.stop.val().get_bit(3) {
                self.used.d.next = self.next_used.val();
            }
            self.lane_ends.d.next = self.fetch.bits.val();
            self.untouched.d.next = false;
            self.is_start.d.next = false;
            self.waiting.d.next = self.lane_end.found.val();
        }
        if self.fetch_step.val() | self.waiting.q.val() {
            self.lane_ends.d.next = self.fetch.bits.val();
            self.fetched.d.next = true;
        }
        if self.body_step.val() {
            // counts if the body ends before the beat
            self.used.d.next = self.used.q.val() + self.step.low.val();
            self.rest.d.next = self.rest.q.val() - self.step.low.val();
            self.untouched.d.next = false;
            self.fetched.d.next = false;
        }
        if self.waiting.q.val() {
            self.rest.d.next = self.b_count.q.val() - self.used.q.val();
            self.more.d.next = self.b_count.q.val() != self.used.q.val();
        }
        if self.verdict.val() {
            self.answered.d.next = true;
            self.r_accepted.d.next = self.accepted.val();
            self.r_body_bytes.d.next = self.body_bytes.val();
            self.r_credential.d.next = self.credential.val();
        }
        if self.resume.val() {
            self.waiting.d.next = false;
            self.answered.d.next = false;
        }

        // the connection's next state
        self.gives_up.next = self.b_notes.q.val().get_bit(1) | (self.b_notes.q.val().get_bits::<2>(2) == 3);
        self.then.phase.next = self.now.phase.val();
        self.then.started.next = false;
        self.then.lf.next = false;
        self.then.two.next = false;
        self.then.left.next = self.step.left_next.val();
        self.then.many.next = false;
        if self.header_step.val() {
            self.then.started.next = true;
            self.then.lf.next = self.b_edges.q.val().get_bit(0);
            self.then.two.next = self.b_edges.q.val().get_bit(1);
            if self.b_edges.q.val().get_bit(3) {
                self.then.two.next = self.now.lf.val();
            }
            if self.is_dead.val() {
                self.then.phase.next = 2.into();
            }
        }
        if self.body_step.val() {
            self.then.many.next = self.step.many_next.val();
            if self.step.ends.val() {
                self.then.phase.next = 0.into();
            }
        }
        if self.resume.val() {
            self.then.left.next = self.r_body_bytes.q.val();
            self.then.many.next = self.r_body_bytes.q.val().get_bits::<18>(7).any();
            self.then.phase.next = 1.into();
            if self.no_body.val() {
                self.then.phase.next = 0.into();
            }
            if !self.r_accepted.q.val() {
                self.then.phase.next = 2.into();
            }
        }
        if self.drop_step.val() & self.gives_up.val() {
            self.then.phase.next = 2.into();
        }
        self.then.life.next = self.life.val();
        self.contexts.state_next.next = self.then.word.val();
        self.new_state.next = self.drop_step.val() & (self.is_start.q.val() | self.gives_up.val());
        self.contexts.valid.next =
            self.header_step.val() | self.body_step.val() | self.resume.val() | self.new_state.val();

        // the next beat
        self.done.next = self.drop_step.val()
            | (self.header_step.val() & self.is_last.val() & !self.lane_end.found.val())
            | (self.body_step.val() & self.step.whole.val())
            | (self.resume.val() & !self.more.q.val());
        self.take_now.next = self.go.val() & self.s_valid.val() & (!self.b_valid.q.val() | self.done.val());
        self.take.next = self.take_now.val();
        self.contexts.turn.next = self.take_now.val();
        self.next_connection.next = self.b_connection.q.val();
        self.mark_meets.next = self.mark_connection.val() == self.b_connection.q.val();
        if self.done.val() {
            self.b_valid.d.next = false;
        }
        if self.take_now.val() {
            self.next_connection.next = self.s_connection.val();
            self.mark_meets.next = self.mark_connection.val() == self.s_connection.val();
            self.b_valid.d.next = true;
            self.b_data.d.next = self.s_data.val();
            self.b_ends.d.next = self.s_ends.val();
            self.b_count.d.next = self.s_count.val();
            self.b_connection.d.next = self.s_connection.val();
            self.b_notes.d.next = self.s_notes.val();
            self.b_edges.d.next = self.s_edges.val();
            self.b_special.d.next = self.s_notes.val().get_bits::<4>(0).any();
            self.untouched.d.next = true;
            self.is_start.d.next = self.s_notes.val().get_bit(0);
            self.used.d.next = 0.into();
            self.rest.d.next = self.s_count.val();
            self.more.d.next = self.s_count.val().any();
            self.lane_ends.d.next = self.s_ends.val().get_bits::<8>(0);
            self.fetched.d.next = true;
        }
        self.marks.re.next = true;
        self.marks.raddr.next = self.next_connection.val();
        self.marks.we.next = self.mark_valid.val();
        self.marks.waddr.next = self.mark_connection.val();
        self.marks.wdata.next = self.mark.val();
        self.mark_counts.d.next = !self.mark_valid.val() | !self.mark_meets.val();
        self.busy.next = self.b_valid.q.val();
        self.commanded.next = self.b_valid.q.val() & self.b_notes.q.val().get_bits::<2>(2).any();

        // the step
        self.pack.notes.next = self.b_notes.q.val();
        self.pack.start.next = self.is_start.q.val();
        self.pack.special.next = self.drop_step.val();
        self.pack.body.next = self.body_step.val() | self.no_body.val();
        self.pack.life.next = self.life.val();
        self.pack.last.next = self.no_body.val();
        if self.header_step.val() {
            self.pack.last.next = self.lane_end.found.val();
        }
        self.pack.count.next = 0.into();
        if self.body_step.val() {
            self.pack.last.next = self.step.ends.val();
            self.pack.count.next = self.rest.q.val();
            if !self.step.whole.val() {
                self.pack.count.next = self.step.low.val();
            }
        }
        if self.go.val() {
            self.i_valid.d.next = self.header_step.val()
                | self.body_step.val()
                | self.no_body.val()
                | (self.drop_step.val() & self.b_special.q.val());
            self.i_lane.d.next = self.header_step.val();
            self.i_first.d.next = self.header_step.val() & !self.now.started.val();
            self.i_connection.d.next = self.b_connection.q.val();
            self.i_along.d.next = self.pack.word.val();
            self.i_data.d.next = self.b_data.q.val();
            self.i_offset.d.next = self.used.q.val().get_bits::<6>(0);
            self.i_stop.d.next = self.lane_end.stop.val();
        }
        self.valid.next = self.i_valid.q.val();
        self.lane.next = self.i_lane.q.val();
        self.first.next = self.i_first.q.val();
        self.connection.next = self.i_connection.q.val();
        self.along.next = self.i_along.q.val();
        self.data.next = self.i_data.q.val();
        self.offset.next = self.i_offset.q.val();
        self.stop.next = self.i_stop.q.val();
        if self.reset.val() {
            self.b_valid.d.next = false;
            self.waiting.d.next = false;
            self.answered.d.next = false;
            self.i_valid.d.next = false;
        }
    }
}
