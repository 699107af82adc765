//! Our style rules hold for the whole tree: the same check as `./x tidy`, so that `cargo test` shows it too.

use std::path::Path;
use std::process::Command;

#[test]
fn the_tree_is_tidy() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../x");
    let done = Command::new("python3").arg(script).arg("tidy").output().expect("python3 is on the path");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}
