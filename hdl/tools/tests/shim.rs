//! A model through its shim. The Rust side of the shim is compiled and linked
//! with `rustc` against the library, as a build script would do it.
#![allow(clippy::unwrap_used)]

mod blocks;

use blocks::samples::Sample;
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::shim;
use forebay_hdl_tools::verilator::{verilate, VerilateJob};
use std::process::Command;

const MAIN: &str = r#"
mod model { include!("model.rs"); }
use model::{Inputs, Model};

fn main() {
    let mut model = Model::new();
    model.trace_open(&std::env::args().nth(1).unwrap()).unwrap();
    let mut inputs = Inputs { lane_0: 3, lane_1: 250, go: 1, ..Inputs::default() };
    inputs.wide[3] = 0xf9; // only four of these bits are in the port
    inputs.go = 0xff;
    let first = model.step(&inputs);
    assert_eq!((first.total_0, first.running, first.ticks), (0, 0, 0));
    let peek = model.eval(&inputs);
    assert_eq!((peek.total_0, peek.running, peek.ticks), (3, 1, 0x1_0000_0001));
    let second = model.step(&inputs);
    assert_eq!(second, peek);
    assert_eq!(model.step(&inputs).total_1, (2 * 250) as u8);
    assert_eq!(model.eval(&inputs).kept, [0, 0, 0, 9]);
    model.trace_close();
    let mut other = std::thread::spawn(Model::new).join().unwrap();
    assert_eq!(other.eval(&inputs).total_0, 0);
}
"#;

#[test]
fn a_rust_program_steps_the_model() {
    let emitted = emit(&mut Sample::default(), "sample").unwrap();
    let job = VerilateJob::library(&emitted, "Vsample", true);
    let model = verilate(&job).unwrap();
    assert!(verilate(&job).unwrap().from_cache);

    let folder = std::env::temp_dir().join(format!("forebay-shim-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = shim::rust_source(&emitted.ports, "Vsample", "Model", true);
    std::fs::write(folder.join("model.rs"), text).unwrap();
    std::fs::write(folder.join("main.rs"), MAIN).unwrap();
    let mut rustc = Command::new("rustc");
    rustc.current_dir(&folder).args(["--edition", "2021", "-D", "warnings", "-A", "dead_code"]);
    rustc.arg("-L").arg(format!("native={}", model.folder.display()));
    for library in &model.libraries {
        rustc.arg("-l").arg(library);
    }
    let compiled = rustc.args(["main.rs", "-o", "main"]).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let wave = folder.join("wave.vcd");
    let ran = Command::new(folder.join("main")).arg(&wave).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    // three clocks, two samples each
    let text = std::fs::read_to_string(&wave).unwrap();
    assert!(text.contains("#5") && !text.contains("#6"));
    std::fs::remove_dir_all(&folder).unwrap();
}
