//! A packed record and its parts. Wires only, no clock.
//!
//! Offsets and widths come from [`forebay_spec::layout::RECORD`], in the model as in the Verilog text, so that
//! hardware and host can't disagree on where a part lies.
use forebay_spec::layout::{RECORD, RECORD_BITS};
use rust_hdl::prelude::*;

/// Is the part at this place of the layout table what the port list below says?
const fn is(place: usize, name: &str, width: usize) -> bool {
    let (a, b) = (RECORD[place].name.as_bytes(), name.as_bytes());
    let mut same = a.len() == b.len() && RECORD[place].width == width;
    let mut i = 0;
    while same && i < a.len() {
        same = a[i] == b[i];
        i += 1;
    }
    same
}

/// `width` bits from `offset` on. The crate's `get_bits` shifts all of the 209 first.
fn get<const W: usize>(record: &Bits<RECORD_BITS>, offset: usize) -> Bits<W> {
    let value = (0..W).rev().fold(0_u64, |acc, i| acc << 1 | u64::from(record.get_bit(offset + i)));
    value.into()
}

macro_rules! record_leaves {
    ($($place:tt $name:ident $width:tt $doc:tt,)*) => {
        $(const _: () = assert!(is($place, stringify!($name), $width));)*

        /// The parts of a packed record.
        #[derive(LogicBlock, Default)]
        pub struct RecordUnpack {
            /// The packed record.
            pub record: Signal<In, Bits<209>>,
            $(#[doc = $doc] pub $name: Signal<Out, Bits<$width>>,)*
            _seen: Option<Bits<209>>,
        }

        impl Logic for RecordUnpack {
            fn update(&mut self) {
                // a simulation asks several times a clock, and records are wide and seldom change
                if self._seen != Some(self.record.val()) {
                    self._seen = Some(self.record.val());
                    $(self.$name.next = get::<$width>(&self.record.val(), RECORD[$place].offset);)*
                }
            }
            fn connect(&mut self) {
                $(self.$name.connect();)*
            }
            fn hdl(&self) -> Verilog {
                let line = |p: &forebay_spec::layout::Part| {
                    format!("  {} = record[{}:{}];\n", p.name, p.offset + p.width - 1, p.offset)
                };
                Verilog::Custom(format!("always @(*) begin\n{}end\n", RECORD.iter().map(line).collect::<String>()))
            }
        }

        /// Packs the parts of a record.
        #[derive(LogicBlock, Default)]
        pub struct RecordPack {
            $(#[doc = $doc] pub $name: Signal<In, Bits<$width>>,)*
            /// The packed record.
            pub record: Signal<Out, Bits<209>>,
        }

        impl Logic for RecordPack {
            fn update(&mut self) {
                let mut at = 0;
                let mut bits = [false; RECORD_BITS];
                $(for i in 0..$width {
                    bits[at] = self.$name.val().get_bit(i);
                    at += 1;
                })*
                debug_assert_eq!(at, RECORD_BITS);
                self.record.next = Bits::Long(bits.into());
            }
            fn connect(&mut self) {
                self.record.connect();
            }
            fn hdl(&self) -> Verilog {
                let names: Vec<_> = RECORD.iter().rev().map(|p| p.name).collect();
                Verilog::Custom(format!("always @(*) record = {{{}}};\n", names.join(", ")))
            }
        }
    };
}

record_leaves! {
    0 connection 16 "Connection that the request came on.",
    1 index 16 "Position of the request in its connection.",
    2 disposition 5 "Code of the disposition.",
    3 tenant 8 "Index of the tenant, plus 1; 0 for none.",
    4 model 8 "Index of the model, plus 1; 0 for none.",
    5 model_class 4 "Class of the model's name; 0 for none.",
    6 hot 1 "The model may be a hot one.",
    7 key_known 1 "The host may know the credential.",
    8 bank 1 "Bank of the request's bundle.",
    9 kinds 20 "Kind of each field, four bits each.",
    10 max_tokens 32 "Declared output limit, tokens.",
    11 temperature_milli 32 "Temperature in thousandths.",
    12 top_k 32 "`top_k`.",
    13 retry 8 "Retry count of the client.",
    14 body_bytes 25 "Body length by its framing.",
}

const _: () = assert!(RECORD.len() == 15 && RECORD_BITS == 209);
