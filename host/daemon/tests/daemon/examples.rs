//! The files that go with the daemon, and what is said of files that are wrong.
use crate::common::*;
use forebay_daemon::config::{Config, Limits};
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = include_str!("../../examples/forebayd.toml");

/// The example with all that is commented out taken in; words for people are not `name = value`.
pub(crate) fn uncommented() -> String {
    let setting = |line: &str| {
        let text = line.trim_start_matches("# ");
        let name = text.split(" = ").next().unwrap_or_default();
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b"_0123456789".contains(&b));
        (is_name && text.contains(" = ") || text.starts_with("[[")).then(|| text.to_owned())
    };
    EXAMPLE
        .lines()
        .map(|l| if l.starts_with('#') { setting(l).unwrap_or_default() } else { l.to_owned() })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_example_is_sound_as_it_stands() {
    let config = Config::parse("example", EXAMPLE, Path::new(".")).unwrap();
    assert_eq!((config.listen.len(), config.engines.len()), (1, 1));
    assert_eq!(config.limits, Limits::default());
}

#[test]
fn the_example_names_every_limit_with_its_default() {
    let (_, limits) = EXAMPLE.split_once("[limits]\n").unwrap();
    let text =
        limits.lines().filter(|l| l.contains(" = ")).map(|l| l.trim_start_matches("# ")).collect::<Vec<_>>().join("\n");
    let names: Vec<&str> = text.lines().map(|l| l.split(" = ").next().unwrap()).collect();
    assert_eq!(names, Limits::NAMES);
    let config = config(&format!("[limits]\n{text}\n{ECHO}"), Path::new("."));
    assert_eq!(config.limits, Limits::default());
}

#[test]
fn every_setting_of_the_example_is_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    file("chain.pem", &cert.pem());
    file("ca.pem", &cert.pem());
    file("key.pem", &signing_key.serialize_pem());
    file("engine.key", "k");
    file("policy.toml", "[[tenant]]\nname = \"search\"\nkey = \"s\"\n");
    // a key comes from one place
    let text = uncommented().replace("key_env = \"ENGINE_KEY\"\n", "");
    let config = Config::parse("example", &text, folder.path()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!((config.engines.len(), config.tenants.len()), (2, 1));
    assert!(config.listen[0].tls.is_some() && config.engines[1].key.is_some());
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.default_max_tokens, 4_096);
    let stands = Config::parse("example", EXAMPLE, Path::new(".")).unwrap();
    assert_eq!(config.scheduler, stands.scheduler);
    let of =
        |c: &Config| (c.engines[0].requests_max, c.engines[0].prefill_tokens_s_bounds, c.engines[0].output_token_ms);
    assert_eq!(of(&config), of(&stands));
}

#[test]
fn b81_every_limit_is_held_to_its_range() {
    for name in Limits::NAMES {
        for value in ["-1", "\"many\"", "18446744073709551615", "1.5"] {
            let text = format!("[[listen]]\naddress = \"127.0.0.1:0\"\n{ECHO}[limits]\n{name} = {value}\n");
            let error = Config::parse("f.toml", &text, Path::new(".")).unwrap_err().to_string();
            assert!(error.starts_with("f.toml:7:") || error.contains("out of range"), "{name} {value}: {error}");
        }
    }
}

/// So many engines, each with a model of its own.
fn pools(count: usize) -> String {
    let one = |i| format!("[[engine]]\nname = \"e{i}\"\nkind = \"echo\"\nmodels = [\"m{i}\"]\n");
    (0..count).map(one).collect()
}

