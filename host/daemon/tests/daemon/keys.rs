//! Keys of tenants: made by `key new`, exchanged without a gap.
use crate::common::client::{ask, request, Connection};
use crate::common::*;
use forebay_daemon::{Config, Daemon};
use std::path::Path;
use std::process::Command;

/// What `key new` prints: the key, and what the policy gets.
fn new_key(arguments: &[&str]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_forebayd")).args(["key", "new"]).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let keys: Vec<&str> = said.lines().filter(|l| l.starts_with("fbk_")).collect();
    let [key] = keys[..] else { panic!("one key: {said}") };
    assert_eq!(said.matches(key).count(), 1, "shown once");
    (key.to_owned(), said.replace(key, ""))
}

fn refused(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_forebayd")).args(["key", "new"]).args(arguments).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    String::from_utf8(output.stderr).unwrap()
}

fn write(folder: &Path, policy: &str) {
    std::fs::write(folder.join("policy.toml"), policy).unwrap();
    let tenant = "[[tenant]]\nname = \"search\"\nrequests_max = 1\n";
    let text = format!("policy = \"policy.toml\"\nlog.requests = false\naccess.anonymous = \"never\"\n{LISTEN}{ECHO}");
    std::fs::write(folder.join("f.toml"), text + "[engine.echo]\noutput_token_ms = 5\n" + tenant).unwrap();
}

async fn status(daemon: &Daemon, key: &str) -> u16 {
    ask(address(daemon), "POST", "/v1/messages", &[("x-api-key", key)], &messages("hi", false)).await.status
}

#[tokio::test]
async fn a_key_is_exchanged_without_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    let (old, policy) = new_key(&["--tenant", "search"]);
    write(folder.path(), &policy);
    let daemon = Daemon::start(Config::load(&folder.path().join("f.toml")).unwrap()).await.unwrap();
    assert_eq!(status(&daemon, &old).await, 200);

    let (new, lines) = new_key(&["--tenant", "search", "--policy", path.to_str().unwrap()]);
    assert!(!lines.contains("hash_key") && !lines.contains("[[tenant]]\n"), "both are there: {lines}");
    assert_eq!(status(&daemon, &new).await, 401);
    let tags =
        |text: &str| text.lines().find_map(|l| l.strip_prefix("tags = [")).unwrap().trim_end_matches(']').to_owned();
    let (first, second) = (tags(&policy), tags(&lines));
    write(folder.path(), &policy.replace(&first, &format!("{first}, {second}")));
    daemon.reload().await.unwrap();
    for key in [&old, &new, &old] {
        assert_eq!(status(&daemon, key).await, 200);
    }
    let said = refused(&["--tenant", "search", "--policy", path.to_str().unwrap()]);
    assert!(said.contains("tenant \"search\" has 2 keys, the limit is 2; remove"), "{said}");

    write(folder.path(), &policy.replace(&first, &second));
    daemon.reload().await.unwrap();
    assert_eq!((status(&daemon, &old).await, status(&daemon, &new).await), (401, 200));
    at_rest(&daemon).await;
}

#[tokio::test]
async fn both_keys_are_of_one_tenant() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "[[tenant]]\nname = \"other\"\nkey = \"o\"\n[[tenant]]\nname = \"search\"\nkey_file = \"keys\"\n",
    );
    std::fs::write(folder.path().join("keys"), "one\ntwo\n").unwrap();
    let daemon = Daemon::start(Config::load(&folder.path().join("f.toml")).unwrap()).await.unwrap();
    let names: Vec<_> = daemon.app().state().tenants.iter().map(|t| t.name.clone()).collect();
    assert_eq!(names, ["other", "search"]);
    let mut held = Connection::open(address(&daemon)).await;
    held.send(request("POST", "/v1/messages", &[("x-api-key", "two")], &messages(&"word ".repeat(400), true))).await;
    assert_eq!(held.head().await.unwrap().status, 200);
    assert_eq!((status(&daemon, "one").await, status(&daemon, "o").await), (429, 200), "requests_max counts for both");
    drop(held);
    eventually("its place is free", || (daemon.app().state().tenants[1].running.get() > 0).then_some(())).await;
    assert_eq!(status(&daemon, "one").await, 200);
    at_rest(&daemon).await;
}

#[test]
fn key_new_makes_what_a_policy_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    let file = path.to_str().unwrap();
    let (one, text) = new_key(&[]);
    let (two, _) = new_key(&[]);
    assert!(one != two && one.len() == 4 + 52, "{one}");
    assert!(text.contains("hash_key = \"") && text.contains("[[tenant]]\nname = \"default\"\ntags = [\""), "{text}");
    // a policy with a key in the clear and no hash key
    std::fs::write(&path, "[[tenant]]\nname = \"a\\\"b\"\nkey = \"k\"\n").unwrap();
    let (_, text) = new_key(&["--policy", file, "--tenant", "a\"b"]);
    assert!(text.contains("hash_key = \"") && !text.contains("\n[[tenant]]\n"), "{text}");
    // one that keeps its hash key elsewhere: the lines go behind it and are sound
    std::fs::write(folder.path().join("h"), "00112233445566778899AABBCCDDEEFF\n").unwrap();
    std::fs::write(&path, "hash_key_file = \"h\"\n").unwrap();
    let (key, text) = new_key(&["--policy", file, "--tenant", "search"]);
    assert!(!text.contains("hash_key"), "{text}");
    std::fs::write(&path, "hash_key_file = \"h\"\n".to_owned() + &text).unwrap();
    let policy = forebay_bundle::Policy::load(&path).unwrap();
    let tag = forebay_decide::tag::keyed_tag(&policy.bundle().hash_key, key.as_bytes());
    assert_eq!(policy.bundle().tenant(&tag).and_then(|key| policy.tenant_name(key)), Some("search"));

    assert!(refused(&["--policy", "no-such-file"]).contains("no-such-file: cannot be read"));
    std::fs::write(&path, "model = 3\n").unwrap();
    assert!(refused(&["--policy", file]).contains("policy.toml:1:"));
    std::fs::write(&path, policy.encode()).unwrap();
    assert!(refused(&["--policy", file]).contains("a compiled bundle; name the policy"));
}
