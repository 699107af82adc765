//! What all nodes show, and the choice of one.
use super::leaves::{bits, number};
use rust_hdl::prelude::*;

/// What one node shows.
#[derive(Clone, Copy, Default)]
struct View {
    open: bool,
    open_long: bool,
    standing: bool,
    empty: bool,
    room: u32,
    state: u8,
    serves: u8,
}

/// Views of `N` nodes in flip-flops, `N = 1 << B`. In one clock it is found which nodes serve the pool and have room for
/// `tokens`, and kept; in the next one is chosen of them. Reset shuts all nodes and leaves `serves` as it is.
#[derive(LogicBlock, Default)]
pub struct Views<const N: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Shuts all nodes.
    pub reset: Signal<In, Bit>,
    /// Sets the pools that a node serves,
    pub set: Signal<In, Bit>,
    /// of this node,
    pub set_node: Signal<In, Bits<B>>,
    /// a bit each.
    pub set_serves: Signal<In, Bits<8>>,
    /// A view is renewed,
    pub write: Signal<In, Bit>,
    /// of this node:
    pub node: Signal<In, Bits<B>>,
    /// it may take a request of a short class,
    pub open: Signal<In, Bit>,
    /// of a long class,
    pub open_long: Signal<In, Bit>,
    /// it is up and not gone,
    pub standing: Signal<In, Bit>,
    /// it has no prompt debt,
    pub empty: Signal<In, Bit>,
    /// else takes so many tokens,
    pub room: Signal<In, Bits<18>>,
    /// and is so loaded.
    pub state: Signal<In, Bits<4>>,
    /// First clock: prompt tokens of the request.
    pub tokens: Signal<In, Bits<18>>,
    /// Both clocks: its pool, one bit.
    pub pool_bit: Signal<In, Bits<8>>,
    /// Second clock: a slot of the node has to stay free.
    pub long_class: Signal<In, Bit>,
    /// Second clock: the node whose turn it is.
    pub turn: Signal<In, Bits<B>>,
    /// Second clock: a node takes it,
    pub found: Signal<Out, Bit>,
    /// this one,
    pub chosen: Signal<Out, Bits<B>>,
    /// and its turn it was not.
    pub redirected: Signal<Out, Bit>,
    _views: Vec<View>,
    _fits: Vec<bool>,
}

impl<const N: usize, const B: usize> Views<N, B> {
    fn edge(&mut self) {
        let (tokens, pool) = (number(&self.tokens.val()) as u32, number(&self.pool_bit.val()) as u8);
        self._fits = self._views.iter().map(|v| v.serves & pool != 0 && (v.empty || tokens <= v.room)).collect();
        if self.write.val() {
            let view = &mut self._views[self.node.val().index()];
            (view.open, view.open_long) = (self.open.val(), self.open_long.val());
            (view.standing, view.empty) = (self.standing.val(), self.empty.val());
            (view.room, view.state) = (number(&self.room.val()) as u32, number(&self.state.val()) as u8);
        }
        if self.set.val() {
            self._views[self.set_node.val().index()].serves = number(&self.set_serves.val()) as u8;
        }
        if self.reset.val() {
            self._views.iter_mut().for_each(|v| (v.open, v.open_long, v.standing) = (false, false, false));
        }
    }
}

impl<const N: usize, const B: usize> Logic for Views<N, B> {
    fn update(&mut self) {
        if self._views.is_empty() {
            self._views = vec![View::default(); N];
            self._fits = vec![false; N];
        }
        if self.clock.pos_edge() {
            self.edge();
        }
        let (pool, turn) = (number(&self.pool_bit.val()) as u8, self.turn.val().index());
        let order = (0..N).map(|k| (turn + k) % N);
        let open = |n: usize| if self.long_class.val() { self._views[n].open_long } else { self._views[n].open };
        let able = order.clone().filter(|&n| self._fits[n] && open(n));
        let chosen = able.min_by_key(|&n| self._views[n].state);
        let mut standing = order.filter(|&n| self._views[n].standing && self._views[n].serves & pool != 0);
        self.found.next = chosen.is_some();
        self.chosen.next = bits(chosen.unwrap_or(0) as u128);
        self.redirected.next = chosen.is_some() && standing.next() != chosen;
    }
    fn connect(&mut self) {
        self.found.connect();
        self.chosen.connect();
        self.redirected.connect();
    }
    fn hdl(&self) -> Verilog {
        const { assert!(N == 1 << B, "nodes fill their numbers") };
        let first = |of: &str, to: &str| {
            format!("  for (i = {}; i >= 0; i = i - 1) if ({of}[i]) {to} = i[{}:0];\n", N - 1, B - 1)
        };
        Verilog::Custom(format!(
            "reg [{n}:0] opens, opens_long, stands, empties, fits;\n\
             reg [17:0] rooms [0:{n}];\nreg [3:0] states [0:{n}];\nreg [7:0] serves [0:{n}];\n\
             reg [{n}:0] able, least_able, rest, served, served_rest, serving;\n\
             reg [15:0] has;\nreg [3:0] least;\nreg [{b}:0] first_served;\ninteger i;\n\
             initial begin\n  opens = 0;\n  opens_long = 0;\n  stands = 0;\n  empties = 0;\n  fits = 0;\n  \
             for (i = 0; i <= {n}; i = i + 1) begin rooms[i] = 0; states[i] = 0; serves[i] = 0; end\nend\n\
             always @(*) for (i = 0; i <= {n}; i = i + 1) serving[i] = |(serves[i] & pool_bit);\n\
             always @(posedge clock) begin\n  \
             for (i = 0; i <= {n}; i = i + 1) fits[i] <= serving[i] & (empties[i] | (tokens <= rooms[i]));\n  \
             if (write) begin\n    opens[node] <= open;\n    opens_long[node] <= open_long;\n    \
             stands[node] <= standing;\n    empties[node] <= empty;\n    rooms[node] <= room;\n    \
             states[node] <= state;\n  end\n  if (set) serves[set_node] <= set_serves;\n  \
             if (reset) begin\n    opens <= 0;\n    opens_long <= 0;\n    stands <= 0;\n  end\nend\n\
             always @(*) begin\n  able = fits & (long_class ? opens_long : opens);\n  has = 0;\n  \
             for (i = 0; i <= {n}; i = i + 1) has = has | ({{15'd0, able[i]}} << states[i]);\n  least = 0;\n  \
             for (i = 15; i >= 0; i = i - 1) if (has[i]) least = i[3:0];\n  \
             for (i = 0; i <= {n}; i = i + 1) least_able[i] = able[i] & (states[i] == least);\n  \
             rest = least_able & ({{{count}{{1'b1}}}} << turn);\n  if (~|rest) rest = least_able;\n  chosen = 0;\n\
             {first_rest}  \
             served = stands & serving;\n  served_rest = served & ({{{count}{{1'b1}}}} << turn);\n  \
             if (~|served_rest) served_rest = served;\n  first_served = 0;\n\
             {first_served}  \
             found = |able;\n  redirected = found & ((first_served != chosen) | ~|served);\nend\n",
            n = N - 1,
            b = B - 1,
            count = N,
            first_rest = first("rest", "chosen"),
            first_served = first("served_rest", "first_served"),
        ))
    }
}
