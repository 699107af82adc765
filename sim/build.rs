//! Emits the cores, the fronts, the burst scheduler alone and with its arbiter and timer, verilates them and links the models; a library is kept
//! by the hash of what it is made from.
use forebay_hdl::burst::{BoardBurst, DUE_CLOCKS, INTERVAL_CLOCKS, LATENCY_CLOCKS};
use forebay_hdl::core::{BoardCore8, FleetCore64, EVENT_LATENCY_CLOCKS, LINGER_CLOCKS, VERDICT_LATENCY_CLOCKS};
use forebay_hdl::front::{BoardFront8, FleetFront64, REQUEST_CLOCKS};
use forebay_hdl::scheduler::{self, BoardScheduler};
use forebay_hdl_tools::emit::{emit, Emitted};
use forebay_hdl_tools::shim;
use forebay_hdl_tools::verilator::{verilate, VerilateJob};
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=FOREBAY_VERILATOR");
    println!("cargo:rerun-if-env-changed=FOREBAY_CACHE");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    link(&emit(&mut BoardCore8::default(), "core")?, "board8", "Core", &out)?;
    link(&emit(&mut FleetCore64::default(), "core")?, "fleet64", "Core", &out)?;
    link(&emit(&mut BoardFront8::default(), "front")?, "front8", "Front", &out)?;
    link(&emit(&mut FleetFront64::default(), "front")?, "front64", "Front", &out)?;
    link(&emit(&mut BoardBurst::default(), "burst")?, "burst_board", "Burst", &out)?;
    link(&emit(&mut BoardScheduler::default(), "scheduler")?, "scheduler_board", "Scheduler", &out)?;
    let (event, verdict) = (scheduler::EVENT_CLOCKS, scheduler::LATENCY_CLOCKS);
    let latency = format!(
        "/// Clocks from a record to its verdict while nothing else waits.\n\
         pub const VERDICT_LATENCY_CLOCKS: u32 = {VERDICT_LATENCY_CLOCKS};\n\
         /// Clocks from a record to its event while nothing else waits.\n\
         pub const EVENT_LATENCY_CLOCKS: u32 = {EVENT_LATENCY_CLOCKS};\n\
         /// Clocks for which a bank is shown as in use behind the last sign of it.\n\
         pub const LINGER_CLOCKS: u32 = {LINGER_CLOCKS};\n\
         /// Clocks from the last beat of a plain frame with a whole request to its verdict, beside those for its bytes.\n\
         pub const REQUEST_CLOCKS: u32 = {REQUEST_CLOCKS};\n\
         /// Clocks from one event of the burst scheduler to the next.\n\
         pub const BURST_INTERVAL_CLOCKS: u32 = {INTERVAL_CLOCKS};\n\
         /// Clocks from an event of the burst scheduler to its verdict.\n\
         pub const BURST_LATENCY_CLOCKS: u32 = {LATENCY_CLOCKS};\n\
         /// Clocks from an event of the burst scheduler to where it shows which binds are due after it.\n\
         pub const BURST_DUE_CLOCKS: u32 = {DUE_CLOCKS};\n\
         /// Clocks from an input that the scheduler takes to its event.\n\
         pub const SCHEDULER_EVENT_CLOCKS: u32 = {event};\n\
         /// Clocks from a record that the scheduler takes to its verdict.\n\
         pub const SCHEDULER_LATENCY_CLOCKS: u32 = {verdict};\n"
    );
    std::fs::write(out.join("latency.rs"), latency)?;
    Ok(())
}

/// Makes the module `name` of a top, with its model under the name `of`.
fn link(emitted: &Emitted, name: &str, of: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    let prefix = format!("V{name}");
    let model = verilate(&VerilateJob::library(emitted, &prefix, true))?;
    std::fs::write(out.join(format!("{name}.rs")), shim::rust_source(&emitted.ports, &prefix, of, true))?;
    println!("cargo:rustc-env=FOREBAY_{}_SHA256={}", name.to_uppercase(), emitted.sha256);
    println!("cargo:rustc-link-search=native={}", model.folder.display());
    for library in &model.libraries {
        println!("cargo:rustc-link-lib={library}");
    }
    Ok(())
}
