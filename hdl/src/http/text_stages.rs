//! Stages 2 to 6 of a lane: classes, lines, the request line, and the text in which literals are looked for.
use super::align::{Line, Slice};
use super::bytes::{Classes, LaneScan, Lines, Spaces};
use super::function::parts;
use super::offence::HeaderBytes;
use super::request::{RequestLine, Version};
use super::text::{Codes, History, LiteralEnd, TextBefore};
use rust_hdl::prelude::*;

parts! {
    /// What stage 4 keeps of a connection.
    PackLines, UnpackLines, 22;
    /// State of `Lines`.
    lines: [Bits<4>],
    /// State of `Spaces`.
    spaces: [Bits<2>],
    /// Bytes of the header.
    bytes: [Bits<16>],
}

parts! {
    /// What stage 5 keeps of a connection.
    PackText, UnpackText, 130;
    /// State of `RequestLine`.
    request: [Bits<10>],
    /// The last characters, the first 60 of them lower.
    low: [Bits<60>],
    /// The others.
    high: [Bits<60>],
}

/// Stages of this block.
pub(crate) const TEXT_STAGES: usize = 5;

/// From bytes to the text before the end of a literal; `A` is the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct TextStages<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A step is made.
    pub go: Signal<In, Bit>,
    /// There is a lane at the input.
    pub valid: Signal<In, Bit>,
    /// It is the first of its request.
    pub first: Signal<In, Bit>,
    /// Its connection.
    pub connection: Signal<In, Bits<A>>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<64>>,
    /// Bytes in the lane.
    pub keep: Signal<In, Bits<8>>,
    /// There is a lane at the output.
    pub out_valid: Signal<Out, Bit>,
    /// It is the first of its request.
    pub out_first: Signal<Out, Bit>,
    /// Its connection.
    pub out_connection: Signal<Out, Bits<A>>,
    /// Its bytes.
    pub out_data: Signal<Out, Bits<64>>,
    /// Bytes in it.
    pub out_keep: Signal<Out, Bits<8>>,
    /// Carriage return, as of `Classes`.
    pub out_cr: Signal<Out, Bits<8>>,
    /// Line feed.
    pub out_lf: Signal<Out, Bits<8>>,
    /// Space or tab.
    pub out_blank: Signal<Out, Bits<8>>,
    /// `0` to `9`
    pub out_digit: Signal<Out, Bits<8>>,
    /// May stand in a value.
    pub out_printable: Signal<Out, Bits<8>>,
    /// Codes of characters.
    pub out_codes: Signal<Out, Bits<40>>,
    /// The byte stands in a value, its line end included.
    pub out_in_value: Signal<Out, Bits<8>>,
    /// The byte before is a carriage return.
    pub out_after_cr: Signal<Out, Bits<8>>,
    /// The end of a literal.
    pub out_place: Signal<Out, Bits<8>>,
    /// It is the end of the method.
    pub out_is_method: Signal<Out, Bit>,
    /// The text before it.
    pub out_text: Signal<Out, Bits<120>>,
    /// Bytes that cannot stand in a header line.
    pub out_bad_line: Signal<Out, Bits<8>>,
    /// Bytes that cannot stand in a request line.
    pub out_bad_request: Signal<Out, Bits<8>>,
    /// Bytes beyond the limit of a header.
    pub out_beyond: Signal<Out, Bits<8>>,
    valids: [DFF<Bit>; TEXT_STAGES],
    firsts: [DFF<Bit>; TEXT_STAGES],
    connections: [DFF<Bits<A>>; TEXT_STAGES],
    keeps: [DFF<Bits<8>>; TEXT_STAGES],
    data_4: Line<64, 3>,
    s5_data: DFF<Bits<64>>,
    s6_data: DFF<Bits<64>>,
    // stage 2: classes
    classes: Classes,
    s2_cr: DFF<Bits<8>>,
    s2_lf: DFF<Bits<8>>,
    s2_colon: DFF<Bits<8>>,
    s2_space: DFF<Bits<8>>,
    s2_tchar: DFF<Bits<8>>,
    s2_printable: DFF<Bits<8>>,
    classes_out: [Line<8, 5>; 5],
    upper: Line<8, 3>,
    lower: Line<8, 3>,
    special: Line<40, 3>,
    question: Line<8, 3>,
    tchar: Line<8, 3>,
    visible: Line<8, 3>,
    // stage 3: what a lane says of them by itself
    scan: LaneScan,
    s3_cr: DFF<Bits<8>>,
    s3_lf: DFF<Bits<8>>,
    s3_colon: DFF<Bits<8>>,
    s3_space: DFF<Bits<8>>,
    s3_ended: DFF<Bits<8>>,
    s3_marked: DFF<Bits<8>>,
    s3_named: DFF<Bits<8>>,
    s3_one: DFF<Bits<8>>,
    s3_two: DFF<Bits<8>>,
    s3_no_value: DFF<Bits<8>>,
    s3_no_start: DFF<Bits<8>>,
    s3_no_name: DFF<Bits<8>>,
    s3_tail: DFF<Bits<2>>,
    // stage 4: lines, and the parts of the request line
    lines: Lines,
    spaces: Spaces,
    header_bytes: HeaderBytes,
    line_state: Slice<22, A>,
    now_lines: UnpackLines,
    then_lines: PackLines,
    in_value: Line<8, 3>,
    after_cr: Line<8, 3>,
    bad_line: Line<8, 3>,
    beyond: Line<8, 3>,
    s4_head: DFF<Bits<8>>,
    s4_name_end: DFF<Bits<8>>,
    s4_method: DFF<Bits<8>>,
    s4_target: DFF<Bits<8>>,
    s4_version: DFF<Bits<8>>,
    s4_method_end: DFF<Bits<8>>,
    s4_target_end: DFF<Bits<8>>,
    // stage 5: characters, ends of literals
    codes: Codes,
    literal_end: LiteralEnd,
    history: History,
    request_line: RequestLine,
    text_state: Slice<130, A>,
    now_text: UnpackText,
    then_text: PackText,
    past: Signal<Local, Bits<120>>,
    past_high: Signal<Local, Bits<120>>,
    s5_past: DFF<Bits<120>>,
    s5_codes: DFF<Bits<40>>,
    s5_place: DFF<Bits<8>>,
    s5_is_method: DFF<Bit>,
    s5_bad: DFF<Bits<8>>,
    s5_version: DFF<Bits<8>>,
    s5_target_end: DFF<Bits<8>>,
    s5_version_bytes: DFF<Bits<4>>,
    // stage 6: the text before it, the version
    text_before: TextBefore,
    version: Version,
    s6_codes: DFF<Bits<40>>,
    s6_place: DFF<Bits<8>>,
    s6_is_method: DFF<Bit>,
    s6_text: DFF<Bits<120>>,
    s6_bad: DFF<Bits<8>>,
}

