//! The leaves of the datapath, and those of its blocks, against their own Verilog.
mod common;
mod random;

#[path = "common/leaves.rs"]
mod leaves;

use common::tables::Tables;
use common::{noise, pick};
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::http::{BEARER, HEADERS, INFERENCE_PATHS, METHODS, VERSION};
use forebay_spec::{config, Field};
use leaves::{BeatLeaves, ClockedLeaves, TextLeaves};
use random::Rng;
use rust_hdl::prelude::*;

const CYCLES: usize = 100_000;
const TEXT: &[u8] = b"\"\"\\\\{}[],: 0123456789.-eE\x00\x5b\x7b\x5d\x7d\xdb\xfbtfnm_";

/// Eight bytes of those that matter, first one lowest.
fn bytes(rng: &mut Rng) -> u64 {
    (0..8).fold(0, |n, _| n << 8 | u64::from(pick(rng, TEXT)))
}

/// Bytes of a partial beat: from byte 0 on without a gap.
fn keep(rng: &mut Rng) -> u64 {
    let any = rng.below(9);
    (1 << pick(rng, &[8, 8, any])) - 1
}

/// One bit, or none.
fn one_hot(rng: &mut Rng) -> u64 {
    (1 << rng.below(9)) & 0xff
}

/// A run of bits.
fn run(rng: &mut Rng) -> u64 {
    keep(rng) << rng.below(8) & 0xff
}

/// The sums of some brackets, as `DepthSums` gives them.
fn sums(opens: u64, closes: u64) -> u64 {
    let mut sum = 0_u64;
    (0..8).fold(0, |sums, i| {
        sum = sum.wrapping_add(opens >> i & 1).wrapping_sub(closes >> i & 1);
        sums | (sum & 31) << (5 * i)
    })
}

fn drive_beat(b: &mut BeatLeaves, rng: &mut Rng) {
    let any = |rng: &mut Rng| rng.next() & 0xff;
    b.data.next = bytes(rng).into();
    b.keep.next = keep(rng).into();
    b.parity_v.next = any(rng).into();
    b.event_any.next = (any(rng) & any(rng)).into();
    b.event_value.next = any(rng).into();
    b.event_carry.next = rng.one_in(2);
    b.first_v.next = (any(rng) & any(rng)).into();
    b.escape_slash.next = (any(rng) | any(rng)).into();
    b.escape_keep.next = keep(rng).into();
    b.escape_carry.next = rng.one_in(2);
    let (opens, closes) = (any(rng), any(rng) & any(rng));
    b.depth_opens.next = (opens & !closes).into();
    b.depth_closes.next = closes.into();
    b.one_sums.next = sums(opens & !closes, closes).into();
    let near = rng.below(20).wrapping_sub(9) & 0xfff;
    b.one_base.next = if rng.one_in(8) { rng.below(4096) } else { near }.into();
    b.history_before.next = noise(rng);
    b.history_data.next = rng.next().into();
    b.history_keep.next = keep(rng).into();
    b.window_text.next = noise(rng);
    b.window_at.next = one_hot(rng).into();
    b.kind_data.next = bytes(rng).into();
    b.kind_at.next = one_hot(rng).into();
    b.align_data.next = rng.next().into();
    b.align_bytes.next = run(rng).into();
    b.align_position.next = if rng.one_in(4) { 112 + rng.below(16) } else { rng.below(80) }.into();
    let count = rng.below(9);
    b.take_data.next = rng.next().into();
    b.take_count.next = count.into();
    b.take_used.next = rng.below(count + 1).into();
    b.take_wanted.next = if rng.one_in(2) { rng.below(12) } else { rng.next() >> (39 + rng.below(20)) }.into();
}

/// A window that ends with `text`, with one byte changed now and then.
fn window(rng: &mut Rng, text: &[u8]) -> Bits<96> {
    let mut window = [0_u8; 12];
    window.fill_with(|| pick(rng, TEXT));
    let tail = &text[text.len().saturating_sub(12)..];
    window[12 - tail.len()..].copy_from_slice(tail);
    if rng.one_in(6) {
        window[rng.below(12) as usize] = rng.next() as u8;
    }
    window
        .iter()
        .enumerate()
        .fold(Bits::default(), |bits, (i, b)| (0..8).fold(bits, |bits, k| bits.replace_bit(8 * i + k, b >> k & 1 == 1)))
}

fn number(rng: &mut Rng) -> String {
    let whole = rng.next() >> (20 + rng.below(44));
    let fraction = (rng.next() >> 40).to_string();
    match rng.below(6) {
        0..3 => format!("{}{whole}", pick(rng, &["", ":", "-", "0"])),
        3 | 4 => format!(" {}.{}", whole % 100_000_000, &fraction[..rng.below(5) as usize % (fraction.len() + 1)]),
        _ => (0..12).map(|_| char::from(pick(rng, b"0123456789999.+-eE"))).collect(),
    }
}

