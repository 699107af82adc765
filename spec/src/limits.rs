//! Every limit, with what happens there.

/// Sizes that a build of the hardware is made for; the twin takes the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name in reports.
    pub name: &'static str,
    /// Connections with a context of their own; a power of two.
    pub connections: usize,
    /// Requests that may run at the same time; a power of two. With none free a request is refused `no_slot`.
    pub slots: usize,
}

/// Development boards.
pub const BOARD: Profile = Profile { name: "board", connections: 256, slots: 256 };

/// Inference nodes: what the software runs as, and the wide core.
pub const FLEET: Profile = Profile { name: "fleet", connections: 1_024, slots: 16_384 };

/// Same source, small enough for formal tools.
pub const PROOF: Profile = Profile { name: "proof", connections: 4, slots: 8 };

/// Bursts are sorted into this many levels by their declared `max_tokens`.
pub const LEVELS: usize = 8;
/// Default thresholds: level `k` is the number of thresholds that are at most `max_tokens`.
pub const DEFAULT_THRESHOLDS: [u32; LEVELS - 1] = [10, 32, 128, 256, 512, 1024, 2048];

/// Literal names of fields that one bundle may hold; a policy with more is refused.
pub const NAMES_MAX: usize = 8;
/// Bytes that the name of a field has at least: two such names cannot close in one lane of 8 bytes, whatever the bytes
/// are. A policy with a shorter one is refused.
pub const NAME_BYTES_MIN: usize = 5;
/// Bytes of a field's name; a policy with a longer one is refused.
pub const NAME_BYTES_MAX: usize = 23;
/// Models that one bundle may name; a policy with more is refused.
pub const MODELS_MAX: usize = 255;
/// Bytes of a model's name; a policy with a longer one is refused, a request with a longer one is of an unknown model.
pub const MODEL_NAME_BYTES_MAX: usize = 64;
/// Tenants that one bundle may name; a policy with more is refused.
pub const TENANTS_MAX: usize = 255;

/// Classes that value patterns map to, 1 and up; a policy with more is refused.
pub const CLASSES_MAX: usize = 15;
/// States of the table that value patterns become; a policy that needs more is refused.
pub const PATTERN_STATES_MAX: usize = 128;
/// Classes of bytes of that table, the one that stands for the end of the text included.
pub const PATTERN_BYTE_CLASSES_MAX: usize = 32;
/// Symbols for two bytes of that table.
pub const PATTERN_PAIRS_MAX: usize = 64;
/// Symbols for four bytes of that table.
pub const PATTERN_QUADS_MAX: usize = 128;
/// Bytes of a value that the fabric walks; a longer one punts `value_bytes` if a pattern could match one.
pub const PATTERN_TEXT_BYTES_MAX: usize = 31;

/// Choices of a bucket in an exact table.
pub const TABLE_CHOICES: usize = 2;
/// Buckets of each choice.
pub const TABLE_BUCKETS: usize = 64;
/// Entries of a bucket.
pub const TABLE_WAYS: usize = 4;
/// Hash functions of a Bloom filter, each with a slice of its own.
pub const BLOOM_SLICES: usize = 4;
/// Bits of a slice.
pub const BLOOM_SLICE_BITS: usize = 8_192;

/// Bytes of a request line and its headers, the empty line included; more: punt `header_bytes`, then reject.
pub const HEADER_BYTES_MAX: u32 = 32_768;
/// Bytes of a body; a larger `content-length`: punt `content_length`, then reject.
pub const BODY_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// Bytes of a credential in `x-api-key` or after `Bearer `; more: punt `credential`.
pub const CREDENTIAL_BYTES_MAX: u32 = 255;
/// Bytes of a method; more: punt `request_line`.
pub const METHOD_BYTES_MAX: usize = 16;
/// Decimal digits of `content-length`; more: punt `content_length`.
pub const CONTENT_LENGTH_DIGITS_MAX: u32 = 9;
/// Largest count that `x-stainless-retry-count` may carry; more: punt `retry_header`.
pub const RETRY_MAX: u32 = 255;

/// Nesting of a body beyond which it is invalid.
pub const JSON_DEPTH_MAX: usize = 1_024;
/// Width of the depth counter in the fabric, which wraps: more than `JSON_DEPTH_MAX` needs.
pub const DEPTH_BITS: usize = 12;
/// Digits of an unsigned number that the fabric converts; more: punt `number`.
pub const NUMBER_DIGITS_MAX: usize = 10;
/// Characters that the fabric looks back over for a number or a name.
pub const WINDOW_BYTES: usize = 12;
/// Fraction digits of a decimal number in the fabric; more: punt `number`.
pub const FRACTION_DIGITS_MAX: usize = 3;

/// Clocks from the last body beat accepted by `scan` to the record, with a bundle without value patterns.
pub const RECORD_CLOCKS: u32 = 24;
/// The same with value patterns.
pub const RECORD_PATTERN_CLOCKS: u32 = 32;
/// Clocks from the record to its verdict while nothing else waits, at most.
pub const VERDICT_CLOCKS_MAX: u32 = 24;
/// Clocks from one event that the arbiter takes to the next, at most.
pub const EVENT_INTERVAL_CLOCKS_MAX: u32 = 6;

/// The level of a declared `max_tokens` under ascending `thresholds`.
pub fn level(max_tokens: u32, thresholds: &[u32; LEVELS - 1]) -> u8 {
    thresholds.iter().filter(|&&t| max_tokens >= t).count() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_start_at_their_threshold() {
        let mut expected = 0;
        assert_eq!(level(0, &DEFAULT_THRESHOLDS), 0);
        for t in DEFAULT_THRESHOLDS {
            assert_eq!(level(t - 1, &DEFAULT_THRESHOLDS), expected);
            expected += 1;
            assert_eq!(level(t, &DEFAULT_THRESHOLDS), expected);
        }
        assert_eq!(level(u32::MAX, &DEFAULT_THRESHOLDS), 7);
    }

    #[test]
    fn profiles_are_powers_of_two() {
        for p in [BOARD, FLEET, PROOF] {
            assert!(p.connections.is_power_of_two() && p.slots.is_power_of_two(), "{}", p.name);
        }
    }
}
