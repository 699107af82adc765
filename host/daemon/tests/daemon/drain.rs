//! The end of a daemon: nobody who came is lost.
use crate::common::client::{get, request, Connection};
use crate::common::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drain_loses_no_request() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\nfirst_token_ms = 2\noutput_token_ms = 1\n")).await;
    let at = address(&daemon);
    let app = daemon.app().clone();
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..16)
        .map(|i| {
            let stop = stop.clone();
            tokio::spawn(async move {
                let mut done = 0;
                // each request on a new connection: a connection that was not accepted has not come
                while !stop.load(Relaxed) {
                    let Ok(socket) = tokio::net::TcpStream::connect(at).await else { break };
                    let mut connection = Connection::new(socket);
                    let text = request("POST", "/v1/messages", &[], &messages("one two three four", i % 2 == 0));
                    if connection.socket.write_all(text.as_bytes()).await.is_err() {
                        break;
                    }
                    let Some(reply) = connection.reply().await else { break };
                    assert_eq!((reply.status, reply.said().as_str()), (200, "one two three four"));
                    done += 1;
                }
                done
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    daemon.drain().await;
    stop.store(true, Relaxed);
    let mut done = 0;
    for client in clients {
        done += client.await.unwrap();
    }
    assert!(done > 16, "{done}");
    assert_eq!(app.metrics.requests.get(), done, "every request that came was answered whole");
    assert_eq!(app.metrics.at_rest(), Ok(()));
}

#[tokio::test]
async fn a_stream_runs_on_and_idle_connections_close() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\noutput_token_ms = 20\n")).await;
    let mut idle = Connection::open(address(&daemon)).await;
    idle.send(request("HEAD", "/", &[], "")).await;
    assert_eq!(idle.head().await.unwrap().status, 200);
    let mut running = Connection::open(address(&daemon)).await;
    let said = "word ".repeat(10);
    running.send(request("POST", "/v1/messages", &[], &messages(&said, true))).await;
    eventually("it runs", || (daemon.app().decider.running() == 0).then_some(())).await;
    let at = address(&daemon);
    let drained = tokio::spawn(daemon.drain());
    assert!(idle.is_closed().await);
    assert_eq!(running.reply().await.unwrap().said(), said);
    drained.await.unwrap();
    assert!(tokio::net::TcpStream::connect(at).await.is_err());
}

#[tokio::test]
async fn drain_wait_and_drain_timeout() {
    let limits = "[limits]\nprobe_interval_ms = 0\ndrain_wait_ms = 300\ndrain_timeout_ms = 100\n";
    let daemon = daemon(&format!("{limits}{ECHO}[engine.echo]\noutput_token_ms = 3600000\n")).await;
    let (at, admin, app) = (address(&daemon), daemon.admin_address().unwrap(), daemon.app().clone());
    let mut running = Connection::open(at).await;
    running.send(request("POST", "/v1/messages", &[], &messages("one two", true))).await;
    assert_eq!(running.head().await.unwrap().status, 200);
    assert_eq!(get(admin, "/ready").await.status, 200);
    let drained = tokio::spawn(daemon.drain());
    eventually("leaving", || (!app.leaving.load(Relaxed)).then_some(())).await;
    assert_eq!(get(admin, "/ready").await.status, 503);
    assert_eq!(get(admin, "/live").await.status, 200);
    let mut late = Connection::open(at).await;
    late.send(request("HEAD", "/", &[], "")).await;
    let reply = late.head().await.unwrap();
    assert_eq!(
        (reply.status, reply.header("connection")),
        (200, Some("close")),
        "served while others are told to go elsewhere"
    );
    drained.await.unwrap();
    assert_eq!(app.metrics.in_progress.get(), 1, "what runs beyond the limit is cut off with the process");
}

#[test]
fn sigterm_ends_the_process_after_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("[[listen]]\naddress = \"127.0.0.1:0\"\n{ECHO}[engine.echo]\noutput_token_ms = 30\n");
    std::fs::write(folder.path().join("f.toml"), text).unwrap();
    let mut process = crate::common::process::Process::start(&folder.path().join("f.toml"));
    let at = process.address();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut running = Connection::open(at).await;
        let said = "word ".repeat(10);
        running.send(request("POST", "/v1/messages", &[], &messages(&said, true))).await;
        running.head().await.unwrap();
        process.signal("TERM");
        process.wait_for("draining");
        let mut text = Vec::new();
        while let Some(chunk) = running.chunk().await.filter(|c| !c.is_empty()) {
            text.extend(chunk);
        }
        assert!(String::from_utf8(text).unwrap().ends_with("message_stop\"}\n\n"));
    });
    assert_eq!(process.wait_for("drained")["cut_off"], "0");
}
