//! Many at once, and many after each other: all whole, and memory and tasks do not grow with what has been.
use crate::common::client::{get, request, Connection};
use crate::common::process::Process;
use crate::common::*;
use forebay_spec::burst::NODE_SLOTS_MAX;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A process with these settings, and an admin listener whose address nobody else has.
fn process(folder: &Path, engine: &str) -> (Process, SocketAddr) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let own = std::process::id();
    let admin = format!("127.{}.{}.{}:9090", 1 + own % 200, (own >> 8) % 250, 1 + NEXT.fetch_add(1, Relaxed) % 250);
    let name = format!("{}.toml", NEXT.load(Relaxed));
    let text = format!(
        "log.requests = false\n[[listen]]\naddress = \"127.0.0.1:0\"\n[admin]\naddress = \"{admin}\"\n\
         [limits]\nprobe_interval_ms = 0\nretry_percent_max = 0\n{engine}"
    );
    std::fs::write(folder.join(&name), text).unwrap();
    (Process::start(&folder.join(&name)), admin.parse().unwrap())
}

async fn figure(admin: SocketAddr, name: &str) -> f64 {
    figures(&get(admin, "/metrics").await.text())[name]
}

/// Waits until nothing runs and no connection is open, but those that a daemon in front keeps, and checks the sums.
async fn process_at_rest(admin: SocketAddr) {
    let end = std::time::Instant::now() + PATIENCE;
    let behind = |mut figures: std::collections::BTreeMap<String, f64>| {
        if figures["forebay_connections"] <= CLIENTS as f64 {
            figures.insert("forebay_connections".to_owned(), 0.0);
        }
        complaint(&figures)
    };
    while let Some(still) = behind(figures(&get(admin, "/metrics").await.text())) {
        assert!(std::time::Instant::now() < end, "{still}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// Streams open at once.
const STREAMS: usize = 2_000;
/// Resident memory of the daemon for each of them, KiB: its socket's buffers are the kernel's.
const STREAM_KIB_MAX: u64 = 64;

/// Engines with places for all of them.
fn slow_echoes() -> String {
    let engine = |i| format!("[[engine]]\nname = \"e{i}\"\nkind = \"echo\"\n[engine.echo]\noutput_token_ms = 3000\n");
    (0..STREAMS.div_ceil(NODE_SLOTS_MAX)).map(engine).collect()
}

#[tokio::test]
async fn two_thousand_streams_at_once_are_whole_and_bounded() {
    let files = rlimit::increase_nofile_limit(8_192).unwrap();
    assert!(files as usize > STREAMS + 500, "{files} open files are allowed here; raise the hard limit");
    let folder = tempfile::tempdir().unwrap();
    // long enough that the first is still open when the last has come
    let (mut process, admin) = process(folder.path(), &slow_echoes());
    let at = process.address();
    let mut first = Connection::open(at).await;
    first.send(request("POST", "/v1/messages", &[], &messages("warm", true))).await;
    assert_eq!(first.reply().await.unwrap().said(), "warm");
    drop(first);
    process_at_rest(admin).await;
    let (before_kib, tasks) = (process.resident_kib(), figure(admin, "forebay_tasks").await);
    let mut open = Vec::new();
    for i in 0..STREAMS {
        let mut connection = Connection::open(at).await;
        let text = format!("this is {i} now indeed");
        let (target, body) = match i % 2 {
            0 => ("/v1/messages", messages(&text, true)),
            _ => ("/v1/chat/completions", chat(&text, true)),
        };
        connection.send(request("POST", target, &[], &body)).await;
        open.push((connection, text));
    }
    let end = std::time::Instant::now() + PATIENCE;
    while figure(admin, "forebay_streams").await < STREAMS as f64 {
        assert!(std::time::Instant::now() < end, "{} streams", figure(admin, "forebay_streams").await);
    }
    let (most_kib, most_tasks) = (process.resident_kib(), figure(admin, "forebay_tasks").await);
    let each_kib = most_kib.saturating_sub(before_kib) / STREAMS as u64;
    println!("{STREAMS} streams: {before_kib} KiB before, {most_kib} KiB with them, {tasks} and {most_tasks} tasks");
    assert!(each_kib <= STREAM_KIB_MAX, "{each_kib} KiB a stream");
    assert!(most_tasks - tasks <= STREAMS as f64 + 8.0, "{tasks} tasks before, {most_tasks} with the streams");
    for (connection, text) in &mut open {
        let reply = connection.reply().await.unwrap();
        let ends = ["message_stop\"}\n\n", "data: [DONE]\n\n"].iter().any(|end| reply.text().ends_with(end));
        assert!(ends && reply.said() == *text, "{text}: {}", reply.text());
    }
    drop(open);
    process_at_rest(admin).await;
    assert!(figure(admin, "forebay_tasks").await <= tasks + 2.0);
    process.end();
}

/// Clients at once of the long run.
const CLIENTS: usize = 8;

/// What clients do, in turn: both APIs, whole and streamed, wrong, and leaving in the middle.
async fn client(at: SocketAddr, requests: usize) {
    let mut connection = Connection::open(at).await;
    for i in 0..requests {
        let (target, body) = match i % 5 {
            0 => ("/v1/messages", messages("one two three four", false)),
            1 => ("/v1/messages", messages("one two three four", true)),
            2 => ("/v1/chat/completions", chat("one two three four", true)),
            3 => ("/v1/chat/completions", chat("one two three four", false)),
            _ => ("/v1/messages", "{\"model\":3}".to_owned()),
        };
        connection.send(request("POST", target, &[], &body)).await;
        if i % 15 == 1 {
            assert_eq!(connection.head().await.unwrap().status, 200);
            connection = Connection::open(at).await;
            continue;
        }
        let reply = connection.reply().await.unwrap();
        let right = if i % 5 == 4 { reply.status == 400 } else { reply.said() == "one two three four" };
        assert!(right, "{i}: {}", reply.text());
    }
}

async fn clients(at: SocketAddr, requests: usize) {
    let all: Vec<_> = (0..CLIENTS).map(|_| tokio::spawn(client(at, requests / CLIENTS))).collect();
    for one in all {
        one.await.unwrap();
    }
}

/// Requests, all of them through two daemons, and how much their memory may have grown since the first fifth, percent.
/// Few requests leave the allocator no time to settle.
fn amounts() -> (usize, u64) {
    if slow() {
        (200_000, 5)
    } else {
        (10_000, 15)
    }
}

#[tokio::test]
async fn memory_stays_flat() {
    let (requests, percent_max) = amounts();
    let folder = tempfile::tempdir().unwrap();
    let (mut behind, behind_admin) = process(folder.path(), ECHO);
    let engine = engine("behind", "messages", behind.address());
    let (mut front, front_admin) = process(folder.path(), &engine);
    let at = front.address();
    clients(at, requests / 5).await;
    process_at_rest(front_admin).await;
    process_at_rest(behind_admin).await;
    let warm = [front.resident_kib(), behind.resident_kib()];
    clients(at, requests - requests / 5).await;
    process_at_rest(front_admin).await;
    process_at_rest(behind_admin).await;
    let end = [front.resident_kib(), behind.resident_kib()];
    println!("{requests} requests: {warm:?} KiB after a fifth, {end:?} KiB at the end (front, engine)");
    assert!(figure(front_admin, "forebay_requests_total").await >= requests as f64);
    for (warm, end) in warm.into_iter().zip(end) {
        assert!(end <= warm + warm * percent_max / 100, "{warm} KiB after the first fifth, {end} KiB at the end");
    }
    front.end();
    behind.end();
}
