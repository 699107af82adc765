//! `forebay frames`: what it prints of captures, links without Ethernet, and what it refuses.
mod frames;

use frames::{frame, pcap, pcap_of, ACK, FIN, SYN};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const REQUEST: &[u8] = b"POST /v1/messages HTTP/1.1\r\ncontent-length: 17\r\n\r\n{\"max_tokens\": 5}";

fn forebay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).arg("frames").args(arguments).output().expect("the program")
}

/// What it prints, and what it warns of.
fn prints(arguments: &[&str]) -> (String, String) {
    let Output { status, stdout, stderr } = forebay(arguments);
    let warnings = String::from_utf8(stderr).expect("UTF-8");
    assert!(status.success(), "{arguments:?}: {warnings}");
    (String::from_utf8(stdout).expect("UTF-8"), warnings)
}

fn json(arguments: &[&str]) -> Vec<Value> {
    let (text, _) = prints(&[arguments, &["--json"]].concat());
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testbench/corpus/captures")
}

/// A handshake, a request in two segments, a FIN.
fn connection() -> Vec<Vec<u8>> {
    let (first, rest) = REQUEST.split_at(30);
    let end = 1_001 + REQUEST.len() as u32;
    vec![
        frame(true, SYN, 1_000, b""),
        frame(false, SYN | ACK, 5_000, b""),
        frame(true, ACK, 1_001, first),
        frame(true, ACK, 1_031, rest),
        frame(true, FIN | ACK, end, b""),
    ]
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).expect("a file");
        path.display().to_string()
    }
}

#[test]
fn every_frame_of_our_captures_ends_somewhere() {
    let folder = captures().display().to_string();
    let readings = json(&[&folder, "--device", "twin"]);
    assert!(readings.len() > 20);
    let sum = |v: &Value| v.as_object().expect("counts").values().filter_map(Value::as_u64).sum::<u64>();
    for r in &readings {
        assert_eq!(Some(sum(&r["ends"])), r["frames"].as_u64(), "{r}");
        // the captures end with all connections closed or given up
        assert!(r["opened"].as_u64() >= Some(sum(&r["closed"])), "{r}");
    }
    let of = |name: &str| readings.iter().find(|r| r["capture"] == name).expect("our capture").clone();
    let single = of("01_single_segment");
    assert_eq!((&single["opened"], &single["decided"]), (&40.into(), &40.into()));
    assert_eq!(of("04_out_of_order")["given_up"], serde_json::json!({"out_of_order": 8}));
    assert_eq!(of("06_expect_100")["punts"], serde_json::json!({"expect": 8}));
}

#[test]
fn links_without_ethernet_headers_are_framed() {
    let folder = Folder::new();
    let frames = connection();
    let cut =
        |from: usize, head: &[u8]| -> Vec<Vec<u8>> { frames.iter().map(|f| [head, &f[from..]].concat()).collect() };
    let cooked = [&[0; 14][..], &[8, 0]].concat();
    let cooked2 = [&[8, 0][..], &[0; 18]].concat();
    let links = [
        (1, frames.clone()),
        (101, cut(14, b"")),
        (0, cut(14, &[2, 0, 0, 0])),
        (113, cut(14, &cooked)),
        (276, cut(14, &cooked2)),
    ];
    for (link, packets) in links {
        let slices: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
        let path = folder.file("a.pcap", &pcap_of(link, 0xa1b2_c3d4, true, &slices));
        let reading = &json(&[&path, "--device", "twin"])[0];
        let expected = serde_json::json!({"syn": 1, "segment": 2, "other_port": 1, "fin": 1});
        assert_eq!((&reading["ends"], &reading["decided"]), (&expected, &1.into()), "link {link}");
    }
}

#[test]
fn a_table_and_the_sums_are_printed() {
    let folder = Folder::new();
    let path = folder.file("one.pcap", &pcap(&connection()));
    let (text, warnings) = prints(&[&path, "--device", "twin"]);
    let expected = "\
capture  ports  frames  segments  opened  given up  decided  passed  punted
one      80          5         2       1         0        1       0       0

device       twin
frames       5: fin 1, other_port 1, segment 2, syn 1
connections  opened 1; closed: fin 1; given up: none; given back 0
requests     decided 1, passed 0, punted: none; of connections given up, by software 0
";
    assert_eq!((text.as_str(), warnings.as_str()), (expected, ""));
    // another port is not read
    let (text, _) = prints(&[&path, "--device", "twin", "--port", "8000"]);
    assert!(text.contains("frames       5: other_port 5"), "{text}");
}

