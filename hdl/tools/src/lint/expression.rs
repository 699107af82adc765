//! Rules about expressions.

use rust_hdl::core::ast::*;

use super::scope::{resolve, Loops, Scope};
use super::statement::{has_default, Visitor};
use super::width::{grows, inverts, is_bitwise, is_comparison, is_constant, rust_width, show, strip, uniform};
use super::{Finding, Kind};
use VerilogExpression as E;

/// Collects findings about the expressions of one block.
pub(super) struct Rules<'a> {
    scope: &'a Scope,
    pub(super) found: Vec<Finding>,
}

impl<'a> Rules<'a> {
    pub(super) fn new(scope: &'a Scope) -> Self {
        Self { scope, found: Vec::new() }
    }

    fn say(&mut self, kind: Kind, message: String) {
        let finding = self.scope.finding(kind, message);
        // unrolled loops say the same again
        if !self.found.contains(&finding) {
            self.found.push(finding);
        }
    }

    fn expression(&mut self, e: &E, loops: &Loops) {
        match e {
            E::Binary(l, op, r) => {
                self.binary(e, l, op, r, loops);
                self.expression(l, loops);
                self.expression(r, loops);
            }
            E::Cast(inner, width) => {
                self.cast(e, inner, *width, loops);
                self.expression(inner, loops);
            }
            E::Index(base, at) | E::Slice(base, _, at) => {
                self.select(e, base, loops);
                self.own_width(at, loops, "an index");
                self.expression(base, loops);
                self.expression(at, loops);
            }
            E::IndexReplace(base, at, bit) => {
                self.replaced_bit(e, bit);
                self.own_width(at, loops, "an index");
                [base, at, bit].into_iter().for_each(|x| self.expression(x, loops));
            }
            E::Signal(name) => self.name(name, loops),
            E::Unary(op, inner) => {
                if !matches!(op, VerilogOpUnary::Not | VerilogOpUnary::Neg) {
                    self.own_width(inner, loops, "the operand of `all`, `any` or `xor`");
                }
                self.expression(inner, loops);
            }
            E::Paren(inner) | E::Signed(inner) | E::Unsigned(inner) => {
                self.expression(inner, loops);
            }
            E::Literal(_) => {}
        }
    }

    fn binary(&mut self, e: &E, l: &E, op: &VerilogOp, r: &E, loops: &Loops) {
        if is_comparison(op) {
            self.comparison(e, l, r, loops);
        }
        match op {
            VerilogOp::Shr if grows(l) => {
                let text = "Verilog may shift bits in that Rust has dropped";
                self.say(Kind::ShiftRight, settle(e, l, text));
            }
            VerilogOp::Add | VerilogOp::Sub | VerilogOp::BitOr | VerilogOp::BitXor => {
                for (side, other) in [(l, r), (r, l)] {
                    self.inverted(e, side, other, loops);
                }
            }
            _ => {}
        }
        if matches!(op, VerilogOp::Shl | VerilogOp::Shr) {
            self.own_width(r, loops, "a shift distance");
        }
    }

    fn comparison(&mut self, e: &E, l: &E, r: &E, loops: &Loops) {
        for side in [l, r] {
            if matches!(side, E::Binary(_, inner, _) if is_bitwise(inner)) {
                let text = format!(
                    "`{}`: Verilog compares before it applies `& | ^`, Rust after: \
                     write `({})`",
                    show(e),
                    show(side)
                );
                self.say(Kind::Precedence, text);
            }
        }
        for side in [l, r].into_iter().filter(|s| grows(s)) {
            if !uniform(&[l, r], self.scope, loops) {
                let text = "Verilog compares at 32 bits or more, so carry, borrow and inverted upper bits count";
                self.say(Kind::Comparison, settle(e, side, text));
            }
        }
    }

    /// Operands that Verilog evaluates at their own width.
    fn own_width(&mut self, e: &E, loops: &Loops, role: &str) {
        if grows(e) && !is_constant(e, loops) && !uniform(&[e], self.scope, loops) {
            let text = format!("Verilog evaluates {role} at 32 bits or more, so it does not wrap");
            self.say(Kind::Comparison, settle(e, e, &text));
        }
    }

