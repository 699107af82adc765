//! Arrival traces.
use crate::random::Random;
use crate::setup::Clients;
use serde::Deserialize;
use std::path::Path;

/// Nothing that a file of traces may hold is larger.
const TOKENS_MAX: u32 = 1 << 24;

/// A trace that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {why}")]
pub struct TraceError {
    /// The file.
    pub file: String,
    /// What is wrong with it, and what would be right.
    pub why: String,
}

/// One request of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Arrival, s from the first of the trace.
    pub at_s: f64,
    /// Prompt tokens.
    pub prompt: u32,
    /// Output tokens that it will make.
    pub output: u32,
    /// `max_tokens` that it declares.
    pub declared: u32,
    /// Prompt tokens by the length of its body.
    pub estimate: u32,
    /// Who sends it.
    pub tenant: u16,
    /// Blocks of 512 tokens that its prompt begins with, each number standing for all up to it.
    pub blocks: Vec<u32>,
}

/// A trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Name of its file, without the ending.
    pub name: String,
    /// Requests in the order of arrival.
    pub requests: Vec<Request>,
}

/// What a line says.
struct Line {
    at_s: f64,
    prompt: u32,
    output: u32,
    blocks: Vec<u32>,
}

#[derive(Deserialize)]
struct JsonLine {
    timestamp: f64,
    input_length: u32,
    output_length: u32,
    #[serde(default)]
    hash_ids: Vec<u32>,
}

fn json_line(text: &str) -> Result<Line, String> {
    let line: JsonLine = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let at_s = line.timestamp / 1_000.0;
    Ok(Line { at_s, prompt: line.input_length, output: line.output_length, blocks: line.hash_ids })
}

/// Seconds of `2023-11-16 18:15:46.6805900`, from the start of its month.
fn seconds(stamp: &str) -> Option<f64> {
    let (date, time) = stamp.split_once([' ', 'T'])?;
    let day: f64 = date.rsplit('-').next()?.parse().ok()?;
    let mut parts = time.split(':').map(|part| part.parse::<f64>());
    let (hour, minute, second) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    Some(day * 86_400.0 + hour * 3_600.0 + minute * 60.0 + second)
}

fn csv_line(text: &str) -> Result<Line, String> {
    let mut fields = text.split(',').map(str::trim);
    let mut field = || fields.next().ok_or("fewer than three fields: time, prompt tokens, output tokens");
    let at_s = seconds(field()?).ok_or("the first field is no time like 2023-11-16 18:15:46.68")?;
    let prompt = field()?.parse().map_err(|_| "the second field is no number of tokens")?;
    let output = field()?.parse().map_err(|_| "the third field is no number of tokens")?;
    Ok(Line { at_s, prompt, output, blocks: Vec::new() })
}

fn lines(text: &str, json: bool) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let head = number == 0 && !json && !line.starts_with(|c: char| c.is_ascii_digit());
        if line.is_empty() || head {
            continue;
        }
        let read = if json { json_line(line) } else { csv_line(line) };
        let read = read.map_err(|why| format!("line {}: {why}", number + 1))?;
        if !read.at_s.is_finite() || read.prompt > TOKENS_MAX || read.output > TOKENS_MAX {
            return Err(format!("line {}: a number is over {TOKENS_MAX}", number + 1));
        }
        lines.push(read);
    }
    Ok(lines)
}

/// Tenant by a number from 0 to 1: Zipf's law.
fn zipf(u: f64, tenants: usize) -> u16 {
    let harmonic: f64 = (1..=tenants).map(|i| 1.0 / i as f64).sum();
    let mut sum = 0.0;
    for tenant in 0..tenants {
        sum += 1.0 / (tenant + 1) as f64 / harmonic;
        if u < sum {
            return tenant as u16;
        }
    }
    0
}

/// `max_tokens` by the tenant's habit: 30 % of tenants round up tightly, 40 % use one of three numbers, 30 % always 4,096.
fn declared(tenant: usize, output: u32, random: &mut Random) -> u32 {
    let up = |x: f64| (3..15).map(|k| 1_u32 << k).find(|&l| f64::from(l) >= x).unwrap_or(16_384);
    match tenant % 10 {
        0 | 3 | 6 => up(f64::from(output) * (1.0 + random.unit())),
        1 | 4 | 7 | 9 => [512, 1_024, 2_048][(tenant / 10 + tenant) % 3].max(up(f64::from(output))),
        _ => 4_096.max(up(f64::from(output))),
    }
}

