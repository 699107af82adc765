//! Rewrites on the text of one module that make it shorter. Each applies only
//! if the text has exactly the expected form, and leaves it alone otherwise.

use std::collections::BTreeMap;

use super::names::{count, replace, tokens, Token};
use super::tree::{Child, Module};

/// Puts each plain `DFF` child into its parent as a register.
pub(super) fn flip_flops(modules: &mut BTreeMap<String, Module>) {
    let initial: BTreeMap<String, String> =
        modules.iter().filter_map(|(path, m)| Some((path.clone(), flip_flop_initial(&m.body)?))).collect();
    let mut gone = Vec::new();
    for module in modules.values_mut() {
        let (mut kept, mut inlined) = (Vec::new(), Vec::new());
        for child in std::mem::take(&mut module.children) {
            let value = initial.get(&child.path);
            match value.and_then(|v| with_register(&module.body, &child, v)) {
                Some(body) => {
                    module.body = body;
                    inlined.push(child.path);
                }
                None => kept.push(child),
            }
        }
        let heading = match (kept.is_empty(), inlined.is_empty()) {
            (true, _) => "// Registers\n",
            (false, false) => "// Registers and sub modules\n",
            (false, true) => "// Sub modules\n",
        };
        module.body = module.body.replacen("// Sub module instances\n", heading, 1);
        module.children = kept;
        gone.append(&mut inlined);
    }
    for path in gone {
        modules.remove(&path);
    }
}

/// The start value, if the text is that of rust-hdl's `DFF`.
fn flip_flop_initial(body: &str) -> Option<String> {
    if !body.starts_with("(d,q,clock);") {
        return None;
    }
    let (_, code) = body.split_once("// Update code (custom)\n")?;
    let words = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let value =
        words.strip_prefix("initial begin q = ")?.strip_suffix("; end always @(posedge clock) begin q <= d; end")?;
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '\'');
    plain.then(|| value.to_string())
}

/// The parent's text with an instance of a flip-flop replaced by a register.
fn with_register(body: &str, child: &Child, initial: &str) -> Option<String> {
    let instance = instance_text(body, child)?;
    let argument = |port: &str| {
        let (_, rest) = instance.split_once(&format!(".{port}("))?;
        rest.split_once(')').map(|x| x.0.to_string())
    };
    let (d, q, clock) = (argument("d")?, argument("q")?, argument("clock")?);
    let wire = body
        .lines()
        .find(|line| line.starts_with("wire ") && line.trim_end_matches(';').ends_with(&format!(" {q}")))?;
    let register = format!("reg {}", &wire["wire ".len()..wire.len() - 1]);
    let initial = fit(initial, &register);
    let edge = format!("always @(posedge {clock}) {q} <= {d};\n");
    let body = body.replacen(&format!("\n{wire}\n"), &format!("\n{register} = {initial};\n"), 1);
    Some(body.replacen(instance, &edge, 1))
}

/// rust-hdl gives enum values 64 bits; write them with the register's width.
fn fit(value: &str, register: &str) -> String {
    let high = register.split_once('[').and_then(|x| x.1.split_once(':'));
    let width = high.and_then(|x| x.0.parse::<usize>().ok()).map_or(1, |n| n + 1);
    match value.split_once("'h") {
        Some((_, digits)) if width < 64 => {
            let digits = digits.trim_start_matches('0');
            format!("{width}'h{}", if digits.is_empty() { "0" } else { digits })
        }
        _ => value.to_string(),
    }
}

/// From the instance's first line to the `);` that ends it.
fn instance_text<'a>(body: &'a str, child: &Child) -> Option<&'a str> {
    let start = body.find(&child.head())?;
    let length = body[start..].find("\n);\n")? + "\n);\n".len();
    Some(&body[start..start + length])
}

/// Clocks reach a child or a register through a variable that `update` copies
/// the clock to; use the clock itself where that copy is the only assignment.
pub(super) fn clocks(modules: &mut BTreeMap<String, Module>) {
    for module in modules.values_mut() {
        let copies: Vec<(String, String)> = module
            .body
            .lines()
            .filter_map(|line| {
                let (to, from) = line.trim().strip_suffix(';')?.split_once(" = ")?;
                let plain = |s: &str| matches!(tokens(s)[..], [Token::Word(_)]);
                let top_level = line.starts_with("    ") && !line.starts_with("     ");
                (top_level && plain(to) && plain(from)).then(|| (to.into(), from.into()))
            })
            .collect();
        for (to, from) in copies {
            if let Some(body) = without_copy(&module.body, &to, &from, &module.children) {
                module.body = body;
            }
        }
    }
}

fn without_copy(body: &str, to: &str, from: &str, children: &[Child]) -> Option<String> {
    let is_child_clock = children.iter().any(|c| c.clocks.iter().any(|k| to == format!("{}${k}", c.name)));
    let edge = format!("always @(posedge {to}) ");
    let declaration = format!("reg  {to};\n");
    let copy = format!("    {to} = {from};\n");
    // the clock must be an input; a gated clock has to stay as written
    let input = format!("input wire  {from};\n");
    let known = (is_child_clock || body.contains(&edge)) && body.contains(&input);
    if !known || count(body, to) != 3 || !body.contains(&declaration) {
        return None;
    }
    let body = body.replacen(&declaration, "", 1).replacen(&copy, "", 1);
    Some(replace(&body, to, from))
}

/// Drops what is never used (rust-hdl repeats all enum values in each module
/// that sees the type) and evens out the layout.
pub(super) fn tidy(modules: &mut BTreeMap<String, Module>) {
    for module in modules.values_mut() {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for token in tokens(&module.body) {
            if let Token::Word(w) = token {
                *seen.entry(w).or_default() += 1;
            }
        }
        let keep = |line: &&str| {
            let name = line.strip_prefix("localparam ").and_then(|l| l.split_whitespace().next());
            name.is_none_or(|n| seen.get(n).is_none_or(|uses| *uses > 1))
        };
        let even = |line: &str| match line.split_once("  ") {
            Some((word @ ("reg" | "wire" | "localparam" | "input wire" | "output reg" | "output wire"), rest)) => {
                format!("{word} {rest}\n")
            }
            _ => format!("{line}\n"),
        };
        let body: String = module.body.lines().filter(keep).map(even).collect();
        module.body = without_empty_sections(&body);
    }
}

/// Drops the headings under which nothing is left.
fn without_empty_sections(body: &str) -> String {
    let lines: Vec<&str> = body.lines().collect();
    let mut out = String::new();
    for (n, line) in lines.iter().enumerate() {
        let heading = ["// Enums", "// Stub signals", "// Constant declarations"].contains(line);
        let next_empty = lines.get(n + 1).is_none_or(|l| l.is_empty());
        let after_heading = line.is_empty() && out.ends_with("\n\n");
        if !(heading && next_empty || after_heading) {
            out += line;
            out.push('\n');
        }
    }
    out
}
