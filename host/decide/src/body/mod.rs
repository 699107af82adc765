//! The body reader of the fabric: what `scan` and `fields` do, whatever the beats and segments.
//!
//! It does not validate JSON. For a valid body it finds the depth-1 members by
//! these rules: a string is a name if it opens after a comma at depth 1, or
//! after the brace that makes depth 1, with only white space between. The value
//! of a wanted name starts at the first byte behind the name that is neither
//! white space nor a colon.
mod blocks;
mod names;
mod number;
mod text;

use crate::bank::Bank;
use blocks::Scan;
use forebay_spec::limits::DEPTH_BITS;
use forebay_spec::{Disposition, Field, Kind, PuntReason, Record};
use memchr::memchr2;
pub(crate) use names::Names;
use names::{Window, WINDOW};
use number::{is_number_byte, number_text, thousandths, unsigned};
pub(crate) use text::Text;

/// Depth wraps as the counter of the hardware does.
const DEPTH_MASK: u16 = (1 << DEPTH_BITS) - 1;

/// Reader of one body.
#[derive(Clone, Debug)]
pub(crate) struct BodyReader {
    /// The next byte is escaped by an odd run of backslashes.
    escaped: bool,
    in_string: bool,
    depth: u16,
    /// A string that opens now is a name.
    name_expected: bool,
    /// The string that opened last is a name.
    is_name: bool,
    /// The last bytes before those that are read now.
    window: Window,
    /// Field whose name closed last.
    field: Field,
    /// Its value has not started.
    value_expected: bool,
    in_number: bool,
    in_model: bool,
    text: Text,
    kinds: [Kind; forebay_spec::record::FIELDS],
    values: [u32; forebay_spec::record::FIELDS],
    name_escape: bool,
    value_escape: bool,
}

impl BodyReader {
    pub(crate) const fn new() -> Self {
        BodyReader {
            escaped: false,
            in_string: false,
            depth: 0,
            name_expected: false,
            is_name: false,
            window: [0; WINDOW],
            field: Field::MaxTokens,
            value_expected: false,
            in_number: false,
            in_model: false,
            text: Text::EMPTY,
            kinds: [Kind::Missing; forebay_spec::record::FIELDS],
            values: [0; forebay_spec::record::FIELDS],
            name_escape: false,
            value_escape: false,
        }
    }

    /// Reads the next bytes of the body; how it is cut makes no difference.
    pub(crate) fn read(&mut self, bytes: &[u8], bank: &Bank) {
        let mut at = 0;
        while at < bytes.len() {
            if self.is_idle() {
                at = bank.isa.run(Scan { reader: self, bytes, at, names: &bank.names });
                continue;
            }
            // in a name, and in what is no JSON at all
            if self.in_string && !self.escaped && !self.in_model {
                match memchr2(b'"', b'\\', &bytes[at..]) {
                    Some(plain) => at += plain,
                    None => break,
                }
            }
            self.byte(bytes, at, bank);
            at += 1;
        }
        self.window = self.window(bytes, bytes.len());
    }

    /// Is there nothing under way but a string that nobody asks for?
    fn is_idle(&self) -> bool {
        let in_name = self.in_string && self.is_name;
        !(self.name_expected || self.value_expected || self.in_number || self.in_model || in_name)
    }

    /// The last bytes before `bytes[at]`.
    fn window(&self, bytes: &[u8], at: usize) -> Window {
        if let Some(window) = bytes[..at].last_chunk() {
            return *window;
        }
        let mut both = [0; 2 * WINDOW];
        both[..WINDOW].copy_from_slice(&self.window);
        both[WINDOW..WINDOW + at].copy_from_slice(&bytes[..at]);
        let mut window = [0; WINDOW];
        window.copy_from_slice(&both[at..at + WINDOW]);
        window
    }

