//! Clients that send TCP segments, most of them in order.
use crate::frames::{bytes, pick, Tcp, ACK, FIN, PSH, RST, SYN};
use crate::random::Rng;
use forebay_spec::frame::{FrameEnd, Tuple};

/// One client's port.
pub(crate) struct Client {
    tuple: Tuple,
    /// Sequence number of the next byte.
    next: u32,
    /// What was sent so far, as (sequence number, bytes).
    sent: Vec<(u32, Vec<u8>)>,
    open: bool,
}

impl Client {
    pub(crate) fn new(rng: &mut Rng, tuple: Tuple) -> Self {
        Client { tuple, next: rng.next() as u32, sent: Vec::new(), open: false }
    }

    fn tcp(&self, seq: u32, flags: u8, payload: Vec<u8>) -> Tcp {
        Tcp { tuple: self.tuple, seq, flags, payload }
    }

    /// The next segment.
    pub(crate) fn segment(&mut self, rng: &mut Rng) -> Tcp {
        if !self.open || rng.one_in(80) {
            return self.syn(rng);
        }
        if self.sent.is_empty() && rng.one_in(4) {
            return self.tcp(self.next.wrapping_sub(1), SYN, Vec::new());
        }
        match rng.below(40) {
            0..=17 => self.data(rng),
            18..=21 => self.tcp(self.next, ACK, Vec::new()),
            22..=27 => self.again(rng),
            28 => self.tcp(self.next.wrapping_sub(1), ACK, bytes(rng, 1)),
            29 => self.end(rng),
            30 => self.reset(rng),
            31 if rng.one_in(2) => self.stray(rng),
            _ => self.data(rng),
        }
    }

    /// A first SYN, and some more of them; on a connection that is open it most often changes nothing.
    fn syn(&mut self, rng: &mut Rng) -> Tcp {
        let seq = pick(rng, &[self.next, 0xffff_ff80, 0x7fff_fff0]).wrapping_add(rng.next() as u32 & 0xff);
        if if self.open { rng.one_in(4) } else { !rng.one_in(4) } {
            self.open = true;
            self.next = seq.wrapping_add(1);
            self.sent.clear();
        }
        let flags = if rng.one_in(20) { SYN | ACK } else { SYN };
        let count = if rng.one_in(6) { rng.below(40) as usize } else { 0 };
        self.tcp(seq, flags, bytes(rng, count))
    }

    fn data(&mut self, rng: &mut Rng) -> Tcp {
        let room = pick(rng, &[3, 20, 70, 200, 200, 1_460]);
        let count = 1 + rng.below(room) as usize;
        let payload = bytes(rng, count);
        let seq = self.next;
        self.next = seq.wrapping_add(payload.len() as u32);
        self.sent.push((seq, payload.clone()));
        self.tcp(seq, ACK | pick(rng, &[0, PSH]), payload)
    }

    /// Something that was sent before, once more: one or several segments, with or without new bytes, sometimes in part,
    /// sometimes with other bytes.
    fn again(&mut self, rng: &mut Rng) -> Tcp {
        let Some(back) = self.sent.len().checked_sub(1) else { return self.data(rng) };
        let from = back - rng.below(back.min(9) as u64 + 1) as usize;
        let to = from + rng.below((back - from) as u64 + 1) as usize;
        let to = if rng.one_in(3) { back } else { to };
        let seq = self.sent[from].0;
        let mut payload: Vec<u8> = self.sent[from..=to].iter().flat_map(|(_, b)| b.clone()).collect();
        payload.truncate(4_000);
        let mut seq_sent = seq;
        match rng.below(8) {
            0 => payload.truncate(1 + rng.below(payload.len() as u64) as usize),
            1 => {
                let cut = rng.below(payload.len() as u64) as usize;
                payload.drain(..cut);
                seq_sent = seq.wrapping_add(cut as u32);
            }
            2 => {
                let at = rng.below(payload.len() as u64) as usize;
                payload[at] ^= 1 << rng.below(8);
            }
            3 | 4 if to == back => {
                let count = 1 + rng.below(100) as usize;
                let more = bytes(rng, count);
                self.sent.push((self.next, more.clone()));
                payload.extend(&more);
                self.next = self.next.wrapping_add(more.len() as u32);
            }
            _ => {}
        }
        let flags = if rng.one_in(8) { ACK | FIN } else { ACK };
        self.tcp(seq_sent, flags, payload)
    }

    fn end(&mut self, rng: &mut Rng) -> Tcp {
        if rng.one_in(3) {
            self.open = false;
        }
        match rng.below(3) {
            0 => self.tcp(self.next, ACK | FIN, Vec::new()),
            1 => {
                let tcp = self.data(rng);
                Tcp { flags: tcp.flags | FIN, ..tcp }
            }
            _ => self.tcp(self.next.wrapping_sub(1), ACK | FIN, Vec::new()),
        }
    }

    fn reset(&mut self, rng: &mut Rng) -> Tcp {
        let seq = pick(rng, &[self.next, self.next, self.next.wrapping_add(1), self.next.wrapping_sub(100)]);
        self.open = seq != self.next;
        let payload = if rng.one_in(4) { bytes(rng, 5) } else { Vec::new() };
        self.tcp(seq, RST | pick(rng, &[0, ACK, FIN]), payload)
    }

    /// Ahead, far off, or with odd flags.
    fn stray(&mut self, rng: &mut Rng) -> Tcp {
        let far = pick(rng, &[1, 1, 2, 500, 0xf_ffff, 0x10_0000, 0xfff0_0000, 0xffef_ffff, 0x8000_0000]);
        let count = rng.below(40) as usize;
        let payload = bytes(rng, count);
        let flags = pick(rng, &[ACK, ACK, ACK | FIN, FIN, 0, PSH]);
        self.tcp(self.next.wrapping_add(far), flags, payload)
    }

    /// The fabric has decided one of its segments: without a context a client begins anew.
    pub(crate) fn was_decided(&mut self, code: u8) {
        if code == FrameEnd::NoContext.code() || code == FrameEnd::OutOfWindow.code() {
            self.open = false;
        }
    }

    /// What the host may resume with.
    pub(crate) fn next_seq(&self) -> u32 {
        self.next
    }
}
