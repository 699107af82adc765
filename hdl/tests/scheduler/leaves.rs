//! The timer's leaves in one block, so that one Verilated model compares all of them.
use crate::block::leaves;
use forebay_hdl::timer::{Cells, Marks, NextPool};
use rust_hdl::prelude::*;

leaves!(Leaves, clock [marks wide_marks], {
    proof_cells: [Cells<2, 1, 3>] {
        at <- proof_at: [Bits<13>],
    } {
        tenant -> proof_tenant: [Bits<16>],
        has_promise -> proof_has_promise: [Bit],
        promise -> proof_promise: [Bits<16>],
        has_ticket -> proof_has_ticket: [Bit],
        ticket -> proof_ticket: [Bits<16>],
    }
    fleet_cells: [Cells<8, 3, 12>] {
        at <- fleet_at: [Bits<13>],
    } {
        tenant -> fleet_tenant: [Bits<16>],
        has_promise -> fleet_has_promise: [Bit],
        promise -> fleet_promise: [Bits<16>],
        has_ticket -> fleet_has_ticket: [Bit],
        ticket -> fleet_ticket: [Bits<16>],
    }
    marks: [Marks<4, 2>] {
        reset <- marks_reset: [Bit],
        set <- marks_set: [Bit],
        node <- marks_node: [Bits<8>],
        take <- marks_take: [Bit],
    } {
        some -> marks_some: [Bit],
        lowest -> marks_lowest: [Bits<2>],
    }
    wide_marks: [Marks<64, 6>] {
        reset <- wide_reset: [Bit],
        set <- wide_set: [Bit],
        node <- wide_node: [Bits<8>],
        take <- wide_take: [Bit],
    } {
        some -> wide_some: [Bit],
        lowest -> wide_lowest: [Bits<6>],
    }
    next_pool: [NextPool] {
        due <- pool_due: [Bits<8>],
        last <- pool_last: [Bits<3>],
    } {
        some -> pool_some: [Bit],
        pool -> pool_pool: [Bits<3>],
        pool_bit -> pool_pool_bit: [Bits<8>],
    }
});
