//! Blocks that hold many leaves, so that one Verilated model compares all of them.
use forebay_hdl::fields::{
    Decimal, FieldName, FieldsUpdate, Finish, History, KindAt, ModelAlign, ModelIndex, ModelNames, ToBinary, WindowAt,
};
use forebay_hdl::http::{
    ByteClass, LiteralMatch, PackHead, PackState, TakeBytes, Tenants, UnpackHead, UnpackState, LITERALS,
};
use forebay_hdl::leaf::{Context, Delay, DepthIsOne, DepthSums, Escape, FirstOne, LastEvent, PrefixXor, Ram};
use forebay_hdl::scan::Classify;
use rust_hdl::prelude::*;

/// Makes a block with the leaves as children; each of their ports gets a port of the block, named after the arrow.
macro_rules! leaves {
    ($name:ident, clock [$($clocked:ident)*], {
        $($leaf:ident: [$($kind:tt)+] {
            $($input:ident <- $from:ident: [$($in_type:tt)+],)*
        } {
            $($output:ident -> $to:ident: [$($out_type:tt)+],)*
        })+
    }) => {
        #[derive(LogicBlock, Default)]
        pub(crate) struct $name {
            pub(crate) clock: Signal<In, Clock>,
            $(
                $leaf: $($kind)+,
                $(pub(crate) $from: Signal<In, $($in_type)+>,)*
                $(pub(crate) $to: Signal<Out, $($out_type)+>,)*
            )+
        }

        impl Logic for $name {
            #[hdl_gen]
            fn update(&mut self) {
                $(self.$clocked.clock.next = self.clock.val();)*
                $(
                    $(self.$leaf.$input.next = self.$from.val();)*
                    $(self.$to.next = self.$leaf.$output.val();)*
                )+
            }
        }
    };
}

// Of one beat of eight bytes. `depth_one` takes the sums of `depth`, as only those occur.
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
    parity: [PrefixXor<8>] {
        v <- parity_v: [Bits<8>],
    } {
        y -> parity_y: [Bits<8>],
    }
    last_event: [LastEvent<8>] {
        any <- event_any: [Bits<8>],
        value <- event_value: [Bits<8>],
        carry <- event_carry: [Bit],
    } {
        prior -> event_prior: [Bits<8>],
        carry_out -> event_carry_out: [Bit],
    }
    first_one: [FirstOne<8>] {
        v <- first_v: [Bits<8>],
    } {
        one -> first_alone: [Bits<8>],
        above -> first_above: [Bits<8>],
    }
    escape: [Escape<8>] {
        slash <- escape_slash: [Bits<8>],
        keep <- escape_keep: [Bits<8>],
        carry <- escape_carry: [Bit],
    } {
        escaped -> escaped: [Bits<8>],
        carry_out -> escape_carry_out: [Bit],
    }
    depth: [DepthSums<8, 40>] {
        opens <- depth_opens: [Bits<8>],
        closes <- depth_closes: [Bits<8>],
    } {
        sums -> depth_sums: [Bits<40>],
    }
    depth_one: [DepthIsOne<8, 40>] {
        sums <- one_sums: [Bits<40>],
        base <- one_base: [Bits<12>],
    } {
        prior -> one_prior: [Bits<8>],
        after -> one_after: [Bits<8>],
        base_next -> one_base_next: [Bits<12>],
    }
    history: [History<8, 64, 160>] {
        history <- history_before: [Bits<96>],
        data <- history_data: [Bits<64>],
        keep <- history_keep: [Bits<8>],
    } {
        text -> history_text: [Bits<160>],
        history_next -> history_after: [Bits<96>],
    }
    window: [WindowAt<8, 160>] {
        text <- window_text: [Bits<160>],
        at <- window_at: [Bits<8>],
    } {
        window -> window_bytes: [Bits<96>],
    }
    kind: [KindAt<8, 64>] {
        data <- kind_data: [Bits<64>],
        at <- kind_at: [Bits<8>],
    } {
        kind -> kind_code: [Bits<4>],
    }
    model_align: [ModelAlign<8, 64>] {
        data <- align_data: [Bits<64>],
        bytes <- align_bytes: [Bits<8>],
        position <- align_position: [Bits<7>],
    } {
        turned -> align_turned: [Bits<64>],
        turned_bytes -> align_turned_bytes: [Bits<8>],
        position_next -> align_position_next: [Bits<7>],
    }
    take: [TakeBytes<8, 64>] {
        data <- take_data: [Bits<64>],
        count <- take_count: [Bits<7>],
        used <- take_used: [Bits<7>],
        wanted <- take_wanted: [Bits<25>],
    } {
        next_byte -> take_next: [Bits<8>],
        rest -> take_rest: [Bits<64>],
        keep -> take_keep: [Bits<8>],
        taken -> taken: [Bits<7>],
    }
});

