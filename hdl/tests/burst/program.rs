//! The Verilated scheduler as a program that takes events and gives verdicts, so that there is time for very many.
use forebay_hdl::burst::{ProofBurst, DUE_CLOCKS};
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::verilator::{verilate, VerilateJob};
use forebay_spec::burst::{Action, Event, Input, Verdict};
use forebay_spec::layout::{pack, RECORD_BITS, RECORD_WORDS};
use rust_hdl::prelude::*;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An event as it stands at the block's ports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ports {
    pub(crate) kind: u32,
    pub(crate) seq: u32,
    pub(crate) now_ms: u32,
    pub(crate) node: u32,
    pub(crate) code: u32,
    pub(crate) percent: u32,
    pub(crate) slot: u32,
    pub(crate) generation: u32,
    pub(crate) output_tokens: u32,
    pub(crate) record: [u32; RECORD_WORDS],
}

impl Ports {
    pub(crate) fn of(event: &Event) -> Self {
        let mut ports =
            Ports { kind: event.input.rank().into(), seq: event.seq, now_ms: event.now_ms, ..Ports::default() };
        match &event.input {
            Input::Node { node, change } => {
                (ports.node, ports.code) = (u32::from(*node), u32::from(change.code()));
                if let forebay_spec::burst::NodeChange::Kv { percent, .. } = change {
                    ports.percent = u32::from(*percent);
                }
            }
            Input::Release(release) => {
                (ports.slot, ports.generation) = (release.slot.into(), release.generation.into());
                (ports.code, ports.output_tokens) = (u32::from(release.kind.code()), release.output_tokens.into());
            }
            Input::Visit(visit) => (ports.code, ports.slot) = (u32::from(visit.code()), u32::from(visit.index())),
            Input::Bind { pool } => ports.code = u32::from(*pool),
            Input::Tick { .. } | Input::Switch { .. } => {}
            Input::PuntResult(record) | Input::Record(record) => ports.record = pack(record),
        }
        ports
    }

    /// Sets the inputs of a block.
    pub(crate) fn show(&self, b: &mut ProofBurst) {
        let n = |x: u32| u64::from(x);
        b.event_kind.next = n(self.kind).into();
        b.event_seq.next = n(self.seq).into();
        b.event_now_ms.next = n(self.now_ms).into();
        b.event_node.next = n(self.node).into();
        b.event_code.next = n(self.code).into();
        b.event_percent.next = n(self.percent).into();
        b.event_slot.next = n(self.slot).into();
        b.event_generation.next = n(self.generation).into();
        b.event_output_tokens.next = n(self.output_tokens).into();
        let record: [bool; RECORD_BITS] = std::array::from_fn(|i| self.record[i / 32] >> (i % 32) & 1 == 1);
        b.event_record.next = Bits::Long(record.into());
    }
}

/// A verdict as it stands at the block's ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) evicted: bool,
    pub(crate) seq: u32,
    pub(crate) connection: u16,
    pub(crate) index: u16,
    pub(crate) action: u8,
    pub(crate) reason: u8,
    pub(crate) level: Option<u8>,
    pub(crate) node: u8,
    pub(crate) slot: u16,
    pub(crate) generation: u8,
    pub(crate) redirected: bool,
    pub(crate) held_ms: u32,
    pub(crate) retry_after_ms: u16,
    pub(crate) recommended: u16,
}

impl Shown {
    pub(crate) fn of(verdict: &Verdict, evicted: bool) -> Self {
        let action = &verdict.action;
        let mut shown = Shown {
            evicted,
            seq: verdict.seq,
            connection: verdict.connection,
            index: verdict.index,
            action: action.code(),
            reason: action.reason_code(),
            level: verdict.level,
            ..Shown::default()
        };
        match *action {
            Action::Admit { node, slot, generation, redirected, held_ms } => {
                (shown.node, shown.slot, shown.generation) = (node, slot, generation);
                (shown.redirected, shown.held_ms) = (redirected, held_ms);
            }
            Action::Hold { entry, generation } => (shown.slot, shown.generation) = (entry, generation),
            Action::Refuse { retry_after_ms, recommended_concurrency, .. } => {
                (shown.retry_after_ms, shown.recommended) = (retry_after_ms, recommended_concurrency);
            }
            Action::Lost { slot, generation, .. } => (shown.slot, shown.generation) = (slot, generation),
            Action::Reject(_) | Action::Pass | Action::Punt(_) => {}
        }
        shown
    }

