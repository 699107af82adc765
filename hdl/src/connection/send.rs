//! What a segment leads to, sent on in order: bytes, marks, and what the host is told.
use super::hash::{RangeHash, RANGE_HASH_CLOCKS};
use forebay_spec::PuntReason;
use rust_hdl::prelude::*;

const OUT_OF_ORDER: usize = PuntReason::OutOfOrder.code() as usize;
const OVERLAP: usize = PuntReason::Overlap.code() as usize;

/// Sends beats to `http` and events to the host, and remembers ranges. `R` is the width of a connection number and 3.
#[derive(LogicBlock, Default)]
pub struct Send<const W: usize, const B: usize, const A: usize, const R: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// Key of the hash.
    pub key: Signal<In, Bits<128>>,
    /// There is a beat of payload.
    pub p_valid: Signal<In, Bit>,
    /// It is taken.
    pub p_ready: Signal<Out, Bit>,
    /// Its bytes.
    pub p_data: Signal<In, Bits<B>>,
    /// How many.
    pub p_count: Signal<In, Bits<7>>,
    /// Last beat of the range.
    pub p_last: Signal<In, Bit>,
    /// Payload is hashed, and not sent on; only while idle.
    pub only_hash: Signal<In, Bit>,
    /// A hash is there.
    pub hash_valid: Signal<Out, Bit>,
    /// It.
    pub hash: Signal<Out, Bits<32>>,
    /// There is something to send; only while `ready`.
    pub load: Signal<In, Bit>,
    /// It can be taken.
    pub ready: Signal<Out, Bit>,
    /// A clock before, nothing was under way and all ranges were remembered; so it is low from two clocks behind `load` on.
    pub idle: Signal<Out, Bit>,
    /// Its connection.
    pub connection: Signal<In, Bits<A>>,
    /// Its generation.
    pub generation: Signal<In, Bits<8>>,
    /// A start, with the first bytes or without any.
    pub begins: Signal<In, Bit>,
    /// A range of payload.
    pub passes: Signal<In, Bit>,
    /// Its bytes,
    pub bytes: Signal<In, Bits<14>>,
    /// and its index among those that are remembered.
    pub index: Signal<In, Bits<3>>,
    /// The connection is given up:
    pub gives_up: Signal<In, Bit>,
    /// for an overlap,
    pub overlap: Signal<In, Bit>,
    /// and this is the next sequence number.
    pub seq: Signal<In, Bits<32>>,
    /// `http` gets a close.
    pub ends: Signal<In, Bit>,
    /// The host is told of the end:
    pub tells: Signal<In, Bit>,
    /// code of the `CloseCause`.
    pub cause: Signal<In, Bits<3>>,
    /// A range is to be remembered: see `Compare`.
    pub write: Signal<Out, Bit>,
    /// Connection and index.
    pub write_at: Signal<Out, Bits<R>>,
    /// Length.
    pub write_bytes: Signal<Out, Bits<14>>,
    /// See `Connection`, as all below.
    pub s_valid: Signal<Out, Bit>,
    /// Beat taken.
    pub s_ready: Signal<In, Bit>,
    /// Bytes.
    pub s_data: Signal<Out, Bits<B>>,
    /// Count.
    pub s_count: Signal<Out, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<Out, Bits<A>>,
    /// Start.
    pub s_start: Signal<Out, Bit>,
    /// Close.
    pub s_close: Signal<Out, Bit>,
    /// Command.
    pub s_command: Signal<Out, Bits<2>>,
    /// Reason.
    pub s_reason: Signal<Out, Bits<5>>,
    /// There is something to tell the host.
    pub h_valid: Signal<Out, Bit>,
    /// It is taken.
    pub h_ready: Signal<In, Bit>,
    /// 1 given up, 2 closed.
    pub h_kind: Signal<Out, Bits<2>>,
    /// Connection.
    pub h_connection: Signal<Out, Bits<A>>,
    /// Generation.
    pub h_generation: Signal<Out, Bits<8>>,
    /// Reason or cause.
    pub h_why: Signal<Out, Bits<5>>,
    /// Sequence number.
    pub h_seq: Signal<Out, Bits<32>>,
    // what comes next
    n_valid: DFF<Bit>,
    n_connection: DFF<Bits<A>>,
    n_generation: DFF<Bits<8>>,
    n_begins: DFF<Bit>,
    n_passes: DFF<Bit>,
    n_bytes: DFF<Bits<14>>,
    n_index: DFF<Bits<3>>,
    n_gives_up: DFF<Bit>,
    n_overlap: DFF<Bit>,
    n_seq: DFF<Bits<32>>,
    n_ends: DFF<Bit>,
    n_tells: DFF<Bit>,
    n_cause: DFF<Bits<3>>,
    // what is sent: each flag until it is done
    t_connection: DFF<Bits<A>>,
    t_generation: DFF<Bits<8>>,
    t_begins: DFF<Bit>,
    t_passes: DFF<Bit>,
    t_bytes: DFF<Bits<14>>,
    t_index: DFF<Bits<3>>,
    t_gives_up: DFF<Bit>,
    t_given_up: DFF<Bit>,
    t_overlap: DFF<Bit>,
    t_seq: DFF<Bits<32>>,
    t_ends: DFF<Bit>,
    t_tells: DFF<Bit>,
    t_cause: DFF<Bits<3>>,
    // the beat
    o_valid: DFF<Bit>,
    o_data: DFF<Bits<B>>,
    o_count: DFF<Bits<7>>,
    o_connection: DFF<Bits<A>>,
    o_start: DFF<Bit>,
    o_close: DFF<Bit>,
    o_command: DFF<Bits<2>>,
    o_reason: DFF<Bits<5>>,
    // hashes on their way, of ranges that are to be remembered
    range: RangeHash<W, B>,
    r_idle: DFF<Bit>,
    remember: [DFF<Bit>; RANGE_HASH_CLOCKS],
    remember_at: [DFF<Bits<R>>; RANGE_HASH_CLOCKS],
    remember_bytes: [DFF<Bits<14>>; RANGE_HASH_CLOCKS],
    free: Signal<Local, Bit>,
    sends: Signal<Local, Bit>,
    beat: Signal<Local, Bit>,
    on_its_way: Signal<Local, Bit>,
    reason: Signal<Local, Bits<5>>,
    at: Signal<Local, Bits<R>>,
}

