//! The JSON schema of a configuration, for editors and for checks before a file is rolled out.
use super::raw;
use serde_json::{Map, Value};

/// Marks a list that has to be given although serde could do without it.
const REQUIRED_MARK: &str = "x-required";

/// The schema, of draft 2020-12. What it takes may still be refused: it knows no files and no policy.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(raw::File).to_value();
    tidy(&mut schema);
    schema
}

/// TOML has no null, so that what may be left out need not allow for one; and a description is one line.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    object.insert("type".to_owned(), kind);
                }
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            without_null(object);
            required(object);
            object.values_mut().for_each(tidy);
        }
        Value::Array(values) => values.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// `anyOf` of something and null is that something.
fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(choices)) = object.get("anyOf") {
        let rest: Vec<&Value> = choices.iter().filter(|choice| choice["type"] != "null").collect();
        if let [Value::Object(one)] = rest.as_slice() {
            let one = one.clone();
            object.remove("anyOf");
            object.extend(one);
        }
    }
}

/// Turns marks of members into the list of those that have to be there.
fn required(object: &mut Map<String, Value>) {
    let Some(Value::Object(members)) = object.get_mut("properties") else {
        return;
    };
    let marked = |member: &mut Value| member.as_object_mut().is_some_and(|m| m.remove(REQUIRED_MARK).is_some());
    let mut names: Vec<Value> = Vec::new();
    for (name, member) in members {
        if marked(member) {
            // no list stands there by default
            member.as_object_mut().and_then(|m| m.remove("default"));
            names.push(Value::String(name.clone()));
        }
    }
    if names.is_empty() {
        return;
    }
    if let Value::Array(list) = object.entry("required").or_insert_with(|| Value::Array(Vec::new())) {
        list.extend(names);
    }
}
