//! HTTP literals that the datapath looks for, in the order of their bits in hardware.

/// Methods. Only `POST` carries an inference body; `PRI` starts the HTTP/2 preface.
pub const METHODS: [&str; 2] = ["POST", "PRI"];

/// Request targets with an inference body; a query may follow.
pub const INFERENCE_PATHS: [&str; 3] = ["/v1/messages", "/v1/chat/completions", "/v1/completions"];

/// The one version that the fabric reads.
pub const VERSION: &str = "HTTP/1.1";

/// What comes before the credential in `authorization`, compared without regard to case.
pub const BEARER: &str = "bearer ";

/// Header names that matter, in lower case.
pub const HEADERS: [&str; 8] = [
    "content-length",
    "x-api-key",
    "authorization",
    "x-stainless-retry-count",
    "transfer-encoding",
    "expect",
    "content-encoding",
    "upgrade",
];

/// Index of each name in [`HEADERS`].
pub mod header {
    #![allow(missing_docs)]
    pub const CONTENT_LENGTH: usize = 0;
    pub const X_API_KEY: usize = 1;
    pub const AUTHORIZATION: usize = 2;
    pub const RETRY_COUNT: usize = 3;
    pub const TRANSFER_ENCODING: usize = 4;
    pub const EXPECT: usize = 5;
    pub const CONTENT_ENCODING: usize = 6;
    pub const UPGRADE: usize = 7;
}

/// May this byte stand in a header name or a method (RFC 9110 `tchar`)?
pub const fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}
