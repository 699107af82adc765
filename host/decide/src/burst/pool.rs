//! Registers of pools: learned output lengths, promises, FIFO ends.
use super::narrow;
use forebay_spec::burst::{
    PoolRegisters, CLASSES, DECAY_SHIFT, GAIN_DOWN_SHIFT, GAIN_UP_SHIFT, LEARNED_START, LEARN_SHIFT, OUTPUT_BITS,
    OUTPUT_FRACTION_BITS, QUEUES,
};
use forebay_spec::limits::LEVELS;

/// One pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) set: PoolRegisters,
    /// Output length by level, with fraction bits.
    learned: [u32; LEVELS],
    /// Work that refused requests were told to come back with, by class.
    pub(super) promise_prompt: [u32; CLASSES],
    pub(super) promise_slot: [u32; CLASSES],
    pub(super) gain: u32,
    pub(super) head: [u16; QUEUES],
    pub(super) tail: [u16; QUEUES],
    /// FIFOs that hold something, a bit each.
    pub(super) filled: u16,
    pub(super) held: u16,
    /// Something has changed since the last bind that found no node.
    pub(super) dirty: bool,
    /// The node whose turn it is.
    pub(super) turn: u8,
    /// Its nodes that are up.
    pub(super) up: u8,
    /// Free slots of its nodes.
    pub(super) free: u32,
    /// Its nodes that are open.
    pub(super) open: u8,
    /// Those of them that have no prompt debt.
    pub(super) empty: u8,
}

impl Pool {
    pub(super) fn new(set: PoolRegisters) -> Self {
        Pool {
            set,
            learned: [LEARNED_START << OUTPUT_FRACTION_BITS; LEVELS],
            promise_prompt: [0; CLASSES],
            promise_slot: [0; CLASSES],
            gain: set.gain_one,
            head: [0; QUEUES],
            tail: [0; QUEUES],
            filled: 0,
            held: 0,
            dirty: false,
            turn: 0,
            up: 0,
            free: 0,
            open: 0,
            empty: 0,
        }
    }

    pub(super) fn wants_bind(&self) -> bool {
        self.dirty && self.held > 0
    }

    /// Output tokens that a request of this level is expected to make.
    pub(super) fn expected(&self, level: u8, max_tokens: u32) -> u32 {
        (self.learned[usize::from(level)] >> OUTPUT_FRACTION_BITS).min(max_tokens)
    }

    /// A request of this level made so many output tokens.
    pub(super) fn learn(&mut self, level: u8, output: u32) {
        let output = narrow(u64::from(output), OUTPUT_BITS) << OUTPUT_FRACTION_BITS;
        let learned = &mut self.learned[usize::from(level)];
        *learned = match output >= *learned {
            true => *learned + ((output - *learned) >> LEARN_SHIFT),
            false => *learned - ((*learned - output) >> LEARN_SHIFT),
        };
    }

    /// The best FIFO that holds something.
    pub(super) fn best(&self) -> Option<usize> {
        (self.filled != 0).then(|| self.filled.trailing_zeros() as usize)
    }

    /// The worst FIFO that holds something.
    pub(super) fn worst(&self) -> Option<usize> {
        (self.filled != 0).then(|| self.filled.ilog2() as usize)
    }

    /// Is something held in FIFO `queue` or a better one?
    pub(super) fn blocked(&self, queue: usize) -> bool {
        self.filled & ((2 << queue) - 1) != 0
    }

    pub(super) fn gain_up(&mut self) {
        self.gain = (self.gain + (self.gain >> GAIN_UP_SHIFT)).min(self.set.gain_max);
    }

    pub(super) fn gain_down(&mut self) {
        self.gain = (self.gain - (self.gain >> GAIN_DOWN_SHIFT)).max(self.set.gain_min);
    }

    pub(super) fn promised(&self, class: usize) -> bool {
        self.promise_prompt.get(class).is_some_and(|&b| b > 0) || self.promise_slot.get(class).is_some_and(|&b| b > 0)
    }

    /// A promise loses a part of itself.
    pub(super) fn fade(&mut self, class: usize) {
        for promise in [self.promise_prompt.get_mut(class), self.promise_slot.get_mut(class)].into_iter().flatten() {
            *promise = faded(*promise);
        }
    }
}

/// 1/256 less, rounded so that it reaches 0.
fn faded(promise: u32) -> u32 {
    promise - (promise >> DECAY_SHIFT) - u32::from(promise > 0)
}