impl Trace {
    /// Reads a trace: `.jsonl` with `timestamp` (ms), `input_length`, `output_length`, `hash_ids`, or `.csv` with time, prompt
    /// tokens, output tokens. What it does not say (tenant, `max_tokens`, bytes) comes from the clients' seed.
    pub fn load(path: &Path, clients: &Clients) -> Result<Self, TraceError> {
        let fail = |why: String| TraceError { file: path.display().to_string(), why };
        let text = std::fs::read_to_string(path).map_err(|e| fail(format!("cannot be read: {e}")))?;
        let json = path.extension().is_some_and(|e| e == "jsonl");
        let mut lines = lines(&text, json).map_err(fail)?;
        lines.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        if lines.len() < 100 || lines[lines.len() - 1].at_s <= lines[0].at_s {
            return Err(fail(format!("{} requests; a study needs 100, spread over time", lines.len())));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Trace { name, requests: requests(lines, clients) })
    }

    /// Seconds from the first arrival to the last.
    pub fn span_s(&self) -> f64 {
        self.requests.last().map_or(0.0, |r| r.at_s)
    }

    /// The trace over and over, until there are so many requests.
    pub fn looped(self, requests: usize) -> Self {
        // between two turns as much time passes as between two requests on average
        let turn_s = self.span_s() * (1.0 + 1.0 / self.requests.len().max(1) as f64);
        let turns = self.requests.iter().cycle().enumerate().take(requests);
        let shifted = turns.map(|(place, request)| {
            let turn = place / self.requests.len().max(1);
            Request { at_s: request.at_s + turn_s * turn as f64, ..request.clone() }
        });
        Trace { requests: shifted.collect(), name: self.name }
    }

    /// The first so many requests.
    pub fn head(mut self, requests: usize) -> Self {
        self.requests.truncate(requests.max(100));
        self
    }
}

fn requests(lines: Vec<Line>, clients: &Clients) -> Vec<Request> {
    let start = lines.first().map_or(0.0, |l| l.at_s);
    let mut random = Random(clients.seed ^ 0xC0FFEE);
    let mut request = |line: Line| {
        let (prompt, output) = (line.prompt.max(1), line.output.max(1));
        // requests that share the second block of their prompt belong to one tenant
        let share = match line.blocks.get(1) {
            Some(&block) => {
                let mut of_block = Random(u64::from(block) ^ 0x51ED);
                of_block.bits();
                of_block.unit()
            }
            None => random.unit(),
        };
        let tenant = zipf(share, clients.tenants);
        let declared = declared(usize::from(tenant), output, &mut random);
        let estimate = f64::from(prompt) * (1.0 + clients.bytes_error * random.gauss()).max(0.3);
        let estimate = (estimate as u32).max(1);
        Request { at_s: line.at_s - start, prompt, output, declared, estimate, tenant, blocks: line.blocks }
    };
    lines.into_iter().map(&mut request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_kinds_are_read() {
        let line = csv_line("2023-11-16 18:15:46.5,4808,10");
        let numbers = line.map(|l| (l.at_s, l.prompt, l.output));
        assert_eq!(numbers, Ok((16.0 * 86_400.0 + 65_746.5, 4_808, 10)));
        let line =
            json_line(r#"{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}"#);
        let numbers = line.map(|l| (l.at_s, l.prompt, l.output, l.blocks));
        assert_eq!(numbers, Ok((27.482, 6_955, 52, vec![46, 47])));
    }

    #[test]
    fn a_looped_trace_goes_on_in_time() {
        let request =
            |at_s| Request { at_s, prompt: 9, output: 1, declared: 1, estimate: 9, tenant: 0, blocks: vec![] };
        let trace = Trace { name: "made-up".to_owned(), requests: vec![request(0.0), request(3.0), request(4.0)] };
        let looped = trace.looped(8);
        let times: Vec<f64> = looped.requests.iter().map(|r| (r.at_s * 3.0).round()).collect();
        assert_eq!(times, [0.0, 9.0, 12.0, 16.0, 25.0, 28.0, 32.0, 41.0]);
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, json) in [("2023-11-16 18:15:46,1", false), ("x,1,2\n2023-11-16 18:15,1,2", false), ("{}", true)] {
            assert!(lines(text, json).is_err_and(|why| why.starts_with("line ")), "{text}");
        }
        assert!(lines("TIMESTAMP,ContextTokens,GeneratedTokens\n", false).is_ok_and(|l| l.is_empty()));
    }
}
