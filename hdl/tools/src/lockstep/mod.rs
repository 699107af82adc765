//! Lock-step comparison of a block with the Verilog emitted from it: the same
//! inputs on both sides, every output compared before and after each edge.
//!
//! The Rust side is stepped with `simulate`; the Verilog side is a program made
//! from the Verilated model, which is built once and kept in the cache. Words
//! pass through pipes in batches, so a long run needs no more memory than a
//! short one.

mod harness;

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};

use rust_hdl::prelude::*;

use crate::emit::{emit, emit_unlinted, EmitError, Emitted};
use crate::ports::{hex, ports, values, Port};
use crate::verilator::{verilate, VerilateJob, VerilatorError};

/// Cycles per batch; the program flushes its output as often.
const BATCH: usize = 256;
/// Passes that `simulate` may take to settle.
const PASSES: usize = 100;
/// Differences that an error lists.
const LISTED: usize = 10;

/// A comparison to run.
#[derive(Clone, Debug)]
pub struct Lockstep {
    name: String,
    clock: Option<String>,
    cycles: usize,
    extra: Vec<PathBuf>,
    flags: Vec<String>,
    unlinted: bool,
}

/// A comparison that found no difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Cycles compared.
    pub cycles: usize,
    /// Values compared.
    pub values: usize,
    /// True if the model was taken from the cache.
    pub from_cache: bool,
}

/// Where in a cycle outputs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Clock low, inputs settled; the only phase of a block without clock.
    BeforeEdge,
    /// Clock high.
    AfterEdge,
}

/// One value that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Cycle, from zero.
    pub cycle: usize,
    /// Phase of the cycle.
    pub phase: Phase,
    /// Name of the output in the emitted text.
    pub port: String,
    /// Value in Rust, hexadecimal.
    pub rust: String,
    /// Value in Verilog, hexadecimal.
    pub verilog: String,
}

/// All that differed in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differences {
    /// Name of the comparison.
    pub name: String,
    /// Cycles run.
    pub cycles: usize,
    /// The first differences, at most ten.
    pub first: Vec<Difference>,
    /// Number of differing values by port.
    pub by_port: BTreeMap<String, usize>,
}

/// Why a comparison failed.
#[derive(Debug)]
pub enum LockstepError {
    /// The block cannot be emitted.
    Emit(EmitError),
    /// The model cannot be built.
    Verilator(VerilatorError),
    /// No input of this name.
    NoClock(String),
    /// `simulate` finds no fixed point in this cycle.
    Unstable(usize),
    /// The program ended early; what it wrote to standard error.
    Stopped(String),
    /// A pipe or process failed.
    Io(std::io::Error),
    /// The two sides differ.
    Differ(Differences),
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let phase = match self.phase {
            Phase::BeforeEdge => "before the edge",
            Phase::AfterEdge => "after the edge",
        };
        let Self { cycle, port, rust, verilog, .. } = self;
        write!(f, "cycle {cycle} {phase}: {port} is {rust} in Rust, {verilog} in Verilog")
    }
}

impl std::fmt::Display for Differences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let total: usize = self.by_port.values().sum();
        write!(f, "{}: {total} values differ in {} cycles", self.name, self.cycles)?;
        for (port, count) in &self.by_port {
            write!(f, "\n  {port}: {count}")?;
        }
        self.first.iter().try_for_each(|d| write!(f, "\n  {d}"))
    }
}

impl std::fmt::Display for LockstepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Emit(e) => e.fmt(f),
            Self::Verilator(e) => e.fmt(f),
            Self::NoClock(name) => write!(f, "the block has no input `{name}`"),
            Self::Unstable(cycle) => {
                write!(f, "cycle {cycle}: the Rust side does not settle in {PASSES} passes")
            }
            Self::Stopped(text) => write!(f, "the Verilated model stopped early: {text}"),
            Self::Io(e) => e.fmt(f),
            Self::Differ(d) => d.fmt(f),
        }
    }
}

impl std::error::Error for LockstepError {}

impl From<std::io::Error> for LockstepError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl Lockstep {
    /// A comparison of 1000 cycles. `clock` names the clock input; `None` for a
    /// block without one.
    pub fn new(name: &str, clock: Option<&str>) -> Self {
        Self {
            name: name.into(),
            clock: clock.map(String::from),
            cycles: 1000,
            extra: Vec::new(),
            flags: Vec::new(),
            unlinted: false,
        }
    }

