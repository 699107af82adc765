//! `forebay frames`: how the fabric reads the frames of a capture, with no software in front of it.
//!
//! [`replay`](crate::replay) puts streams in order before the device sees them. Here the device gets every frame of the
//! link as it came, keeps the connections itself, and says which it gives up and why. Software reads those, and gives them
//! back between two requests.
mod devices;
mod host;
mod text;

pub use devices::open;
pub use text::text;

use crate::capture::Capture;
use crate::error::Error;
use crate::replay::{self, Choice, SILENCE_MS_MAX};
use clap::Args;
use devices::{Devices, Stop};
use forebay_bundle::Policy;
use forebay_decide::frame::{Counters, InlineConfig};
use forebay_device::{HostEvent, Output};
use forebay_spec::frame::{CloseCause, FrameEnd, SERVER_PORTS_MAX};
use forebay_spec::{Disposition, Input};
use host::{HostPath, Resume};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Key of the table of connections. On a card it is drawn at boot; here two runs shall say the same.
const KEY: [u32; 4] = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
/// Milliseconds that one tick says at most.
const TICK_MS_MAX: u64 = 60_000;

/// What the command is given.
#[derive(Args)]
pub struct Options {
    /// Captures, or folders of them.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to run on; the default is that of `replay`.
    #[arg(long, value_enum, default_value_t = Choice::default_here())]
    device: Choice,
    /// A port of the servers, up to 4 times. Default: those to which the capture has most HTTP/1 connections.
    #[arg(long = "port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ports: Vec<u16>,
    /// Models, tenants and fields; without one no model and no tenant is known.
    #[arg(long)]
    policy: Option<PathBuf>,
    /// Print one JSON object for each capture.
    #[arg(long)]
    json: bool,
}

/// Counts by name; those of 0 are left out.
pub type Counts = BTreeMap<&'static str, u64>;

/// How the frames of a capture were read.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    /// Name of the file without folder and extension.
    pub capture: String,
    /// Destination ports that were read.
    pub ports: Vec<u16>,
    /// Frames.
    pub frames: u64,
    /// Silences of more than an hour, cut to an hour.
    pub time_jumps: u64,
    /// Where they ended, by [`FrameEnd`].
    pub ends: Counts,
    /// Connections that were opened.
    pub opened: u64,
    /// Connections that were given up, by the reason.
    pub given_up: Counts,
    /// Connections that software gave back.
    pub resumed: u64,
    /// Requests that software read in whole while it had their connection.
    pub by_software: u64,
    /// Connections that were closed, by the cause.
    pub closed: Counts,
    /// Requests that were read in whole, to be decided.
    pub decided: u64,
    /// Requests that are no inference and pass.
    pub passed: u64,
    /// Requests that were left to software, by the reason.
    pub punts: Counts,
}

