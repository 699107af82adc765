//! The leaves of `http` against their own text: all of them in one program, which is told inputs and outputs.
use crate::common::pick;
use crate::random::Rng;
use forebay_hdl::http::*;
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::ports::{ports, values, Port};
use forebay_hdl_tools::verilator::{verilate, VerilateJob};
use rust_hdl::prelude::*;
use std::io::{BufWriter, Read, Write};
use std::process::{Command, Stdio};

const TEXT: &[u8] = b"\r\n\r\n :?/-1aAzZ09.\t\x00\x7f\x80\xff@[`{!HTTP/1.1\r\nbearer";

/// A leaf and what sets its inputs.
trait Case {
    fn text(&mut self, name: &str) -> String;
    fn ports(&self) -> Vec<Port>;
    /// Sets inputs, and appends the values of all ports.
    fn step(&mut self, rng: &mut Rng, words: &mut Vec<u32>);
}

struct Of<L, F> {
    leaf: L,
    drive: F,
}

impl<L: Block, F: Fn(&mut L, &mut Rng)> Case for Of<L, F> {
    fn text(&mut self, name: &str) -> String {
        emit(&mut self.leaf, name).unwrap_or_else(|e| panic!("{name}: {e}")).verilog
    }
    fn ports(&self) -> Vec<Port> {
        ports(&self.leaf)
    }
    fn step(&mut self, rng: &mut Rng, words: &mut Vec<u32>) {
        (self.drive)(&mut self.leaf, rng);
        assert!(simulate(&mut self.leaf, 100));
        values(&self.leaf, words);
    }
}

fn of<L: Block + Default + 'static>(drive: impl Fn(&mut L, &mut Rng) + 'static) -> Box<dyn Case> {
    Box::new(Of { leaf: L::default(), drive })
}

/// Any byte mask, few bits set or many.
fn any(rng: &mut Rng) -> u64 {
    let (a, b) = (rng.next() & 255, rng.next() & 255);
    pick(rng, &[a, a & b, a | b, 0])
}

/// One bit, or none.
fn one(rng: &mut Rng) -> u64 {
    (1 << rng.below(9)) & 255
}

/// Bytes of a lane: from the lowest up.
fn keep(rng: &mut Rng) -> u64 {
    let some = 1 + rng.below(8);
    (1 << pick(rng, &[8, some])) - 1
}

/// Bits without a gap.
fn run(rng: &mut Rng) -> u64 {
    let any = rng.below(9);
    let long = pick(rng, &[8, any, any]);
    ((1 << long) - 1) << rng.below(8) & 255
}

fn text(rng: &mut Rng) -> u64 {
    let any = rng.next();
    let word = (0..8).fold(0, |n, _| n << 8 | u64::from(pick(rng, TEXT)));
    pick(rng, &[word, word, any])
}

fn noise<const N: usize>(rng: &mut Rng) -> Bits<N> {
    crate::common::noise(rng)
}

/// Bits of a number below a limit, often near a place.
fn near<const N: usize>(rng: &mut Rng, place: u64) -> Bits<N> {
    let mask = (1 << N) - 1;
    let close = (place + rng.below(20)).wrapping_sub(10) & mask;
    let any = rng.next() & mask;
    pick(rng, &[close, close, any]).into()
}

/// Decimal digits, four bits each.
fn digits(rng: &mut Rng, count: u32) -> u64 {
    let near = pick(rng, &[16_777_216_u64, 255, 99_999_999, 999]) + rng.below(4);
    let any = rng.next() % 1_000_000_000;
    let value = pick(rng, &[near - 2, any]) % 10_u64.pow(count);
    (0..count).fold(0, |all, n| all | (value / 10_u64.pow(n) % 10) << (4 * n))
}

