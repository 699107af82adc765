//! What all nodes show, and the choice of one.
use super::leaves::{bits, number};
use rust_hdl::prelude::*;

/// States that a node can show.
const STATES: usize = 16;

/// What one node shows.
#[derive(Clone, Copy, Default)]
struct View {
    open: bool,
    open_long: bool,
    standing: bool,
    empty: bool,
    room: u32,
    state: usize,
    serves: u8,
}

/// What is kept of each node between the clocks of a choice.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// After the first clock: takes the request, stands at or behind the turn, serves the pool.
    able: bool,
    behind: bool,
    served: bool,
    /// After the second clock.
    able_2: bool,
    behind_2: bool,
    served_2: bool,
    /// After the third one.
    best: bool,
    served_3: bool,
}

/// Views of `N` nodes in flip-flops, `N = 1 << B`, and the choice of one in four clocks: who takes the request and serves its
/// pool; the least state; who has it, and the first group of eight nodes in which there is one; the first in that group.
/// Reset shuts all nodes and leaves `serves` as it is.
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
    /// else takes so many tokens.
    pub room: Signal<In, Bits<18>>,
    /// A state is renewed,
    pub state_write: Signal<In, Bit>,
    /// of this node:
    pub state_node: Signal<In, Bits<B>>,
    /// it is so loaded.
    pub state: Signal<In, Bits<4>>,
    /// First clock: prompt tokens of the request,
    pub tokens: Signal<In, Bits<18>>,
    /// its pool, one bit,
    pub pool_bit: Signal<In, Bits<8>>,
    /// a slot of the node has to stay free,
    pub long_class: Signal<In, Bit>,
    /// and the node whose turn it is.
    pub turn: Signal<In, Bits<B>>,
    /// Third clock: a node takes it.
    pub found: Signal<Out, Bit>,
    /// Fourth clock: this one,
    pub chosen: Signal<Out, Bits<B>>,
    /// and its turn it was not.
    pub redirected: Signal<Out, Bit>,
    _views: Vec<View>,
    _kept: Vec<Kept>,
    _found: bool,
    /// The least state, the states that there are behind the turn, and the groups of the third clock.
    _least: usize,
    _behind: [bool; STATES],
    _groups: [usize; 2],
}

impl<const N: usize, const B: usize> Views<N, B> {
    /// Nodes of a group.
    const GROUP: usize = if N < 8 { N } else { 8 };

    fn edge(&mut self) {
        let (views, kept) = (&self._views, &mut self._kept);
        // third clock
        let behind = self._behind[self._least];
        for (k, v) in kept.iter_mut().zip(views) {
            k.best = v.state == self._least && if behind { k.behind_2 } else { k.able_2 };
            k.served_3 = k.served_2;
        }
        let first = |found: Option<usize>| found.map_or(0, |n| n / Self::GROUP);
        self._groups = [first(kept.iter().position(|k| k.best)), first(kept.iter().position(|k| k.served_3))];
        // second clock
        let has = |s: usize, of: fn(&Kept) -> bool| kept.iter().zip(views).any(|(k, v)| v.state == s && of(k));
        self._least = (0..STATES).find(|&s| has(s, |k| k.able)).unwrap_or(STATES - 1);
        self._behind = std::array::from_fn(|s| has(s, |k| k.able && k.behind));
        self._found = kept.iter().any(|k| k.able);
        let served_behind = kept.iter().any(|k| k.served && k.behind);
        // first clock
        let (tokens, pool) = (number(&self.tokens.val()) as u32, number(&self.pool_bit.val()) as u8);
        let (is_long, turn) = (self.long_class.val(), self.turn.val().index());
        for (n, (k, v)) in kept.iter_mut().zip(views).enumerate() {
            k.served_2 = k.served && (k.behind || !served_behind);
            (k.able_2, k.behind_2) = (k.able, k.able && k.behind);
            let serves = v.serves & pool != 0;
            k.able = serves && (v.empty || tokens <= v.room) && if is_long { v.open_long } else { v.open };
            k.behind = n >= turn;
            k.served = serves && v.standing;
        }
        self.renew();
    }

