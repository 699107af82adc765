//! The text of the model's name as it stands in the body.
use forebay_spec::limits::MODEL_NAME_BYTES_MAX;

/// Bytes between the quotes of the last value of `model`, as far as they are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    bytes: [u8; MODEL_NAME_BYTES_MAX],
    /// Bytes that the text has, counted up to one more than are kept.
    length: usize,
    /// It was a string, and the string closed.
    closed: bool,
}

impl Text {
    pub(super) const EMPTY: Text = Text { bytes: [0; MODEL_NAME_BYTES_MAX], length: 0, closed: false };

    /// A value starts: what was there counts no more.
    pub(super) fn clear(&mut self) {
        self.length = 0;
        self.closed = false;
    }

    /// The next bytes between the quotes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = self.bytes.get_mut(self.length..).unwrap_or_default();
        let taken = bytes.len().min(kept.len());
        kept[..taken].copy_from_slice(&bytes[..taken]);
        self.length = (self.length + bytes.len()).min(MODEL_NAME_BYTES_MAX + 1);
    }

    /// The string ends.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// The text, if the last value is a string that closed; of one that is too long for any model's name the part that
    /// is kept, and `true`.
    pub(crate) fn get(&self) -> Option<(&[u8], bool)> {
        let over = self.length > MODEL_NAME_BYTES_MAX;
        self.closed.then(|| (&self.bytes[..self.length.min(MODEL_NAME_BYTES_MAX)], over))
    }
}