/// The text of a literal behind what may stand before it, the last character highest.
fn literal(rng: &mut Rng) -> Bits<120> {
    let names = [forebay_spec::http::METHODS.as_slice(), &forebay_spec::http::INFERENCE_PATHS].concat();
    let all = [names.as_slice(), &forebay_spec::http::HEADERS].concat();
    let code = |byte: u8| match byte {
        b'-' => 27,
        b'/' => 28,
        b'1' => 29,
        letter => u64::from(letter & 31),
    };
    let before = pick(rng, &[0, 30, 31, 27]);
    let text = pick(rng, &all);
    let damage = if rng.one_in(4) { rng.below(text.len() as u64 + 1) as usize } else { usize::MAX };
    let codes = text.bytes().rev().map(code).chain([before]).enumerate();
    codes.fold(noise(rng), |mut bits: Bits<120>, (n, code)| {
        let code = if n == damage { code ^ (1 << rng.below(5)) } else { code };
        bits.set_bits::<5>(5 * (23 - n), code.into());
        bits
    })
}

// tidy: long because it lists the parts of a lane
fn lane_cases() -> Vec<Box<dyn Case>> {
    vec![
        of(|l: &mut Classes, rng| {
            l.data.next = text(rng).into();
            l.keep.next = keep(rng).into();
        }),
        of(|l: &mut LaneScan, rng| {
            let (lf, cr) = (any(rng), any(rng));
            l.lf.next = lf.into();
            l.cr.next = (cr & !lf).into();
            l.colon.next = (any(rng) & !lf & !cr).into();
            l.space.next = (any(rng) & !lf).into();
            l.tchar.next = any(rng).into();
            l.printable.next = any(rng).into();
            l.keep.next = keep(rng).into();
        }),
        of(|l: &mut Lines, rng| {
            let (lf, cr) = (any(rng), any(rng));
            l.lf.next = lf.into();
            l.cr.next = (cr & !lf).into();
            l.colon.next = any(rng).into();
            l.ended.next = any(rng).into();
            l.marked.next = any(rng).into();
            l.named.next = (any(rng) & u64::from(l.marked.next)).into();
            l.no_value.next = any(rng).into();
            l.no_start.next = any(rng).into();
            l.no_name.next = any(rng).into();
            l.tail.next = rng.below(4).into();
            l.keep.next = keep(rng).into();
            l.state.next = rng.below(16).into();
        }),
        of(|l: &mut Spaces, rng| {
            l.space.next = any(rng).into();
            l.one.next = any(rng).into();
            l.two.next = any(rng).into();
            l.head.next = any(rng).into();
            l.state.next = rng.below(4).into();
        }),
        of(|l: &mut RequestLine, rng| {
            let method = run(rng);
            l.method.next = method.into();
            let target = any(rng) & !method;
            l.target.next = target.into();
            l.method_end.next = (one(rng) & method).into();
            l.target_end.next = (one(rng) & target).into();
            l.tchar.next = any(rng).into();
            l.visible.next = any(rng).into();
            l.keep.next = keep(rng).into();
            l.state.next = noise(rng);
        }),
        of(|l: &mut Version, rng| {
            let line = b"HTTP/1.1\r\n\0\0\0\0\0\0\0";
            let (bytes, end) = (rng.below(11), one(rng));
            let start = bytes as i64 - if end == 0 { 0 } else { bytes as i64 + 1 + i64::from(end.trailing_zeros()) };
            let byte = |n: i64| line.get((n + start) as usize).copied().unwrap_or(b'x');
            let data = (0..8).rev().fold(0, |data, n| data << 8 | u64::from(byte(n)));
            l.data.next = if rng.one_in(3) { data ^ 1 << rng.below(64) } else { data }.into();
            l.version.next = any(rng).into();
            l.target_end.next = end.into();
            l.bytes.next = bytes.into();
        }),
        of(|l: &mut Codes, rng| {
            l.data.next = text(rng).into();
            l.upper.next = any(rng).into();
            l.lower.next = any(rng).into();
            l.special.next = noise(rng);
            l.method.next = any(rng).into();
            l.head.next = any(rng).into();
        }),
        of(|l: &mut LiteralEnd, rng| {
            l.method_end.next = one(rng).into();
            // nothing of the rest can be before the end of the method
            let above = !(u64::from(l.method_end.next) | u64::from(l.method_end.next).wrapping_sub(1)) & 255;
            let above = if u64::from(l.method_end.next) == 0 { 255 } else { above };
            l.target.next = (any(rng) & above).into();
            l.target_end.next = (one(rng) & above).into();
            l.question.next = any(rng).into();
            l.name_end.next = (any(rng) & above).into();
        }),
        of(|l: &mut History, rng| {
            l.past.next = noise(rng);
            l.codes.next = noise(rng);
            l.keep.next = keep(rng).into();
        }),
        of(|l: &mut TextBefore, rng| {
            l.past.next = noise(rng);
            l.codes.next = noise(rng);
            l.place.next = one(rng).into();
        }),
        of(|l: &mut Literals, rng| l.text.next = if rng.one_in(8) { noise(rng) } else { literal(rng) }),
        of(|l: &mut HeaderBytes, rng| {
            l.keep.next = keep(rng).into();
            l.bytes.next = near(rng, 32_768);
        }),
    ]
}

