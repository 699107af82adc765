//! Tools and the choice among them.
use super::{
    common::{filled, optional, Path},
    Checker,
};
use crate::{
    error::{quoted, ApiError},
    json::{Kind, Value},
};
use std::{borrow::Cow, collections::HashSet};

/// Bytes of a tool's name.
const NAME_BYTES_MAX: usize = 128;

/// Names of the tools of one request.
pub(super) type Names<'a> = HashSet<Cow<'a, str>>;

fn name_is_good(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn check_name<'a>(object: Value<'_, 'a>, path: &Path<'_>, names: &mut Names<'a>) -> Result<(), ApiError> {
    let name = filled(object, path, "name")?;
    let path = path.name("name");
    if !name_is_good(&name) {
        let what = format!("{} is not 1 to {NAME_BYTES_MAX} of the characters a-z, A-Z, 0-9, _ and -", quoted(&name));
        return Err(path.error(what));
    }
    if names.contains(&name) {
        return Err(path.error(format_args!("{} is used twice; names of tools must be unique", quoted(&name))));
    }
    names.insert(name);
    Ok(())
}

impl Checker<'_> {
    /// The array `tools`, with the elements counted.
    fn tool_list<'d, 'a>(&mut self, root: Value<'d, 'a>) -> Result<Vec<Value<'d, 'a>>, ApiError> {
        let top = Path::top("tools");
        let Some(list) = root.some("tools") else { return Ok(Vec::new()) };
        if list.kind() != Kind::Array {
            return Err(top.wrong_kind(list, "an array of tools"));
        }
        let tools: Vec<_> = list.items().collect();
        self.count(&top, tools.len(), self.limits.tools_max, "tools")?;
        self.counts.tools = tools.len();
        self.counts.text_bytes += list.raw().len();
        match tools.iter().position(|tool| tool.kind() != Kind::Object) {
            Some(i) => Err(top.index(i).error("it is no object; give an object with a name")),
            None => Ok(tools),
        }
    }

    /// Tools of a Messages body.
    pub(super) fn tools<'a>(&mut self, root: Value<'_, 'a>) -> Result<Names<'a>, ApiError> {
        let (top, mut names) = (Path::top("tools"), Names::new());
        for (i, tool) in self.tool_list(root)?.into_iter().enumerate() {
            let path = top.index(i);
            let own = match optional(tool, &path, "type", Kind::String)? {
                None => true,
                Some(kind) => kind.is("custom"),
            };
            // what runs at the API has a type of its own, and a name only in most cases
            if own || tool.some("name").is_some() {
                check_name(tool, &path, &mut names)?;
            }
            if own {
                optional(tool, &path, "description", Kind::String)?;
                if optional(tool, &path, "input_schema", Kind::Object)?.is_none() {
                    return Err(path.name("input_schema").missing("give a JSON schema of an object"));
                }
            }
        }
        Ok(names)
    }

    /// `tool_choice` of a Messages body.
    pub(super) fn tool_choice(&mut self, root: Value<'_, '_>, names: &Names<'_>) -> Result<(), ApiError> {
        let path = Path::top("tool_choice");
        let Some(choice) = root.some("tool_choice") else { return Ok(()) };
        if choice.kind() != Kind::Object {
            return Err(path.wrong_kind(choice, "an object with a type"));
        }
        match filled(choice, &path, "type")?.as_ref() {
            "auto" | "none" => Ok(()),
            "any" if self.counts.tools > 0 => Ok(()),
            "any" => Err(path.error("there are no tools to choose from; give tools, or leave tool_choice out")),
            "tool" => {
                let name = filled(choice, &path, "name")?;
                if names.contains(&name) {
                    return Ok(());
                }
                Err(path.name("name").error(format_args!("{} is not among the tools; name one of them", quoted(&name))))
            }
            other => Err(path.name("type").error(format_args!("{} is not auto, any, tool or none", quoted(other)))),
        }
    }

    /// Tools of a chat body.
    pub(super) fn chat_tools<'a>(&mut self, root: Value<'_, 'a>) -> Result<Names<'a>, ApiError> {
        let (top, mut names) = (Path::top("tools"), Names::new());
        for (i, tool) in self.tool_list(root)?.into_iter().enumerate() {
            let path = top.index(i);
            let kind = filled(tool, &path, "type")?;
            if kind != "function" {
                self.note(Some(&path), &kind);
                continue;
            }
            let Some(function) = optional(tool, &path, "function", Kind::Object)? else {
                return Err(path.name("function").missing("give an object with a name"));
            };
            let path = path.name("function");
            check_name(function, &path, &mut names)?;
            optional(function, &path, "description", Kind::String)?;
            optional(function, &path, "parameters", Kind::Object)?;
        }
        Ok(names)
    }

    /// `tool_choice` of a chat body.
    pub(super) fn chat_tool_choice(&mut self, root: Value<'_, '_>, names: &Names<'_>) -> Result<(), ApiError> {
        let path = Path::top("tool_choice");
        let Some(choice) = root.some("tool_choice") else { return Ok(()) };
        match choice.kind() {
            Kind::String => match choice.text().unwrap_or_default().as_ref() {
                "none" | "auto" => Ok(()),
                "required" if self.counts.tools > 0 => Ok(()),
                "required" => Err(path.error("there are no tools to choose from; give tools, or leave it out")),
                other => Err(path.error(format_args!("{} is not none, auto or required", quoted(other)))),
            },
            Kind::Object => {
                let kind = filled(choice, &path, "type")?;
                if kind != "function" {
                    self.note(Some(&path), &kind);
                    return Ok(());
                }
                let Some(function) = optional(choice, &path, "function", Kind::Object)? else {
                    return Err(path.name("function").missing("give an object with a name"));
                };
                let path = path.name("function");
                let name = filled(function, &path, "name")?;
                if names.contains(&name) {
                    return Ok(());
                }
                Err(path.name("name").error(format_args!("{} is not among the tools; name one of them", quoted(&name))))
            }
            _ => Err(path.wrong_kind(choice, "none, auto, required, or an object that names a function")),
        }
    }
}