impl<const A: usize> Logic for TextStages<A> {
    // tidy: long because five stages of one pipeline read best in a row
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s2_cr, s2_lf, s2_colon, s2_space, s2_tchar, s2_printable);
        dff_setup!(self, clock, s3_cr, s3_lf, s3_colon, s3_space, s3_ended, s3_marked, s3_named, s3_one, s3_two);
        dff_setup!(self, clock, s3_no_value, s3_no_start, s3_no_name, s3_tail, s4_head, s4_name_end);
        dff_setup!(self, clock, s4_method, s4_target, s4_version, s4_method_end, s4_target_end);
        dff_setup!(self, clock, s5_past, s5_codes, s5_place, s5_is_method, s5_bad, s5_version, s5_target_end);
        dff_setup!(self, clock, s5_version_bytes, s5_data, s6_data, s6_codes, s6_place, s6_is_method, s6_text, s6_bad);
        clock!(self, clock, data_4, upper, lower, special, question, tchar, visible);
        clock!(self, clock, in_value, after_cr, bad_line, beyond, line_state, text_state);
        for i in 0..TEXT_STAGES {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
            self.keeps[i].clock.next = self.clock.val();
            self.valids[i].d.next = self.valids[i].q.val();
            self.firsts[i].d.next = self.firsts[i].q.val();
            self.connections[i].d.next = self.connections[i].q.val();
            self.keeps[i].d.next = self.keeps[i].q.val();
        }
        for i in 0..5 {
            self.classes_out[i].clock.next = self.clock.val();
            self.classes_out[i].go.next = self.go.val();
        }
        self.data_4.go.next = self.go.val();
        self.upper.go.next = self.go.val();
        self.lower.go.next = self.go.val();
        self.special.go.next = self.go.val();
        self.question.go.next = self.go.val();
        self.tchar.go.next = self.go.val();
        self.visible.go.next = self.go.val();
        self.in_value.go.next = self.go.val();
        self.after_cr.go.next = self.go.val();
        self.bad_line.go.next = self.go.val();
        self.beyond.go.next = self.go.val();
        self.line_state.go.next = self.go.val();
        self.text_state.go.next = self.go.val();

        // 2: classes; some of them are needed later only
        self.classes.data.next = self.data.val();
        self.classes.keep.next = self.keep.val();
        self.data_4.d.next = self.data.val();
        self.classes_out[0].d.next = self.classes.cr.val();
        self.classes_out[1].d.next = self.classes.lf.val();
        self.classes_out[2].d.next = self.classes.blank.val();
        self.classes_out[3].d.next = self.classes.digit.val();
        self.classes_out[4].d.next = self.classes.printable.val();
        self.upper.d.next = self.classes.upper.val();
        self.lower.d.next = self.classes.lower.val();
        self.special.d.next = self.classes.special.val();
        self.question.d.next = self.classes.question.val();
        self.tchar.d.next = self.classes.tchar.val();
        self.visible.d.next = self.classes.visible.val();

        // 3: what a lane says by itself
        self.scan.cr.next = self.s2_cr.q.val();
        self.scan.lf.next = self.s2_lf.q.val();
        self.scan.colon.next = self.s2_colon.q.val();
        self.scan.space.next = self.s2_space.q.val();
        self.scan.tchar.next = self.s2_tchar.q.val();
        self.scan.printable.next = self.s2_printable.q.val();
        self.scan.keep.next = self.keeps[0].q.val();

        // 4: lines, the parts of the request line, and the length of the header
        self.line_state.ahead.next = self.connections[0].q.val();
        self.line_state.connection.next = self.connections[1].q.val();
        self.line_state.valid.next = self.valids[1].q.val();
        self.line_state.first.next = self.firsts[1].q.val();
        self.now_lines.word.next = self.line_state.state.val();
        self.lines.cr.next = self.s3_cr.q.val();
        self.lines.lf.next = self.s3_lf.q.val();
        self.lines.colon.next = self.s3_colon.q.val();
        self.lines.ended.next = self.s3_ended.q.val();
        self.lines.marked.next = self.s3_marked.q.val();
        self.lines.named.next = self.s3_named.q.val();
        self.lines.no_value.next = self.s3_no_value.q.val();
        self.lines.no_start.next = self.s3_no_start.q.val();
        self.lines.no_name.next = self.s3_no_name.q.val();
        self.lines.tail.next = self.s3_tail.q.val();
        self.lines.keep.next = self.keeps[1].q.val();
        self.lines.state.next = self.now_lines.lines.val();
        self.spaces.space.next = self.s3_space.q.val();
        self.spaces.one.next = self.s3_one.q.val();
        self.spaces.two.next = self.s3_two.q.val();
        self.spaces.head.next = self.lines.head.val();
        self.spaces.state.next = self.now_lines.spaces.val();
        self.header_bytes.keep.next = self.keeps[1].q.val();
        self.header_bytes.bytes.next = self.now_lines.bytes.val();
        self.then_lines.lines.next = self.lines.state_next.val();
        self.then_lines.spaces.next = self.spaces.state_next.val();
        self.then_lines.bytes.next = self.header_bytes.bytes_next.val();
        self.line_state.state_next.next = self.then_lines.word.val();
        self.in_value.d.next = self.lines.in_value.val();
        self.after_cr.d.next = self.lines.after_cr.val();
        self.bad_line.d.next = self.lines.bad.val();
        self.beyond.d.next = self.header_bytes.bad.val();

        // 5: characters, and where literals end
        self.text_state.ahead.next = self.connections[1].q.val();
        self.text_state.connection.next = self.connections[2].q.val();
        self.text_state.valid.next = self.valids[2].q.val();
        self.text_state.first.next = self.firsts[2].q.val();
        self.now_text.word.next = self.text_state.state.val();
        self.past_high.next = bit_cast::<120, 60>(self.now_text.high.val()) << 60;
        self.past.next = self.past_high.val() | bit_cast::<120, 60>(self.now_text.low.val());
        self.codes.data.next = self.data_4.q.val();
        self.codes.upper.next = self.upper.q.val();
        self.codes.lower.next = self.lower.q.val();
        self.codes.special.next = self.special.q.val();
        self.codes.method.next = self.s4_method.q.val();
        self.codes.head.next = self.s4_head.q.val();
        self.literal_end.method_end.next = self.s4_method_end.q.val();
        self.literal_end.target.next = self.s4_target.q.val();
        self.literal_end.target_end.next = self.s4_target_end.q.val();
        self.literal_end.question.next = self.question.q.val();
        self.literal_end.name_end.next = self.s4_name_end.q.val();
        self.history.past.next = self.past.val();
        self.history.codes.next = self.codes.codes.val();
        self.history.keep.next = self.keeps[2].q.val();
        self.request_line.method.next = self.s4_method.q.val();
        self.request_line.target.next = self.s4_target.q.val();
        self.request_line.method_end.next = self.s4_method_end.q.val();
        self.request_line.target_end.next = self.s4_target_end.q.val();
        self.request_line.tchar.next = self.tchar.q.val();
        self.request_line.visible.next = self.visible.q.val();
        self.request_line.keep.next = self.keeps[2].q.val();
        self.request_line.state.next = self.now_text.request.val();
        self.then_text.request.next = self.request_line.state_next.val();
        self.then_text.low.next = self.history.behind.val().get_bits::<60>(0);
        self.then_text.high.next = self.history.behind.val().get_bits::<60>(60);
        self.text_state.state_next.next = self.then_text.word.val();

        // 6: the text before the end of a literal; the version
        self.text_before.past.next = self.s5_past.q.val();
        self.text_before.codes.next = self.s5_codes.q.val();
        self.text_before.place.next = self.s5_place.q.val();
        self.version.data.next = self.s5_data.q.val();
        self.version.version.next = self.s5_version.q.val();
        self.version.target_end.next = self.s5_target_end.q.val();
        self.version.bytes.next = self.s5_version_bytes.q.val();

        if self.go.val() {
            self.valids[0].d.next = self.valid.val();
            self.firsts[0].d.next = self.first.val();
            self.connections[0].d.next = self.connection.val();
            self.keeps[0].d.next = self.keep.val();
            for i in 1..TEXT_STAGES {
                self.valids[i].d.next = self.valids[i - 1].q.val();
                self.firsts[i].d.next = self.firsts[i - 1].q.val();
                self.connections[i].d.next = self.connections[i - 1].q.val();
                self.keeps[i].d.next = self.keeps[i - 1].q.val();
            }
            self.s2_cr.d.next = self.classes.cr.val();
            self.s2_lf.d.next = self.classes.lf.val();
            self.s2_colon.d.next = self.classes.colon.val();
            self.s2_space.d.next = self.classes.space.val();
            self.s2_tchar.d.next = self.classes.tchar.val();
            self.s2_printable.d.next = self.classes.printable.val();
            self.s3_cr.d.next = self.s2_cr.q.val();
            self.s3_lf.d.next = self.s2_lf.q.val();
            self.s3_colon.d.next = self.s2_colon.q.val();
            self.s3_space.d.next = self.s2_space.q.val();
            self.s3_ended.d.next = self.scan.ended.val();
            self.s3_marked.d.next = self.scan.marked.val();
            self.s3_named.d.next = self.scan.named.val();
            self.s3_one.d.next = self.scan.one.val();
            self.s3_two.d.next = self.scan.two.val();
            self.s3_no_value.d.next = self.scan.no_value.val();
            self.s3_no_start.d.next = self.scan.no_start.val();
            self.s3_no_name.d.next = self.scan.no_name.val();
            self.s3_tail.d.next = self.scan.tail.val();
            self.s4_head.d.next = self.lines.head.val();
            self.s4_name_end.d.next = self.lines.name_end.val();
            self.s4_method.d.next = self.spaces.method.val();
            self.s4_target.d.next = self.spaces.target.val();
            self.s4_version.d.next = self.spaces.version.val();
            self.s4_method_end.d.next = self.spaces.method_end.val();
            self.s4_target_end.d.next = self.spaces.target_end.val();
            self.s5_data.d.next = self.data_4.q.val();
            self.s5_past.d.next = self.past.val();
            self.s5_codes.d.next = self.codes.codes.val();
            self.s5_place.d.next = self.literal_end.place.val();
            self.s5_is_method.d.next = self.literal_end.is_method.val();
            self.s5_bad.d.next = self.request_line.bad.val();
            self.s5_version.d.next = self.s4_version.q.val();
            self.s5_target_end.d.next = self.s4_target_end.q.val();
            self.s5_version_bytes.d.next = self.now_text.request.val().get_bits::<4>(6);
            self.s6_data.d.next = self.s5_data.q.val();
            self.s6_codes.d.next = self.s5_codes.q.val();
            self.s6_place.d.next = self.s5_place.q.val();
            self.s6_is_method.d.next = self.s5_is_method.q.val();
            self.s6_text.d.next = self.text_before.text.val();
            self.s6_bad.d.next = self.s5_bad.q.val() | self.version.bad.val();
        }
        // out
        self.out_valid.next = self.valids[4].q.val();
        self.out_first.next = self.firsts[4].q.val();
        self.out_connection.next = self.connections[4].q.val();
        self.out_data.next = self.s6_data.q.val();
        self.out_keep.next = self.keeps[4].q.val();
        self.out_codes.next = self.s6_codes.q.val();
        self.out_cr.next = self.classes_out[0].q.val();
        self.out_lf.next = self.classes_out[1].q.val();
        self.out_blank.next = self.classes_out[2].q.val();
        self.out_digit.next = self.classes_out[3].q.val();
        self.out_printable.next = self.classes_out[4].q.val();
        self.out_in_value.next = self.in_value.q.val();
        self.out_after_cr.next = self.after_cr.q.val();
        self.out_place.next = self.s6_place.q.val();
        self.out_is_method.next = self.s6_is_method.q.val();
        self.out_text.next = self.s6_text.q.val();
        self.out_bad_line.next = self.bad_line.q.val();
        self.out_bad_request.next = self.s6_bad.q.val();
        self.out_beyond.next = self.beyond.q.val();
        if self.reset.val() {
            for i in 0..TEXT_STAGES {
                self.valids[i].d.next = false;
            }
        }
    }
}
