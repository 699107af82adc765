//! What all targets share: old inputs first, then new ones; the smallest that fails is kept.
use forebay_testbench::cases::shown;
use forebay_testbench::corpus;
use forebay_testbench::generate::Choices;
use std::fs;
use std::panic::{catch_unwind, AssertUnwindSafe, RefUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A target: makes input out of random bytes, checks input.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) executions: usize,
    pub(crate) make: fn(&mut Choices<'_>) -> Vec<u8>,
    pub(crate) check: fn(&[u8]) -> Result<(), String>,
}

/// Does `check` hold, and without a panic?
fn holds(target: &Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (target.check)(input))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("panic").to_string())
    })
}

fn keep(folder: &Path, input: &[u8], smallest: &AtomicUsize) {
    if smallest.fetch_min(input.len(), Ordering::SeqCst) > input.len() {
        fs::create_dir_all(folder).and_then(|()| fs::write(folder.join("found"), input)).unwrap();
    }
}

pub(crate) fn fuzz(target: &Target) {
    if std::env::var("FOREBAY_FUZZ_TARGET").is_ok_and(|t| !t.is_empty() && t != target.name) {
        return;
    }
    let seconds: Option<u64> = std::env::var("FOREBAY_FUZZ_SECONDS").ok().map(|s| s.parse().expect("whole seconds"));
    let folder = corpus::folder().join(target.name);
    let old = corpus::files(&folder).unwrap();
    for file in &old {
        holds(target, &file.bytes).unwrap_or_else(|e| panic!("{}/{}: {e}", target.name, file.name));
    }
    let (executions, smallest) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    run_bolero(seconds, target.executions, |bytes: &[u8]| {
        executions.fetch_add(1, Ordering::Relaxed);
        let input = (target.make)(&mut Choices::new(bytes));
        if let Err(error) = holds(target, &input) {
            keep(&folder, &input, &smallest);
            panic!("{}: {error}\n  input: {}", target.name, shown(&input));
        }
    });
    let executions = executions.load(Ordering::Relaxed);
    println!("{}: {} old inputs, {executions} executions", target.name, old.len());
    assert!(executions > 0, "{}: nothing was executed", target.name);
}

/// Random bytes that a target makes its input of. bolero's own slices have 64 at most: too few choices.
const INPUT_BYTES_MAX: usize = 1500;

fn run_bolero(seconds: Option<u64>, executions: usize, test: impl Fn(&[u8]) + RefUnwindSafe) {
    let executions = if seconds.is_some() { usize::MAX } else { executions };
    // a busy machine must not make the fixed number a smaller one
    let time = Duration::from_secs(seconds.unwrap_or(600));
    let bytes = bolero::produce::<Vec<u8>>().with().len(0..=INPUT_BYTES_MAX);
    bolero::check!()
        .with_iterations(executions)
        .with_test_time(time)
        .with_max_len(16 * INPUT_BYTES_MAX)
        .with_generator(bytes)
        .for_each(|bytes: &Vec<u8>| test(bytes));
}
