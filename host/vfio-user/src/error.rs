//! What can go wrong on either side.
use crate::wire::{Command, WireError};
use std::io;
use std::path::PathBuf;

/// An error number of the protocol, by Linux's numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub u32);

impl Errno {
    /// The arguments make no sense: outside a region, overlapping, of no length.
    pub const INVALID: Errno = Errno(22);
    /// There is no room for more.
    pub const NO_SPACE: Errno = Errno(28);
    /// There is no such command.
    pub const NOT_SUPPORTED: Errno = Errno(95);
    /// Something failed on the way.
    pub const IO: Errno = Errno(5);
    /// The memory is not there.
    pub const FAULT: Errno = Errno(14);

    /// The number of an error of the system, or [`Errno::IO`].
    pub fn of(error: &io::Error) -> Errno {
        error.raw_os_error().and_then(|n| u32::try_from(n).ok()).map_or(Errno::IO, Errno)
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match i32::try_from(self.0) {
            Ok(number) => write!(f, "{}", io::Error::from_raw_os_error(number)),
            Err(_) => write!(f, "error number {}", self.0),
        }
    }
}

/// Why a server, a client or one of its calls failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The socket cannot be made or reached.
    #[error("socket {path}: {source}")]
    Socket {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A path of a socket has fewer bytes than this.
    #[error("socket {path}: {bytes} bytes, a socket's path has at most {limit}: use a shorter folder")]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        bytes: usize,
        /// The most that is possible.
        limit: usize,
    },
    /// A server answers there already.
    #[error("socket {path}: a server answers there already: stop it, or use another path")]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// Reading or writing the connection failed.
    #[error("connection: {0}")]
    Connection(#[from] io::Error),
    /// A message that cannot be read.
    #[error("message: {0}")]
    Wire(#[from] WireError),
    /// The other side speaks another version.
    #[error("version {major}.{minor} of the protocol, this side speaks {}.{}", crate::wire::MAJOR, crate::wire::MINOR)]
    Version {
        /// Of the other side.
        major: u16,
        /// Of the other side.
        minor: u16,
    },
    /// The other side refused a command.
    #[error("{command} was refused: {errno}")]
    Refused {
        /// The command.
        command: Command,
        /// Its reason.
        errno: Errno,
    },
    /// No answer came.
    #[error("{command}: no answer in {wait_ms} ms")]
    Timeout {
        /// The command.
        command: Command,
        /// How long was waited.
        wait_ms: u64,
    },
    /// The other side has left.
    #[error("the other side has left")]
    Gone,
}
