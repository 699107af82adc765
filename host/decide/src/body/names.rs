//! Which field a name names.
use crate::Name;
use forebay_spec::limits::{NAMES_MAX, NAME_BYTES_MAX};
use forebay_spec::Field;

/// Bytes before the closing quote of a name that are looked at: the longest name and its opening quote.
pub(crate) const WINDOW: usize = NAME_BYTES_MAX + 1;

/// The last bytes of the body before some place, newest last.
pub(crate) type Window = [u8; WINDOW];

const WORDS: usize = WINDOW / 8;
const _: () = assert!(WINDOW.is_multiple_of(8));

/// An opening quote and a name, at the end of a window.
#[derive(Clone, Copy, Debug)]
struct Entry {
    text: [u64; WORDS],
    mask: [u64; WORDS],
    field: Field,
}

/// The names of a bundle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    entries: Vec<Entry>,
    /// Bit `n` is set if a name has `n` bytes.
    lengths: u32,
}

fn words(window: &Window) -> [u64; WORDS] {
    let (words, _) = window.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

impl Names {
    /// Names beyond `NAMES_MAX` and `NAME_BYTES_MAX` match nothing: no device takes a bundle with one.
    pub(crate) fn new(names: &[Name]) -> Self {
        let fits: Vec<_> = names.iter().take(NAMES_MAX).filter(|n| n.text.len() <= NAME_BYTES_MAX).collect();
        let lengths = fits.iter().fold(0, |lengths, name| lengths | 1 << name.text.len());
        let entries = fits.into_iter().map(|name| {
            let start = WINDOW - name.text.len();
            let (mut text, mut mask) = ([0; WINDOW], [0; WINDOW]);
            text[start - 1] = b'"';
            text[start..].copy_from_slice(name.text.as_bytes());
            mask[start - 1..].fill(0xff);
            Entry { text: words(&text), mask: words(&mask), field: name.field }
        });
        Names { entries: entries.collect(), lengths }
    }

    /// Has any of the names so many bytes?
    #[inline(always)]
    pub(super) fn have(&self, bytes: usize) -> bool {
        bytes <= NAME_BYTES_MAX && self.lengths >> bytes & 1 == 1
    }

    /// The field whose name ends where `window` ends, behind a quote. There is no other: no name holds a quote.
    pub(crate) fn find(&self, window: &Window) -> Option<Field> {
        let window = words(window);
        let differs = |e: &Entry| (0..WORDS).fold(0, |d, i| d | ((window[i] ^ e.text[i]) & e.mask[i]));
        self.entries.iter().find(|e| differs(e) == 0).map(|e| e.field)
    }
}
