//! Classes of a lane's bytes, and what they are the bytes of: request line, names, values.
use super::function::{at, from_first, function, lanes};
use forebay_spec::http::is_tchar;
use rust_hdl::prelude::*;

/// Codes of characters other than tchar in the text that literals are looked for in; tchar have 1 to 26.
pub(crate) mod code {
    /// In a method whatever is no capital letter.
    pub(crate) const DASH: u128 = 27;
    pub(crate) const SLASH: u128 = 28;
    pub(crate) const ONE: u128 = 29;
    pub(crate) const LINE_FEED: u128 = 30;
    pub(crate) const SPACE: u128 = 31;
}

function! {
    /// The class of each byte of a lane; those that make structure are zero for bytes that are not in the lane.
    Classes, classes, classes_text;
    ClassesIn {
        /// Bytes, first one lowest.
        data: [Bits<64>],
        /// Bytes in the lane, from the lowest up.
        keep: [Bits<8>],
    }
    ClassesOut {
        /// Carriage return.
        cr: [Bits<8>],
        /// Line feed.
        lf: [Bits<8>],
        /// Space.
        space: [Bits<8>],
        /// Space or tab.
        blank: [Bits<8>],
        /// `:`
        colon: [Bits<8>],
        /// `?`
        question: [Bits<8>],
        /// `0` to `9`
        digit: [Bits<8>],
        /// May stand in a method or a header name.
        tchar: [Bits<8>],
        /// May stand in a request target: visible ASCII.
        visible: [Bits<8>],
        /// May stand in a header value: visible, blank, or above ASCII.
        printable: [Bits<8>],
        /// Capital letter.
        upper: [Bits<8>],
        /// Small letter.
        lower: [Bits<8>],
        /// Code of each byte that is no letter, five bits each.
        special: [Bits<40>],
    }
}

/// Bytes whose classes make structure, and the class.
fn byte(data: u128, i: usize) -> u8 {
    (data >> (8 * i)) as u8
}

fn special(byte: u8) -> u128 {
    match byte {
        b'-' => code::DASH,
        b'/' => code::SLASH,
        b'1' => code::ONE,
        b'\n' => code::LINE_FEED,
        b' ' => code::SPACE,
        _ => 0,
    }
}

fn classes(i: ClassesIn) -> ClassesOut {
    let of = |class: fn(u8) -> bool| lanes(|n| class(byte(i.data, *n)));
    ClassesOut {
        cr: of(|b| b == b'\r') & i.keep,
        lf: of(|b| b == b'\n') & i.keep,
        space: of(|b| b == b' ') & i.keep,
        blank: of(|b| b == b' ' || b == b'\t') & i.keep,
        colon: of(|b| b == b':') & i.keep,
        question: of(|b| b == b'?') & i.keep,
        digit: of(|b| b.is_ascii_digit()) & i.keep,
        tchar: of(is_tchar),
        visible: of(|b| (0x21..=0x7e).contains(&b)),
        printable: of(|b| b == b'\t' || (b >= 0x20 && b != 0x7f)),
        upper: of(|b| b.is_ascii_uppercase()),
        lower: of(|b| b.is_ascii_lowercase()),
        special: (0..8).fold(0, |codes, n| codes | special(byte(i.data, n)) << (5 * n)),
    }
}

fn classes_text() -> String {
    let odd: Vec<String> = (0u8..=255)
        .filter(|b| is_tchar(*b) && !b.is_ascii_alphanumeric())
        .map(|b| format!("(c == 8'h{b:02x})"))
        .collect();
    let specials: Vec<u8> = (0u8..=255).filter(|b| special(*b) != 0).collect();
    let specials: String = (0..5)
        .map(|bit| {
            let set = specials.iter().filter(|b| special(**b) >> bit & 1 == 1);
            let any: Vec<String> = set.map(|b| format!("(c == 8'h{b:02x})")).collect();
            format!("    special[5*i + {bit}] = {};\n", any.join(" | "))
        })
        .collect();
    format!(
        "integer i;\nreg [7:0] c;\nalways @(*) begin\n  c = 0;\n  for (i = 0; i < 8; i = i + 1) begin\n    \
         c = data[8*i +: 8];\n    \
         cr[i] = keep[i] & (c == 8'h0d);\n    lf[i] = keep[i] & (c == 8'h0a);\n    \
         space[i] = keep[i] & (c == 8'h20);\n    blank[i] = keep[i] & ((c == 8'h20) | (c == 8'h09));\n    \
         colon[i] = keep[i] & (c == 8'h3a);\n    question[i] = keep[i] & (c == 8'h3f);\n    \
         digit[i] = keep[i] & (c[7:4] == 4'h3) & (~c[3] | (c[2:1] == 2'd0));\n    \
         upper[i] = (c[7:5] == 3'b010) & (c[4:0] != 5'd0) & (c[4:0] <= 5'd26);\n    \
         lower[i] = (c[7:5] == 3'b011) & (c[4:0] != 5'd0) & (c[4:0] <= 5'd26);\n    \
         tchar[i] = upper[i] | lower[i] | ((c[7:4] == 4'h3) & (~c[3] | (c[2:1] == 2'd0)))\n      | {};\n    \
         visible[i] = ~c[7] & (c[6:5] != 2'd0) & (c != 8'h20) & (c != 8'h7f);\n    \
         printable[i] = c[7] | ((c[6:5] != 2'd0) & (c != 8'h7f)) | (c == 8'h09);\n{specials}  end\nend\n",
        odd.join(" | ")
    )
}

