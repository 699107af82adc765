//! Enums whose discriminants go over a wire and whose names go into reports.

/// Declares an enum with a `u8` code and a name for each variant.
macro_rules! coded_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $text:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant = $code,)+ }

        impl $name {
            /// Every variant, in the order of the codes.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The code on the wire.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The variant with this code; `None` for a code that is not in use.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some($name::$variant),)+
                    _ => None,
                }
            }

            /// The name in reports and in JSON output.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use coded_enum;
