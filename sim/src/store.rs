//! Which frames may still stand in the store of `frame`, so that the next one is held back until it finds room.
use std::collections::VecDeque;

/// Words that stay free.
const SPARE_WORDS: usize = 80;
/// Frames that may wait to be read: fewer than the 112 that `frame` can keep in order.
const WAITING_MAX: usize = 96;
/// Segments that have been decided and whose payload may still wait.
const PASSING: usize = 4;

/// A frame that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    words: usize,
    /// A TCP segment to a server port: it ends at `connection`, the others at `frame`.
    segment: bool,
    ended: bool,
    /// Its payload is passed on.
    passes: bool,
}

/// Frames that were sent and may not be gone, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    frames: VecDeque<Sent>,
    /// Words that it has, and bytes of one.
    words: usize,
    word_bytes: usize,
}

impl Store {
    /// Nothing stands in it.
    pub(crate) fn new(bytes: usize, word_bytes: usize) -> Self {
        Store { frames: VecDeque::new(), words: bytes / word_bytes, word_bytes }
    }

    /// Is there room for so many bytes?
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let words: usize = self.frames.iter().map(|f| f.words).sum();
        let waiting = self.frames.iter().filter(|f| !f.ended).count();
        self.frames.is_empty() || waiting < WAITING_MAX && words + self.words_of(bytes) + SPARE_WORDS <= self.words
    }

    /// A frame was sent.
    pub(crate) fn put(&mut self, bytes: usize, segment: bool) {
        let words = self.words_of(bytes);
        self.frames.push_back(Sent { words, segment, ended: false, passes: false });
    }

    /// A frame has ended, and its payload is passed on or not. False if there is none that could.
    pub(crate) fn end(&mut self, segment: bool, passes: bool) -> bool {
        let Some(frame) = self.frames.iter_mut().find(|f| f.segment == segment && !f.ended) else {
            return false;
        };
        (frame.ended, frame.passes) = (true, passes);
        // others are decided while payload waits, however many
        while self.frames.front().is_some_and(|f| f.ended) && self.frames.iter().filter(|f| f.passes).count() > PASSING
        {
            self.frames.pop_front();
        }
        true
    }

    /// Have all frames ended?
    pub(crate) fn all_ended(&self) -> bool {
        self.frames.iter().all(|f| f.ended)
    }

    /// Nothing stands in it any more.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
    }

    fn words_of(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.word_bytes) + 1
    }
}
