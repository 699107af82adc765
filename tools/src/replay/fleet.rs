//! What the burst scheduler makes of the requests of captures, for a fleet that is stated.
//!
//! Captures tell what is asked and when, not what it runs on. So nodes, their speed and the length of outputs are stated, and
//! the node model of `forebay_study` says when a first token and an end come. A refusal is the end of a request: what its
//! client did afterwards is in the capture.
use super::{CaptureResult, Choice, Scheduled};
use crate::error::Error;
use crate::scheduler;
use clap::Args;
use forebay_bundle::Policy;
use forebay_decide::burst::{Config, Verdicts};
use forebay_spec::burst::{Action, Event, BOARD, RATE_BITS};
use forebay_spec::Record;
use forebay_study::{BurstPolicy, Request, Setup, Sim};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Share of an output token's time that a step takes which does nothing else.
const STEP_OF_TAU: f64 = 0.6;

/// The fleet that the burst scheduler is told of.
#[derive(Args, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[command(next_help_heading = "Fleet of the burst scheduler, which captures do not tell")]
#[serde(deny_unknown_fields)]
pub struct Fleet {
    /// Nodes, 1 to 64; 1 to 8 where the simulation decides.
    #[arg(long, default_value_t = 8)]
    pub nodes: usize,
    /// Requests that a node runs at the same time, 1 to 256; 1 to 32 where the simulation decides.
    #[arg(long, default_value_t = 32)]
    pub slots: usize,
    /// Prompt tokens that a node works off in a second. A prompt has a token for every four bytes of its body.
    #[arg(long, default_value_t = 10_541)]
    pub rate: u32,
    /// Time of an output token, ms, 1 to 1,000.
    #[arg(long, default_value_t = 20)]
    pub tau_ms: u32,
    /// Output tokens of each request, or its `max_tokens` if that is less.
    #[arg(long, default_value_t = 256)]
    pub output_tokens: u32,
    /// Hold nothing: what no node takes at once is refused.
    #[arg(long)]
    pub strict: bool,
}

impl Default for Fleet {
    fn default() -> Self {
        Fleet { nodes: 8, slots: 32, rate: 10_541, tau_ms: 20, output_tokens: 256, strict: false }
    }
}

/// What the scheduler came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FleetTotals {
    /// The fleet, as it was stated.
    pub fleet: Fleet,
    /// Who decided.
    pub devices: Vec<&'static str>,
    /// Requests that were decided: those that the fabric's scheduler decided.
    pub requests: u64,
    /// Of these, admitted.
    pub admit: u64,
    /// Of the admitted, those that were held before.
    pub held: u64,
    /// Of the admitted, those that went to another node than that whose turn it was.
    pub redirected: u64,
    /// Longest time that an admitted one was held, ms.
    pub held_ms_max: u32,
    /// Refused.
    pub refuse: u64,
    /// Admitted, and ended without an answer.
    pub lost: u64,
    /// Refused and lost, by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Events that the scheduler was given.
    pub events: u64,
    /// Of these, those of which simulation and twin were compared; 0 on the twin alone.
    pub compared: u64,
}

/// Takes the scheduler's events.
pub type BurstSink<'a> = dyn FnMut(&Event, &Verdicts) -> Result<(), Error> + 'a;

