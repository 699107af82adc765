//! The command line of `forebayd`.
pub mod key;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Front end of inference nodes: Messages and chat clients in front, engines behind, every request decided first.
///
/// Serves until SIGTERM or SIGINT, then drains: whoever had been accepted is served. SIGHUP reads the configuration and
/// all files that it names again; what is not sound is refused whole, with the line and the reason, and all stays as it
/// was. Log lines are JSON on standard error.
#[derive(Debug, Parser)]
#[command(name = "forebayd", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    after_help = "Exit codes: 0 after a drain, 1 for what the system refuses, 2 for a configuration that is not sound."
)]
pub struct Arguments {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Configuration file; host/daemon/examples/forebayd.toml shows one with all settings.
    #[arg(required = true)]
    pub config: Option<PathBuf>,
    /// Check the configuration and all files that it names, and do nothing else.
    #[arg(long)]
    pub check: bool,
}

/// What there is beside serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Keys of tenants.
    #[command(subcommand)]
    Key(key::KeyCommand),
}

impl Command {
    /// What it prints.
    ///
    /// # Errors
    /// What is wrong, with what to do about it.
    pub fn run(&self) -> Result<String, String> {
        match self {
            Command::Key(key::KeyCommand::New(new)) => new.run(),
        }
    }
}