// tidy: long because it lists the parts of a value
fn value_cases() -> Vec<Box<dyn Case>> {
    vec![
        of(|l: &mut ValueBytes, rng| {
            l.in_value.next = any(rng).into();
            l.after_cr.next = one(rng).into();
            l.stops.next = any(rng).into();
            l.blank.next = any(rng).into();
            l.place.next = one(rng).into();
        }),
        of(|l: &mut NameEnd, rng| {
            l.hits.next = (1 << rng.below(16) & 0x1fff).into();
            l.is_method.next = rng.one_in(4);
            l.going_on.next = any(rng).into();
            l.begins.next = any(rng).into();
            l.follows.next = any(rng).into();
            l.ends.next = rng.one_in(3);
            l.state.next = (rng.next() & 0x1f8 | rng.below(5)).into();
        }),
        of(|l: &mut Number, rng| {
            l.kind.next = rng.below(5).into();
            l.value.next = run(rng).into();
            l.fresh.next = rng.one_in(2);
            l.digit.next = (any(rng) | any(rng)).into();
            l.blank.next = any(rng).into();
            l.cr.next = any(rng).into();
            l.trail.next = rng.one_in(4);
        }),
        of(|l: &mut Digits, rng| {
            l.data.next = rng.next().into();
            l.digits.next = run(rng).into();
            l.kind.next = rng.below(4).into();
            l.fresh.next = rng.one_in(2);
            l.count.next = rng.below(16).into();
            l.text.next = noise(rng);
        }),
        of(|l: &mut Size, rng| {
            l.kind.next = (1 + rng.below(2)).into();
            l.digits.next = (digits(rng, 9) | digits(rng, 3) << 36).into();
        }),
        of(|l: &mut Pairs, rng| l.digits.next = (digits(rng, 9) | digits(rng, 3) << 36).into()),
        of(|l: &mut Four, rng| {
            l.high.next = rng.below(100).into();
            l.low.next = rng.below(100).into();
        }),
        of(|l: &mut TenThousand, rng| l.high.next = rng.below(10_000).into()),
        of(|l: &mut Length, rng| {
            l.product.next = noise(rng);
            l.low.next = rng.below(10_000).into();
        }),
        of(|l: &mut Credentials, rng| {
            l.kind.next = (2 + rng.below(3)).into();
            l.value.next = run(rng).into();
            l.fresh.next = rng.one_in(2);
            let read = rng.below(8);
            let scheme = [2, 5, 1, 18, 5, 18, 31, 0];
            let from = if l.fresh.next { -i64::from(u64::from(l.value.next).trailing_zeros()) } else { read as i64 };
            let code = |n: i64| scheme.get((n + from) as usize).copied().unwrap_or(3_u64);
            let codes = (0..8).fold(0, |codes, n| codes | code(n) << (5 * n));
            l.codes.next = if rng.one_in(3) { codes ^ 1 << rng.below(40) } else { codes }.into();
            l.cr.next = one(rng).into();
            l.blank.next = (any(rng) & any(rng)).into();
            l.printable.next = (any(rng) | any(rng)).into();
            l.state.next = (read | rng.below(2) << 3).into();
        }),
        of(|l: &mut WordLength, rng| {
            l.takes.next = run(rng).into();
            l.fresh.next = rng.one_in(4);
            l.bytes.next = near(rng, 250);
        }),
        of(|l: &mut TakeBytes, rng| {
            l.data.next = rng.next().into();
            l.start.next = rng.below(8).into();
            l.count.next = rng.below(9).into();
        }),
        of(|l: &mut Offences, rng| {
            l.keep.next = keep(rng).into();
            l.beyond.next = any(rng).into();
            l.place.next = one(rng).into();
            l.reason.next = rng.below(16).into();
            l.number.next = any(rng).into();
            l.ends.next = one(rng).into();
            l.kind.next = rng.below(5).into();
            l.credential.next = any(rng).into();
            l.line.next = any(rng).into();
            l.request.next = any(rng).into();
        }),
        of(|l: &mut FirstOffence, rng| {
            l.bad.next = any(rng).into();
            l.sized.next = one(rng).into();
            l.over.next = rng.one_in(2);
            l.reasons.next = noise(rng);
        }),
    ]
}

