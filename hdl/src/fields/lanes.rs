//! Bits, lanes and windows of a beat, for the behaviours of this block and for their Verilog.
use rust_hdl::prelude::*;

/// Bytes of a lane: at most one wanted name closes in it, one value of a wanted name starts, and one ends.
pub(super) const LANE: usize = 8;

/// Byte `i`.
pub(super) fn byte<const B: usize>(data: &Bits<B>, i: usize) -> u8 {
    (0..8).fold(0, |byte, b| byte | u8::from(data.get_bit(8 * i + b)) << b)
}

/// All bits, the lowest first.
pub(super) fn bools<const N: usize>(bits: &Bits<N>) -> [bool; N] {
    std::array::from_fn(|i| bits.get_bit(i))
}

/// The reverse of [`bools`].
pub(super) fn bits<const N: usize>(bools: [bool; N]) -> Bits<N> {
    if N <= 64 {
        bools.iter().rev().fold(0u64, |n, b| n << 1 | u64::from(*b)).into()
    } else {
        Bits::Long(bools.into())
    }
}

/// Numbers of `width` bits, joined, the first one lowest.
pub(super) fn join<const N: usize>(numbers: &[u8], width: usize) -> Bits<N> {
    bits(std::array::from_fn(|i| numbers[i / width] >> (i % width) & 1 == 1))
}

/// The reverse of [`join`].
pub(super) fn split<const N: usize>(word: &Bits<N>, width: usize) -> Vec<u8> {
    let bit = |i: usize| u8::from(word.get_bit(i));
    (0..N / width).map(|k| (0..width).fold(0, |n, b| n | bit(width * k + b) << b)).collect()
}

/// Text that a stage looks back over: `kept` codes from before the beat, then those of its bytes. Behind the beat it
/// keeps the last of them.
pub(super) fn look_back<const B: usize>(kept: &[u8], data: &Bits<B>, count: usize, code: fn(u8) -> u8) -> Vec<u8> {
    kept.iter().copied().chain((0..count).map(|i| code(byte(data, i)))).collect()
}

/// Verilog: `reg` declarations and a loop that makes `text`, codes of `width` bits, and `state_next` from the state,
/// the bytes and their number. `code` gives the code of byte `c`.
pub(super) fn look_back_verilog(w: usize, kept: usize, width: usize, code: &str) -> (String, String) {
    let declare = format!("reg [{}:0] text;\nreg [7:0] c;\ninteger i;\n", width * (kept + w) - 1);
    let body = format!(
        "  text[{}:0] = state;\n  for (i = 0; i < {w}; i = i + 1) begin\n    c = data[8*i +: 8];\n    \
         text[{width}*(i + {kept}) +: {width}] = {code};\n  end\n  \
         state_next = text[{width}*count +: {}];\n",
        width * kept - 1,
        width * kept
    );
    (declare, body)
}

/// Verilog, for use in an `always` block: `name` (of `n` + 1 bits) gets the value of the last event before each of `n`
/// places, and on top that behind them; by parallel prefix. `any` says where events are, `value` what they say.
pub(super) fn last_event_verilog(n: usize, name: &str, any: &str, value: &str, carry: &str) -> String {
    let mut text = format!("  seen = {{{any}, 1'b1}};\n  {name} = {{({any}) & ({value}), {carry}}};\n");
    let mut step = 1;
    while step <= n {
        text += &format!("  {name} = {name} | (~seen & ({name} << {step}));\n  seen = seen | (seen << {step});\n");
        step *= 2;
    }
    text
}
