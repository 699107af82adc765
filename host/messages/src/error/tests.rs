#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

fn busy(retry_after_ms: u32, free: Option<u32>) -> ApiError {
    ApiError::refused(Wait { retry_after_ms, recommended_concurrency: free, limit: "tenant_requests".to_owned() })
}

#[test]
fn refusals_carry_waits_that_agree() {
    for (ms, told_ms, told_s) in
        [(0, "1", "1"), (20, "20", "1"), (1_000, "1000", "1"), (1_001, "1001", "2"), (287_441_000, "60000", "60")]
    {
        let headers = busy(ms, Some(3)).headers();
        let find = |name| headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str());
        assert_eq!(find(header::RETRY_AFTER_MS), Some(told_ms));
        assert_eq!(find(header::RETRY_AFTER), Some(told_s));
        assert_eq!(find(header::RECOMMENDED_CONCURRENCY), Some("3"));
        assert_eq!(find(header::X_FOREBAY_LIMIT), Some("tenant_requests"));
        assert_eq!(find(header::X_SHOULD_RETRY), Some("true"));
    }
    for kind in [ErrorKind::RateLimit, ErrorKind::Unavailable, ErrorKind::Overloaded] {
        let headers = ApiError::new(kind, "x").headers();
        assert!(headers.contains(&(header::RETRY_AFTER, "1".to_owned())), "{kind:?}");
    }
}

#[test]
fn bodies_of_both_apis() {
    assert_eq!(
        busy(150, None).body(Dialect::Anthropic, "req_1"),
        concat!(
            r#"{"type":"error","error":{"type":"rate_limit_error","#,
            r#""message":"limit tenant_requests is reached; retry in 150 ms","#,
            r#""limit":"tenant_requests","retry_after_ms":150},"request_id":"req_1"}"#
        )
    );
    assert_eq!(
        ApiError::field("messages.0.role", "wrong").body(Dialect::OpenAi, "req_1"),
        concat!(
            r#"{"error":{"message":"messages.0.role: wrong","type":"invalid_request_error","#,
            r#""param":"messages.0.role","code":null},"request_id":"req_1"}"#
        )
    );
    for (error, status, name) in [
        (ApiError::too_large(9, 8), 413, "request_too_large"),
        (ApiError::no_model("x"), 404, "not_found_error"),
        (ApiError::unavailable(500), 503, "api_error"),
        (ApiError::new(ErrorKind::Overloaded, "x"), 529, "overloaded_error"),
        (ApiError::new(ErrorKind::Authentication, "x"), 401, "authentication_error"),
        (ApiError::new(ErrorKind::Permission, "x"), 403, "permission_error"),
        (ApiError::new(ErrorKind::RequestTimeout, "x"), 408, "timeout_error"),
    ] {
        assert_eq!((error.status(), error.kind.name(Dialect::Anthropic)), (status, name));
    }
}

/// B43.
#[test]
fn no_room_names_both_numbers() {
    let message = ApiError::no_room(62_466, 65_535, 128_000).message;
    assert!(message.contains("62466") && message.contains("65535") && message.contains("max_tokens"), "{message}");
    assert!(message.ends_with("at most 65534"), "{message}");
}

/// L17: engines have names of their own.
#[test]
fn errors_of_engines_get_our_names() {
    let vllm = br#"{"type":"error","error":{"type":"BadRequestError","message":"max_completion_tokens is too large"}}"#;
    assert_eq!(from_engine(400, vllm, None).kind, ErrorKind::InvalidRequest);
    let missing = br#"{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","code":404}"#;
    let error = from_engine(404, missing, None);
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::NotFound, "The model `x` does not exist."));
    let llama = br#"{"error":{"code":500,"message":"messages is required","type":"server_error"}}"#;
    assert_eq!(from_engine(500, llama, None).kind, ErrorKind::BadGateway);
    assert_eq!(from_engine(401, b"bad key", None).kind, ErrorKind::BadGateway);
    let wait = from_engine(429, b"", Some(287_441_000)).headers();
    assert!(wait.contains(&(header::RETRY_AFTER, "60".to_owned())));
    assert_eq!(from_engine(503, b"", None).status(), 529);
    assert_eq!(
        in_stream(r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#).kind,
        ErrorKind::Overloaded
    );
    assert_eq!(in_stream("oops").kind, ErrorKind::BadGateway);
}

#[test]
fn no_address_and_no_key_gets_out() {
    for secret in [
        "http://10.0.0.7:8000/v1",
        "10.0.0.7:8000",
        "10.0.0.7",
        "(192.168.1.2)",
        "[fe80::1]:80",
        "gpu-node-3.cluster.local:8000",
        "localhost:9000",
        "'/var/lib/models/gemma.gguf'",
        "sk-ant-0123456789",
        "Bearer abcdef",
        "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
    ] {
        let cleaned = clean(&format!("error sending request to {secret}, try 3 times"));
        assert!(!cleaned.contains(secret) && cleaned.contains("[...]"), "{cleaned}");
        assert!(cleaned.starts_with("error sending request to") && cleaned.ends_with("try 3 times"), "{cleaned}");
    }
    assert!(ApiError::no_model("x").body(Dialect::OpenAi, "r").contains(r#""code":"model_not_found""#));
    for plain in [
        "messages.0.content: too long (max 100)",
        "use /v1/messages",
        "at 12:30 ratio 1:2",
        "claude-sonnet-4-5-20250929",
    ] {
        assert_eq!(clean(plain), plain);
    }
    assert!(clean(&"x ".repeat(10_000)).len() <= 1_000);
}

proptest! {
    #[test]
    fn whatever_an_engine_says_can_be_told(
        status in 400..600u16,
        body in prop::collection::vec(any::<u8>(), 0..200),
        text in "\\PC{0,200}",
    ) {
        for body in [body, serde_json::json!({"error": {"message": text, "type": text}}).to_string().into_bytes()] {
            let error = from_engine(status, &body, None);
            prop_assert!(error.status() >= 400 && !error.message.is_empty());
            let envelope: serde_json::Value = serde_json::from_str(&error.body(Dialect::Anthropic, &text)).unwrap();
            prop_assert_eq!(envelope["error"]["message"].as_str(), Some(error.message.as_str()));
        }
        let cleaned = clean(&text);
        prop_assert!(cleaned.chars().count() <= 1_100 && !cleaned.contains('\0'));
        in_stream(&text);
    }
}
