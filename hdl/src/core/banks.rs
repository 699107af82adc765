//! Which banks of the tables are still read.
use crate::http::UnderWay;
use rust_hdl::prelude::*;

/// Clocks for which a bank stays in use behind the last thing that is seen of it: those between `http` and the queue of
/// records, or between the queue and the verdict.
pub const LINGER_CLOCKS: u32 = 63;

const _: () = assert!(LINGER_CLOCKS == 63);

/// Banks are in use from the first byte of a request until the verdict on its record has been made.
#[derive(LogicBlock, Default)]
pub struct BanksInUse {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// Banks that `http` has requests of, a bit for each.
    pub requests: Signal<In, Bits<2>>,
    /// A record comes into the queue,
    pub write: Signal<In, Bit>,
    /// of this bank.
    pub write_bank: Signal<In, Bit>,
    /// A record leaves it,
    pub read: Signal<In, Bit>,
    /// of this bank.
    pub read_bank: Signal<In, Bit>,
    /// Banks in use, a bit for each.
    pub in_use: Signal<Out, Bits<2>>,
    counting: [UnderWay; 2],
    counts: [DFF<Bits<16>>; 2],
    lingers: [DFF<Bits<6>>; 2],
    used: [DFF<Bit>; 2],
    busy: [Signal<Local, Bit>; 2],
}

impl Logic for BanksInUse {
    #[hdl_gen]
    fn update(&mut self) {
        self.in_use.next = 0.into();
        for i in 0..2 {
            self.counts[i].clock.next = self.clock.val();
            self.lingers[i].clock.next = self.clock.val();
            self.used[i].clock.next = self.clock.val();
            self.counting[i].count.next = self.counts[i].q.val();
            self.counting[i].clear.next = self.reset.val();
            self.counts[i].d.next = self.counting[i].after.val();
        }
        self.counting[0].up.next = self.write.val() & !self.write_bank.val();
        self.counting[1].up.next = self.write.val() & self.write_bank.val();
        self.counting[0].down.next = self.read.val() & !self.read_bank.val();
        self.counting[1].down.next = self.read.val() & self.read_bank.val();
        for i in 0..2 {
            self.busy[i].next = self.requests.val().get_bit(i) | self.counts[i].q.val().any();
            self.lingers[i].d.next = self.lingers[i].q.val();
            if self.lingers[i].q.val().any() {
                self.lingers[i].d.next = self.lingers[i].q.val() - 1;
            }
            if self.busy[i].val() {
                self.lingers[i].d.next = 63.into();
            }
            self.used[i].d.next = self.busy[i].val() | self.lingers[i].q.val().any();
            if self.reset.val() {
                self.lingers[i].d.next = 0.into();
                self.used[i].d.next = false;
            }
            self.in_use.next = self.in_use.val().replace_bit(i, self.requests.val().get_bit(i) | self.used[i].q.val());
        }
    }
}
