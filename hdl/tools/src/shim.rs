//! The seam between Rust and a Verilated model: C++ that sets inputs, evaluates
//! and samples outputs, and the Rust text that calls it.
//!
//! One call per clock: inputs are set, the model is evaluated with the clock
//! low, the outputs are sampled, then the clock rises.

use std::fmt::Write as _;

use crate::ports::Port;

/// Name of the clock that the shim drives itself.
pub const CLOCK: &str = "clock";

/// C++ source for a model compiled with class name `prefix`. `trace` must match
/// the job's. All functions have C linkage and start with `<prefix>_`.
pub fn c_source(ports: &[Port], prefix: &str, trace: bool) -> String {
    let mut s = format!("#include \"{prefix}.h\"\n#include \"verilated.h\"\n");
    if trace {
        s += "#include \"verilated_vcd_c.h\"\n";
    }
    s += "#include <cstdint>\n#include <cstring>\n\n";
    c_struct(&mut s, prefix, "Inputs", &inputs(ports));
    c_struct(&mut s, prefix, "Outputs", &outputs(ports));
    let field = if trace { "    VerilatedVcdC* vcd = nullptr;\n    uint64_t time = 0;\n" } else { "" };
    let _ = writeln!(
        s,
        "struct {prefix}_Model {{\n    VerilatedContext context;\n    {prefix} top{{&context}};\n{field}}};\n"
    );
    let _ = writeln!(s, "static void set(Model& m, const Inputs* in) {{");
    for p in inputs(ports) {
        let _ = writeln!(s, "    {}", copy_in(p));
    }
    s += "}\n\nstatic void get(Model& m, Outputs* out) {\n";
    for p in outputs(ports) {
        let _ = writeln!(
            s,
            "    {}",
            copy(p, &format!("out->{}", field_name(&p.name)), &format!("m.top.{}", c_name(&p.name)))
        );
    }
    s += "}\n";
    let s = s
        .replace("(Model& m", &format!("({prefix}_Model& m"))
        .replace("const Inputs*", &format!("const {prefix}_Inputs*"))
        .replace(", Outputs*", &format!(", {prefix}_Outputs*"));
    s + &c_functions(prefix, has_clock(ports), trace)
}

/// The calls that Rust makes.
fn c_functions(prefix: &str, clock: bool, trace: bool) -> String {
    let (low, high) =
        if clock { ("    m->top.clock = 0;\n", "    m->top.clock = 1;\n    m->top.eval();\n") } else { ("", "") };
    let dump = if trace { "    dump(*m);\n" } else { "" };
    let dump_fn = "static void dump(P_Model& m) { if (m.vcd) m.vcd->dump(m.time++); }\n";
    let close = "    if (m->vcd) { m->vcd->close(); delete m->vcd; m->vcd = nullptr; }\n";
    let mut s = format!(
        "{}
extern \"C\" {{

P_Model* P_new() {{
    P_Model* m = new P_Model;
{}    m->top.eval();
    return m;
}}

void P_free(P_Model* m) {{
{}    m->top.final();
    delete m;
}}

void P_eval_low(P_Model* m, const P_Inputs* in, P_Outputs* out) {{
    set(*m, in);
{low}    m->top.eval();
    get(*m, out);
}}

void P_step(P_Model* m, const P_Inputs* in, P_Outputs* out) {{
    P_eval_low(m, in, out);
{dump}{high}{dump}}}
",
        if trace { dump_fn } else { "" },
        if trace { "    m->context.traceEverOn(true);\n" } else { "" },
        if trace { close } else { "" },
    );
    if trace {
        let _ = write!(
            s,
            "
void P_trace_open(P_Model* m, const char* path) {{
    if (m->vcd) return;
    m->vcd = new VerilatedVcdC;
    m->top.trace(m->vcd, 99);
    m->vcd->open(path);
}}

void P_trace_close(P_Model* m) {{
{close}}}
"
        );
    }
    s += "\n}\n";
    s.replace("P_", &format!("{prefix}_"))
}

