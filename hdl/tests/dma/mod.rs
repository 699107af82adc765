//! What is around the DMA engine in its tests: whoever gives descriptors, and memory behind messages.
#![allow(dead_code)] // each test uses some of it
pub(crate) mod memory;
pub(crate) mod world;

use forebay_hdl::dma::Dma;
use rust_hdl::prelude::*;

/// Bytes as a word of at least 33 bits, first one lowest; what is left is noise.
pub(crate) fn word<const B: usize>(bytes: &[u8]) -> Bits<B> {
    let bits: [bool; B] = std::array::from_fn(|i| bytes.get(i / 8).map_or(i % 3 == 0, |byte| byte >> (i % 8) & 1 == 1));
    Bits::Long(bits.into())
}

/// The first bytes of a word.
pub(crate) fn bytes<const B: usize>(word: &Bits<B>, count: usize) -> Vec<u8> {
    (0..count).map(|n| (0..8).fold(0, |byte, i| byte | u8::from(word.get_bit(8 * n + i)) << i)).collect()
}

/// A beat at the message port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beat {
    pub(crate) kind: u8,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) tag: usize,
    pub(crate) first: bool,
    pub(crate) last: bool,
    pub(crate) data: Vec<u8>,
}

/// A beat of data read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) bytes: Vec<u8>,
    pub(crate) last: bool,
    pub(crate) tag: u8,
    pub(crate) status: u8,
}

/// Outputs before an edge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) rd_ready: bool,
    pub(crate) wd_ready: bool,
    pub(crate) w_ready: bool,
    pub(crate) message: Option<Beat>,
    pub(crate) data: Option<Data>,
    pub(crate) ended: Option<(u8, u8)>,
    pub(crate) unexpected: bool,
    pub(crate) idle: bool,
}

fn number<const N: usize>(bits: Bits<N>) -> u64 {
    bits.into()
}

/// What a block shows before an edge.
pub(crate) fn look<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize>(
    b: &Dma<W, B, N, C, R>,
) -> Seen {
    let message = b.m_valid.val().then(|| Beat {
        kind: number(b.m_kind.val()) as u8,
        address: number(b.m_address.val()),
        bytes: number(b.m_bytes.val()) as usize,
        tag: number(b.m_tag.val()) as usize,
        first: b.m_first.val(),
        last: b.m_last.val(),
        data: bytes(&b.m_data.val(), W),
    });
    let data = b.r_valid.val().then(|| Data {
        bytes: bytes(&b.r_data.val(), number(b.r_count.val()) as usize),
        last: b.r_last.val(),
        tag: number(b.r_tag.val()) as u8,
        status: number(b.r_status.val()) as u8,
    });
    Seen {
        rd_ready: b.rd_ready.val(),
        wd_ready: b.wd_ready.val(),
        w_ready: b.w_ready.val(),
        message,
        data,
        ended: b.b_valid.val().then(|| (number(b.b_tag.val()) as u8, number(b.b_status.val()) as u8)),
        unexpected: b.unexpected.val(),
        idle: b.idle.val(),
    }
}

/// Steps a block by a clock; what it showed before the edge.
pub(crate) fn step<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize>(
    b: &mut Dma<W, B, N, C, R>,
) -> Seen {
    b.clock.next = false.into();
    assert!(simulate(b, 100), "the block does not settle");
    let seen = look(b);
    b.clock.next = true.into();
    assert!(simulate(b, 100), "the block does not settle");
    seen
}
