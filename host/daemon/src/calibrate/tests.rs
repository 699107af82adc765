#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail aloud")]

use super::*;
use crate::config::Config;
use std::path::Path;

/// An echo engine of this pace, and what measures it. The clock of these tests stands while anything can be done, so that
/// what is found is what the engine's pauses come to, on any machine.
fn echo(settings: &str) -> (Arc<Engine>, Limits, Plan) {
    let text = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[engine]]\nname = \"e\"\nkind = \"echo\"\n[engine.echo]\n{settings}\n"
    );
    let config = Config::parse("test", &text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    let engine = Engine::new(config.engines[0].clone(), &config.limits).unwrap();
    (Arc::new(engine), config.limits, Plan::of("m".to_owned()))
}

async fn measured(settings: &str, change: impl Fn(&mut Plan)) -> Result<Figures, Unmeasured> {
    let (engine, limits, mut plan) = echo(settings);
    change(&mut plan);
    measure(&engine, &limits, &plan, |_| {}).await
}

/// Timers go by whole milliseconds, each rounded up: 1 ms on a pause.
const TIMER_MS: f64 = 1.0;

#[tokio::test(start_paused = true)]
async fn figures_of_an_engine_of_known_pace_are_its_pace() {
    for (places, prefill, token_ms) in [(3, 20_000, 25), (1, 1_000, 40), (64, 100_000, 7), (100, 2_000, 200)] {
        let settings = format!(
            "places = {places}\nprefill_tokens_per_s = {prefill}\noutput_token_ms = {token_ms}\nfirst_token_ms = 30"
        );
        let found = measured(&settings, |_| {}).await.unwrap();
        assert_eq!((found.requests_max, found.is_limit), (places, true), "{settings}");
        // the difference of two pauses, of which each may be off by the timer
        let pause_ms = (4_096.0 - 512.0) / prefill as f64 * 1e3;
        let off = 2.0 * TIMER_MS / (pause_ms - 2.0 * TIMER_MS);
        let ratio = found.prefill_tokens_s as f64 / prefill as f64;
        assert!((1.0 - off..=1.0 + off).contains(&ratio), "{settings}: {found:?}");
        for ms in [found.output_token_ms as f64, found.alone_output_token_ms] {
            assert!((token_ms as f64..=token_ms as f64 + TIMER_MS).contains(&ms), "{settings}: {found:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_runs_all_that_is_tried_is_no_limit() {
    let pace = "prefill_tokens_per_s = 5000\noutput_token_ms = 10";
    for most in [1, 2, 7] {
        let found = measured(pace, |plan| plan.at_once_max = most).await.unwrap();
        assert_eq!((found.requests_max, found.is_limit), (most as u64, false));
    }
    let steps = std::cell::Cell::new(0);
    let (engine, limits, plan) = echo(pace);
    let found = measure(&engine, &limits, &plan, |_| steps.set(steps.get() + 1)).await.unwrap();
    assert_eq!((found.requests_max, found.is_limit, steps.get()), (REQUESTS_MAX, false, plan.steps()));
    // what was measured has ended
    assert_eq!(engine.running.get(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_engine_whose_answers_say_nothing_is_refused_with_the_reason() {
    let pace = "prefill_tokens_per_s = 5000\noutput_token_ms = 10";
    for (settings, part) in [
        ("".to_owned(), "came all at once"),
        ("output_token_ms = 10".to_owned(), "no longer"),
        (format!("{pace}\nfault = \"status_500\""), "answers 500"),
        (format!("{pace}\nfault = \"garbage\""), "its reply is none"),
        (format!("{pace}\nfault = \"cut\""), "its reply is none"),
        (format!("{pace}\nfault = \"error\""), "its reply is none"),
        (format!("{pace}\nfault = \"stall\""), "within 600000 ms"),
        // in the middle of what is measured
        (format!("{pace}\nfault = \"cut\"\nfault_every = 11\nfault_after_tokens = 1"), "its reply is none"),
    ] {
        let why = measured(&settings, |_| {}).await.unwrap_err().to_string();
        assert!(why.contains(part), "{settings}: {why}");
    }
    let why = measured(pace, |plan| plan.output_tokens = 7).await.unwrap_err();
    assert_eq!(why, Unmeasured::Short { tokens: 7, least: 8 });
}

/// Being refused is an answer when many ask at once, and none when one does.
#[tokio::test(start_paused = true)]
async fn requests_that_are_refused_do_not_run() {
    let pace = "prefill_tokens_per_s = 5000\noutput_token_ms = 10\nfault = \"status_429\"";
    assert!(matches!(measured(pace, |_| {}).await, Err(Unmeasured::Status { status: 429, .. })));
    // 1 reply, 6 prompts, 2, 4, then the fifteenth of all
    let found = measured(&format!("{pace}\nfault_every = 15"), |_| {}).await.unwrap();
    assert_eq!((found.requests_max, found.is_limit), (7, true));
}

const CONFIG: &str =
    "# mine\n[[listen]]\naddress = \"127.0.0.1:0\"   # any\n\n[[engine]]\nname = \"a\"\nkind = \"echo\"\n\
    requests_max = 9   # by hand\n# a note\n[engine.echo]\nplaces = 2\n\n[[engine]]\nname = 'b'\nkind = \"echo\"\n";

fn figures(requests_max: u64, prefill_tokens_s: u64) -> Figures {
    let pace = Pace { short: (1.0, 1.0), long: (2.0, 2.0) };
    Figures { requests_max, is_limit: true, prefill_tokens_s, output_token_ms: 33, alone_output_token_ms: 30.0, pace }
}

#[test]
fn the_rest_of_a_configuration_stays_as_it_was_written() {
    let file = Path::new("f.toml");
    let text = rewrite(file, CONFIG, &[("a".to_owned(), figures(5, 777)), ("b".to_owned(), figures(6, 888))]).unwrap();
    let expected = CONFIG.replace(
        "requests_max = 9   # by hand\n",
        "requests_max = 5   # by hand\nprefill_tokens_s = 777\noutput_token_ms = 33\n",
    ) + "requests_max = 6\nprefill_tokens_s = 888\noutput_token_ms = 33\n";
    assert_eq!(text, expected);
    let inline = "listen = [{address = \"127.0.0.1:0\"}]\nengine = [{name = \"a\", kind = \"echo\"}]\n";
    let text = rewrite(file, inline, &[("a".to_owned(), figures(5, 777))]).unwrap();
    assert!(text.contains("kind = \"echo\", requests_max = 5, prefill_tokens_s = 777"), "{text}");
    let error = rewrite(file, CONFIG, &[("c".to_owned(), figures(5, 777))]).unwrap_err();
    assert!(error.contains("engine \"c\" has gone"), "{error}");
    let bound = CONFIG.replace("# a note", "prefill_tokens_s_max = 20000");
    let error = rewrite(file, &bound, &[("a".to_owned(), figures(5, 30_000))]).unwrap_err();
    assert!(error.contains("not sound") && error.contains("prefill_tokens_s_max is 20000"), "{error}");
}

#[test]
fn a_file_is_exchanged_whole_behind_its_link_with_its_rights() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("f.toml"), folder.path().join("link.toml"));
    std::fs::write(&file, CONFIG).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    write(&link, &[("a".to_owned(), figures(5, 777))]).unwrap();
    assert!(link.is_symlink() && std::fs::read_to_string(&file).unwrap().contains("prefill_tokens_s = 777"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left lying about");
}
