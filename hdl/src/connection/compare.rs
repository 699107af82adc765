//! Whether a segment that lies behind repeats what was passed on.
use crate::leaf::Ram;
use rust_hdl::prelude::*;

/// Bits of a range that is remembered: its length, and its hash above that.
pub const RANGE_BITS: usize = 46;

/// Where the comparison stands.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub(super) enum Phase {
    /// Nothing is compared.
    Rest,
    /// Back from the newest range: one is read,
    BackRead,
    /// it comes,
    BackWait,
    /// its length is added,
    BackAdd,
    /// the sum compared,
    BackLook,
    /// and looked at.
    BackTurn,
    /// Forward from the one in which the segment begins: one is read,
    ForthRead,
    /// it comes,
    ForthWait,
    /// it has to lie in the segment;
    ForthFit,
    /// its bytes are asked for,
    ForthAsk,
    /// their hash comes,
    ForthHash,
    /// is compared,
    ForthLook,
    /// and looked at.
    ForthTurn,
}

/// Keeps the ranges that were passed on, and compares segments with them. `R` is the width of a connection number and 3.
///
/// From `begin` to `done` the inputs beside it stay as they are.
#[derive(LogicBlock, Default)]
pub struct Compare<const A: usize, const R: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A range is to be remembered:
    pub write: Signal<In, Bit>,
    /// of this connection, above the index of the range,
    pub write_at: Signal<In, Bits<R>>,
    /// its length,
    pub write_bytes: Signal<In, Bits<14>>,
    /// and its hash.
    pub write_hash: Signal<In, Bits<32>>,
    /// A segment is to be compared:
    pub begin_compare: Signal<In, Bit>,
    /// of this connection,
    pub at: Signal<In, Bits<A>>,
    /// so many bytes before the next sequence number,
    pub behind: Signal<In, Bits<21>>,
    /// so many of its bytes lie before that,
    pub old: Signal<In, Bits<14>>,
    /// and so many ranges are remembered,
    pub ranges: Signal<In, Bits<4>>,
    /// of which this is the newest.
    pub newest: Signal<In, Bits<3>>,
    /// The hash of a range of the segment is wanted:
    pub ask_valid: Signal<Out, Bit>,
    /// it will come,
    pub ask_ready: Signal<In, Bit>,
    /// bytes before it,
    pub ask_skip: Signal<Out, Bits<14>>,
    /// and its bytes.
    pub ask_bytes: Signal<Out, Bits<14>>,
    /// It is there:
    pub hash_valid: Signal<In, Bit>,
    /// it.
    pub hash: Signal<In, Bits<32>>,
    /// The comparison has come to its end; one clock.
    pub done: Signal<Out, Bit>,
    /// All bytes are shown equal; stays.
    pub equal: Signal<Out, Bit>,
    ranges_kept: Ram<RANGE_BITS, R>,
    phase: DFF<Phase>,
    index: DFF<Bits<3>>,
    left: DFF<Bits<4>>,
    covered: DFF<Bits<21>>,
    offset: DFF<Bits<14>>,
    range_bytes: DFF<Bits<14>>,
    range_hash: DFF<Bits<32>>,
    found_hash: DFF<Bits<32>>,
    room: DFF<Bits<14>>,
    // what was compared a clock before
    covers: DFF<Bit>,
    goes_back: DFF<Bit>,
    same_hash: DFF<Bit>,
    ends_here: DFF<Bit>,
    r_done: DFF<Bit>,
    r_equal: DFF<Bit>,
    fails: Signal<Local, Bit>,
    at_index: Signal<Local, Bits<R>>,
}

