//! Who may come, and that nobody's key or prompt is told on.
use crate::common::client::{ask, post};
use crate::common::*;
use forebay_daemon::config::{Anonymous, Config};
use forebay_daemon::Daemon;

const POLICY: &str =
    "[[tenant]]\nname = \"one\"\nkey = \"key-of-one\"\n[[tenant]]\nname = \"two\"\nkey_file = \"two.key\"\n";

async fn with_tenants(more: &str) -> Daemon {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    std::fs::write(folder.path().join("two.key"), "key-of-two\n").unwrap();
    let text = format!("policy = \"policy.toml\"\n{ECHO}models = [\"m\", \"n\"]\n{more}");
    daemon_in(&text, folder.path()).await
}

#[tokio::test]
async fn keys_are_known_in_both_headers_and_unknown_ones_are_not() {
    let daemon = with_tenants("").await;
    let at = address(&daemon);
    let body = messages("hi", false);
    for headers in [
        &[("x-api-key", "key-of-one")][..],
        &[("authorization", "Bearer key-of-two")],
        &[("authorization", "bearer key-of-two"), ("x-api-key", "key-of-two")],
        &[],
    ] {
        assert_eq!(ask(at, "POST", "/v1/messages", headers, &body).await.status, 200, "{headers:?}");
    }
    for target in ["/v1/messages", "/v1/chat/completions", "/v1/messages/count_tokens"] {
        let reply = ask(at, "POST", target, &[("x-api-key", "key-of-three")], &body).await;
        assert_eq!((reply.status, reply.kind().as_str()), (401, "authentication_error"), "{}", reply.text());
        assert!(!reply.text().contains("key-of-three"));
        assert_eq!(reply.header("x-should-retry"), Some("false"));
    }
    let two = [("x-api-key", "key-of-one"), ("authorization", "Bearer key-of-two")];
    assert_eq!(ask(at, "POST", "/v1/messages", &two, &body).await.status, 400);
    assert_eq!(ask(at, "HEAD", "/", &[("x-api-key", "key-of-three")], "").await.status, 200, "a probe needs no key");
    at_rest(&daemon).await;
}

#[tokio::test]
async fn anonymous_is_for_those_that_the_configuration_names() {
    let outside = "192.0.2.7:1".parse().unwrap();
    let inside = "127.0.0.1:1".parse().unwrap();
    let mapped = "[::ffff:127.0.0.1]:1".parse().unwrap();
    for (mode, expected) in
        [(Anonymous::Never, [false; 3]), (Anonymous::Loopback, [false, true, true]), (Anonymous::Always, [true; 3])]
    {
        let mut config = config(ECHO, std::path::Path::new("."));
        config.anonymous = mode;
        let daemon = Daemon::start(config).await.unwrap();
        let state = daemon.app().state();
        for (peer, expected) in [outside, inside, mapped].into_iter().zip(expected) {
            for key in [None, Some(&b"any"[..])] {
                let allowed = forebay_daemon::access::tenant(&state, key, peer).is_ok();
                assert_eq!(allowed, expected, "{mode:?} {peer} {key:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_tenant_sees_and_gets_its_own_models_only() {
    let daemon = with_tenants("[[tenant]]\nname = \"one\"\nmodels = [\"n\"]\n").await;
    let at = address(&daemon);
    let one = [("x-api-key", "key-of-one")];
    let list = ask(at, "GET", "/v1/models", &one, "").await.json();
    assert_eq!((list["data"].as_array().unwrap().len(), list["data"][0]["id"].as_str()), (1, Some("n")));
    let reply = ask(at, "POST", "/v1/messages", &one, &messages("hi", false)).await;
    assert_eq!((reply.status, reply.kind().as_str()), (404, "not_found_error"));
    let reply = ask(at, "POST", "/v1/messages/count_tokens", &one, &messages("hi", false)).await;
    assert_eq!(reply.status, 404);
    assert_eq!(
        ask(at, "POST", "/v1/messages", &[("x-api-key", "key-of-two")], &messages("hi", false)).await.status,
        200
    );
}

/// The log of a daemon of its own process, with a request and an engine that fails.
#[test]
fn no_key_and_no_prompt_gets_into_the_log() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    std::fs::write(folder.path().join("two.key"), "key-of-two\n").unwrap();
    std::fs::write(folder.path().join("engine.key"), "key-of-engine\n").unwrap();
    let text = "policy = \"policy.toml\"\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[engine]]\nname = \"echo\"\nkind = \"echo\"\nmodels = [\"m\"]\n\
                [[engine]]\nname = \"gone\"\nkind = \"messages\"\nurl = \"http://127.0.0.1:9\"\nkey_file = \"engine.key\"\nmodels = [\"x\"]\n";
    std::fs::write(folder.path().join("f.toml"), text).unwrap();
    let mut process = crate::common::process::Process::start(&folder.path().join("f.toml"));
    let at = process.address();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for (headers, model) in [
            (&[("x-api-key", "key-of-one")][..], "m"),
            (&[("authorization", "Bearer key-of-nobody")], "m"),
            (&[("x-api-key", "key of blanks")], "m"),
            (&[("x-api-key", "key-of-two")], "x"),
        ] {
            let body = messages("a very private prompt", false).replace("\"m\"", &format!("\"{model}\""));
            ask(at, "POST", "/v1/messages?key=private-query", headers, &body).await;
        }
        post(at, "/v1/messages", "{\"private\": ").await;
    });
    let log = process.end();
    let lines: Vec<serde_json::Value> = log.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let requests: Vec<_> = lines.iter().filter(|l| l["event"] == "request").collect();
    assert_eq!(requests.len(), 5, "{log}");
    assert!(requests.iter().all(|l| l["request_id"].as_str().is_some_and(|id| id.starts_with("req_"))), "{log}");
    assert_eq!((requests[0]["tenant"].as_str(), requests[0]["outcome"].as_str()), (Some("one"), Some("admit")));
    for secret in ["key-of", "private", "key of"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn secrets_do_not_show_in_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k"), "engine-secret").unwrap();
    let text = "[[listen]]\naddress = \"127.0.0.1:0\"\n[[engine]]\nname = \"e\"\nkind = \"chat\"\nurl = \"http://h:1\"\nkey_file = \"k\"\n";
    let config = Config::parse("t", text, folder.path()).unwrap();
    assert_eq!(config.engines[0].key.as_ref().unwrap().reveal(), "engine-secret");
    assert!(!format!("{:?}", config.engines).contains("engine-secret"));
}
