//! Which mutants of the burst scheduler the streams of its equality tests kill: the part of `./x mutate` behind the netlist.
//!
//! `mutants VERILOG TOP COUNT RESULTS`: a netlist whose port `mutant` selects one of so many mutants, 0 being none. Writes
//! a line a mutant, tab separated: number, `killed` or `alive`, stream, and the first difference from the twin.
#[path = "../tests/common/block.rs"]
#[allow(unused_imports, unused_macros)] // the tests use it
mod block;
#[path = "../tests/burst/mod.rs"]
#[allow(dead_code)] // the tests use all of it
mod burst;
#[path = "../tests/random/mod.rs"]
mod random;

use burst::program::Program;
use burst::suite::{Case, EVENTS, STREAMS};
use forebay_spec::burst::BOARD;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What killed a mutant: the stream, and the first difference.
type Death = Option<(u64, String)>;

/// Events of a first short stream, which most mutants do not survive.
const FIRST_EVENTS: usize = 1_500;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [verilog, top, count, results] = &arguments[..] else {
        return Err("use: mutants VERILOG TOP COUNT RESULTS".into());
    };
    let program = Program::of_mutants(&std::fs::read_to_string(verilog)?, top);
    let mut deaths: Vec<Death> = vec![None; count.parse::<usize>()? + 1];
    stage(&program, 0, &Case::new(BOARD, 0, FIRST_EVENTS), &mut deaths)?;
    // those that draw every register first: they kill more
    let seeds = (1..STREAMS).step_by(2).chain((0..STREAMS).step_by(2));
    let mixed = seeds.map(|seed| Case::new(BOARD, seed, EVENTS));
    let cases = Case::themed(BOARD).chain(mixed).chain(std::iter::once_with(|| Case::saturated(BOARD)));
    for (number, case) in (1..).zip(cases) {
        stage(&program, number, &case, &mut deaths)?;
    }
    let mut lines = String::new();
    for (number, death) in deaths.iter().enumerate().skip(1) {
        match death {
            Some((seed, how)) => writeln!(lines, "{number}\tkilled\t{seed}\t{how}")?,
            None => writeln!(lines, "{number}\talive\t\t")?,
        }
    }
    std::fs::write(results, lines)?;
    Ok(())
}

/// Gives a stream to all mutants that are still alive, on all cores.
fn stage(program: &Program, seed: u64, case: &Case, deaths: &mut [Death]) -> Result<(), Failure> {
    let events = case.stream.log.len();
    let alive: Vec<usize> = (0..deaths.len()).filter(|&n| deaths[n].is_none()).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let killed = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(&mutant) = alive.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let how = match case.run(program, mutant) {
                        Ok(ran) => case.differs(&ran),
                        Err(stopped) => Some(stopped.to_string()),
                    };
                    if let (Some(how), Ok(mut killed)) = (how, killed.lock()) {
                        killed.push((mutant, how));
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    println!("{}", progress(seed, events, done, alive.len()));
                }
            });
        }
    });
    for (mutant, how) in killed.into_inner()? {
        if mutant == 0 {
            return Err(format!("the netlist without a mutant is not the twin, stream {seed}: {how}").into());
        }
        deaths[mutant] = Some((seed, how));
    }
    Ok(())
}

fn progress(seed: u64, events: usize, done: usize, of: usize) -> String {
    let full = 24 * done / of.max(1);
    format!("[{}{}] {done} of {of} mutants, stream {seed}, {events} events", "#".repeat(full), ".".repeat(24 - full))
}
