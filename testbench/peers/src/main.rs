//! `peers`: an engine that always gives the same answer, and a load tool. `./x bench peers` puts gateways between the two.
mod load;
mod mock;

use clap::Parser;
use std::process::ExitCode;

#[derive(Parser)]
enum Cli {
    /// Answers chat completions and Messages, whole and streamed, always the same, until it is stopped.
    Mock(mock::Options),
    /// Sends requests and prints one JSON object: latencies, statuses, CPU time and memory of processes.
    Load(load::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse() {
        Cli::Mock(options) => options.run(),
        Cli::Load(options) => options.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("peers: {why}");
            ExitCode::FAILURE
        }
    }
}
