//! Cuts rust-hdl's text into modules, guided by the block's own structure, so
//! that nothing has to be guessed from the text.

use std::collections::{BTreeMap, BTreeSet};

use rust_hdl::prelude::*;

/// One instance: rust-hdl writes a module for each.
#[derive(Clone, Debug)]
pub(super) struct Module {
    /// Distance from the top.
    pub(super) depth: usize,
    /// Last name of the path without array index.
    pub(super) leaf: String,
    /// Parenthesised port list and body, up to `endmodule`.
    pub(super) body: String,
    pub(super) children: Vec<Child>,
}

/// A child block inside its parent.
#[derive(Clone, Debug)]
pub(super) struct Child {
    /// Path, which is also the name of its module.
    pub(super) path: String,
    /// Instance name.
    pub(super) name: String,
    /// Its inputs of type `Clock`.
    pub(super) clocks: Vec<String>,
}

impl Child {
    /// First line of the instance in the text.
    pub(super) fn head(&self) -> String {
        format!("{} {}(", self.path, self.name)
    }
}

impl Module {
    /// Complete text, with the module called `name` and children renamed.
    pub(super) fn text(&self, name: &str, child_name: impl Fn(&str) -> String) -> String {
        let mut body = self.body.clone();
        for child in &self.children {
            let new = format!("{} {}(", child_name(&child.path), child.name);
            body = body.replacen(&child.head(), &new, 1);
        }
        format!("module {name}{body}endmodule\n")
    }
}

#[derive(Default)]
struct Structure {
    path: Vec<String>,
    modules: BTreeMap<String, Module>,
}

impl Probe for Structure {
    fn visit_start_scope(&mut self, name: &str, _node: &dyn Block) {
        let parent = self.path.join("$");
        self.path.push(name.into());
        let path = self.path.join("$");
        if let Some(parent) = self.modules.get_mut(&parent) {
            let child = Child { path: path.clone(), name: name.into(), clocks: Vec::new() };
            parent.children.push(child);
        }
        let leaf = name.split('$').next().unwrap_or(name).to_string();
        let depth = self.path.len() - 1;
        let module = Module { depth, leaf, body: String::new(), children: Vec::new() };
        self.modules.insert(path, module);
    }
    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.path.pop();
    }
    fn visit_start_namespace(&mut self, _name: &str, _node: &dyn Block) {}
    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {}
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        if atom.kind() != AtomKind::InputParameter || atom.descriptor().name != "clock" {
            return;
        }
        let (parent, path) = (self.path[..self.path.len() - 1].join("$"), self.path.join("$"));
        let child = self.modules.get_mut(&parent).and_then(|m| m.children.last_mut());
        if let Some(child) = child.filter(|c| c.path == path) {
            child.clocks.push(name.into());
        }
    }
}

/// Returns the modules by path, and the text that belongs to none of them
/// (wrapped cores and black boxes), each distinct piece once.
pub(super) fn split<B: Block>(block: &B, raw: &str) -> Result<(BTreeMap<String, Module>, String), String> {
    let mut structure = Structure::default();
    block.accept("top", &mut structure);
    let mut modules = structure.modules;
    let mut end_of_last = 0;
    let mut boxes = Vec::new();
    for (path, module) in &mut modules {
        let head = format!("\nmodule {path}(");
        let tail = format!("\nendmodule // {path}\n");
        let Some(start) = raw.find(&head) else {
            boxes.push(path.clone());
            continue;
        };
        let start = start + head.len() - 1;
        let length = raw[start..].find(&tail).ok_or(format!("module {path} does not end"))?;
        module.body = clean(&raw[start..start + length]);
        end_of_last = end_of_last.max(start + length + tail.len());
    }
    if modules.get("top").is_none_or(|top| top.body.is_empty()) {
        return Err("there is no module top".into());
    }
    // a black box keeps its own name, which the instance line already carries
    for path in boxes {
        modules.remove(&path);
        for module in modules.values_mut() {
            module.children.retain(|c| c.path != path);
        }
    }
    Ok((modules, distinct_modules(&raw[end_of_last..])))
}

/// Drops trailing blanks, repeated empty lines and one level of indentation.
fn clean(body: &str) -> String {
    let mut out = String::new();
    let mut empty = true;
    for line in body.lines() {
        let line = line.trim_end();
        let line = line.strip_prefix("    ").unwrap_or(line);
        if !(line.is_empty() && empty) {
            out += line;
            out.push('\n');
        }
        empty = line.is_empty();
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// The crate repeats the text of a wrapped core for each instance.
fn distinct_modules(rest: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut out = String::new();
    for piece in rest.split_inclusive("endmodule") {
        let key = piece.trim();
        if !key.is_empty() && seen.insert(key.to_string()) {
            out += "\n";
            out += key;
            out += "\n";
        }
    }
    out
}