    fn read(words: &[u32; SHOWN_WORDS]) -> Self {
        let [seq, request, decision, place, numbers, held_ms] = *words;
        Shown {
            evicted: decision >> 31 == 1,
            seq,
            connection: request as u16,
            index: (request >> 16) as u16,
            action: (decision & 7) as u8,
            reason: (decision >> 3 & 31) as u8,
            level: (decision >> 8 & 1 == 1).then_some((decision >> 9 & 7) as u8),
            node: (decision >> 12 & 63) as u8,
            redirected: decision >> 18 & 1 == 1,
            slot: place as u16,
            generation: (place >> 16) as u8,
            retry_after_ms: numbers as u16,
            recommended: (numbers >> 16) as u16,
            held_ms,
        }
    }
}

const SHOWN_WORDS: usize = 6;

/// What a run gives.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) shown: Vec<Shown>,
    /// Least and largest number of clocks from an event that is taken to its own verdict.
    pub(crate) latency: [u32; 2],
    /// The same to the verdict on a request that made room.
    pub(crate) second_latency: [u32; 2],
    /// Clocks between two events that are taken, of those that stood there without a pause.
    pub(crate) interval: [u32; 2],
    /// Clocks from the end of reset until the first event was taken.
    pub(crate) opens: u32,
    pub(crate) stale_releases: u32,
    pub(crate) stale_nodes: u32,
    /// After each event, `DUE_CLOCKS` later: the pools whose bind is due.
    pub(crate) binds_due: Vec<u32>,
}

/// A scheduler, built once and kept.
pub(crate) struct Program(PathBuf);

impl Program {
    pub(crate) fn new<B: Block + Default>() -> Self {
        let emitted = emit(&mut B::default(), "burst").expect("the block is emitted");
        Self::of(&emitted.verilog, &emitted.top, "")
    }

    /// A netlist of it with a port `mutant`, whose number says which of its mutants it is; 0 is the scheduler itself.
    #[allow(dead_code)] // of the example `mutants`
    pub(crate) fn of_mutants(verilog: &str, top: &str) -> Self {
        Self::of(verilog, top, "top.mutant = argc > 1 ? atoi(argv[1]) : 0;")
    }

    fn of(verilog: &str, top: &str, select: &str) -> Self {
        let shim = MAIN.replace("RECORD_WORDS", &RECORD_WORDS.to_string());
        let shim = shim.replace("DUE_CLOCKS", &DUE_CLOCKS.to_string()).replace("SELECT", select);
        let job = VerilateJob { shim, program: true, ..VerilateJob::new(verilog, top, "Vburst") };
        Program(verilate(&job).expect("Verilator builds it").program)
    }