#[test]
fn what_is_wrong_is_said_once_and_what_is_good_is_used() {
    let folder = Folder::new();
    let whole = pcap(&connection());
    let cut = folder.file("cut.pcap", &whole[..whole.len() - 3]);
    let bad = folder.file("bad.pcap", b"no capture");
    let (text, warnings) = prints(&[&cut, &bad, "--device", "twin"]);
    assert!(text.contains("frames       4:"), "{text}");
    assert_eq!(warnings.lines().count(), 2, "{warnings}");
    assert!(warnings.contains("what stands before it was used") && warnings.contains("no pcap"), "{warnings}");
    let none = folder.file("none.pcap", &pcap(&[frame(true, SYN, 0, b"")]));
    let (_, warnings) = prints(&[&none, "--device", "twin"]);
    assert!(warnings.contains("--port"), "{warnings}");
    let ports: Vec<&str> = ["--port", "1"].repeat(5);
    for (arguments, part) in [
        (vec![bad.as_str()], "no pcap"),
        ([&[cut.as_str()], &ports[..]].concat(), "the limit is 4"),
        (vec![&cut, "--port", "0"], "0"),
    ] {
        let output = forebay(&arguments);
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!output.status.success() && output.stdout.is_empty() && error.contains(part), "{error}");
    }
}

#[test]
fn a_connection_that_was_given_up_comes_back_at_its_next_request() {
    let folder = Folder::new();
    let bytes = REQUEST.len() as u32;
    let (first, rest) = REQUEST.split_at(30);
    let start = |request: u32| 1_001 + request * bytes;
    let one = |request: u32| frame(true, ACK, start(request), REQUEST);
    let frames = [
        frame(true, SYN, 1_000, b""),
        one(0),
        // the end of a request comes before its beginning
        frame(true, ACK, start(1) + 30, rest),
        frame(true, ACK, start(1), first),
        one(2),
        one(3),
        frame(true, FIN | ACK, start(4), b""),
    ];
    let path = folder.file("gap.pcap", &pcap(&frames));
    let reading = &json(&[&path, "--device", "twin"])[0];
    assert_eq!(reading["given_up"], serde_json::json!({"out_of_order": 1}));
    assert_eq!((&reading["resumed"], &reading["by_software"], &reading["decided"]), (&1.into(), &1.into(), &3.into()));
    assert_eq!(
        reading["ends"],
        serde_json::json!({"syn": 1, "segment": 3, "out_of_order": 1, "host_path": 1, "fin": 1})
    );
    // not in the middle of a request, and never when the gap stays
    let path = folder.file("never.pcap", &pcap(&[&frames[..3], &frames[4..]].concat()));
    let reading = &json(&[&path, "--device", "twin"])[0];
    assert_eq!((&reading["resumed"], &reading["by_software"], &reading["decided"]), (&0.into(), &0.into(), &1.into()));
}

#[test]
fn a_long_silence_is_cut_and_counted() {
    let folder = Folder::new();
    let frames = connection();
    let mut file = pcap(&frames);
    // the seconds of the last frame, behind the headers of all frames before
    let at = 24 + frames[..frames.len() - 1].iter().map(|f| 16 + f.len()).sum::<usize>();
    let seconds = u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    file[at..at + 4].copy_from_slice(&(seconds + 7_200).to_le_bytes());
    let path = folder.file("late.pcap", &file);
    let (text, _) = prints(&[&path, "--device", "twin"]);
    assert!(text.ends_with("time         1 silences of more than an hour, cut to an hour\n"), "{text}");
    // the connection was idle for too long, and its end is that of no connection
    let reading = &json(&[&path, "--device", "twin"])[0];
    assert_eq!((&reading["time_jumps"], &reading["closed"]), (&1.into(), &serde_json::json!({"idle": 1})));
}

#[cfg(feature = "sim")]
#[test]
fn the_simulated_rtl_says_the_same_after_every_frame() {
    let paths = ["03_pipelined.pcap", "04_overlap.pcap", "05_ipv4_fragments.pcap"]
        .map(|p| captures().join(p).display().to_string());
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let both = json(&[&paths[..], &["--device", "both"]].concat());
    assert_eq!(both, json(&[&paths[..], &["--device", "twin"]].concat()));
    assert_eq!(both[0]["decided"], 12);
}
