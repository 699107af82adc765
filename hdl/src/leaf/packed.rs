//! Named parts of one wide word; a concatenation, which `hdl_gen` has no way to write.

/// Makes two leaves from a list of parts, lowest first: `$pack` joins them to a word, `$unpack` takes it apart.
macro_rules! packed {
    ($(#[$meta:meta])* $pack:ident, $unpack:ident, $bits:tt { $($(#[$pmeta:meta])* $name:ident: $width:tt,)+ }) => {
        $(#[$meta])*
        // not every word is both packed and taken apart, nor both outside of its block
        #[allow(dead_code, unreachable_pub)]
        #[derive(rust_hdl::prelude::LogicBlock, Default)]
        pub struct $pack {
            $($(#[$pmeta])* pub $name: Signal<In, Bits<$width>>,)+
            /// All parts.
            pub word: Signal<Out, Bits<$bits>>,
        }

        impl Logic for $pack {
            fn update(&mut self) {
                let mut joined = [false; $bits];
                let mut at = 0;
                $(
                    for i in 0..$width {
                        joined[at + i] = self.$name.val().get_bit(i);
                    }
                    at += $width;
                )+
                assert_eq!(at, $bits, "the parts fill the word");
                self.word.next = Bits::Long(joined.into());
            }
            fn connect(&mut self) {
                self.word.connect();
            }
            fn hdl(&self) -> Verilog {
                let parts = [$(stringify!($name),)+];
                let parts: Vec<&str> = parts.into_iter().rev().collect();
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
            $($(#[$pmeta])* pub $name: Signal<Out, Bits<$width>>,)+
        }

        impl Logic for $unpack {
            fn update(&mut self) {
                let joined = self.word.val();
                let mut at = 0;
                $(
                    let part = (0..$width).rev().fold(0u64, |n, i| n << 1 | u64::from(joined.get_bit(at + i)));
                    self.$name.next = part.into();
                    at += $width;
                )+
                assert_eq!(at, $bits, "the parts fill the word");
            }
            fn connect(&mut self) {
                $(self.$name.connect();)+
            }
            fn hdl(&self) -> Verilog {
                let parts = [$(stringify!($name),)+];
                let parts: Vec<&str> = parts.into_iter().rev().collect();
                Verilog::Custom(format!("always @(*) {{{}}} = word;\n", parts.join(", ")))
            }
        }
    };
}
pub(crate) use packed;
