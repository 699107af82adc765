//! Passing over what no field stands in, 64 bytes at a time.
//!
//! Between members of the top-level object only three things count: escapes, strings, and depth. They are found for a
//! block at once, as bitmaps. A block in which the depth never falls to 1 is passed by counting its brackets; in others
//! each bracket is looked at, until a member begins. A member that lies in the bytes at hand is read here as well, as
//! long as there is nothing odd about it; all else is left to the reader that goes byte by byte.
use super::number::is_number_byte;
use super::{BodyReader, Names, DEPTH_MASK};
use crate::simd::{Block, Simd, Work, BLOCK};
use forebay_spec::Field;
use memchr::memchr2;

/// Reads on from a place where the reader is idle; gives the place where it has to go on byte by byte, or the end.
pub(super) struct Scan<'a> {
    pub(super) reader: &'a mut BodyReader,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) names: &'a Names,
}

/// A block, as bitmaps.
#[derive(Clone, Copy)]
struct Maps {
    /// Offset of the block.
    at: usize,
    /// Quotes that are not escaped.
    quotes: u64,
    backslashes: u64,
    /// Brackets and commas outside of strings.
    open: u64,
    close: u64,
    commas: u64,
}

/// What a block hands on to the next one.
#[derive(Clone, Copy)]
struct Carry {
    /// 1 if its first byte is escaped.
    escaped: u64,
    /// All ones if it begins in a string.
    string: u64,
    depth: u16,
}

/// What became of a block.
enum Passed {
    /// Read, with this depth behind it.
    Whole(u16),
    /// Read up to a place behind it; there the depth is 1, and neither a string nor an escape is under way.
    Beyond(usize),
    /// A member begins before this place, and it is to be read byte by byte.
    Member(usize),
}

/// The bytes that are escaped by an odd run of backslashes, and whether the one behind the block is.
#[inline(always)]
fn escapes(backslashes: u64, first_escaped: u64) -> (u64, u64) {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    // In each run of backslashes, every second one escapes. A subtraction at the start of a run turns over all bits up to
    // its end, in those of one parity; compared with the run itself that gives every second byte.
    let starts = backslashes & !first_escaped;
    let turned = ((starts << 1) | ODD).wrapping_sub(starts) ^ ODD;
    (turned ^ (backslashes | first_escaped), (turned & backslashes) >> 63)
}

/// For each bit, the parity of the bits up to it.
#[inline(always)]
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

impl Work for Scan<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> usize {
        let mut carry = Carry {
            escaped: u64::from(self.reader.escaped),
            string: if self.reader.in_string { !0 } else { 0 },
            depth: self.reader.depth,
        };
        let mut padded = [b' '; BLOCK];
        while let Some(rest) = self.bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            let (block, count) = match rest.first_chunk() {
                Some(bytes) => (simd.load(bytes), BLOCK),
                None => {
                    padded[..rest.len()].copy_from_slice(rest);
                    (simd.load(&padded), rest.len())
                }
            };
            let backslashes = block.equal(b'\\');
            let (escaped, next_escaped) = escapes(backslashes, carry.escaped);
            let quotes = block.equal(b'"') & !escaped;
            carry.escaped = if count == BLOCK { next_escaped } else { escaped >> count & 1 };
            if carry.string & !quotes == !0 {
                // all of it is in one string
                self.at += count;
                continue;
            }
            let inside = parity(quotes) ^ carry.string;
            let outside = !(inside | quotes);
            let (open, close) = (block.equal_either(b'{') & outside, block.equal_either(b'}') & outside);
            let (opened, closed) = (open.count_ones() as u16, close.count_ones() as u16);
            if carry.depth >= 2 + closed && carry.depth + opened <= DEPTH_MASK {
                carry.depth = carry.depth + opened - closed;
            } else {
                let commas = block.equal(b',') & outside;
                let maps = Maps { at: self.at, quotes, backslashes, open, close, commas };
                match self.pass(&maps, carry.depth) {
                    Passed::Whole(depth) => carry.depth = depth,
                    Passed::Beyond(at) => {
                        self.at = at;
                        carry = Carry { escaped: 0, string: 0, depth: 1 };
                        continue;
                    }
                    Passed::Member(at) => return self.hand_over(at),
                }
            }
            carry.string = ((inside as i64) >> 63) as u64;
            self.at += count;
        }
        self.rest(carry);
        self.bytes.len()
    }
}

