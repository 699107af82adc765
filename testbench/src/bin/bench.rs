//! Speeds and their ratios, measured in one run: the twin, the exact path and serde_json on the same bodies, and the
//! simulated core where it is built in. `--json` prints one object.
use forebay_decide::datapath::Datapath;
use forebay_decide::exact::json;
use forebay_decide::Bundle;
use forebay_device::DeviceError;
use forebay_spec::limits::PROOF;
use forebay_testbench::agree::plain_request;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long each speed is measured.
const TIME: Duration = Duration::from_millis(500);
/// Runs of which the fastest counts: other work on the machine only makes a run slower.
const RUNS: u32 = 3;

const BODY_BYTES: [usize; 2] = [2_000, 100_000];

#[derive(serde::Serialize)]
struct Speed {
    what: &'static str,
    body_bytes: usize,
    megabytes_per_second: f64,
    times_serde_json: f64,
}

/// A request body of about this many bytes, mostly prompt, as clients send them.
fn body(bytes: usize) -> Vec<u8> {
    let mut prompt = String::new();
    while prompt.len() < bytes {
        prompt.push_str("The quick brown fox said \"max_tokens\": 7 and jumped over the lazy d\u{f6}g.\n");
    }
    let message = serde_json::json!({"role": "user", "content": prompt});
    let body = serde_json::json!({
        "model": "claude-sonnet-5", "max_tokens": 1024, "temperature": 0.7, "stream": true, "messages": [message],
    });
    body.to_string().into_bytes()
}

/// Bytes a second of the fastest of [`RUNS`] runs.
fn speed(bytes: usize, mut work: impl FnMut()) -> f64 {
    let mut best = 0f64;
    for _ in 0..RUNS {
        let (start, mut count) = (Instant::now(), 0u32);
        while start.elapsed() < TIME / RUNS {
            work();
            count += 1;
        }
        best = best.max(f64::from(count) * bytes as f64 / start.elapsed().as_secs_f64());
    }
    best
}

fn software() -> Vec<Speed> {
    let bundle = Bundle { models: vec!["claude-sonnet-5".to_string()], ..Bundle::default() };
    let mut speeds = Vec::new();
    for body_bytes in BODY_BYTES {
        let body = body(body_bytes);
        let request = plain_request(&body);
        let mut datapath = Datapath::new(&bundle, PROOF);
        let twin = speed(body.len(), || {
            datapath.segment(0, true, false, &request, &mut |record| {
                black_box(record);
            });
        });
        let exact = speed(body.len(), || {
            black_box(json::read(black_box(&body)));
        });
        let serde = speed(body.len(), || {
            let value: Result<serde_json::Value, _> = serde_json::from_slice(black_box(&body));
            let _ = black_box(value);
        });
        for (what, bytes_per_second) in
            [("twin datapath", twin), ("exact validator", exact), ("serde_json value", serde)]
        {
            speeds.push(Speed {
                what,
                body_bytes: body.len(),
                megabytes_per_second: bytes_per_second / 1e6,
                times_serde_json: bytes_per_second / serde,
            });
        }
    }
    speeds
}

/// Speed of the simulated core on requests that follow each other at once.
#[derive(serde::Serialize)]
struct Simulated {
    body_bytes: usize,
    clocks_per_second: f64,
    body_bytes_per_clock: f64,
    body_megabytes_per_second: f64,
}

/// Clocks of the simulated core that a connection of `requests` equal requests takes, all that it causes included.
#[cfg(feature = "sim")]
fn clocks(sim: &mut forebay_sim::SimDevice, request: &[u8], requests: usize) -> Result<u64, DeviceError> {
    use forebay_device::{Device, Segment};
    let before = sim.stats().clocks;
    for number in 0..requests {
        let last = number + 1 == requests;
        sim.segment(Segment { connection: 0, start: number == 0, close: last, payload: request })?;
    }
    sim.flush()?;
    while sim.poll()?.is_some() {}
    Ok(sim.stats().clocks - before)
}

#[cfg(feature = "sim")]
fn simulation() -> Result<Vec<Simulated>, DeviceError> {
    use forebay_device::Device;
    let mut sim = forebay_sim::SimDevice::new();
    sim.configure(&Bundle::default())?;
    sim.set_pipelined(true);
    let mut simulated = Vec::new();
    for body_bytes in BODY_BYTES {
        let body = body(body_bytes);
        let request = plain_request(&body);
        // about as long for each size
        let requests = (BODY_BYTES[1] / body_bytes).max(1);
        let taken = clocks(&mut sim, &request, requests)?;
        let mut failure = None;
        let clocks_per_second = speed(taken as usize, || {
            failure = clocks(&mut sim, &request, requests).err().or_else(|| failure.take());
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let body_bytes_per_clock = (requests * body.len()) as f64 / taken as f64;
        simulated.push(Simulated {
            body_bytes: body.len(),
            clocks_per_second,
            body_bytes_per_clock,
            body_megabytes_per_second: clocks_per_second * body_bytes_per_clock / 1e6,
        });
    }
    Ok(simulated)
}

#[cfg(not(feature = "sim"))]
fn simulation() -> Result<Vec<Simulated>, DeviceError> {
    Ok(Vec::new())
}

fn print(software: &[Speed], simulation: &[Simulated]) {
    println!("{:<18} {:>12} {:>10} {:>14}", "", "body bytes", "MB/s", "x serde_json");
    for s in software {
        println!("{:<18} {:>12} {:>10.0} {:>14.2}", s.what, s.body_bytes, s.megabytes_per_second, s.times_serde_json);
    }
    if simulation.is_empty() {
        return;
    }
    println!("\n{:<18} {:>12} {:>10} {:>14} {:>19}", "", "body bytes", "MB/s", "clocks/s", "body bytes a clock");
    for s in simulation {
        let clocks_per_second = format!("{:.0}", s.clocks_per_second);
        let (rate, speed) = (s.body_bytes_per_clock, s.body_megabytes_per_second);
        println!("{:<18} {:>12} {speed:>10.1} {clocks_per_second:>14} {rate:>19.2}", "simulated core", s.body_bytes);
    }
}

fn main() -> ExitCode {
    let json = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--json" => true,
        other => {
            eprintln!("bench: {} is no option; the one option is --json", other.join(" "));
            return ExitCode::from(2);
        }
    };
    let simulation = match simulation() {
        Ok(simulation) => simulation,
        Err(error) => {
            eprintln!("bench: the simulated core: {error}");
            return ExitCode::FAILURE;
        }
    };
    let software = software();
    if json {
        println!("{}", serde_json::json!({ "software": software, "simulation": simulation }));
    } else {
        print(&software, &simulation);
    }
    ExitCode::SUCCESS
}
