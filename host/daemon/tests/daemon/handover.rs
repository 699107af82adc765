//! Listening sockets that are handed over: one process serves while the other drains, and nobody is refused.
use crate::common::client::{get, post, request, Connection};
use crate::common::process::Process;
use crate::common::*;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;

/// Sockets as systemd holds them, and a configuration with their addresses.
fn sockets(folder: &Path) -> [TcpListener; 2] {
    let sockets = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [listen, admin] = [0, 1].map(|i: usize| sockets[i].local_addr().unwrap());
    let text =
        format!("log.requests = false\n[[listen]]\naddress = \"{listen}\"\n[admin]\naddress = \"{admin}\"\n{ECHO}");
    std::fs::write(folder.join("f.toml"), text + "[engine.echo]\noutput_token_ms = 10\n").unwrap();
    sockets
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_serves_while_the_first_drains() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    let sockets = sockets(folder.path());
    let (at, admin) = (sockets[0].local_addr().unwrap(), sockets[1].local_addr().unwrap());
    let mut first = Process::start_with(&file, &sockets);
    assert_eq!(first.wait_for("listening")["socket"], "handed over");

    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let stop = stop.clone();
            tokio::spawn(async move {
                let mut done = 0;
                // each on a new connection: none may be refused, none lost
                while !stop.load(Relaxed) {
                    let reply = post(at, "/v1/messages", &messages("one two", done % 2 == 0)).await;
                    assert_eq!((reply.status, reply.said().as_str()), (200, "one two"));
                    done += 1;
                }
                done
            })
        })
        .collect();
    // runs on in the first process until it is let go
    let mut running = Connection::open(at).await;
    running.send(request("POST", "/v1/messages", &[], &messages(&"word ".repeat(2_000), true))).await;
    assert_eq!(running.head().await.unwrap().status, 200);

    let mut second = Process::start_with(&file, &sockets);
    assert_eq!(second.wait_for("listening")["socket"], "handed over");
    first.signal("TERM");
    first.wait_for("draining");
    first.wait_for("listeners_closed");
    for _ in 0..20 {
        assert_eq!(post(at, "/v1/messages", &messages("one two", false)).await.status, 200);
        let page = get(admin, "/metrics").await.text();
        assert!(page.contains("forebay_draining 0"), "the first process is out of the way");
    }
    assert!(running.chunk().await.is_some_and(|c| !c.is_empty()), "and still serves what it had begun");
    drop(running);
    assert_eq!(first.wait_for("drained")["cut_off"], "0");
    assert_eq!(post(at, "/v1/messages", &messages("one two", false)).await.status, 200);
    stop.store(true, Relaxed);
    let mut done = 0;
    for client in clients {
        done += client.await.unwrap();
    }
    assert!(done > 16, "{done}");
    second.end();
}

#[tokio::test]
async fn who_connects_between_two_processes_waits() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    let sockets = sockets(folder.path());
    let at = sockets[0].local_addr().unwrap();
    let mut first = Process::start_with(&file, &sockets);
    first.wait_for("listening");
    assert_eq!(post(at, "/v1/messages", &messages("hi", false)).await.status, 200);
    first.end();
    let mut waiting = Connection::open(at).await;
    waiting.send(request("POST", "/v1/messages", &[], &messages("hi", false))).await;
    let mut second = Process::start_with(&file, &sockets);
    second.wait_for("listening");
    assert_eq!(waiting.reply().await.unwrap().said(), "hi");
    second.end();
}

#[test]
fn a_socket_for_no_address_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.toml");
    let named = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let listen = named[0].local_addr().unwrap();
    std::fs::write(&file, format!("[[listen]]\naddress = \"{listen}\"\n{ECHO}")).unwrap();
    let said = Process::start_with(&file, &named).fails();
    let address = named[1].local_addr().unwrap().to_string();
    assert!(
        said.contains(&format!("a socket for {address} is handed over")) && said.contains("ListenStream="),
        "{said}"
    );
}

#[test]
fn the_socket_unit_has_the_addresses_of_the_example() {
    let unit = include_str!("../../examples/forebayd.socket");
    let streams: Vec<&str> = unit.lines().filter_map(|l| l.strip_prefix("ListenStream=")).collect();
    let example = include_str!("../../examples/forebayd.toml");
    let config = forebay_daemon::Config::parse("example", example, Path::new(".")).unwrap();
    let addresses = [config.listen[0].address, config.admin.unwrap()].map(|a| a.to_string());
    assert_eq!(streams, addresses);
}
