//! The record: what the datapath finds in one request.
use crate::coded::coded_enum;
use crate::reason::PuntReason;

coded_enum! {
    /// The fields that are looked for at depth 1.
    Field {
        /// Unsigned; how long the answer may get, in tokens.
        MaxTokens = 0, "max_tokens";
        /// String.
        Model = 1, "model";
        /// Bool.
        Stream = 2, "stream";
        /// Decimal.
        Temperature = 3, "temperature";
        /// Unsigned.
        TopK = 4, "top_k";
    }
}

/// Number of fields.
pub const FIELDS: usize = 5;

coded_enum! {
    /// The kind of the last value that a field got.
    Kind {
        /// The name does not occur at depth 1.
        Missing = 0, "missing";
        /// `null`
        Null = 1, "null";
        /// `false`
        False = 2, "false";
        /// `true`
        True = 3, "true";
        /// A string.
        String = 4, "string";
        /// An object.
        Object = 5, "object";
        /// An array.
        Array = 6, "array";
        /// A number whose value stands in the record.
        Number = 7, "number";
        /// A number that the fabric does not convert: a sign, an exponent, a fraction where none belongs, too many digits.
        /// In a record of the software path: a number that the field cannot hold.
        OddNumber = 8, "odd_number";
        /// Nothing that may start a JSON value, or a number that never ended: the body is invalid.
        Other = 9, "other";
    }
}

/// What becomes of a request that the datapath has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// An inference request: to be decided.
    Decide,
    /// No inference body: passes.
    Pass,
    /// To the exact software path.
    Punt(PuntReason),
}

impl Disposition {
    /// Code on the wire: 0 decide, 1 pass, 2 + the reason's code for a punt.
    pub const fn code(self) -> u8 {
        match self {
            Disposition::Decide => 0,
            Disposition::Pass => 1,
            Disposition::Punt(reason) => 2 + reason.code(),
        }
    }

    /// The reverse of [`Disposition::code`].
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Disposition::Decide),
            1 => Some(Disposition::Pass),
            c => match PuntReason::from_code(c.wrapping_sub(2)) {
                Some(reason) => Some(Disposition::Punt(reason)),
                None => None,
            },
        }
    }
}

/// One request as the datapath, or the exact software path, read it.
///
/// Fields that `kinds` does not call a number hold 0. For a punt or a pass all
/// kinds are `Missing`, all values 0 and nothing is known of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Connection that the request came on.
    pub connection: u16,
    /// Position of the request in its connection, from 0.
    pub index: u16,
    /// Decide, pass or punt.
    pub disposition: Disposition,
    /// Tenant whose key the request carried, as the key's index in the bundle; `None` without a key or with an unknown one.
    /// The first key of a tenant has the tenant's own index, second keys those behind all tenants.
    pub tenant: Option<u8>,
    /// Model as its index in the bundle; `None` if the bundle does not list it.
    pub model: Option<u8>,
    /// Class of the first value pattern that matches the model's name, 1 to `CLASSES_MAX`; 0 for none.
    pub class: u8,
    /// A Bloom filter says that the model is a hot one: never false for one that is.
    pub hot: bool,
    /// A Bloom filter says that the host knows the credential: never false for one that it does.
    pub key_known: bool,
    /// Bank of the bundle that the request was read by.
    pub bank: bool,
    /// Kind of the last value of each field, by [`Field`] code.
    pub kinds: [Kind; FIELDS],
    /// Declared output limit, tokens.
    pub max_tokens: u32,
    /// Temperature in thousandths.
    pub temperature_milli: u32,
    /// `top_k`.
    pub top_k: u32,
    /// `x-stainless-retry-count`; 0 without one.
    pub retry: u8,
    /// Body length by its framing, bytes.
    pub body_bytes: u32,
}

impl Record {
    /// A record with nothing found in it.
    pub const fn empty(connection: u16, index: u16, disposition: Disposition) -> Self {
        Record {
            connection,
            index,
            disposition,
            tenant: None,
            model: None,
            class: 0,
            hot: false,
            key_known: false,
            bank: false,
            kinds: [Kind::Missing; FIELDS],
            max_tokens: 0,
            temperature_milli: 0,
            top_k: 0,
            retry: 0,
            body_bytes: 0,
        }
    }

    /// Kind of the last value of `field`.
    pub const fn kind(&self, field: Field) -> Kind {
        self.kinds[field as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disposition_codes_round_trip() {
        let mut seen = 0;
        for code in 0..=255 {
            if let Some(d) = Disposition::from_code(code) {
                assert_eq!(d.code(), code);
                seen += 1;
            }
        }
        assert_eq!(seen, 2 + PuntReason::ALL.len());
    }
}
