//! Reload by itself, once a file of the configuration holds something else.
use crate::common::client::ask;
use crate::common::process::Process;
use crate::common::*;
use std::net::SocketAddr;
use std::path::Path;

const QUIET: &str = "[reload]\nquiet_ms = 20\n";

fn config(folder: &Path, more: &str) -> String {
    let text = format!("policy = \"policy.toml\"\nlog.requests = false\n{LISTEN}{more}{ECHO}");
    std::fs::write(folder.join("f.toml"), &text).unwrap();
    text
}

fn policy(folder: &Path, key: &str) {
    std::fs::write(folder.join("policy.toml"), format!("[[tenant]]\nname = \"t\"\nkey_file = \"{key}\"\n")).unwrap();
}

fn status(at: SocketAddr, key: &str) -> u16 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let headers = [("x-api-key", key)];
    runtime.block_on(ask(at, "POST", "/v1/messages", &headers, &messages("hi", false))).status
}

#[test]
fn every_file_counts_and_a_bad_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("one.key", "one");
    put("two.key", "two");
    policy(folder.path(), "one.key");
    let sound = config(folder.path(), QUIET);
    let mut process = Process::start(&folder.path().join("f.toml"));
    let at = process.address();
    assert_eq!((status(at, "one"), status(at, "two")), (200, 401));
    policy(folder.path(), "two.key");
    process.wait_for("reloaded");
    assert_eq!((status(at, "one"), status(at, "two")), (401, 200));
    put("two.key", "three");
    process.wait_for("reloaded");
    assert_eq!((status(at, "two"), status(at, "three")), (401, 200));
    // half a file, as an editor may leave it
    put("f.toml", &sound[..sound.len() - 8]);
    let refused = process.wait_for("reload_refused");
    assert!(refused["why"].as_str().unwrap().contains("f.toml:"), "{refused}");
    assert_eq!(status(at, "three"), 200);
    put("f.toml", &sound);
    process.wait_for("reloaded");
    std::fs::remove_file(folder.path().join("two.key")).unwrap();
    assert!(process.wait_for("reload_refused")["why"].as_str().unwrap().contains("two.key: cannot be read"));
    assert_eq!(status(at, "three"), 200, "all is as before");
}

#[test]
fn a_link_that_is_turned_and_a_file_renamed_over_another_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (version, key) in [("v1", "one"), ("v2", "two")] {
        std::fs::create_dir(path.join(version)).unwrap();
        std::fs::write(path.join(version).join("k"), key).unwrap();
        policy(&path.join(version), "k");
        config(&path.join(version), QUIET);
    }
    // as a ConfigMap is mounted: each file is a link through one link to the folder of the version
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, path.join(name)).unwrap();
    link("v1", "data");
    for name in ["f.toml", "policy.toml", "k"] {
        link(&format!("data/{name}"), name);
    }
    let mut process = Process::start(&path.join("f.toml"));
    let at = process.address();
    assert_eq!(status(at, "one"), 200);
    link("v2", "next");
    std::fs::rename(path.join("next"), path.join("data")).unwrap();
    process.wait_for("reloaded");
    assert_eq!((status(at, "one"), status(at, "two")), (401, 200));
    std::fs::write(path.join("v2/new"), "three").unwrap();
    std::fs::rename(path.join("v2/new"), path.join("v2/k")).unwrap();
    process.wait_for("reloaded");
    assert_eq!((status(at, "two"), status(at, "three")), (401, 200));
}

#[test]
fn with_watch_off_only_a_signal_reloads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, more) in [("on", QUIET), ("off", "[reload]\nwatch = false\nquiet_ms = 20\n")] {
        config(path, more);
        std::fs::rename(path.join("f.toml"), path.join(name)).unwrap();
    }
    std::fs::write(path.join("k"), "0").unwrap();
    policy(path, "k");
    let (mut on, mut off) = (Process::start(&path.join("on")), Process::start(&path.join("off")));
    // both have read their files before these change
    on.address();
    let at = off.address();
    for key in ["1", "2", "3"] {
        std::fs::write(path.join("k"), key).unwrap();
        on.wait_for("reloaded");
        assert_eq!((status(at, "0"), status(at, key)), (200, 401));
    }
    off.signal("HUP");
    off.wait_for("reloaded");
    assert_eq!((status(at, "0"), status(at, "3")), (401, 200));
    // switched on, and off again, by the file itself
    config(path, QUIET);
    std::fs::rename(path.join("f.toml"), path.join("off")).unwrap();
    off.signal("HUP");
    off.wait_for("reloaded");
    std::fs::write(path.join("k"), "4").unwrap();
    off.wait_for("reloaded");
    assert_eq!(status(at, "4"), 200);
}