    /// Sets the number of cycles.
    pub fn cycles(mut self, cycles: usize) -> Self {
        self.cycles = cycles;
        self
    }

    /// Adds Verilog files, for wrapped cores.
    pub fn extra(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.extra.extend(files);
        self
    }

    /// Adds a Verilator argument, for example `-DCHECKS` or `--assert`.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Runs in spite of lint findings: for tests that show what they lead to.
    pub fn unlinted(mut self) -> Self {
        self.unlinted = true;
        self
    }

    /// Runs the comparison. `drive` sets the inputs of a cycle, given its number;
    /// `set_clock` writes the clock input.
    pub fn run<B: Block>(
        &self,
        mut block: B,
        drive: impl FnMut(&mut B, usize),
        set_clock: impl Fn(&mut B, bool),
    ) -> Result<Report, LockstepError> {
        let emitted = if self.unlinted { emit_unlinted(&mut block, "dut") } else { emit(&mut block, "dut") };
        let emitted = emitted.map_err(LockstepError::Emit)?;
        let clock = self.clock_index(&ports(&block))?;
        let job = self.job(&emitted, clock);
        let model = verilate(&job).map_err(LockstepError::Verilator)?;
        let mut program = Program::start(&model.program)?;

        let (sender, receiver) = sync_channel(8);
        let judge = Judge::new(&emitted.ports, clock.is_some());
        let output = program.child.stdout.take().ok_or_else(no_pipe)?;
        let input = program.child.stdin.take().ok_or_else(no_pipe)?;
        let judge = std::thread::spawn(move || judge.run(BufReader::new(output), receiver));
        let mut player = Player { block, drive, set_clock, clock, sender, input };
        let played = player.play(&emitted.ports, self.cycles);
        // closing the pipe ends the program, closing the channel the judge
        drop(player);
        let judged = judge.join().map_err(|_| no_pipe())?;
        let finished = program.finish();
        // our own mistake first, then the program's; broken pipes only follow from it
        match played {
            Err(error @ LockstepError::Unstable(_)) => return Err(error),
            played => finished.and(played)?,
        }
        let judged = judged?;
        self.conclude(judged, model.from_cache)
    }

    fn conclude(&self, judged: Judge, from_cache: bool) -> Result<Report, LockstepError> {
        let Judge { first, by_port, values, .. } = judged;
        if by_port.is_empty() {
            return Ok(Report { cycles: self.cycles, values, from_cache });
        }
        let (name, cycles) = (self.name.clone(), self.cycles);
        Err(LockstepError::Differ(Differences { name, cycles, first, by_port }))
    }

    fn clock_index(&self, ports: &[Port]) -> Result<Option<usize>, LockstepError> {
        let Some(name) = &self.clock else {
            return Ok(None);
        };
        match ports.iter().position(|p| p.is_input && p.name == *name) {
            Some(index) => Ok(Some(index)),
            None => Err(LockstepError::NoClock(name.clone())),
        }
    }

    fn job(&self, emitted: &Emitted, clock: Option<usize>) -> VerilateJob {
        VerilateJob {
            shim: harness::source(&emitted.ports, clock, BATCH),
            extra: self.extra.clone(),
            flags: self.flags.clone(),
            opt_level: 1,
            program: true,
            ..VerilateJob::new(&emitted.verilog, &emitted.top, "Vdut")
        }
    }
}

fn no_pipe() -> LockstepError {
    LockstepError::Io(std::io::Error::other("a pipe or thread of the comparison is gone"))
}

/// The running Verilated program.
struct Program {
    child: Child,
    errors: std::thread::JoinHandle<String>,
}

impl Program {
    fn start(path: &std::path::Path) -> Result<Self, LockstepError> {
        let mut command = Command::new(path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut pipe = child.stderr.take().ok_or_else(no_pipe)?;
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            // a failed read leaves the message short, nothing else
            let _ = pipe.read_to_end(&mut text);
            String::from_utf8_lossy(&text).trim().to_string()
        });
        Ok(Self { child, errors })
    }

    /// Waits for the end; an error carries what the program complained about.
    fn finish(mut self) -> Result<(), LockstepError> {
        let status = self.child.wait()?;
        let text = self.errors.join().unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        Err(LockstepError::Stopped(format!("{status}\n{text}")))
    }
}

