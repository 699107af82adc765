//! Small leaves: what `hdl_gen` has no words for.
use rust_hdl::prelude::*;

/// The least bits of a value, as a number.
pub(super) fn number<const N: usize>(bits: &Bits<N>) -> u128 {
    (0..N).rev().fold(0, |n, i| n << 1 | u128::from(bits.get_bit(i)))
}

/// The reverse of [`number`].
pub(super) fn bits<const N: usize>(n: u128) -> Bits<N> {
    if N <= 32 {
        return (n as u64 & ((1 << N) - 1)).into();
    }
    let mut made = [false; N];
    made.iter_mut().enumerate().take(128).for_each(|(i, bit)| *bit = n >> i & 1 == 1);
    Bits::Long(made.into())
}

/// `2^A` words of `W` bits, read at once and written at the edge: LUT memory, or flip-flops where there are few words.
/// Contents start at zero.
#[derive(LogicBlock, Default)]
pub struct LutRam<const W: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Read address.
    pub raddr: Signal<In, Bits<A>>,
    /// Word there, in the same clock.
    pub rdata: Signal<Out, Bits<W>>,
    /// Write enable.
    pub we: Signal<In, Bit>,
    /// Write address.
    pub waddr: Signal<In, Bits<A>>,
    /// Word to write.
    pub wdata: Signal<In, Bits<W>>,
    _words: Vec<Bits<W>>,
}

impl<const W: usize, const A: usize> Logic for LutRam<W, A> {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![Bits::default(); 1 << A];
        }
        if self.clock.pos_edge() && self.we.val() {
            self._words[self.waddr.val().index()] = self.wdata.val();
        }
        self.rdata.next = self._words[self.raddr.val().index()];
    }
    fn connect(&mut self) {
        self.rdata.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* ram_style = \"distributed\" *) reg [{w}:0] words [0:{last}];\n\
             integer k;\n\
             initial for (k = 0; k <= {last}; k = k + 1) words[k] = 0;\n\
             always @(posedge clock) if (we) words[waddr] <= wdata;\n\
             always @(*) rdata = words[raddr];\n",
            w = W - 1,
            last = (1usize << A) - 1
        ))
    }
}

/// Is a number below `2^A`? Wires only.
#[derive(LogicBlock, Default)]
pub struct Below<const W: usize, const A: usize> {
    /// The number.
    pub x: Signal<In, Bits<W>>,
    /// It is.
    pub yes: Signal<Out, Bit>,
}

impl<const W: usize, const A: usize> Logic for Below<W, A> {
    fn update(&mut self) {
        self.yes.next = number(&self.x.val()) >> A == 0;
    }
    fn connect(&mut self) {
        self.yes.connect();
    }
    fn hdl(&self) -> Verilog {
        if A >= W {
            return Verilog::Custom("always @(*) yes = |{1'b1, x};\n".into());
        }
        Verilog::Custom(format!("always @(*) yes = ~|x[{}:{A}];\n", W - 1))
    }
}

/// Product of two numbers, a clock later; `C` is `A + B`.
#[derive(LogicBlock, Default)]
pub struct Multiply<const A: usize, const B: usize, const C: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// One.
    pub a: Signal<In, Bits<A>>,
    /// The other.
    pub b: Signal<In, Bits<B>>,
    /// Product of those of the clock before.
    pub product: Signal<Out, Bits<C>>,
}

impl<const A: usize, const B: usize, const C: usize> Logic for Multiply<A, B, C> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.product.next = bits(number(&self.a.val()) * number(&self.b.val()));
        }
    }
    fn connect(&mut self) {
        self.product.connect();
    }
    fn hdl(&self) -> Verilog {
        const { assert!(C == A + B, "a product has the bits of both") };
        Verilog::Custom("initial product = 0;\nalways @(posedge clock) product <= a * b;\n".into())
    }
}

/// The shifts of a constant factor, see `forebay_spec::burst::ShiftAdd`, five bits each; of a term that there is not it is
/// 31, which leaves nothing. The factor is that of `word::factor`; wires only.
#[derive(LogicBlock, Default)]
pub struct Shifts {
    /// The factor.
    pub factor: Signal<In, Bits<17>>,
    /// Its shifts.
    pub shifts: Signal<Out, Bits<15>>,
}

impl Logic for Shifts {
    fn update(&mut self) {
        let factor = number(&self.factor.val());
        let shift = |i: u128| if factor >> 15 > i { factor >> (5 * i) & 31 } else { 31 };
        self.shifts.next = bits(shift(0) | shift(1) << 5 | shift(2) << 10);
    }
    fn connect(&mut self) {
        self.shifts.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "always @(*) shifts = factor[14:0] | {{5{factor[16:15] < 2'd3}}, {5{~factor[16]}}, {5{~|factor[16:15]}}};\n"
                .into(),
        )
    }
}

