//! `forebayd calibrate` as a command, against engines behind HTTP. What it finds is held to their pace in `src/calibrate`,
//! on a clock of its own; here the machine has a part in it.
use crate::common::fake::{chat_said, stream, Fake};
use crate::common::*;
use forebay_daemon::config::Config;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

async fn run(file: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebayd"));
    command.arg("calibrate").arg(file).args(["--prompt-words", "2000", "--output-tokens", "30", "--at-once-max", "8"]);
    command.args(more);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn written(folder: &Path, kind: &str, address: SocketAddr) -> PathBuf {
    let file = folder.join("f.toml");
    let engine = engine("behind", kind, address) + "models = [\"m\"]\noutput_token_ms = 9999 # to be found\n";
    std::fs::write(&file, format!("{LISTEN}[limits]\nrequest_timeout_ms = 60000\n{engine}")).unwrap();
    file
}

#[tokio::test]
async fn what_is_found_is_shown_and_written() {
    let pace = "[engine.echo]\nplaces = 3\nprefill_tokens_per_s = 2000\noutput_token_ms = 20\n";
    let behind = daemon(&format!("{ECHO}{pace}")).await;
    let folder = tempfile::tempdir().unwrap();
    for kind in ["chat", "messages"] {
        let file = written(folder.path(), kind, address(&behind));
        let before = std::fs::read_to_string(&file).unwrap();
        let (code, said, error) = run(&file, &["--dry-run", "--json"]).await;
        assert_eq!((code, error.as_str()), (Some(0), ""), "{said}");
        let told: Value = serde_json::from_str(&said).unwrap();
        let found = &told["engines"][0];
        assert_eq!((&told["written"], &found["output_token_ms"]["before"]), (&false.into(), &9_999.into()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
        let (code, said, error) = run(&file, &["--engine", "behind"]).await;
        assert_eq!((code, error.as_str()), (Some(0), ""), "{said}");
        let after = std::fs::read_to_string(&file).unwrap();
        let engine = &Config::parse("f", &after, folder.path()).unwrap().engines[0];
        // never more at once than there are places, and no pause is shorter than it is
        assert!((1..=3).contains(&engine.requests_max) && engine.output_token_ms >= 20, "{said}");
        assert!(engine.prefill_tokens_s < 10_000 && after.contains("# to be found"), "{said}{after}");
        for part in [format!("9999 -> {:>7}", engine.output_token_ms), "f.toml: written".to_owned()] {
            assert!(said.contains(&part), "{part} is not in {said}");
        }
        at_rest(&behind).await;
    }
}

#[tokio::test]
async fn an_engine_that_answers_nonsense_changes_nothing() {
    let uncounted = chat_said(&["a "; 40]).replace("\"prompt_tokens\":5", "\"prompt_tokens\":0");
    let fake = Fake::bytes(stream(&uncounted), 64).await;
    let other = Fake::bytes(b"HTTP/1.1 404 X\r\ncontent-length: 9\r\n\r\nnot\nhere!".to_vec(), 4_096).await;
    let folder = tempfile::tempdir().unwrap();
    for (address, part) in [
        (fake.address, "does not count the tokens of prompts"),
        (other.address, "answers 404: nothere!"),
        ("127.0.0.1:9".parse().unwrap(), "cannot be reached"),
    ] {
        let file = written(folder.path(), "chat", address);
        let before = std::fs::read_to_string(&file).unwrap();
        let (code, said, error) = run(&file, &[]).await;
        assert_eq!((code, said.as_str()), (Some(1), ""), "{error}");
        assert!(error.contains("engine \"behind\"") && error.contains(part), "{error}");
        assert!(error.contains("nothing is written") && std::fs::read_to_string(&file).unwrap() == before);
    }
    let file = written(folder.path(), "chat", fake.address);
    let (code, _, error) = run(&file, &["--engine", "gpu-7"]).await;
    assert!(code == Some(2) && error.contains("no engine \"gpu-7\"; its engines are behind"), "{error}");
    let text = std::fs::read_to_string(&file).unwrap().replace("models = [\"m\"]\n", "");
    std::fs::write(&file, text).unwrap();
    let (code, _, error) = run(&file, &[]).await;
    assert!(code == Some(2) && error.contains("name one with --model"), "{error}");
}
