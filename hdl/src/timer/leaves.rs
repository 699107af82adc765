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

/// A mark for each of `N = 1 << B` nodes, and the lowest node that has one: it is looked for in groups of eight, in two
/// clocks.
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
    /// Takes that of `lowest` away, if `some` and if it is not marked in the same clock.
    pub take: Signal<In, Bit>,
    /// Some node was marked two clocks ago,
    pub some: Signal<Out, Bit>,
    /// this one, and none below it; 0 if none was.
    pub lowest: Signal<Out, Bits<B>>,
    _marked: u128,
    /// Lowest mark of the clock before.
    _found: Option<u32>,
}

impl<const N: usize, const B: usize> Logic for Marks<N, B> {
    fn update(&mut self) {
        const { assert!(N == 1 << B && N <= 128, "a mark for each node") };
        if self.clock.pos_edge() {
            let found = (self._marked != 0).then(|| self._marked.trailing_zeros());
            if self.take.val() && self.some.val() {
                self._marked &= !(1 << self.lowest.val().index());
            }
            if self.set.val() && self.node.val().index() < N {
                self._marked |= 1 << self.node.val().index();
            }
            self.some.next = self._found.is_some();
            self.lowest.next = u64::from(self._found.unwrap_or(0)).into();
            self._found = found;
            if self.reset.val() {
                (self._marked, self._found) = (0, None);
                self.some.next = false;
                self.lowest.next = 0.into();
            }
        }
    }
    fn connect(&mut self) {
        self.some.connect();
        self.lowest.connect();
    }
    fn hdl(&self) -> Verilog {
        let (group, groups) = (N.min(8), N.div_ceil(8));
        let (top, last_bit) = (N - 1, B - 1);
        let first = |g: usize| {
            (0..group)
                .rev()
                .map(|k| {
                    let node = g * group + k;
                    format!("  if (marked[{node}]) low[{}:{}] <= {B}'d{node};\n", (g + 1) * B - 1, g * B)
                })
                .collect::<String>()
        };
        let groups_text: String = (0..groups)
            .map(|g| format!("  some_of[{g}] <= |marked[{}:{}];\n{}", (g + 1) * group - 1, g * group, first(g)))
            .collect();
        let choice: String = (0..groups)
            .rev()
            .map(|g| format!("  if (some_of[{g}]) lowest <= low[{}:{}];\n", (g + 1) * B - 1, g * B))
            .collect();
        let (groups_top, low_top) = (groups - 1, groups * B - 1);
        Verilog::Custom(format!(
            "reg [{top}:0] marked;\nreg [{groups_top}:0] some_of;\nreg [{low_top}:0] low;\n\
             initial begin\n  marked = 0;\n  some_of = 0;\n  low = 0;\n  some = 0;\n  lowest = 0;\nend\n\
             always @(posedge clock) begin\n  if (take && some) marked[lowest] <= 1'b0;\n  \
             if (set && node < {N}) marked[node[{last_bit}:0]] <= 1'b1;\n{groups_text}  \
             some <= |some_of;\n  lowest <= 0;\n{choice}  \
             if (reset) begin\n    marked <= 0;\n    some_of <= 0;\n    some <= 0;\n    lowest <= 0;\n  end\nend\n"
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
