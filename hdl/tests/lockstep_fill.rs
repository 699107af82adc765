//! The filling of slots by the DMA engine: what a reader sees at every beat, against its own Verilog; what it takes in clocks.
mod dma;
mod fill;
mod random;

use fill::top::Top;
use fill::{look, Seen, World};
use forebay_hdl::fill::{DESCRIPTOR_CLOCKS, GRANT_CLOCKS_MAX};
use forebay_hdl_tools::lockstep::Lockstep;
use rust_hdl::prelude::*;
use std::cell::RefCell;

/// Compares both with what a reader may see, and with their own Verilog.
fn equals_reader_and_verilog<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize>(
    name: &str,
    cycles: usize,
) {
    let mut world = World::<W>::new(11 + W as u64);
    let last = RefCell::new(Seen::default());
    let clock = |b: &mut Top<W, B, 4, N, C, R>, level: bool| {
        if level {
            last.replace(look(b));
        }
        b.clock.next = level.into();
    };
    let drive = |b: &mut Top<W, B, 4, N, C, R>, now: usize| world.clock(b, now, &last.borrow());
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(Top::<W, B, 4, N, C, R>::default(), drive, clock).unwrap_or_else(|e| panic!("{e}"));
    let c = &world.counts;
    println!("{c:?}");
    assert!(c.ends.iter().all(|n| *n > 0) && c.cleared > 0 && c.kept > 0 && c.unmapped > 0, "{c:?}");
    assert!(c.disabled > 0 && c.empty > 0 && c.resets > 0, "{c:?}");
}

#[test]
fn eight_bytes_a_beat() {
    equals_reader_and_verilog::<8, 64, 6, 7, 11>("fill8", 40_000);
}

#[test]
fn sixty_four_bytes_a_beat() {
    equals_reader_and_verilog::<64, 512, 3, 4, 8>("fill64", 30_000);
}

/// Fills slot 3 with 4 KiB of ids twice, on a link that takes a beat a clock: clocks from the second grant to its first descriptor and
/// to its last write.
#[test]
fn four_kibibytes_are_there_within_the_clocks_of_the_page() {
    let mut b = Top::<64, 512, 4, 3, 4, 8>::default();
    b.connect_all();
    b.enable.next = true;
    b.code.next = 2.into();
    b.area.next = 0x10_0000.into();
    b.units.next = 65.into();
    b.slots.next = 16.into();
    b.g_slot.next = 3.into();
    b.g_tokens.next = 1_024.into();
    b.t_valid.next = true;
    b.m_ready.next = true;
    b.f_ready.next = true;
    let (mut grants, mut descriptors, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    for now in 0..500 {
        b.g_valid.next = grants.len() < 2;
        let mut seen = Seen::default();
        for level in [false, true] {
            b.clock.next = level.into();
            assert!(simulate(&mut b, 100), "the block does not settle");
            if !level {
                seen = look(&b);
            }
        }
        if seen.g_ready && grants.len() < 2 {
            grants.push(now);
        }
        descriptors.extend(seen.wd_valid.then_some(now));
        writes.extend(seen.message.map(|_| now));
    }
    let since = |clocks: &[usize]| clocks.iter().filter(|n| **n > grants[1]).map(|n| n - grants[1]).collect::<Vec<_>>();
    assert_eq!(since(&descriptors)[0], DESCRIPTOR_CLOCKS);
    let writes = since(&writes);
    println!("last write after {:?} clocks", writes.last());
    assert_eq!(writes.len(), 1 + 64 + 1);
    assert!(writes[65] <= GRANT_CLOCKS_MAX, "{writes:?}");
}