impl Fleet {
    /// The simulated fleet; the error names the setting that does not fit.
    pub fn setup(&self) -> Result<Setup, Error> {
        let most = (1 << RATE_BITS) - 1;
        for (name, value, limit) in [
            ("nodes", self.nodes, 64),
            ("slots", self.slots, 256),
            ("rate", self.rate as usize, most),
            ("tau-ms", self.tau_ms as usize, 1_000),
            ("output-tokens", self.output_tokens as usize, u32::MAX as usize),
        ] {
            if !(1..=limit).contains(&value) {
                return Err(Error::Usage(format!("--{name} {value}: it is 1 to {limit}")));
            }
        }
        let mut setup = Setup::default();
        let fleet = &mut setup.fleet;
        (fleet.nodes, fleet.slots, fleet.tau_ms) = (self.nodes, self.slots, self.tau_ms);
        fleet.step_s = STEP_OF_TAU * f64::from(self.tau_ms) / 1_000.0;
        // half a token more, so that the whole number is what was stated
        let chunk_s = f64::from(fleet.chunk) / (f64::from(self.rate) + 0.5);
        if chunk_s <= fleet.step_s {
            let (rate, tau_ms) = (self.rate, self.tau_ms);
            let least = (f64::from(fleet.chunk) / fleet.step_s) as u32;
            return Err(Error::Usage(format!(
                "--rate {rate} --tau-ms {tau_ms}: prompts are worked off {} tokens a step, and a step takes more than {STEP_OF_TAU} \
                 of an output token's time; give --rate below {least} or a smaller --tau-ms",
                fleet.chunk
            )));
        }
        fleet.token_rate = f64::from(fleet.chunk) / (chunk_s - fleet.step_s);
        (setup.clients.patience_s, setup.clients.come_back) = (f64::INFINITY, false);
        Ok(setup)
    }

    /// Can it be scheduled on this device? The error says what would fit.
    pub fn fits(&self, choice: Choice) -> Result<(), Error> {
        self.setup()?;
        match choice {
            Choice::Twin => Ok(()),
            Choice::Sim | Choice::Both => scheduler::fits(1, self.nodes, self.slots),
        }
    }

    /// The scheduler's registers.
    pub(super) fn config(&self, setup: &Setup, policy: &Policy, simulated: bool) -> Config {
        let mut config = BurstPolicy::config(setup, 1, self.strict, simulated.then_some(BOARD));
        config.thresholds = [policy.bundle().thresholds; 2];
        config
    }
}

/// Lets the scheduler decide what the fabric's scheduler has decided, in the order of time, and puts down what it said.
pub fn schedule(
    results: &mut [CaptureResult],
    fleet: &Fleet,
    policy: &Policy,
    choice: Choice,
    sink: Option<&mut BurstSink<'_>>,
) -> Result<FleetTotals, Error> {
    fleet.fits(choice)?;
    let (setup, simulated) = (fleet.setup()?, choice != Choice::Twin);
    let config = fleet.config(&setup, policy, simulated);
    let device = simulated.then(|| scheduler::open(&config)).transpose()?;
    let asked = asked(results);
    let records: Vec<Record> = asked.iter().map(|(_, _, record)| *record).collect();
    let requests: Vec<Request> = asked.iter().map(|(_, at_s, record)| request(fleet, *at_s, record)).collect();
    let arrivals: Vec<f64> = requests.iter().map(|r| r.at_s).collect();
    let told = RefCell::new(vec![Told::default(); requests.len()]);
    let log = RefCell::new((0_u64, sink, Ok(())));
    let watch = |event: &Event, verdicts: &Verdicts| {
        let (events, sink, written) = &mut *log.borrow_mut();
        *events += 1;
        if let (Some(sink), true) = (sink, written.is_ok()) {
            *written = sink(event, verdicts);
        }
        for verdict in verdicts.iter() {
            let request = usize::from(verdict.connection) << 16 | usize::from(verdict.index);
            if let Some(told) = told.borrow_mut().get_mut(request) {
                told.add(event.now_ms, &verdict.action);
            }
        }
    };
    let devices = if simulated { vec!["sim", "twin"] } else { vec!["twin"] };
    let mut router = BurstPolicy::on(config, device, Some(Box::new(watch))).with_records(records);
    let pools = vec![0; requests.len()];
    Sim::new(&setup, &requests, &pools, &arrivals).skipping_silence().run(&mut router);
    let failed = |failure| Error::Scheduler { run: "the burst scheduler on the captures".to_owned(), failure };
    let compared = router.finish().map_err(failed)?;
    let (events, _, written) = log.into_inner();
    written?;
    let mut totals = FleetTotals::new(fleet, devices, events, compared);
    for ((place, ..), told) in asked.iter().zip(told.into_inner()) {
        let scheduled = told.ended().ok_or_else(|| Error::Usage("a request was left without an answer".to_owned()))?;
        totals.add(&scheduled);
        if let Some(outcome) = results.get_mut(place.0).and_then(|r| r.outcomes.get_mut(place.1)) {
            outcome.scheduled = Some(scheduled);
        }
    }
    totals.check()?;
    Ok(totals)
}

