//! What engines say of their load: what they had before takes places until their figures fall, and a full KV cache stops
//! what is to come.
use crate::common::client::{ask, get, post};
use crate::common::fake::{said, stream, whole, Fake};
use crate::common::*;
use forebay_daemon::Daemon;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

const VLLM: &str = include_str!("../fixtures/load/vllm.txt");

/// A page of vLLM with these figures.
fn vllm(running: u64, waiting: u64, kv: f64) -> String {
    let value = |line: &str| match line.split('{').next().unwrap() {
        "vllm:num_requests_running" if line.contains("\"0\"") => Some(running.to_string()),
        "vllm:num_requests_waiting" if line.contains("\"0\"") => Some(waiting.to_string()),
        "vllm:kv_cache_usage_perc" if line.contains("\"0\"") => Some(kv.to_string()),
        name if name.starts_with("vllm:num") || name.starts_with("vllm:kv") => Some("0".to_owned()),
        _ => None,
    };
    let lines = VLLM.lines().map(|line| match value(line) {
        Some(value) => format!("{} {value}\n", line.rsplit_once(' ').unwrap().0),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// An engine that says this of its load, and serves what comes; an empty page is no answer.
async fn loaded(page: String) -> (Fake, Arc<Mutex<String>>) {
    let page = Arc::new(Mutex::new(page));
    let told = page.clone();
    let fake = Fake::start_with(move |mut connection, text| {
        let page = told.lock().unwrap().clone();
        async move {
            if !text.starts_with("GET ") {
                connection.send(&stream(&said(&["ok"]))).await;
            } else if text.starts_with("GET /metrics ") && !page.is_empty() {
                connection.send(&whole(200, "text/plain; version=0.0.4", "connection: close\r\n", &page)).await;
            } else if !page.is_empty() {
                connection.send(&whole(404, "text/plain", "connection: close\r\n", "no")).await;
            }
        }
    })
    .await;
    (fake, page)
}

const QUICK: &str = "[limits]\nprobe_interval_ms = 0\nload_interval_ms = 10\n";

async fn value(daemon: &Daemon, name: &str) -> Option<f64> {
    figures(&get(daemon.admin_address().unwrap(), "/metrics").await.text()).get(name).copied()
}

async fn comes_to(daemon: &Daemon, name: &str, wanted: f64) {
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let found = value(daemon, name).await;
        if found == Some(wanted) {
            return;
        }
        assert!(std::time::Instant::now() < end, "{name} is {found:?}, not {wanted}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_an_engine_had_before_takes_places_until_its_figures_fall() {
    let (fake, page) = loaded(vllm(2, 2, 0.5)).await;
    let text = engine("e", "messages", fake.address) + "requests_max = 4\nprefill_tokens_s = 100000\n";
    let daemon = daemon(&format!("{QUICK}{BRIEF}{text}")).await;
    // before anybody was let in: two that run, and the prompts of the two that wait
    let used = value(&daemon, "forebay_node_used{engine=\"e\"}").await;
    let debt = value(&daemon, "forebay_node_debt_tokens{engine=\"e\"}").await;
    assert_eq!((used, debt), (Some(4.0), Some(2.0 * 800.0)));
    assert_eq!(value(&daemon, "forebay_node_seeded{engine=\"e\"}").await, Some(4.0));
    let refused = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    // one has ended: a place comes free, and the prompts of the others are worked off
    *page.lock().unwrap() = vllm(3, 0, 0.5);
    comes_to(&daemon, "forebay_node_used{engine=\"e\"}", 3.0).await;
    assert_eq!(value(&daemon, "forebay_node_debt_tokens{engine=\"e\"}").await, Some(0.0));
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 200);
    *page.lock().unwrap() = vllm(0, 0, 0.0);
    at_rest(&daemon).await;
    // later the engine's figures are no business of the places: whoever comes is counted here
    *page.lock().unwrap() = vllm(4, 9, 0.1);
    comes_to(&daemon, "forebay_engine_load_waiting{engine=\"e\"}", 9.0).await;
    assert_eq!(value(&daemon, "forebay_node_seeded{engine=\"e\"}").await, Some(0.0));
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 200);
    assert_eq!(value(&daemon, "forebay_seeded_total").await, Some(4.0));
    at_rest(&daemon).await;
}

/// Each engine of a pool gets its own; prompts that wait fill it up to what it may have at once.
#[tokio::test]
async fn what_each_engine_had_is_seated_there() {
    let (one, _) = loaded(vllm(7, 0, 0.5)).await;
    let (two, _) = loaded(include_str!("../fixtures/load/llamacpp.txt").to_owned()).await;
    let (three, _) = loaded(include_str!("../fixtures/load/sglang.txt").to_owned()).await;
    let engines = [("one", one.address), ("two", two.address), ("three", three.address)];
    let text: String = engines.map(|(name, at)| engine(name, "messages", at) + "models = [\"m\"]\n").concat();
    let daemon = daemon(&format!("{QUICK}{text}{ECHO}")).await;
    for (name, used) in [("one", 7.0), ("two", 4.0), ("three", 163.0), ("echo", 0.0)] {
        assert_eq!(value(&daemon, &format!("forebay_node_seeded{{engine=\"{name}\"}}")).await, Some(used), "{name}");
    }
    // a reload takes them along, and leaves behind those of an engine that it changes
    let changed = text.replacen("models = [\"m\"]", "models = [\"m\"]\nrequests_max = 9", 1);
    daemon.exchange(config(&format!("{QUICK}{changed}{ECHO}"), std::path::Path::new("."))).await.unwrap();
    for (name, used) in [("one", 0.0), ("two", 4.0), ("three", 163.0)] {
        assert_eq!(value(&daemon, &format!("forebay_node_used{{engine=\"{name}\"}}")).await, Some(used), "{name}");
    }
    assert_eq!(daemon.app().decider.status().await.unwrap().sound, Ok(()));
}

#[tokio::test]
async fn of_an_engine_that_tells_nothing_any_more_the_places_fade() {
    let (fake, page) = loaded(vllm(200, 0, 0.99)).await;
    let daemon = daemon(&format!("{QUICK}{}", engine("e", "messages", fake.address))).await;
    assert_eq!(value(&daemon, "forebay_node_kv_full{engine=\"e\"}").await, Some(1.0));
    page.lock().unwrap().clear();
    comes_to(&daemon, "forebay_node_used{engine=\"e\"}", 0.0).await;
    assert_eq!(value(&daemon, "forebay_node_kv_full{engine=\"e\"}").await, Some(0.0));
    assert_eq!(value(&daemon, "forebay_engine_kv_percent{engine=\"e\"}").await, None);
    assert!(value(&daemon, "forebay_engine_load_failures_total{engine=\"e\"}").await.unwrap() >= 3.0);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn a_full_kv_cache_stops_what_is_to_come_until_it_is_less() {
    let (fake, page) = loaded(vllm(0, 0, 0.80)).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.toml"), "[[tenant]]\nname = \"t\"\nkey = \"k\"\n").unwrap();
    let text = engine("e", "messages", fake.address) + "[[tenant]]\nname = \"t\"\ndebug = true\n";
    let text = format!("policy = \"p.toml\"\n{QUICK}[scheduler]\nmode = \"strict\"\nkv_full_percent = 80\n{text}");
    let daemon = daemon_in(&text, folder.path()).await;
    let asked = async || {
        let body = messages("x", false);
        ask(address(&daemon), "POST", "/v1/messages", &[("x-api-key", "k")], &body).await
    };
    let refused = asked().await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    let explained: serde_json::Value = serde_json::from_str(refused.header("x-forebay-debug").unwrap()).unwrap();
    assert_eq!((&explained["nodes"][0]["kv_full"], &explained["nodes"][0]["kv_percent"]), (&true.into(), &80.into()));
    assert_eq!(value(&daemon, "forebay_node_open{engine=\"e\"}").await, Some(0.0));
    *page.lock().unwrap() = vllm(0, 0, 0.79);
    comes_to(&daemon, "forebay_node_kv_full{engine=\"e\"}", 0.0).await;
    assert_eq!(asked().await.status, 200);
    at_rest(&daemon).await;
}

/// Of several parts that tell of one engine, one full and one empty, the full one counts, whatever comes last.
#[tokio::test]
async fn b13_the_fullest_part_of_an_engine_counts() {
    let turned: String = VLLM.lines().rev().map(|line| format!("{line}\n")).collect();
    for page in [VLLM.to_owned(), turned] {
        let (fake, _) = loaded(page).await;
        let daemon = daemon(&format!("{QUICK}{STRICT}{}", engine("e", "messages", fake.address))).await;
        assert_eq!(value(&daemon, "forebay_engine_kv_percent{engine=\"e\"}").await, Some(99.0));
        let refused = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
        assert_eq!(refused.status, 429, "{}", refused.text());
    }
}

/// Engines that take connections and say nothing do not keep the others from being asked.
#[tokio::test]
async fn b73_engines_that_do_not_answer_keep_no_other_from_being_asked() {
    const EACH: usize = 32;
    let hole = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let held = Arc::new(Mutex::new(Vec::new()));
    let (at, keep) = (hole.local_addr().unwrap(), held.clone());
    tokio::spawn(async move {
        while let Ok((socket, _)) = hole.accept().await {
            keep.lock().unwrap().push(socket);
        }
    });
    let (fake, _) = loaded(vllm(1, 0, 0.1)).await;
    let both = |i| engine(&format!("dead{i}"), "messages", at) + &engine(&format!("well{i}"), "messages", fake.address);
    let engines: String = (0..EACH).map(both).collect();
    let daemon = daemon(&format!("{QUICK}{engines}")).await;
    // were one to wait for another, an answer would take as long as 32 silent engines do
    let asked = || fake.seen.lock().unwrap().iter().filter(|text| text.starts_with("GET /metrics ")).count();
    eventually("each well one has told ten times", || (asked() < 10 * EACH).then(asked)).await;
    let page = figures(&get(daemon.admin_address().unwrap(), "/metrics").await.text());
    for i in 0..EACH {
        let age = |name: &str| page.get(&format!("forebay_engine_load_age_milliseconds{{engine=\"{name}{i}\"}}"));
        assert!(age("well").is_some() && age("dead").is_none(), "{page:?}");
    }
    // and no silent one is asked twice at once
    assert!(held.lock().unwrap().len() <= 3 * EACH, "{}", held.lock().unwrap().len());
}
