//! One thing after the other: its context is read, judged and written, and what follows is handed on.
use super::context::{ContextPack, ContextUnpack, CONTEXT_BITS};
use super::judge::Judge;
use super::order::Order;
use crate::leaf::Ram;
use rust_hdl::prelude::*;

/// Clocks from a result of the search that is taken to the next one, if nothing has to wait.
pub const DECIDE_CLOCKS: u32 = 8;

/// Where the decision stands.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub(super) enum Stage {
    /// Nothing is decided.
    Rest,
    /// The context comes.
    Wait,
    /// Its sequence number is subtracted,
    Subtract,
    /// the difference sorted,
    Sort,
    /// and the end of the segment looked at.
    Ends,
    /// The table.
    Judge,
    /// Payload is to be compared, when all before is sent.
    Quiet,
    /// It is compared.
    Compare,
    /// Payload is asked for, or released.
    Ask,
    /// The host is told of a connection: its tuple is fetched,
    Fetch,
    /// and told.
    Tell,
    /// All is written and handed on.
    Commit,
    /// Contexts are cleared after a reset.
    Clear,
}

/// Decides.
#[derive(LogicBlock, Default)]
pub struct Decide<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high; then all contexts are cleared.
    pub reset: Signal<In, Bit>,
    /// There is a result of the search, see `Find`.
    pub r_valid: Signal<In, Bit>,
    /// It is taken.
    pub r_take: Signal<Out, Bit>,
    /// What it is of.
    pub r_kind: Signal<In, Bits<2>>,
    /// Sequence number.
    pub r_seq: Signal<In, Bits<32>>,
    /// FIN, SYN, RST, ACK.
    pub r_flags: Signal<In, Bits<4>>,
    /// Bytes, or a generation.
    pub r_bytes: Signal<In, Bits<14>>,
    /// There is a context.
    pub r_found: Signal<In, Bit>,
    /// It, or a place.
    pub r_at: Signal<In, Bits<A>>,
    /// Which place.
    pub r_choice: Signal<In, Bits<2>>,
    /// Age.
    pub r_age: Signal<In, Bits<20>>,
    /// Limit of the age.
    pub r_limit: Signal<In, Bits<20>>,
    /// The thing that was taken is done; one clock.
    pub done: Signal<Out, Bit>,
    /// Contexts are being cleared.
    pub pause: Signal<Out, Bit>,
    /// State and time are written, see `Find`:
    pub write: Signal<Out, Bit>,
    /// where,
    pub write_at: Signal<Out, Bits<A>>,
    /// state,
    pub write_state: Signal<Out, Bits<2>>,
    /// the tuple too,
    pub write_entry: Signal<Out, Bit>,
    /// in use.
    pub write_used: Signal<Out, Bit>,
    /// A tuple is wanted.
    pub peek: Signal<Out, Bit>,
    /// It is there.
    pub peek_ready: Signal<In, Bit>,
    /// The connection at work.
    pub at: Signal<Out, Bits<A>>,
    /// Payload is to be compared, see `Compare`:
    pub begin_compare: Signal<Out, Bit>,
    /// it lies so far behind,
    pub behind: Signal<Out, Bits<21>>,
    /// with so many old bytes,
    pub old: Signal<Out, Bits<14>>,
    /// beside so many ranges,
    pub ranges: Signal<Out, Bits<4>>,
    /// the newest one.
    pub newest: Signal<Out, Bits<3>>,
    /// It is under way.
    pub comparing: Signal<Out, Bit>,
    /// It is done:
    pub compare_done: Signal<In, Bit>,
    /// equal.
    pub compare_equal: Signal<In, Bit>,
    /// A range of payload is asked for, the last of its segment.
    pub ask_valid: Signal<Out, Bit>,
    /// It will come.
    pub ask_ready: Signal<In, Bit>,
    /// Bytes before it.
    pub ask_skip: Signal<Out, Bits<14>>,
    /// Its bytes.
    pub ask_bytes: Signal<Out, Bits<14>>,
    /// The host is to be told of a new connection.
    pub open_valid: Signal<Out, Bit>,
    /// It is told.
    pub open_ready: Signal<In, Bit>,
    /// There is something to send, see `Send`.
    pub load: Signal<Out, Bit>,
    /// It can be taken.
    pub send_ready: Signal<In, Bit>,
    /// Nothing is being sent.
    pub send_idle: Signal<In, Bit>,
    /// Generation.
    pub generation: Signal<Out, Bits<8>>,
    /// Start.
    pub begins: Signal<Out, Bit>,
    /// Payload.
    pub passes: Signal<Out, Bit>,
    /// Its bytes.
    pub bytes: Signal<Out, Bits<14>>,
    /// Its index.
    pub index: Signal<Out, Bits<3>>,
    /// Given up.
    pub gives_up: Signal<Out, Bit>,
    /// Overlap.
    pub overlap: Signal<Out, Bit>,
    /// The next sequence number.
    pub next_seq: Signal<Out, Bits<32>>,
    /// Close for `http`.
    pub ends: Signal<Out, Bit>,
    /// The host is told of the end.
    pub tells: Signal<Out, Bit>,
    /// Its cause.
    pub cause: Signal<Out, Bits<3>>,
    /// A frame ends.
    pub e_valid: Signal<Out, Bit>,
    /// Where.
    pub e_end: Signal<Out, Bits<5>>,
    /// Strobes of the other counters: opened, evicted half open, expired half open, resumed, stale resume; lowest first.
    pub counts: Signal<Out, Bits<5>>,
    contexts: Ram<CONTEXT_BITS, A>,
    unpack: ContextUnpack,
    pack: ContextPack,
    order: Order,
    judge: Judge,
    stage: DFF<Stage>,
    r_peek: DFF<Bit>,
    r_pause: DFF<Bit>,
    i_kind: DFF<Bits<2>>,
    i_seq: DFF<Bits<32>>,
    i_flags: DFF<Bits<4>>,
    i_bytes: DFF<Bits<14>>,
    i_found: DFF<Bit>,
    i_at: DFF<Bits<A>>,
    i_choice: DFF<Bits<2>>,
    i_age: DFF<Bits<20>>,
    i_limit: DFF<Bits<20>>,
    c_word: DFF<Bits<CONTEXT_BITS>>,
    is_empty: DFF<Bit>,
    is_single: DFF<Bit>,
    is_half_open: DFF<Bit>,
    is_live: DFF<Bit>,
    is_host: DFF<Bit>,
    is_odd: DFF<Bit>,
    aged: DFF<Bit>,
    compared: DFF<Bit>,
    equal: DFF<Bit>,
    same_generation: DFF<Bit>,
    // the judgement
    j_end: DFF<Bits<5>>,
    j_passes: DFF<Bit>,
    j_gives_up: DFF<Bit>,
    j_overlap: DFF<Bit>,
    j_closes: DFF<Bit>,
    j_cause: DFF<Bits<3>>,
    j_renews: DFF<Bit>,
    j_touches: DFF<Bit>,
    j_resumes: DFF<Bit>,
    j_counts: DFF<Bits<5>>,
    j_opens: DFF<Bit>,
    j_skip: DFF<Bits<14>>,
    j_bytes: DFF<Bits<14>>,
    half_open: Signal<Local, Bit>,
    syn: Signal<Local, Bit>,
    rst: Signal<Local, Bit>,
    ack: Signal<Local, Bit>,
    live: Signal<Local, Bit>,
    begun: Signal<Local, Bit>,
    sends: Signal<Local, Bit>,
    writes: Signal<Local, Bit>,
    opens: Signal<Local, Bit>,
}

