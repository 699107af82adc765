//! Compiles Verilog to a static library, or to a program, once: results are
//! kept in the cache under a digest of everything that goes in.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use super::{cache_folder, output, Verilator, VerilatorError};
use crate::emit::{sha256_hex, Emitted};
use crate::shim;

/// What to compile.
#[derive(Clone, Debug, Default)]
pub struct VerilateJob {
    /// Verilog text.
    pub verilog: String,
    /// Name of the top module.
    pub top: String,
    /// Prefix of the C++ class, for example `Vscan`.
    pub prefix: String,
    /// Compile support for waveforms in.
    pub trace: bool,
    /// C++ source that is compiled with the model: a shim, or a program.
    pub shim: String,
    /// Further Verilog files, for wrapped cores.
    pub extra: Vec<PathBuf>,
    /// Further arguments of Verilator.
    pub flags: Vec<String>,
    /// Optimisation of the C++ compiler, 0 to 3.
    pub opt_level: u8,
    /// Link a program (the shim has `main`) instead of a library.
    pub program: bool,
}

impl VerilateJob {
    /// A library job with `-O2` and no waveforms.
    pub fn new(verilog: &str, top: &str, prefix: &str) -> Self {
        Self { verilog: verilog.into(), top: top.into(), prefix: prefix.into(), opt_level: 2, ..Self::default() }
    }

    /// A library job with the [`shim`] for the ports of an emitted block.
    pub fn library(emitted: &Emitted, prefix: &str, trace: bool) -> Self {
        Self {
            trace,
            shim: shim::c_source(&emitted.ports, prefix, trace),
            ..Self::new(&emitted.verilog, &emitted.top, prefix)
        }
    }

    /// Digest of all inputs.
    fn key(&self, version: &str) -> Result<String, VerilatorError> {
        let options =
            format!("{} {} {} {:?} {} {}", self.top, self.prefix, self.trace, self.flags, self.opt_level, self.program);
        let texts = [self.verilog.as_str(), &self.shim, &options, version];
        let mut parts: Vec<Vec<u8>> = texts.iter().map(|t| t.as_bytes().to_vec()).collect();
        for file in &self.extra {
            parts.push(std::fs::read(file).map_err(|e| VerilatorError::Io(file.clone(), e))?);
        }
        Ok(sha256_hex(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }
}

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Folder of the result, for `cargo:rustc-link-search=native=`.
    pub folder: PathBuf,
    /// Libraries for `cargo:rustc-link-lib=`, in link order, with their kind:
    /// `static=Vscan`, then the C++ run time.
    pub libraries: Vec<String>,
    /// Folders with the headers of the model and of Verilator.
    pub include: Vec<PathBuf>,
    /// The program of a program job.
    pub program: PathBuf,
    /// True if nothing had to be compiled.
    pub from_cache: bool,
}

/// Compiles a model, or returns it from the cache.
pub fn verilate(job: &VerilateJob) -> Result<Model, VerilatorError> {
    let verilator = Verilator::find()?;
    let include = verilator.include()?;
    let version = verilator.version()?;
    let compile = Compile { include: &include, opt_level: job.opt_level, trace: job.trace };
    let key = job.key(&version)?;
    let (folder, from_cache) = cached(&key, |work| {
        let runtime = runtime(&compile, &version)?;
        build(job, &verilator, &compile, work, &runtime)
    })?;
    Ok(Model {
        libraries: [&format!("static={}", job.prefix), "dylib=stdc++", "dylib=pthread"].map(String::from).to_vec(),
        include: vec![folder.clone(), include.clone(), include.join("vltstd")],
        program: folder.join(&job.prefix),
        folder,
        from_cache,
    })
}

/// Objects of Verilator's run time, which all models share.
fn runtime(compile: &Compile, version: &str) -> Result<Vec<PathBuf>, VerilatorError> {
    // tests of one process start at the same time; one of them builds
    static BUILDING: Mutex<()> = Mutex::new(());
    let _turn = BUILDING.lock();
    let mut names = vec!["verilated.cpp", "verilated_threads.cpp"];
    if compile.trace {
        names.push("verilated_vcd_c.cpp");
    }
    let sources: Vec<PathBuf> = names.iter().map(|n| compile.include.join(n)).collect();
    let options = format!("{} {}", compile.opt_level, compile.trace);
    let key = sha256_hex(&[b"runtime", version.as_bytes(), options.as_bytes()]);
    let (folder, _) = cached(&key, |work| compile.all(work, &sources).map(drop))?;
    Ok(sources.iter().map(|s| object(&folder, s)).collect())
}

/// The cache folder of `key`, filled by `fill` if it is not complete, and
/// whether it was there. Work happens in a folder beside it and is moved when
/// done, so concurrent builds do not meet.
fn cached(
    key: &str,
    fill: impl FnOnce(&Path) -> Result<(), VerilatorError>,
) -> Result<(PathBuf, bool), VerilatorError> {
    let models = cache_folder().join("models");
    let folder = models.join(key);
    if folder.join("done").is_file() {
        return Ok((folder, true));
    }
    let work = models.join(format!("building-{}-{}", std::process::id(), serial()));
    create(&work)?;
    if let Err(error) = fill(&work).and_then(|()| write(&work.join("done"), "")) {
        // keep the cache clean; the error already says what went wrong
        let _ = std::fs::remove_dir_all(&work);
        return Err(error);
    }
    publish(&work, &folder)?;
    Ok((folder, false))
}

/// Two threads of one process may build at the same time.
fn serial() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Moves the finished work in place; if another build was faster, its result,
/// made from the same inputs, stays.
fn publish(work: &Path, folder: &Path) -> Result<(), VerilatorError> {
    match std::fs::rename(work, folder) {
        Ok(()) => Ok(()),
        Err(_) if folder.join("done").is_file() => {
            std::fs::remove_dir_all(work).map_err(|e| VerilatorError::Io(work.into(), e))
        }
        Err(e) => Err(VerilatorError::Io(folder.into(), e)),
    }
}

fn build(
    job: &VerilateJob,
    verilator: &Verilator,
    compile: &Compile,
    work: &Path,
    runtime: &[PathBuf],
) -> Result<(), VerilatorError> {
    write(&work.join("top.v"), &job.verilog)?;
    write(&work.join("shim.cpp"), &job.shim)?;
    let mut command = verilator.command();
    command.current_dir(work).args(["--cc", "-O3", "-Wno-fatal", "-Wno-lint"]);
    command.args(["--top-module", &job.top, "--prefix", &job.prefix, "--Mdir", "."]);
    // large functions are what takes the C++ compiler long
    command.args(["--output-split", "20000"]).args(&job.flags);
    if job.trace {
        command.arg("--trace");
    }
    for file in &job.extra {
        command.arg(file.canonicalize().map_err(|e| VerilatorError::Io(file.clone(), e))?);
    }
    output(command.arg("top.v"))?;
    let entries = std::fs::read_dir(work).map_err(|e| VerilatorError::Io(work.into(), e))?;
    let is_source = |p: &PathBuf| p.extension().is_some_and(|x| x == "cpp");
    let mut sources: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_source).collect();
    sources.sort();
    let sources = unite(work, sources)?;
    let mut objects = compile.all(work, &sources)?;
    objects.extend_from_slice(runtime);
    link(job, work, &objects)
}

