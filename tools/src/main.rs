//! `forebay`: replay captures, explain a request, compile policies, check event logs, show the demo.
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use forebay_bundle::Policy;
use forebay_tools::replay::{CaptureResult, Choice, Engine, EventSink, Fleet, FleetTotals};
use forebay_tools::report::{self, Numbers};
use forebay_tools::{clients, clocks, compile, demo, explain, frames, replay, study, Error};
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

/// A hardware front end for LLM inference: captured requests in, verdicts out.
#[derive(Parser)]
#[command(name = "forebay", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Replay packet captures through a device and print the verdict of every request.
    ///
    /// Reads pcap and pcapng (Ethernet, VLAN, Linux cooked, raw IP, loopback), puts IPv4/IPv6 fragments and TCP streams
    /// together, and feeds each client's bytes to the device at the capture's pace. What the device hands over is
    /// decided by the exact software path. Then the burst scheduler decides the same requests for a fleet that is stated,
    /// not captured; with `--device sim` or `both` it is the RTL, compared with the twin. A damaged
    /// file is used up to the damage, with a warning. The exit code is 1 if nothing could be read, if devices differ, or if
    /// a sum does not add up.
    Replay(Replay),
    /// Show how the fabric reads the frames of captures, with no software in front of it.
    ///
    /// Every frame of the link goes to the device as it came; the device checks it, keeps the connections, and gives up those
    /// that it cannot follow (a gap, an overlap that differs, ...). Shown are where the frames ended, what became of the
    /// connections, and which requests were read in whole. Software reads the connections that were given up, and gives them
    /// back between two requests; no slot is taken. With `--device both` the simulated RTL and the twin are compared after
    /// every frame.
    Frames(frames::Options),
    /// Show how one request was read: its fields with their bytes, its path, its verdict.
    ///
    /// The input is what a client sends on one connection, a JSON body (wrapped as a POST to /v1/messages), or a packet
    /// capture, told apart by its first bytes. Credential headers and queries are not shown.
    Explain(Explain),
    /// Check a policy, make the bundle file that a device loads, and show what it comes to.
    ///
    /// Shown are the names that patterns stand for, sizes of the tables, fill of the filters, the clocks of a record and
    /// what is left to software. A policy that does not fit is refused with its place, the number, the limit and the
    /// remedy, and exit code 1.
    Compile(Compile),
    /// Replay the project's own captures and write a report.
    Demo(Demo),
    /// Simulate a fleet on arrival traces: the scheduler beside other policies.
    ///
    /// The scheduler is the twin of the RTL itself, fed with the events that a card would get; with `--device sim` the RTL
    /// decides and the twin is compared with it. The table shows goodput over
    /// the oracle's by load, the worst cell, 429 answers per request and the spread of queueing.
    Study(study::Options),
    /// Run an event log of `replay --events` through the twin and compare every stamp and verdict.
    VerifyLog(VerifyLog),
    /// Print what completes the command line of forebay in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the manual pages of forebay and of each command into a folder.
    Man {
        /// The folder; `man forebay` finds them in share/man/man1.
        folder: PathBuf,
    },
}

#[derive(Args)]
struct Replay {
    /// Captures, or folders of them.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to run on. `sim` (the Verilated RTL) is the default where it is built in (--features sim), else `twin`.
    #[arg(long, value_enum, default_value_t = Choice::default_here())]
    device: Choice,
    /// Models, tenants, limits and service times; without one no model and no tenant is known.
    #[arg(long)]
    policy: Option<PathBuf>,
    /// Print one JSON object a line instead of the table; the summary goes to stderr.
    #[arg(long)]
    json: bool,
    /// Write a report; the same numbers as JSON go beside it.
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    /// Write the signals of the simulation.
    #[arg(long, value_name = "VCD")]
    vcd: Option<PathBuf>,
    /// Write the event log, for `forebay verify-log`: the fabric's events, then those of the burst scheduler.
    #[arg(long, value_name = "LOG")]
    events: Option<PathBuf>,
    /// List every request, however many there are, and what was met in each capture.
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    fleet: Fleet,
}

