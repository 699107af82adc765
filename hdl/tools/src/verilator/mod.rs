//! Verilator as a library: finding it, linting with it, compiling models.

mod build;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub use build::{verilate, Model, VerilateJob};

/// Names a Verilator binary inside its package, `.../verilator/bin/verilator`.
pub const ENV_VERILATOR: &str = "FOREBAY_VERILATOR";
/// Names the folder for tools and compiled models; default `~/.cache/forebay`.
pub const ENV_CACHE: &str = "FOREBAY_CACHE";

/// A warning of `-Wall` that correct output of ours causes.
pub struct Waiver {
    /// Verilator's name of the warning.
    pub code: &'static str,
    /// Why it says nothing about the design.
    pub reason: &'static str,
}

/// The only warnings that [`lint_verilog`] switches off by default.
pub const WAIVERS: &[Waiver] = &[
    Waiver { code: "WIDTHEXPAND", reason: "rust-hdl writes integer literals with 32 bits" },
    Waiver { code: "WIDTHTRUNC", reason: "the same; widths are checked by the Rust types and our lint" },
    Waiver { code: "DECLFILENAME", reason: "one file holds a top module and its children" },
    Waiver { code: "UNUSEDSIGNAL", reason: "a port of a child may be of no use to one parent" },
    Waiver {
        code: "UNOPTFLAT",
        reason: "the whole update of a block is one always block, which drives its children and reads them; \
                 rust-hdl refuses true loops before it writes",
    },
    Waiver { code: "VARHIDDEN", reason: "a block may be called as a port of its own is: each name has its own scope" },
    Waiver { code: "PROCASSINIT", reason: "registers have a start value and no reset of their own" },
];

/// Why Verilator could not be used.
#[derive(Debug)]
pub enum VerilatorError {
    /// No binary was found.
    NotFound,
    /// [`ENV_VERILATOR`] names no file.
    NoSuchBinary(PathBuf),
    /// A file or process operation failed.
    Io(PathBuf, std::io::Error),
    /// A tool ran and failed; its output.
    Failed(String, String),
}

impl std::fmt::Display for VerilatorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => write!(f, "Verilator was not found: run ./x setup"),
            Self::NoSuchBinary(path) => {
                write!(f, "{ENV_VERILATOR} names no file: {}", path.display())
            }
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Failed(tool, output) => write!(f, "{tool} failed:\n{output}"),
        }
    }
}

impl std::error::Error for VerilatorError {}

/// A Verilator installation.
#[derive(Clone, Debug)]
pub struct Verilator {
    binary: PathBuf,
    /// Folder with `include/`, if the binary must be told.
    root: Option<PathBuf>,
}

impl Verilator {
    /// Looks at [`ENV_VERILATOR`], then the tools of `./x setup`, then the path.
    pub fn find() -> Result<Self, VerilatorError> {
        if let Some(binary) = std::env::var_os(ENV_VERILATOR) {
            let binary = PathBuf::from(binary);
            return Self::at(binary.clone()).ok_or(VerilatorError::NoSuchBinary(binary));
        }
        in_cache().or_else(on_path).ok_or(VerilatorError::NotFound)
    }

    fn at(binary: PathBuf) -> Option<Self> {
        if !binary.is_file() {
            return None;
        }
        let root = binary.parent().and_then(Path::parent).map(Path::to_path_buf);
        let root = root.filter(|r| r.join("include/verilated.h").is_file());
        Some(Self { binary, root })
    }

    /// A command that runs this Verilator.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        if let Some(root) = &self.root {
            command.env("VERILATOR_ROOT", root);
        }
        command
    }

    /// The version line.
    pub fn version(&self) -> Result<String, VerilatorError> {
        Ok(self.run(&["--version"])?.trim().to_string())
    }

    /// Folder of `verilated.h` and the run-time sources.
    pub fn include(&self) -> Result<PathBuf, VerilatorError> {
        let root = match &self.root {
            Some(root) => root.clone(),
            None => PathBuf::from(self.run(&["--getenv", "VERILATOR_ROOT"])?.trim()),
        };
        Ok(root.join("include"))
    }

    fn run(&self, arguments: &[&str]) -> Result<String, VerilatorError> {
        let output = output(self.command().args(arguments))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Lints files with `-Wall` and [`WAIVERS`]; returns Verilator's messages.
    /// `waivers` adds to the list.
    pub fn lint(&self, files: &[&Path], waivers: &[Waiver]) -> Result<Vec<String>, VerilatorError> {
        let off = WAIVERS.iter().chain(waivers).map(|w| format!("-Wno-{}", w.code));
        let mut command = self.command();
        command.args(["--lint-only", "-Wall", "-Wno-fatal"]).args(off).args(files);
        let ran = command.output().map_err(|e| VerilatorError::Io(self.binary.clone(), e))?;
        let text = String::from_utf8_lossy(&ran.stderr);
        let messages: Vec<String> = text.lines().filter(|l| l.starts_with('%')).map(String::from).collect();
        if messages.is_empty() && !ran.status.success() {
            return Err(VerilatorError::Failed("verilator --lint-only".into(), text.into_owned()));
        }
        Ok(messages)
    }
}

/// Version line of the Verilator in use.
pub fn version() -> Result<String, VerilatorError> {
    Verilator::find()?.version()
}

/// Lints one file with `-Wall`, [`WAIVERS`] and further `waivers`; an empty
/// list means clean.
pub fn lint_verilog(file: &Path, waivers: &[Waiver]) -> Result<Vec<String>, VerilatorError> {
    Verilator::find()?.lint(&[file], waivers)
}

/// The cache folder: [`ENV_CACHE`], else `~/.cache/forebay`.
pub fn cache_folder() -> PathBuf {
    if let Some(folder) = std::env::var_os(ENV_CACHE) {
        return folder.into();
    }
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(".cache/forebay")
}

/// `tools/venv*/lib/python*/site-packages/verilator/bin/verilator`, the last by name.
fn in_cache() -> Option<Verilator> {
    let venvs = children(&cache_folder().join("tools"), "venv");
    let pythons = venvs.iter().flat_map(|v| children(&v.join("lib"), "python"));
    let binary = |p: PathBuf| p.join("site-packages/verilator/bin/verilator");
    pythons.rev().map(binary).find_map(Verilator::at)
}

fn children(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.filter(|e| e.file_name().to_string_lossy().starts_with(prefix)).map(|e| e.path()).collect();
    found.sort();
    found
}

fn on_path() -> Option<Verilator> {
    let path = std::env::var_os("PATH")?;
    let binary = std::env::split_paths(&path).map(|p| p.join("verilator")).find(|p| p.is_file())?;
    // an installed Verilator knows its own root
    Some(Verilator { binary, root: None })
}

/// Runs a command to its end; a failure carries both output streams.
pub(crate) fn output(command: &mut Command) -> Result<Output, VerilatorError> {
    let program = PathBuf::from(command.get_program());
    let ran = command.output().map_err(|e| VerilatorError::Io(program.clone(), e))?;
    if ran.status.success() {
        return Ok(ran);
    }
    let text = [&ran.stdout[..], &ran.stderr[..]].map(String::from_utf8_lossy).concat();
    Err(VerilatorError::Failed(program.display().to_string(), text))
}
