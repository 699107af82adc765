//! Speeds and their ratios, measured in one run on bodies that are always the same: the twin, the exact validator,
//! serde_json, simd-json and sonic-rs; the time of a whole decision on the twin; and the simulated core where it is
//! built in. `--json` prints one object.
mod corpus;
mod decision;
mod simulated;
mod software;

use corpus::{bodies, Body};
use decision::Times;
use forebay_device::DeviceError;
use simulated::Simulated;
use software::Speed;
use std::process::ExitCode;

/// Of the bodies that are read, the speeds, the times and the simulation.
#[derive(serde::Serialize)]
struct Report {
    software: Vec<Speed>,
    decisions: Vec<Times>,
    simulation: Vec<Simulated>,
}

fn measure(bodies: &[Body]) -> Result<Report, DeviceError> {
    let bundle = decision::bundle();
    let decisions = bodies.iter().map(|body| decision::times(body, &bundle)).collect::<Result<_, _>>()?;
    let software = bodies.iter().flat_map(software::speeds).collect();
    Ok(Report { software, decisions, simulation: simulated::speeds(bodies)? })
}

fn print(report: &Report) {
    println!("{:<18} {:<8} {:>10} {:>8} {:>20}", "", "body", "bytes", "GB/s", "twin is x as fast");
    for s in &report.software {
        let (rate, times) = (s.gigabytes_per_second, s.twin_is_times_as_fast);
        println!("{:<18} {:<8} {:>10} {rate:>8.2} {times:>20.2}", s.what, s.body, s.body_bytes);
    }
    println!("\n{:<18} {:<8} {:>10} {:>8} {:>20}", "", "body", "bytes", "p50 ns", "p99 ns");
    for t in &report.decisions {
        let (body, bytes) = (t.body, t.request_bytes);
        println!("{:<18} {body:<8} {bytes:>10} {:>8} {:>20}", "twin decision", t.p50_ns, t.p99_ns);
    }
    if report.simulation.is_empty() {
        return;
    }
    println!("\n{:<18} {:>19} {:>8} {:>10} {:>20}", "", "body bytes", "MB/s", "clocks/s", "body bytes a clock");
    for s in &report.simulation {
        let clocks_per_second = format!("{:.0}", s.clocks_per_second);
        let (rate, speed) = (s.body_bytes_per_clock, s.body_megabytes_per_second);
        println!("{:<18} {:>19} {speed:>8.1} {clocks_per_second:>10} {rate:>20.2}", "simulated core", s.body_bytes);
    }
}

fn main() -> ExitCode {
    let json = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--json" => true,
        [flag] if flag == "--help" => {
            println!("bench [--json]: speeds and their ratios in one run; --json prints them as one object");
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("bench: {} is no option; the options are --json and --help", other.join(" "));
            return ExitCode::from(2);
        }
    };
    match measure(&bodies()) {
        Ok(report) if json => println!("{}", serde_json::json!(report)),
        Ok(report) => print(&report),
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
