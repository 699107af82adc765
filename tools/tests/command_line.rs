//! Completions and manual pages know every command.
use std::process::Command;

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_forebay")).args(arguments).output().expect("forebay runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn completions_and_pages_know_every_command() {
    let help = printed(&["help"]);
    let (_, list) = help.split_once("Commands:\n").expect("a list of commands");
    let commands: Vec<&str> =
        list.lines().take_while(|l| !l.is_empty()).filter_map(|l| l.split_whitespace().next()).collect();
    assert!(commands.contains(&"replay") && commands.contains(&"man"), "{commands:?}");
    let shells = ["bash", "zsh", "fish"].map(|shell| printed(&["completions", shell]));
    let folder = tempfile::tempdir().expect("a folder");
    printed(&["man", folder.path().to_str().expect("text")]);
    assert!(folder.path().join("forebay.1").exists());
    for command in commands {
        assert!(shells.iter().all(|text| text.contains(command)), "{command}");
        assert!(command == "help" || folder.path().join(format!("forebay-{command}.1")).exists(), "{command}");
    }
    let none =
        Command::new(env!("CARGO_BIN_EXE_forebay")).args(["man", "/no/such/folder"]).output().expect("forebay runs");
    assert!(
        !none.status.success() && String::from_utf8_lossy(&none.stderr).contains("/no/such/folder: cannot be written")
    );
}
