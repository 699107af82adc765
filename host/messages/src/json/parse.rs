//! The one pass over the text.
use super::{text, JsonError, Kind, Node, Size};

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Value,
    /// A value, or the end of an array that has just begun.
    ValueOrEnd,
    Name,
    /// A name, or the end of an object that has just begun.
    NameOrEnd,
    /// A comma, or the end of what is open.
    More,
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    size: &'a Size,
    /// Nodes of the open arrays and objects.
    open: Vec<u32>,
}

/// The nodes of a text, which has been checked to be UTF-8.
pub(super) fn parse(bytes: &[u8], size: &Size) -> Result<Vec<Node>, JsonError> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(JsonError::new("the text has more than 4 GiB", 0));
    }
    // a node for 24 bytes is about what bodies with tools have, events have more
    let nodes = Vec::with_capacity((bytes.len() / 24).clamp(32, 4_096));
    let mut parser = Parser { bytes, at: 0, nodes, size, open: Vec::with_capacity(8) };
    parser.run()?;
    Ok(parser.nodes)
}

/// All steps are part of the one loop: so `at` stays in a register.
impl Parser<'_> {
    fn run(&mut self) -> Result<(), JsonError> {
        let mut want = Want::Value;
        loop {
            self.blanks();
            let Some(&byte) = self.bytes.get(self.at) else { return Err(self.fail("the text ends too early")) };
            want = match want {
                Want::ValueOrEnd if byte == b']' => self.close(),
                Want::Value | Want::ValueOrEnd => self.value(byte)?,
                Want::NameOrEnd if byte == b'}' => self.close(),
                Want::Name | Want::NameOrEnd => self.name(byte)?,
                Want::More => self.more(byte)?,
            };
            if self.nodes.len() > self.size.values_max {
                return Err(self.over("there are more names and values than the limit", self.size.values_max));
            }
            if want == Want::More && self.open.is_empty() {
                break;
            }
        }
        self.blanks();
        if self.at < self.bytes.len() {
            return Err(self.fail("there is more behind the value"));
        }
        Ok(())
    }

    fn fail(&self, what: &'static str) -> JsonError {
        JsonError::new(what, self.at)
    }

    fn over(&self, what: &'static str, limit: usize) -> JsonError {
        JsonError { what, limit: Some(limit), at: self.at }
    }

    #[inline(always)]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// A node of one value without children that ends at `end`.
    #[inline(always)]
    fn leaf(&mut self, kind: Kind, end: usize, escaped: bool) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { start: self.at as u32, end: end as u32, next, kind, escaped });
        self.at = end;
    }

    #[inline(always)]
    fn value(&mut self, byte: u8) -> Result<Want, JsonError> {
        match byte {
            b'"' => self.string()?,
            b'{' => return self.begin(Kind::Object),
            b'[' => return self.begin(Kind::Array),
            b't' => self.word(b"true", Kind::True)?,
            b'f' => self.word(b"false", Kind::False)?,
            b'n' => self.word(b"null", Kind::Null)?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => return Err(self.fail("a value should stand here")),
        }
        Ok(Want::More)
    }

    #[inline(always)]
    fn begin(&mut self, kind: Kind) -> Result<Want, JsonError> {
        if self.open.len() >= self.size.depth_max {
            return Err(
                self.over("there are more objects and arrays within each other than the limit", self.size.depth_max)
            );
        }
        self.open.push(self.nodes.len() as u32);
        let end = self.at + 1;
        self.leaf(kind, end, false);
        Ok(if kind == Kind::Object { Want::NameOrEnd } else { Want::ValueOrEnd })
    }

    #[inline(always)]
    fn close(&mut self) -> Want {
        self.at += 1;
        let (end, next) = (self.at as u32, self.nodes.len() as u32);
        if let Some(node) = self.open.pop().and_then(|index| self.nodes.get_mut(index as usize)) {
            node.end = end;
            node.next = next;
        }
        Want::More
    }

    #[inline(always)]
    fn more(&mut self, byte: u8) -> Result<Want, JsonError> {
        let kind = self.open.last().and_then(|&index| self.nodes.get(index as usize)).map(|node| node.kind);
        match (byte, kind) {
            (b',', Some(Kind::Object)) => {
                self.at += 1;
                Ok(Want::Name)
            }
            (b',', _) => {
                self.at += 1;
                Ok(Want::Value)
            }
            (b'}', Some(Kind::Object)) | (b']', Some(Kind::Array)) => Ok(self.close()),
            _ => Err(self.fail("a comma or the end of the object or array should stand here")),
        }
    }

    #[inline(always)]
    fn name(&mut self, byte: u8) -> Result<Want, JsonError> {
        if byte != b'"' {
            return Err(self.fail("a name in quotes should stand here"));
        }
        self.string()?;
        self.blanks();
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(self.fail("a colon should stand here"));
        }
        self.at += 1;
        Ok(Want::Value)
    }

    #[inline(always)]
    fn word(&mut self, word: &[u8], kind: Kind) -> Result<(), JsonError> {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word) {
            return Err(self.fail("a value should stand here"));
        }
        self.leaf(kind, end, false);
        Ok(())
    }

    #[inline(always)]
    fn digits(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    }

    #[inline(always)]
    fn number(&mut self) -> Result<(), JsonError> {
        let bad = |at| Err(JsonError::new("a digit should stand here", at));
        let from = self.at + usize::from(self.bytes.get(self.at) == Some(&b'-'));
        let mut end = self.digits(from);
        if end == from {
            return bad(end);
        }
        if self.bytes.get(from) == Some(&b'0') && end > from + 1 {
            return Err(JsonError::new("a number starts with a needless 0", from));
        }
        if self.bytes.get(end) == Some(&b'.') {
            let fraction = end + 1;
            end = self.digits(fraction);
            if end == fraction {
                return bad(end);
            }
        }
        if let Some(b'e' | b'E') = self.bytes.get(end) {
            let sign = usize::from(matches!(self.bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = end + 1 + sign;
            end = self.digits(exponent);
            if end == exponent {
                return bad(end);
            }
        }
        self.leaf(Kind::Number, end, false);
        Ok(())
    }

    #[inline(always)]
    fn string(&mut self) -> Result<(), JsonError> {
        let mut end = text::plain_end(self.bytes, self.at + 1);
        let mut escaped = false;
        if self.bytes.get(end) != Some(&b'"') {
            end = odd_end(self.bytes, end)?;
            escaped = true;
        }
        self.leaf(Kind::String, end + 1, escaped);
        Ok(())
    }
}

/// The quote at the end of a string in which something else stands at `at`.
fn odd_end(bytes: &[u8], mut at: usize) -> Result<usize, JsonError> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at),
            Some(b'\\') => at = text::escape_end(bytes, at)?,
            Some(_) => return Err(JsonError::new("a control character in a string", at)),
            None => return Err(JsonError::new("the text ends in a string", at)),
        }
        at = text::plain_end(bytes, at);
    }
}