    fn renew(&mut self) {
        if self.write.val() {
            let view = &mut self._views[self.node.val().index()];
            (view.open, view.open_long) = (self.open.val(), self.open_long.val());
            (view.standing, view.empty) = (self.standing.val(), self.empty.val());
            view.room = number(&self.room.val()) as u32;
        }
        if self.state_write.val() {
            self._views[self.state_node.val().index()].state = self.state.val().index();
        }
        if self.set.val() {
            self._views[self.set_node.val().index()].serves = number(&self.set_serves.val()) as u8;
        }
        if self.reset.val() {
            self._views.iter_mut().for_each(|v| (v.open, v.open_long, v.standing) = (false, false, false));
        }
    }

    /// Registers, and how they change.
    fn registers() -> String {
        format!(
            "reg [{n}:0] opens, opens_long, stands, empties;\nreg [17:0] rooms [0:{n}];\n\
             reg [3:0] states [0:{n}];\nreg [15:0] one_states [0:{n}];\nreg [7:0] serves [0:{n}];\n\
             integer i;\ninitial begin\n  opens = 0;\n  opens_long = 0;\n  stands = 0;\n  empties = 0;\n  \
             for (i = 0; i <= {n}; i = i + 1) begin\n    rooms[i] = 0;\n    states[i] = 0;\n    \
             one_states[i] = 1;\n    serves[i] = 0;\n  end\nend\n\
             always @(posedge clock) begin\n  for (i = 0; i <= {n}; i = i + 1) begin\n    \
             if (write & (node == i[{b}:0])) begin\n      opens[i] <= open;\n      opens_long[i] <= open_long;\n      \
             stands[i] <= standing;\n      empties[i] <= empty;\n      rooms[i] <= room;\n    end\n    \
             if (state_write & (state_node == i[{b}:0])) begin\n      states[i] <= state;\n      \
             one_states[i] <= 16'd1 << state;\n    end\n    \
             if (set & (set_node == i[{b}:0])) serves[i] <= set_serves;\n  end\n  \
             if (reset) begin\n    opens <= 0;\n    opens_long <= 0;\n    stands <= 0;\n  end\nend\n",
            n = N - 1,
            b = B - 1
        )
    }

    /// First and second clock.
    fn able() -> String {
        format!(
            "reg [{n}:0] serving, able, behind, served, able_2, behind_2, served_2;\n\
             reg [15:0] has, has_behind, states_behind;\nreg [3:0] least, least_now, fours;\nreg [7:0] firsts;\nreg any_able;\n\
             initial begin\n  able = 0;\n  behind = 0;\n  served = 0;\n  able_2 = 0;\n  behind_2 = 0;\n  \
             served_2 = 0;\n  states_behind = 0;\n  least = 0;\n  any_able = 0;\nend\n\
             always @(*) begin\n  for (i = 0; i <= {n}; i = i + 1) serving[i] = |(serves[i] & pool_bit);\n  \
             has = 0;\n  has_behind = 0;\n  for (i = 0; i <= {n}; i = i + 1) begin\n    \
             has = has | (one_states[i] & {{16{{able[i]}}}});\n    \
             has_behind = has_behind | (one_states[i] & {{16{{able[i] & behind[i]}}}});\n  end\n  \
             for (i = 0; i < 4; i = i + 1) begin\n    fours[i] = |has[4 * i +: 4];\n    \
             firsts[2 * i +: 2] = has[4 * i] ? 2'd0 : has[4 * i + 1] ? 2'd1 : has[4 * i + 2] ? 2'd2 : 2'd3;\n  end\n  \
             least_now = fours[0] ? {{2'd0, firsts[1:0]}} : fours[1] ? {{2'd1, firsts[3:2]}} : \
             fours[2] ? {{2'd2, firsts[5:4]}} : {{2'd3, firsts[7:6]}};\nend\n\
             always @(posedge clock) begin\n  for (i = 0; i <= {n}; i = i + 1) begin\n    \
             able[i] <= serving[i] & (empties[i] | (tokens <= rooms[i])) & (long_class ? opens_long[i] : opens[i]);\n    \
             behind[i] <= (turn <= i[{b}:0]);\n  end\n  served <= serving & stands;\n  \
             able_2 <= able;\n  behind_2 <= able & behind;\n  any_able <= |able;\n  \
             served_2 <= |(served & behind) ? served & behind : served;\n  \
             states_behind <= has_behind;\n  least <= least_now;\nend\n",
            n = N - 1,
            b = B - 1
        )
    }