impl<const A: usize> Logic for Decide<A> {
    // tidy: long because the stages of one decision share the registers of its thing and its context
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, stage, i_kind, i_seq, i_flags, i_bytes, i_found, i_at, i_choice, i_age, i_limit, c_word
        );
        dff_setup!(self, clock, aged, compared, equal, same_generation, j_end, j_passes);
        dff_setup!(self, clock, j_gives_up, j_overlap, j_closes, j_cause, j_renews, j_touches, j_resumes, j_counts);
        dff_setup!(self, clock, j_opens, j_skip, j_bytes);
        dff_setup!(self, clock, r_peek, r_pause, is_empty, is_single, is_half_open, is_live, is_host, is_odd);
        clock!(self, clock, contexts, order);
        self.unpack.word.next = self.c_word.q.val();
        self.half_open.next = self.is_half_open.q.val();
        self.live.next = self.is_live.q.val();
        self.syn.next = self.i_flags.q.val().get_bit(1);
        self.rst.next = self.i_flags.q.val().get_bit(2);
        self.ack.next = self.i_flags.q.val().get_bit(3);

        // the table of rules
        self.order.seq.next = self.i_seq.q.val();
        self.order.bytes.next = self.i_bytes.q.val();
        self.order.syn.next = self.i_flags.q.val().get_bit(1);
        self.order.next_seq.next = self.unpack.next_seq.val();
        self.judge.kind.next = self.i_kind.q.val();
        self.judge.fin.next = self.i_flags.q.val().get_bit(0);
        self.judge.syn.next = self.i_flags.q.val().get_bit(1);
        self.judge.rst.next = self.i_flags.q.val().get_bit(2);
        self.judge.odd.next = self.is_odd.q.val();
        self.judge.empty.next = self.is_empty.q.val();
        self.judge.single.next = self.is_single.q.val();
        self.judge.found.next = self.i_found.q.val();
        self.judge.choice.next = self.i_choice.q.val();
        self.judge.aged.next = self.aged.q.val();
        self.judge.half_open.next = self.is_half_open.q.val();
        self.judge.live.next = self.is_live.q.val();
        self.judge.host.next = self.is_host.q.val();
        self.judge.same_generation.next = self.same_generation.q.val();
        self.judge.is_next.next = self.order.is_next.val();
        self.judge.is_one_behind.next = self.order.is_one_behind.val();
        self.judge.is_ahead.next = self.order.is_ahead.val();
        self.judge.is_behind.next = self.order.is_behind.val();
        self.judge.ends_before.next = self.order.ends_before.val();
        self.judge.ends_after.next = self.order.ends_after.val();
        self.judge.compared.next = self.compared.q.val();
        self.judge.equal.next = self.equal.q.val();
        self.opens.next = self.half_open.val() & (self.judge.passes.val() | self.judge.gives_up.val());

        // what is handed on; a half open context opens before anything is passed on or given up
        self.at.next = self.i_at.q.val();
        self.behind.next = self.order.behind.val();
        self.old.next = self.order.old.val();
        self.newest.next = self.unpack.newest.val();
        self.ranges.next = self.unpack.ranges.val();
        if self.half_open.val() {
            self.ranges.next = 0.into();
        }
        self.generation.next = self.unpack.generation.val();
        if self.j_opens.q.val() | self.j_resumes.q.val() {
            self.generation.next = self.unpack.generation.val() + 1;
        }
        self.begun.next = !self.j_opens.q.val() & !self.unpack.begins.val().any();
        self.begins.next = (self.j_passes.q.val() | self.j_gives_up.q.val()) & !self.begun.val();
        self.passes.next = self.j_passes.q.val();
        self.bytes.next = self.j_bytes.q.val();
        self.index.next = self.unpack.newest.val() + 1;
        self.gives_up.next = self.j_gives_up.q.val();
        self.overlap.next = self.j_overlap.q.val();
        self.next_seq.next = self.unpack.next_seq.val();
        self.ends.next = self.j_closes.q.val() & (self.j_passes.q.val() | (self.live.val() & self.begun.val()));
        self.tells.next =
            self.j_gives_up.q.val() | (self.j_closes.q.val() & (self.j_passes.q.val() | !self.half_open.val()));
        self.cause.next = self.j_cause.q.val();
        self.ask_skip.next = 0.into();
        self.ask_bytes.next = 0.into();
        if self.j_passes.q.val() {
            self.ask_skip.next = self.j_skip.q.val();
            self.ask_bytes.next = self.j_bytes.q.val();
        }

        // what each stage does
        self.r_take.next = (self.stage.q.val() == Stage::Rest) & self.r_valid.val();
        self.contexts.re.next = true;
        self.contexts.raddr.next = self.r_at.val();
        self.begin_compare.next = false;
        self.comparing.next = self.stage.q.val() == Stage::Compare;
        self.ask_valid.next = self.stage.q.val() == Stage::Ask;
        self.peek.next = self.r_peek.q.val();
        self.r_peek.d.next = (self.stage.q.val() == Stage::Fetch) | (self.stage.q.val() == Stage::Tell);
        self.open_valid.next = self.stage.q.val() == Stage::Tell;
        self.sends.next = self.passes.val() | self.gives_up.val() | self.ends.val() | self.tells.val();
        self.done.next = (self.stage.q.val() == Stage::Commit) & (self.send_ready.val() | !self.sends.val());
        match self.stage.q.val() {
            Stage::Rest => {
                self.i_kind.d.next = self.r_kind.val();
                self.i_seq.d.next = self.r_seq.val();
                self.i_flags.d.next = self.r_flags.val();
                self.i_bytes.d.next = self.r_bytes.val();
                self.i_found.d.next = self.r_found.val();
                self.i_at.d.next = self.r_at.val();
                self.i_choice.d.next = self.r_choice.val();
                self.i_age.d.next = self.r_age.val();
                self.i_limit.d.next = self.r_limit.val();
                self.compared.d.next = false;
                self.equal.d.next = false;
                if self.r_valid.val() {
                    self.stage.d.next = Stage::Wait;
                }
            }
            Stage::Wait => {
                self.c_word.d.next = self.contexts.rdata.val();
                self.is_empty.d.next = !self.i_bytes.q.val().any();
                self.is_single.d.next = self.i_bytes.q.val() == 1;
                self.aged.d.next = self.i_age.q.val() >= self.i_limit.q.val();
                self.stage.d.next = Stage::Subtract;
            }
            Stage::Subtract => {
                self.is_half_open.d.next = self.unpack.state.val() == 1;
                self.is_live.d.next = self.unpack.state.val() == 2;
                self.is_host.d.next = self.unpack.state.val() == 3;
                self.is_odd.d.next =
                    (self.syn.val() & self.ack.val()) | (!self.syn.val() & !self.ack.val() & !self.rst.val());
                self.same_generation.d.next = self.i_bytes.q.val().get_bits::<8>(0) == self.unpack.generation.val();
                self.stage.d.next = Stage::Sort;
            }
            Stage::Sort => {
                self.stage.d.next = Stage::Ends;
            }
            Stage::Ends => {
                self.stage.d.next = Stage::Judge;
            }
            Stage::Judge => {
                self.j_end.d.next = self.judge.frame_end.val();
                self.j_passes.d.next = self.judge.passes.val();
                self.j_gives_up.d.next = self.judge.gives_up.val();
                self.j_overlap.d.next = self.judge.overlap.val();
                self.j_closes.d.next = self.judge.closes.val();
                self.j_cause.d.next = self.judge.cause.val();
                self.j_renews.d.next = self.judge.renews.val();
                self.j_touches.d.next = self.judge.touches.val();
                self.j_resumes.d.next = self.judge.resumes.val();
                self.j_opens.d.next = self.opens.val();
                self.j_counts.d.next = 0.into();
                if self.opens.val() {
                    self.j_counts.d.next = 1.into();
                }
                if self.judge.evicts_half_open.val() {
                    self.j_counts.d.next = 2.into();
                }
                if self.judge.expires_half_open.val() {
                    self.j_counts.d.next = 4.into();
                }
                if self.judge.resumes.val() {
                    self.j_counts.d.next = 8.into();
                }
                if self.judge.is_stale.val() {
                    self.j_counts.d.next = 16.into();
                }
                self.j_skip.d.next = 0.into();
                self.j_bytes.d.next = self.i_bytes.q.val();
                if self.order.is_behind.val() {
                    self.j_skip.d.next = self.order.behind.val().get_bits::<14>(0);
                    self.j_bytes.d.next = self.order.rest.val();
                }
                self.stage.d.next = Stage::Commit;
                if !self.i_kind.q.val().any() {
                    self.stage.d.next = Stage::Ask;
                }
                if self.judge.compares.val() {
                    self.stage.d.next = Stage::Quiet;
                }
            }
            Stage::Quiet => {
                self.begin_compare.next = self.send_idle.val();
                if self.send_idle.val() {
                    self.stage.d.next = Stage::Compare;
                }
            }
            Stage::Compare => {
                self.compared.d.next = true;
                self.equal.d.next = self.compare_equal.val();
                if self.compare_done.val() {
                    self.stage.d.next = Stage::Judge;
                }
            }
            Stage::Ask => {
                if self.ask_ready.val() {
                    self.stage.d.next = Stage::Commit;
                    if self.j_opens.q.val() {
                        self.stage.d.next = Stage::Fetch;
                    }
                }
            }
            Stage::Fetch => {
                if self.peek_ready.val() & self.send_idle.val() {
                    self.stage.d.next = Stage::Tell;
                }
            }
            Stage::Tell => {
                if self.open_ready.val() {
                    self.stage.d.next = Stage::Commit;
                }
            }
            Stage::Commit => {
                if self.done.val() {
                    self.stage.d.next = Stage::Rest;
                }
            }
            Stage::Clear => {
                self.i_at.d.next = self.i_at.q.val() + 1;
                if self.i_at.q.val().all() {
                    self.stage.d.next = Stage::Rest;
                }
            }
            _ => {}
        }

        // what is written
        self.writes.next = self.j_passes.q.val()
            | self.j_gives_up.q.val()
            | self.j_closes.q.val()
            | self.j_renews.q.val()
            | self.j_touches.q.val()
            | self.j_resumes.q.val();
        self.pack.state.next = self.unpack.state.val();
        if self.j_passes.q.val() | self.j_resumes.q.val() {
            self.pack.state.next = 2.into();
        }
        if self.j_gives_up.q.val() {
            self.pack.state.next = 3.into();
        }
        if self.j_closes.q.val() {
            self.pack.state.next = 0.into();
        }
        if self.j_renews.q.val() {
            self.pack.state.next = 1.into();
        }
        self.pack.begins.next = self.unpack.begins.val();
        if self.j_passes.q.val() | self.j_gives_up.q.val() | self.j_closes.q.val() {
            self.pack.begins.next = 0.into();
        }
        if self.j_resumes.q.val() {
            self.pack.begins.next = 1.into();
        }
        self.pack.generation.next = self.generation.val();
        self.pack.next_seq.next = self.unpack.next_seq.val();
        if self.j_passes.q.val() | self.j_renews.q.val() {
            self.pack.next_seq.next = self.order.end_seq.val();
        }
        self.pack.ranges.next = self.ranges.val();
        self.pack.newest.next = self.unpack.newest.val();
        if self.j_passes.q.val() {
            self.pack.newest.next = self.index.val();
            if self.ranges.val() != 8 {
                self.pack.ranges.next = self.ranges.val() + 1;
            }
        }
        if self.j_resumes.q.val() {
            self.pack.next_seq.next = self.i_seq.q.val();
            self.pack.ranges.next = 0.into();
        }
        self.contexts.we.next = self.done.val() & self.writes.val();
        self.contexts.waddr.next = self.i_at.q.val();
        self.contexts.wdata.next = self.pack.word.val();
        self.write.next = self.done.val() & self.writes.val();
        self.write_at.next = self.i_at.q.val();
        self.write_state.next = bit_cast::<2, 2>(self.pack.state.val());
        self.write_entry.next = self.done.val() & (self.j_renews.q.val() | self.j_closes.q.val());
        self.write_used.next = self.j_renews.q.val();
        self.pause.next = self.r_pause.q.val();
        self.r_pause.d.next = self.stage.q.val() == Stage::Clear;
        if self.stage.q.val() == Stage::Clear {
            self.contexts.we.next = true;
            self.contexts.wdata.next = 0.into();
            self.write.next = true;
            self.write_state.next = 0.into();
            self.write_entry.next = true;
            self.write_used.next = false;
        }
        self.load.next = self.done.val() & self.sends.val();
        self.e_valid.next = self.done.val() & !self.i_kind.q.val().any();
        self.e_end.next = self.j_end.q.val();
        self.counts.next = 0.into();
        if self.done.val() {
            self.counts.next = self.j_counts.q.val();
        }

        if self.reset.val() {
            self.stage.d.next = Stage::Clear;
            self.r_pause.d.next = true;
            self.r_peek.d.next = false;
            self.i_at.d.next = 0.into();
        }
    }
}
