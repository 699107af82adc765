//! What one block can name, and how names in its tree resolve.

use std::collections::{BTreeMap, BTreeSet};

use rust_hdl::core::ast::VerilogBlock;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::*;

use super::keywords::{is_model_member, is_reserved};
use super::{expression, flow, statement, Finding, Kind};

/// A signal that the block sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    pub(super) width: usize,
    /// Assigned by this block if at all: own outputs and locals, children's inputs.
    pub(super) driven_here: bool,
    /// Own output or local: reads return what was just written.
    pub(super) blocking: bool,
}

/// One block with its tree.
pub(super) struct Scope {
    pub(super) path: String,
    pub(super) instance: String,
    code: Verilog,
    signals: BTreeMap<String, Declared>,
    /// Values of `LogicState` types, written `Type$Value`.
    values: BTreeSet<String>,
    early: Vec<Finding>,
}

/// Loop variables with their present values.
pub(super) type Loops = Vec<(String, i64)>;

impl Scope {
    pub(super) fn new(path: String, instance: String, code: Verilog) -> Self {
        let (signals, values, early) = Default::default();
        Self { path, instance, code, signals, values, early }
    }

    pub(super) fn finding(&self, kind: Kind, message: String) -> Finding {
        Finding { path: self.path.clone(), kind, message }
    }

    /// Names become identifiers in Verilog and fields in C++.
    pub(super) fn check_name(&mut self, name: &str) {
        if is_reserved(name) {
            let text = format!("`{name}` is a word of Verilog, SystemVerilog or C++: choose another");
            self.early.push(self.finding(Kind::Keyword, text));
        }
    }

    pub(super) fn declare(&mut self, name: &str, atom: &dyn Atom, of_child: bool) {
        let (kind, width) = (atom.kind(), atom.bits());
        let own_driven = matches!(kind, AtomKind::OutputParameter | AtomKind::LocalSignal);
        let driven_here = if of_child { kind == AtomKind::InputParameter } else { own_driven };
        let declared = Declared { width, driven_here, blocking: own_driven && !of_child };
        self.signals.insert(name.into(), declared);
        self.add_values(&atom.descriptor());
        let is_top = !self.path.contains('.');
        if is_top && !of_child && kind.is_parameter() && is_model_member(name) {
            let text = format!("port `{name}` is a member of Verilator's class: choose another name");
            self.early.push(self.finding(Kind::Keyword, text));
        }
        if width == 0 && !of_child {
            let text = format!("`{name}` has no bits, which Verilog cannot declare");
            self.early.push(self.finding(Kind::ZeroWidth, text));
        }
    }

    fn add_values(&mut self, descriptor: &TypeDescriptor) {
        match &descriptor.kind {
            TypeKind::Enum(labels) => {
                let names = labels.iter().map(|l| l.replace("::", "$"));
                self.values.extend(names);
            }
            TypeKind::Composite(fields) => fields.iter().for_each(|f| self.add_values(&f.kind)),
            _ => {}
        }
    }

    pub(super) fn signal(&self, name: &str) -> Option<Declared> {
        self.signals.get(name).copied()
    }

    pub(super) fn is_value(&self, name: &str) -> bool {
        self.values.contains(name)
    }

    pub(super) fn signals(&self) -> impl Iterator<Item = (&String, &Declared)> {
        self.signals.iter()
    }

    fn tree(&self) -> Option<&VerilogBlock> {
        match &self.code {
            Verilog::Combinatorial(tree) => Some(tree),
            _ => None,
        }
    }

    /// All findings of this block alone.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = self.early.clone();
        if let Some(tree) = self.tree() {
            let mut rules = expression::Rules::new(self);
            statement::walk(tree, &mut Vec::new(), &mut rules);
            found.extend(rules.found);
            found.extend(flow::check(self, tree));
        }
        found
    }
}

/// The name as rust-hdl will write it: without `.next`, the first index
/// evaluated. `None` if the index cannot be evaluated.
pub(super) fn resolve(name: &str, loops: &Loops) -> Option<String> {
    let name = name.strip_suffix("$next").unwrap_or(name);
    if let Some((_, value)) = loops.iter().rev().find(|(v, _)| v == name) {
        return Some(value.to_string());
    }
    let Some((before, rest)) = name.split_once('[') else {
        return Some(name.into());
    };
    let (index, after) = rest.split_once(']')?;
    let value = Index { text: index.as_bytes(), at: 0, loops }.whole()?;
    Some(format!("{before}${value}{after}"))
}

/// Evaluates the text of an array index: integers, loop variables, `+ - * / %`
/// and parentheses.
struct Index<'a> {
    text: &'a [u8],
    at: usize,
    loops: &'a Loops,
}

impl Index<'_> {
    fn whole(mut self) -> Option<i64> {
        let value = self.sum()?;
        (self.at == self.text.len()).then_some(value)
    }

    fn next_of(&mut self, set: &[u8]) -> Option<u8> {
        let c = *self.text.get(self.at).filter(|c| set.contains(c))?;
        self.at += 1;
        Some(c)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(op) = self.next_of(b"+-") {
            let right = self.product()?;
            value = if op == b'+' { value + right } else { value - right };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        while let Some(op) = self.next_of(b"*/%") {
            let right = self.atom()?;
            value = match op {
                b'*' => value * right,
                b'/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn atom(&mut self) -> Option<i64> {
        if self.next_of(b"(").is_some() {
            let value = self.sum()?;
            self.next_of(b")")?;
            return Some(value);
        }
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
        let word = std::str::from_utf8(&rest[..length]).ok()?;
        self.at += length;
        match self.loops.iter().rev().find(|(v, _)| v == word) {
            Some((_, value)) => Some(*value),
            None => word.trim_end_matches("usize").parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_evaluated_with_the_loop_variables() {
        let loops = vec![("i".to_string(), 3), ("k".to_string(), 2)];
        assert_eq!(resolve("lane[2*k+(i-1)]$d$next", &loops).as_deref(), Some("lane$6$d"));
        assert_eq!(resolve("i", &loops).as_deref(), Some("3"));
        assert_eq!(resolve("lane[K]$d", &loops), None);
        assert_eq!(resolve("lane[sel$val().index()]", &loops), None);
    }
}
