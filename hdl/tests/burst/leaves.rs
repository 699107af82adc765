//! The scheduler's leaves in one block, so that one Verilated model compares all of them.
use crate::block::leaves;
use crate::random::Rng;
use forebay_hdl::burst::{
    Below, DecodeWork, Ends, Join, LutRam, Multiply, NodeUnpack, Place, PromiseGive, PromisePick, PromiseRows,
    PromiseSum, PromiseTake, Scale, Shifts, Views, WorkClass,
};
use rust_hdl::prelude::*;

/// The block of many leaves, whose inputs can be given random values.
macro_rules! driven {
    ($name:ident, clock [$($clocked:ident)*], {
        $($leaf:ident: [$($kind:tt)+] {
            $($input:ident <- $from:ident: [$($in_type:tt)+],)*
        } { $($outputs:tt)* })+
    }) => {
        leaves!($name, clock [$($clocked)*], {
            $($leaf: [$($kind)+] { $($input <- $from: [$($in_type)+],)* } { $($outputs)* })+
        });

        impl $name {
            /// Gives every input a random value.
            pub(crate) fn drive(&mut self, rng: &mut Rng) {
                $($(self.$from.next = Any::any(rng);)*)+
            }
        }
    };
}

/// A random value: of all magnitudes, and often full or nothing.
trait Any {
    fn any(rng: &mut Rng) -> Self;
}

impl Any for bool {
    fn any(rng: &mut Rng) -> Self {
        rng.one_in(2)
    }
}

impl<const N: usize> Any for Bits<N> {
    fn any(rng: &mut Rng) -> Self {
        let kind = rng.below(8);
        let top = rng.below(N as u64 + 1) as usize;
        let bit = |i: usize, rng: &mut Rng| match kind {
            0 => false,
            1 => true,
            2 | 3 => i < top && rng.one_in(2),
            4 => i < top,
            _ => rng.one_in(2),
        };
        if N > 32 {
            let bits: [bool; N] = std::array::from_fn(|i| bit(i, rng));
            return Bits::Long(bits.into());
        }
        (0..N).fold(0_u64, |n, i| n | u64::from(bit(i, rng)) << i).into()
    }
}

