//! The body reader of the fabric, byte by byte: what `scan` and `fields` do, whatever the beats and segments.
//!
//! It does not validate JSON. For a valid body it finds the depth-1 members by
//! these rules: a string is a name if it opens after a comma at depth 1, or
//! after the brace that makes depth 1, with only white space between. The value
//! of a wanted name starts at the first byte behind the name that is neither
//! white space nor a colon.
use crate::Bundle;
use forebay_spec::limits::{DEPTH_BITS, FRACTION_DIGITS_MAX, NUMBER_DIGITS_MAX, WINDOW_BYTES};
use forebay_spec::{Disposition, Field, Kind, PuntReason, Record};
use memchr::memchr2;

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
    /// The last bytes before those that are read now, newest last.
    window: [u8; WINDOW_BYTES],
    /// Field whose name closed last.
    field: Field,
    /// Its value has not started.
    value_expected: bool,
    in_number: bool,
    in_model: bool,
    model_bytes: usize,
    models_alive: u32,
    model: Option<u8>,
    kinds: [Kind; forebay_spec::record::FIELDS],
    values: [u32; forebay_spec::record::FIELDS],
    name_escape: bool,
    value_escape: bool,
}

impl BodyReader {
    pub(crate) fn new() -> Self {
        BodyReader {
            escaped: false,
            in_string: false,
            depth: 0,
            name_expected: false,
            is_name: false,
            window: [0; WINDOW_BYTES],
            field: Field::MaxTokens,
            value_expected: false,
            in_number: false,
            in_model: false,
            model_bytes: 0,
            models_alive: 0,
            model: None,
            kinds: [Kind::Missing; forebay_spec::record::FIELDS],
            values: [0; forebay_spec::record::FIELDS],
            name_escape: false,
            value_escape: false,
        }
    }

    /// Reads the next bytes of the body; how it is cut makes no difference.
    pub(crate) fn read(&mut self, bytes: &[u8], bundle: &Bundle) {
        let mut at = 0;
        while at < bytes.len() {
            // Prompts are most of a body: in a string that nobody asks for only its end and escapes count.
            if self.in_string && !self.escaped && !self.in_model {
                match memchr2(b'"', b'\\', &bytes[at..]) {
                    Some(plain) => at += plain,
                    None => break,
                }
            }
            self.byte(bytes, at, bundle);
            at += 1;
        }
        self.window = self.window(bytes, bytes.len());
    }

    /// The last bytes before `bytes[at]`.
    fn window(&self, bytes: &[u8], at: usize) -> [u8; WINDOW_BYTES] {
        let mut window = self.window;
        let here = at.min(WINDOW_BYTES);
        window.rotate_left(here);
        window[WINDOW_BYTES - here..].copy_from_slice(&bytes[at - here..at]);
        window
    }

    fn byte(&mut self, bytes: &[u8], at: usize, bundle: &Bundle) {
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
            self.end_number(&self.window(bytes, at));
        }
        self.model_text(byte, quote, bundle);
        self.value(byte, (outside && !blank) || (quote && self.in_string), member);
        match (quote, self.in_string) {
            (true, true) => self.is_name = self.name_expected,
            (true, false) if self.is_name => self.end_name(&self.window(bytes, at)),
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
    fn end_number(&mut self, window: &[u8; WINDOW_BYTES]) {
        self.in_number = false;
        let value = match self.field {
            Field::MaxTokens | Field::TopK => unsigned(window),
            Field::Temperature => thousandths(window),
            // any number is of the wrong kind here: which one does not matter
            Field::Model | Field::Stream => Some(0),
        };
        self.kinds[self.field as usize] = if value.is_some() { Kind::Number } else { Kind::OddNumber };
        self.values[self.field as usize] = value.unwrap_or(0);
    }

    fn model_text(&mut self, byte: u8, quote: bool, bundle: &Bundle) {
        if !self.in_model {
            return;
        }
        let named = bundle.models.iter().enumerate().filter(|(i, _)| self.models_alive >> i & 1 == 1);
        if quote {
            self.in_model = false;
            let mut whole = named.filter(|(_, m)| m.len() == self.model_bytes);
            self.model = whole.next().map(|(i, _)| i as u8);
            return;
        }
        self.value_escape |= byte == b'\\';
        let fits = named.filter(|(_, m)| m.as_bytes().get(self.model_bytes) == Some(&byte));
        self.models_alive = fits.fold(0, |alive, (i, _)| alive | 1 << i);
        self.model_bytes += 1;
    }

    /// `starts`: the byte could be the first of a value. `member`: a name comes next.
    fn value(&mut self, byte: u8, starts: bool, member: bool) {
        if member {
            self.value_expected = false;
        }
        if !self.value_expected || !starts || byte == b':' {
            return;
        }
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
            self.model = None;
            self.in_model = byte == b'"';
            self.model_bytes = 0;
            self.models_alive = u32::MAX;
        }
    }

    fn end_name(&mut self, window: &[u8; WINDOW_BYTES]) {
        if let Some(field) = Field::ALL.iter().find(|f| ends_with_name(window, f.name())) {
            self.field = *field;
            self.value_expected = true;
        }
    }

    /// The record of a body that ends here.
    pub(crate) fn record(&self, head: Record) -> Record {
        let reason = if self.name_escape {
            Some(PuntReason::NameEscape)
        } else if self.value_escape {
            Some(PuntReason::ValueEscape)
        } else if self.kinds.contains(&Kind::OddNumber) {
            Some(PuntReason::Number)
        } else {
            None
        };
        if let Some(reason) = reason {
            return Record::empty(head.connection, head.index, Disposition::Punt(reason));
        }
        Record {
            model: self.model,
            kinds: self.kinds,
            max_tokens: self.values[Field::MaxTokens as usize],
            temperature_milli: self.values[Field::Temperature as usize],
            top_k: self.values[Field::TopK as usize],
            ..head
        }
    }
}

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

fn ends_with_name(window: &[u8; WINDOW_BYTES], name: &str) -> bool {
    let quote_at = WINDOW_BYTES - 1 - name.len();
    window[quote_at] == b'"' && &window[quote_at + 1..] == name.as_bytes()
}

/// The number at the end of the window, as far as it can be seen.
fn number_text(window: &[u8; WINDOW_BYTES]) -> &[u8] {
    let start = window.iter().rposition(|&b| !is_number_byte(b)).map_or(0, |p| p + 1);
    &window[start..]
}

fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0, |n: u64, b| b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0')))
}

fn unsigned(window: &[u8; WINDOW_BYTES]) -> Option<u32> {
    let text = number_text(window);
    if text.len() > NUMBER_DIGITS_MAX {
        return None;
    }
    u32::try_from(digits(text)?).ok()
}

fn thousandths(window: &[u8; WINDOW_BYTES]) -> Option<u32> {
    let text = number_text(window);
    let fraction_digits = (1..=FRACTION_DIGITS_MAX).find(|n| text.len() > *n && text[text.len() - 1 - n] == b'.');
    let (whole, fraction) = match fraction_digits {
        Some(n) => (&text[..text.len() - 1 - n], &text[text.len() - n..]),
        None => (text, &text[..0]),
    };
    if whole.len() > NUMBER_DIGITS_MAX - FRACTION_DIGITS_MAX {
        return None;
    }
    let scale = 10u64.pow((FRACTION_DIGITS_MAX - fraction.len()) as u32);
    u32::try_from(digits(whole)? * 1000 + digits(fraction)? * scale).ok()
}
