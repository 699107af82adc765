//! Small leaves: what `hdl_gen` has no words for.
use rust_hdl::prelude::*;

/// Which of tenants, promises and tickets a millisecond visits, of `2^T` tenants, `2^P` pools and `2^K` tickets. Wires only.
#[derive(LogicBlock, Default)]
pub struct Cells<const T: usize, const P: usize, const K: usize> {
    /// The millisecond.
    pub at: Signal<In, Bits<13>>,
    /// Its tenant.
    pub tenant: Signal<Out, Bits<16>>,
    /// It has a promise,
    pub has_promise: Signal<Out, Bit>,
    /// pool and class of it.
    pub promise: Signal<Out, Bits<16>>,
    /// It has a ticket,
    pub has_ticket: Signal<Out, Bit>,
    /// this one.
    pub ticket: Signal<Out, Bits<16>>,
}

impl<const T: usize, const P: usize, const K: usize> Logic for Cells<T, P, K> {
    fn update(&mut self) {
        const { assert!(T <= 13 && P <= 3 && K <= 12, "no more cells than milliseconds in their turn") };
        let at: u64 = self.at.val().into();
        let low = |bits: usize| (1 << bits) - 1;
        self.tenant.next = (at & low(T)).into();
        self.has_promise.next = at & low(4 - P) == 0;
        self.promise.next = (at >> (4 - P) & low(3 + P)).into();
        self.has_ticket.next = at & low(13 - K) == 0;
        self.ticket.next = (at >> (13 - K) & low(K)).into();
    }
    fn connect(&mut self) {
        self.tenant.connect();
        self.has_promise.connect();
        self.promise.connect();
        self.has_ticket.connect();
        self.ticket.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "always @(*) begin\n  tenant = at[{}:0];\n  has_promise = ~|at[{}:0];\n  promise = at[6:{}];\n  \
             has_ticket = ~|at[{}:0];\n  ticket = at[12:{}];\nend\n",
            T - 1,
            3 - P,
            4 - P,
            12 - K,
            13 - K
        ))
    }
}

/// A mark for each of `N = 1 << B` nodes, and the lowest node that has one.
#[derive(LogicBlock, Default)]
pub struct Marks<const N: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Takes all away.
    pub reset: Signal<In, Bit>,
    /// Marks a node,
    pub set: Signal<In, Bit>,
    /// this one, if there is one of that number.
    pub node: Signal<In, Bits<8>>,
    /// Takes the lowest one's away, if it is not marked in the same clock.
    pub take: Signal<In, Bit>,
    /// Some node is marked,
    pub some: Signal<Out, Bit>,
    /// this one, and none below it; 0 if none is.
    pub lowest: Signal<Out, Bits<B>>,
    _marks: u128,
}

impl<const N: usize, const B: usize> Logic for Marks<N, B> {
    fn update(&mut self) {
        const { assert!(N == 1 << B && N <= 128, "a mark for each node") };
        if self.clock.pos_edge() {
            if self.take.val() {
                self._marks &= self._marks.wrapping_sub(1);
            }
            if self.set.val() && self.node.val().index() < N {
                self._marks |= 1 << self.node.val().index();
            }
            if self.reset.val() {
                self._marks = 0;
            }
        }
        self.some.next = self._marks != 0;
        self.lowest.next = if self._marks == 0 { 0 } else { u64::from(self._marks.trailing_zeros()) }.into();
    }
    fn connect(&mut self) {
        self.some.connect();
        self.lowest.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "reg [{top}:0] marks;\ninteger k;\ninitial marks = 0;\n\
             always @(posedge clock) begin\n  if (take) marks[lowest] <= 1'b0;\n  \
             if (set && node < {N}) marks[node[{b}:0]] <= 1'b1;\n  if (reset) marks <= 0;\nend\n\
             always @(*) begin\n  some = |marks;\n  lowest = 0;\n  \
             for (k = {top}; k >= 0; k = k - 1) if (marks[k]) lowest = k[{b}:0];\nend\n",
            top = N - 1,
            b = B - 1
        ))
    }
}

/// The first of eight pools that is due, from the one after the last on, in a circle. Wires only.
#[derive(LogicBlock, Default)]
pub struct NextPool {
    /// Which are due, a bit each.
    pub due: Signal<In, Bits<8>>,
    /// The last.
    pub last: Signal<In, Bits<3>>,
    /// One is due,
    pub some: Signal<Out, Bit>,
    /// the first of them; the last one itself if none is,
    pub pool: Signal<Out, Bits<3>>,
    /// and its bit.
    pub pool_bit: Signal<Out, Bits<8>>,
}

impl Logic for NextPool {
    fn update(&mut self) {
        let (due, last): (u64, u64) = (self.due.val().into(), self.last.val().into());
        let pool = (1..=8).map(|k| (last + k) & 7).find(|p| due >> p & 1 == 1);
        self.some.next = pool.is_some();
        let pool = pool.unwrap_or(last);
        self.pool.next = pool.into();
        self.pool_bit.next = (1 << pool).into();
    }
    fn connect(&mut self) {
        self.some.connect();
        self.pool.connect();
        self.pool_bit.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [2:0] at;\ninteger k;\n\
             always @(*) begin\n  some = |due;\n  pool = last;\n  at = last;\n  \
             for (k = 7; k > 0; k = k - 1) begin\n    at = last + k[2:0];\n    if (due[at]) pool = at;\n  end\n  \
             pool_bit = 8'd1 << pool;\nend\n"
                .into(),
        )
    }
}
