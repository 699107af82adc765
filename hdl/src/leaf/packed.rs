//! Named parts of one wide word; a concatenation, which `hdl_gen` has no way to write.

/// Makes two leaves from a list of parts, lowest first: `$pack` joins them to a word, `$unpack` takes it apart.
macro_rules! packed {
    ($(#[$meta:meta])* $pack:ident, $unpack:ident, $bits:tt { $($(#[$pmeta:meta])* $name:ident: $width:tt,)+ }) => {
        $(#[$meta])*
        #[derive(rust_hdl::prelude::LogicBlock, Default)]
        pub struct $pack {
            $($(#[$pmeta])* pub $name: Signal<In, Bits<$width>>,)+
            /// All parts.
            pub word: Signal<Out, Bits<$bits>>,
        }

        impl Logic for $pack {
            fn update(&mut self) {
                let mut joined = Bits::<$bits>::default();
                let mut at = 0;
                $(
                    joined.set_bits::<$width>(at, self.$name.val());
                    at += $width;
                )+
                assert_eq!(at, $bits, "the parts fill the word");
                self.word.next = joined;
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
                    self.$name.next = joined.get_bits::<$width>(at);
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