/// Steps the Rust side and feeds the program.
struct Player<B, D, C, W> {
    block: B,
    drive: D,
    set_clock: C,
    clock: Option<usize>,
    sender: SyncSender<Vec<u32>>,
    input: W,
}

impl<B: Block, D: FnMut(&mut B, usize), C: Fn(&mut B, bool), W: Write> Player<B, D, C, W> {
    fn play(&mut self, ports: &[Port], cycles: usize) -> Result<(), LockstepError> {
        let mut all = Vec::new();
        for start in (0..cycles).step_by(BATCH) {
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            for cycle in start..(start + BATCH).min(cycles) {
                (self.drive)(&mut self.block, cycle);
                (self.set_clock)(&mut self.block, false);
                self.settle(cycle, &mut all)?;
                self.sort(ports, &all, Some(&mut inputs), &mut outputs);
                if self.clock.is_some() {
                    (self.set_clock)(&mut self.block, true);
                    self.settle(cycle, &mut all)?;
                    self.sort(ports, &all, None, &mut outputs);
                }
            }
            // expectations first: while the program cannot write its results, it
            // does not read further inputs
            self.sender.send(outputs).map_err(|_| no_pipe())?;
            let bytes: Vec<u8> = inputs.into_iter().flat_map(u32::to_le_bytes).collect();
            self.input.write_all(&bytes)?;
            self.input.flush()?;
        }
        Ok(())
    }

    fn settle(&mut self, cycle: usize, all: &mut Vec<u32>) -> Result<(), LockstepError> {
        if !simulate(&mut self.block, PASSES) {
            return Err(LockstepError::Unstable(cycle));
        }
        all.clear();
        values(&self.block, all);
        Ok(())
    }

    /// Splits the words of all ports into inputs (without the clock) and outputs.
    fn sort(&self, ports: &[Port], all: &[u32], mut inputs: Option<&mut Vec<u32>>, outputs: &mut Vec<u32>) {
        // the filler word that the program expects in front
        inputs.iter_mut().for_each(|i| i.push(0));
        let mut at = 0;
        for (index, port) in ports.iter().enumerate() {
            let words = &all[at..at + port.words()];
            at += words.len();
            if !port.is_input {
                outputs.extend_from_slice(words);
            } else if let Some(inputs) = inputs.as_deref_mut().filter(|_| self.clock != Some(index)) {
                inputs.extend_from_slice(words);
            }
        }
    }
}

/// Compares what the program answers with what is expected.
struct Judge {
    outputs: Vec<Port>,
    phases: Vec<Phase>,
    first: Vec<Difference>,
    by_port: BTreeMap<String, usize>,
    values: usize,
}

impl Judge {
    fn new(ports: &[Port], clocked: bool) -> Self {
        let phases = [Phase::BeforeEdge, Phase::AfterEdge];
        Self {
            outputs: ports.iter().filter(|p| !p.is_input).cloned().collect(),
            phases: phases[..1 + usize::from(clocked)].to_vec(),
            first: Vec::new(),
            by_port: BTreeMap::new(),
            values: 0,
        }
    }

    fn run(mut self, mut from: impl Read, batches: Receiver<Vec<u32>>) -> std::io::Result<Self> {
        let sample: usize = self.outputs.iter().map(Port::words).sum();
        let mut sample_number = 0;
        for wanted in batches {
            let mut bytes = vec![0; wanted.len() * 4];
            from.read_exact(&mut bytes)?;
            let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let answer: Vec<u32> = words.collect();
            for (want, got) in wanted.chunks(sample.max(1)).zip(answer.chunks(sample.max(1))) {
                self.sample(sample_number, want, got);
                sample_number += 1;
            }
        }
        Ok(self)
    }

    fn sample(&mut self, number: usize, want: &[u32], got: &[u32]) {
        self.values += self.outputs.len();
        if want == got {
            return;
        }
        let mut at = 0;
        for port in &self.outputs {
            let range = at..at + port.words();
            at = range.end;
            let (rust, verilog) = (&want[range.clone()], &got[range]);
            if rust == verilog {
                continue;
            }
            *self.by_port.entry(port.name.clone()).or_default() += 1;
            if self.first.len() < LISTED {
                self.first.push(Difference {
                    cycle: number / self.phases.len(),
                    phase: self.phases[number % self.phases.len()],
                    port: port.name.clone(),
                    rust: hex(rust),
                    verilog: hex(verilog),
                });
            }
        }
    }
}