/// Rust source for `include!`: `pub struct <name>` with its inputs and outputs,
/// in a module of its own at the place of the include.
pub fn rust_source(ports: &[Port], prefix: &str, name: &str, trace: bool) -> String {
    let mut s = String::new();
    rust_struct(&mut s, "Inputs", "Values of the inputs, the clock excepted.", &inputs(ports));
    s.push('\n');
    rust_struct(&mut s, "Outputs", "Values of the outputs.", &outputs(ports));
    let trace_calls = "        pub(super) fn P_trace_open(model: *mut Raw, path: *const std::ffi::c_char);
        pub(super) fn P_trace_close(model: *mut Raw);
";
    let trace_methods = "
    /// Writes a waveform to `path` from here on, two samples per clock.
    pub fn trace_open(&mut self, path: &str) -> Result<(), std::ffi::NulError> {
        let path = std::ffi::CString::new(path)?;
        // SAFETY: the model is alive and `path` ends with a zero byte
        unsafe { raw::P_trace_open(self.0.as_ptr(), path.as_ptr()) }
        Ok(())
    }

    /// Ends the waveform.
    pub fn trace_close(&mut self) {
        // SAFETY: the model is alive
        unsafe { raw::P_trace_close(self.0.as_ptr()) }
    }
";
    s += &RUST_MODEL
        .replace("{TRACE_CALLS}", if trace { trace_calls } else { "" })
        .replace("{TRACE_METHODS}", if trace { trace_methods } else { "" })
        .replace("P_", &format!("{prefix}_"))
        .replace("NAME", name);
    s
}

const RUST_MODEL: &str = "
#[allow(non_snake_case)]
mod raw {
    use super::{Inputs, Outputs};

    #[repr(C)]
    pub(super) struct Raw {
        _opaque: [u8; 0],
    }

    extern \"C\" {
        pub(super) fn P_new() -> *mut Raw;
        pub(super) fn P_free(model: *mut Raw);
        pub(super) fn P_eval_low(model: *mut Raw, inputs: *const Inputs, outputs: *mut Outputs);
        pub(super) fn P_step(model: *mut Raw, inputs: *const Inputs, outputs: *mut Outputs);
{TRACE_CALLS}    }
}

/// A Verilated model.
pub struct NAME(std::ptr::NonNull<raw::Raw>);

// SAFETY: the model owns all its state and is used through `&mut` only, so it
// may move to another thread; it is not `Sync`
unsafe impl Send for NAME {}

impl Default for NAME {
    fn default() -> Self {
        Self::new()
    }
}