#[derive(Args)]
struct Explain {
    /// The input; stdin without one, or with `-`.
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Which request, from 0: of a capture only inference requests count, in the order of `replay --json`; of a stream
    /// all do.
    #[arg(long, value_name = "N", default_value_t = 0)]
    request: usize,
    /// Models, tenants and limits; without one no model and no tenant is known.
    #[arg(long)]
    policy: Option<PathBuf>,
    /// What to run on; the default is that of `replay`.
    #[arg(long, value_enum, default_value_t = Choice::default_here())]
    device: Choice,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Compile {
    /// A policy, or a bundle file of any version to be written anew.
    #[arg(required_unless_present = "show", value_name = "POLICY")]
    policy: Option<PathBuf>,
    /// Write the bundle file; without it the policy is only checked and shown.
    #[arg(short, long, value_name = "BUNDLE")]
    output: Option<PathBuf>,
    /// Show what is in a bundle file.
    #[arg(long, value_name = "BUNDLE", conflicts_with_all = ["policy", "output"])]
    show: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Demo {
    /// Folder of captures; default: the project's own.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Folder that the report goes to.
    #[arg(long, default_value = "target/report")]
    out: PathBuf,
    /// What to run on; default: `both` where the simulation is built in, else `twin`.
    #[arg(long, value_enum)]
    device: Option<Choice>,
    /// A running daemon with an echo engine, as http://HOST:PORT: clients ask it, and the report shows what they met.
    #[arg(long, value_name = "URL")]
    daemon: Option<String>,
    /// A key of that daemon's policy.
    #[arg(long, requires = "daemon")]
    key: Option<String>,
}

#[derive(Args)]
struct VerifyLog {
    /// The log.
    log: PathBuf,
    /// The policy that it was made with.
    #[arg(long)]
    policy: Option<PathBuf>,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Replay(options) => options.run(),
        Command::Frames(options) => frames_of(&options),
        Command::Explain(options) => options.run(),
        Command::Compile(options) => options.run(),
        Command::Demo(options) => options.run(),
        Command::Study(options) => options.run().and_then(|text| print(&text)),
        Command::VerifyLog(options) => options.run(),
        Command::Completions { shell } => completions(shell),
        Command::Man { folder } => {
            clap_mangen::generate_to(Cli::command(), &folder).map_err(|e| cannot_write(&folder, &e))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forebay: {error}");
            ExitCode::FAILURE
        }
    }
}

fn completions(shell: Shell) -> Result<(), Error> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "forebay", &mut text);
    print(&String::from_utf8_lossy(&text))
}

fn policy(path: Option<&Path>) -> Result<Policy, Error> {
    Ok(path.map(Policy::load).transpose()?.unwrap_or_default())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::File { file: path.display().to_string(), why: format!("cannot be written: {error}") }
}

/// A reader that stops early (`forebay replay ... | head`) is no error.
fn print(text: &str) -> Result<(), Error> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(cannot_write(Path::new("stdout"), &e)),
        _ => Ok(()),
    }
}

fn bar(files: usize) -> ProgressBar {
    // hidden by itself where stderr is no terminal
    let bar = ProgressBar::new(files as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// An event log under way, shared by the engine, which writes, and the command, which closes it.
struct EventLog<'a> {
    path: &'a Path,
    log: RefCell<replay::events::Writer<BufWriter<File>>>,
}

impl<'a> EventLog<'a> {
    fn create(path: &'a Path, policy: &Policy) -> Result<Rc<Self>, Error> {
        let fail = |e| cannot_write(path, &e);
        let out = BufWriter::new(File::create(path).map_err(fail)?);
        let log = replay::events::Writer::new(out, policy).map_err(fail)?;
        Ok(Rc::new(EventLog { path, log: RefCell::new(log) }))
    }

    fn sink(self: &Rc<Self>) -> Box<EventSink<'a>> {
        let log = Rc::clone(self);
        Box::new(move |event, verdict| {
            log.log.borrow_mut().event(event, verdict).map_err(|e| cannot_write(log.path, &e))
        })
    }

    fn close(&self) -> Result<(), Error> {
        self.log.borrow_mut().flush().map_err(|e| cannot_write(self.path, &e))
    }
}

impl Replay {
    fn run(&self) -> Result<(), Error> {
        let policy = policy(self.policy.as_deref())?;
        self.fleet.fits(self.device)?;
        let files = replay::captures(&self.files)?;
        let devices = replay::open(self.device, &policy, self.vcd.as_deref())?;
        let events = self.events.as_deref().map(|path| EventLog::create(path, &policy)).transpose()?;
        let mut engine = Engine::new(&policy, devices, events.as_ref().map(EventLog::sink));
        let results = replay_files(&files, &mut engine);
        let results = results.and_then(|mut results| {
            let fleet = scheduled(&mut results, &self.fleet, &policy, self.device, events.as_ref())?;
            Ok((results, fleet))
        });
        // also after a difference: the log is what shows it
        events.map_or(Ok(()), |log| log.close())?;
        let (results, fleet) = results?;
        let (totals, devices) = (engine.totals(), engine.device_names());
        let summary = replay::table::summary(totals, &devices, &fleet);
        if self.json {
            for outcome in results.iter().flat_map(|r| &r.outcomes) {
                let line = serde_json::to_string(outcome).map_err(|e| Error::Usage(e.to_string()))?;
                print(&(line + "\n"))?;
            }
            eprint!("{summary}");
        } else {
            print(&format!("{}\n{summary}", replay::table::table(&results, self.verbose)))?;
        }
        if let Some(html) = &self.report {
            let numbers = Numbers::new("Forebay replay", &devices, &policy, totals, &results, fleet);
            let json = report::write(html, &numbers)?;
            eprintln!("report       {} and {}", html.display(), json.display());
        }
        totals.check().map_err(Error::Usage)
    }
}

