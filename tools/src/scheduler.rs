//! The simulated burst scheduler, where it is built in.
use crate::error::Error;
use forebay_decide::burst::Config;
use forebay_device::BurstDevice;
use forebay_spec::burst::{Sizes, BOARD};

/// Is there a simulated scheduler with room for so many pools of so many nodes with so many slots?
pub(crate) fn fits(pools: usize, nodes: usize, slots: usize) -> Result<(), Error> {
    clocks()?;
    let Sizes { nodes: room, name, .. } = BOARD;
    let per_node = BOARD.slots_per_node();
    if nodes * pools <= room && slots <= per_node {
        return Ok(());
    }
    let most = room / pools.max(1);
    Err(Error::Usage(format!(
        "--device sim: {pools} pool(s) of {nodes} nodes of {slots} slots do not fit the simulated scheduler, that of profile \
         {name} with {room} nodes of {per_node} slots; give --nodes of at most {most} and --slots of at most {per_node}"
    )))
}

/// The simulated scheduler with these registers.
#[cfg(feature = "sim")]
pub(crate) fn open(config: &Config) -> Result<Box<dyn BurstDevice>, Error> {
    let sim = forebay_sim::SimBurst::new(config).map_err(|e| Error::Usage(e.to_string()))?;
    Ok(Box::new(sim))
}

/// Clocks from one of its events to the next, and from an event to its verdict.
#[cfg(feature = "sim")]
pub(crate) const fn clocks() -> Result<(u32, u32), Error> {
    Ok((forebay_sim::BURST_INTERVAL_CLOCKS, forebay_sim::BURST_LATENCY_CLOCKS))
}

/// There is none.
#[cfg(not(feature = "sim"))]
pub(crate) fn open(_: &Config) -> Result<Box<dyn BurstDevice>, Error> {
    Err(crate::replay::no_simulation())
}

/// There are none.
#[cfg(not(feature = "sim"))]
pub(crate) fn clocks() -> Result<(u32, u32), Error> {
    Err(crate::replay::no_simulation())
}
