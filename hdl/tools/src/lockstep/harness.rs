//! The C++ program around a Verilated model: reads the inputs of a cycle as
//! little-endian 32-bit words, answers with the outputs of each phase.

use std::fmt::Write as _;

use crate::ports::Port;
use crate::shim::c_name;

/// Source of the program; `clock` is an index into `ports`.
pub(super) fn source(ports: &[Port], clock: Option<usize>, batch: usize) -> String {
    let (mut set, mut get) = (String::new(), String::new());
    // one filler word, so that a block without inputs has something to wait for
    let (mut input_words, mut output_words) = (1, 0);
    for (index, port) in ports.iter().enumerate() {
        let name = c_name(&port.name);
        if !port.is_input {
            let _ = writeln!(get, "        put(out + {output_words}, top.{name});");
            output_words += port.words();
        } else if clock != Some(index) {
            let _ = writeln!(set, "        take(top.{name}, in + {input_words});");
            input_words += port.words();
        }
    }
    let phases = match clock {
        Some(index) => {
            let name = c_name(&ports[index].name);
            format!("        top.{name} = 0;\n        answer();\n        top.{name} = 1;\n        answer();\n")
        }
        None => "        answer();\n".into(),
    };
    PROGRAM
        .replace("INPUT_WORDS", &input_words.to_string())
        .replace("OUTPUT_WORDS", &output_words.to_string())
        .replace("BATCH", &batch.to_string())
        .replace("    SET\n", &set)
        .replace("    GET\n", &get)
        .replace("    PHASES\n", &phases)
}

/// `$display` of the model must not mix with the answers: those get a copy of
/// standard output, and the original points to standard error.
const PROGRAM: &str = r#"#include "Vdut.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <unistd.h>

template <class T> static void take(T& port, const uint32_t* w) {
    uint64_t v = w[0];
    if (sizeof(T) > 4) v |= (uint64_t)w[sizeof(T) > 4] << 32;
    port = (T)v;
}
template <std::size_t N> static void take(VlWide<N>& port, const uint32_t* w) {
    for (std::size_t i = 0; i < N; ++i) port[i] = w[i];
}
template <class T> static void put(uint32_t* w, const T& port) {
    w[0] = (uint32_t)port;
    if (sizeof(T) > 4) w[sizeof(T) > 4] = (uint32_t)((uint64_t)port >> 32);
}
template <std::size_t N> static void put(uint32_t* w, const VlWide<N>& port) {
    for (std::size_t i = 0; i < N; ++i) w[i] = port[i];
}

int main() {
    FILE* answers = fdopen(dup(1), "wb");
    dup2(2, 1);
    VerilatedContext context;
    Vdut top{&context};
    uint32_t in[INPUT_WORDS] = {0}, out[OUTPUT_WORDS + 1] = {0};
    auto answer = [&] {
        top.eval();
    GET
        fwrite(out, 4, OUTPUT_WORDS, answers);
    };
    for (unsigned long n = 1; fread(in, 4, INPUT_WORDS, stdin) == INPUT_WORDS; ++n) {
    SET
    PHASES
        if (n % BATCH == 0) fflush(answers);
    }
    fclose(answers);
    top.final();
    return 0;
}
"#;
