//! What the tables consist of, and the macros that make tables and constants of the same lines.

/// Who may do what with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read; a write changes nothing and is counted as an error.
    Read,
    /// Read and write.
    ReadWrite,
    /// Read; writing ones clears those bits.
    Clear,
    /// Write; reads 0.
    Write,
}

impl Access {
    /// Name on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Read => "r",
            Access::ReadWrite => "rw",
            Access::Clear => "r, 1 clears",
            Access::Write => "w",
        }
    }
}

/// Some bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name.
    pub name: &'static str,
    /// Lowest bit.
    pub low: u32,
    /// Bits.
    pub width: u32,
    /// What they say.
    pub what: &'static str,
}

impl Part {
    /// Its bits in a word.
    pub const fn mask(&self) -> u32 {
        (((1_u64 << self.width) - 1) << self.low) as u32
    }

    /// Its value in a word.
    pub const fn of(&self, word: u32) -> u32 {
        (word & self.mask()) >> self.low
    }

    /// A value at its place; what does not fit is cut.
    pub const fn at(&self, value: u32) -> u32 {
        (((value as u64) << self.low) as u32) & self.mask()
    }
}

/// A register of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name.
    pub name: &'static str,
    /// Byte address in BAR0; of a queue pair's registers and doorbells that of pair 0.
    pub at: u32,
    /// Who may do what.
    pub access: Access,
    /// What it reads behind a reset.
    pub reset: u32,
    /// Its parts, lowest first; bits of none are reserved: zero, and to be written as zero.
    pub parts: &'static [Part],
}

impl Register {
    /// Bits that are in use.
    pub const fn mask(&self) -> u32 {
        let (mut mask, mut i) = (0, 0);
        while i < self.parts.len() {
            mask |= self.parts[i].mask();
            i += 1;
        }
        mask
    }

    /// The reserved bits that are set in a word.
    pub const fn reserved(&self, word: u32) -> u32 {
        word & !self.mask()
    }

    pub(crate) const fn check(&self) {
        let mut next = 0;
        let mut i = 0;
        while i < self.parts.len() {
            assert!(self.parts[i].low >= next && self.parts[i].width > 0, "parts in order, each its own bits");
            next = self.parts[i].low + self.parts[i].width;
            i += 1;
        }
        assert!(next <= 32 && self.at.is_multiple_of(4) && self.reset & !self.mask() == 0);
    }
}

/// Some bytes of a queue entry, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPart {
    /// Name.
    pub name: &'static str,
    /// First byte.
    pub at: usize,
    /// Bytes.
    pub bytes: usize,
    /// What they say.
    pub what: &'static str,
}

/// Makes a module of constants for each register, and the table of all of them.
macro_rules! registers {
    ($(#[$tmeta:meta])* $table:ident: $(
        $name:ident $at:literal $access:ident $reset:expr => { $($(#[doc = $what:literal])+ $part:ident $low:literal $width:expr;)+ }
    )+) => {
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            pub mod $name {
                #[allow(unused_imports)]
                use super::super::*;
                /// Byte address.
                pub const AT: u32 = $at;
                $($(#[doc = $what])+
                pub const $part: Part =
                    Part { name: stringify!($part), low: $low, width: $width, what: concat!($($what),+) };)+
                /// All of it.
                pub const REGISTER: Register = Register {
                    name: stringify!($name),
                    at: AT,
                    access: Access::$access,
                    reset: $reset,
                    parts: &[$($part),+],
                };
                const _: () = REGISTER.check();
            }
        )+
        $(#[$tmeta])*
        pub const $table: &[Register] = &[$($name::REGISTER),+];
    };
}
pub(crate) use registers;

/// Makes an entry's type, its bytes, and the table of its parts.
macro_rules! entry {
    ($(#[$meta:meta])* $name:ident $table:ident: $($(#[doc = $what:literal])+ $part:ident: $kind:tt at $at:literal;)+) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $what])+ pub $part: $kind,)+
        }

        #[doc = concat!("Where the parts of a [`", stringify!($name), "`] are, in order.")]
        pub const $table: &[EntryPart] = &[$(EntryPart {
            name: stringify!($part),
            at: $at,
            bytes: core::mem::size_of::<$kind>(),
            what: concat!($($what),+),
        }),+];

        const _: () = {
            let (mut next, mut i) = (0, 0);
            while i < $table.len() {
                assert!($table[i].at >= next, "parts in order, each its own bytes");
                next = $table[i].at + $table[i].bytes;
                i += 1;
            }
            assert!(next <= ENTRY_BYTES);
        };

        impl $name {
            /// Its bytes.
            pub fn encode(&self) -> [u8; ENTRY_BYTES] {
                let mut bytes = [0; ENTRY_BYTES];
                $(bytes[$at..$at + core::mem::size_of::<$kind>()].copy_from_slice(&entry!(@out self.$part, $kind));)+
                bytes
            }

            /// Reads one.
            ///
            /// # Errors
            /// A byte that has to be zero is not.
            pub fn parse(bytes: &[u8; ENTRY_BYTES]) -> Result<Self, EntryError> {
                let mut used = [false; ENTRY_BYTES];
                for part in $table {
                    used[part.at..part.at + part.bytes].fill(true);
                }
                if let Some(at) = (0..ENTRY_BYTES).find(|&at| !used[at] && bytes[at] != 0) {
                    return Err(EntryError { at, value: bytes[at] });
                }
                let mut entry = Self::default();
                $({
                    let mut part = [0; core::mem::size_of::<$kind>()];
                    part.copy_from_slice(&bytes[$at..$at + core::mem::size_of::<$kind>()]);
                    entry.$part = entry!(@in part, $kind);
                })+
                Ok(entry)
            }
        }
    };
    (@out $value:expr, [u8; 28]) => { $value };
    (@out $value:expr, $kind:tt) => { $value.to_le_bytes() };
    (@in $value:expr, [u8; 28]) => { $value };
    (@in $value:expr, $kind:tt) => { $kind::from_le_bytes($value) };
}
pub(crate) use entry;
