//! Walk over the statements of a tree, with loops unrolled as rust-hdl does.

use rust_hdl::core::ast::*;

use super::scope::Loops;

/// Called for what the walk meets, in the order of the text.
pub(super) trait Visitor {
    /// A target, with its bit range if only a field is assigned, and its value.
    fn assign(
        &mut self,
        target: &VerilogExpression,
        bits: Option<(usize, usize)>,
        value: &VerilogExpression,
        loops: &Loops,
    );
    /// The condition of an `if`.
    fn test(&mut self, test: &VerilogExpression, loops: &Loops);
    /// The subject of a `match`, before its arms.
    fn subject(&mut self, subject: &VerilogMatch, loops: &Loops);
    /// Alternative paths follow; each is closed with [`Visitor::end_path`].
    fn begin_paths(&mut self) {}
    /// One path ends; it is taken when `when` holds.
    fn end_path(&mut self, _when: String) {}
    /// All paths are closed.
    fn end_paths(&mut self) {}
}

/// Values of the loop bounds are beyond what `as_usize` accepts only if they
/// are negative; the crate panics on those, and so does `rustc` before it.
pub(super) fn walk(block: &VerilogBlock, loops: &mut Loops, visitor: &mut dyn Visitor) {
    for statement in block {
        one(statement, loops, visitor);
    }
}

fn one(statement: &VerilogStatement, loops: &mut Loops, visitor: &mut dyn Visitor) {
    match statement {
        VerilogStatement::Assignment(target, value) => visitor.assign(target, None, value, loops),
        VerilogStatement::SliceAssignment { base, width, offset, replacement } => {
            let low = if let VerilogExpression::Literal(low) = offset { low.as_usize() } else { 0 };
            visitor.assign(base, Some((low, low + width)), replacement, loops);
        }
        VerilogStatement::If(conditional) => {
            visitor.test(&conditional.test, loops);
            visitor.begin_paths();
            walk(&conditional.then, loops, visitor);
            let test = super::width::show(&conditional.test);
            visitor.end_path(format!("`{test}` is true"));
            match &conditional.otherwise {
                VerilogBlockOrConditional::Block(block) => walk(block, loops, visitor),
                VerilogBlockOrConditional::Conditional(next) => one(next, loops, visitor),
                VerilogBlockOrConditional::None => {}
            }
            visitor.end_path(format!("`{test}` is false"));
            visitor.end_paths();
        }
        VerilogStatement::Match(subject) => arms(subject, loops, visitor),
        VerilogStatement::Loop(each) => {
            for value in each.from.as_usize()..each.to.as_usize() {
                loops.push((each.index.clone(), value as i64));
                walk(&each.block, loops, visitor);
                loops.pop();
            }
        }
        VerilogStatement::Macro(block) => walk(block, loops, visitor),
        VerilogStatement::Comment(_) | VerilogStatement::Link(_) => {}
    }
}

fn arms(subject: &VerilogMatch, loops: &mut Loops, visitor: &mut dyn Visitor) {
    visitor.subject(subject, loops);
    visitor.begin_paths();
    let test = super::width::show(&subject.test);
    for case in &subject.cases {
        walk(&case.block, loops, visitor);
        visitor.end_path(match case.condition.as_str() {
            "default" => format!("`{test}` matches `_`"),
            value => format!("`{test}` is `{}`", value.replace('$', "::")),
        });
    }
    if !has_default(subject) {
        visitor.end_path(format!("`{test}` matches no arm"));
    }
    visitor.end_paths();
}

pub(super) fn has_default(subject: &VerilogMatch) -> bool {
    subject.cases.iter().any(|c| c.condition == "default")
}
