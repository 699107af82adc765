//! The simulated core beside the twin.
use crate::generate::{Piece, Script};
use crate::run::{records, replay, side_by_side, Host};
use forebay_decide::datapath::Datapath;
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError, Latency, Output, TwinDevice};
use forebay_sim::SimDevice;
use forebay_spec::{Action, Verdict};

/// The cores that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bytes a clock, profile `board`.
    Bytes8,
    /// 64 bytes a clock, profile `fleet`.
    Bytes64,
}

impl Width {
    /// Both.
    pub const BOTH: [Width; 2] = [Width::Bytes8, Width::Bytes64];

    /// Such a core, not configured.
    pub fn device(self) -> SimDevice {
        match self {
            Width::Bytes8 => SimDevice::new(),
            Width::Bytes64 => SimDevice::wide(),
        }
    }
}

/// Twin and simulated core, step by step.
pub struct Pair {
    /// The twin.
    pub twin: TwinDevice,
    /// The core.
    pub sim: SimDevice,
    /// The host of both.
    pub host: Host,
}

impl Pair {
    /// Both, not configured.
    pub fn new(width: Width) -> Self {
        let sim = width.device();
        Pair { twin: TwinDevice::new(sim.profile()), sim, host: Host::default() }
    }

    /// Resets both and gives them a bundle.
    ///
    /// # Errors
    /// When one of them fails.
    pub fn configure(&mut self, bundle: &Bundle) -> Result<(), String> {
        self.twin.configure(bundle).map_err(tell)?;
        self.sim.configure(bundle).map_err(tell)?;
        self.host.reset();
        Ok(())
    }

    /// Runs a script on both; the outputs, which are equal.
    ///
    /// # Errors
    /// With the first difference.
    pub fn run(&mut self, script: &Script) -> Result<Vec<Output>, String> {
        side_by_side(&mut self.twin, &mut self.sim, &mut self.host, script)
    }
}

fn tell(error: DeviceError) -> String {
    error.to_string()
}

/// Are the counts that the core keeps those of its outputs, and is every request in one of them?
///
/// # Errors
/// With the counts.
pub fn counts_agree(sim: &SimDevice, outputs: &[Output]) -> Result<(), String> {
    let count = |f: fn(&Action) -> bool| {
        outputs.iter().filter(|o| matches!(o, Output::Verdict(v) if f(&v.action))).count() as u32
    };
    let s = sim.stats();
    let core = [s.admit_count, s.refuse_count, s.reject_count, s.pass_count, s.punt_count];
    let host = [
        count(|a| matches!(a, Action::Admit { .. })),
        count(|a| matches!(a, Action::Refuse(_))),
        count(|a| matches!(a, Action::Reject(_))),
        count(|a| matches!(a, Action::Pass)),
        count(|a| matches!(a, Action::Punt(_))),
    ];
    if core != host || s.in_count != core.iter().sum::<u32>() {
        return Err(format!("the core counts {} = {core:?}, the host {host:?}", s.in_count));
    }
    Ok(())
}

/// Gives segments to the core and waits until all of it is through; what came out.
///
/// # Errors
/// When the core fails.
pub fn give(sim: &mut SimDevice, pieces: &[Piece]) -> Result<Vec<Output>, String> {
    pieces.iter().try_for_each(|p| sim.segment(p.segment())).and_then(|()| sim.flush()).map_err(tell)?;
    let mut outputs = Vec::new();
    while let Some(output) = sim.poll().map_err(tell)? {
        outputs.push(output);
    }
    Ok(outputs)
}

/// As [`give`], for each verdict with the clocks that it took.
///
/// # Errors
/// When the core fails, or counts no clocks.
pub fn give_timed(sim: &mut SimDevice, pieces: &[Piece]) -> Result<Vec<(Verdict, Latency)>, String> {
    pieces.iter().try_for_each(|p| sim.segment(p.segment())).and_then(|()| sim.flush()).map_err(tell)?;
    let mut timed = Vec::new();
    while let Some(output) = sim.poll().map_err(tell)? {
        if let Output::Verdict(verdict) = output {
            let latency = sim.latency().filter(|l| l.seq == verdict.seq);
            timed.push((verdict, latency.ok_or_else(|| format!("{verdict:?} took no clocks"))?));
        }
    }
    Ok(timed)
}

/// Gives segments to a core that has been configured with `bundle` and where inputs follow each other at once. Ticks may
/// come between any two records: the records are the twin's, and the log gives the verdicts. What came out.
///
/// # Errors
/// With the first difference.
pub fn give_beside_twin(sim: &mut SimDevice, bundle: &Bundle, pieces: &[Piece]) -> Result<Vec<Output>, String> {
    let outputs = give(sim, pieces)?;
    let mut expected = Vec::new();
    let profile = sim.profile();
    let mut twin = Datapath::new(bundle, profile);
    for p in pieces {
        twin.segment(p.connection, p.start, p.close, &p.payload, &mut |r| expected.push(r));
    }
    let got = records(&outputs);
    if got != expected {
        let at = got.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        let (ours, twins, counts) = (got.get(at), expected.get(at), (got.len(), expected.len()));
        return Err(format!("record {at} of {} is {ours:?}, the twin's of {} {twins:?}", counts.0, counts.1));
    }
    replay(&outputs, bundle, profile)?;
    counts_agree(sim, &outputs)?;
    Ok(outputs)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::agree::plain_request;
    use crate::generate::MODELS;

    #[test]
    fn a_core_with_other_tables_or_counts_is_found_out() {
        let bundle = Bundle { models: vec![MODELS[0].to_string()], ..Bundle::default() };
        let body = format!(r#"{{"model":"{}","max_tokens":5}}"#, MODELS[0]);
        let piece = Piece { connection: 3, start: true, close: true, payload: plain_request(body.as_bytes()) };
        let mut sim = SimDevice::new();
        sim.set_pipelined(true);
        let mut run = |configured: &Bundle, limits: &Bundle| {
            sim.configure(configured).map_err(tell)?;
            let outputs = give_beside_twin(&mut sim, limits, std::slice::from_ref(&piece))?;
            counts_agree(&sim, &outputs)?;
            Ok::<_, String>(counts_agree(&sim, &outputs[1..]).and(counts_agree(&sim, &outputs[..1])))
        };
        assert!(run(&bundle, &bundle).is_ok_and(|without_verdict| without_verdict.is_err()));
        let others = run(&Bundle::default(), &bundle).unwrap_err();
        assert!(others.starts_with("record 0 of 1"), "{others}");
        let admits_nothing = Bundle { level_limits: [0; 8], ..bundle.clone() };
        let refused = run(&bundle, &admits_nothing).unwrap_err();
        assert!(refused.starts_with("the device says"), "{refused}");
    }
}
