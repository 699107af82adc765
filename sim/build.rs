//! Emits the core, verilates it and links the model; the library is kept by the hash of what it is made from.
use forebay_hdl::core::{BoardCore8, EVENT_LATENCY_CLOCKS, RECORD_LATENCY_CLOCKS, VERDICT_LATENCY_CLOCKS};
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::shim;
use forebay_hdl_tools::verilator::{verilate, VerilateJob};
use std::error::Error;
use std::path::PathBuf;

const PREFIX: &str = "Vcore";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=FOREBAY_VERILATOR");
    println!("cargo:rerun-if-env-changed=FOREBAY_CACHE");
    let emitted = emit(&mut BoardCore8::default(), "core")?;
    let model = verilate(&VerilateJob::library(&emitted, PREFIX, true))?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("core.rs"), shim::rust_source(&emitted.ports, PREFIX, "Core", true))?;
    let latency = format!(
        "/// Clocks from the last beat of a request accepted by `scan` to its record, whatever the body.\n\
         pub const RECORD_LATENCY_CLOCKS: u32 = {RECORD_LATENCY_CLOCKS};\n\
         /// Clocks from a record to its verdict while nothing else waits.\n\
         pub const VERDICT_LATENCY_CLOCKS: u32 = {VERDICT_LATENCY_CLOCKS};\n\
         /// Clocks from a record to its event while nothing else waits.\n\
         pub const EVENT_LATENCY_CLOCKS: u32 = {EVENT_LATENCY_CLOCKS};\n"
    );
    std::fs::write(out.join("latency.rs"), latency)?;
    println!("cargo:rustc-env=FOREBAY_CORE_SHA256={}", emitted.sha256);
    println!("cargo:rustc-link-search=native={}", model.folder.display());
    for library in &model.libraries {
        println!("cargo:rustc-link-lib={library}");
    }
    Ok(())
}
