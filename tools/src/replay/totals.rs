//! Sums over a replay, and the sum that has to hold.
use super::output::{FinalAction, Outcome, PathTaken};
use forebay_spec::limits::LEVELS;
use serde::Serialize;
use std::collections::BTreeMap;

/// Smallest and largest of a number of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Smallest.
    pub min: u32,
    /// Largest.
    pub max: u32,
}

impl Span {
    pub(crate) fn add(span: &mut Option<Span>, value: u32) {
        let s = span.get_or_insert(Span { min: value, max: value });
        (s.min, s.max) = (s.min.min(value), s.max.max(value));
    }

    /// The value, or the first and the last.
    pub(crate) fn text(self) -> String {
        match self.min == self.max {
            true => self.min.to_string(),
            false => format!("{} to {}", self.min, self.max),
        }
    }
}

/// Counts of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Requests that the captures hold.
    #[serde(rename = "in")]
    pub requests: u64,
    /// Run.
    pub admit: u64,
    /// Answered with 429.
    pub refuse: u64,
    /// Answered with a status of the 400 kind.
    pub reject: u64,
    /// Without an inference body.
    pub pass: u64,
    /// Gone with their device.
    pub lost: u64,
    /// Without a final verdict yet.
    pub in_progress: u64,
    /// Refused and rejected, by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Requests that the device read.
    pub fabric: u64,
    /// Requests that the exact software path read.
    pub host: u64,
    /// The latter by the reason of the punt.
    pub punts: BTreeMap<&'static str, u64>,
    /// On the host's path because every context of the device was taken.
    pub no_context: u64,
    /// Empty lines at the end of a connection: the device punts one, as a request could follow, and none does.
    pub empty_lines: u64,
    /// Admitted, by level.
    pub admit_by_level: [u64; LEVELS],
    /// Refused, by level.
    pub refuse_by_level: [u64; LEVELS],
    /// Admissions of the device, those taken back included.
    pub granted: u64,
    /// Slots given back at the end of the service time.
    pub released_done: u64,
    /// Slots given back because the exact validator found the body invalid.
    pub released_invalid: u64,
    /// Silences in the captures that were cut short.
    pub time_jumps: u64,
    /// Clocks from the last body beat to the record.
    pub record_clocks: Option<Span>,
    /// Clocks from the record to its verdict.
    pub verdict_clocks: Option<Span>,
    /// Clocks that records waited behind other events.
    pub wait_clocks: Option<Span>,
}

impl Totals {
    pub(super) fn add(&mut self, outcome: &Outcome) {
        let level = usize::from(outcome.verdict.level.unwrap_or(0)) % LEVELS;
        match outcome.verdict.action {
            FinalAction::Admit => {
                self.admit += 1;
                self.admit_by_level[level] += 1;
            }
            FinalAction::Refuse => {
                self.refuse += 1;
                self.refuse_by_level[level] += 1;
            }
            FinalAction::Reject => self.reject += 1,
            FinalAction::Pass => self.pass += 1,
        }
        if let Some(reason) = outcome.verdict.reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
        match (outcome.path_taken, outcome.punt) {
            (PathTaken::Fabric, _) => self.fabric += 1,
            (PathTaken::Host, Some(reason)) => {
                self.host += 1;
                *self.punts.entry(reason.name()).or_default() += 1;
            }
            (PathTaken::Host, None) => {
                self.host += 1;
                self.no_context += 1;
            }
        }
        if let Some(l) = outcome.latency {
            Span::add(&mut self.record_clocks, l.record_clocks);
            Span::add(&mut self.verdict_clocks, l.verdict_clocks);
            Span::add(&mut self.wait_clocks, l.wait_clocks);
        }
    }

    /// `in == admit + refuse + reject + pass + lost + in_progress`, with the numbers.
    pub fn conservation(&self) -> String {
        let Totals { requests, admit, refuse, reject, pass, lost, in_progress, .. } = self;
        format!(
            "in {requests} = admit {admit} + refuse {refuse} + reject {reject} + pass {pass} + lost {lost} + \
             in progress {in_progress}"
        )
    }

    /// Every request ended once, and every slot came back. The error says which sum is wrong.
    pub fn check(&self) -> Result<(), String> {
        let ends = self.admit + self.refuse + self.reject + self.pass + self.lost + self.in_progress;
        if self.requests != ends {
            return Err(format!("requests are not conserved: {}", self.conservation()));
        }
        let (granted, done, invalid) = (self.granted, self.released_done, self.released_invalid);
        if granted != done + invalid || self.admit + invalid != granted {
            let admit = self.admit;
            return Err(format!(
                "slots are not conserved: granted {granted}, released {done} + {invalid} invalid, admitted {admit}"
            ));
        }
        Ok(())
    }
}
