//! The port list of a block (names, directions, widths, values), read through
//! the crate's `Probe` visitor.

use std::fmt::Write as _;

use rust_hdl::prelude::*;

/// One port of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name as in the Verilog text; array elements read `lane$0` here and
    /// `lane_0` in emitted text.
    pub name: String,
    /// True for an input.
    pub is_input: bool,
    /// Number of bits.
    pub width: usize,
    /// Present value, lower-case hexadecimal without prefix or leading zeros.
    pub hex: String,
}

impl Port {
    /// Number of 32-bit words that hold a value of this port.
    pub fn words(&self) -> usize {
        self.width.div_ceil(32)
    }
}

/// Lists the ports of `block` in the order of its fields.
pub fn ports<B: Block>(block: &B) -> Vec<Port> {
    let mut found = Vec::new();
    let mut text = String::new();
    visit(block, &mut |space, name, atom| {
        let mut words = Vec::new();
        push_words(atom, &mut text, &mut words);
        found.push(Port {
            name: space.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("$"),
            is_input: atom.kind() == AtomKind::InputParameter,
            width: atom.bits(),
            hex: hex(&words),
        });
    });
    found
}

/// Appends the values of all ports, in the order of [`ports`], each as
/// little-endian 32-bit words.
pub fn values<B: Block>(block: &B, words: &mut Vec<u32>) {
    let mut text = String::new();
    visit(block, &mut |_, _, atom| push_words(atom, &mut text, words));
}

/// Formats little-endian words as hexadecimal without leading zeros.
pub fn hex(words: &[u32]) -> String {
    let text: String = words.iter().rev().map(|w| format!("{w:08x}")).collect();
    match text.trim_start_matches('0') {
        "" => "0".into(),
        digits => digits.into(),
    }
}

fn push_words(atom: &dyn Atom, text: &mut String, words: &mut Vec<u32>) {
    text.clear();
    write!(text, "{:x}", atom.verilog()).expect("writing to a String");
    let digits = text.split_once("'h").map_or("0", |x| x.1);
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    let start = words.len();
    for chunk in digits.as_bytes().rchunks(8) {
        let chunk = std::str::from_utf8(chunk).expect("a literal is ASCII");
        words.push(u32::from_str_radix(chunk, 16).expect("a literal is hexadecimal"));
    }
    words.resize(start + atom.bits().div_ceil(32), 0);
    let value = &mut words[start..];
    if negative {
        negate(value);
    }
    let spare = value.len() * 32 - atom.bits();
    if let Some(last) = value.last_mut() {
        *last &= u32::MAX >> spare;
    }
}

/// Two's complement: a `Signed` prints its magnitude after a minus sign.
fn negate(words: &mut [u32]) {
    let mut carry = true;
    for w in words {
        let (sum, over) = (!*w).overflowing_add(u32::from(carry));
        (*w, carry) = (sum, over);
    }
}

/// Called with the namespaces, the name and the signal of a port.
type OnPort<'a> = &'a mut dyn FnMut(&[String], &str, &dyn Atom);

struct Visitor<'a> {
    depth: usize,
    space: Vec<String>,
    on_port: OnPort<'a>,
}

fn visit<B: Block>(block: &B, on_port: OnPort) {
    block.accept("top", &mut Visitor { depth: 0, space: Vec::new(), on_port });
}

impl Probe for Visitor<'_> {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }
    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.space.push(name.to_string());
    }
    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.space.pop();
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        if self.depth == 1 && atom.kind().is_parameter() {
            (self.on_port)(&self.space, name, atom);
        }
    }
}
