//! The burst scheduler behind the daemon: who is held, bound, refused, given back, lost.
use crate::common::client::{ask, get, post, request, Connection, Reply};
use crate::common::fake::{end_of, said, stream, Fake};
use crate::common::*;
use forebay_daemon::{Config, Daemon};
use forebay_spec::burst::RefuseReason;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::TcpListener;

/// An engine for one request at a time that never comes to a second token.
const ONE: &str = "requests_max = 1\n[engine.echo]\noutput_token_ms = 3600000\n";
/// The longest time in the line that there is.
const LONG: &str = "[scheduler]\nhold_ms = 4095\n";

async fn run(daemon: &Daemon, body: &str) -> Connection {
    let connection = send(daemon, body).await;
    eventually("it runs", || (daemon.app().decider.running() == 0).then_some(())).await;
    connection
}

async fn send(daemon: &Daemon, body: &str) -> Connection {
    let mut connection = Connection::open(address(daemon)).await;
    connection.send(request("POST", "/v1/messages", &[], body)).await;
    connection
}

async fn held(daemon: &Daemon, count: u64) {
    eventually("held", || {
        let held = daemon.app().decider.gauges().held.load(Relaxed);
        (held != count).then_some(held)
    })
    .await;
}

fn queue_ms(reply: &Reply) -> u64 {
    assert_eq!(reply.header("x-forebay-layer"), Some("twin"));
    reply.header("x-queue-time").unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_held_request_gets_the_slot_that_comes_free() {
    let daemon = daemon(&format!("{LONG}{ECHO}{ONE}")).await;
    for stream in [true, false] {
        let first = run(&daemon, &messages("one two", true)).await;
        let mut second = send(&daemon, &messages("hi", stream)).await;
        held(&daemon, 1).await;
        drop(first);
        let reply = second.reply().await.unwrap();
        assert_eq!((reply.status, reply.said().as_str()), (200, "hi"), "{}", reply.text());
        assert!(queue_ms(&reply) >= 1);
        at_rest(&daemon).await;
    }
    let g = daemon.app().decider.gauges();
    assert_eq!((g.asked.load(Relaxed), g.admit.load(Relaxed), g.held_total.load(Relaxed)), (4, 4, 2));
    assert_eq!(queue_ms(&post(address(&daemon), "/v1/messages", &messages("hi", true)).await), 0);
}

#[tokio::test]
async fn the_end_of_the_longest_wait_is_a_429_with_its_numbers() {
    let daemon = daemon(&format!("[scheduler]\nhold_ms = 40\n{ECHO}{ONE}")).await;
    let first = run(&daemon, &messages("one two", true)).await;
    // nothing else comes: it is time alone that ends it
    for target in ["/v1/messages", "/v1/chat/completions"] {
        let reply = post(address(&daemon), target, &messages("hi", true)).await;
        assert_eq!(reply.status, 429, "{}", reply.text());
        let number = |name: &str| reply.header(name).unwrap().parse::<u64>().unwrap();
        let ms = number("retry-after-ms");
        assert!((20..=8_000).contains(&ms), "{ms}");
        assert_eq!(number("retry-after"), ms.div_ceil(1_000).max(1));
        let error = &reply.json()["error"];
        assert_eq!(error["retry_after_ms"].as_u64(), Some(ms));
        // one in flight, and the whole line is free
        assert_eq!(error["recommended_concurrency"].as_u64(), Some(17));
        assert_eq!((number("x-recommended-concurrency"), reply.header("x-forebay-limit")), (17, Some("hold_expired")));
        assert!(queue_ms(&reply) >= 40);
    }
    drop(first);
    at_rest(&daemon).await;
    assert_eq!(daemon.app().decider.gauges().refused_for(RefuseReason::HoldExpired), 2);
}

#[tokio::test]
async fn who_leaves_the_line_is_not_served() {
    let daemon = daemon(&format!("{LONG}{ECHO}{ONE}")).await;
    let first = run(&daemon, &messages("one two", true)).await;
    let waiting = [send(&daemon, &messages("a", true)).await, send(&daemon, &messages("b", false)).await];
    held(&daemon, 2).await;
    drop(waiting);
    held(&daemon, 0).await;
    let engine = daemon.app().state().engines[0].clone();
    assert_eq!((engine.requests.get(), daemon.app().decider.running()), (1, 1));
    drop(first);
    at_rest(&daemon).await;
    let g = daemon.app().decider.gauges();
    assert_eq!((g.admit.load(Relaxed), g.refused_for(RefuseReason::Withdrawn), g.refuse()), (1, 2, 0));
    assert_eq!(engine.requests.get(), 1);
}

fn of(model: &str, text: &str) -> String {
    messages(text, true).replace("\"model\":\"m\"", &format!("\"model\":\"{model}\""))
}

#[tokio::test]
async fn a_pool_that_is_full_or_dead_is_no_matter_to_another() {
    let pool =
        |name: &str, kind: &str| format!("[[engine]]\nname = \"{name}\"\nkind = \"{kind}\"\nmodels = [\"{name}\"]\n");
    let text = format!(
        "{LONG}[limits]\nprobe_interval_ms = 0\nbreaker_failures = 1\nbreaker_open_ms = 3600000\n{}{ONE}{}{}url = \"http://127.0.0.1:9\"\n",
        pool("full", "echo"),
        pool("well", "echo"),
        pool("dead", "messages"),
    );
    let daemon = daemon(&text).await;
    let at = address(&daemon);
    let first = run(&daemon, &of("full", "one two")).await;
    let second = send(&daemon, &of("full", "hi")).await;
    held(&daemon, 1).await;
    let (status, limit) = {
        let reply = post(at, "/v1/messages", &of("dead", "x")).await;
        (reply.status, reply.header("x-forebay-limit").map(str::to_owned))
    };
    assert_eq!((status, limit.as_deref()), (503, Some("engines_alive")), "it waited for another engine in vain");
    assert_eq!(post(at, "/v1/messages", &of("dead", "x")).await.status, 503);
    let reply = post(at, "/v1/messages", &of("well", "hello")).await;
    assert_eq!((reply.status, reply.said().as_str(), queue_ms(&reply)), (200, "hello", 0));
    drop((first, second));
    at_rest(&daemon).await;
}

async fn tenants(more: &str) -> Daemon {
    let folder = tempfile::tempdir().unwrap();
    let policy = "[[tenant]]\nname = \"t\"\nkey = \"k1\"\n[[tenant]]\nname = \"u\"\nkey = \"k2\"\n";
    std::fs::write(folder.path().join("p.toml"), policy).unwrap();
    let text = format!("policy = \"p.toml\"\n{LONG}{ECHO}{ONE}[[tenant]]\nname = \"t\"\n{more}");
    daemon_in(&text, folder.path()).await
}

#[tokio::test]
async fn limits_of_a_tenant_count_who_is_held_too() {
    let daemon = tenants("requests_max = 2\n").await;
    let at = address(&daemon);
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(at).await;
        connection.send(request("POST", "/v1/messages", &[("x-api-key", "k1")], &messages("one two", true))).await;
        kept.push(connection);
    }
    held(&daemon, 1).await;
    let reply = ask(at, "POST", "/v1/messages", &[("x-api-key", "k1")], &messages("x", true)).await;
    assert_eq!((reply.status, reply.header("x-forebay-limit")), (429, Some("tenant_requests_max")));
    assert_eq!(reply.header("x-recommended-concurrency"), Some("2"));
    let mut other = Connection::open(at).await;
    other.send(request("POST", "/v1/messages", &[("x-api-key", "k2")], &messages("x", true))).await;
    held(&daemon, 2).await;
    drop((kept, other));
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b03_declared_tokens_of_a_tenant_are_held_to_the_limit_and_not_before() {
    let body = messages("one two", true);
    let declared = body.len() as u64 / 4 + 64;
    let max = 10 * declared;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.toml"), "[[tenant]]\nname = \"t\"\nkey = \"k1\"\n").unwrap();
    let tenant = format!("[[tenant]]\nname = \"t\"\ntokens_max = {max}\nrequests_max = 11\n");
    let text = format!("policy = \"p.toml\"\n{ECHO}[engine.echo]\noutput_token_ms = 3600000\n{tenant}");
    let daemon = daemon_in(&text, folder.path()).await;
    let (at, key) = (address(&daemon), [("x-api-key", "k1")]);
    let mut kept = Vec::new();
    for _ in 0..10 {
        let mut connection = Connection::open(at).await;
        connection.send(request("POST", "/v1/messages", &key, &body)).await;
        assert_eq!(connection.head().await.unwrap().status, 200);
        kept.push(connection);
    }
    let reply = ask(at, "POST", "/v1/messages", &key, &body).await;
    assert_eq!((reply.status, reply.header("x-forebay-limit")), (429, Some("tenant_tokens_max")), "{}", reply.text());
    drop(kept.pop());
    eventually("one has left", || (daemon.app().decider.running() != 9).then_some(())).await;
    let short = messages("hi", true);
    assert_eq!(ask(at, "POST", "/v1/messages", &key, &short).await.status, 200);
    // what can never come within the limit is not told to come again
    let long = messages(&"w ".repeat(2 * max as usize), true);
    let reply = ask(at, "POST", "/v1/messages", &key, &long).await;
    assert_eq!((reply.status, reply.header("x-should-retry")), (400, Some("false")), "{}", reply.text());
    assert!(reply.message().contains("tenant_tokens_max") && reply.message().contains(&max.to_string()));
    drop(kept);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn the_decision_is_explained_to_those_who_may_see_it() {
    let daemon = tenants("debug = true\n").await;
    let at = address(&daemon);
    for (key, explained) in [("k1", true), ("k2", false)] {
        let reply = ask(at, "POST", "/v1/messages", &[("x-api-key", key)], &messages("x", true)).await;
        assert_eq!((reply.status, reply.header("x-forebay-debug").is_some()), (200, explained));
        if let Some(text) = reply.header("x-forebay-debug") {
            let v: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(
                (v["action"].as_str(), v["node"].as_u64(), v["held_ms"].as_u64()),
                (Some("admit"), Some(0), Some(0))
            );
            assert_eq!((v["nodes"][0]["used"].as_u64(), v["nodes"][0]["slots"].as_u64()), (Some(1), Some(1)));
            assert!(!text.contains("echo"), "no engine's name: {text}");
        }
    }
    at_rest(&daemon).await;
}

/// An engine that is gone as soon as it has a request: nobody can reach it any more, and of what it has nothing more comes.
/// It answers probes until then. `sent` is all that it sends.
async fn mortal(sent: Vec<u8>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let Ok((socket, _)) = listener.accept().await else { return };
            let mut connection = Connection::new(socket);
            let Some(text) = connection.request().await else { continue };
            if text.starts_with("GET /health") {
                connection.send("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
                continue;
            }
            drop(listener);
            connection.send(&sent).await;
            connection.is_closed().await;
            return;
        }
    });
    at
}

