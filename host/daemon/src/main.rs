//! `forebayd`.
use clap::Parser;
use forebay_daemon::command::{Arguments, Failed};
use forebay_daemon::decision::Devices;
use forebay_daemon::folder::FolderWatch;
use forebay_daemon::server::Handed;
use forebay_daemon::{log, Config, Daemon};
use std::io::Write;
use std::process::ExitCode;
use tokio::signal::unix::{signal, SignalKind};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let Arguments { command, config, check } = Arguments::parse();
    if let Some(command) = command {
        return match command.run() {
            // a reader that has left has read what it wanted
            Ok(text) => std::io::stdout().write_all(text.as_bytes()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
            Err(Failed { code, why }) => {
                eprintln!("forebayd: {why}");
                ExitCode::from(code)
            }
        };
    }
    // the parser asks for one or the other
    let file = config.unwrap_or_default();
    // before they are read, so that no change of them is missed
    let folder = FolderWatch::new(&file);
    let config = match Config::load(&file) {
        Ok(config) => config,
        Err(error) => return wrong(&error.to_string()),
    };
    if check {
        println!("{}: sound", file.display());
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
    match builder
        .enable_all()
        .build()
        .map_err(|e| e.to_string())
        .and_then(|runtime| runtime.block_on(run(config, folder)))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forebayd: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Says what is wrong with what was given.
fn wrong(error: &str) -> ExitCode {
    eprintln!("forebayd: {error}");
    ExitCode::from(2)
}

async fn run(config: Config, mut folder: FolderWatch) -> Result<(), String> {
    let listen = |kind| signal(kind).map_err(|e| format!("signals cannot be listened for: {e}"));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    folder.follow(config.reload);
    let daemon = Daemon::start_with(config, Handed::from_environment()?, Devices::default()).await?;
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => folder.look(),
            () = folder.changed() => {}
        }
        // what was wrong stands in the log
        let _ = daemon.reload().await;
        folder.follow(daemon.app().state().config.reload);
    }
    daemon.drain().await;
    Ok(())
}
