//! When things happen in `inline` and in `connection`, while nothing holds them up.
use super::inline::sent;
use super::judge::Sent;
use super::word_of;
use crate::frames::{plain, tuple, Tcp, ACK, SYN};
use forebay_hdl::connection::Connection;
use forebay_hdl::inline::Inline;
use forebay_spec::frame::{word, Tuple};
use rust_hdl::prelude::*;
use std::collections::HashMap;

/// What happened, by clocks counted from the first one.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// The last beat of each frame at the input.
    pub(crate) ended: Vec<usize>,
    /// Segments that are decided, and how.
    pub(crate) decided: Vec<(usize, u8)>,
    /// Beats with bytes, and how many those are.
    pub(crate) beats: Vec<(usize, usize)>,
    /// Bytes of each connection.
    pub(crate) bytes: HashMap<usize, Vec<u8>>,
    /// Connections that were given up or closed.
    pub(crate) ends: Vec<usize>,
    pub(crate) overruns: usize,
}

impl Trace {
    fn take(&mut self, n: usize, sent: Vec<Sent>) {
        for one in sent {
            match one {
                Sent::Bytes(c, bytes) => {
                    self.beats.push((n, bytes.len()));
                    self.bytes.entry(c).or_default().extend(bytes);
                }
                Sent::Start(_) => {}
                Sent::Close(c) | Sent::Abort(c, _) => self.ends.push(c),
            }
        }
    }

    /// Clocks without a beat inside of segments of so many beats.
    pub(crate) fn gaps(&self, beats_of_segment: usize) -> usize {
        self.beats.chunks(beats_of_segment).map(|s| s[s.len() - 1].0 + 1 - s[0].0 - s.len()).sum()
    }

    /// Clocks from the first beat of each segment to that of the next.
    pub(crate) fn periods(&self, beats_of_segment: usize) -> Vec<usize> {
        let firsts: Vec<usize> = self.beats.iter().step_by(beats_of_segment).map(|b| b.0).collect();
        firsts.windows(2).map(|w| w[1] - w[0]).collect()
    }
}

/// A frame of a client.
pub(crate) fn frame(tuple: Tuple, seq: u32, flags: u8, payload: Vec<u8>) -> Vec<u8> {
    plain(&Tcp { tuple, seq, flags, payload })
}

/// A SYN of one client, and so many segments of so many bytes behind it.
pub(crate) fn connection(segments: usize, payload_bytes: usize) -> Vec<Vec<u8>> {
    let t = tuple(2, 8_000);
    let data = (0..segments).map(|i| frame(t, 1 + (i * payload_bytes) as u32, ACK, vec![b'x'; payload_bytes]));
    [frame(t, 0, SYN, Vec::new())].into_iter().chain(data).collect()
}

/// Sends frames, each behind so many clocks without a beat, after those in which contexts are cleared.
pub(crate) fn trace<const W: usize, const B: usize, const D: usize, const P: usize, const A: usize, const R: usize>(
    frames: &[(usize, Vec<u8>)],
) -> Trace {
    let mut block = Inline::<W, B, D, P, A, R>::default();
    block.connect_all();
    let mut trace = Trace::default();
    let mut beats = frames.iter().flat_map(|(gap, f)| {
        let last = f.len().div_ceil(W) - 1;
        let beats = f.chunks(W).enumerate().map(move |(i, b)| Some((b.to_vec(), i == last)));
        std::iter::repeat_n(None, *gap).chain(beats)
    });
    let begin = 20 + (1 << A);
    let clocks: usize = frames.iter().map(|(gap, f)| f.len().div_ceil(W) + gap).sum();
    for n in 0..begin + clocks + 2_000 {
        block.reset.next = n == 0;
        block.cfg_valid.next = n == 1;
        block.cfg_address.next = u64::from(word::SERVER_PORT).into();
        block.cfg_data.next = 8_000_u64.into();
        block.s_ready.next = true;
        block.h_ready.next = true;
        let beat = if n > begin { beats.next().flatten() } else { None };
        block.f_valid.next = beat.is_some();
        if let Some((mut lanes, last)) = beat {
            block.f_count.next = (lanes.len() as u64).into();
            block.f_last.next = last;
            lanes.resize(W, 0);
            block.f_data.next = word_of(&lanes);
            trace.ended.extend(last.then_some(n));
        }
        block.clock.next = false.into();
        assert!(simulate(&mut block, 100), "the block does not settle");
        trace.decided.extend(block.e_valid.val().then(|| (n, block.e_end.val().index() as u8)));
        trace.overruns += usize::from(block.overrun.val());
        trace.take(n, sent(&block));
        block.clock.next = true.into();
        assert!(simulate(&mut block, 100), "the block does not settle");
    }
    trace
}

/// Clocks of one segment in `connection` alone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// From where it is shown to where it is taken,
    pub(crate) taken: usize,
    /// and decided.
    pub(crate) decided: usize,
}

/// Shows segments one after the other, each when all before is done, as (flags, sequence number, bytes): up to eight bytes.
pub(crate) fn alone(segments: &[(u64, u64, u64)]) -> Vec<Clocks> {
    let mut block = Connection::<8, 64, 4, 7>::default();
    block.connect_all();
    let mut found = Vec::new();
    for (at, (flags, seq, bytes)) in segments.iter().enumerate() {
        let mut clocks = Clocks::default();
        let mut shown = true;
        let mut beat = None;
        for n in 0..400 {
            block.d_valid.next = shown;
            block.d_tuple.next = word_of(&tuple(2, 8_000).bytes());
            (block.d_flags.next, block.d_seq.next) = ((*flags).into(), (*seq).into());
            block.d_bytes.next = (*bytes).into();
            (block.r_ready.next, block.s_ready.next, block.h_ready.next) = (true, true, true);
            (block.p_valid.next, block.p_last.next) = (beat.is_some(), true);
            block.p_count.next = (beat.unwrap_or(0) as u64).into();
            block.clock.next = false.into();
            assert!(simulate(&mut block, 100), "the block does not settle");
            if block.d_valid.val() && block.d_ready.val() {
                clocks.taken = n;
                shown = false;
            }
            if block.e_valid.val() {
                clocks.decided = n;
            }
            beat = beat.filter(|_| !block.p_ready.val());
            if block.r_valid.val() && block.r_bytes.val().any() {
                beat = Some(block.r_bytes.val().index());
            }
            block.clock.next = true.into();
            assert!(simulate(&mut block, 100), "the block does not settle");
        }
        assert!(clocks.decided > clocks.taken, "segment {at}: {clocks:?}");
        found.push(clocks);
    }
    found
}