const WATCHED: &str = "[limits]\nprobe_interval_ms = 10\nbreaker_failures = 1\nbreaker_open_ms = 10\n";

#[tokio::test]
async fn a_request_without_output_is_given_back_once_when_its_engine_goes() {
    let well = Fake::bytes(stream(&said(&["well"])), 4_096).await;
    let text = engine("dies", "messages", mortal(Vec::new()).await) + &engine("well", "messages", well.address);
    let daemon = daemon(&format!("{WATCHED}{LONG}{text}")).await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
    assert_eq!((reply.status, reply.said().as_str()), (200, "well"), "{}", reply.text());
    at_rest(&daemon).await;
    let g = daemon.app().decider.gauges();
    assert_eq!((g.asked.load(Relaxed), g.admit.load(Relaxed), g.returned.load(Relaxed), g.freed()), (1, 2, 1, 1));
    assert_eq!(daemon.app().metrics.retries.get(), 0, "no retry: the scheduler gave it another engine");
}

#[tokio::test]
async fn a_request_with_output_is_lost_once_when_its_engine_goes() {
    let full = said(&["one ", "two"]);
    let head = stream(&full[..end_of(&full, "\"one \"")]);
    let dies = mortal(head).await;
    let daemon = daemon(&format!("{WATCHED}{LONG}{}{ECHO}", engine("dies", "messages", dies))).await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!((reply.status, reply.said().as_str()), (200, "one "));
    assert_eq!(reply.names().last().unwrap(), "error", "{}", reply.text());
    at_rest(&daemon).await;
    let g = daemon.app().decider.gauges();
    assert_eq!((g.lost[0].load(Relaxed), g.returned.load(Relaxed), g.freed()), (1, 0, 0));
    let page = get(daemon.admin_address().unwrap(), "/metrics").await.text();
    for line in [
        "forebay_lost_total{reason=\"node_gone\"} 1",
        "forebay_outcomes_total{outcome=\"lost\"} 1",
        "forebay_goodput_total{result=\"lost\"} 1",
        "forebay_burst_compliance_ratio 0.0000",
        "forebay_scheduler_sound 1",
    ] {
        assert!(page.contains(line), "{line}");
    }
}