function! {
    /// What can be said of lines and spaces by the bytes of one lane.
    LaneScan, lane_scan, lane_scan_text;
    LaneScanIn {
        /// Carriage return.
        cr: [Bits<8>],
        /// Line feed.
        lf: [Bits<8>],
        /// `:`
        colon: [Bits<8>],
        /// Space.
        space: [Bits<8>],
        /// May stand in a name.
        tchar: [Bits<8>],
        /// May stand in a value.
        printable: [Bits<8>],
        /// Bytes in the lane.
        keep: [Bits<8>],
    }
    LaneScanOut {
        /// Up to the byte there is a line feed,
        ended: [Bits<8>],
        /// a line feed or a colon,
        marked: [Bits<8>],
        /// and the last of those is a colon;
        named: [Bits<8>],
        /// there is a space,
        one: [Bits<8>],
        /// there are two.
        two: [Bits<8>],
        /// The byte cannot stand in a value,
        no_value: [Bits<8>],
        /// at the start of a line,
        no_start: [Bits<8>],
        /// in the rest of a name.
        no_name: [Bits<8>],
        /// The lane ends with a line feed, with a carriage return.
        tail: [Bits<2>],
    }
}

fn lane_scan(i: LaneScanIn) -> LaneScanOut {
    let last = i.keep & !(i.keep >> 1);
    let up_to = |mask: u128, n: &usize| mask & ((2 << n) - 1);
    let of = |holds: &dyn Fn(&usize) -> bool| lanes(holds);
    let latest = |mask: u128| 127 - mask.leading_zeros();
    LaneScanOut {
        ended: of(&|n| up_to(i.lf, n) != 0),
        marked: of(&|n| up_to(i.lf | i.colon, n) != 0),
        named: of(&|n| match up_to(i.lf | i.colon, n) {
            0 => false,
            marks => at(i.colon, latest(marks) as usize),
        }),
        one: of(&|n| up_to(i.space, n) != 0),
        two: of(&|n| up_to(i.space, n).count_ones() > 1),
        no_value: !(i.printable | i.cr) & 255,
        no_start: !(i.tchar | i.cr) & 255,
        no_name: !(i.tchar | i.colon) & 255,
        tail: u128::from(i.lf & last != 0) | u128::from(i.cr & last != 0) << 1,
    }
}

fn lane_scan_text() -> String {
    let mut text = String::from("reg [7:0] last;\nalways @(*) begin\n");
    text += &from_first("ended", "lf");
    text += "  marked = lf | colon;\n  named = colon;\n  one = space;\n  two = 8'd0;\n";
    for step in [1, 2, 4] {
        text += &format!("  named = named | (~marked & (named << {step}));\n  marked = marked | (marked << {step});\n");
        text += &format!("  two = two | (two << {step}) | (one & (one << {step}));\n  one = one | (one << {step});\n");
    }
    text + "  no_value = ~(printable | cr);\n  no_start = ~(tchar | cr);\n  no_name = ~(tchar | colon);\n  \
            last = keep & ~(keep >> 1);\n  tail = {|(cr & last), |(lf & last)};\nend\n"
}

function! {
    /// Lines and what their bytes belong to, as long as nothing before was out of order.
    Lines, lines, lines_text;
    LinesIn {
        /// Carriage return.
        cr: [Bits<8>],
        /// Line feed.
        lf: [Bits<8>],
        /// `:`
        colon: [Bits<8>],
        /// As of `LaneScan`.
        ended: [Bits<8>],
        /// The same.
        marked: [Bits<8>],
        /// The same.
        named: [Bits<8>],
        /// The same.
        no_value: [Bits<8>],
        /// The same.
        no_start: [Bits<8>],
        /// The same.
        no_name: [Bits<8>],
        /// The same.
        tail: [Bits<2>],
        /// Bytes in the lane.
        keep: [Bits<8>],
        /// The byte before is a line feed, or a carriage return; the request line has ended; a line's name has ended.
        state: [Bits<4>],
    }
    LinesOut {
        /// The byte before is a carriage return.
        after_cr: [Bits<8>],
        /// The request line has ended before the byte.
        head: [Bits<8>],
        /// The byte stands in a value, its line end included.
        in_value: [Bits<8>],
        /// The colon that ends a name.
        name_end: [Bits<8>],
        /// The byte cannot stand in a header line at its place.
        bad: [Bits<8>],
        /// State behind the lane.
        state_next: [Bits<4>],
    }
}