    /// Configures the block, gives it the events of `before`, of which nothing is told, and resets it while the last of
    /// them are under way; then offers each event so many clocks after the one before was taken. An error if the block
    /// takes no more events, or answers what it was not asked. `mutant` is 0 where there are none.
    pub(crate) fn run(
        &self,
        mutant: usize,
        words: &[(u16, u32)],
        before: &[(u32, Ports)],
        events: &[(u32, Ports)],
    ) -> std::io::Result<Ran> {
        let mut command = Command::new(&self.0);
        let mut child = command.arg(mutant.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let input = input(words, before, events);
        let writer = std::thread::spawn(move || {
            let mut stdin = BufWriter::new(stdin);
            input.iter().try_for_each(|word| stdin.write_all(&word.to_le_bytes()))?;
            stdin.flush()
        });
        let ran = answer(answers, events.len());
        let written = writer.join().expect("the writer ends");
        let ended = child.wait()?;
        if !ended.success() {
            return Err(std::io::Error::other(format!("the program stopped: {ended}")));
        }
        written.and(ran)
    }
}

/// Reads all that a program tells.
fn answer(mut answers: impl Read, events: usize) -> std::io::Result<Ran> {
    let mut word = move || {
        let mut bytes = [0; 4];
        answers.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    };
    let mut shown = Vec::new();
    while word()? != 0 {
        let mut words = [0; SHOWN_WORDS];
        for place in &mut words {
            *place = word()?;
        }
        shown.push(Shown::read(&words));
    }
    let latency = [word()?, word()?];
    let second_latency = [word()?, word()?];
    let interval = [word()?, word()?];
    let opens = word()?;
    let (stale_releases, stale_nodes) = (word()?, word()?);
    let binds_due = (0..events).map(|_| word()).collect::<Result<_, _>>()?;
    Ok(Ran { shown, latency, second_latency, interval, opens, stale_releases, stale_nodes, binds_due })
}

fn input(words: &[(u16, u32)], before: &[(u32, Ports)], events: &[(u32, Ports)]) -> Vec<u32> {
    let mut input = vec![words.len() as u32, before.len() as u32, events.len() as u32];
    input.extend(words.iter().flat_map(|(address, data)| [u32::from(*address), *data]));
    for (pause, p) in before.iter().chain(events) {
        let small = p.kind | p.code << 3 | p.percent << 6 | p.node << 16 | p.generation << 24;
        input.extend([*pause, p.seq, p.now_ms, small, p.slot | p.output_tokens << 16]);
        input.extend(p.record);
    }
    input
}

/// Words in: counts of configuration words, events before the reset and events; then all of them. Words out: verdicts, each behind a 1; then 0 and what
/// was measured.
const MAIN: &str = r#"#include "Vburst.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

static FILE* answers;
static uint32_t read_word() {
    uint32_t word;
    if (fread(&word, 4, 1, stdin) != 1) exit(2);
    return word;
}
static void write_words(const uint32_t* words, size_t count) { fwrite(words, 4, count, answers); }

struct Range {
    uint32_t least = 0xffffffff, most = 0;
    void take(uint32_t n) {
        if (n < least) least = n;
        if (n > most) most = n;
    }
};

int main(int argc, char** argv) {
    answers = fdopen(dup(1), "wb");
    dup2(2, 1);
    VerilatedContext context;
    Vburst top{&context};
    SELECT
    uint32_t clocks = 0;
    bool quiet = true;
    Range latency, second, interval;
    std::vector<uint32_t> taken_at, due;
    auto clock = [&] {
        top.clock = 0;
        top.eval();
        bool taken = top.event_valid && top.event_ready;
        if (top.verdict_valid && !quiet) {
            uint32_t out[7] = {1, top.verdict_seq};
            if (top.verdict_seq >= taken_at.size()) exit(3);
            (top.verdict_evicted ? second : latency).take(clocks - taken_at[top.verdict_seq]);
            out[2] = top.verdict_connection | (uint32_t)top.verdict_index << 16;
            out[3] = top.verdict_action | top.verdict_reason << 3 | top.verdict_has_level << 8 | top.verdict_level << 9
                | top.verdict_node << 12 | top.verdict_redirected << 18 | (uint32_t)top.verdict_evicted << 31;
            out[4] = top.verdict_slot | (uint32_t)top.verdict_generation << 16;
            out[5] = top.verdict_retry_after_ms | (uint32_t)top.verdict_recommended << 16;
            out[6] = top.verdict_held_ms;
            write_words(out, 7);
        }
        if (due.size() < taken_at.size() && taken_at[due.size()] + DUE_CLOCKS == clocks) due.push_back(top.binds_due);
        if (taken) taken_at.push_back(clocks);
        top.clock = 1;
        top.eval();
        ++clocks;
        return taken;
    };
    uint32_t words = read_word(), before = read_word(), events = read_word();
    for (; words; --words) {
        top.cfg_valid = 1;
        top.cfg_address = read_word();
        top.cfg_data = read_word();
        clock();
    }
    top.cfg_valid = 0;
    auto reset = [&] {
        top.reset = 1;
        clock();
        top.reset = 0;
    };
    auto offer = [&] {
        uint32_t pause = read_word();
        for (uint32_t i = 0; i < pause; ++i) clock();
        top.event_seq = read_word();
        top.event_now_ms = read_word();
        uint32_t small = read_word(), places = read_word();
        top.event_kind = small & 7;
        top.event_code = small >> 3 & 7;
        top.event_percent = small >> 6 & 127;
        top.event_node = small >> 16 & 255;
        top.event_generation = small >> 24;
        top.event_slot = places & 0xffff;
        top.event_output_tokens = places >> 16;
        for (int i = 0; i < RECORD_WORDS; ++i) top.event_record[i] = read_word();
        top.event_valid = 1;
        for (uint32_t tries = 0; !clock(); ++tries) if (tries > 100000) exit(5);
        top.event_valid = 0;
        return pause;
    };
    reset();
    for (; before; --before) offer();
    reset();
    quiet = false;
    taken_at.clear();
    due.clear();
    uint32_t ended = clocks, opens = 0;
    for (uint32_t n = 0; n < events; ++n) {
        uint32_t pause = offer();
        if (n == 0) opens = taken_at[0] - ended;
        else if (pause == 0) interval.take(taken_at[n] - taken_at[n - 1]);
    }
    for (int i = 0; i < 64; ++i) clock();
    uint32_t end[10] = {0, latency.least, latency.most, second.least, second.most, interval.least, interval.most, opens,
        top.stale_release_count, top.stale_node_count};
    write_words(end, 10);
    write_words(due.data(), due.size());
    fclose(answers);
    top.final();
    return 0;
}
"#;