fn write(folder: &Path, more: &str) {
    std::fs::write(folder.join("f.toml"), format!("log.requests = false\n{LISTEN}{more}")).unwrap();
}

#[tokio::test]
async fn who_is_held_lives_through_reloads() {
    let folder = tempfile::tempdir().unwrap();
    let with = |scheduler: &str, more: &str| write(folder.path(), &format!("{scheduler}{ECHO}{ONE}{more}"));
    with(LONG, "");
    let daemon = Daemon::start(Config::load(&folder.path().join("f.toml")).unwrap()).await.unwrap();
    let first = run(&daemon, &messages("one two", true)).await;
    let mut second = send(&daemon, &messages("hi", true)).await;
    held(&daemon, 1).await;
    let another = "[[engine]]\nname = \"b\"\nkind = \"echo\"\nmodels = [\"b\"]\n";
    for (scheduler, more) in [(LONG, ""), ("[scheduler]\nhold_ms = 4094\n", ""), (LONG, another), (LONG, "")] {
        with(scheduler, more);
        daemon.reload().await.unwrap();
        held(&daemon, 1).await;
        assert_eq!(daemon.app().decider.running(), 1);
    }
    drop(first);
    let reply = second.reply().await.unwrap();
    assert_eq!((reply.status, reply.said().as_str()), (200, "hi"), "{}", reply.text());
    at_rest(&daemon).await;
}

