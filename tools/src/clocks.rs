//! What the simulated RTL takes for a request, by its body, the bytes of a beat, and the policy.
use crate::error::Error;
use serde::Serialize;

/// One column of the table: a width and a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Bytes of a beat.
    pub beat_bytes: usize,
    /// Does the policy have patterns for the model, so that records wait for their tables?
    pub patterns: bool,
    /// Clocks by body size, smallest body first.
    pub rows: Vec<Row>,
}

/// A body and its clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Bytes of the body.
    pub body_bytes: usize,
    /// From the last body beat at `scan` to the record.
    pub record_clocks: u32,
    /// From the record to the verdict.
    pub verdict_clocks: u32,
}

/// Runs the sweep of body sizes of the demo on both widths with both kinds of policy. Empty where no simulation is built
/// in.
///
/// # Errors
/// When the device fails or breaks a rule.
#[cfg(not(feature = "sim"))]
pub fn columns() -> Result<Vec<Column>, Error> {
    Ok(Vec::new())
}

/// Runs the sweep of body sizes of the demo on both widths with both kinds of policy.
///
/// # Errors
/// When the device fails or breaks a rule.
#[cfg(feature = "sim")]
pub fn columns() -> Result<Vec<Column>, Error> {
    use forebay_bundle::Policy;
    use forebay_sim::SimDevice;

    const CLASS: &str = "[[class]]\nname = \"small\"\nmodel = \"claude-3-(haiku|sonnet)-[0-9]+\"\n";
    let mut columns = Vec::new();
    for patterns in [false, true] {
        let policy =
            Policy::parse("policy of the table", if patterns { CLASS } else { "" }, std::path::Path::new("."))?;
        for device in [SimDevice::new(), SimDevice::wide()] {
            let beat_bytes = device.beat_bytes();
            columns.push(Column { beat_bytes, patterns, rows: sweep(&policy, Box::new(device))? });
        }
    }
    Ok(columns)
}

#[cfg(feature = "sim")]
fn sweep(policy: &forebay_bundle::Policy, mut device: Box<dyn forebay_device::Device>) -> Result<Vec<Row>, Error> {
    use crate::replay::Engine;

    let name = device.name();
    device.configure(policy.bundle()).map_err(|error| Error::Device { device: name, error })?;
    let outcomes = Engine::new(policy, vec![device], None).capture(&crate::demo::sweep()?)?;
    let row = |o: &crate::replay::Outcome| {
        let clocks = o.latency?;
        let (record_clocks, verdict_clocks) = (clocks.record_clocks, clocks.verdict_clocks);
        Some(Row { body_bytes: o.body_bytes, record_clocks, verdict_clocks })
    };
    Ok(outcomes.iter().filter_map(row).collect())
}
