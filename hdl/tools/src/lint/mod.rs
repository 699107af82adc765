//! A check to run before Verilog is written. It walks the syntax tree that
//! `hdl_gen` leaves in each block and names every place where Rust and the
//! emitted Verilog can mean different things, or where the text is not Verilog.
//!
//! The tree holds no types. Widths come from the signals' declarations; where a
//! width cannot be told, the form is reported.

mod expression;
mod flow;
mod keywords;
mod scope;
mod source;
mod statement;
mod width;

use rust_hdl::prelude::*;

pub use source::lint_source;

use scope::Scope;

/// The rule that a finding breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `& | ^` beside a comparison without parentheses.
    Precedence,
    /// A growing operand in a comparison, `match`, reduction or index.
    Comparison,
    /// A growing operand shifted right.
    ShiftRight,
    /// A growing operand in a widening cast.
    Cast,
    /// An inverted value as an operand of another width.
    InvertedOperand,
    /// A bit select or slice of what is not a plain vector.
    BitSelect,
    /// Two array indices in one path.
    DoubleIndex,
    /// A name that is not a signal of the block: a Rust constant.
    UnknownName,
    /// `match` without a `_` arm.
    MatchWithoutDefault,
    /// A signal that is not assigned on every path.
    Latch,
    /// A local or output read before it is written.
    ReadBeforeWrite,
    /// A name that is reserved in Verilog, SystemVerilog or C++.
    Keyword,
    /// A signal without bits.
    ZeroWidth,
    /// `for i in A..=B`: found in source text only.
    InclusiveRange,
}

/// One place that needs another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path of the block, or the line of the source text.
    pub path: String,
    /// The rule.
    pub kind: Kind,
    /// What is wrong, what Verilog does, how to write it.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}: {}", self.path, self.kind, self.message)
    }
}

/// Findings of the block and all its children, in the order of the fields; each
/// once, although loops are unrolled and arrays hold equal blocks.
pub fn lint<B: Block>(block: &B) -> Vec<Finding> {
    let mut collect = Collect::default();
    block.accept("top", &mut collect);
    let mut found: Vec<Finding> = Vec::new();
    for scope in collect.finished {
        for finding in scope.findings() {
            if !found.contains(&finding) {
                found.push(finding);
            }
        }
    }
    found
}

/// Gathers the signals that each block sees: its own and its children's ports.
#[derive(Default)]
struct Collect {
    open: Vec<Scope>,
    space: Vec<String>,
    finished: Vec<Scope>,
}

impl Probe for Collect {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let plain = name.split('$').next().unwrap_or(name);
        let path = self.open.last().map_or(name.into(), |s| format!("{}.{plain}", s.path));
        if let Some(parent) = self.open.last_mut() {
            parent.check_name(plain);
        }
        self.open.push(Scope::new(path, name.into(), node.hdl()));
    }
    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.finished.extend(self.open.pop());
    }
    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.space.push(name.into());
    }
    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.space.pop();
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let full = self.space.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("$");
        let Some((own, parents)) = self.open.split_last_mut() else {
            return;
        };
        own.check_name(name);
        own.declare(&full, atom, false);
        if let Some(parent) = parents.last_mut().filter(|_| atom.kind().is_parameter()) {
            parent.declare(&format!("{}${full}", own.instance), atom, true);
        }
    }
}