impl NAME {
    /// A model in its start state.
    pub fn new() -> Self {
        // SAFETY: no arguments; the result is checked
        let model = unsafe { raw::P_new() };
        Self(std::ptr::NonNull::new(model).expect(\"the model is allocated\"))
    }

    /// One clock: returns the outputs as they are just before the edge.
    pub fn step(&mut self, inputs: &Inputs) -> Outputs {
        let mut outputs = Outputs::default();
        // SAFETY: the model is alive, both structures have the C layout
        unsafe { raw::P_step(self.0.as_ptr(), inputs, &mut outputs) }
        outputs
    }

    /// The outputs for these inputs, without a clock edge.
    pub fn eval(&mut self, inputs: &Inputs) -> Outputs {
        let mut outputs = Outputs::default();
        // SAFETY: as in `step`
        unsafe { raw::P_eval_low(self.0.as_ptr(), inputs, &mut outputs) }
        outputs
    }
{TRACE_METHODS}}

impl Drop for NAME {
    fn drop(&mut self) {
        // SAFETY: `new` made the model and nobody else frees it
        unsafe { raw::P_free(self.0.as_ptr()) }
    }
}
";

fn has_clock(ports: &[Port]) -> bool {
    ports.iter().any(|p| p.is_input && p.name == CLOCK)
}

fn inputs(ports: &[Port]) -> Vec<&Port> {
    ports.iter().filter(|p| p.is_input && p.name != CLOCK).collect()
}

fn outputs(ports: &[Port]) -> Vec<&Port> {
    ports.iter().filter(|p| !p.is_input).collect()
}

/// Verilator's C++ name of a port: `a$b` is `a__024b`, and `__` is `___05F`.
pub fn c_name(name: &str) -> String {
    name.replace("__", "___05F").replace('$', "__024")
}

/// Name of a port as a field of both structures.
pub fn field_name(name: &str) -> String {
    name.replace('$', "_")
}

fn c_type(width: usize) -> &'static str {
    match width {
        0..=8 => "uint8_t",
        9..=16 => "uint16_t",
        17..=32 => "uint32_t",
        33..=64 => "uint64_t",
        _ => "uint32_t",
    }
}

/// Verilator expects zeros above the width of an input, so they are cut off here.
fn copy_in(port: &Port) -> String {
    let (to, from) = (c_name(&port.name), field_name(&port.name));
    let copied = copy(port, &format!("m.top.{to}"), &format!("in->{from}"));
    match (port.width, port.width % 32) {
        (8 | 16 | 32 | 64, _) => copied,
        (width @ 0..=63, _) => format!("m.top.{to} = in->{from} & {:#x}ull;", (1u64 << width) - 1),
        (_, 0) => copied,
        (_, spare) => {
            format!("{copied} m.top.{to}[{}] &= {:#x}u;", port.words() - 1, (1u32 << spare) - 1)
        }
    }
}

fn copy(port: &Port, to: &str, from: &str) -> String {
    if port.width > 64 {
        format!("for (int i = 0; i < {}; ++i) {to}[i] = {from}[i];", port.words())
    } else {
        format!("{to} = {from};")
    }
}

fn c_struct(s: &mut String, prefix: &str, name: &str, ports: &[&Port]) {
    let _ = writeln!(s, "struct {prefix}_{name} {{");
    for p in ports {
        let array = if p.width > 64 { format!("[{}]", p.words()) } else { String::new() };
        let _ = writeln!(s, "    {} {}{array};", c_type(p.width), field_name(&p.name));
    }
    s.push_str("};\n\n");
}

fn rust_struct(s: &mut String, name: &str, doc: &str, ports: &[&Port]) {
    // arrays beyond 32 elements have no Default, so it is written out for them
    let long = ports.iter().any(|p| p.width > 32 * 32);
    let derive = if long { "" } else { ", Default" };
    let _ = writeln!(
        s,
        "/// {doc}\n#[repr(C)]\n#[derive(Clone, Copy, Debug{derive}, PartialEq, Eq)]\npub struct {name} {{"
    );
    for p in ports {
        let _ = writeln!(s, "    /// Width in bits: {}.\n    pub {}: {},", p.width, field_name(&p.name), rust_type(p));
    }
    s.push_str("}\n");
    if !long {
        return;
    }
    let _ = writeln!(s, "\nimpl Default for {name} {{\n    fn default() -> Self {{\n        Self {{");
    for p in ports {
        let zero = if p.width > 64 { format!("[0; {}]", p.words()) } else { "0".into() };
        let _ = writeln!(s, "            {}: {zero},", field_name(&p.name));
    }
    s.push_str("        }\n    }\n}\n");
}

fn rust_type(port: &Port) -> String {
    match port.width {
        0..=8 => "u8".into(),
        9..=16 => "u16".into(),
        17..=32 => "u32".into(),
        33..=64 => "u64".into(),
        _ => format!("[u32; {}]", port.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, width: usize) -> Port {
        Port { name: name.into(), is_input: true, width, hex: "0".into() }
    }

    #[test]
    fn inputs_are_cut_to_their_width() {
        assert_eq!(copy_in(&port("a", 8)), "m.top.a = in->a;");
        assert_eq!(copy_in(&port("a__b", 3)), "m.top.a___05Fb = in->a__b & 0x7ull;");
        assert!(copy_in(&port("a", 100)).ends_with(" m.top.a[3] &= 0xfu;"));
    }

    #[test]
    fn long_arrays_get_a_default() {
        let text = rust_source(&[port("a", 2048)], "Va", "Model", false);
        assert!(text.contains("pub a: [u32; 64]"));
        assert!(text.contains("impl Default for Inputs"));
        assert!(!text.contains("trace_open"));
    }
}
