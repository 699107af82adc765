//! What the log says of engines in trouble: enough, and no more.
use crate::common::client::post;
use crate::common::process::Process;
use crate::common::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

const REQUESTS: usize = 300;

/// Lines of this event.
fn lines(log: &str, event: &str) -> Vec<serde_json::Value> {
    let all = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    all.filter(|line| line["event"] == event).collect()
}

fn sum(lines: &[serde_json::Value], name: &str) -> u64 {
    lines.iter().map(|line| line[name].as_u64().unwrap()).sum()
}

/// The engine is there again; on a thread, as reading a log keeps the test's own.
fn comes_back(address: SocketAddr) {
    let listener = TcpListener::bind(address).unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let _ = socket.read(&mut [0; 1_024]);
            let _ = socket.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
        }
    });
}

/// A dead engine has a line for each change of its state, and one for what is wrong; all other failures are counted.
#[tokio::test]
async fn a_dead_engine_does_not_flood_the_log() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = free.local_addr().unwrap();
    drop(free);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    let limits = format!(
        "[limits]\nload_interval_ms = 0\nprobe_interval_ms = 10\nbreaker_open_ms = 10\nbreaker_failures = {REQUESTS}\n"
    );
    std::fs::write(&file, format!("{HEAD}{LISTEN}{limits}{}", engine("dead", "messages", dead))).unwrap();
    let mut process = Process::start(&file);
    let at = process.address();
    for _ in 0..REQUESTS {
        let status = post(at, "/v1/messages", &messages("x", false)).await.status;
        assert!([502, 503].contains(&status), "{status}");
    }
    let down = process.wait_for("engine_down");
    assert_eq!(down["engine"], "dead");
    comes_back(dead);
    let up = process.wait_for("engine_up");
    let log = process.end();
    let (said, downs, ups) = (lines(&log, "engine"), lines(&log, "engine_down"), lines(&log, "engine_up"));
    assert_eq!((downs.len(), ups.len()), (1, 1), "{log}");
    // one for the first failure; a machine that needs more than a minute for this gets one for each
    assert!((1..=5).contains(&said.len()), "{log}");
    let told = said.len() as u64 + sum(&said, "repeats") + sum(&downs, "repeats") + sum(&ups, "repeats");
    assert_eq!(told, up["failures"].as_u64().unwrap(), "{log}");
}