// tidy: long because it lists the parts of a beat
fn beat_cases() -> Vec<Box<dyn Case>> {
    vec![
        of(|l: &mut LineEnds<8, 64>, rng| l.data.next = text(rng).into()),
        of(|l: &mut HeaderEnds<8>, rng| {
            l.lf.next = any(rng).into();
            l.cr.next = any(rng).into();
            l.count.next = rng.below(9).into();
        }),
        of(|l: &mut HeaderEnds<64>, rng| {
            l.lf.next = noise(rng);
            l.cr.next = noise(rng);
            l.count.next = rng.below(65).into();
        }),
        of(|l: &mut LaneOf<64>, rng| {
            l.mask.next = noise(rng);
            l.lane.next = rng.below(8).into();
            l.cut.next = rng.one_in(2);
            l.place.next = rng.below(8).into();
        }),
        of(|l: &mut LaneEnd, rng| {
            l.ends.next = (any(rng) & any(rng)).into();
            l.early.next = (rng.below(4) & rng.below(4)).into();
            l.is_last.next = rng.one_in(2);
            l.bytes.next = (1 + rng.below(8)).into();
        }),
        of(|l: &mut LaneKeep, rng| {
            l.stop.next = rng.below(9).into();
            l.start.next = rng.below(8).into();
        }),
        of(|l: &mut BodyStep, rng| {
            let any = rng.next() & 0x1ff_ffff;
            let close = pick(rng, &[0, 128, 256, 1 << 20]) + rng.below(140);
            let left = pick(rng, &[any, close, close]).max(1);
            l.left.next = left.into();
            l.many.next = left > 127;
            l.rest.next = (1 + rng.below(64)).into();
        }),
        of(|l: &mut DropBytes<128>, rng| {
            l.data.next = noise(rng);
            l.count.next = rng.below(8).into();
        }),
        of(|l: &mut DropLanes<128>, rng| {
            l.data.next = noise(rng);
            l.count.next = rng.below(2).into();
        }),
        of(|l: &mut Mask<64>, rng| l.count.next = rng.below(80).into()),
        of(|l: &mut Notes, rng| {
            l.start.next = rng.one_in(2);
            l.close.next = rng.one_in(2);
            l.command.next = rng.below(4).into();
            l.bank.next = rng.one_in(2);
            l.reason.next = rng.below(32).into();
        }),
        of(|l: &mut Along, rng| {
            l.notes.next = noise(rng);
            l.start.next = rng.one_in(2);
            l.special.next = rng.one_in(2);
            l.body.next = rng.one_in(2);
            l.last.next = rng.one_in(2);
            l.life.next = rng.below(32).into();
            l.count.next = rng.below(65).into();
        }),
        of(|l: &mut UnderWay, rng| {
            l.count.next = near(rng, 256);
            l.up.next = rng.one_in(2);
            l.down.next = rng.one_in(2);
            l.clear.next = rng.one_in(8);
        }),
        of(|l: &mut NextIndex, rng| l.index.next = near(rng, 0)),
    ]
}

