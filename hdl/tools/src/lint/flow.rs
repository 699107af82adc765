//! Definite assignment: which signals have a value on every path.

use std::collections::{BTreeMap, BTreeSet};

use rust_hdl::core::ast::*;

use super::scope::{resolve, Loops, Scope};
use super::statement::{walk, Visitor};
use super::width::show;
use super::{Finding, Kind};
use VerilogExpression as E;

/// Bits `low..high` of a signal.
type Bits = (usize, usize);
/// Assigned bits by name.
type Assigned = BTreeMap<String, BTreeSet<Bits>>;

/// Reports latches and reads before writes of one block.
pub(super) fn check(scope: &Scope, tree: &VerilogBlock) -> Vec<Finding> {
    let mut flow = Flow { scope, open: vec![Frame::default()], ..Flow::new(scope) };
    walk(tree, &mut Vec::new(), &mut flow);
    let mut found = flow.found;
    let assigned = flow.open.pop().unwrap_or_default().now;
    for (name, declared) in scope.signals().filter(|(_, d)| d.driven_here) {
        if flow.touched.contains(name) && !covers(assigned.get(name), declared.width) {
            let when = flow.gaps.get(name).map_or("on some path", String::as_str);
            let shown = name.replace('$', ".");
            let text = format!(
                "`{shown}` keeps its value when {when}, which is a latch: give it a value at \
                 the top of `update`"
            );
            found.push(scope.finding(Kind::Latch, text));
        }
    }
    found
}

fn covers(bits: Option<&BTreeSet<Bits>>, width: usize) -> bool {
    let mut reached = 0;
    for (low, high) in bits.into_iter().flatten() {
        if *low > reached {
            return false;
        }
        reached = reached.max(*high);
    }
    reached >= width
}

/// What one path assigns, and the paths beside it that are closed already.
#[derive(Default)]
struct Frame {
    now: Assigned,
    closed: Vec<(String, Assigned)>,
}

struct Flow<'a> {
    scope: &'a Scope,
    open: Vec<Frame>,
    /// Assigned anywhere above in the text.
    touched: BTreeSet<String>,
    /// For each signal the first path seen that leaves it out.
    gaps: BTreeMap<String, String>,
    found: Vec<Finding>,
}

impl<'a> Flow<'a> {
    fn new(scope: &'a Scope) -> Self {
        let (open, touched, gaps, found) = Default::default();
        Self { scope, open, touched, gaps, found }
    }

    /// Reads of own locals and outputs see what the text above wrote.
    fn read(&mut self, e: &E, loops: &Loops) {
        match e {
            E::Signal(name) => self.read_name(name, loops),
            E::Cast(inner, _) | E::Signed(inner) | E::Unsigned(inner) | E::Paren(inner) | E::Unary(_, inner) => {
                self.read(inner, loops)
            }
            E::Binary(l, _, r) | E::Index(l, r) | E::Slice(l, _, r) => {
                self.read(l, loops);
                self.read(r, loops);
            }
            E::IndexReplace(a, b, c) => [a, b, c].into_iter().for_each(|x| self.read(x, loops)),
            E::Literal(_) => {}
        }
    }

    fn read_name(&mut self, name: &str, loops: &Loops) {
        let Some(resolved) = resolve(name, loops) else {
            return;
        };
        let blocking = self.scope.signal(&resolved).is_some_and(|d| d.blocking);
        if blocking && !self.touched.contains(&resolved) {
            let shown = show(&E::Signal(resolved));
            let text = format!(
                "`{shown}` is read before it is written: the read sees the value of the pass \
                 before: assign it above"
            );
            let finding = self.scope.finding(Kind::ReadBeforeWrite, text);
            if !self.found.contains(&finding) {
                self.found.push(finding);
            }
        }
    }
}

impl Visitor for Flow<'_> {
    fn assign(&mut self, target: &E, bits: Option<Bits>, value: &E, loops: &Loops) {
        self.read(value, loops);
        let E::Signal(name) = target else { return };
        let Some(name) = resolve(name, loops) else {
            return;
        };
        let Some(declared) = self.scope.signal(&name) else {
            return;
        };
        let bits = bits.unwrap_or((0, declared.width));
        self.touched.insert(name.clone());
        if let Some(frame) = self.open.last_mut() {
            frame.now.entry(name).or_default().insert(bits);
        }
    }

    fn test(&mut self, test: &E, loops: &Loops) {
        self.read(test, loops);
    }

    fn subject(&mut self, subject: &VerilogMatch, loops: &Loops) {
        self.read(&subject.test, loops);
    }

    fn begin_paths(&mut self) {
        self.open.push(Frame::default());
    }

    fn end_path(&mut self, when: String) {
        if let Some(frame) = self.open.last_mut() {
            let path = std::mem::take(&mut frame.now);
            frame.closed.push((when, path));
        }
    }

    fn end_paths(&mut self) {
        let paths = self.open.pop().unwrap_or_default().closed;
        let names: BTreeSet<&String> = paths.iter().flat_map(|(_, p)| p.keys()).collect();
        let Some(outer) = self.open.last_mut() else {
            return;
        };
        for name in names {
            let width = self.scope.signal(name).map_or(0, |d| d.width);
            let missing = paths.iter().find(|(_, p)| !covers(p.get(name), width));
            match missing {
                None => {
                    outer.now.entry(name.clone()).or_default().insert((0, width));
                }
                Some((when, _)) => {
                    common(&mut outer.now, name, &paths);
                    self.gaps.entry(name.clone()).or_insert_with(|| when.clone());
                }
            }
        }
    }
}

/// Field ranges that every path assigns.
fn common(outer: &mut Assigned, name: &str, paths: &[(String, Assigned)]) {
    let has = |path: &Assigned, bits: &Bits| {
        path.get(name).is_some_and(|b| b.iter().any(|(l, h)| *l <= bits.0 && bits.1 <= *h))
    };
    let ranges: BTreeSet<Bits> = paths.iter().filter_map(|(_, p)| p.get(name)).flatten().copied().collect();
    for bits in ranges {
        if paths.iter().all(|(_, path)| has(path, &bits)) {
            outer.entry(name.into()).or_default().insert(bits);
        }
    }
}
