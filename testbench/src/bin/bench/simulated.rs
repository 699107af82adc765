//! Speed of the simulated core on requests that follow each other at once.
use forebay_device::DeviceError;

#[derive(serde::Serialize)]
pub(crate) struct Simulated {
    pub(crate) body_bytes: usize,
    pub(crate) clocks_per_second: f64,
    pub(crate) body_bytes_per_clock: f64,
    pub(crate) body_megabytes_per_second: f64,
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
pub(crate) fn speeds(bodies: &[crate::corpus::Body]) -> Result<Vec<Simulated>, DeviceError> {
    use forebay_decide::Bundle;
    use forebay_device::Device;
    use forebay_testbench::agree::plain_request;
    use std::time::Instant;

    /// Runs of which the fastest counts.
    const RUNS: u32 = 3;
    let mut sim = forebay_sim::SimDevice::new();
    sim.configure(&Bundle::default())?;
    sim.set_pipelined(true);
    let mut simulated = Vec::new();
    for body in bodies.iter().filter(|body| body.kind == "prompt") {
        let request = plain_request(&body.bytes);
        // about as long for each size
        let requests = (100_000 / body.bytes.len()).max(1);
        let (mut clocks_per_second, mut taken) = (0f64, 1);
        for _ in 0..RUNS {
            let start = Instant::now();
            taken = clocks(&mut sim, &request, requests)?;
            clocks_per_second = clocks_per_second.max(taken as f64 / start.elapsed().as_secs_f64());
        }
        let body_bytes_per_clock = (requests * body.bytes.len()) as f64 / taken as f64;
        simulated.push(Simulated {
            body_bytes: body.bytes.len(),
            clocks_per_second,
            body_bytes_per_clock,
            body_megabytes_per_second: clocks_per_second * body_bytes_per_clock / 1e6,
        });
    }
    Ok(simulated)
}

#[cfg(not(feature = "sim"))]
pub(crate) fn speeds(_: &[crate::corpus::Body]) -> Result<Vec<Simulated>, DeviceError> {
    Ok(Vec::new())
}
