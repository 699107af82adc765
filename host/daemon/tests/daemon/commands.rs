//! What `forebayd` prints instead of serving: help, completions, pages, the schema.
use clap::CommandFactory;
use forebay_daemon::command::Arguments;
use forebay_daemon::config::{schema, Config};
use serde_json::{json, Value};
use std::path::Path;
use std::process::Command;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_forebayd")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn printed(arguments: &[&str]) -> String {
    let (code, said, error) = run(arguments);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{arguments:?}");
    said
}

/// All commands with what they are called, at every depth.
fn commands(command: &clap::Command, path: &[String], all: &mut Vec<(Vec<String>, clap::Command)>) {
    all.push((path.to_vec(), command.clone()));
    for sub in command.get_subcommands() {
        commands(sub, &[path, &[sub.get_name().to_owned()]].concat(), all);
    }
}

fn all_commands() -> Vec<(Vec<String>, clap::Command)> {
    let mut all = Vec::new();
    commands(&Arguments::command(), &[], &mut all);
    assert!(all.len() >= 6, "{}", all.len());
    all
}

#[test]
fn everything_has_help() {
    for (path, command) in all_commands() {
        assert!(command.get_about().is_some(), "{path:?}");
        for argument in command.get_arguments().filter(|a| !["help", "version"].contains(&a.get_id().as_str())) {
            assert!(argument.get_help().is_some(), "{path:?} {}", argument.get_id());
        }
        let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        assert!(printed(&arguments).contains("Usage: forebayd"), "{path:?}");
    }
    let help = printed(&["--help"]);
    for part in
        ["SIGTERM", "SIGHUP", "LISTEN_FDS", "Exit codes", "--check", "calibrate", "key", "schema", "completions", "man"]
    {
        assert!(help.contains(part), "{part} is not in {help}");
    }
    assert!(printed(&["--version"]).starts_with("forebayd "));
    let (code, _, error) = run(&[]);
    assert!(code == Some(2) && error.contains("<CONFIG>"), "{error}");
}

#[test]
fn completions_and_pages_know_every_command_and_option() {
    let folder = tempfile::tempdir().unwrap();
    printed(&["man", folder.path().to_str().unwrap()]);
    assert!(printed(&["man"]).starts_with(".ie"));
    let shells: Vec<String> = ["bash", "zsh", "fish"].map(|shell| printed(&["completions", shell])).into();
    for (path, command) in all_commands() {
        let name = ["forebayd".to_owned()].into_iter().chain(path.iter().cloned()).collect::<Vec<_>>().join("-");
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap().replace('\\', "");
        for option in command.get_arguments().filter_map(|a| a.get_long()) {
            assert!(page.contains(&format!("--{option}")), "--{option} is not in {name}.1");
            let fish = format!("-l {option}");
            assert!(
                shells[0].contains(&format!("--{option}")) && shells[1].contains(&format!("--{option}")),
                "{option}"
            );
            assert!(shells[2].contains(&fish), "{option}");
        }
        for shell in &shells {
            assert!(path.last().is_none_or(|last| shell.contains(last)), "{path:?}");
        }
    }
    // bash reads what is for it
    let script = folder.path().join("completion");
    std::fs::write(&script, &shells[0]).unwrap();
    assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
    let (code, _, error) = run(&["man", "/no/such/folder"]);
    assert!(code == Some(2) && error.contains("/no/such/folder: pages cannot be written there"), "{error}");
}

