//! How a record lies in the bits of a queue entry; hardware and host both read it here.
use crate::record::{Disposition, Kind, Record, FIELDS};

/// Place of one part in the packed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name of the part, also of the port that carries it.
    pub name: &'static str,
    /// Lowest bit.
    pub offset: usize,
    /// Bits.
    pub width: usize,
}

const fn part(name: &'static str, offset: usize, width: usize) -> Part {
    Part { name, offset, width }
}

/// Parts of a packed record, lowest first and without a gap. `tenant` and `model` hold index + 1, 0 for none;
/// `kinds` holds four bits a field, by `Field` code.
pub const RECORD: [Part; 15] = [
    part("connection", 0, 16),
    part("index", 16, 16),
    part("disposition", 32, 5),
    part("tenant", 37, 8),
    part("model", 45, 8),
    part("model_class", 53, 4),
    part("hot", 57, 1),
    part("key_known", 58, 1),
    part("bank", 59, 1),
    part("kinds", 60, 4 * FIELDS),
    part("max_tokens", 80, 32),
    part("temperature_milli", 112, 32),
    part("top_k", 144, 32),
    part("retry", 176, 8),
    part("body_bytes", 184, 25),
];

/// Bits of a packed record.
pub const RECORD_BITS: usize = 209;
/// 32-bit words of a packed record; the bits above `RECORD_BITS` are 0.
pub const RECORD_WORDS: usize = RECORD_BITS.div_ceil(32);

const _: () = {
    let mut i = 0;
    let mut next = 0;
    while i < RECORD.len() {
        assert!(RECORD[i].offset == next && RECORD[i].width <= 32);
        next += RECORD[i].width;
        i += 1;
    }
    assert!(next == RECORD_BITS);
};

fn put(words: &mut [u32; RECORD_WORDS], part: Part, value: u32) {
    let at = part.offset / 32;
    let shifted = u64::from(value) << (part.offset % 32);
    words[at] |= shifted as u32;
    if at + 1 < RECORD_WORDS {
        words[at + 1] |= (shifted >> 32) as u32;
    }
}

fn get(words: &[u32; RECORD_WORDS], part: Part) -> u32 {
    let at = part.offset / 32;
    let high = if at + 1 < RECORD_WORDS { words[at + 1] } else { 0 };
    let both = u64::from(words[at]) | u64::from(high) << 32;
    ((both >> (part.offset % 32)) & ((1u64 << part.width) - 1)) as u32
}

/// Packs a record. Parts that do not fit are cut to their width; limits keep them from occurring.
pub fn pack(record: &Record) -> [u32; RECORD_WORDS] {
    let index = |x: Option<u8>| x.map_or(0, |i| u32::from(i) + 1);
    let kinds = record.kinds.iter().rev().fold(0, |acc, k| acc << 4 | u32::from(k.code()));
    let values = [
        u32::from(record.connection),
        u32::from(record.index),
        u32::from(record.disposition.code()),
        index(record.tenant),
        index(record.model),
        u32::from(record.class),
        u32::from(record.hot),
        u32::from(record.key_known),
        u32::from(record.bank),
        kinds,
        record.max_tokens,
        record.temperature_milli,
        record.top_k,
        u32::from(record.retry),
        record.body_bytes,
    ];
    let mut words = [0; RECORD_WORDS];
    for (part, value) in RECORD.into_iter().zip(values) {
        put(&mut words, part, value & ((1u64 << part.width) - 1) as u32);
    }
    words
}

/// Reads a packed record; `None` if a code in it is not in use.
pub fn unpack(words: &[u32; RECORD_WORDS]) -> Option<Record> {
    let v = RECORD.map(|part| get(words, part));
    let index = |x: u32| (x != 0).then(|| (x - 1) as u8);
    let mut kinds = [Kind::Missing; FIELDS];
    for (i, kind) in kinds.iter_mut().enumerate() {
        *kind = Kind::from_code((v[9] >> (4 * i) & 15) as u8)?;
    }
    Some(Record {
        connection: v[0] as u16,
        index: v[1] as u16,
        disposition: Disposition::from_code(v[2] as u8)?,
        tenant: index(v[3]),
        model: index(v[4]),
        class: v[5] as u8,
        hot: v[6] != 0,
        key_known: v[7] != 0,
        bank: v[8] != 0,
        kinds,
        max_tokens: v[10],
        temperature_milli: v[11],
        top_k: v[12],
        retry: v[13] as u8,
        body_bytes: v[14],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::PuntReason;

    #[test]
    fn packed_records_round_trip() {
        let mut r = Record::empty(255, 65_535, Disposition::Punt(PuntReason::Number));
        assert_eq!(unpack(&pack(&r)), Some(r));
        r.tenant = Some(254);
        (r.class, r.hot, r.key_known, r.bank) = (15, true, true, true);
        r.model = Some(0);
        r.kinds = [Kind::Number, Kind::String, Kind::True, Kind::OddNumber, Kind::Other];
        (r.max_tokens, r.temperature_milli, r.top_k) = (u32::MAX, 0x8000_0001, 0x1234_5678);
        (r.retry, r.body_bytes) = (255, crate::limits::BODY_BYTES_MAX);
        assert_eq!(unpack(&pack(&r)), Some(r));
    }

    #[test]
    fn codes_out_of_use_are_refused() {
        let mut words = pack(&Record::empty(0, 0, Disposition::Pass));
        put(&mut words, RECORD[2], 31);
        assert_eq!(unpack(&words), None);
    }
}
