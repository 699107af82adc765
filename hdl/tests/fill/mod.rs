//! Grants at random, and a reader that looks at the slots at every beat that is written.
#![allow(dead_code)] // each test uses some of it
pub(crate) mod top;

use crate::dma::{bytes, word};
use crate::random::Rng;
use forebay_spec::device::{DmaStatus, FillStatus};
use forebay_spec::slot::{checksum, Header, CRC_AT, FLAG_BYTES, HEADER_BYTES};
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};
use top::Top;

/// Outputs before an edge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) g_ready: bool,
    pub(crate) t_ready: bool,
    pub(crate) wd_valid: bool,
    pub(crate) idle: bool,
    /// Kind, address, bytes of the message, tag, first beat, data.
    pub(crate) message: Option<(u8, u64, usize, u64, bool, Vec<u8>)>,
    /// Slot, generation, id, status, reason, cleared.
    pub(crate) end: Option<(u16, u8, u64, u8, u8, bool)>,
}

fn number<const N: usize>(bits: Bits<N>) -> u64 {
    bits.into()
}

pub(crate) fn look<const W: usize, const B: usize, const S: usize, const N: usize, const C: usize, const R: usize>(
    b: &Top<W, B, S, N, C, R>,
) -> Seen {
    Seen {
        g_ready: b.g_ready.val(),
        t_ready: b.t_ready.val(),
        wd_valid: b.wd_valid.val(),
        idle: b.idle.val(),
        message: b.m_valid.val().then(|| {
            let (kind, address) = (number(b.m_kind.val()) as u8, number(b.m_address.val()));
            let (count, tag) = (number(b.m_bytes.val()) as usize, number(b.m_tag.val()));
            (kind, address, count, tag, b.m_first.val(), bytes(&b.m_data.val(), W))
        }),
        end: b.f_valid.val().then(|| {
            let (slot, generation) = (number(b.f_slot.val()) as u16, number(b.f_generation.val()) as u8);
            let (status, reason) = (number(b.f_status.val()) as u8, number(b.f_reason.val()) as u8);
            (slot, generation, number(b.f_id.val()), status, reason, b.f_cleared.val())
        }),
    }
}

#[derive(Clone, Debug, Default)]
struct Grant {
    header: Header,
    tenant: u8,
    ids: Vec<u32>,
}

/// What occurred.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// By `FillStatus`.
    pub(crate) ends: [u64; 4],
    pub(crate) cleared: u64,
    pub(crate) kept: u64,
    pub(crate) unmapped: u64,
    pub(crate) disabled: u64,
    pub(crate) empty: u64,
    pub(crate) resets: u64,
}

/// Beside the block: layout, memory, grants.
pub(crate) struct World<const W: usize> {
    rng: Rng,
    area: u64,
    units: u64,
    slots: u64,
    flush: bool,
    enable: bool,
    code: u64,
    /// Each byte with the tenant of the filling that wrote it.
    memory: HashMap<u64, (u8, u8)>,
    offered: Option<Grant>,
    current: Option<Grant>,
    /// Ids of the current grant that are to be given, as bytes.
    ids: VecDeque<u8>,
    beat: Option<Vec<u8>>,
    inside: usize,
    flushes: VecDeque<(u64, u64)>,
    /// Slots that hold something of a tenant, by what has been told.
    owners: HashMap<u16, u8>,
    reset: bool,
    m_ready: bool,
    f_ready: bool,
    id: u64,
    pub(crate) counts: Counts,
}

impl<const W: usize> World<W> {
    pub(crate) fn new(seed: u64) -> Self {
        let mut world = World {
            rng: Rng::new(seed),
            area: 0,
            units: 0,
            slots: 0,
            flush: false,
            enable: true,
            code: 0,
            memory: HashMap::new(),
            offered: None,
            current: None,
            ids: VecDeque::new(),
            beat: None,
            inside: 0,
            flushes: VecDeque::new(),
            owners: HashMap::new(),
            reset: false,
            m_ready: false,
            f_ready: false,
            id: 0,
            counts: Counts::default(),
        };
        world.layout();
        world
    }

    fn layout(&mut self) {
        let rng = &mut self.rng;
        self.area = [0x1_0000, 0xffff_ff40, 0x7f00_0000_0000][rng.below(3) as usize];
        self.units = [2, 3, 5, 9, 17, rng.below(2)][rng.below(6) as usize];
        self.slots = 1 + rng.below(8);
        self.flush = rng.one_in(2);
        self.code = rng.below(3);
    }

    fn at(&self, slot: u16) -> u64 {
        self.area + u64::from(slot) * self.units * 64
    }

