//! `forebay study` on a small made-up trace.
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

fn study(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.arg("study").arg("--traces").arg(folder).args(more).output().expect("it starts")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\n".to_owned();
    for i in 0..400 {
        let (prompt, output) = (100 + i * 37 % 3_000, 5 + i * 13 % 200);
        writeln!(text, "2023-11-16 18:{:02}:{:02}.5,{prompt},{output}", i / 60, i % 60).expect("text");
    }
    std::fs::write(folder.path().join("made-up.csv"), text).expect("written");
    std::fs::write(folder.path().join("lengths.csv"), "1,2\n").expect("written");
    folder
}

#[test]
fn table_lines_and_page_come_of_a_study() {
    let folder = folder();
    let (csv, page) = (folder.path().join("out/runs.txt"), folder.path().join("out/page.html"));
    let files = ["--csv", &csv.to_string_lossy(), "--report", &page.to_string_lossy()].map(str::to_owned);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let ask = ["--policy", "burst,least-loaded", "--loads", "0.5,1.1"];
    let done = study(folder.path(), &[&ask[..], &files[..]].concat());
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{err}");
    assert!(err.contains("lengths.csv: line 1"), "{err}");
    for name in ["oracle ", "burst ", "least-loaded "] {
        assert!(out.lines().any(|line| line.starts_with(name)), "{out}");
    }
    let lines = std::fs::read_to_string(csv).expect("written");
    assert_eq!(lines.lines().count(), 1 + 3 * 2, "{lines}");
    let page = std::fs::read_to_string(page).expect("written");
    assert_eq!(page.matches("<svg").count(), 3);
    assert!(!page.contains("src=") && !page.contains("<script"), "nothing comes from outside");
}

#[test]
fn what_cannot_be_run_is_named() {
    let folder = folder();
    for (more, says) in [
        (["--policy", "best"], "--policy best: there is no such policy, but burst, "),
        (["--loads", "9"], "--loads 9: a load is 0.05 to 4"),
        (["--nodes", "65"], "nodes are 1 to 64"),
    ] {
        let done = study(folder.path(), &more);
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && err.contains(says), "{err}");
    }
}

/// What is printed, but for the lines about the device.
#[cfg(feature = "sim")]
fn numbers(out: &str) -> String {
    let of_device = |line: &&str| !line.starts_with("device ") && !line.starts_with("clocks ");
    out.trim_end().lines().filter(of_device).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[cfg(feature = "sim")]
#[test]
fn a_study_on_the_simulation_comes_to_the_same() {
    let folder = folder();
    let ask = ["--policy", "burst,burst-strict,least-loaded", "--loads", "0.9,1.3", "--requests", "150"];
    let more = ["--nodes", "4", "--slots", "20", "--scene", "clients,pools,outages"];
    let run = |device: &str| {
        let done = study(folder.path(), &[&ask[..], &more[..], &["--device", device]].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let (twin, sim) = (run("twin"), run("sim"));
    assert_eq!(numbers(&twin), numbers(&sim));
    // 4 of the table, 12 with clients, 2 with pools, 2 with outages
    assert!(sim.contains(" events of 20 runs, every verdict and number equal"), "{sim}");
    assert!(sim.contains("clocks       an event every 6, its verdict 24 later, at each event"), "{sim}");
    assert!(!twin.contains("every verdict"), "{twin}");
}

#[cfg(feature = "sim")]
#[test]
fn what_the_simulation_has_no_room_for_is_named() {
    let folder = folder();
    for (more, says) in [
        (&["--nodes", "9"][..], "1 pool(s) of 9 nodes of 32 slots do not fit the simulated scheduler"),
        (&["--slots", "33"], "give --nodes of at most 8 and --slots of at most 32"),
        (&["--scene", "pools"], "2 pool(s) of 8 nodes of 32 slots do not fit"),
        (&["--policy", "srpt"], "--device sim --policy srpt: only burst and burst-strict run on it"),
    ] {
        let done = study(folder.path(), &[more, &["--device", "sim"]].concat());
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && err.contains(says), "{err}");
    }
}

#[cfg(not(feature = "sim"))]
#[test]
fn a_build_without_the_simulation_says_so() {
    let done = study(folder().path(), &["--device", "sim"]);
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && err.contains("this build has no simulation; build with --features sim"), "{err}");
}