impl<const A: usize, const R: usize> Logic for Compare<A, R> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, index, left, covered, offset, range_bytes, range_hash, found_hash, room);
        dff_setup!(self, clock, covers, goes_back, same_hash, ends_here, r_done, r_equal);
        clock!(self, clock, ranges_kept);
        self.ranges_kept.we.next = self.write.val();
        self.ranges_kept.waddr.next = self.write_at.val();
        self.ranges_kept.wdata.next = bit_cast::<RANGE_BITS, 14>(self.write_bytes.val())
            | (bit_cast::<RANGE_BITS, 32>(self.write_hash.val()) << 14);
        self.at_index.next = bit_cast::<R, A>(self.at.val()) << 3;
        self.ranges_kept.raddr.next = self.at_index.val() | bit_cast::<R, 3>(self.index.q.val());
        self.ranges_kept.re.next = true;
        self.ask_valid.next = self.phase.q.val() == Phase::ForthAsk;
        self.ask_skip.next = self.offset.q.val();
        self.ask_bytes.next = self.range_bytes.q.val();
        self.done.next = self.r_done.q.val();
        self.equal.next = self.r_equal.q.val();
        self.r_done.d.next = false;
        self.fails.next = false;
        self.covers.d.next = self.covered.q.val() == self.behind.val();
        self.goes_back.d.next = (self.covered.q.val() < self.behind.val()) & self.left.q.val().any();
        self.same_hash.d.next = self.found_hash.q.val() == self.range_hash.q.val();
        self.ends_here.d.next = self.offset.q.val() == self.old.val();

        match self.phase.q.val() {
            Phase::Rest => {
                self.index.d.next = self.newest.val();
                self.left.d.next = self.ranges.val();
                self.covered.d.next = 0.into();
                self.offset.d.next = 0.into();
                if self.begin_compare.val() {
                    self.phase.d.next = Phase::BackRead;
                }
            }
            Phase::BackRead => {
                self.phase.d.next = Phase::BackWait;
                // of the first one: nothing is remembered
                self.fails.next = !self.left.q.val().any();
            }
            Phase::BackWait => {
                self.range_bytes.d.next = self.ranges_kept.rdata.val().get_bits::<14>(0);
                self.phase.d.next = Phase::BackAdd;
            }
            Phase::BackAdd => {
                self.covered.d.next = self.covered.q.val() + bit_cast::<21, 14>(self.range_bytes.q.val());
                self.left.d.next = self.left.q.val() - 1;
                self.phase.d.next = Phase::BackLook;
            }
            Phase::BackLook => {
                self.phase.d.next = Phase::BackTurn;
            }
            Phase::BackTurn => {
                self.phase.d.next = Phase::BackRead;
                self.index.d.next = self.index.q.val() - 1;
                self.fails.next = !self.goes_back.q.val();
                if self.covers.q.val() {
                    self.phase.d.next = Phase::ForthRead;
                    self.index.d.next = self.index.q.val();
                    self.fails.next = false;
                }
            }
            Phase::ForthRead => {
                self.room.d.next = self.old.val() - self.offset.q.val();
                self.phase.d.next = Phase::ForthWait;
            }
            Phase::ForthWait => {
                self.range_bytes.d.next = self.ranges_kept.rdata.val().get_bits::<14>(0);
                self.range_hash.d.next = self.ranges_kept.rdata.val().get_bits::<32>(14);
                self.phase.d.next = Phase::ForthFit;
            }
            Phase::ForthFit => {
                self.phase.d.next = Phase::ForthAsk;
                self.fails.next = self.range_bytes.q.val() > self.room.q.val();
            }
            Phase::ForthAsk => {
                if self.ask_ready.val() {
                    self.phase.d.next = Phase::ForthHash;
                }
            }
            Phase::ForthHash => {
                self.found_hash.d.next = self.hash.val();
                if self.hash_valid.val() {
                    self.phase.d.next = Phase::ForthLook;
                    self.offset.d.next = self.offset.q.val() + self.range_bytes.q.val();
                }
            }
            Phase::ForthLook => {
                self.phase.d.next = Phase::ForthTurn;
            }
            Phase::ForthTurn => {
                self.phase.d.next = Phase::ForthRead;
                self.index.d.next = self.index.q.val() + 1;
                self.fails.next = !self.same_hash.q.val();
                if self.same_hash.q.val() & self.ends_here.q.val() {
                    self.phase.d.next = Phase::Rest;
                    self.r_done.d.next = true;
                    self.r_equal.d.next = true;
                }
            }
            _ => {}
        }
        if self.fails.val() {
            self.phase.d.next = Phase::Rest;
            self.r_done.d.next = true;
            self.r_equal.d.next = false;
        }

        if self.reset.val() {
            self.phase.d.next = Phase::Rest;
            self.r_done.d.next = false;
        }
    }
}