const SCHEMA: &str = include_str!("../../examples/forebayd.schema.json");

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&printed(&["schema"])).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn json_of(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

#[test]
fn the_committed_schema_is_what_the_program_prints() {
    let committed: Value = serde_json::from_str(SCHEMA).unwrap();
    let printed: Value = serde_json::from_str(&printed(&["schema"])).unwrap();
    assert_eq!(committed, printed, "write it anew: forebayd schema > host/daemon/examples/forebayd.schema.json");
    jsonschema::meta::validate(&printed).unwrap();
}

#[test]
fn the_example_and_every_key_of_it_are_in_the_schema() {
    let validator = validator();
    let check = |text: &str| validator.validate(&json_of(text)).map_err(|e| format!("{}: {e}", e.instance_path()));
    let all = super::examples::uncommented();
    assert_eq!(check(include_str!("../../examples/forebayd.toml")), Ok(()));
    assert_eq!(check(&all), Ok(()));
    // and whatever the schema names stands in the example
    let schema = schema();
    let tables = schema["$defs"].as_object().unwrap().values().chain([&schema, &schema["properties"]["limits"]]);
    for name in tables.filter_map(|t| t["properties"].as_object()).flat_map(|p| p.keys()) {
        let there = [format!("\n{name} = "), format!("[{name}]\n"), format!(".{name}]\n"), format!("[[{name}]]\n")];
        assert!(there.iter().any(|part| format!("\n{all}").contains(part.as_str())), "{name} is not in the example");
    }
    // a wrong one is none
    for (from, to) in [
        ("kind = \"echo\"", "kind = \"eco\""),
        ("kind = \"echo\"", "kinds = \"echo\""),
        ("quiet_ms = 500", "quiet_ms = 5"),
        ("quiet_ms = 500", "quiet_ms = \"500\""),
        ("headers_max = 100", "headers_maximum = 100"),
        ("[[listen]]", "[listen]"),
        ("name = \"gpu-0\"", "name = \"gpu 0\""),
    ] {
        assert!(all.contains(from), "{from}");
        assert!(check(&all.replacen(from, to, 1)).is_err(), "{to}");
    }
    assert!(check("[[listen]]\naddress = \"x\"\n").is_err(), "an engine is required");
}

/// Configurations, each with one member of the schema set to a value, by table.
fn with(table: &str, name: &str, value: &Value) -> String {
    let value = if let Some(text) = value.as_str() { format!("{text:?}") } else { value.to_string() };
    let listen = "[[listen]]\naddress = \"127.0.0.1:0\"\n";
    let echo = "[[engine]]\nname = \"e\"\nkind = \"echo\"\n";
    let chat = "[[engine]]\nname = \"c\"\nkind = \"chat\"\nurl = \"http://h:1\"\n";
    let set = format!("{name} = {value}\n");
    match table {
        "" => format!("{set}{listen}{echo}"),
        "Engine" if name == "kind" && value == "\"echo\"" => format!("{listen}{echo}"),
        "Engine" if name == "kind" => format!("{listen}{}", chat.replace("kind = \"chat\"\n", &set)),
        // between these two lies what is learned from
        "Engine" if name == "prefill_tokens_s_max" => format!("{listen}{chat}prefill_tokens_s = 1\n{set}"),
        "Engine" if name == "prefill_tokens_s_min" => format!("{listen}{chat}prefill_tokens_s = 262143\n{set}"),
        "Engine" => format!("{listen}{chat}{set}"),
        "Echo" => format!("{listen}{echo}[engine.echo]\n{set}"),
        "Tenant" => format!("policy = \"p\"\n{listen}{echo}[[tenant]]\nname = \"t\"\n{set}"),
        table => format!("{listen}{echo}[{}]\n{set}", table.to_ascii_lowercase()),
    }
}

#[test]
fn ranges_and_choices_of_the_schema_are_those_of_the_check() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p"), "[[tenant]]\nname = \"t\"\nkey = \"k\"\n").unwrap();
    let taken = |text: &str| Config::parse("f", text, folder.path());
    let mut schema = schema();
    schema["$defs"]["limits"] = schema["properties"]["limits"].clone();
    schema["$defs"][""] = json!({"properties": schema["properties"]});
    let (mut ranges, mut choices) = (0, 0);
    for (table, members) in schema["$defs"].as_object().unwrap() {
        for (name, member) in members["properties"].as_object().unwrap() {
            if member["type"] == "integer" {
                let (min, max) = (member["minimum"].as_i64().unwrap(), member["maximum"].as_i64().unwrap());
                for (value, expected) in [(min, true), (max, true), (min - 1, false), (max + 1, false)] {
                    let text = with(table, name, &json!(value));
                    let result = taken(&text);
                    assert_eq!(result.is_ok(), expected, "{table} {name} = {value}: {:?}\n{text}", result.err());
                }
                ranges += 1;
            }
            for choice in member["enum"].as_array().into_iter().flatten() {
                let result = taken(&with(table, name, choice));
                assert!(result.is_ok(), "{table} {name} = {choice}: {:?}", result.err());
                choices += 1;
            }
            if member["enum"].is_array() {
                assert!(taken(&with(table, name, &json!("other"))).is_err(), "{table} {name}");
            }
            if let Some(default) = member.get("default").filter(|d| d.is_i64() || d.is_string() || d.is_boolean()) {
                let (given, left_out) =
                    (taken(&with(table, name, default)), taken(&with(table, "", &json!(0)).replace(" = 0\n", "")));
                assert_eq!(same(given), same(left_out), "{table} {name}: the default is another");
            }
        }
    }
    assert!(ranges > 30 && choices > 10, "{ranges} {choices}");
}

/// All of a configuration that can be compared, but for the hash key, which is drawn.
fn same(config: Result<Config, forebay_daemon::config::ConfigError>) -> String {
    let c = config.unwrap();
    format!(
        "{:?}",
        (
            c.threads,
            c.listen,
            c.admin,
            c.anonymous,
            c.default_max_tokens,
            c.limits,
            c.log_requests,
            c.reload,
            c.engines
        )
    ) + &format!("{:?}", c.tenants)
}

#[test]
fn commands_of_the_pages_are_commands() {
    use clap::Parser;
    let pages = [include_str!("../../README.md"), include_str!("../../docs/engines.md")];
    let lines = pages.iter().flat_map(|page| page.lines()).filter(|l| l.starts_with("forebayd "));
    let mut count = 0;
    for line in lines {
        let words = line.split('#').next().unwrap().split_whitespace().take_while(|w| *w != ">");
        assert!(Arguments::try_parse_from(words).is_ok(), "{line}");
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn configurations_of_the_pages_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    put("chain.pem", &certified.cert.pem());
    put("key.pem", &certified.signing_key.serialize_pem());
    put("engine.key", "k");
    put("policy.toml", "[[tenant]]\nname = \"search\"\nkey = \"s\"\n");
    let validator = validator();
    let page = include_str!("../../docs/engines.md");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let config = Config::parse("engines.md", block, folder.path()).unwrap_or_else(|e| panic!("{e}\n{block}"));
        assert!(config.engines.iter().all(|e| e.serves("qwen3-8b")));
        assert!(validator.is_valid(&json_of(block)), "{block}");
    }
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("../bundle/examples/policy.toml").exists());
}
