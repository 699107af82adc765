//! What a body says, byte by byte: the rules of the twin, written once more.
use forebay_spec::limits::{DEPTH_BITS, FRACTION_DIGITS_MAX, NUMBER_DIGITS_MAX, WINDOW_BYTES};
use forebay_spec::record::FIELDS;
use forebay_spec::{Field, Kind};

/// A loaded name and its field.
pub(crate) type Names = Vec<(String, Field)>;

/// Reader of one body.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) read: Vec<u8>,
    escaped: bool,
    in_string: bool,
    depth: u32,
    name_expected: bool,
    is_name: bool,
    field: Field,
    value_expected: bool,
    in_number: bool,
    in_model: bool,
    pub(crate) kinds: [Kind; FIELDS],
    pub(crate) values: [u32; FIELDS],
    pub(crate) name_escape: bool,
    pub(crate) value_escape: bool,
    /// Content of the last value of the model, if it is a string.
    pub(crate) text: Vec<u8>,
    /// It is one that closed.
    pub(crate) closed: bool,
}

impl Default for Body {
    fn default() -> Self {
        Body {
            read: Vec::new(),
            escaped: false,
            in_string: false,
            depth: 0,
            name_expected: false,
            is_name: false,
            field: Field::MaxTokens,
            value_expected: false,
            in_number: false,
            in_model: false,
            kinds: [Kind::Missing; FIELDS],
            values: [0; FIELDS],
            name_escape: false,
            value_escape: false,
            text: Vec::new(),
            closed: false,
        }
    }
}

impl Body {
    pub(crate) fn bytes(&mut self, bytes: &[u8], names: &Names) {
        bytes.iter().for_each(|byte| self.byte(*byte, names));
    }

    fn byte(&mut self, byte: u8, names: &Names) {
        let quote = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        self.in_string ^= quote;
        let outside = !self.in_string && !quote;
        let depth_before = self.depth;
        if outside {
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.wrapping_sub(1),
                _ => {}
            }
            self.depth &= (1 << DEPTH_BITS) - 1;
        }
        let member = outside && ((byte == b',' && depth_before == 1) || (byte == b'{' && self.depth == 1));
        let solid = outside && !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');

        if self.in_number && !is_number_byte(byte) {
            self.end_number();
        }
        if self.in_model {
            match quote {
                true => (self.in_model, self.closed) = (false, true),
                false => self.text.push(byte),
            }
            self.value_escape |= byte == b'\\';
        }
        self.value_expected &= !member;
        if self.value_expected && byte != b':' && (solid || quote && self.in_string) {
            self.start_value(byte, quote);
        }
        match (quote, self.in_string) {
            (true, true) => self.is_name = self.name_expected,
            (true, false) if self.is_name => self.end_name(names),
            (false, true) if self.is_name => self.name_escape |= byte == b'\\',
            _ => {}
        }
        self.name_expected = member || (self.name_expected && !solid && !quote);
        self.read.push(byte);
    }

    fn end_name(&mut self, names: &Names) {
        let found = names.iter().find(|(name, _)| self.read.ends_with(format!("\"{name}").as_bytes()));
        if let Some((_, field)) = found {
            (self.field, self.value_expected) = (*field, true);
        }
    }

    fn start_value(&mut self, byte: u8, quote: bool) {
        let f = self.field as usize;
        self.value_expected = false;
        self.in_number = byte.is_ascii_digit() || byte == b'-';
        self.kinds[f] = match byte {
            b'"' => Kind::String,
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b't' => Kind::True,
            b'f' => Kind::False,
            b'n' => Kind::Null,
            _ => Kind::Other,
        };
        self.values[f] = 0;
        if self.field == Field::Model {
            self.in_model = quote;
            self.text.clear();
            self.closed = false;
        }
    }

    fn end_number(&mut self) {
        self.in_number = false;
        let window = &self.read[self.read.len().saturating_sub(WINDOW_BYTES)..];
        let start = window.iter().rposition(|b| !is_number_byte(*b)).map_or(0, |p| p + 1);
        let text = std::str::from_utf8(&window[start..]).expect("ASCII");
        let value = match self.field {
            Field::MaxTokens | Field::TopK => digits(text, NUMBER_DIGITS_MAX),
            Field::Temperature => thousandths(text),
            Field::Model | Field::Stream => Some(0),
        };
        let value = value.and_then(|v| u32::try_from(v).ok());
        self.kinds[self.field as usize] = if value.is_some() { Kind::Number } else { Kind::OddNumber };
        self.values[self.field as usize] = value.unwrap_or(0);
    }
}

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

fn digits(text: &str, most: usize) -> Option<u64> {
    let fits = text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.bytes().fold(0, |n, b| 10 * n + u64::from(b - b'0')))
}

fn thousandths(text: &str) -> Option<u64> {
    let point = (1..=FRACTION_DIGITS_MAX).find(|n| text.len() > *n && text.as_bytes()[text.len() - 1 - n] == b'.');
    let (whole, fraction) = point.map_or((text, ""), |n| (&text[..text.len() - 1 - n], &text[text.len() - n..]));
    let scale = 10_u64.pow((FRACTION_DIGITS_MAX - fraction.len()) as u32);
    let whole = digits(whole, NUMBER_DIGITS_MAX - FRACTION_DIGITS_MAX)?;
    Some(whole * 1000 + digits(fraction, FRACTION_DIGITS_MAX)? * scale)
}