/// The product with a constant factor of such shifts. Registers hold its three terms, added without carries; what is left
/// is one sum. `S` is `W + 7`.
#[derive(LogicBlock, Default)]
pub struct Scale<const W: usize, const S: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The number.
    pub x: Signal<In, Bits<W>>,
    /// Shifts of the factor.
    pub shifts: Signal<In, Bits<15>>,
    /// Product of those of the clock before.
    pub product: Signal<Out, Bits<S>>,
    _sum: u128,
}

impl<const W: usize, const S: usize> Logic for Scale<W, S> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let (wide, shifts) = (number(&self.x.val()) << 5, number(&self.shifts.val()));
            self._sum = (0..3).map(|i| wide >> (shifts >> (5 * i) & 31)).sum();
        }
        self.product.next = bits(self._sum);
    }
    fn connect(&mut self) {
        self.product.connect();
    }
    fn hdl(&self) -> Verilog {
        const { assert!(S == W + 7 && W + 5 <= 31, "three terms, shifted up by five, and none of them by 31") };
        Verilog::Custom(format!(
            "reg [{top}:0] odd, carry;\n\
             wire [{top}:0] wide = {{x, 5'd0}};\n\
             wire [{top}:0] term_0 = wide >> shifts[4:0];\n\
             wire [{top}:0] term_1 = wide >> shifts[9:5];\n\
             wire [{top}:0] term_2 = wide >> shifts[14:10];\n\
             initial begin\n  odd = 0;\n  carry = 0;\nend\n\
             always @(posedge clock) begin\n  odd <= term_0 ^ term_1 ^ term_2;\n  \
             carry <= (term_0 & term_1) | (term_0 & term_2) | (term_1 & term_2);\nend\n\
             always @(*) product = {{2'd0, odd}} + {{1'd0, carry, 1'd0}};\n",
            top = W + 4
        ))
    }
}

/// Where a request's ticket stands, and how it is told from others there; wires only.
#[derive(LogicBlock, Default)]
pub struct Place {
    /// Word of its tenant.
    pub tenant: Signal<In, Bits<8>>,
    /// Its pool.
    pub pool: Signal<In, Bits<3>>,
    /// Its prompt tokens.
    pub tokens: Signal<In, Bits<18>>,
    /// Output tokens that it declares.
    pub declared_output: Signal<In, Bits<18>>,
    /// Place, of which a table takes the low bits.
    pub place: Signal<Out, Bits<12>>,
    /// Check.
    pub check: Signal<Out, Bits<18>>,
}

impl Logic for Place {
    fn update(&mut self) {
        let [tenant, pool] = [number(&self.tenant.val()) as u8, number(&self.pool.val()) as u8];
        let [tokens, declared] = [number(&self.tokens.val()) as u32, number(&self.declared_output.val()) as u32];
        let place = forebay_spec::burst::ticket_place(tenant, pool, tokens, declared);
        self.place.next = bits(u128::from(place & 0xfff));
        self.check.next = bits(u128::from(forebay_spec::burst::ticket_check(tokens, declared)));
    }
    fn connect(&mut self) {
        self.place.connect();
        self.check.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "wire [17:0] near = tokens ^ (tokens >> 9) ^ declared_output ^ (declared_output >> 6);\n\
             wire [11:0] whose = {tenant, 4'd0} ^ {6'd0, tenant[7:2]} ^ {2'd0, pool, 7'd0};\n\
             always @(*) begin\n  place = near[11:0] ^ whose;\n  \
             check = tokens ^ {declared_output[8:0], declared_output[17:9]};\nend\n"
                .into(),
        )
    }
}

/// Decode work of a request; wires only.
#[derive(LogicBlock, Default)]
pub struct DecodeWork {
    /// Output tokens times the pool's factor, ms of a slot.
    pub decode_ms: Signal<In, Bits<21>>,
    /// Slots of a node, as a power of two.
    pub slots_log2: Signal<In, Bits<4>>,
    /// Decode work, 1/16 ms of a slot.
    pub slot: Signal<Out, Bits<23>>,
    /// The same, 1/16 ms of a node.
    pub node: Signal<Out, Bits<23>>,
}