fn drive_fields(b: &mut TextLeaves, rng: &mut Rng) {
    let name = format!("{}{}", pick(rng, &["\"", "\"", "\"", "x", ""]), pick(rng, Field::ALL).name());
    b.name_window.next = window(rng, name.as_bytes());
    let number = number(rng);
    b.number_window.next = window(rng, number.as_bytes());
    b.number_fraction.next = rng.one_in(2);
    b.model_hits.next = (rng.below(2) << rng.below(16)).into();
    b.fields_before.next = noise(rng);
    b.start_valid.next = rng.one_in(2);
    b.start_field.next = rng.below(8).into();
    b.start_kind.next = rng.below(16).into();
    b.end_valid.next = rng.one_in(2);
    b.end_field.next = if rng.one_in(2) { b.start_field.next } else { rng.below(8).into() };
    b.end_plain.next = rng.one_in(2);
    b.end_digits.next = noise(rng);
    b.model_valid.next = rng.one_in(3);
    b.model.next = rng.below(17).into();
    b.name_escape.next = rng.one_in(8);
    b.value_escape.next = rng.one_in(8);
    b.finish_head.next = noise(rng);
    if !rng.one_in(3) {
        b.finish_head.next.set_bits::<5>(32, 0.into());
    }
    b.finish_plain.next = (0..5)
        .fold(rng.next() & 0x1ff_ffff, |plain, k| {
            let kind = pick(rng, &[0, 4, 7, 7, 7, 7, 9, 8]);
            plain & !(15 << (4 * k)) | kind << (4 * k)
        })
        .into();
    b.finish_max_tokens.next = noise(rng);
    b.finish_temperature.next = noise(rng);
    b.finish_top_k.next = noise(rng);
    b.finish_overflow.next = (rng.below(8) & rng.below(8)).into();
}

fn drive_headers(b: &mut TextLeaves, rng: &mut Rng) {
    let literals = METHODS.iter().chain(&INFERENCE_PATHS).chain([&VERSION]).chain(&HEADERS).chain([&BEARER]);
    let literals: Vec<&str> = literals.copied().collect();
    let literal = pick(rng, &literals).as_bytes();
    let place = rng.below(literal.len() as u64 + 1) as usize;
    let code = if rng.one_in(6) { rng.next() as u8 } else { *literal.get(place).unwrap_or(&b' ') };
    b.class_code.next = rng.below(256).into();
    b.literal_code.next = u64::from(code).into();
    b.literal_lower.next = u64::from(code.to_ascii_lowercase()).into();
    b.literal_place.next = if rng.one_in(20) { 63 } else { place as u64 }.into();
    b.literal_value_place.next = if rng.one_in(10) { rng.below(512) } else { place as u64 }.into();
    b.state_word.next = noise(rng);
    b.pack_phase.next = noise(rng);
    b.pack_alive.next = noise(rng);
    b.pack_place.next = noise(rng);
    b.pack_header_bytes.next = noise(rng);
    b.pack_post.next = noise(rng);
    b.pack_query.next = noise(rng);
    b.pack_inference.next = noise(rng);
    b.pack_length_seen.next = noise(rng);
    b.pack_retry_seen.next = noise(rng);
    b.pack_credential_seen.next = noise(rng);
    b.pack_header.next = noise(rng);
    b.pack_digits.next = noise(rng);
    b.pack_length.next = noise(rng);
    b.pack_left.next = noise(rng);
    b.pack_retry.next = noise(rng);
    b.pack_value_place.next = noise(rng);
    b.pack_tenant.next = noise(rng);
    b.pack_index.next = noise(rng);
    b.head_word.next = noise(rng);
    b.pack_connection.next = noise(rng);
    b.pack_head_index.next = noise(rng);
    b.pack_disposition.next = noise(rng);
    b.pack_head_tenant.next = noise(rng);
    b.pack_head_retry.next = noise(rng);
    b.pack_body_bytes.next = noise(rng);
}

/// Memories and what stands in them.
struct Clocked {
    rng: Rng,
    tables: Tables,
    words: Vec<(u16, u32)>,
}

impl Clocked {
    fn new() -> Self {
        let mut rng = Rng::new(42);
        let tables = Tables::new(&mut rng);
        let words = tables.words();
        Clocked { rng, tables, words }
    }