// Of names, numbers, headers and states.
leaves!(TextLeaves, clock [], {
    field_name: [FieldName] {
        window <- name_window: [Bits<96>],
    } {
        known -> name_known: [Bit],
        field -> name_field: [Bits<3>],
    }
    decimal: [Decimal] {
        window <- number_window: [Bits<96>],
        fraction <- number_fraction: [Bit],
    } {
        plain -> number_plain: [Bit],
        digits -> number_digits: [Bits<40>],
    }
    model_index: [ModelIndex] {
        hits <- model_hits: [Bits<16>],
    } {
        index -> model_number: [Bits<5>],
    }
    fields_update: [FieldsUpdate] {
        state <- fields_before: [Bits<147>],
        start_valid <- start_valid: [Bit],
        start_field <- start_field: [Bits<3>],
        start_kind <- start_kind: [Bits<4>],
        number_valid <- end_valid: [Bit],
        number_field <- end_field: [Bits<3>],
        number_plain <- end_plain: [Bit],
        number_digits <- end_digits: [Bits<40>],
        model_valid <- model_valid: [Bit],
        model <- model: [Bits<5>],
        name_escape <- name_escape: [Bit],
        value_escape <- value_escape: [Bit],
    } {
        state_next -> fields_after: [Bits<147>],
    }
    finish: [Finish] {
        head <- finish_head: [Bits<75>],
        plain <- finish_plain: [Bits<27>],
        max_tokens <- finish_max_tokens: [Bits<32>],
        temperature_milli <- finish_temperature: [Bits<32>],
        top_k <- finish_top_k: [Bits<32>],
        overflow <- finish_overflow: [Bits<3>],
    } {
        record -> finish_record: [Bits<196>],
    }
    byte_class: [ByteClass] {
        code <- class_code: [Bits<8>],
    } {
        lower -> class_lower: [Bits<8>],
        token -> class_token: [Bit],
        digit -> class_digit: [Bit],
        blank -> class_blank: [Bit],
        visible -> class_visible: [Bit],
        printable -> class_printable: [Bit],
    }
    literals: [LiteralMatch] {
        code <- literal_code: [Bits<8>],
        lower <- literal_lower: [Bits<8>],
        place <- literal_place: [Bits<6>],
        value_place <- literal_value_place: [Bits<9>],
    } {
        fits -> literal_fits: [Bits<LITERALS>],
        ends -> literal_ends: [Bits<LITERALS>],
    }
    state_parts: [UnpackState] {
        word <- state_word: [Bits<150>],
    } {
        phase -> phase: [Bits<4>],
        alive -> alive: [Bits<15>],
        place -> place: [Bits<6>],
        header_bytes -> header_bytes: [Bits<16>],
        post -> post: [Bits<1>],
        query -> query: [Bits<1>],
        inference -> inference: [Bits<1>],
        length_seen -> length_seen: [Bits<1>],
        retry_seen -> retry_seen: [Bits<1>],
        credential_seen -> credential_seen: [Bits<1>],
        header -> header: [Bits<4>],
        digits -> digits: [Bits<4>],
        length -> content_length: [Bits<30>],
        left -> left: [Bits<25>],
        retry -> retry: [Bits<10>],
        value_place -> value_place: [Bits<9>],
        tenant -> tenant: [Bits<5>],
        index -> index: [Bits<16>],
    }
    state_pack: [PackState] {
        phase <- pack_phase: [Bits<4>],
        alive <- pack_alive: [Bits<15>],
        place <- pack_place: [Bits<6>],
        header_bytes <- pack_header_bytes: [Bits<16>],
        post <- pack_post: [Bits<1>],
        query <- pack_query: [Bits<1>],
        inference <- pack_inference: [Bits<1>],
        length_seen <- pack_length_seen: [Bits<1>],
        retry_seen <- pack_retry_seen: [Bits<1>],
        credential_seen <- pack_credential_seen: [Bits<1>],
        header <- pack_header: [Bits<4>],
        digits <- pack_digits: [Bits<4>],
        length <- pack_length: [Bits<30>],
        left <- pack_left: [Bits<25>],
        retry <- pack_retry: [Bits<10>],
        value_place <- pack_value_place: [Bits<9>],
        tenant <- pack_tenant: [Bits<5>],
        index <- pack_index: [Bits<16>],
    } {
        word -> packed_state: [Bits<150>],
    }
    head_parts: [UnpackHead] {
        word <- head_word: [Bits<75>],
    } {
        connection -> head_connection: [Bits<16>],
        index -> head_index: [Bits<16>],
        disposition -> head_disposition: [Bits<5>],
        tenant -> head_tenant: [Bits<5>],
        retry -> head_retry: [Bits<8>],
        body_bytes -> head_body_bytes: [Bits<25>],
    }
    head_pack: [PackHead] {
        connection <- pack_connection: [Bits<16>],
        index <- pack_head_index: [Bits<16>],
        disposition <- pack_disposition: [Bits<5>],
        tenant <- pack_head_tenant: [Bits<5>],
        retry <- pack_head_retry: [Bits<8>],
        body_bytes <- pack_body_bytes: [Bits<25>],
    } {
        word -> packed_head: [Bits<75>],
    }
});

// With registers or memories. The narrow and the wide variant of one leaf have different Verilog.
leaves!(ClockedLeaves, clock [bit_context wide_context short_delay delay ram model_names to_binary tenants], {
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
    model_names: [ModelNames<8, 64>] {
        cfg_valid <- names_cfg_valid: [Bit],
        cfg_address <- names_cfg_address: [Bits<10>],
        cfg_data <- names_cfg_data: [Bits<32>],
        turned <- names_turned: [Bits<64>],
        turned_bytes <- names_turned_bytes: [Bits<8>],
        position <- names_position: [Bits<7>],
        position_next <- names_position_next: [Bits<7>],
    } {
        alike -> names_alike: [Bits<16>],
        ends -> names_ends: [Bits<16>],
    }
    to_binary: [ToBinary] {
        digits <- binary_digits: [Bits<40>],
    } {
        value -> binary_value: [Bits<32>],
        overflow -> binary_overflow: [Bit],
    }
    tenants: [Tenants] {
        cfg_valid <- tenants_cfg_valid: [Bit],
        cfg_address <- tenants_cfg_address: [Bits<10>],
        cfg_data <- tenants_cfg_data: [Bits<32>],
        index <- tenants_index: [Bits<4>],
        tag0 <- tenants_tag0: [Bits<64>],
        tag1 <- tenants_tag1: [Bits<64>],
    } {
        hit -> tenants_hit: [Bit],
    }
});