/// Runs all leaves side by side; panics with the first value that differs.
pub(crate) fn compare(steps: usize, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut cases = [lane_cases(), value_cases(), beat_cases()].into_iter().flatten().collect::<Vec<_>>();
    let mut modules = String::new();
    let (mut head, mut body, mut code) = (Vec::new(), String::new(), String::new());
    for (i, case) in cases.iter_mut().enumerate() {
        let name = format!("leaf{i}");
        modules += &case.text(&name);
        let ports = case.ports();
        let wires: Vec<String> = ports.iter().map(|p| format!(".{p}({name}_{p})", p = p.name)).collect();
        body += &format!("  {name} u{i}({});\n", wires.join(", "));
        for port in ports.iter().filter(|p| p.is_input) {
            head.push(format!("input [{}:0] {name}_{}", port.width - 1, port.name));
            code += &format!("        take(top.{name}_{});\n", port.name);
        }
    }
    code += "        top.eval();\n";
    // the words of a leaf's inputs come first, then those of its outputs
    for (i, case) in cases.iter().enumerate() {
        for port in case.ports().iter().filter(|p| !p.is_input) {
            head.push(format!("output [{}:0] leaf{i}_{}", port.width - 1, port.name));
            code += &format!("        check(top.leaf{i}_{p}, \"leaf {i}: {p}\", n);\n", p = port.name);
        }
    }
    let verilog = format!("{modules}\nmodule leaves(\n  {});\n{body}endmodule\n", head.join(",\n  "));
    let job = VerilateJob {
        shim: MAIN.replace("    CODE\n", &code),
        program: true,
        ..VerilateJob::new(&verilog, "leaves", "Vleaves")
    };
    let program = verilate(&job).expect("Verilator builds it").program;
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = BufWriter::new(child.stdin.take().expect("a pipe"));
    for _ in 0..steps {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for case in &mut cases {
            let mut words = Vec::new();
            case.step(&mut rng, &mut words);
            split(&case.ports(), &words, &mut inputs, &mut outputs);
        }
        let bytes: Vec<u8> = inputs.iter().chain(&outputs).flat_map(|w| w.to_le_bytes()).collect();
        if stdin.write_all(&bytes).is_err() {
            break;
        }
    }
    drop(stdin);
    let mut said = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert!(child.wait().expect("it ends").success() && said == format!("{steps} steps\n"), "{said}");
}

/// Words of a leaf's inputs and of its outputs, each in the order of the ports.
fn split(ports: &[Port], words: &[u32], inputs: &mut Vec<u32>, outputs: &mut Vec<u32>) {
    let mut at = 0;
    for port in ports {
        let value = &words[at..at + port.words()];
        at += port.words();
        if port.is_input {
            inputs.extend(value)
        } else {
            outputs.extend(value)
        }
    }
}

/// Words in: inputs of all leaves, then their outputs. Says what differs, or how many steps were alike.
const MAIN: &str = r#"#include "Vleaves.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static unsigned long steps = 0;
static uint32_t word() {
    uint32_t w;
    if (fread(&w, 4, 1, stdin) == 1) return w;
    printf("%lu steps\n", steps);
    exit(0);
}
template <class T> static uint64_t value(const T&) {
    uint64_t v = word();
    if (sizeof(T) > 4) v |= (uint64_t)word() << 32;
    return v;
}
template <class T> static void take(T& port) { port = (T)value(port); }
template <std::size_t N> static void take(VlWide<N>& port) {
    for (std::size_t i = 0; i < N; ++i) port[i] = word();
}
template <class T> static void check(const T& port, const char* name, unsigned long n) {
    uint64_t rust = value(port);
    if (rust == port) return;
    printf("%s at step %lu: %llx in Rust, %llx in Verilog\n", name, n, (unsigned long long)rust, (unsigned long long)port);
    exit(1);
}
template <std::size_t N> static void check(const VlWide<N>& port, const char* name, unsigned long n) {
    for (std::size_t i = 0; i < N; ++i) {
        uint32_t w = word();
        if (w == port[i]) continue;
        printf("%s at step %lu, word %zu: %x in Rust, %x in Verilog\n", name, n, i, w, port[i]);
        exit(1);
    }
}

int main() {
    VerilatedContext context;
    Vleaves top{&context};
    for (unsigned long n = 0;; ++n, ++steps) {
    CODE
    }
}
"#;
