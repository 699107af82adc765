//! What the reasons of punts mean.
use forebay_spec::limits::{BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX, PATTERN_TEXT_BYTES_MAX, RETRY_MAX};
use forebay_spec::PuntReason;

/// One sentence.
pub(super) fn meaning(reason: PuntReason) -> String {
    let text = match reason {
        PuntReason::RequestLine => "the request line is not a plain METHOD target HTTP/1.1",
        PuntReason::HeaderLine => "a header line is malformed",
        PuntReason::HeaderBytes => {
            return format!("request line and headers are longer than {HEADER_BYTES_MAX} bytes");
        }
        PuntReason::ContentLength => {
            return format!("content-length is repeated, or no plain decimal number up to {BODY_BYTES_MAX}");
        }
        PuntReason::TransferEncoding => "a transfer-encoding header: software puts chunked bodies together",
        PuntReason::Expect => "an expect header, which somebody has to answer",
        PuntReason::ContentEncoding => "a content-encoding header: the fabric reads plain bodies only",
        PuntReason::Upgrade => "an upgrade header, or the preface of HTTP/2",
        PuntReason::Credential => {
            return format!(
                "two credentials, one over {CREDENTIAL_BYTES_MAX} bytes, or a credential header that is not one word"
            );
        }
        PuntReason::RetryHeader => {
            return format!("x-stainless-retry-count is repeated, or no number up to {RETRY_MAX}");
        }
        PuntReason::Truncated => "the connection ended inside the request",
        PuntReason::NameEscape => {
            "a backslash stands in a name of the top-level object, so the fabric cannot compare it"
        }
        PuntReason::ValueEscape => "a backslash stands in the value of model, so the fabric cannot compare it",
        PuntReason::Number => {
            "a number field has a sign, an exponent, or more digits than the fabric converts; software converts it"
        }
        PuntReason::ValueBytes => {
            return format!(
                "the value of model is longer than {PATTERN_TEXT_BYTES_MAX} bytes, and a pattern of the policy could match it"
            );
        }
        PuntReason::Bundle => "the request began under a policy that had to make room for the next one",
        PuntReason::OutOfOrder => "a segment of the connection was lost or came out of order",
        PuntReason::Overlap => "a segment repeats bytes of the connection that cannot be shown to be the same",
    };
    text.to_owned()
}
