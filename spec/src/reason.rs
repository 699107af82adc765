//! Why a request took the software path, was refused or was rejected.
use crate::coded::coded_enum;

coded_enum! {
    /// Why the fabric hands a request to the exact software path.
    PuntReason {
        /// The request line is not `METHOD target HTTP/1.1`.
        RequestLine = 1, "request_line";
        /// A header line is malformed: no name, a space before the colon, a folded line, a bare CR or LF, a control character.
        HeaderLine = 2, "header_line";
        /// The header is longer than `HEADER_BYTES_MAX`.
        HeaderBytes = 3, "header_bytes";
        /// `content-length` is repeated, is not a plain decimal number, or is over `BODY_BYTES_MAX`.
        ContentLength = 4, "content_length";
        /// A `transfer-encoding` header: chunked bodies are put together in software.
        TransferEncoding = 5, "transfer_encoding";
        /// An `expect` header: somebody has to answer it.
        Expect = 6, "expect";
        /// A `content-encoding` header: the fabric reads plain bodies only.
        ContentEncoding = 7, "content_encoding";
        /// An `upgrade` header or the HTTP/2 preface.
        Upgrade = 8, "upgrade";
        /// Two credentials, one longer than `CREDENTIAL_BYTES_MAX`, or one that is not a single word.
        Credential = 9, "credential";
        /// `x-stainless-retry-count` is repeated or is not a number up to `RETRY_MAX`.
        RetryHeader = 10, "retry_header";
        /// The connection ended inside the request.
        Truncated = 11, "truncated";
        /// A backslash in a name at depth 1.
        NameEscape = 12, "name_escape";
        /// A backslash in the value of `model`.
        ValueEscape = 13, "value_escape";
        /// The last value of a number field has a sign, an exponent, or more digits than the fabric converts.
        Number = 14, "number";
        /// The value of `model` is longer than `PATTERN_TEXT_BYTES_MAX`, and a pattern of the bundle could match it.
        ValueBytes = 15, "value_bytes";
        /// The request began under a bundle that had to make room before it ended.
        Bundle = 16, "bundle";
        /// A segment of the connection was lost or came out of order.
        OutOfOrder = 17, "out_of_order";
        /// A segment repeats sequence numbers in a way that cannot be shown to hold the same bytes.
        Overlap = 18, "overlap";
    }
}

impl PuntReason {
    /// Does the fabric lose its place in the connection? Then the software path reads all that follows on it;
    /// otherwise this one request.
    pub const fn ends_connection(self) -> bool {
        use PuntReason::{NameEscape, Number, ValueBytes, ValueEscape};
        !matches!(self, NameEscape | ValueEscape | ValueBytes | Number)
    }
}

coded_enum! {
    /// Why a sound request is answered with 429.
    RefuseReason {
        /// As many requests of this level run as the policy allows.
        LevelFull = 1, "level_full";
        /// Every slot is taken.
        NoSlot = 2, "no_slot";
    }
}

coded_enum! {
    /// Why a request is answered with a status of the 400 kind.
    RejectReason {
        /// `max_tokens` is missing or is not an unsigned number.
        MaxTokens = 1, "max_tokens";
        /// `model` is neither a string nor absent.
        Model = 2, "model";
        /// `stream` is neither a bool nor absent.
        Stream = 3, "stream";
        /// `temperature` is neither a number nor absent.
        Temperature = 4, "temperature";
        /// `top_k` is neither an unsigned number nor absent.
        TopK = 5, "top_k";
        /// The body is not JSON, or is JSON in no valid form.
        BodyInvalid = 6, "body_invalid";
        /// The body is JSON, but no object.
        BodyNotObject = 7, "body_not_object";
        /// The body is not UTF-8.
        BodyUtf8 = 8, "body_utf8";
        /// The connection ended inside the request.
        BodyTruncated = 9, "body_truncated";
        /// The request line, a header or the framing is malformed or over a limit.
        Http = 10, "http";
    }
}