    /// Every fifth slot lies where nothing is.
    fn mapped(&self, slot: u16) -> bool {
        slot % 5 != 4
    }

    pub(crate) fn clock<const B: usize, const S: usize, const N: usize, const C: usize, const R: usize>(
        &mut self,
        b: &mut Top<W, B, S, N, C, R>,
        now: usize,
        seen: &Seen,
    ) {
        if now > 0 {
            self.edge(seen);
        }
        self.drive(b, seen);
    }

    fn edge(&mut self, seen: &Seen) {
        if self.reset {
            (self.offered, self.current, self.beat, self.inside) = (None, None, None, 0);
            (self.reset, self.owners) = (false, HashMap::new());
            self.ids.clear();
            self.memory.clear();
            self.layout();
            return;
        }
        if let Some(message) = seen.message.clone().filter(|_| self.m_ready) {
            self.message(message);
        }
        if let Some(beat) = self.beat.take_if(|_| seen.t_ready) {
            self.ids.drain(..beat.len());
        }
        if let Some(end) = seen.end.filter(|_| self.f_ready) {
            self.end(end);
        }
        if let Some(grant) = self.offered.take_if(|_| seen.g_ready) {
            self.ids = grant.ids.iter().flat_map(|id| id.to_le_bytes()).collect();
            self.current = Some(grant);
        }
    }

    fn message(&mut self, (kind, address, count, tag, first, data): (u8, u64, usize, u64, bool, Vec<u8>)) {
        let grant = self.current.clone().expect("somebody fills");
        let (from, to) = (self.at(grant.header.slot), self.at(grant.header.slot + 1));
        if kind == 0 {
            assert_eq!((address, count), (from, 8));
            assert!(self.flush && self.valid(grant.header.slot).is_some(), "read behind the header");
            self.flushes.push_back((tag, address));
            return;
        }
        assert_eq!(kind, 1);
        self.inside = if first { 0 } else { self.inside };
        let beat = &data[..W.min(count - self.inside)];
        for (n, byte) in beat.iter().enumerate() {
            let at = address + (self.inside + n) as u64;
            assert!((from..to).contains(&at), "{at:#x} is not of slot {}", grant.header.slot);
            self.memory.insert(at, (*byte, grant.tenant));
        }
        self.inside += beat.len();
        if let Some(header) = self.valid(grant.header.slot) {
            self.reads(&header, &grant);
        }
    }

    fn byte(&self, at: u64) -> (u8, u8) {
        self.memory.get(&at).copied().unwrap_or((0, 0))
    }