#[tokio::test]
async fn who_is_held_for_a_model_that_a_reload_takes_away_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &format!("{LONG}{ECHO}models = [\"m\"]\n{ONE}"));
    let daemon = Daemon::start(Config::load(&folder.path().join("f.toml")).unwrap()).await.unwrap();
    let first = run(&daemon, &messages("one two", true)).await;
    let mut second = send(&daemon, &messages("hi", true)).await;
    held(&daemon, 1).await;
    write(folder.path(), &format!("{LONG}{ECHO}models = [\"n\"]\n{ONE}"));
    daemon.reload().await.unwrap();
    let reply = second.reply().await.unwrap();
    assert_eq!((reply.status, reply.kind().as_str()), (404, "not_found_error"), "{}", reply.text());
    drop(first);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn sums_hold_whatever_a_crowd_does() {
    let text = format!(
        "[scheduler]\nhold_ms = 20\nheld_max = 4\n{ECHO}requests_max = 2\n[engine.echo]\noutput_token_ms = 2\n"
    );
    let daemon = daemon(&text).await;
    let at = address(&daemon);
    let one = |i: usize| async move {
        let mut statuses = Vec::new();
        for k in 0..12 {
            let mut connection = Connection::open(at).await;
            connection.send(request("POST", "/v1/messages", &[], &messages("a b c", (i + k).is_multiple_of(2)))).await;
            if (i + k).is_multiple_of(5) {
                tokio::time::sleep(std::time::Duration::from_millis((k % 7) as u64)).await;
                continue;
            }
            statuses.push(connection.reply().await.unwrap().status);
        }
        statuses
    };
    let all: Vec<_> = (0..12).map(|i| tokio::spawn(one(i))).collect();
    let mut statuses = Vec::new();
    for task in all {
        statuses.extend(task.await.unwrap());
    }
    assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    assert!(statuses.iter().all(|s| matches!(s, 200 | 429)), "{statuses:?}");
    at_rest(&daemon).await;
    let g = daemon.app().decider.gauges();
    assert!(g.held_total.load(Relaxed) > 0 && g.refuse() > 0);
}