    /// The reading itself, byte by byte: what everything faster has to agree with.
    fn byte(&mut self, bytes: &[u8], at: usize, bank: &Bank) {
        let byte = bytes[at];
        let quote = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        self.in_string ^= quote;
        let outside = !self.in_string && !quote;
        let depth_before = self.depth;
        if outside {
            match byte {
                b'{' | b'[' => self.depth = self.depth.wrapping_add(1) & DEPTH_MASK,
                b'}' | b']' => self.depth = self.depth.wrapping_sub(1) & DEPTH_MASK,
                _ => {}
            }
        }
        let member = outside && ((byte == b',' && depth_before == 1) || (byte == b'{' && self.depth == 1));
        let blank = outside && matches!(byte, b' ' | b'\t' | b'\r' | b'\n');

        if self.in_number && !is_number_byte(byte) {
            self.end_number(number_text(&self.window(bytes, at)));
        }
        self.model_text(byte, quote);
        self.value(byte, (outside && !blank) || (quote && self.in_string), member);
        match (quote, self.in_string) {
            (true, true) => self.is_name = self.name_expected,
            (true, false) if self.is_name => self.end_name(&self.window(bytes, at), &bank.names),
            (false, true) if self.is_name => self.name_escape |= byte == b'\\',
            _ => {}
        }

        if member {
            self.name_expected = true;
        } else if outside && !blank || quote {
            self.name_expected = false;
        }
    }

    /// A number ends before the first byte that cannot stand in one.
    fn end_number(&mut self, text: &[u8]) {
        self.in_number = false;
        let value = match self.field {
            Field::MaxTokens | Field::TopK => unsigned(text),
            Field::Temperature => thousandths(text),
            // any number is of the wrong kind here: which one does not matter
            Field::Model | Field::Stream => Some(0),
        };
        self.kinds[self.field as usize] = if value.is_some() { Kind::Number } else { Kind::OddNumber };
        self.values[self.field as usize] = value.unwrap_or(0);
    }

    fn model_text(&mut self, byte: u8, quote: bool) {
        if !self.in_model {
            return;
        }
        if quote {
            self.in_model = false;
            self.text.close();
            return;
        }
        self.value_escape |= byte == b'\\';
        self.text.push(&[byte]);
    }

    /// `starts`: the byte could be the first of a value. `member`: a name comes next.
    fn value(&mut self, byte: u8, starts: bool, member: bool) {
        if member {
            self.value_expected = false;
        }
        if self.value_expected && starts && byte != b':' {
            self.start_value(byte);
        }
    }

    /// The value of the wanted field starts with this byte.
    fn start_value(&mut self, byte: u8) {
        self.value_expected = false;
        self.in_number = byte.is_ascii_digit() || byte == b'-';
        self.kinds[self.field as usize] = match byte {
            b'"' => Kind::String,
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b't' => Kind::True,
            b'f' => Kind::False,
            b'n' => Kind::Null,
            _ => Kind::Other,
        };
        self.values[self.field as usize] = 0;
        if self.field == Field::Model {
            self.in_model = byte == b'"';
            self.text.clear();
        }
    }

    fn end_name(&mut self, window: &Window, names: &Names) {
        if let Some(field) = names.find(window) {
            self.field = field;
            self.value_expected = true;
        }
    }

    /// The record of a body that ends here, with what `head` says of the request.
    pub(crate) fn record(&self, head: Record, bank: &Bank) -> Record {
        let model = bank.model(&self.text);
        let reason = if self.name_escape {
            Some(PuntReason::NameEscape)
        } else if self.value_escape {
            Some(PuntReason::ValueEscape)
        } else if model.too_long {
            Some(PuntReason::ValueBytes)
        } else if self.kinds.contains(&Kind::OddNumber) {
            Some(PuntReason::Number)
        } else {
            None
        };
        if let Some(reason) = reason {
            let punt = Record::empty(head.connection, head.index, Disposition::Punt(reason));
            return Record { bank: head.bank, ..punt };
        }
        Record {
            model: model.index,
            class: model.class,
            hot: model.hot,
            kinds: self.kinds,
            max_tokens: self.values[Field::MaxTokens as usize],
            temperature_milli: self.values[Field::Temperature as usize],
            top_k: self.values[Field::TopK as usize],
            ..head
        }
    }
}

#[cfg(test)]
mod tests;