    /// The header of a slot, if a reader takes it for one.
    fn valid(&self, slot: u16) -> Option<Header> {
        let bytes: [u8; HEADER_BYTES] = std::array::from_fn(|n| self.byte(self.at(slot) + n as u64).0);
        let sealed = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]);
        (checksum(&bytes[..CRC_AT]) == sealed).then(|| Header::parse(&bytes).ok()).flatten()
    }

    /// A reader finds what was granted, and nothing of another tenant.
    fn reads(&self, header: &Header, grant: &Grant) {
        assert_eq!(*header, grant.header, "a header of before stands over what is written now");
        let from = self.at(header.slot) + HEADER_BYTES as u64;
        let wanted = grant.ids.iter().flat_map(|id| id.to_le_bytes()).enumerate();
        wanted.for_each(|(n, byte)| assert_eq!(self.byte(from + n as u64).0, byte));
        for at in from..self.at(header.slot + 1) {
            let (byte, tenant) = self.byte(at);
            assert!(byte == 0 || tenant == grant.tenant, "slot {} has bytes of another tenant", header.slot);
        }
    }

    fn end(&mut self, (slot, generation, id, status, reason, cleared): (u16, u8, u64, u8, u8, bool)) {
        let grant = self.current.take().expect("somebody fills");
        let header = grant.header;
        assert_eq!((slot, generation, id), (header.slot, header.generation, header.id));
        let room = (self.units * 16).saturating_sub(16);
        let expected = if self.units < 2 || u64::from(slot) >= self.slots {
            (FillStatus::NoSlot, DmaStatus::Ok)
        } else if u64::from(header.tokens) > room {
            (FillStatus::SlotTooSmall, DmaStatus::Ok)
        } else if !self.enable {
            (FillStatus::Target, DmaStatus::Disabled)
        } else if self.flush && !self.mapped(slot) {
            (FillStatus::Target, DmaStatus::Unmapped)
        } else {
            (FillStatus::Filled, DmaStatus::Ok)
        };
        assert_eq!((status, reason), (expected.0.code(), expected.1.code()), "{grant:?}");
        assert!(self.ids.is_empty(), "all ids are taken");
        self.counts.ends[usize::from(status)] += 1;
        self.counts.unmapped += u64::from(expected.1 == DmaStatus::Unmapped);
        self.counts.disabled += u64::from(expected.1 == DmaStatus::Disabled);
        if expected.0 == FillStatus::Filled {
            assert_eq!(self.valid(slot), Some(header), "it is there before it is told");
            self.counts.empty += u64::from(header.tokens == 0);
            self.counts.kept += u64::from(!cleared);
        }
        let told = matches!(expected.0, FillStatus::Filled | FillStatus::Target);
        assert_eq!(cleared, told && self.owners.get(&slot) != Some(&grant.tenant));
        self.counts.cleared += u64::from(cleared);
        match expected.0 {
            FillStatus::Filled => drop(self.owners.insert(slot, grant.tenant)),
            FillStatus::Target => drop(self.owners.remove(&slot)),
            _ => {}
        }
    }

    fn grant(&mut self) -> Grant {
        let rng = &mut self.rng;
        let room = (self.units * 16).saturating_sub(16);
        let tokens = match rng.below(8) {
            0 => room + 1 + rng.below(40),
            1 => room,
            2 => 0,
            _ => rng.below(room + 1),
        };
        self.id += 1;
        let header = Header {
            id: self.id << 33 | rng.below(1 << 32),
            slot: rng.below(self.slots + 1) as u16,
            generation: rng.next() as u8,
            tokens: tokens as u32,
            flags: if rng.one_in(2) { FLAG_BYTES } else { 0 },
            model: rng.next() as u8,
            max_tokens: rng.next() as u32,
        };
        let ids = (0..tokens).map(|_| rng.next() as u32 | 1).collect();
        Grant { header, tenant: 1 + rng.below(3) as u8, ids }
    }

    fn drive<const B: usize, const S: usize, const N: usize, const C: usize, const R: usize>(
        &mut self,
        b: &mut Top<W, B, S, N, C, R>,
        seen: &Seen,
    ) {
        let quiet = self.flushes.is_empty() && seen.message.as_ref().is_none_or(|m| m.0 != 0);
        if self.rng.one_in(900) && quiet {
            self.reset = true;
            self.counts.resets += 1;
        }
        if self.offered.is_none() && self.rng.one_in(8) {
            self.offered = Some(self.grant());
        }
        if self.current.is_none() && self.offered.is_none() && seen.idle {
            self.enable = !self.rng.one_in(9);
        }
        if self.beat.is_none() && !self.ids.is_empty() && !self.rng.one_in(5) {
            self.beat = Some(self.ids.iter().copied().take(W).collect());
        }
        self.m_ready = !self.reset && !self.rng.one_in(4);
        // a header that stands at the message port is written as soon as it is taken
        self.f_ready = self.rng.one_in(2) && seen.message.is_none();
        b.reset.next = self.reset;
        b.enable.next = self.enable;
        b.code.next = self.code.into();
        b.area.next = self.area.into();
        b.units.next = self.units.into();
        b.slots.next = self.slots.into();
        b.flush.next = self.flush;
        b.g_valid.next = self.offered.is_some();
        if let Some(Grant { header, tenant, .. }) = &self.offered {
            b.g_id.next = header.id.into();
            b.g_slot.next = u64::from(header.slot).into();
            b.g_generation.next = u64::from(header.generation).into();
            b.g_tenant.next = u64::from(*tenant).into();
            b.g_model.next = u64::from(header.model).into();
            b.g_tokens.next = u64::from(header.tokens).into();
            b.g_as_bytes.next = header.flags == FLAG_BYTES;
            b.g_max_tokens.next = u64::from(header.max_tokens).into();
        }
        b.t_valid.next = self.beat.is_some();
        b.t_data.next = word(self.beat.as_deref().unwrap_or(&[]));
        b.m_ready.next = self.m_ready;
        b.f_ready.next = self.f_ready;
        let answer = if self.reset || !self.rng.one_in(10) { None } else { self.flushes.pop_front() };
        b.c_valid.next = answer.is_some();
        if let Some((tag, _)) = answer {
            let slot = self.current.as_ref().map_or(0, |grant| grant.header.slot);
            let status = if self.mapped(slot) { DmaStatus::Ok } else { DmaStatus::Unmapped };
            b.c_tag.next = tag.into();
            b.c_status.next = u64::from(status.code()).into();
        }
    }
}
