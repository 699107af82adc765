//! What frames cost in clocks, while nothing holds them up.
use super::{word_of, PORTS};
use crate::frames::{plain, Tcp, ACK};
use forebay_hdl::frame::Frame;
use forebay_spec::frame::{word, Tuple};
use rust_hdl::prelude::*;

/// When things happen.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// The last beat of each frame at the input.
    pub(crate) ended: Vec<usize>,
    /// Segments, which are taken at once.
    pub(crate) taken: Vec<usize>,
    /// Frames that are no segments.
    pub(crate) dropped: Vec<usize>,
    /// Ranges, which are taken at once.
    pub(crate) ranges: Vec<usize>,
    /// Beats of payload.
    pub(crate) beats: Vec<usize>,
    pub(crate) overruns: usize,
}

/// A frame with so many bytes of payload, and so many tags.
pub(crate) fn frame(version6: bool, tags: usize, payload_bytes: usize) -> Vec<u8> {
    let tuple = Tuple { version6, destination_port: PORTS[0], source_port: 9, ..Tuple::default() };
    let mut frame = plain(&Tcp { tuple, seq: 1, flags: ACK, payload: vec![7; payload_bytes] });
    for _ in 0..tags {
        frame.splice(12..12, [0x81, 0, 0, 5]);
    }
    frame
}

/// Sends frames without a gap; each segment is read whole.
pub(crate) fn trace<const W: usize, const B: usize, const D: usize, const P: usize>(frames: &[Vec<u8>]) -> Trace {
    let mut block = Frame::<W, B, D, P>::default();
    block.connect_all();
    let mut trace = Trace::default();
    let mut beats = frames.iter().flat_map(|f| {
        let last = f.len().div_ceil(W) - 1;
        f.chunks(W).enumerate().map(move |(i, b)| (b.to_vec(), i == last))
    });
    let mut wanted = std::collections::VecDeque::new();
    let clocks: usize = frames.iter().map(|f| f.len().div_ceil(W)).sum();
    for n in 0..clocks + 20 * frames.len() + 100 {
        block.cfg_valid.next = n == 0;
        block.cfg_address.next = u64::from(word::SERVER_PORT).into();
        block.cfg_data.next = u64::from(PORTS[0]).into();
        block.d_ready.next = true;
        block.p_ready.next = true;
        let beat = if n > 0 { beats.next() } else { None };
        block.f_valid.next = beat.is_some();
        if let Some((mut lanes, last)) = beat {
            block.f_count.next = (lanes.len() as u64).into();
            block.f_last.next = last;
            lanes.resize(W, 0);
            block.f_data.next = word_of(&lanes);
            trace.ended.extend(last.then_some(n));
        }
        block.r_valid.next = !wanted.is_empty();
        block.r_last.next = true;
        block.r_bytes.next = wanted.front().copied().unwrap_or(0_u64).into();
        block.clock.next = false.into();
        assert!(simulate(&mut block, 100), "the block does not settle");
        if block.r_valid.val() && block.r_ready.val() {
            trace.ranges.push(n);
            wanted.pop_front();
        }
        if block.d_valid.val() {
            trace.taken.push(n);
            wanted.push_back(block.d_bytes.val().index() as u64);
        }
        trace.dropped.extend(block.x_valid.val().then_some(n));
        trace.beats.extend(block.p_valid.val().then_some(n));
        trace.overruns += usize::from(block.overrun.val());
        block.clock.next = true.into();
        assert!(simulate(&mut block, 100), "the block does not settle");
    }
    trace
}

/// Clocks from each of some to the next.
pub(crate) fn periods(clocks: &[usize]) -> Vec<usize> {
    clocks.windows(2).map(|w| w[1] - w[0]).collect()
}
