//! How tests are run: case counts, the fixed seed, the data folder.
use crate::generate::Choices;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::path::PathBuf;

/// `cases`, a hundred times as many with `FOREBAY_SLOW=1`.
pub fn scaled(cases: u32) -> u32 {
    if slow() {
        cases * 100
    } else {
        cases
    }
}

fn slow() -> bool {
    std::env::var("FOREBAY_SLOW").is_ok_and(|v| v == "1")
}

/// The folder of third-party test data, `FOREBAY_DATA`. Where it is not set, says so in the words that `./x test`
/// counts, and `test` is to return.
pub fn data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("FOREBAY_DATA").filter(|v| !v.is_empty());
    if folder.is_none() {
        eprintln!("forebay-skip: {test}: FOREBAY_DATA is not set");
    }
    folder.map(PathBuf::from)
}

/// Runs `check` on [`scaled`] `cases` sequences of up to `bytes_max` choices, from a seed that is always the same.
///
/// # Panics
/// With what `check` said, and the smallest sequence of choices that was found to make it say so.
pub fn for_cases(cases: u32, bytes_max: usize, check: impl Fn(&mut Choices<'_>) -> Result<(), String>) {
    for_so_many(scaled(cases), bytes_max, check);
}

/// The same for `cases`, or `slow_cases` with `FOREBAY_SLOW=1`: where a hundred times as many take too long.
///
/// # Panics
/// As [`for_cases`].
pub fn for_cases_or(
    cases: u32,
    slow_cases: u32,
    bytes_max: usize,
    check: impl Fn(&mut Choices<'_>) -> Result<(), String>,
) {
    for_so_many(if slow() { slow_cases } else { cases }, bytes_max, check);
}

fn for_so_many(cases: u32, bytes_max: usize, check: impl Fn(&mut Choices<'_>) -> Result<(), String>) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let result = TestRunner::new_with_rng(config, rng)
        .run(&vec(any::<u8>(), 0..=bytes_max), |bytes| check(&mut Choices::new(&bytes)).map_err(TestCaseError::fail));
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, bytes)) => panic!("{reason}\n  choices: {}", shown(&bytes)),
        Err(TestError::Abort(reason)) => panic!("aborted: {reason}"),
    }
}

/// Bytes for a message: printable ones as they are, the others escaped, cut in the middle when there are many.
pub fn shown(bytes: &[u8]) -> String {
    const WHOLE_MAX: usize = 600;
    if bytes.len() <= WHOLE_MAX {
        return bytes.escape_ascii().to_string();
    }
    let (head, tail) = (&bytes[..WHOLE_MAX / 2], &bytes[bytes.len() - WHOLE_MAX / 2..]);
    format!("{} ... {} ({} bytes)", head.escape_ascii(), tail.escape_ascii(), bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "over 99")]
    fn a_failing_case_is_shown() {
        for_cases(200, 8, |c| if c.byte() > 99 { Err("over 99".to_string()) } else { Ok(()) });
    }

    #[test]
    fn long_bytes_are_cut() {
        assert_eq!(shown(b"a\n"), "a\\n");
        assert!(shown(&[b'x'; 5000]).len() < 700);
    }
}
