//! Widths and growth of expressions, and their text for messages.

use std::collections::BTreeSet;

use rust_hdl::core::ast::*;

use super::scope::{resolve, Loops, Scope};
use VerilogExpression as E;

pub(super) fn strip(e: &E) -> &E {
    match e {
        E::Paren(inner) => strip(inner),
        e => e,
    }
}

pub(super) fn is_comparison(op: &VerilogOp) -> bool {
    use VerilogOp::*;
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// Is the result one bit, whatever the operands are?
fn is_boolean(op: &VerilogOp) -> bool {
    is_comparison(op) || matches!(op, VerilogOp::LogicalAnd | VerilogOp::LogicalOr)
}

pub(super) fn is_bitwise(op: &VerilogOp) -> bool {
    matches!(op, VerilogOp::BitAnd | VerilogOp::BitOr | VerilogOp::BitXor)
}

/// Can the value have bits above its Rust width when Verilog evaluates it wider?
pub(super) fn grows(e: &E) -> bool {
    use VerilogOp::*;
    match strip(e) {
        E::Binary(l, op, r) => match op {
            Add | Sub | Mul | Shl => true,
            Shr => grows(l),
            // zeros of one side clear the other's excess
            BitAnd => grows(l) && grows(r),
            BitOr | BitXor => grows(l) || grows(r),
            _ => false,
        },
        E::Unary(VerilogOpUnary::Neg | VerilogOpUnary::Not, _) => true,
        _ => false,
    }
}

/// Is the value known when the Verilog is written: literals and loop variables?
pub(super) fn is_constant(e: &E, loops: &Loops) -> bool {
    match strip(e) {
        E::Literal(_) => true,
        E::Signal(name) => loops.iter().any(|(variable, _)| variable == name),
        E::Binary(l, _, r) => is_constant(l, loops) && is_constant(r, loops),
        _ => false,
    }
}

/// Does inversion reach the excess bits? They are ones even for small values.
pub(super) fn inverts(e: &E) -> bool {
    match strip(e) {
        E::Unary(VerilogOpUnary::Not, _) => true,
        E::Binary(l, VerilogOp::BitAnd, r) => inverts(l) && inverts(r),
        E::Binary(l, VerilogOp::BitOr | VerilogOp::BitXor, r) => inverts(l) || inverts(r),
        _ => false,
    }
}

/// Width of the expression in Rust, if it can be told.
pub(super) fn rust_width(e: &E, scope: &Scope, loops: &Loops) -> Option<usize> {
    match strip(e) {
        E::Signal(name) => Some(scope.signal(&resolve(name, loops)?)?.width),
        E::Cast(_, width) | E::Slice(_, width, _) => Some(*width),
        E::Index(..) => Some(1),
        E::Binary(l, op, r) => match op {
            op if is_boolean(op) => Some(1),
            VerilogOp::Shl | VerilogOp::Shr => rust_width(l, scope, loops),
            VerilogOp::Mul => None,
            // a flag may be added to a vector; the result is as wide as the vector
            _ => rust_width(l, scope, loops).max(rust_width(r, scope, loops)),
        },
        E::Unary(VerilogOpUnary::Not | VerilogOpUnary::Neg, inner) => rust_width(inner, scope, loops),
        E::Unary(..) => Some(1),
        E::IndexReplace(base, ..) => rust_width(base, scope, loops),
        _ => None,
    }
}

/// Are all operands that share a Verilog width equally wide? Then nothing is
/// evaluated wider than in Rust. Literals are 32 bits wide.
pub(super) fn uniform(operands: &[&E], scope: &Scope, loops: &Loops) -> bool {
    let mut widths = BTreeSet::new();
    let known = operands.iter().all(|e| leaves(e, scope, loops, &mut widths));
    known && widths.len() == 1
}

/// Adds the widths of the operands in the same context; false if unknown.
fn leaves(e: &E, scope: &Scope, loops: &Loops, widths: &mut BTreeSet<usize>) -> bool {
    let width = match strip(e) {
        E::Binary(l, VerilogOp::Shl | VerilogOp::Shr, _) => {
            return leaves(l, scope, loops, widths);
        }
        E::Binary(l, op, r) if !is_boolean(op) => {
            return leaves(l, scope, loops, widths) && leaves(r, scope, loops, widths);
        }
        E::Unary(VerilogOpUnary::Not, inner) => return leaves(inner, scope, loops, widths),
        // the mask of a cast has the width of its result
        E::Cast(inner, width) => {
            widths.insert(*width);
            return leaves(inner, scope, loops, widths);
        }
        E::Literal(value) => literal_width(value),
        E::IndexReplace(..) | E::Signed(_) | E::Unsigned(_) => None,
        other => rust_width(other, scope, loops),
    };
    widths.extend(width);
    width.is_some()
}

fn literal_width(value: &VerilogLiteral) -> Option<usize> {
    format!("{value:x}").split_once('\'')?.0.parse().ok()
}

/// The expression as the designer wrote it, near enough to be found.
pub(super) fn show(e: &E) -> String {
    match e {
        E::Signal(name) => name.strip_suffix("$next").unwrap_or(name).replace('$', "."),
        E::Literal(value) => decimal(value),
        E::Cast(inner, width) => format!("bit_cast::<{width}, _>({})", show(inner)),
        E::Signed(inner) => format!("signed_cast({})", show(inner)),
        E::Unsigned(inner) => format!("unsigned_cast({})", show(inner)),
        E::Paren(inner) => format!("({})", show(inner)),
        E::Binary(l, op, r) => format!("{} {} {}", show(l), operator(op), show(r)),
        E::Unary(VerilogOpUnary::Not, inner) => format!("!{}", show(inner)),
        E::Unary(VerilogOpUnary::Neg, inner) => format!("-{}", show(inner)),
        E::Unary(VerilogOpUnary::All, inner) => format!("{}.all()", show(inner)),
        E::Unary(VerilogOpUnary::Any, inner) => format!("{}.any()", show(inner)),
        E::Unary(VerilogOpUnary::Xor, inner) => format!("{}.xor()", show(inner)),
        E::Index(base, at) => format!("{}.get_bit({})", show(base), show(at)),
        E::Slice(base, width, at) => format!("{}.get_bits::<{width}>({})", show(base), show(at)),
        E::IndexReplace(base, at, bit) => {
            format!("{}.replace_bit({}, {})", show(base), show(at), show(bit))
        }
    }
}

fn decimal(value: &VerilogLiteral) -> String {
    let text = format!("{value:x}");
    let digits = text.split_once("'h").map_or(text.as_str(), |x| x.1);
    match u64::from_str_radix(digits, 16) {
        Ok(small) if small < 10 => small.to_string(),
        _ => format!("0x{digits}"),
    }
}

fn operator(op: &VerilogOp) -> &'static str {
    use VerilogOp::*;
    match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        LogicalAnd => "&&",
        LogicalOr => "||",
        BitXor => "^",
        BitAnd => "&",
        BitOr => "|",
        Shl => "<<",
        Shr => ">>",
        Eq => "==",
        Lt => "<",
        Le => "<=",
        Ne => "!=",
        Ge => ">=",
        Gt => ">",
    }
}
