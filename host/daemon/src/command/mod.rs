//! The command line of `forebayd`.
pub mod calibrate;
pub mod key;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Signals:
  SIGTERM, SIGINT  drain: listeners close, requests run to their end within drain_timeout_ms
  SIGHUP           reload

Environment:
  LISTEN_FDS       listening sockets that are handed over, as systemd does for forebayd.socket;
                   each serves the [[listen]] or [admin] of its address
  what key_env of an engine names: the key for it

Exit codes:
  0  served and drained, or did what was asked
  1  the system refused: an address in use, a socket that no address is for, an engine that cannot be measured
  2  a command line, configuration or policy that is not sound";

/// Front end of inference nodes: Messages and chat clients in front, engines behind, every request decided first.
///
/// Serves until SIGTERM or SIGINT, then drains: whoever had been accepted is served. SIGHUP reads the configuration and
/// all files that it names again, and so does a change of one of them; what is not sound is refused whole, with the line
/// and the reason, and all stays as it was. Log lines are JSON on standard error.
#[derive(Debug, Parser)]
#[command(name = "forebayd", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Exit codes: 0 after a drain, 1 for what the system refuses, 2 for what is not sound.")]
#[command(after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Configuration file; /etc/forebay/forebayd.toml where the package puts one, with all settings in it.
    #[arg(required = true)]
    pub config: Option<PathBuf>,
    /// Check the configuration and all files that it names, and do nothing else.
    #[arg(long)]
    pub check: bool,
}

/// Why a command did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The exit code.
    pub code: u8,
    /// What is wrong, with what to do about it.
    pub why: String,
}

impl Failed {
    /// The system, or an engine, refused.
    pub fn system(why: String) -> Self {
        Failed { code: 1, why }
    }
}

impl From<String> for Failed {
    /// What was given is not sound.
    fn from(why: String) -> Self {
        Failed { code: 2, why }
    }
}

/// What there is beside serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure engines and put what was found into the configuration: requests_max, prefill_tokens_s, output_token_ms.
    ///
    /// Each engine is asked directly, with requests of its own: a reply whose tokens are timed, prompts of two lengths, and
    /// more and more requests at once until some of them wait. It should be idle, or the figures are those of what is left.
    /// Everything else in the file stays as it was written; a forebayd that runs with it reads it again by itself. An engine
    /// whose answers say nothing of its pace is refused, and nothing is written.
    Calibrate(calibrate::Calibrate),
    /// Keys of tenants.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Print what completes forebayd's command line in a shell.
    ///
    /// For instance: forebayd completions bash > /etc/bash_completion.d/forebayd
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write all of them into a folder.
    Man {
        /// Folder for the pages of forebayd and of each command; `man forebayd` finds them in share/man/man1.
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Print the JSON schema of the configuration, for editors and for checks before a file is rolled out.
    ///
    /// It holds names, kinds, ranges and choices. `forebayd --check` checks more: files that are named, the policy, and
    /// what goes together.
    Schema,
}

impl Command {
    /// What it prints.
    ///
    /// # Errors
    /// What is wrong, with what to do about it.
    pub fn run(&self) -> Result<String, Failed> {
        match self {
            Command::Calibrate(calibrate) => calibrate.run(),
            Command::Key(key::KeyCommand::New(new)) => Ok(new.run()?),
            Command::Completions { shell } => Ok(completions(*shell)?),
            Command::Man { folder: None } => Ok(page()?),
            Command::Man { folder: Some(folder) } => Ok(pages(folder)?),
            Command::Schema => Ok(format!("{:#}\n", crate::config::schema())),
        }
    }
}

fn completions(shell: Shell) -> Result<String, String> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "forebayd", &mut text);
    String::from_utf8(text).map_err(|e| e.to_string())
}

fn page() -> Result<String, String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut text).map_err(|e| e.to_string())?;
    String::from_utf8(text).map_err(|e| e.to_string())
}

fn pages(folder: &Path) -> Result<String, String> {
    let shown = folder.display();
    clap_mangen::generate_to(Arguments::command(), folder)
        .map_err(|e| format!("{shown}: pages cannot be written there: {e}; name a folder that can be written to"))?;
    Ok(String::new())
}
