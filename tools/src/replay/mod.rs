//! Captures through a device, and the final verdict of every request.
//!
//! The device sees each connection's bytes; so does the exact software path, as the host of a card would. `engine`
//! feeds both and keeps time, `judge` makes one final verdict of what the two say, `events` writes and checks the
//! event log.
mod burst_log;
mod devices;
mod engine;
pub mod events;
mod fleet;
mod judge;
mod output;
pub mod table;
mod totals;

#[cfg(not(feature = "sim"))]
pub(crate) use devices::no_simulation;
pub use devices::{open, Choice};
pub(crate) use engine::SILENCE_MS_MAX;
pub use engine::{Engine, EventSink, Seen, Watch};
pub use fleet::{schedule, BurstSink, Fleet, FleetTotals};
pub use output::{Final, FinalAction, Outcome, PathTaken, Scheduled};
pub use totals::{Span, Totals};

use crate::capture::{Capture, Flow};
use crate::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// Files that one call may name, folders looked into.
const FILES_MAX: usize = 100_000;

/// Two implementations, or a device and the rules, say different things of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Capture, connection and position of the request.
    pub request: String,
    /// Start of its body, as far as it is there.
    pub body_head: String,
    /// What differs, with both values.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { request, body_head, what } = self;
        write!(f, "{request}: {what}; its body starts with {body_head:?}; please report it with the capture")
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |ip: std::net::IpAddr, port| std::net::SocketAddr::new(ip, port);
        write!(f, "{} > {}", end(self.src, self.sport), end(self.dst, self.dport))?;
        for id in self.vlan.ids() {
            write!(f, " vlan {id}")?;
        }
        Ok(())
    }
}

/// Captures named by files and folders; those in a folder sorted by name.
pub fn captures(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(captures_in(path)?),
            false => files.push(path.clone()),
        }
    }
    if files.len() > FILES_MAX {
        return Err(Error::Usage(format!("{} captures, the limit is {FILES_MAX}; name fewer", files.len())));
    }
    Ok(files)
}

fn captures_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, "the folder cannot be read", &e))?;
    let is_capture = |p: &PathBuf| {
        let extension = p.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        matches!(extension.as_deref(), Some("pcap" | "pcapng" | "cap")) && p.is_file()
    };
    let entries: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|e| e.path())).collect();
    let mut files = entries.map_err(|e| Error::io(folder, "the folder cannot be read", &e))?;
    files.retain(is_capture);
    files.sort();
    if files.is_empty() {
        return Err(Error::Usage(format!("{}: no .pcap, .pcapng or .cap in it; name a capture", folder.display())));
    }
    Ok(files)
}

/// What one capture came to.
#[derive(Clone, Debug)]
pub struct CaptureResult {
    /// Name of the file without folder and extension.
    pub name: String,
    /// What was met in it.
    pub counts: crate::capture::Counts,
    /// Its requests, in the order of their final verdicts.
    pub outcomes: Vec<Outcome>,
}

/// Replays files one after the other. A file of which nothing can be read is reported to `warn` and left out, unless
/// there is no other.
pub fn run(
    files: &[PathBuf],
    engine: &mut Engine<'_>,
    warn: &mut dyn FnMut(&str),
    progress: &mut dyn FnMut(&Path),
) -> Result<Vec<CaptureResult>, Error> {
    let mut results = Vec::new();
    let mut failed: Option<Error> = None;
    for file in files {
        progress(file);
        match Capture::load(file) {
            Ok(capture) => {
                capture.warnings.iter().for_each(|w| warn(w));
                let outcomes = engine.capture(&capture)?;
                results.push(CaptureResult { name: capture.name, counts: capture.counts, outcomes });
            }
            // the last one may become the error of the whole call, and is said once
            Err(error) => failed.replace(error).into_iter().for_each(|earlier| warn(&earlier.to_string())),
        }
    }
    match failed {
        Some(error) if results.is_empty() => return Err(error),
        Some(error) => warn(&error.to_string()),
        None => {}
    }
    Ok(results)
}
