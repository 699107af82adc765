//! A Verilated block as a program that takes beats and gives what is sent, so that there is time for many requests.
use super::beats::Beat;
use super::{Sent, A};
use crate::random::Rng;
use forebay_hdl::http::Http;
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::verilator::{verilate, VerilateJob};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What the program is given.
pub(crate) struct Run {
    /// Configuration words, written first.
    pub(crate) words: Vec<(u16, u32)>,
    /// Beats, each with clocks before it is offered.
    pub(crate) beats: Vec<(u32, Beat)>,
    /// A clock in so many pauses; 0 for none.
    pub(crate) pause: u32,
}

/// What it gives.
pub(crate) struct Ran {
    pub(crate) sent: Vec<Sent>,
    /// `bank_busy` at its end.
    pub(crate) busy: u32,
}

/// The block with `W` bytes a beat, built once and kept.
pub(crate) struct Program<const W: usize, const B: usize>(PathBuf);

impl<const W: usize, const B: usize> Program<W, B> {
    pub(crate) fn new() -> Self {
        let emitted = emit(&mut Http::<W, B, A>::default(), "http").expect("the block is emitted");
        let shim = MAIN.replace("WORDS", &(W / 4).to_string());
        let job = VerilateJob { shim, program: true, ..VerilateJob::new(&emitted.verilog, &emitted.top, "Vhttp") };
        Program(verilate(&job).expect("Verilator builds it").program)
    }

    pub(crate) fn run(&self, run: &Run, seed: u64) -> Ran {
        let mut command = Command::new(&self.0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let stdin = child.stdin.take().expect("a pipe");
        let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut input = input::<W>(run, seed);
        let writer = std::thread::spawn(move || {
            let mut stdin = BufWriter::new(stdin);
            input.drain(..).for_each(|word| stdin.write_all(&word.to_le_bytes()).expect("the program reads"));
        });
        let mut word = move || {
            let mut bytes = [0; 4];
            answers.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes)).expect("the program answers")
        };
        let mut sent = Vec::new();
        let busy = loop {
            match word() {
                0 => break word(),
                _ => sent.push(self.sent(&mut word)),
            }
        };
        writer.join().expect("all was written");
        assert!(child.wait().expect("the program ends").success());
        Ran { sent, busy }
    }

    fn sent(&self, word: &mut impl FnMut() -> u32) -> Sent {
        let (flags, count) = (word(), word() as usize);
        let head = (0..3).fold(0, |head, i| head | u128::from(word()) << (32 * i));
        let bytes: Vec<u8> = (0..W / 4).flat_map(|_| word().to_le_bytes()).collect();
        Sent {
            first: flags & 1 == 1,
            last: flags & 2 == 2,
            bank: flags & 4 == 4,
            connection: (flags >> 8) as usize,
            bytes: bytes[..count].to_vec(),
            head,
        }
    }
}

fn input<const W: usize>(run: &Run, seed: u64) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    let mut input = vec![run.words.len() as u32, run.beats.len() as u32, run.pause];
    input.extend(run.words.iter().flat_map(|(address, data)| [u32::from(*address), *data]));
    for (gap, beat) in &run.beats {
        let flags = u32::from(beat.start)
            | u32::from(beat.close) << 1
            | u32::from(beat.bank) << 2
            | (beat.command as u32) << 4
            | (beat.reason as u32) << 8
            | (beat.connection as u32) << 16;
        input.extend([*gap, flags, beat.bytes.len() as u32]);
        let bytes = beat.padded(W, &mut rng);
        input.extend(bytes.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    }
    input
}

/// Words in: counts of configuration words and beats, odds of a pause; then both. Words out: what is sent, each behind
/// a 1; then 0 and `bank_busy`.
const MAIN: &str = r#"#include "Vhttp.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

template <class T> static void take(T& port, const uint32_t* w) {
    port = (T)(w[0] | (uint64_t)w[1] << 32);
}
template <std::size_t N> static void take(VlWide<N>& port, const uint32_t* w) {
    for (std::size_t i = 0; i < N; ++i) port[i] = w[i];
}
template <class T> static void put(uint32_t* w, const T& port) {
    w[0] = (uint32_t)port;
    w[1] = (uint32_t)((uint64_t)port >> 32);
}
template <std::size_t N> static void put(uint32_t* w, const VlWide<N>& port) {
    for (std::size_t i = 0; i < N; ++i) w[i] = port[i];
}

static FILE* answers;
static uint32_t read_word() {
    uint32_t word;
    if (fread(&word, 4, 1, stdin) != 1) exit(2);
    return word;
}
static void write_words(const uint32_t* words, size_t count) { fwrite(words, 4, count, answers); }

int main() {
    answers = fdopen(dup(1), "wb");
    dup2(2, 1);
    VerilatedContext context;
    Vhttp top{&context};
    uint32_t clocks = 0, noise = 1, pauses = 0;
    bool paused = false;
    auto clock = [&] {
        noise ^= noise << 13, noise ^= noise >> 17, noise ^= noise << 5;
        top.pause = pauses && noise % pauses == 0;
        top.clock = 0;
        top.eval();
        bool taken = top.s_valid && top.s_ready;
        if (top.m_valid) {
            if (paused) exit(3);
            uint32_t out[6 + WORDS + 2] = {1}, keep[4] = {0}, count = 0;
            out[1] = top.m_first | top.m_last << 1 | top.m_bank << 2 | (uint32_t)top.m_connection << 8;
            put(keep, top.m_keep);
            for (uint32_t k : keep) count += __builtin_popcount(k);
            for (uint32_t i = 0; i < count; ++i) if (!(keep[i / 32] >> i % 32 & 1)) exit(4);
            out[2] = count;
            put(out + 3, top.m_head);
            put(out + 6, top.m_data);
            write_words(out, 6 + WORDS);
        }
        paused = top.pause;
        top.clock = 1;
        top.eval();
        ++clocks;
        return taken;
    };
    uint32_t words = read_word(), beats = read_word(), odds = read_word();
    for (; words; --words) {
        top.cfg_valid = 1;
        top.cfg_address = read_word();
        top.cfg_data = read_word();
        clock();
    }
    top.cfg_valid = 0;
    pauses = odds;
    for (; beats; --beats) {
        uint32_t gap = read_word(), flags = read_word(), data[WORDS];
        top.s_count = read_word();
        for (uint32_t& word : data) word = read_word();
        for (; gap; --gap) clock();
        top.s_start = flags & 1;
        top.s_close = flags >> 1 & 1;
        top.s_bank = flags >> 2 & 1;
        top.s_command = flags >> 4 & 3;
        top.s_reason = flags >> 8 & 31;
        top.s_connection = flags >> 16;
        take(top.s_data, data);
        top.s_valid = 1;
        for (uint32_t tries = 0; !clock(); ++tries) if (tries > 100000) exit(5);
        top.s_valid = 0;
    }
    pauses = 0;
    for (int i = 0; i < 4000; ++i) clock();
    uint32_t end[2] = {0, top.bank_busy};
    write_words(end, 2);
    fclose(answers);
    top.final();
    return 0;
}
"#;