fn lines(i: LinesIn) -> LinesOut {
    let mut out = LinesOut::default();
    let [mut after_lf, mut after_cr, mut head, mut value] = [0, 1, 2, 3].map(|n| at(i.state, n));
    let [head_before, value_before] = [head, value];
    for n in 0..8 {
        let in_value = head && value;
        let odd = match (after_cr, in_value, after_lf) {
            (true, _, _) => !at(i.lf, n),
            (_, true, _) => at(i.no_value, n),
            (_, _, true) => at(i.no_start, n),
            _ => at(i.no_name, n),
        };
        let bit = |holds: bool| u128::from(holds) << n;
        out.after_cr |= bit(after_cr);
        out.head |= bit(head);
        out.in_value |= bit(in_value && at(i.keep, n));
        out.name_end |= bit(head && !in_value && at(i.colon, n) && !after_lf);
        out.bad |= bit(head && odd);
        (after_lf, after_cr) = (at(i.lf, n), at(i.cr, n));
        head = head_before || at(i.ended, n);
        value = if at(i.marked, n) { at(i.named, n) } else { value_before };
    }
    out.state_next = i.tail | u128::from(head) << 2 | u128::from(value) << 3;
    out
}

fn lines_text() -> String {
    "reg [7:0] after_lf, value;\nalways @(*) begin\n  after_lf = {lf[6:0], state[0]};\n  \
     after_cr = {cr[6:0], state[1]};\n  head = (ended << 1) | {8{state[2]}};\n  \
     value = (named << 1) | (~(marked << 1) & {8{state[3]}});\n  \
     in_value = head & value & keep;\n  name_end = head & ~value & colon & ~after_lf;\n  \
     bad = head & ((after_cr & ~lf) | (~after_cr & ((value & no_value)\n    \
     | (~value & ((after_lf & no_start) | (~after_lf & no_name))))));\n  \
     state_next = {named[7] | (~marked[7] & state[3]), state[2] | ended[7], tail};\nend\n"
        .into()
}

function! {
    /// The parts of the request line, by its spaces.
    Spaces, spaces, spaces_text;
    SpacesIn {
        /// Space.
        space: [Bits<8>],
        /// As of `LaneScan`.
        one: [Bits<8>],
        /// The same.
        two: [Bits<8>],
        /// The request line has ended before the byte.
        head: [Bits<8>],
        /// One space has been, two have been: 0, 1, 3. Behind the request line it means nothing.
        state: [Bits<2>],
    }
    SpacesOut {
        /// The byte stands in the method, the space behind it included.
        method: [Bits<8>],
        /// In the target, the space behind it included.
        target: [Bits<8>],
        /// Behind the target.
        version: [Bits<8>],
        /// The space that ends the method.
        method_end: [Bits<8>],
        /// The space that ends the target.
        target_end: [Bits<8>],
        /// State behind the lane.
        state_next: [Bits<2>],
    }
}

fn spaces(i: SpacesIn) -> SpacesOut {
    let mut out = SpacesOut::default();
    let [one_before, two_before] = [at(i.state, 0), at(i.state, 1)];
    let (mut one, mut two) = (one_before, two_before);
    for n in 0..8 {
        let bit = |holds: bool| u128::from(holds && !at(i.head, n)) << n;
        out.method |= bit(!one);
        out.target |= bit(one && !two);
        out.version |= bit(two);
        out.method_end |= bit(!one && at(i.space, n));
        out.target_end |= bit(one && !two && at(i.space, n));
        one = one_before || at(i.one, n);
        two = two_before || at(i.two, n) || (one_before && at(i.one, n));
    }
    out.state_next = u128::from(one) | u128::from(two) << 1;
    out
}

fn spaces_text() -> String {
    "reg [7:0] seen1, seen2;\nalways @(*) begin\n  seen1 = (one << 1) | {8{state[0]}};\n  \
     seen2 = (two << 1) | ((one << 1) & {8{state[0]}}) | {8{state[1]}};\n  \
     method = ~head & ~seen1;\n  target = ~head & seen1 & ~seen2;\n  version = ~head & seen2;\n  \
     method_end = method & space;\n  target_end = target & space;\n  \
     state_next = {state[1] | two[7] | (one[7] & state[0]), state[0] | one[7]};\nend\n"
        .into()
}