/// The place of a request in the results, when it is asked, s, and what.
type Asked = ((usize, usize), f64, Record);

/// Requests that the fabric's scheduler has decided, in the order of time.
fn asked(results: &[CaptureResult]) -> Vec<Asked> {
    let mut asked = Vec::new();
    for (capture, result) in results.iter().enumerate() {
        for (number, outcome) in result.outcomes.iter().enumerate() {
            if let Some((at_ms, record)) = outcome.decided {
                // in the middle of a millisecond, so that its tick has surely come
                asked.push(((capture, number), at_ms as f64 / 1_000.0 + 0.000_5, record));
            }
        }
    }
    asked.sort_by(|a, b| a.1.total_cmp(&b.1));
    asked
}

fn request(fleet: &Fleet, at_s: f64, record: &Record) -> Request {
    let prompt = (record.body_bytes >> 2).max(1);
    let output = fleet.output_tokens.min(record.max_tokens).max(1);
    Request { at_s, prompt, output, declared: record.max_tokens, estimate: prompt, tenant: 0, blocks: Vec::new() }
}

/// What a request has been told so far: when it was first held, when and what last.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    held_at: Option<u32>,
    last: Option<(u32, Action)>,
}

impl Told {
    fn add(&mut self, now_ms: u32, action: &Action) {
        if matches!(action, Action::Hold { .. }) {
            self.held_at.get_or_insert(now_ms);
        }
        self.last = Some((now_ms, *action));
    }

    /// How it ended; `None` if it is still held or was never answered.
    fn ended(&self) -> Option<Scheduled> {
        let (at_ms, action) = self.last.filter(|(_, action)| !matches!(action, Action::Hold { .. }))?;
        let held_ms = self.held_at.map(|from| at_ms.wrapping_sub(from));
        let mut ended =
            Scheduled { action: action.name(), reason: action.reason_name(), held_ms, ..Scheduled::default() };
        match action {
            Action::Admit { node, redirected, .. } => (ended.node, ended.redirected) = (Some(node), Some(redirected)),
            Action::Refuse { retry_after_ms, recommended_concurrency, .. } => {
                ended.retry_after_ms = Some(retry_after_ms);
                ended.recommended_concurrency = Some(recommended_concurrency);
            }
            _ => {}
        }
        Some(ended)
    }
}

impl FleetTotals {
    fn new(fleet: &Fleet, devices: Vec<&'static str>, events: u64, compared: u64) -> Self {
        FleetTotals {
            fleet: fleet.clone(),
            devices,
            requests: 0,
            admit: 0,
            held: 0,
            redirected: 0,
            held_ms_max: 0,
            refuse: 0,
            lost: 0,
            reasons: BTreeMap::new(),
            events,
            compared,
        }
    }

    fn add(&mut self, scheduled: &Scheduled) {
        self.requests += 1;
        match scheduled.action {
            "admit" => {
                self.admit += 1;
                self.held += u64::from(scheduled.held_ms.is_some());
                self.redirected += u64::from(scheduled.redirected == Some(true));
                self.held_ms_max = self.held_ms_max.max(scheduled.held_ms.unwrap_or(0));
            }
            "refuse" => self.refuse += 1,
            _ => self.lost += 1,
        }
        if let Some(reason) = scheduled.reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    /// `requests == admit + refuse + lost`, with the numbers.
    pub fn conservation(&self) -> String {
        let FleetTotals { requests, admit, refuse, lost, .. } = self;
        format!("decided {requests} = admit {admit} + refuse {refuse} + lost {lost}")
    }

    fn check(&self) -> Result<(), Error> {
        match self.requests == self.admit + self.refuse + self.lost {
            true => Ok(()),
            false => {
                Err(Error::Usage(format!("requests of the burst scheduler are not conserved: {}", self.conservation())))
            }
        }
    }
}
