//! Blocks that hold many leaves, so that one Verilated model compares all of them.
use crate::block::leaves;
use forebay_hdl::fields::ToBinary;
use forebay_hdl::leaf::{Context, ContextAhead, Delay, Ram};
use forebay_hdl::scan::Classify;
use rust_hdl::prelude::*;

// Of one beat of eight bytes.
leaves!(BeatLeaves, clock [], {
    classify: [Classify<8, 64>] {
        data <- data: [Bits<64>],
        keep <- keep: [Bits<8>],
    } {
        quote -> quote: [Bits<8>],
        slash -> slash: [Bits<8>],
        opens -> opens: [Bits<8>],
        closes -> closes: [Bits<8>],
    }
});

// With registers or memories. The narrow and the wide variant of one leaf have different Verilog.
leaves!(ClockedLeaves, clock [bit_context wide_context ahead_context no_delay one_clock short_delay delay ram to_binary], {
    bit_context: [Context<1, 2>] {
        next_connection <- bit_next_connection: [Bits<2>],
        connection <- bit_connection: [Bits<2>],
        valid <- bit_valid: [Bit],
        first <- bit_first: [Bit],
        state_next <- bit_state_next: [Bits<1>],
    } {
        state -> bit_state: [Bits<1>],
    }
    wide_context: [Context<40, 4>] {
        next_connection <- next_connection: [Bits<4>],
        connection <- connection: [Bits<4>],
        valid <- valid: [Bit],
        first <- first: [Bit],
        state_next <- state_next: [Bits<40>],
    } {
        state -> state: [Bits<40>],
    }
    ahead_context: [ContextAhead<7, 2>] {
        connection_ahead <- ahead_connection_ahead: [Bits<2>],
        connection <- ahead_connection: [Bits<2>],
        valid <- ahead_valid: [Bit],
        first_ahead <- ahead_first: [Bit],
        state_next <- ahead_state_next: [Bits<7>],
    } {
        state -> ahead_state: [Bits<7>],
    }
    no_delay: [Delay<5, 0>] {
        d <- wire_d: [Bits<5>],
    } {
        q -> wire_q: [Bits<5>],
    }
    one_clock: [Delay<5, 1>] {
        d <- one_d: [Bits<5>],
    } {
        q -> one_q: [Bits<5>],
    }
    short_delay: [Delay<5, 2>] {
        d <- short_d: [Bits<5>],
    } {
        q -> short_q: [Bits<5>],
    }
    delay: [Delay<75, 6>] {
        d <- delay_d: [Bits<75>],
    } {
        q -> delay_q: [Bits<75>],
    }
    ram: [Ram<40, 3>] {
        re <- ram_re: [Bit],
        raddr <- ram_raddr: [Bits<3>],
        we <- ram_we: [Bit],
        waddr <- ram_waddr: [Bits<3>],
        wdata <- ram_wdata: [Bits<40>],
    } {
        rdata -> ram_rdata: [Bits<40>],
    }
    to_binary: [ToBinary] {
        digits <- binary_digits: [Bits<40>],
    } {
        value -> binary_value: [Bits<32>],
        overflow -> binary_overflow: [Bit],
    }
});
