//! Reads HTTP/1.1 requests out of connections' bytes and frames their bodies; see the page beside this file.
mod align;
mod beat;
mod bytes;
mod count;
mod credential;
mod epochs;
mod framer;
pub(crate) mod function;
mod gate;
mod intake;
mod number;
mod offence;
mod request;
mod text;
mod text_stages;
mod value;
mod value_stages;
mod word;

pub use align::{DropBytes, DropLanes, Line, Mask, Slice, Turn};
pub use beat::{BodyStep, HeaderEnds, LaneEnd, LaneKeep, LaneOf, LineEnds};
pub use bytes::{Classes, LaneScan, Lines, Spaces};
pub use count::{NextIndex, UnderWay};
pub use credential::Credential;
pub use epochs::Epochs;
pub use framer::{Along, Framer};
pub use gate::Gate;
pub use intake::{Intake, Notes};
pub use number::{Digits, Four, Length, Number, Pairs, Size, TenThousand};
pub use offence::{FirstOffence, HeaderBytes, Offences};
pub use request::{RequestLine, Version};
pub use text::{Codes, History, LiteralEnd, Literals, TextBefore};
pub use text_stages::TextStages;
pub use value::{NameEnd, ValueBytes};
pub use value_stages::ValueStages;
pub use word::{Credentials, TakeBytes, WordLength};

use crate::fields::HEAD_BITS;
use forebay_spec::config::ADDRESS_BITS;
use framer::LIFE_BITS;
use rust_hdl::prelude::*;
use text_stages::TEXT_STAGES;
use value_stages::VALUE_STAGES;

/// Stages between the framer's step and the gate: the first turns the beat to the lane, the others read it.
const STAGES: usize = 1 + TEXT_STAGES + VALUE_STAGES;

/// Clocks from a body beat that is taken to the same beat at the output, while nothing is at work.
pub const LATENCY_CLOCKS: u64 = STAGES as u64 + 5;
/// Clocks from the last lane of a header to the step behind it.
pub const VERDICT_CLOCKS: u64 = STAGES as u64 + 4;
/// Clocks from the first lane of a credential to the step behind its header, if it is in one lane.
pub const CREDENTIAL_CLOCKS: u64 = 71;
/// Clocks for each further lane of it,
pub const PIECE_CLOCKS: u64 = 3;
/// and for each eight bytes.
pub const WORD_CLOCKS: u64 = 6;

// A connection cannot begin as often as it has lives while one step passes.
const _: () = assert!(STAGES + 4 < 1 << LIFE_BITS);
// What has been sent when pieces of credentials are held back finds room.
const _: () = assert!(credential::PIECES_HELD + STAGES + 4 <= credential::PIECES);