/// Size up to which the files of a model are compiled as one, because reading
/// the headers takes longer than the code.
const UNITED_BYTES: u64 = 200_000;

/// Puts the files of a small model into one that includes them.
fn unite(work: &Path, sources: Vec<PathBuf>) -> Result<Vec<PathBuf>, VerilatorError> {
    let size = |p: &PathBuf| p.metadata().map_or(0, |m| m.len());
    if sources.iter().map(size).sum::<u64>() > UNITED_BYTES {
        return Ok(sources);
    }
    // the shim stays apart: its names are not Verilator's
    let (shim, model): (Vec<_>, Vec<_>) = sources.into_iter().partition(|p| p.ends_with("shim.cpp"));
    let name = |p: &PathBuf| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text: String = model.iter().map(|p| format!("#include \"{}\"\n", name(p))).collect();
    let all = work.join("all.cpp");
    write(&all, &text)?;
    Ok(shim.into_iter().chain([all]).collect())
}

/// How C++ is compiled.
struct Compile<'a> {
    include: &'a Path,
    opt_level: u8,
    trace: bool,
}

impl Compile<'_> {
    /// Compiles the sources, as many at a time as there are cores.
    fn all(&self, work: &Path, sources: &[PathBuf]) -> Result<Vec<PathBuf>, VerilatorError> {
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        let worker = || {
            while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.one(work, source) {
                    *failure.lock().expect("no worker panics") = Some(error);
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..cores.min(sources.len()) {
                scope.spawn(worker);
            }
        });
        match failure.into_inner().expect("no worker panics") {
            Some(error) => Err(error),
            None => Ok(sources.iter().map(|s| object(work, s)).collect()),
        }
    }

    fn one(&self, work: &Path, source: &Path) -> Result<(), VerilatorError> {
        let mut command = compiler();
        command.arg(format!("-O{}", self.opt_level)).args(["-std=c++17", "-w", "-fPIC", "-c"]);
        // the definitions that Verilator's own makefile gives
        let trace = u8::from(self.trace);
        command.arg(format!("-DVM_TRACE={trace}")).arg(format!("-DVM_TRACE_VCD={trace}"));
        command.args(["-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE_FST=0"]);
        command.arg("-I").arg(work).arg("-I").arg(self.include);
        command.arg("-I").arg(self.include.join("vltstd"));
        output(command.arg(source).arg("-o").arg(object(work, source))).map(drop)
    }
}

fn object(folder: &Path, source: &Path) -> PathBuf {
    folder.join(source.file_stem().unwrap_or_default()).with_extension("o")
}

fn compiler() -> Command {
    Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()))
}

fn link(job: &VerilateJob, work: &Path, objects: &[PathBuf]) -> Result<(), VerilatorError> {
    if job.program {
        let mut command = compiler();
        command.args(objects).arg("-pthread").arg("-o").arg(work.join(&job.prefix));
        return output(&mut command).map(drop);
    }
    let library = work.join(format!("lib{}.a", job.prefix));
    output(Command::new("ar").arg("crs").arg(library).args(objects)).map(drop)
}

fn create(folder: &Path) -> Result<(), VerilatorError> {
    std::fs::create_dir_all(folder).map_err(|e| VerilatorError::Io(folder.into(), e))
}

fn write(file: &Path, text: &str) -> Result<(), VerilatorError> {
    std::fs::write(file, text).map_err(|e| VerilatorError::Io(file.into(), e))
}
