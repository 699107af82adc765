//! Load on one server: paced, or as fast as the connections allow.
//!
//! The latency of a paced request counts from the instant at which it was due, so that a server that stalls cannot hide its
//! queue.
mod connection;
mod process;

use clap::{Args, ValueEnum};
use connection::Connection;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Bodies are made before: so many, and used in turn.
const BODIES: u64 = 32;
/// After so many failures a connection gives up.
const FAILURES_MAX: u64 = 2_000;

/// Whose requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Api {
    /// OpenAI chat completions.
    Chat,
    /// Anthropic Messages.
    Messages,
}

/// What is sent, how, for how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Port of the loopback.
    #[arg(long)]
    port: u16,
    /// API.
    #[arg(long, value_enum, default_value = "chat")]
    api: Api,
    /// Bytes of the prompt.
    #[arg(long, default_value_t = 300)]
    bytes: usize,
    /// Requests a second; 0: each connection sends the next when it has the answer.
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// Connections.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Time, s; before it `warm_s` are not counted.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Time before that, s.
    #[arg(long, default_value_t = 1)]
    warm_s: u64,
    /// Ask for streams.
    #[arg(long)]
    stream: bool,
    /// Model.
    #[arg(long, default_value = "mock")]
    model: String,
    /// Output tokens that are asked for.
    #[arg(long, default_value_t = 64)]
    max_tokens: u32,
    /// Process trees whose CPU time and memory count.
    #[arg(long = "pid")]
    pids: Vec<u32>,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Report {
    api: Api,
    stream: bool,
    bytes: usize,
    rate: u64,
    connections: usize,
    /// Answers a second.
    answers_per_s: f64,
    /// Latency of those with status 200: half of them, 99 of 100, us.
    p50_us: f64,
    p99_us: f64,
    /// The same to the first byte of the body.
    first_p50_us: f64,
    first_p99_us: f64,
    /// Latency of all others, half of them, us.
    other_p50_us: f64,
    statuses: BTreeMap<u16, u64>,
    /// Requests without an answer.
    failures: u64,
    /// CPU time of the processes, us for each answer.
    cpu_us: f64,
    /// Their memory at the end, MiB.
    resident_mib: f64,
}

#[derive(Default)]
struct Seen {
    total_ns: Vec<u64>,
    first_ns: Vec<u64>,
    other_ns: Vec<u64>,
    statuses: BTreeMap<u16, u64>,
    failures: u64,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.total_ns.extend(other.total_ns);
        self.first_ns.extend(other.first_ns);
        self.other_ns.extend(other.other_ns);
        other.statuses.into_iter().for_each(|(status, n)| *self.statuses.entry(status).or_default() += n);
        self.failures += other.failures;
    }
}

impl Options {
    /// Sends, and prints the report.
    pub(crate) fn run(&self) -> Result<(), String> {
        let requests: Vec<Vec<u8>> = (0..BODIES).map(|seed| self.request(seed)).collect();
        if self.warm_s > 0 {
            self.send(&requests, self.warm_s)?;
        }
        let before = process::cost(&self.pids);
        let (mut seen, elapsed) = self.send(&requests, self.seconds)?;
        let after = process::cost(&self.pids);
        let answers: u64 = seen.statuses.values().sum();
        let report = Report {
            api: self.api,
            stream: self.stream,
            bytes: self.bytes,
            rate: self.rate,
            connections: self.connections,
            answers_per_s: answers as f64 / elapsed.as_secs_f64(),
            p50_us: percentile(&mut seen.total_ns, 50),
            p99_us: percentile(&mut seen.total_ns, 99),
            first_p50_us: percentile(&mut seen.first_ns, 50),
            first_p99_us: percentile(&mut seen.first_ns, 99),
            other_p50_us: percentile(&mut seen.other_ns, 50),
            statuses: seen.statuses,
            failures: seen.failures,
            cpu_us: after.cpu_us.saturating_sub(before.cpu_us) as f64 / answers.max(1) as f64,
            resident_mib: after.resident_kib as f64 / 1_024.0,
        };
        println!("{}", serde_json::to_string(&report).map_err(|e| e.to_string())?);
        Ok(())
    }

    fn request(&self, seed: u64) -> Vec<u8> {
        let (path, version) = match self.api {
            Api::Chat => ("/v1/chat/completions", ""),
            Api::Messages => ("/v1/messages", "anthropic-version: 2023-06-01\r\n"),
        };
        let body = serde_json::json!({
            "model": self.model, "max_tokens": self.max_tokens, "stream": self.stream,
            "messages": [{"role": "user", "content": prompt(self.bytes, seed)}],
        })
        .to_string();
        let (port, n) = (self.port, body.len());
        format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n{version}\
             content-length: {n}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    fn send(&self, requests: &[Vec<u8>], seconds: u64) -> Result<(Seen, Duration), String> {
        let next = AtomicU64::new(0);
        let start = Instant::now();
        let end = start + Duration::from_secs(seconds);
        let mut seen = Seen::default();
        thread::scope(|scope| {
            let client = || self.client(requests, &next, start, end);
            let clients: Vec<_> = (0..self.connections.max(1)).map(|_| scope.spawn(client)).collect();
            for client in clients {
                seen.add(client.join().map_err(|_| "a client has failed".to_owned())?);
            }
            Ok((seen, start.elapsed()))
        })
    }

    /// One connection: takes the next request whenever it is free.
    fn client(&self, requests: &[Vec<u8>], next: &AtomicU64, start: Instant, end: Instant) -> Seen {
        let mut connection = Connection::new(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)));
        let mut seen = Seen::default();
        while seen.failures < FAILURES_MAX {
            let i = next.fetch_add(1, Relaxed);
            let due = match self.rate {
                0 => Instant::now(),
                rate => start + Duration::from_nanos(i * 1_000_000_000 / rate),
            };
            if due >= end {
                break;
            }
            thread::sleep(due.saturating_duration_since(Instant::now()));
            match connection.ask(&requests[(i % requests.len() as u64) as usize]) {
                Ok(answer) if answer.status == 200 && answer.body_bytes > 0 => {
                    seen.total_ns.push(due.elapsed().as_nanos() as u64);
                    seen.first_ns.push(answer.first.saturating_duration_since(due).as_nanos() as u64);
                    *seen.statuses.entry(200).or_default() += 1;
                }
                Ok(answer) => {
                    seen.other_ns.push(due.elapsed().as_nanos() as u64);
                    *seen.statuses.entry(answer.status).or_default() += 1;
                }
                Err(_) => seen.failures += 1,
            }
        }
        seen
    }
}

/// In us; 0 without values.
fn percentile(ns: &mut [u64], percent: usize) -> f64 {
    ns.sort_unstable();
    let at = (ns.len() * percent).div_ceil(100).saturating_sub(1);
    ns.get(at).map_or(0.0, |ns| *ns as f64 / 1_000.0)
}

/// Text of so many bytes: plain words, others for each seed from the first word on.
fn prompt(bytes: usize, seed: u64) -> String {
    const WORDS: [&str; 16] = [
        "the", "server", "answers", "each", "request", "with", "tokens", "from", "a", "model", "that", "was", "loaded",
        "before", "any", "client",
    ];
    let mut x = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        text.push_str(WORDS[(x % 16) as usize]);
        text.push(' ');
    }
    text.truncate(bytes);
    text
}