/// The block: `B` is `8 * W`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Http<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. Contexts do not survive it: each connection begins again with `s_start`.
    pub reset: Signal<In, Bit>,
    /// There is a beat at the input.
    pub s_valid: Signal<In, Bit>,
    /// It is taken.
    pub s_ready: Signal<Out, Bit>,
    /// Bytes of the connection's stream, first one lowest.
    pub s_data: Signal<In, Bits<B>>,
    /// How many there are, 0 to `W`.
    pub s_count: Signal<In, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<In, Bits<A>>,
    /// First beat of a new connection.
    pub s_start: Signal<In, Bit>,
    /// The connection ends; only on a beat without bytes.
    pub s_close: Signal<In, Bit>,
    /// Command, only on a beat without bytes: 0 none; 1 requests begin in `s_bank` from here on; 2 requests of `s_bank`
    /// that are under way end; 3 the connection is given up for `s_reason`.
    pub s_command: Signal<In, Bits<2>>,
    /// Bank of the command.
    pub s_bank: Signal<In, Bit>,
    /// Reason of the command, by `PuntReason::code`.
    pub s_reason: Signal<In, Bits<5>>,
    /// Nothing may be sent on.
    pub pause: Signal<In, Bit>,
    /// A configuration word is written; only to a bank that is not busy.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Requests of a bank are under way, a bit each.
    pub bank_busy: Signal<Out, Bits<2>>,
    /// Something that was taken is on its way through the block.
    pub working: Signal<Out, Bit>,
    /// There is a beat of a body, or the end of a request. It must be taken.
    pub m_valid: Signal<Out, Bit>,
    /// First beat of a request.
    pub m_first: Signal<Out, Bit>,
    /// Last beat of a request.
    pub m_last: Signal<Out, Bit>,
    /// Connection.
    pub m_connection: Signal<Out, Bits<A>>,
    /// Bank of the request.
    pub m_bank: Signal<Out, Bit>,
    /// Bytes, first one lowest.
    pub m_data: Signal<Out, Bits<B>>,
    /// Bytes in the beat, from the lowest up without a gap.
    pub m_keep: Signal<Out, Bits<W>>,
    /// Head of the request; counts with `m_last`.
    pub m_head: Signal<Out, Bits<HEAD_BITS>>,
    go: Signal<Local, Bit>,
    notes: Notes,
    intake: Intake<W, B, A>,
    framer: Framer<W, B, A>,
    // what a step has with it on its way
    valids: [DFF<Bit>; STAGES],
    lanes: [DFF<Bit>; STAGES],
    connections: [DFF<Bits<A>>; STAGES],
    commands: [DFF<Bit>; STAGES],
    firsts: [DFF<Bit>; STAGES],
    is_command: Signal<Local, Bit>,
    along: Line<24, { STAGES - 1 }>,
    s12_along: DFF<Bits<24>>,
    // stages 1 and 2: the beat from the step's first byte on
    drop_lanes: DropLanes<B>,
    drop_bytes: DropBytes<B>,
    s1_data: DFF<Bits<B>>,
    s1_place: DFF<Bits<3>>,
    s1_keep: DFF<Bits<8>>,
    s2_data: DFF<Bits<B>>,
    lane_keep: LaneKeep,
    data: Line<B, { STAGES - 1 }>,
    // stages 2 to 12: the lane
    text: TextStages<A>,
    values: ValueStages<A>,
    // stages 12 to 14
    epochs: Epochs<A>,
    gate: Gate<W, B, A>,
    s13_word: DFF<Bits<64>>,
    s13_count: DFF<Bits<4>>,
    s13_leading: DFF<Bit>,
    s13_ends: DFF<Bit>,
    credential: Credential<A>,
    moving: Signal<Local, Bits<STAGES>>,
    moving_commands: Signal<Local, Bits<STAGES>>,
    command_near: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Http<W, B, A> {
    // tidy: long because the parts are joined in one place
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_data, s1_place, s1_keep, s2_data, s12_along);
        dff_setup!(self, clock, s13_word, s13_count, s13_leading, s13_ends);
        clock!(self, clock, intake, framer, along, data, text, values, epochs, gate, credential);
        for i in 0..STAGES {
            self.valids[i].clock.next = self.clock.val();
            self.valids[i].d.next = self.valids[i].q.val();
            self.lanes[i].clock.next = self.clock.val();
            self.lanes[i].d.next = self.lanes[i].q.val();
            self.connections[i].clock.next = self.clock.val();
            self.connections[i].d.next = self.connections[i].q.val();
            self.commands[i].clock.next = self.clock.val();
            self.commands[i].d.next = self.commands[i].q.val();
            self.firsts[i].clock.next = self.clock.val();
            self.firsts[i].d.next = self.firsts[i].q.val();
        }
        self.go.next = !self.pause.val();
        self.intake.reset.next = self.reset.val();
        self.framer.reset.next = self.reset.val();
        self.text.reset.next = self.reset.val();
        self.values.reset.next = self.reset.val();
        self.epochs.reset.next = self.reset.val();
        self.gate.reset.next = self.reset.val();
        self.credential.reset.next = self.reset.val();
        self.intake.go.next = self.go.val();
        self.framer.go.next = self.go.val();
        self.along.go.next = self.go.val();
        self.data.go.next = self.go.val();
        self.text.go.next = self.go.val();
        self.values.go.next = self.go.val();
        self.epochs.go.next = self.go.val();
        self.gate.go.next = self.go.val();

        // beats come in and become steps
        self.notes.start.next = self.s_start.val();
        self.notes.close.next = self.s_close.val();
        self.notes.command.next = self.s_command.val();
        self.notes.bank.next = self.s_bank.val();
        self.notes.reason.next = self.s_reason.val();
        self.intake.s_valid.next = self.s_valid.val();
        self.intake.s_data.next = self.s_data.val();
        self.intake.s_count.next = self.s_count.val();
        self.intake.s_connection.next = self.s_connection.val();
        self.intake.s_notes.next = self.notes.word.val();
        self.intake.take.next = self.framer.take.val();
        self.s_ready.next = self.intake.s_ready.val();
        self.framer.s_valid.next = self.intake.valid.val();
        self.framer.s_data.next = self.intake.data.val();
        self.framer.s_count.next = self.intake.count.val();
        self.framer.s_connection.next = self.intake.connection.val();
        self.framer.s_notes.next = self.intake.notes.val();
        self.framer.s_ends.next = self.intake.ends.val();
        self.framer.s_edges.next = self.intake.edges.val();
        self.framer.hold.next = self.credential.hold.val();
        self.framer.looking.next = self.credential.looking.val();
        self.framer.verdict.next = self.gate.verdict.val();
        self.framer.accepted.next = self.gate.accepted.val();
        self.framer.body_bytes.next = self.gate.body_bytes.val();
        self.framer.credential.next = self.gate.has_credential.val();
        self.framer.mark_valid.next = self.gate.mark_valid.val();
        self.framer.mark_connection.next = self.gate.mark_connection.val();
        self.framer.mark.next = self.gate.mark.val();

        // the beat from the step's first byte on
        self.along.d.next = self.framer.along.val();
        self.is_command.next = self.framer.along.val().get_bits::<2>(2).any();
        self.drop_lanes.data.next = self.framer.data.val();
        self.drop_lanes.count.next = self.framer.offset.val().get_bits::<3>(3);
        self.drop_bytes.data.next = self.s1_data.q.val();
        self.drop_bytes.count.next = self.s1_place.q.val();
        self.lane_keep.stop.next = self.framer.stop.val();
        self.lane_keep.start.next = self.framer.offset.val().get_bits::<3>(0);
        self.data.d.next = self.s2_data.q.val();
        if self.go.val() {
            self.valids[0].d.next = self.framer.valid.val();
            self.lanes[0].d.next = self.framer.valid.val() & self.framer.lane.val();
            self.connections[0].d.next = self.framer.connection.val();
            self.commands[0].d.next = self.framer.valid.val() & self.is_command.val();
            self.firsts[0].d.next = self.framer.first.val();
            for i in 1..STAGES {
                self.valids[i].d.next = self.valids[i - 1].q.val();
                self.lanes[i].d.next = self.lanes[i - 1].q.val();
                self.connections[i].d.next = self.connections[i - 1].q.val();
                self.commands[i].d.next = self.commands[i - 1].q.val();
                self.firsts[i].d.next = self.firsts[i - 1].q.val();
            }
            self.s1_data.d.next = self.drop_lanes.rest.val();
            self.s1_place.d.next = self.framer.offset.val().get_bits::<3>(0);
            self.s1_keep.d.next = self.lane_keep.keep.val();
            self.s2_data.d.next = self.drop_bytes.rest.val();
            self.s12_along.d.next = self.along.q.val();
        }

        // a lane is read
        self.text.valid.next = self.lanes[0].q.val();
        self.text.first.next = self.firsts[0].q.val();
        self.text.connection.next = self.connections[0].q.val();
        self.text.data.next = self.drop_bytes.rest.val().get_bits::<64>(0);
        self.text.keep.next = self.s1_keep.q.val();
        self.values.valid.next = self.text.out_valid.val();
        self.values.first.next = self.text.out_first.val();
        self.values.connection.next = self.text.out_connection.val();
        self.values.data.next = self.text.out_data.val();
        self.values.keep.next = self.text.out_keep.val();
        self.values.cr.next = self.text.out_cr.val();
        self.values.lf.next = self.text.out_lf.val();
        self.values.blank.next = self.text.out_blank.val();
        self.values.digit.next = self.text.out_digit.val();
        self.values.printable.next = self.text.out_printable.val();
        self.values.codes.next = self.text.out_codes.val();
        self.values.in_value.next = self.text.out_in_value.val();
        self.values.after_cr.next = self.text.out_after_cr.val();
        self.values.place.next = self.text.out_place.val();
        self.values.is_method.next = self.text.out_is_method.val();
        self.values.text.next = self.text.out_text.val();
        self.values.bad_line.next = self.text.out_bad_line.val();
        self.values.bad_request.next = self.text.out_bad_request.val();
        self.values.beyond.next = self.text.out_beyond.val();

        // what becomes of the step
        self.epochs.valid.next = self.valids[10].q.val();
        self.epochs.first.next = self.lanes[10].q.val() & self.firsts[10].q.val();
        self.epochs.connection.next = self.connections[10].q.val();
        self.epochs.ahead.next = self.connections[9].q.val();
        self.epochs.along.next = self.along.q.val();
        self.gate.was_bank.next = self.epochs.was_bank.val();
        self.gate.stale.next = self.epochs.stale.val();
        self.gate.new_bank.next = self.epochs.new_bank.val();
        self.gate.commanded.next = self.epochs.commanded.val();
        self.gate.clears.next = self.epochs.clears.val();
        self.gate.ahead.next = self.connections[10].q.val();
        self.gate.valid.next = self.valids[11].q.val();
        self.gate.lane.next = self.lanes[11].q.val();
        self.gate.connection.next = self.connections[11].q.val();
        self.gate.along.next = self.s12_along.q.val();
        self.gate.bad.next = self.values.bad.val();
        self.gate.bad_reason.next = self.values.reason.val();
        self.gate.inference.next = self.values.inference.val();
        self.gate.credential.next = self.values.credential.val();
        self.gate.length_high.next = self.values.length_high.val();
        self.gate.length_low.next = self.values.length_low.val();
        self.gate.retry.next = self.values.retry.val();
        self.gate.word_valid.next = self.values.word_valid.val();
        self.gate.data.next = self.data.q.val();
        self.gate.answer_valid.next = self.credential.answer_valid.val();
        self.gate.answer_connection.next = self.credential.answer_connection.val();
        self.gate.answer.next = self.credential.answer.val();
        if self.go.val() {
            self.s13_word.d.next = self.values.word.val();
            self.s13_count.d.next = self.values.word_count.val();
            self.s13_leading.d.next = self.values.word_leading.val();
            self.s13_ends.d.next = self.values.word_ends.val();
        }
        self.credential.cfg_valid.next = self.cfg_valid.val();
        self.credential.cfg_address.next = self.cfg_address.val();
        self.credential.cfg_data.next = self.cfg_data.val();
        self.credential.valid.next = self.gate.word_push.val();
        self.credential.connection.next = self.gate.word_connection.val();
        self.credential.bank.next = self.gate.word_bank.val();
        self.credential.word.next = self.s13_word.q.val();
        self.credential.count.next = self.s13_count.q.val();
        self.credential.leading.next = self.s13_leading.q.val();
        self.credential.ends.next = self.s13_ends.q.val();
        self.m_valid.next = self.gate.m_valid.val();
        self.m_first.next = self.gate.m_first.val();
        self.m_last.next = self.gate.m_last.val();
        self.m_connection.next = self.gate.m_connection.val();
        self.m_bank.next = self.gate.m_bank.val();
        self.m_data.next = self.gate.m_data.val();
        self.m_keep.next = self.gate.m_keep.val();
        self.m_head.next = self.gate.m_head.val();

        // banks: what is on its way begins in the one that is current, and a command may change that
        self.moving.next = 0.into();
        self.moving_commands.next = 0.into();
        for i in 0..STAGES {
            self.moving.next = self.moving.val().replace_bit(i, self.valids[i].q.val());
            self.moving_commands.next = self.moving_commands.val().replace_bit(i, self.commands[i].q.val());
        }
        self.command_near.next = self.moving_commands.val().any()
            | self.framer.commanded.val()
            | (self.framer.valid.val() & self.is_command.val())
            | (self.intake.valid.val() & self.intake.notes.val().get_bits::<2>(2).any());
        self.working.next =
            self.moving.val().any() | self.framer.busy.val() | self.framer.valid.val() | self.intake.valid.val();
        self.bank_busy.next = self.gate.under_way.val();
        if self.working.val() {
            if self.epochs.bank.val() {
                self.bank_busy.next = self.gate.under_way.val() | 2;
            } else {
                self.bank_busy.next = self.gate.under_way.val() | 1;
            }
        }
        if self.command_near.val() {
            self.bank_busy.next = 3.into();
        }
        if self.reset.val() {
            for i in 0..STAGES {
                self.valids[i].d.next = false;
                self.lanes[i].d.next = false;
                self.commands[i].d.next = false;
            }
        }
    }
}