/// Lets the burst scheduler decide, and its events into the log.
fn scheduled(
    results: &mut [CaptureResult],
    fleet: &Fleet,
    policy: &Policy,
    device: Choice,
    log: Option<&Rc<EventLog<'_>>>,
) -> Result<FleetTotals, Error> {
    let Some(log) = log else { return replay::schedule(results, fleet, policy, device, None) };
    let fail = |e| cannot_write(log.path, &e);
    log.log.borrow_mut().scheduler(fleet, device != Choice::Twin).map_err(fail)?;
    let mut sink = |event: &_, verdicts: &_| log.log.borrow_mut().burst(event, verdicts).map_err(fail);
    replay::schedule(results, fleet, policy, device, Some(&mut sink))
}

fn replay_files(files: &[PathBuf], engine: &mut Engine<'_>) -> Result<Vec<CaptureResult>, Error> {
    let bar = bar(files.len());
    let mut warn = |text: &str| bar.suspend(|| eprintln!("forebay: warning: {text}"));
    let mut progress = |file: &Path| {
        bar.set_message(file.display().to_string());
        bar.inc(1);
    };
    let results = replay::run(files, engine, &mut warn, &mut progress);
    bar.finish_and_clear();
    results
}

fn frames_of(options: &frames::Options) -> Result<(), Error> {
    let bar = bar(0);
    let mut warn = |text: &str| bar.suspend(|| eprintln!("forebay: warning: {text}"));
    let mut progress = |file: &Path, files: usize| {
        bar.set_length(files as u64);
        bar.set_message(file.display().to_string());
        bar.inc(1);
    };
    let text = options.run(&mut warn, &mut progress);
    bar.finish_and_clear();
    print(&text?)
}

impl Explain {
    fn run(&self) -> Result<(), Error> {
        let policy = policy(self.policy.as_deref())?;
        let input = explain::Input::open(&self.file)?;
        input.warnings().iter().for_each(|w| eprintln!("forebay: warning: {w}"));
        let explanation = explain::explain(&input, self.request, &policy, self.device)?;
        if self.json {
            let line = serde_json::to_string(&explanation).map_err(|e| Error::Usage(e.to_string()))?;
            return print(&(line + "\n"));
        }
        print(&explanation.to_string())
    }
}

impl Compile {
    fn run(&self) -> Result<(), Error> {
        // clap sees to it that one of them is given
        let source = self.show.as_deref().or(self.policy.as_deref()).unwrap_or(Path::new("policy.toml"));
        let done = compile::compile(source, self.output.as_deref())?;
        if self.json {
            let line = serde_json::to_string(&done).map_err(|e| Error::Usage(e.to_string()))?;
            return print(&(line + "\n"));
        }
        print(&compile::text(&done))
    }
}

impl Demo {
    fn run(&self) -> Result<(), Error> {
        let best = if Choice::default_here() == Choice::Sim { Choice::Both } else { Choice::Twin };
        let corpus = self.corpus.clone().map_or_else(demo::corpus, Ok)?;
        let policy = demo::policy(&corpus)?;
        let device = self.device.unwrap_or(best);
        let devices = replay::open(device, &policy, None)?;
        let mut engine = Engine::new(&policy, devices, None);
        let mut results = replay_files(&replay::captures(&[corpus])?, &mut engine)?;
        let sweep = demo::sweep()?;
        let outcomes = engine.capture(&sweep)?;
        results.push(CaptureResult { name: sweep.name, counts: sweep.counts, outcomes });
        let fleet = replay::schedule(&mut results, &demo::fleet(), &policy, device, None)?;
        let (totals, devices) = (engine.totals(), engine.device_names());
        let summary = replay::table::summary(totals, &devices, &fleet);
        let mut numbers = Numbers::new("Forebay demo", &devices, &policy, totals, &results, fleet);
        numbers.clocks = clocks::columns()?;
        numbers.daemon = self.daemon.as_ref().map(|url| clients::run(url, self.key.as_deref(), "echo")).transpose()?;
        let served = numbers.daemon.as_ref().map_or_else(String::new, clients::Served::text);
        let (html, json) = (self.out.join("index.html"), self.out.join("demo.json"));
        report::write_pair(&html, &json, &numbers)?;
        let table = replay::table::table(&results, false);
        print(&format!("{table}\n{summary}{served}report       {} and {}\n", html.display(), json.display()))?;
        totals.check().map_err(Error::Usage)
    }
}

impl VerifyLog {
    fn run(&self) -> Result<(), Error> {
        let policy = policy(self.policy.as_deref())?;
        let name = self.log.display().to_string();
        let file = File::open(&self.log).map_err(|e| Error::File { file: name.clone(), why: e.to_string() })?;
        let checked = replay::events::replay(&name, BufReader::new(file), &policy)?;
        let replay::events::Checked { events, verdicts, burst_events, burst_verdicts } = checked;
        print(&format!(
            "{name}: {events} events, {verdicts} verdicts; of the burst scheduler {burst_events} events, {burst_verdicts} \
             verdicts; all as the twin says\n"
        ))
    }
}
