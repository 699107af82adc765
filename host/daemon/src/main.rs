//! `forebayd`.
use clap::Parser;
use forebay_daemon::{log, Config, Daemon};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{signal, SignalKind};

/// Front end of inference nodes: Messages and chat clients in front, engines behind, every request decided first.
#[derive(Parser)]
#[command(name = "forebayd", version)]
struct Arguments {
    /// Configuration file; host/daemon/examples/forebayd.toml shows one with all settings.
    config: PathBuf,
    /// Check the configuration and all files that it names, and do nothing else.
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let config = match Config::load(&arguments.config) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("forebayd: {error}");
            return ExitCode::from(2);
        }
    };
    if arguments.check {
        println!("{}: sound", arguments.config.display());
        return ExitCode::SUCCESS;
    }
    // a limit that cannot be raised shows itself when it is reached
    if let Ok(files) = rlimit::increase_nofile_limit(u64::MAX) {
        log::event("info", "open_files", &[("limit", &files.to_string())]);
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if config.threads > 0 {
        builder.worker_threads(config.threads);
    }
    match builder.enable_all().build().map_err(|e| e.to_string()).and_then(|runtime| runtime.block_on(run(config))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forebayd: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(config: Config) -> Result<(), String> {
    let listen = |kind| signal(kind).map_err(|e| format!("signals cannot be listened for: {e}"));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    let daemon = Daemon::start(config).await?;
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => {
                // the log has said what was wrong
                let _ = daemon.reload().await;
            }
        }
    }
    daemon.drain().await;
    Ok(())
}
