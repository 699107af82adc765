//! What may go wrong in the command line.

/// One sentence: what failed, the value, the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{file}: {why}")]
    File {
        /// Path.
        file: String,
        /// What is wrong and what to do about it.
        why: String,
    },
    /// The policy.
    #[error(transparent)]
    Policy(#[from] forebay_bundle::PolicyError),
    /// The device.
    #[error("the device {device} failed: {error}")]
    Device {
        /// Its name.
        device: &'static str,
        /// What it says.
        error: forebay_device::DeviceError,
    },
    /// Two implementations, or a device and the rules, disagree.
    #[error("{0}")]
    Difference(Box<crate::replay::Difference>),
    /// Two devices that read frames disagree.
    #[error("{capture}, frame {frame}: {what}; please report it with the capture")]
    Frame {
        /// Name of the capture.
        capture: String,
        /// Number of the frame, from 0.
        frame: u64,
        /// What differs, with both values.
        what: String,
    },
    /// A daemon does not answer as it should.
    #[error("the daemon at {url}: {what}")]
    Daemon {
        /// Where it listens.
        url: String,
        /// What it did.
        what: String,
    },
    /// The burst scheduler's device differs from the twin, or fails.
    #[error("{run}: {failure}; please report it with the command")]
    Scheduler {
        /// What was run.
        run: String,
        /// What is wrong.
        failure: forebay_device::BurstFailure,
    },
    /// The command line asks for what is not there.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// An error of the system with a file.
    pub(crate) fn io(path: &std::path::Path, what: &str, error: &std::io::Error) -> Self {
        Error::File { file: path.display().to_string(), why: format!("{what}: {error}") }
    }
}