    /// Third and fourth clock of a choice: the first of `from`, as `to`.
    fn first(from: &str, to: &str) -> String {
        let (g, top) = (Self::GROUP, N - 1);
        let groups = N / g;
        let find = |of: &str, to: &str, bits: usize, many: usize| {
            format!("  for (i = {}; i >= 0; i = i - 1) if ({of}) {to} = i[{}:0];\n", many - 1, bits - 1)
        };
        if groups == 1 {
            return format!(
                "reg [{top}:0] {to}_all;\ninitial {to}_all = 0;\nalways @(posedge clock) {to}_all <= {from};\n\
                 always @(*) begin\n  {to} = 0;\n{}end\n",
                find(&format!("{to}_all[i]"), to, B, N)
            );
        }
        let (bits, low) = (groups.ilog2() as usize, g.ilog2() as usize);
        format!(
            "reg [{top}:0] {to}_all;\nreg [{h}:0] {to}_group, {to}_group_now;\nreg [{l}:0] {to}_low;\n\
             wire [{m}:0] {to}_few = {to}_all[{g} * {to}_group +: {g}];\n\
             initial begin\n  {to}_all = 0;\n  {to}_group = 0;\nend\n\
             always @(*) begin\n  {to}_group_now = 0;\n{}end\n\
             always @(posedge clock) begin\n  {to}_all <= {from};\n  {to}_group <= {to}_group_now;\nend\n\
             always @(*) begin\n  {to}_low = 0;\n{}  {to} = {{{to}_group, {to}_low}};\nend\n",
            find(&format!("|{from}[{g} * i +: {g}]"), &format!("{to}_group_now"), bits, groups),
            find(&format!("{to}_few[i]"), &format!("{to}_low"), low, g),
            h = bits - 1,
            l = low - 1,
            m = g - 1
        )
    }
}

impl<const N: usize, const B: usize> Logic for Views<N, B> {
    fn update(&mut self) {
        if self._views.is_empty() {
            self._views = vec![View::default(); N];
            self._kept = vec![Kept::default(); N];
        }
        if self.clock.pos_edge() {
            self.edge();
        }
        let first = |group: usize, of: fn(&Kept) -> bool| {
            let from = group * Self::GROUP;
            from + self._kept[from..from + Self::GROUP].iter().position(of).unwrap_or(0)
        };
        let chosen = first(self._groups[0], |k| k.best);
        self.found.next = self._found;
        self.chosen.next = bits(chosen as u128);
        self.redirected.next = first(self._groups[1], |k| k.served_3) != chosen;
    }
    fn connect(&mut self) {
        self.found.connect();
        self.chosen.connect();
        self.redirected.connect();
    }
    fn hdl(&self) -> Verilog {
        const { assert!(N == 1 << B, "nodes fill their numbers") };
        let best = format!(
            "reg [{n}:0] best;\nreg [{b}:0] served_first;\n\
             always @(*) for (i = 0; i <= {n}; i = i + 1)\n  \
             best[i] = (states[i] == least) & (states_behind[least] ? behind_2[i] : able_2[i]);\n",
            n = N - 1,
            b = B - 1
        );
        let end = "always @(*) begin\n  found = any_able;\n  redirected = served_first != chosen;\nend\n";
        Verilog::Custom(
            [
                Self::registers(),
                Self::able(),
                best,
                Self::first("best", "chosen"),
                Self::first("served_2", "served_first"),
                end.into(),
            ]
            .concat(),
        )
    }
}
