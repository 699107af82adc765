//! Beats cut into lanes of eight bytes: what the models and the Verilog of lane-parallel leaves share.
//!
//! A *lane word* has `W` bits: byte `k` of it says something of lane `k`, that is of bytes `8k` to `8k + 7`.
use rust_hdl::prelude::*;

/// Bytes of a lane.
pub(crate) const LANE_BYTES: usize = 8;

/// The bits of up to 64, the first one lowest.
pub(crate) fn word<const N: usize>(bits: Bits<N>) -> u64 {
    bits.into()
}

/// Is bit `i` set?
pub(crate) fn bit(word: u64, i: usize) -> bool {
    word >> i & 1 == 1
}

/// Byte `k` of a lane word.
pub(crate) fn lane(word: u64, k: usize) -> u64 {
    word >> (LANE_BYTES * k) & 0xff
}

/// A lane word of what `f` says of each lane of a beat of `width` bytes.
pub(crate) fn lanes(width: usize, f: impl FnMut(usize) -> u64) -> u64 {
    (0..width / LANE_BYTES).map(f).enumerate().fold(0, |word, (k, byte)| word | byte << (LANE_BYTES * k))
}

/// One bit for each byte of a beat of `width` bytes.
pub(crate) fn each(width: usize, f: impl FnMut(usize) -> bool) -> u64 {
    (0..width).map(f).enumerate().fold(0, |word, (i, set)| word | u64::from(set) << i)
}

/// The bytes of a word of any width, the first one lowest.
pub(crate) fn to_bytes<const B: usize>(bits: &Bits<B>) -> Vec<u8> {
    (0..B / 8).map(|i| (0..8).fold(0, |byte, k| byte | u8::from(bits.get_bit(8 * i + k)) << k)).collect()
}

/// The reverse of [`to_bytes`].
pub(crate) fn from_bytes<const B: usize>(bytes: impl IntoIterator<Item = u8>) -> Bits<B> {
    let mut bits = [false; B];
    for (lane, byte) in bits.chunks_mut(8).zip(bytes) {
        lane.iter_mut().enumerate().for_each(|(k, bit)| *bit = byte >> k & 1 == 1);
    }
    if B > 32 {
        return Bits::Long(bits.into());
    }
    bits.iter().rev().fold(0_u64, |word, bit| word << 1 | u64::from(*bit)).into()
}

/// `value` in the clock after `high`, `low` shifted up by `step` bytes inside each lane, as Verilog.
pub(crate) fn up(signal: &str, step: usize, width: usize) -> String {
    let byte = 0xff_u64 << step & 0xff;
    format!("(({signal} << {step}) & {width}'h{})", format!("{byte:02x}").repeat(width / LANE_BYTES))
}

/// Statements after which bit `i` of `signal` is set if it was set at or below `i` in its lane.
pub(crate) fn or_up(signal: &str, width: usize) -> String {
    [1, 2, 4].map(|step| format!("  {signal} = {signal} | {};\n", up(signal, step, width))).concat()
}

/// Statements after which `seen` and the values are those of the last byte with `seen` at or below each in its lane.
pub(crate) fn last_up(seen: &str, values: &[&str], width: usize) -> String {
    let mut code = String::new();
    for step in [1, 2, 4] {
        for value in values {
            code += &format!("  {value} = {value} | (~{seen} & {});\n", up(value, step, width));
        }
        code += &format!("  {seen} = {seen} | {};\n", up(seen, step, width));
    }
    code
}

/// Statements after which `entry[k]` is the value before lane `k`: that of the last lane before it with `seen`, or else
/// `state`; and `entry[count]` the one behind the last lane. A value without `seen` is 0.
///
/// Lanes are taken by two, three and three, so that eight of them take two levels of LUTs with six inputs.
pub(crate) fn entries(entry: &str, seen: &str, value: &str, state: &str, count: usize) -> String {
    let over = |k: usize, below: &str| format!("({value}[{k}] | (~{seen}[{k}] & {below}))");
    // the lanes of a group, without what is before them, and whether any of them counts
    let last = |from: usize, to: usize| {
        let value = (from + 1..to).fold(format!("{value}[{from}]"), |below, k| over(k, &below));
        let seen: Vec<String> = (from..to).map(|k| format!("{seen}[{k}]")).collect();
        format!("({value} | (~({}) & ", seen.join(" | "))
    };
    let mut code = format!("  {entry}[0] = {state};\n");
    let mut below = state.to_string();
    for (from, to) in [(0, 2), (2, 5), (5, 8)] {
        for k in from..to.min(count) {
            code += &format!("  {entry}[{}] = {}{below}));\n", k + 1, last(from, k + 1));
        }
        below = if from == 0 { format!("{entry}[2]") } else { format!("{}{below}))", last(from, to)) };
    }
    code
}

/// Statements after which `later[k]` is set if `hit` is for a lane behind `k`.
///
/// Lanes are taken by fours, so that no chain over all of them comes of it.
pub(crate) fn later(later: &str, hit: &str, count: usize) -> String {
    let above = |k: usize| {
        let group = (k / 4 * 4 + 4).min(count);
        let near = if k + 1 < group { format!("|{hit}[{}:{}]", group - 1, k + 1) } else { "1'b0".into() };
        if group < count {
            format!("({near}) | (|{hit}[{}:{group}])", count - 1)
        } else {
            near
        }
    };
    (0..count).map(|k| format!("  {later}[{k}] = {};\n", above(k))).collect()
}

/// One of up to eight, as an expression: that with the number `select`, of as many bits as they need.
pub(crate) fn pick(select: &str, items: &[String]) -> String {
    match items {
        [one] => one.clone(),
        _ => {
            let half = items.len() / 2;
            let (low, high) = (pick(select, &items[..half]), pick(select, &items[half..]));
            format!("({select}[{}] ? {high} : {low})", half.ilog2())
        }
    }
}