impl<const W: usize, const B: usize, const A: usize, const R: usize> Logic for Send<W, B, A, R> {
    // tidy: long because what is sent stands in two sets of registers
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, n_valid, n_connection, n_generation, n_begins, n_passes, n_bytes, n_index, n_gives_up);
        dff_setup!(self, clock, n_overlap, n_seq, n_ends, n_tells, n_cause, t_connection, t_generation, t_begins);
        dff_setup!(self, clock, t_passes, t_bytes, t_index, t_gives_up, t_given_up, t_overlap, t_seq, t_ends, t_tells);
        dff_setup!(self, clock, t_cause, o_valid, o_data, o_count, o_connection, o_start, o_close, o_command, o_reason);
        dff_setup!(self, clock, r_idle);
        clock!(self, clock, range);

        // the next thing
        self.sends.next = self.t_begins.q.val()
            | self.t_passes.q.val()
            | self.t_gives_up.q.val()
            | self.t_ends.q.val()
            | self.t_tells.q.val();
        self.ready.next = !self.n_valid.q.val();
        if !self.sends.val() & self.n_valid.q.val() {
            self.n_valid.d.next = false;
            self.t_connection.d.next = self.n_connection.q.val();
            self.t_generation.d.next = self.n_generation.q.val();
            self.t_begins.d.next = self.n_begins.q.val();
            self.t_passes.d.next = self.n_passes.q.val();
            self.t_bytes.d.next = self.n_bytes.q.val();
            self.t_index.d.next = self.n_index.q.val();
            self.t_gives_up.d.next = self.n_gives_up.q.val();
            self.t_given_up.d.next = self.n_gives_up.q.val();
            self.t_overlap.d.next = self.n_overlap.q.val();
            self.t_seq.d.next = self.n_seq.q.val();
            self.t_ends.d.next = self.n_ends.q.val();
            self.t_tells.d.next = self.n_tells.q.val();
            self.t_cause.d.next = self.n_cause.q.val();
        }
        if self.load.val() {
            self.n_valid.d.next = true;
            self.n_connection.d.next = self.connection.val();
            self.n_generation.d.next = self.generation.val();
            self.n_begins.d.next = self.begins.val();
            self.n_passes.d.next = self.passes.val();
            self.n_bytes.d.next = self.bytes.val();
            self.n_index.d.next = self.index.val();
            self.n_gives_up.d.next = self.gives_up.val();
            self.n_overlap.d.next = self.overlap.val();
            self.n_seq.d.next = self.seq.val();
            self.n_ends.d.next = self.ends.val();
            self.n_tells.d.next = self.tells.val();
            self.n_cause.d.next = self.cause.val();
        }

        // one beat after the other: payload, or a start, an abort and a close without bytes
        self.reason.next = 0.into();
        for code in OUT_OF_ORDER..(OUT_OF_ORDER + 1) {
            self.reason.next = code.to_bits::<5>();
        }
        for code in OVERLAP..(OVERLAP + 1) {
            if self.t_overlap.q.val() {
                self.reason.next = code.to_bits::<5>();
            }
        }
        self.free.next = !self.o_valid.q.val() | self.s_ready.val();
        self.p_ready.next = self.only_hash.val() | (self.t_passes.q.val() & self.free.val());
        self.beat.next = self.t_passes.q.val() & self.free.val() & self.p_valid.val();
        if self.free.val() {
            self.o_valid.d.next = false;
            self.o_start.d.next = false;
            self.o_close.d.next = false;
            self.o_command.d.next = 0.into();
            self.o_reason.d.next = 0.into();
            self.o_count.d.next = 0.into();
            self.o_connection.d.next = self.t_connection.q.val();
            if self.t_passes.q.val() {
                self.o_data.d.next = self.p_data.val();
                self.o_count.d.next = self.p_count.val();
                self.o_valid.d.next = self.p_valid.val();
                self.o_start.d.next = self.t_begins.q.val();
                if self.p_valid.val() {
                    self.t_begins.d.next = false;
                    self.t_passes.d.next = !self.p_last.val();
                }
            } else if self.t_begins.q.val() {
                self.o_valid.d.next = true;
                self.o_start.d.next = true;
                self.t_begins.d.next = false;
            } else if self.t_gives_up.q.val() {
                self.o_valid.d.next = true;
                self.o_command.d.next = 3.into();
                self.o_reason.d.next = self.reason.val();
                self.t_gives_up.d.next = false;
            } else if self.t_ends.q.val() {
                self.o_valid.d.next = true;
                self.o_close.d.next = true;
                self.t_ends.d.next = false;
            }
        }
        self.s_valid.next = self.o_valid.q.val();
        self.s_data.next = self.o_data.q.val();
        self.s_count.next = self.o_count.q.val();
        self.s_connection.next = self.o_connection.q.val();
        self.s_start.next = self.o_start.q.val();
        self.s_close.next = self.o_close.q.val();
        self.s_command.next = self.o_command.q.val();
        self.s_reason.next = self.o_reason.q.val();

        // then the host is told
        self.h_valid.next = self.t_tells.q.val()
            & !self.t_begins.q.val()
            & !self.t_passes.q.val()
            & !self.t_gives_up.q.val()
            & !self.t_ends.q.val();
        self.h_kind.next = 2.into();
        self.h_why.next = bit_cast::<5, 3>(self.t_cause.q.val());
        if self.t_given_up.q.val() {
            self.h_kind.next = 1.into();
            self.h_why.next = self.reason.val();
        }
        self.h_connection.next = self.t_connection.q.val();
        self.h_generation.next = self.t_generation.q.val();
        self.h_seq.next = self.t_seq.q.val();
        if self.h_valid.val() & self.h_ready.val() {
            self.t_tells.d.next = false;
        }

        // hashes
        self.range.reset.next = self.reset.val();
        self.range.key.next = self.key.val();
        self.range.valid.next = self.beat.val() | (self.only_hash.val() & self.p_valid.val());
        self.range.data.next = self.p_data.val();
        self.range.count.next = self.p_count.val();
        self.range.last.next = self.p_last.val();
        self.hash_valid.next = self.range.done.val();
        self.hash.next = self.range.hash.val();
        for i in 0..RANGE_HASH_CLOCKS {
            self.remember[i].clock.next = self.clock.val();
            self.remember_at[i].clock.next = self.clock.val();
            self.remember_bytes[i].clock.next = self.clock.val();
        }
        self.at.next = bit_cast::<R, A>(self.t_connection.q.val()) << 3;
        self.remember[0].d.next = self.beat.val() & self.p_last.val();
        self.remember_at[0].d.next = self.at.val() | bit_cast::<R, 3>(self.t_index.q.val());
        self.remember_bytes[0].d.next = self.t_bytes.q.val();
        for i in 1..RANGE_HASH_CLOCKS {
            self.remember[i].d.next = self.remember[i - 1].q.val();
            self.remember_at[i].d.next = self.remember_at[i - 1].q.val();
            self.remember_bytes[i].d.next = self.remember_bytes[i - 1].q.val();
        }
        self.write.next = false;
        self.write_at.next = 0.into();
        self.write_bytes.next = 0.into();
        for last in (RANGE_HASH_CLOCKS - 1)..RANGE_HASH_CLOCKS {
            self.write.next = self.remember[last].q.val();
            self.write_at.next = self.remember_at[last].q.val();
            self.write_bytes.next = self.remember_bytes[last].q.val();
        }
        self.on_its_way.next = false;
        for i in 0..RANGE_HASH_CLOCKS {
            self.on_its_way.next = self.on_its_way.val() | self.remember[i].q.val();
        }
        self.r_idle.d.next = !self.n_valid.q.val() & !self.sends.val() & !self.on_its_way.val();
        self.idle.next = self.r_idle.q.val();

        if self.reset.val() {
            self.n_valid.d.next = false;
            self.t_begins.d.next = false;
            self.t_passes.d.next = false;
            self.t_gives_up.d.next = false;
            self.t_ends.d.next = false;
            self.t_tells.d.next = false;
            self.o_valid.d.next = false;
            for i in 0..RANGE_HASH_CLOCKS {
                self.remember[i].d.next = false;
            }
        }
    }
}