    fn drive(&mut self, b: &mut ClockedLeaves, cycle: usize) {
        if cycle % 5_000 == 4_999 {
            self.tables = Tables::new(&mut self.rng);
            self.words = self.tables.words();
        }
        self.state(b);
        self.names(b);
        self.tenants(b);
        let rng = &mut self.rng;
        b.binary_digits.next = (0..10).fold(0, |n, _| n << 4 | rng.below(10)).into();
        if rng.one_in(3) {
            let edge = pick(rng, &[0x42_9496_7295, 0x42_9496_7296, 0x99_9999_9999_u64, 0x41_9999_9999]);
            b.binary_digits.next = edge.into();
        }
    }

    fn state(&mut self, b: &mut ClockedLeaves) {
        let rng = &mut self.rng;
        // contexts: the connection at the stage is the one announced a clock before
        b.bit_connection.next = b.bit_next_connection.next;
        b.bit_next_connection.next = rng.below(4).into();
        b.bit_valid.next = rng.one_in(2);
        b.bit_first.next = rng.one_in(6);
        b.bit_state_next.next = noise(rng);
        b.connection.next = b.next_connection.next;
        if !rng.one_in(3) {
            b.next_connection.next = rng.below(16).into();
        }
        b.valid.next = !rng.one_in(3);
        b.first.next = rng.one_in(10);
        b.state_next.next = noise(rng);
        b.short_d.next = noise(rng);
        b.delay_d.next = noise(rng);
        b.ram_re.next = rng.one_in(2);
        b.ram_raddr.next = rng.below(8).into();
        b.ram_we.next = rng.one_in(2);
        b.ram_waddr.next = rng.below(8).into();
        b.ram_wdata.next = noise(rng);
    }

    /// A configuration word: the next of the tables, or now and then another.
    fn word(&mut self) -> (u64, u64) {
        let rng = &mut self.rng;
        let (address, data) = self.words.pop().unwrap_or((config::THRESHOLD, 0));
        if rng.one_in(40) {
            return (rng.below(1024), rng.next() >> 32);
        }
        (address.into(), data.into())
    }

    fn names(&mut self, b: &mut ClockedLeaves) {
        let (address, data) = self.word();
        b.names_cfg_valid.next = !self.rng.one_in(5);
        b.names_cfg_address.next = address.into();
        b.names_cfg_data.next = data.into();
        b.tenants_cfg_valid.next = b.names_cfg_valid.next;
        b.tenants_cfg_address.next = b.names_cfg_address.next;
        b.tenants_cfg_data.next = b.names_cfg_data.next;
        let name = self.tables.model(&mut self.rng).into_bytes();
        let rng = &mut self.rng;
        let position = rng.below(name.len() as u64 + 1).min(127) as usize;
        let length = (rng.below(9) as usize).min(name.len() - position);
        let mut lanes = [0_u8; 8];
        lanes.fill_with(|| rng.next() as u8);
        let mut marked = 0_u64;
        for n in position..position + length {
            lanes[n % 8] = name[n];
            marked |= 1 << (n % 8);
        }
        b.names_turned.next = u64::from_le_bytes(lanes).into();
        b.names_turned_bytes.next = marked.into();
        b.names_position.next = (position as u64).into();
        b.names_position_next.next = ((position + length).min(127) as u64).into();
    }

    fn tenants(&mut self, b: &mut ClockedLeaves) {
        let index = self.rng.below(16) as usize;
        let tag = self.tables.bundle.tenant_tags.get(index).copied().unwrap_or_default();
        let mut tag = u128::from_le_bytes(tag);
        if self.rng.one_in(4) {
            tag ^= 1 << self.rng.below(128);
        }
        b.tenants_index.next = (index as u64).into();
        b.tenants_tag0.next = (tag as u64).into();
        b.tenants_tag1.next = ((tag >> 64) as u64).into();
    }
}

#[test]
fn leaves_of_a_beat_equal_their_verilog() {
    let mut rng = Rng::new(40);
    let run = Lockstep::new("beat leaves", None).cycles(CYCLES);
    run.run(BeatLeaves::default(), |b, _| drive_beat(b, &mut rng), |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn leaves_of_texts_equal_their_verilog() {
    let mut rng = Rng::new(41);
    let drive = |b: &mut TextLeaves, _: usize| {
        drive_fields(b, &mut rng);
        drive_headers(b, &mut rng);
    };
    let run = Lockstep::new("text leaves", None).cycles(CYCLES);
    run.run(TextLeaves::default(), drive, |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn clocked_leaves_equal_their_verilog() {
    let mut bench = Clocked::new();
    let drive = |b: &mut ClockedLeaves, n: usize| bench.drive(b, n);
    let clock = |b: &mut ClockedLeaves, level: bool| b.clock.next = level.into();
    common::lockstep("clocked leaves", CYCLES, ClockedLeaves::default(), drive, clock);
}
