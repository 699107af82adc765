//! What the scanner says of a beat, byte by byte.
use forebay_spec::limits::DEPTH_BITS;

/// One bit for each byte of a beat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) quote: u64,
    pub(crate) in_string: u64,
    pub(crate) before_one: u64,
    pub(crate) after_one: u64,
}

/// Reader of one body.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reader {
    escaped: bool,
    in_string: bool,
    depth: u32,
}

impl Reader {
    /// Brackets that are open; modulo 4,096.
    pub(crate) fn depth(&self) -> u64 {
        self.depth.into()
    }

    pub(crate) fn beat(&mut self, bytes: &[u8]) -> Marks {
        let mut marks = Marks::default();
        for (i, &byte) in bytes.iter().enumerate() {
            let bit = 1 << i;
            marks.before_one |= if self.depth == 1 { bit } else { 0 };
            let quote = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            if quote {
                self.in_string = !self.in_string;
                marks.quote |= bit;
            } else if !self.in_string {
                match byte {
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.wrapping_sub(1),
                    _ => {}
                }
                self.depth &= (1 << DEPTH_BITS) - 1;
            }
            marks.in_string |= if self.in_string { bit } else { 0 };
            marks.after_one |= if self.depth == 1 { bit } else { 0 };
        }
        marks
    }
}
