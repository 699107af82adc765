//! `forebay compile`: what it prints, what it writes, and that other commands read what it wrote.
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn forebay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(arguments).output().expect("the program")
}

fn prints(arguments: &[&str]) -> String {
    let output = forebay(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The one sentence of an error.
fn fails(arguments: &[&str]) -> String {
    let output = forebay(arguments);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/bundle/examples/policy.toml")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        std::fs::write(self.path(name), content).expect("a file");
        self.path(name)
    }
}

#[test]
fn a_policy_becomes_a_bundle_that_says_the_same() {
    let folder = Folder::new();
    let (policy, bundle) = (example().display().to_string(), folder.path("policy.bundle"));
    let text = prints(&["compile", &policy, "-o", &bundle]);
    for line in ["names        7 of 8", "classes      3 of 15", "models       2 of 255, table load 0.4 %"] {
        assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
    }
    let row =
        "max_tokens   unsigned  max_(completion_|output_)?tokens  max_completion_tokens max_output_tokens max_tokens";
    assert!(text.contains(&format!("{row}\n")), "{text}");
    assert!(text.contains("record       32 clocks from the last beat of a body, at most\n"), "{text}");
    assert!(text.contains("punts        value_bytes: the name of the model has more than 31 bytes"), "{text}");
    let bytes = std::fs::metadata(&bundle).expect("the bundle").len();
    assert!(text.ends_with(&format!("bundle       {bundle}, {bytes} bytes\n")), "{text}");

    // all but the first and the last line
    let middle =
        |text: &str| text.lines().skip(1).filter(|l| !l.starts_with("bundle ")).map(str::to_owned).collect::<Vec<_>>();
    let shown = prints(&["compile", "--show", &bundle]);
    assert_eq!(middle(&shown), middle(&text));
    assert!(shown.ends_with(&format!("bundle       {bytes} bytes, not written\n")), "{shown}");
    let again = folder.path("again.bundle");
    prints(&["compile", &bundle, "-o", &again]);
    let read = |path: &str| std::fs::read(path).expect("a bundle");
    assert!(read(&bundle) == read(&again), "a bundle compiled again is the same");
    assert!(!String::from_utf8_lossy(&read(&bundle)).contains("test-search-key"), "there are no keys in it");
}

#[test]
fn the_readme_shows_what_is_printed() {
    let folder = Folder::new();
    let readme = include_str!("../README.md");
    let (_, after) =
        readme.split_once("    $ forebay compile host/bundle/examples/policy.toml -o policy.bundle\n").expect("it");
    let shown: String =
        after.lines().map_while(|line| line.strip_prefix("    ")).map(|line| format!("{line}\n")).collect();
    let printed = prints(&["compile", &example().display().to_string(), "-o", &folder.path("policy.bundle")]);
    let folder = format!("{}/", folder.0.path().display());
    let from = example().display().to_string();
    assert_eq!(printed.replace(&folder, "").replace(&from, "host/bundle/examples/policy.toml"), shown);

    let error = readme.lines().find_map(|line| line.strip_prefix("    forebay: policy.toml:3:8: ")).expect("an error");
    let endless = Folder::new();
    let policy = endless.file("policy.toml", b"[[field]]\nfield = \"max_tokens\"\nname = 'max_[a-z]*tokens'\n");
    assert_eq!(fails(&["compile", &policy]), format!("forebay: {policy}:3:8: {error}\n"));
}

#[test]
fn json_says_the_same() {
    let policy = example().display().to_string();
    let v: Value = serde_json::from_str(&prints(&["compile", &policy, "--json"])).expect("one object");
    assert_eq!(v["names"][0]["names"], serde_json::json!(["max_completion_tokens", "max_output_tokens", "max_tokens"]));
    assert_eq!((&v["classes"][0]["name"], &v["classes"][0]["long"]), (&"haiku".into(), &true.into()));
    assert_eq!((&v["tables"]["limits"]["states"], &v["record_clocks"]), (&128.into(), &32.into()));
    assert_eq!((&v["punts"][0]["reason"], &v["bundle"]), (&"value_bytes".into(), &Value::Null));
    assert_eq!((&v["hot"]["entries"], &v["keys"]["entries"]), (&2.into(), &2.into()));
    assert_eq!(v["warnings"], serde_json::json!([]));
}

#[test]
fn without_patterns_nothing_is_left_to_software_by_them() {
    let folder = Folder::new();
    let text = prints(&["compile", &folder.file("empty.toml", b"")]);
    assert!(text.contains("patterns     none\n") && text.contains("punts        none by the patterns\n"), "{text}");
    assert!(text.contains("record       24 clocks from the last beat of a body, at most\n"), "{text}");
}

#[test]
fn long_lists_are_cut_and_filters_that_are_full_are_warned_of() {
    let folder = Folder::new();
    let models: String = (0..50).map(|i| format!("[[model]]\nname = \"m{i}\"\n")).collect();
    let hot: Vec<String> = (0..5_000).map(|i| format!("\"hot-{i}\"")).collect();
    let text =
        prints(&["compile", &folder.file("p.toml", format!("hot_models = [{}]\n{models}", hot.join(",")).as_bytes())]);
    assert!(text.contains(" m39") && !text.contains(" m40") && text.contains("and 10 more (all: --json)\n"), "{text}");
    assert!(text.contains("warning      the filter of hot models has 5000 entries and hits falsely at 4."), "{text}");
}

#[test]
fn errors_are_one_sentence() {
    let folder = Folder::new();
    let endless = folder.file("p.toml", b"[[field]]\nfield = \"max_tokens\"\nname = \"max_tokens+\"\n");
    let out = folder.path("out");
    let said = fails(&["compile", &endless, "-o", &out]);
    let expected =
        ":3:8: the pattern 'max_tokens+' stands for infinitely many names, the limit is 8; bound the repetition\n";
    assert!(said.ends_with(expected), "{said}");
    assert!(!Path::new(&out).exists());
    assert!(fails(&["compile", "/nonexistent/p"]).contains("/nonexistent/p: cannot be read"));
    assert!(fails(&["compile", &folder.file("x", b"\xff\xfe")])
        .contains("it is neither a policy, which is UTF-8 text, nor"));
    let example = example().display().to_string();
    assert!(fails(&["compile", &example, "-o", "/nonexistent/b"]).contains("/nonexistent/b: cannot be written"));

    let bundle = folder.path("b");
    prints(&["compile", &example, "-o", &bundle]);
    let mut bytes = std::fs::read(&bundle).expect("the bundle");
    bytes[500] ^= 1;
    let said = fails(&["compile", "--show", &folder.file("damaged", &bytes)]);
    assert!(said.contains("damaged: the bundle is refused: its checksum is "), "{said}");
    assert!(said.ends_with("take a copy that is whole, or make it again with forebay compile\n"), "{said}");
    // without anything, clap tells the use
    assert_eq!(forebay(&["compile"]).status.code(), Some(2));
}

#[test]
fn other_commands_take_a_bundle_for_a_policy() {
    let folder = Folder::new();
    let (policy, bundle) = (example().display().to_string(), folder.path("policy.bundle"));
    prints(&["compile", &policy, "-o", &bundle]);
    let body = folder.file("body", br#"{"max_completion_tokens":300,"model":"qwen3-32b"}"#);
    let explain = |policy: &str| prints(&["explain", &body, "--policy", policy, "--device", "twin"]);
    let text = explain(&bundle);
    assert_eq!(text, explain(&policy));
    assert!(text.contains("qwen3-32b"), "{text}");
}