impl Options {
    /// Reads the captures, and gives what is to be printed. `warn` takes what is wrong with them, `progress` each with the
    /// number of all.
    ///
    /// # Errors
    /// When no capture can be read, an option is out of its limit, or devices differ.
    pub fn run(&self, warn: &mut dyn FnMut(&str), progress: &mut dyn FnMut(&Path, usize)) -> Result<String, Error> {
        if self.ports.len() > SERVER_PORTS_MAX {
            let n = self.ports.len();
            return Err(Error::Usage(format!(
                "--port is given {n} times, the limit is {SERVER_PORTS_MAX}; name fewer"
            )));
        }
        let policy = self.policy.as_deref().map(Policy::load).transpose()?.unwrap_or_default();
        let mut devices = open(self.device)?;
        let mut readings = Vec::new();
        let mut failed: Option<Error> = None;
        let files = replay::captures(&self.files)?;
        for file in &files {
            progress(file, files.len());
            match read(file, &self.ports, &policy, &mut devices, warn) {
                Ok(reading) => readings.push(reading),
                Err(error @ Error::File { .. }) => {
                    failed.replace(error).into_iter().for_each(|earlier| warn(&earlier.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        match failed {
            Some(error) if readings.is_empty() => return Err(error),
            failed => failed.iter().for_each(|error| warn(&error.to_string())),
        }
        if !self.json {
            return Ok(text(&readings, &devices.names()));
        }
        let lines: Result<Vec<String>, _> = readings.iter().map(serde_json::to_string).collect();
        Ok(lines.map_err(|e| Error::Usage(e.to_string()))?.join("\n") + "\n")
    }
}

/// Reads the frames of one capture. Without `ports` those with most HTTP/1 connections in it are read.
///
/// # Errors
/// When the file cannot be read, a device fails, or devices differ.
pub fn read(
    file: &Path,
    ports: &[u16],
    policy: &Policy,
    devices: &mut Devices,
    warn: &mut dyn FnMut(&str),
) -> Result<Reading, Error> {
    let capture = Capture::load(file)?;
    let ports = if ports.is_empty() { busiest(&capture, &file.display().to_string(), warn) } else { ports.to_vec() };
    let mut config = InlineConfig::new(0, KEY);
    config.server_ports.iter_mut().zip(&ports).for_each(|(place, port)| *place = *port);
    devices.configure(policy.bundle(), &config)?;
    let mut given = Given {
        devices,
        host: HostPath::new(&capture),
        name: &capture.name,
        number: 0,
        last_us: None,
        part_us: 0,
        time_jumps: 0,
    };
    let mut result = Ok(());
    let warnings = Capture::frames(file, &mut |time_us, frame| {
        if result.is_ok() {
            result = given.frame(time_us, frame);
        }
    })?;
    result?;
    given.host.read_before(u64::MAX);
    let (time_jumps, by_software) = (given.time_jumps, given.host.requests);
    warnings.iter().for_each(|w| warn(w));
    Ok(Reading { time_jumps, by_software, ..reading(&capture.name, ports, devices) })
}

/// Frames on their way to the devices.
struct Given<'a> {
    devices: &'a mut Devices,
    host: HostPath<'a>,
    name: &'a str,
    number: u64,
    last_us: Option<u64>,
    /// Time that has passed beyond whole milliseconds, us.
    part_us: u64,
    time_jumps: u64,
}

impl Given<'_> {
    fn frame(&mut self, time_us: u64, frame: &[u8]) -> Result<(), Error> {
        let last_us = *self.last_us.get_or_insert(time_us);
        self.last_us = Some(last_us.max(time_us));
        self.part_us += time_us.saturating_sub(last_us);
        let silence_ms = self.part_us / 1_000;
        self.time_jumps += u64::from(silence_ms > SILENCE_MS_MAX);
        let mut left_ms = silence_ms.min(SILENCE_MS_MAX);
        self.part_us %= 1_000;
        while left_ms > 0 {
            let elapsed_ms = left_ms.min(TICK_MS_MAX);
            left_ms -= elapsed_ms;
            self.give(&mut |device| device.tick(elapsed_ms as u16))?;
        }
        self.host.read_before(time_us);
        while let Some(Resume { connection, generation, seq }) = self.host.gives_back() {
            self.give(&mut |device| device.resume(connection, generation, seq).map(drop))?;
        }
        self.host.frame(frame);
        self.give(&mut |device| device.frame(frame))?;
        self.number += 1;
        Ok(())
    }

    fn give(&mut self, give: &mut devices::Give<'_>) -> Result<(), Error> {
        let told = self.devices.exchange(give).map_err(|stop| match stop {
            Stop::Failed(error) => error,
            Stop::Differ(what) => Error::Frame { capture: self.name.to_owned(), frame: self.number, what },
        })?;
        told.iter().for_each(|event| self.host.told(*event));
        Ok(())
    }
}

/// Ports of servers with most connections, most first.
fn busiest(capture: &Capture, file: &str, warn: &mut dyn FnMut(&str)) -> Vec<u16> {
    let mut ports: BTreeMap<u16, usize> = BTreeMap::new();
    capture.flows.iter().for_each(|flow| *ports.entry(flow.dport).or_default() += 1);
    let mut ports: Vec<(u16, usize)> = ports.into_iter().collect();
    ports.sort_by_key(|(port, n)| (std::cmp::Reverse(*n), *port));
    match ports.len() {
        0 => warn(&format!("{file}: no HTTP/1 connection was found; name the port of the server with --port")),
        n if n > SERVER_PORTS_MAX => warn(&format!(
            "{file}: {n} ports of servers, the limit is {SERVER_PORTS_MAX}: those with most connections are read; name others \
             with --port"
        )),
        _ => {}
    }
    ports.into_iter().map(|(port, _)| port).take(SERVER_PORTS_MAX).collect()
}

/// Sums up what a device has said.
fn reading(capture: &str, ports: Vec<u16>, devices: &mut Devices) -> Reading {
    let (outputs, told, counters) = devices.take();
    let Counters { opened, frames, closed, resumed, .. } = counters;
    let named = |name: &'static str, n: u64| (n > 0).then_some((name, n));
    let mut reading = Reading {
        capture: capture.to_owned(),
        ports,
        frames: counters.frames_all(),
        time_jumps: 0,
        ends: FrameEnd::ALL.iter().zip(frames).filter_map(|(end, n)| named(end.name(), n)).collect(),
        opened,
        given_up: Counts::new(),
        resumed,
        by_software: 0,
        closed: CloseCause::ALL.iter().zip(closed).filter_map(|(cause, n)| named(cause.name(), n)).collect(),
        decided: 0,
        passed: 0,
        punts: Counts::new(),
    };
    for event in told {
        if let HostEvent::GivenUp { reason, .. } = event {
            *reading.given_up.entry(reason.name()).or_default() += 1;
        }
    }
    for output in outputs {
        let Output::Event(event) = output else { continue };
        let Input::Record(record) = event.input else { continue };
        match record.disposition {
            Disposition::Decide => reading.decided += 1,
            Disposition::Pass => reading.passed += 1,
            Disposition::Punt(reason) => *reading.punts.entry(reason.name()).or_default() += 1,
        }
    }
    reading
}
