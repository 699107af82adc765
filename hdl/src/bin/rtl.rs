//! Writes the Verilog of every block and top: `rtl --out DIR`, one file each and `blocks.tsv`, their list.
use forebay_hdl::core::{BoardCore8, ProofCore8};
use forebay_hdl::front::BoardFront8;
use forebay_hdl::{
    arbiter, burst, connection, dma, fields, fill, frame, http, inline, models, patterns, scan, scheduler, tag,
    tenants, text, timer, verdict,
};
use forebay_hdl_tools::emit::{emit, Emitted};
use rust_hdl::prelude::Block;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A row of `blocks.tsv`: block, name of the top module, profile, bytes a beat, and how it is made.
struct Entry {
    block: &'static str,
    top: &'static str,
    profile: &'static str,
    width: &'static str,
    make: fn(&str) -> Result<Emitted, String>,
}

fn make<B: Block + Default>(top: &str) -> Result<Emitted, String> {
    emit(&mut B::default(), top).map_err(|e| e.to_string())
}

const ENTRIES: [Entry; 33] = [
    Entry { block: "frame", top: "frame", profile: "board", width: "8", make: make::<frame::Frame<8, 64, 11, 12>> },
    Entry {
        block: "frame",
        top: "frame_64",
        profile: "fleet",
        width: "64",
        make: make::<frame::Frame<64, 512, 9, 10>>,
    },
    Entry {
        block: "connection",
        top: "connection",
        profile: "board",
        width: "8",
        make: make::<connection::Connection<8, 64, 8, 11>>,
    },
    Entry {
        block: "connection",
        top: "connection_64",
        profile: "fleet",
        width: "64",
        make: make::<connection::Connection<64, 512, 10, 13>>,
    },
    Entry { block: "inline", top: "inline", profile: "board", width: "8", make: make::<inline::BoardInline8> },
    Entry { block: "inline", top: "inline_64", profile: "fleet", width: "64", make: make::<inline::FleetInline64> },
    Entry { block: "http", top: "http", profile: "board", width: "8", make: make::<http::Http<8, 64, 8>> },
    Entry { block: "http", top: "http_64", profile: "fleet", width: "64", make: make::<http::Http<64, 512, 10>> },
    Entry { block: "tag", top: "tag", profile: "", width: "8", make: make::<tag::Tag> },
    Entry { block: "tenants", top: "tenants", profile: "", width: "", make: make::<tenants::Tenants> },
    Entry { block: "scan", top: "scan", profile: "board", width: "8", make: make::<scan::Scan<8, 64, 8>> },
    Entry { block: "scan", top: "scan_64", profile: "fleet", width: "64", make: make::<scan::Scan<64, 512, 10>> },
    Entry { block: "fields", top: "fields", profile: "board", width: "8", make: make::<fields::Fields<8, 64, 8>> },
    Entry {
        block: "fields",
        top: "fields_64",
        profile: "fleet",
        width: "64",
        make: make::<fields::Fields<64, 512, 10>>,
    },
    Entry { block: "text", top: "text", profile: "board", width: "8", make: make::<text::Text<8, 64, 8>> },
    Entry { block: "text", top: "text_64", profile: "fleet", width: "64", make: make::<text::Text<64, 512, 10>> },
    Entry { block: "models", top: "models", profile: "", width: "", make: make::<models::Models> },
    Entry { block: "patterns", top: "patterns", profile: "", width: "", make: make::<patterns::Patterns<7, 7>> },
    Entry { block: "arbiter", top: "arbiter", profile: "", width: "", make: make::<arbiter::Arbiter> },
    Entry { block: "verdict", top: "verdict", profile: "board", width: "", make: make::<verdict::BoardVerdict> },
    Entry { block: "burst", top: "burst", profile: "board", width: "", make: make::<burst::BoardBurst> },
    Entry { block: "burst", top: "burst_proof", profile: "proof", width: "", make: make::<burst::ProofBurst> },
    Entry { block: "timer", top: "timer", profile: "board", width: "", make: make::<timer::BoardTimer> },
    Entry { block: "timer", top: "timer_fleet", profile: "fleet", width: "", make: make::<timer::FleetTimer> },
    Entry {
        block: "scheduler",
        top: "scheduler",
        profile: "board",
        width: "",
        make: make::<scheduler::BoardScheduler>,
    },
    Entry {
        block: "scheduler",
        top: "scheduler_proof",
        profile: "proof",
        width: "",
        make: make::<scheduler::ProofScheduler>,
    },
    Entry { block: "dma", top: "dma", profile: "board", width: "8", make: make::<dma::Dma8> },
    Entry { block: "dma", top: "dma_64", profile: "fleet", width: "64", make: make::<dma::Dma64> },
    Entry { block: "fill", top: "fill", profile: "board", width: "8", make: make::<fill::BoardFill8> },
    Entry { block: "fill", top: "fill_64", profile: "fleet", width: "64", make: make::<fill::FleetFill64> },
    Entry { block: "core", top: "core", profile: "board", width: "8", make: make::<BoardCore8> },
    Entry { block: "core", top: "core_proof", profile: "proof", width: "8", make: make::<ProofCore8> },
    Entry { block: "front", top: "front", profile: "board", width: "8", make: make::<BoardFront8> },
];

fn write_all(out: &Path) -> Result<(), String> {
    let fail = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(out).map_err(|e| fail(out, e))?;
    let mut list = String::from("block\ttop\tfile\tsha256\tprofile\twidth\n");
    for entry in &ENTRIES {
        let emitted = (entry.make)(entry.top).map_err(|e| format!("{}: {e}", entry.top))?;
        let name = format!("{}.v", entry.top);
        let path = out.join(&name);
        std::fs::write(&path, &emitted.verilog).map_err(|e| fail(&path, e))?;
        list += &format!(
            "{}\t{}\t{name}\t{}\t{}\t{}\n",
            entry.block, entry.top, emitted.sha256, entry.profile, entry.width
        );
    }
    let path = out.join("blocks.tsv");
    std::fs::write(&path, list).map_err(|e| fail(&path, e))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let out = match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (Some("--out"), Some(out), None) => PathBuf::from(out),
        _ => {
            eprintln!("usage: rtl --out DIR    writes the Verilog of every block into DIR, and blocks.tsv, their list");
            return ExitCode::from(2);
        }
    };
    match write_all(&out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("rtl: {e}");
            ExitCode::FAILURE
        }
    }
}