driven!(Leaves, clock [wide_ram narrow_ram multiply scale views wide_views promise_rows promise_sum], {
    wide_ram: [LutRam<40, 3>] {
        raddr <- wide_raddr: [Bits<3>],
        we <- wide_we: [Bit],
        waddr <- wide_waddr: [Bits<3>],
        wdata <- wide_wdata: [Bits<40>],
    } {
        rdata -> wide_rdata: [Bits<40>],
    }
    narrow_ram: [LutRam<5, 2>] {
        raddr <- narrow_raddr: [Bits<2>],
        we <- narrow_we: [Bit],
        waddr <- narrow_waddr: [Bits<2>],
        wdata <- narrow_wdata: [Bits<5>],
    } {
        rdata -> narrow_rdata: [Bits<5>],
    }
    below: [Below<8, 3>] {
        x <- below_x: [Bits<8>],
    } {
        yes -> below_yes: [Bit],
    }
    always_below: [Below<8, 8>] {
        x <- always_x: [Bits<8>],
    } {
        yes -> always_yes: [Bit],
    }
    joined: [Join<3, 4, 7>] {
        high <- join_high: [Bits<3>],
        low <- join_low: [Bits<4>],
    } {
        both -> join_both: [Bits<7>],
    }
    multiply: [Multiply<21, 20, 41>] {
        a <- multiply_a: [Bits<21>],
        b <- multiply_b: [Bits<20>],
    } {
        product -> multiply_product: [Bits<41>],
    }
    shifts: [Shifts] {
        factor <- shifts_factor: [Bits<17>],
    } {
        shifts -> shifts_shifts: [Bits<15>],
    }
    scale: [Scale<18, 25>] {
        x <- scale_x: [Bits<18>],
        shifts <- scale_shifts: [Bits<15>],
    } {
        product -> scale_product: [Bits<25>],
    }
    place: [Place] {
        tenant <- place_tenant: [Bits<8>],
        pool <- place_pool: [Bits<3>],
        tokens <- place_tokens: [Bits<18>],
        declared_output <- place_declared: [Bits<18>],
    } {
        place -> place_place: [Bits<12>],
        check -> place_check: [Bits<18>],
    }
    decode_work: [DecodeWork] {
        decode_ms <- work_decode_ms: [Bits<21>],
        slots_log2 <- work_slots_log2: [Bits<4>],
    } {
        slot -> work_slot: [Bits<23>],
        node -> work_node: [Bits<23>],
    }
    work_class: [WorkClass] {
        node_work <- work_node_work: [Bits<24>],
    } {
        work_class -> work_work_class: [Bits<3>],
    }
    ends: [Ends] {
        filled <- ends_filled: [Bits<9>],
    } {
        best -> ends_best: [Bits<4>],
        worst -> ends_worst: [Bits<4>],
    }
    views: [Views<4, 2>] {
        reset <- views_reset: [Bit],
        set <- views_set: [Bit],
        set_node <- views_set_node: [Bits<2>],
        set_serves <- views_set_serves: [Bits<8>],
        write <- views_write: [Bit],
        node <- views_node: [Bits<2>],
        open <- views_open: [Bit],
        open_long <- views_open_long: [Bit],
        standing <- views_standing: [Bit],
        empty <- views_empty: [Bit],
        room <- views_room: [Bits<18>],
        state_write <- views_state_write: [Bit],
        state_node <- views_state_node: [Bits<2>],
        state <- views_state: [Bits<4>],
        tokens <- views_tokens: [Bits<18>],
        pool_bit <- views_pool_bit: [Bits<8>],
        long_class <- views_long_class: [Bit],
        turn <- views_turn: [Bits<2>],
    } {
        found -> views_found: [Bit],
        chosen -> views_chosen: [Bits<2>],
        redirected -> views_redirected: [Bit],
    }
    wide_views: [Views<64, 6>] {
        reset <- wide_views_reset: [Bit],
        set <- wide_views_set: [Bit],
        set_node <- wide_views_set_node: [Bits<6>],
        set_serves <- wide_views_set_serves: [Bits<8>],
        write <- wide_views_write: [Bit],
        node <- wide_views_node: [Bits<6>],
        open <- wide_views_open: [Bit],
        open_long <- wide_views_open_long: [Bit],
        standing <- wide_views_standing: [Bit],
        empty <- wide_views_empty: [Bit],
        room <- wide_views_room: [Bits<18>],
        state_write <- wide_views_state_write: [Bit],
        state_node <- wide_views_state_node: [Bits<6>],
        state <- wide_views_state: [Bits<4>],
        tokens <- wide_views_tokens: [Bits<18>],
        pool_bit <- wide_views_pool_bit: [Bits<8>],
        long_class <- wide_views_long_class: [Bit],
        turn <- wide_views_turn: [Bits<6>],
    } {
        found -> wide_views_found: [Bit],
        chosen -> wide_views_chosen: [Bits<6>],
        redirected -> wide_views_redirected: [Bit],
    }
    promise_rows: [PromiseRows] {
        raddr <- rows_raddr: [Bits<3>],
        we <- rows_we: [Bits<8>],
        waddr <- rows_waddr: [Bits<3>],
        wdata <- rows_wdata: [Bits<58>],
    } {
        row -> rows_row: [Bits<464>],
    }
    promise_pick: [PromisePick] {
        row <- pick_row: [Bits<464>],
        at_class <- pick_class: [Bits<3>],
    } {
        promise -> pick_promise: [Bits<58>],
    }
    promise_take: [PromiseTake] {
        old <- take_old: [Bits<58>],
        prompt <- take_prompt: [Bits<22>],
        slot <- take_slot: [Bits<24>],
    } {
        made -> take_made: [Bits<58>],
    }
    promise_give: [PromiseGive] {
        old <- give_old: [Bits<58>],
        fades <- give_fades: [Bit],
        prompt <- give_prompt: [Bits<22>],
        slot <- give_slot: [Bits<24>],
    } {
        made -> give_made: [Bits<58>],
    }
    promise_sum: [PromiseSum] {
        row <- sum_row: [Bits<464>],
        at_class <- sum_class: [Bits<3>],
        own <- sum_own: [Bits<58>],
    } {
        prompt -> sum_prompt: [Bits<30>],
        slot -> sum_slot: [Bits<34>],
    }
    node_unpack: [NodeUnpack] {
        word <- node_word: [Bits<173>],
    } {
        used -> node_used: [Bits<9>],
        rate -> node_rate: [Bits<18>],
        window_at -> node_window_at: [Bits<17>],
    }
});
