//! Segments of many connections follow each other without a pause between them, and every record is the twin's.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_device::Device;
use forebay_spec::limits::BOARD;
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::{bundle, cut, stream, Choices, Piece};
use forebay_testbench::run::records;
use forebay_testbench::simulated::{give_beside_twin, Width};
use std::cell::{Cell, RefCell};

/// Streams of `connections` connections, each cut into segments and closed, in a random order of their segments.
fn interleave(c: &mut Choices<'_>, connections: u16) -> Vec<Piece> {
    let streams = (0..connections).map(|number| {
        // the numbers lie apart in the contexts' memories
        let number = number * 37 % BOARD.connections as u16;
        let (bytes, _) = stream(c);
        let mut pieces = cut(c, number, &bytes, true);
        pieces.reverse();
        pieces
    });
    let mut streams: Vec<Vec<Piece>> = streams.collect();
    let mut mixed = Vec::new();
    while !streams.is_empty() {
        let at = c.below(streams.len());
        mixed.extend(streams[at].pop());
        if streams[at].is_empty() {
            streams.swap_remove(at);
        }
    }
    mixed
}

/// Back to back, with gaps, and with ticks that keep the arbiter busy: no gap between segments in any of them.
#[test]
fn segments_of_many_connections_back_to_back() {
    let sims = Width::BOTH.map(|w| RefCell::new(w.device()));
    sims.iter().for_each(|s| s.borrow_mut().set_pipelined(true));
    let (total, waited) = (Cell::new(0), Cell::new(false));
    for_cases(400, 6000, |c| {
        let sim = &mut *sims[c.below(2)].borrow_mut();
        let bundle = bundle(c);
        sim.configure(&bundle).map_err(|e| e.to_string())?;
        sim.set_idle(c.one(&[0, 0, 0, 20]), u64::from(c.wide()));
        sim.set_ticks(c.one(&[0, 0, 30, 90]));
        let connections = c.one(&[2, 5, 17, 64]);
        let pieces = interleave(c, connections);
        // the log alone determines the verdicts, whenever the ticks came
        let outputs = give_beside_twin(sim, &bundle, &pieces)?;
        total.set(total.get() + records(&outputs).len());
        waited.set(waited.get() || sim.latency().is_some_and(|l| l.wait_clocks > 0));
        Ok(())
    });
    println!("{} records", total.get());
    assert!(total.get() > 5_000 && waited.get(), "{} records, waited: {}", total.get(), waited.get());
}
