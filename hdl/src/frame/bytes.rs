//! Words as bytes, for the leaves. The crate's `get_bits` shifts the whole word first.
use rust_hdl::prelude::*;

/// Byte `at` of a word.
pub(crate) fn byte<const N: usize>(word: &Bits<N>, at: usize) -> u8 {
    (0..8).rev().fold(0, |byte, bit| byte << 1 | u8::from(word.get_bit(8 * at + bit)))
}

/// All bytes of a word, lowest first.
pub(crate) fn bytes<const N: usize>(word: &Bits<N>) -> Vec<u8> {
    (0..N / 8).map(|at| byte(word, at)).collect()
}

/// A word of more than 32 bits, of its bytes from the lowest on; zeros where there are none.
pub(crate) fn word<const N: usize>(bytes: &[u8]) -> Bits<N> {
    let mut bits = [false; N];
    for (at, byte) in bytes.iter().enumerate() {
        for bit in 0..8 {
            bits[8 * at + bit] = byte >> bit & 1 != 0;
        }
    }
    Bits::Long(bits.into())
}

/// Verilog that tells for each of `lanes` bytes whether its number is below a count of 7 bits: `declared` and, in an
/// `always` block, `code`. Of each lane it is then [`below`].
///
/// In two steps, eights and the rest: a comparison for each lane becomes a chain through all of them in synthesis.
pub(crate) fn count_text(count: &str, lanes: usize) -> [String; 2] {
    let eights = lanes / 8;
    let declared = format!("reg [{0}:0] {count}_above, {count}_here;\nreg [6:0] {count}_rest;\n", eights - 1);
    let mut code = String::new();
    for eight in 0..eights {
        code += &format!("  {count}_above[{eight}] = {count}[6:3] > 4'd{eight};\n");
        code += &format!("  {count}_here[{eight}] = {count}[6:3] == 4'd{eight};\n");
    }
    for byte in 0..7 {
        code += &format!("  {count}_rest[{byte}] = {count}[2:0] > 3'd{byte};\n");
    }
    [declared, code]
}

/// Whether byte `lane` is below the count.
pub(crate) fn below(count: &str, lane: usize) -> String {
    let (eight, byte) = (lane / 8, lane % 8);
    match byte {
        7 => format!("{count}_above[{eight}]"),
        _ => format!("({count}_above[{eight}] | ({count}_here[{eight}] & {count}_rest[{byte}]))"),
    }
}