#[test]
fn errors_name_the_line_the_value_and_the_remedy() {
    let listen = "[[listen]]\naddress = \"127.0.0.1:0\"\n";
    for (text, parts) in [
        (ECHO.to_owned(), &["no [[listen]]", "127.0.0.1:8080"][..]),
        (listen.to_owned(), &["no [[engine]]", "echo"]),
        (format!("{listen}[[engine]]\nname = \"e\"\nkind = \"gpt\"\n"), &["f:5:8", "\"gpt\"", "\"chat\""]),
        (format!("{listen}[[engine]]\nname = \"e\"\nkind = \"chat\"\n"), &["f:3:", "no url", "http://"]),
        (
            format!("{listen}[[engine]]\nname = \"e\"\nkind = \"chat\"\nurl = \"http://u:pw@h\"\n"),
            &["f:6:7", "without key"],
        ),
        (format!("{listen}[[engine]]\nname = \"e e\"\nkind = \"echo\"\n"), &["f:4:8", "e e", "64"]),
        (format!("{listen}{ECHO}{ECHO}"), &["f:7:8", "twice"]),
        (format!("{listen}{ECHO}[engine.echo]\nfault = \"odd\"\n"), &["f:7:9", "\"odd\"", "garbage"]),
        (format!("{listen}{ECHO}[limits]\nrequests_max = 0\n"), &["f:7:16", "is 0", "from 1 to 1000000"]),
        (format!("{listen}{ECHO}requests_max = 257\n"), &["f:6:16", "is 257", "from 1 to 256"]),
        (
            format!("{listen}{ECHO}prefill_tokens_s = 9\nprefill_tokens_s_min = 10\n"),
            &["f:7:24", "is 10", "from 1 to 9"],
        ),
        (format!("{listen}{ECHO}[scheduler]\nmode = \"queue\"\n"), &["f:7:8", "\"queue\"", "\"strict\""]),
        (format!("{listen}{ECHO}[scheduler]\nhold_ms = 5000\n"), &["f:7:11", "is 5000", "from 1 to 4095"]),
        (format!("{listen}{ECHO}requests_max = 1\n{STRICT}"), &["f:6:16", "is 1", "give 2"]),
        (format!("{listen}{}", pools(9)), &["f: ", "9 pools", "limit is 8", "same list"]),
        (format!("{listen}{}[scheduler]\nheld_max = 4\n", pools(5)), &["held_max is 4", "at least 5"]),
        (format!("{listen}{}", pools(65)), &["65 engines", "limit is 64", "remove 1"]),
        (format!("{listen}{ECHO}[access]\nanonymous = \"all\"\n"), &["f:7:13", "\"all\"", "loopback"]),
        (format!("{listen}{ECHO}[[tenant]]\nname = \"t\"\n"), &["f:7:8", "no tenant \"t\""]),
        (format!("{listen}{ECHO}[scheduler]\ndevice = \"card\"\n"), &["f:7:10", "\"card\"", "\"twin\""]),
        (format!("policy = \"none.toml\"\n{listen}{ECHO}"), &["none.toml", "cannot be read"]),
        ("[[listen]]\naddress = \"localhost\"\n".to_owned() + ECHO, &["f:2:11", "localhost", "port"]),
        ("[[listen]]\naddress = \"127.0.0.1:0\"\nkey_file = \"k\"\n".to_owned() + ECHO, &["f:1:", "both"]),
        (format!("{listen}{ECHO}x = [\n"), &["f:6:"]),
    ] {
        let error = Config::parse("f", &text, Path::new("missing")).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{part:?} not in {error:?}");
        }
        assert!(!error.contains('\n') && !error.contains("pw"), "{error}");
    }
}

#[test]
fn check_says_what_is_wrong_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |text: &str| {
        let file = folder.path().join("f.toml");
        std::fs::write(&file, text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_forebayd")).arg("--check").arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(EXAMPLE);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&EXAMPLE.replace("# requests_max = 4096\n# Streamed", "requests_max = 0\n# Streamed"));
    assert!(code == Some(2) && said.contains("f.toml:") && said.contains("requests_max is 0"), "{said}");
}

#[test]
fn the_unit_file_starts_what_there_is() {
    let unit = include_str!("../../examples/forebayd.service");
    for part in
        ["ExecStart=/usr/bin/forebayd /etc/forebay/forebayd.toml", "--check", "-HUP", "LimitNOFILE=", "DynamicUser=yes"]
    {
        assert!(unit.contains(part), "{part}");
    }
}