    fn inverted(&mut self, e: &E, side: &E, other: &E, loops: &Loops) {
        if !inverts(side) || matches!(strip(other), E::Literal(_)) {
            return;
        }
        let width = rust_width(side, self.scope, loops);
        if width.is_none() || width != rust_width(other, self.scope, loops) {
            let text = "Verilog widens before it inverts, so the upper bits are ones";
            self.say(Kind::InvertedOperand, settle(e, side, text));
        }
    }

    /// `replace_bit` becomes a shift and an OR, so only bit 0 may be set.
    fn replaced_bit(&mut self, e: &E, bit: &E) {
        if inverts(bit) {
            let text = "Verilog widens before it inverts, so all bits above are set too";
            self.say(Kind::InvertedOperand, settle(e, bit, text));
        }
    }

    fn cast(&mut self, e: &E, inner: &E, width: usize, loops: &Loops) {
        // a mask no wider than the operand cuts the excess off
        let cut = rust_width(inner, self.scope, loops).is_some_and(|w| width <= w);
        if grows(inner) && !cut {
            let text = "Verilog keeps the bits that Rust drops before it widens";
            self.say(Kind::Cast, settle(e, inner, text));
        }
    }

    fn select(&mut self, e: &E, base: &E, loops: &Loops) {
        let E::Signal(name) = base else {
            let text = format!(
                "`{}`: Verilog selects bits of plain signals only: \
                 assign `{}` to a Local first",
                show(e),
                show(base)
            );
            return self.say(Kind::BitSelect, text);
        };
        let declared = resolve(name, loops).and_then(|n| self.scope.signal(&n));
        if declared.is_some_and(|d| d.width == 1) {
            let text = format!("`{}`: a signal of one bit is no vector in Verilog: use it whole", show(e));
            self.say(Kind::BitSelect, text);
        }
    }

    fn name(&mut self, name: &str, loops: &Loops) {
        if name.matches('[').count() > 1 {
            let text = format!(
                "`{}`: only the first of two indices is translated: \
                 use a flat array or named fields",
                name.replace('$', ".")
            );
            return self.say(Kind::DoubleIndex, text);
        }
        let known = resolve(name, loops).is_some_and(|n| {
            self.scope.signal(&n).is_some() || self.scope.is_value(&n) || n.bytes().all(|c| c.is_ascii_digit())
        });
        if !known {
            self.say(Kind::UnknownName, unknown(name));
        }
    }
}

/// The message for a Rust constant used as a value or as an index.
fn unknown(name: &str) -> String {
    match name.split_once('[') {
        Some((before, rest)) => format!(
            "`{}`: the index `{}` is no number when the Verilog is written: use loop \
             variables and literals, or `for k in K..(K + 1)`",
            format_args!("{}[{}", before.replace('$', "."), rest.replace('$', ".")),
            rest.split(']').next().unwrap_or(rest).replace('$', "."),
        ),
        None => format!(
            "`{0}` is no signal of this block; a Rust constant or const generic comes out as \
             the name `{0}`: bind it with `for k in {0}..({0} + 1)`, or use a `Constant`",
            name.replace('$', "::")
        ),
    }
}

/// The common advice: one growing operation per statement.
fn settle(whole: &E, part: &E, what: &str) -> String {
    let part = show(strip(part));
    format!("`{}`: {what}: assign `{part}` to a Local of the intended width first", show(whole))
}

impl Visitor for Rules<'_> {
    fn assign(&mut self, target: &E, _bits: Option<(usize, usize)>, value: &E, loops: &Loops) {
        self.expression(target, loops);
        self.expression(value, loops);
    }

    fn test(&mut self, test: &E, loops: &Loops) {
        self.expression(test, loops);
    }

    fn subject(&mut self, subject: &VerilogMatch, loops: &Loops) {
        self.expression(&subject.test, loops);
        // the literals of the arms are 32 bits wide
        if grows(&subject.test) {
            let text = "Verilog matches at 32 bits, so the value does not wrap";
            self.say(Kind::Comparison, settle(&subject.test, &subject.test, text));
        }
        if !has_default(subject) {
            let text = format!(
                "`match {}` has no `_` arm: Verilog keeps old values for every other code: \
                 add `_ => {{ .. }}`",
                show(&subject.test)
            );
            self.say(Kind::MatchWithoutDefault, text);
        }
        for case in &subject.cases {
            let name = case.condition.as_str();
            let literal = name.bytes().all(|c| c.is_ascii_digit());
            if name != "default" && !literal && !self.scope.is_value(name) {
                self.say(Kind::UnknownName, unknown(name));
            }
        }
    }
}
