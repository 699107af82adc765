//! Reload: taken whole, or refused whole.
use crate::common::client::{ask, post, request, Connection};
use crate::common::*;
use forebay_daemon::{Config, Daemon};
use std::path::Path;

fn write(folder: &Path, config: &str, policy: &str) {
    std::fs::write(folder.join("policy.toml"), policy).unwrap();
    let text = format!("policy = \"policy.toml\"\nlog.requests = false\n{LISTEN}{config}");
    std::fs::write(folder.join("f.toml"), text).unwrap();
}

async fn start(folder: &Path) -> Daemon {
    Daemon::start(Config::load(&folder.join("f.toml")).unwrap()).await.unwrap()
}

#[tokio::test]
async fn a_reload_takes_policy_engines_and_limits() {
    let folder = tempfile::tempdir().unwrap();
    let one =
        |key: &str| format!("[levels]\nlimits = [1, 1, 1, 1, 1, 1, 1, 1]\n[[tenant]]\nname = \"t\"\nkey = \"{key}\"\n");
    write(folder.path(), ECHO, &one("old"));
    let daemon = start(folder.path()).await;
    let at = address(&daemon);
    let body = messages("hi", false);
    for round in 0..6 {
        let (key, other) = if round % 2 == 0 { ("old", "new") } else { ("new", "old") };
        assert_eq!(ask(at, "POST", "/v1/messages", &[("x-api-key", key)], &body).await.status, 200);
        assert_eq!(ask(at, "POST", "/v1/messages", &[("x-api-key", other)], &body).await.status, 401);
        write(folder.path(), &format!("[limits]\nbody_bytes_max = 2048\n{ECHO}"), &one(other));
        daemon.reload().await.unwrap();
    }
    let long = messages(&"w ".repeat(2_000), false);
    assert_eq!(post(at, "/v1/messages", &long).await.status, 413);
    assert_eq!(daemon.app().metrics.reloads[0].get(), 6);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn a_bad_file_is_refused_whole_with_line_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ECHO, "");
    let daemon = start(folder.path()).await;
    let lines = LISTEN.lines().count() + 2;
    for (config, policy, line, part) in [
        (
            format!("[limits]\nbody_bytes_max = 2048\nnonsense = 1\n{ECHO}"),
            "",
            format!("f.toml:{}:", lines + 3),
            "no limit nonsense",
        ),
        (format!("{ECHO}kind2 = 3\n"), "", format!("f.toml:{}:", lines + 4), "kind2"),
        (ECHO.to_owned(), "\n\nmodel = 3\n", "policy.toml:3:".to_owned(), "sequence"),
        (format!("{ECHO}[[listen]]\naddress = \"127.0.0.1:0\"\n"), "", "f.toml".to_owned(), "restart"),
        (String::new(), "", "f.toml".to_owned(), "no [[engine]]"),
    ] {
        write(folder.path(), &config, policy);
        let error = daemon.reload().await.unwrap_err();
        assert!(error.contains(&line) && error.contains(part), "{error}");
        let long = messages(&"w ".repeat(2_000), false);
        assert_eq!(post(address(&daemon), "/v1/messages", &long).await.status, 200, "all is as before");
    }
    assert_eq!(daemon.app().metrics.reloads[1].get(), 5);
}

#[tokio::test]
async fn requests_under_way_live_through_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    let echo = format!("{ECHO}[engine.echo]\noutput_token_ms = 10\n");
    write(folder.path(), &echo, "");
    let daemon = start(folder.path()).await;
    let said = "word ".repeat(30);
    let mut running = Connection::open(address(&daemon)).await;
    running.send(request("POST", "/v1/messages", &[], &messages(&said, true))).await;
    running.head().await.unwrap();
    for _ in 0..5 {
        daemon.reload().await.unwrap();
    }
    assert_eq!(daemon.app().state().engines[0].running.get(), 1, "an engine that is as before keeps its counts");
    let mut text = String::new();
    while let Some(chunk) = running.chunk().await.filter(|c| !c.is_empty()) {
        text.push_str(&String::from_utf8(chunk).unwrap());
    }
    assert!(text.contains("message_stop"), "{text}");
    drop(running);
    at_rest(&daemon).await;
}

#[test]
fn sighup_reloads_the_process_and_a_bad_file_does_not_end_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ECHO, "");
    let mut process = crate::common::process::Process::start(&folder.path().join("f.toml"));
    let at = process.address();
    write(folder.path(), "[limits]\nbody_bytes_max = 0\n", "");
    process.signal("HUP");
    let why = process.wait_for("reload_refused")["why"].to_string();
    assert!(why.contains("body_bytes_max is 0") && why.contains("f.toml:8:"), "{why}");
    write(folder.path(), &format!("[limits]\nbody_bytes_max = 1024\n{ECHO}"), "");
    process.signal("HUP");
    process.wait_for("reloaded");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let long = messages(&"w ".repeat(2_000), false);
    assert_eq!(runtime.block_on(post(at, "/v1/messages", &long)).status, 413);
}
