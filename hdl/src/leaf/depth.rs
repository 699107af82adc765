//! Nesting depth of every byte of a beat.
use forebay_spec::limits::DEPTH_BITS;
use rust_hdl::prelude::*;

/// For each byte the brackets opened less those closed, from the first byte of the beat up to it.
///
/// `S` is `W` times the width of a sum, which must hold `-W..=W`.
#[derive(LogicBlock, Default)]
pub struct DepthSums<const W: usize, const S: usize> {
    /// Opening brackets.
    pub opens: Signal<In, Bits<W>>,
    /// Closing brackets.
    pub closes: Signal<In, Bits<W>>,
    /// Two's complement sums, first byte lowest.
    pub sums: Signal<Out, Bits<S>>,
}

impl<const W: usize, const S: usize> Logic for DepthSums<W, S> {
    fn update(&mut self) {
        let bits = S / W;
        let mut sums = Bits::<S>::default();
        let mut sum = 0u32;
        for i in 0..W {
            sum = sum.wrapping_add(u32::from(self.opens.val().get_bit(i)));
            sum = sum.wrapping_sub(u32::from(self.closes.val().get_bit(i)));
            for b in 0..bits {
                sums = sums.replace_bit(i * bits + b, sum >> b & 1 == 1);
            }
        }
        self.sums.next = sums;
    }
    fn connect(&mut self) {
        self.sums.connect();
    }
    fn hdl(&self) -> Verilog {
        let bits = S / W;
        assert!(bits * W == S && 1 << (bits - 1) > W, "a sum of {bits} bits does not hold {W} brackets");
        let mut text = String::from("integer i;\nalways @(*) begin\n");
        text += &format!(
            "  for (i = 0; i < {W}; i = i + 1) sums[{bits}*i +: {bits}] = {{{{{}{{closes[i]}}}}, opens[i] | closes[i]}};\n",
            bits - 1
        );
        let mut step = 1;
        while step < W {
            text += &format!(
                "  for (i = {}; i >= {step}; i = i - 1) sums[{bits}*i +: {bits}] = sums[{bits}*i +: {bits}] \
                 + sums[{bits}*(i - {step}) +: {bits}];\n",
                W - 1
            );
            step *= 2;
        }
        Verilog::Custom(text + "end\n")
    }
}

/// Compares each byte's depth with one, without adding the depth before the beat to every sum.
#[derive(LogicBlock, Default)]
pub struct DepthIsOne<const W: usize, const S: usize> {
    /// Sums of [`DepthSums`].
    pub sums: Signal<In, Bits<S>>,
    /// Depth before the beat.
    pub base: Signal<In, Bits<DEPTH_BITS>>,
    /// The depth before the byte is one.
    pub prior: Signal<Out, Bits<W>>,
    /// The depth after the byte is one.
    pub after: Signal<Out, Bits<W>>,
    /// Depth after the beat.
    pub base_next: Signal<Out, Bits<DEPTH_BITS>>,
}

impl<const W: usize, const S: usize> Logic for DepthIsOne<W, S> {
    fn update(&mut self) {
        let bits = S / W;
        let base: Bits<DEPTH_BITS> = self.base.val();
        let base = base.index() as u32;
        let mut prior = Bits::<W>::default();
        let mut after = Bits::<W>::default();
        let mut depth = base;
        for i in 0..W {
            prior = prior.replace_bit(i, depth == 1);
            let raw = (0..bits).fold(0u32, |n, b| n | u32::from(self.sums.val().get_bit(i * bits + b)) << b);
            let signed = ((raw << (32 - bits)) as i32) >> (32 - bits);
            depth = base.wrapping_add_signed(signed) & ((1 << DEPTH_BITS) - 1);
            after = after.replace_bit(i, depth == 1);
        }
        self.prior.next = prior;
        self.after.next = after;
        self.base_next.next = u64::from(depth).into();
    }
    fn connect(&mut self) {
        self.prior.connect();
        self.after.connect();
        self.base_next.connect();
    }
    fn hdl(&self) -> Verilog {
        let bits = S / W;
        let wide = DEPTH_BITS;
        let mut text = format!("reg [{}:0] target;\nreg reachable;\ninteger i;\nalways @(*) begin\n", wide - 1);
        text += &format!("  target = {wide}'d1 - base;\n");
        text += "  // only a target that a sum can hold is met: all bits above it equal its sign\n";
        text += &format!(
            "  reachable = (&target[{top}:{sign}]) | ~(|target[{top}:{sign}]);\n",
            top = wide - 1,
            sign = bits - 1
        );
        text += &format!(
            "  for (i = 0; i < {W}; i = i + 1) after[i] = reachable & (sums[{bits}*i +: {bits}] == target[{}:0]);\n",
            bits - 1
        );
        text += &format!("  prior = {{after[{}:0], base == {wide}'d1}};\n", W - 2);
        text += &format!(
            "  base_next = base + {{{{{}{{sums[{msb}]}}}}, sums[{msb} -: {bits}]}};\nend\n",
            wide - bits,
            msb = S - 1
        );
        Verilog::Custom(text)
    }
}