impl Scan<'_> {
    /// The reader is left idle.
    #[inline(always)]
    fn rest(&mut self, carry: Carry) {
        let reader = &mut *self.reader;
        (reader.escaped, reader.in_string, reader.depth) = (carry.escaped != 0, carry.string != 0, carry.depth);
        (reader.is_name, reader.name_expected, reader.value_expected) = (false, false, false);
    }

    /// The reader is left where a name comes next.
    #[inline(always)]
    fn hand_over(&mut self, at: usize) -> usize {
        self.rest(Carry { escaped: 0, string: 0, depth: 1 });
        self.reader.name_expected = true;
        at
    }

    /// Goes from bracket to bracket, and at depth 1 from comma to comma.
    #[inline(always)]
    fn pass(&mut self, maps: &Maps, mut depth: u16) -> Passed {
        let mut left = !0u64;
        loop {
            let brackets = (maps.open | maps.close) & left;
            let bracket = brackets & brackets.wrapping_neg();
            // without a bracket: all bits
            let before = bracket.wrapping_sub(1);
            let comma = maps.commas & left & before;
            let begins = if depth == 1 && comma != 0 {
                comma.trailing_zeros()
            } else if bracket == 0 {
                return Passed::Whole(depth);
            } else {
                left &= !before << 1;
                let place = bracket.trailing_zeros();
                if maps.close & bracket != 0 {
                    depth = depth.wrapping_sub(1) & DEPTH_MASK;
                    continue;
                }
                depth = (depth + 1) & DEPTH_MASK;
                if depth != 1 || self.bytes[maps.at + place as usize] != b'{' {
                    continue;
                }
                place
            };
            let behind = maps.at + begins as usize + 1;
            match self.member(maps, behind) {
                None => return Passed::Member(behind),
                Some(next) if next >= maps.at + BLOCK => return Passed::Beyond(next),
                Some(next) => left = !0 << (next - maps.at),
            }
        }
    }

    /// Reads the member behind a comma at depth 1, or behind the brace that makes it, up to where nothing of it is under
    /// way. `None`, and nothing done, if it does not end in the bytes at hand or is odd.
    #[inline(always)]
    fn member(&mut self, maps: &Maps, at: usize) -> Option<usize> {
        let open = at + self.bytes.get(at..)?.iter().position(|&b| !is_blank(b))?;
        if self.bytes[open] != b'"' {
            return Some(open);
        }
        let close = self.string_end(maps, open)?;
        // there is no quote inside, so only a name of the same length can be it
        let found = self.names.have(close - open - 1).then(|| self.names.find(&self.reader.window(self.bytes, close)));
        let Some(field) = found.flatten() else {
            return Some(close + 1);
        };
        let start = close + 1 + self.bytes[close + 1..].iter().position(|&b| !is_blank(b) && b != b':')?;
        let first = self.bytes[start];
        if first == b',' {
            return Some(start);
        }
        let mut end = start;
        if first.is_ascii_digit() || first == b'-' {
            end += self.bytes[start..].iter().position(|&b| !is_number_byte(b))?;
        } else if first == b'"' && field == Field::Model {
            end = self.string_end(maps, start)?;
        }
        let value = &self.bytes[start..end];
        let reader = &mut *self.reader;
        reader.field = field;
        reader.start_value(first);
        if reader.in_number {
            reader.end_number(value);
        } else if reader.in_model {
            reader.in_model = false;
            reader.text.push(&value[1..]);
            reader.text.close();
            end += 1;
        }
        Some(end)
    }

    /// The quote that closes the string opened at `open`; `None` if there is a backslash before it, or it does not come.
    #[inline(always)]
    fn string_end(&self, maps: &Maps, open: usize) -> Option<usize> {
        let mut from = open + 1;
        if from < maps.at + BLOCK {
            let later = !0u64 << (from - maps.at);
            let quotes = maps.quotes & later;
            let quote = quotes & quotes.wrapping_neg();
            if maps.backslashes & later & quote.wrapping_sub(1) != 0 {
                return None;
            }
            if quote != 0 {
                return Some(maps.at + quote.trailing_zeros() as usize);
            }
            from = maps.at + BLOCK;
        }
        let end = from + memchr2(b'"', b'\\', self.bytes.get(from..)?)?;
        (self.bytes[end] == b'"').then_some(end)
    }
}

/// White space of JSON.
#[inline(always)]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