impl Logic for DecodeWork {
    fn update(&mut self) {
        let full = number(&self.decode_ms.val()) >> 19 != 0;
        let slot = if full { (1 << 23) - 1 } else { number(&self.decode_ms.val()) << 4 };
        self.slot.next = bits(slot);
        self.node.next = bits(slot >> (number(&self.slots_log2.val()) + 1));
    }
    fn connect(&mut self) {
        self.slot.connect();
        self.node.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "wire full = |decode_ms[20:19];\n\
             always @(*) begin\n  slot = {decode_ms[18:0], 4'd0} | {23{full}};\n  \
             node = ({1'd0, decode_ms[18:0], 3'd0} >> slots_log2) | (23'h3fffff >> slots_log2) & {23{full}};\nend\n"
                .into(),
        )
    }
}

/// Class of a request; wires only.
#[derive(LogicBlock, Default)]
pub struct WorkClass {
    /// Its work, 1/16 ms of a node.
    pub node_work: Signal<In, Bits<24>>,
    /// Logarithm of it.
    pub work_class: Signal<Out, Bits<3>>,
}

impl Logic for WorkClass {
    fn update(&mut self) {
        let node_ms = number(&self.node_work.val()) >> 4;
        let class = (node_ms | 1).ilog2().saturating_sub(4).min(7);
        self.work_class.next = bits(u128::from(class));
    }
    fn connect(&mut self) {
        self.work_class.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "always @(*) work_class = \
             |node_work[23:15] ? 3'd7 : node_work[14] ? 3'd6 : node_work[13] ? 3'd5 : node_work[12] ? 3'd4 : \
             node_work[11] ? 3'd3 : node_work[10] ? 3'd2 : node_work[9] ? 3'd1 : 3'd0;\n"
                .into(),
        )
    }
}

/// The best and the worst FIFO that holds something; wires only.
#[derive(LogicBlock, Default)]
pub struct Ends {
    /// FIFOs that hold something.
    pub filled: Signal<In, Bits<9>>,
    /// The lowest of them; 0 if there is none.
    pub best: Signal<Out, Bits<4>>,
    /// The highest; 0 if there is none.
    pub worst: Signal<Out, Bits<4>>,
}

impl Logic for Ends {
    fn update(&mut self) {
        let filled = number(&self.filled.val()) as u32;
        let (best, worst) = if filled == 0 { (0, 0) } else { (filled.trailing_zeros(), filled.ilog2()) };
        self.best.next = bits(u128::from(best));
        self.worst.next = bits(u128::from(worst));
    }
    fn connect(&mut self) {
        self.best.connect();
        self.worst.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "integer i;\nalways @(*) begin\n  best = 0;\n  worst = 0;\n  \
             for (i = 8; i >= 0; i = i - 1) if (filled[i]) best = i[3:0];\n  \
             for (i = 0; i < 9; i = i + 1) if (filled[i]) worst = i[3:0];\nend\n"
                .into(),
        )
    }
}

/// The word of one of eight pools; wires only.
#[derive(LogicBlock, Default)]
pub struct OfPool<const W: usize> {
    /// The pool.
    pub pool: Signal<In, Bits<3>>,
    /// Words of all pools.
    pub words: [Signal<In, Bits<W>>; 8],
    /// Its word.
    pub word: Signal<Out, Bits<W>>,
    pairs: [Signal<Local, Bits<W>>; 4],
    fours: [Signal<Local, Bits<W>>; 2],
}

impl<const W: usize> Logic for OfPool<W> {
    #[hdl_gen]
    fn update(&mut self) {
        for k in 0..4 {
            self.pairs[k].next = self.words[2 * k].val();
            if self.pool.val().get_bit(0) {
                self.pairs[k].next = self.words[2 * k + 1].val();
            }
        }
        for k in 0..2 {
            self.fours[k].next = self.pairs[2 * k].val();
            if self.pool.val().get_bit(1) {
                self.fours[k].next = self.pairs[2 * k + 1].val();
            }
        }
        self.word.next = self.fours[0].val();
        if self.pool.val().get_bit(2) {
            self.word.next = self.fours[1].val();
        }
    }
}

/// One number above another, `B = H + L` bits; wires only.
#[derive(LogicBlock, Default)]
pub struct Join<const H: usize, const L: usize, const B: usize> {
    /// High part.
    pub high: Signal<In, Bits<H>>,
    /// Low part.
    pub low: Signal<In, Bits<L>>,
    /// Both.
    pub both: Signal<Out, Bits<B>>,
}

impl<const H: usize, const L: usize, const B: usize> Logic for Join<H, L, B> {
    fn update(&mut self) {
        self.both.next = bits(number(&self.high.val()) << L | number(&self.low.val()));
    }
    fn connect(&mut self) {
        self.both.connect();
    }
    fn hdl(&self) -> Verilog {
        const { assert!(B == H + L, "both parts fill the word") };
        Verilog::Custom("always @(*) both = {high, low};\n".into())
    }
}
