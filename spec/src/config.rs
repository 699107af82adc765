//! The configuration port of the core: 32-bit words by word address.
//!
//! Written while no request is in flight; nothing is read back.
use crate::limits::{LEVELS, MODELS_MAX, TENANTS_MAX};

/// Width of a word address, bits.
pub const ADDRESS_BITS: usize = 10;
/// Level thresholds, `LEVELS - 1` words, ascending.
pub const THRESHOLD: u16 = 0x000;
/// Requests of each level that may run at the same time, `LEVELS` words of 16 bits.
pub const LEVEL_LIMIT: u16 = 0x008;
/// Key of the credential tag, four words, least significant first.
pub const HASH_KEY: u16 = 0x010;
/// Tenants: at `TENANT + 8 * i` four words of tag, least significant first; the fifth is 1 for an entry in use.
pub const TENANT: u16 = 0x080;
/// Words from one tenant to the next.
pub const TENANT_STRIDE: u16 = 8;
/// Lengths of the model names, one word each, bytes; 0 for an entry that is not in use.
pub const MODEL_BYTES: u16 = 0x100;
/// Model names: at `MODEL_NAME + 16 * i` sixteen words, first byte in the least significant place.
pub const MODEL_NAME: u16 = 0x200;
/// Words from one model name to the next.
pub const MODEL_STRIDE: u16 = 16;

const _: () = assert!(THRESHOLD as usize + LEVELS - 1 <= LEVEL_LIMIT as usize);
const _: () = assert!(TENANT as usize + TENANTS_MAX * TENANT_STRIDE as usize <= MODEL_BYTES as usize);
const _: () = assert!(MODEL_BYTES as usize + MODELS_MAX <= MODEL_NAME as usize);
const _: () = assert!(MODEL_NAME as usize + MODELS_MAX * MODEL_STRIDE as usize <= 1 << ADDRESS_BITS);
