//! The text of an adder without a carry chain.

/// Verilog statements that make `out` the sum of `a` and `b`, `width` bits each, carry dropped, and the declarations
/// for them. Groups of three bits, then a parallel prefix over the groups by threes: five LUT levels for 64 bits.
pub(crate) fn sum(out: &str, a: &str, b: &str, width: usize) -> (String, String) {
    let groups = width.div_ceil(3);
    let pad = 3 * groups - width;
    let wide = |x: &str| if pad == 0 { x.to_string() } else { format!("{{{pad}'d0, {x}}}") };
    let declared = format!(
        "reg [{top}:0] {out}_p, {out}_g, {out}_s0, {out}_s1;\nreg [{last}:0] {out}_gg, {out}_pp, {out}_in;\n\
         integer {out}_k;\n",
        top = 3 * groups - 1,
        last = groups - 1
    );
    let mut text = format!("  {out}_p = {a} ^ {b};\n  {out}_g = {a} & {b};\n", a = wide(a), b = wide(b));
    text += &format!("  for ({out}_k = 0; {out}_k < {groups}; {out}_k = {out}_k + 1) begin\n");
    let bit = |name: &str, i: usize| format!("{out}_{name}[3*{out}_k + {i}]");
    let (p, g) = (|i| bit("p", i), |i| bit("g", i));
    text += &format!("    {} = {};\n    {} = ~{};\n", bit("s0", 0), p(0), bit("s1", 0), p(0));
    text += &format!("    {} = {} ^ {};\n", bit("s0", 1), p(1), g(0));
    text += &format!("    {} = {} ^ ({} | {});\n", bit("s1", 1), p(1), g(0), p(0));
    text += &format!("    {} = {} ^ ({} | ({} & {}));\n", bit("s0", 2), p(2), g(1), p(1), g(0));
    text += &format!("    {} = {} ^ ({} | ({} & ({} | {})));\n", bit("s1", 2), p(2), g(1), p(1), g(0), p(0));
    text += &format!("    {out}_gg[{out}_k] = {} | ({} & ({} | ({} & {})));\n", g(2), p(2), g(1), p(1), g(0));
    text += &format!("    {out}_pp[{out}_k] = {} & {} & {};\n  end\n", p(2), p(1), p(0));
    let mut step = 1;
    while step < groups {
        text += &format!(
            "  {out}_gg = {out}_gg | ({out}_pp & ({out}_gg << {step})) | ({out}_pp & ({out}_pp << {step}) & ({out}_gg << {}));\n",
            2 * step
        );
        text += &format!("  {out}_pp = {out}_pp & ({out}_pp << {step}) & ({out}_pp << {});\n", 2 * step);
        step *= 3;
    }
    text += &format!("  {out}_in = {out}_gg << 1;\n");
    for k in 0..groups {
        let (low, bits) = (3 * k, 3.min(width - 3 * k));
        text += &format!(
            "  {out}[{low} +: {bits}] = {out}_in[{k}] ? {out}_s1[{low} +: {bits}] : {out}_s0[{low} +: {bits}];\n"
        );
    }
    (declared, text)
}
