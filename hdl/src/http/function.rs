//! Leaves without a clock, each made from a function on integers and from the text of the same function.
use rust_hdl::prelude::*;

/// A port's value as an integer.
pub(crate) trait Plain {
    fn plain(self) -> u128;
    fn port(value: u128) -> Self;
}

impl Plain for bool {
    fn plain(self) -> u128 {
        u128::from(self)
    }
    fn port(value: u128) -> Self {
        value & 1 == 1
    }
}

impl<const N: usize> Plain for Bits<N> {
    fn plain(self) -> u128 {
        if N <= 64 {
            u64::from(self).into()
        } else {
            (0..N).rev().fold(0, |n, i| n << 1 | u128::from(self.get_bit(i)))
        }
    }
    fn port(value: u128) -> Self {
        let value = value & (u128::MAX >> (128 - N));
        if N <= 64 {
            (value as u64).into()
        } else {
            let mut bits = [false; N];
            bits.iter_mut().enumerate().for_each(|(i, bit)| *bit = value >> i & 1 == 1);
            Bits::Long(bits.into())
        }
    }
}

/// Makes a leaf from a function and its text, which stands in an `always` block of its own.
macro_rules! function {
    (
        $(#[$meta:meta])* $name:ident, $model:path, $text:path;
        $input:ident { $($(#[$imeta:meta])* $i:ident: [$($it:tt)+],)+ }
        $output:ident { $($(#[$ometa:meta])* $o:ident: [$($ot:tt)+],)+ }
    ) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct $input {
            $(pub(crate) $i: u128,)+
        }

        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct $output {
            $(pub(crate) $o: u128,)+
        }

        $(#[$meta])*
        #[derive(rust_hdl::prelude::LogicBlock, Default)]
        pub struct $name {
            $($(#[$imeta])* pub $i: Signal<In, $($it)+>,)+
            $($(#[$ometa])* pub $o: Signal<Out, $($ot)+>,)+
            _seen: Option<$input>,
        }

        impl Logic for $name {
            fn update(&mut self) {
                use $crate::http::function::Plain;
                let input = $input { $($i: self.$i.val().plain(),)+ };
                // a simulation asks several times a clock
                if self._seen != Some(input) {
                    self._seen = Some(input);
                    let output: $output = $model(input);
                    $(self.$o.next = <$($ot)+>::port(output.$o);)+
                }
            }
            fn connect(&mut self) {
                $(self.$o.connect();)+
            }
            fn hdl(&self) -> Verilog {
                Verilog::Custom($text())
            }
        }
    };
}
pub(crate) use function;

/// Makes two leaves from a list of parts, lowest first: `$pack` joins them to a word of up to 192 bits, `$unpack` takes it
/// apart. As `leaf::packed`, for words of any width and with flags.
macro_rules! parts {
    (
        $(#[$meta:meta])* $pack:ident, $unpack:ident, $bits:tt;
        $($(#[$pmeta:meta])* $part:ident: [$($pt:tt)+],)+
    ) => {
        $(#[$meta])*
        // not every word is both packed and taken apart, nor both outside of its block
        #[allow(dead_code, unreachable_pub)]
        #[derive(rust_hdl::prelude::LogicBlock, Default)]
        pub struct $pack {
            $($(#[$pmeta])* pub $part: Signal<In, $($pt)+>,)+
            /// All parts.
            pub word: Signal<Out, Bits<$bits>>,
        }

        impl Logic for $pack {
            fn update(&mut self) {
                use $crate::http::function::{join, Plain};
                let parts = [$((self.$part.val().plain(), <$($pt)+ as rust_hdl::prelude::Synth>::BITS),)+];
                self.word.next = join(&parts);
            }
            fn connect(&mut self) {
                self.word.connect();
            }
            fn hdl(&self) -> Verilog {
                let parts: Vec<&str> = [$(stringify!($part),)+].into_iter().rev().collect();
                Verilog::Custom(format!("always @(*) word = {{{}}};\n", parts.join(", ")))
            }
        }

        $(#[$meta])*
        // not every word is both packed and taken apart, nor both outside of its block
        #[allow(dead_code, unreachable_pub)]
        #[derive(rust_hdl::prelude::LogicBlock, Default)]
        pub struct $unpack {
            /// All parts.
            pub word: Signal<In, Bits<$bits>>,
            $($(#[$pmeta])* pub $part: Signal<Out, $($pt)+>,)+
        }

        impl Logic for $unpack {
            fn update(&mut self) {
                use $crate::http::function::{part, Plain};
                let word = self.word.val();
                let mut at = 0;
                $(
                    self.$part.next = <$($pt)+>::port(part(&word, at, <$($pt)+ as rust_hdl::prelude::Synth>::BITS));
                    at += <$($pt)+ as rust_hdl::prelude::Synth>::BITS;
                )+
                assert_eq!(at, $bits, "the parts fill the word");
            }
            fn connect(&mut self) {
                $(self.$part.connect();)+
            }
            fn hdl(&self) -> Verilog {
                let parts: Vec<&str> = [$(stringify!($part),)+].into_iter().rev().collect();
                Verilog::Custom(format!("always @(*) {{{}}} = word;\n", parts.join(", ")))
            }
        }
    };
}
pub(crate) use parts;

/// Joins parts, each with its width, the first one lowest.
pub(crate) fn join<const N: usize>(parts: &[(u128, usize)]) -> Bits<N> {
    let mut bits = [false; N];
    let mut at = 0;
    for (part, width) in parts {
        bits[at..at + width].iter_mut().enumerate().for_each(|(i, bit)| *bit = part >> i & 1 == 1);
        at += width;
    }
    assert_eq!(at, N, "the parts fill the word");
    if N > 32 {
        Bits::Long(bits.into())
    } else {
        bits.iter().rev().fold(0, |n, bit| n << 1 | u64::from(*bit)).into()
    }
}

/// A part of a word.
pub(crate) fn part<const N: usize>(word: &Bits<N>, at: usize, width: usize) -> u128 {
    (0..width).rev().fold(0, |n, i| n << 1 | u128::from(word.get_bit(at + i)))
}

/// Is bit `i` of a mask set?
pub(crate) fn at(mask: u128, i: usize) -> bool {
    mask >> i & 1 == 1
}

/// A mask of the lanes for which a condition holds.
pub(crate) fn lanes(holds: impl FnMut(&usize) -> bool) -> u128 {
    (0..8).filter(holds).fold(0, |mask, i| mask | 1 << i)
}

/// Verilog statement: all bits of eight from the lowest one of `from` up.
pub(crate) fn from_first(to: &str, from: &str) -> String {
    format!(
        "  {to} = {from};\n  {to} = {to} | ({to} << 1);\n  {to} = {to} | ({to} << 2);\n  {to} = {to} | ({to} << 4);\n"
    )
}
