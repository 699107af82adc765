//! Figures into a configuration, of which everything else stays as it was written.
use super::Figures;
use crate::config::{read_text, Config};
use std::io::Write;
use std::path::Path;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// The text with the figures of these engines in it.
///
/// # Errors
/// A text that is no configuration, before or after; an engine that it does not have.
pub fn rewrite(file: &Path, text: &str, found: &[(String, Figures)]) -> Result<String, String> {
    let shown = file.display().to_string();
    let mut document: DocumentMut = text.parse().map_err(|e| format!("{shown}: {e}"))?;
    for (name, figures) in found {
        let table = engine(&mut document, name).ok_or_else(|| {
            format!("{shown}: engine {name:?} has gone while it was measured; nothing is written, measure again")
        })?;
        set(table, "requests_max", figures.requests_max);
        set(table, "prefill_tokens_s", figures.prefill_tokens_s);
        set(table, "output_token_ms", figures.output_token_ms);
    }
    let text = document.to_string();
    let folder = file.parent().unwrap_or(Path::new("."));
    Config::parse(&shown, &text, folder).map_err(|e| {
        format!("with the figures that were found the configuration is not sound: {e}; nothing is written")
    })?;
    Ok(text)
}

/// Puts the figures into a file: it is exchanged whole, or stays as it was.
///
/// # Errors
/// Those of [`rewrite`], and a file that cannot be written.
pub fn write(file: &Path, found: &[(String, Figures)]) -> Result<(), String> {
    // what was changed in it while engines were measured stays
    let text = rewrite(file, &read_text(file).map_err(|e| e.to_string())?, found)?;
    let fail = |e: std::io::Error| format!("{}: cannot be written: {e}; nothing is changed", file.display());
    // a link stays one
    let target = file.canonicalize().map_err(fail)?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    new.write_all(text.as_bytes()).map_err(fail)?;
    new.as_file().set_permissions(target.metadata().map_err(fail)?.permissions()).map_err(fail)?;
    new.as_file().sync_all().map_err(fail)?;
    new.persist(&target).map_err(|e| fail(e.error))?;
    Ok(())
}

/// The table of an engine: of `[[engine]]`, or of a list of inline tables.
fn engine<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    let named = |table: &dyn TableLike| table.get("name").and_then(Item::as_str) == Some(name);
    match document.get_mut("engine")? {
        Item::ArrayOfTables(tables) => tables.iter_mut().find(|t| named(*t)).map(|t| t as &mut dyn TableLike),
        Item::Value(Value::Array(tables)) => tables
            .iter_mut()
            .filter_map(Value::as_inline_table_mut)
            .find(|t| named(*t))
            .map(|t| t as &mut dyn TableLike),
        _ => None,
    }
}

/// Sets a number; a comment behind it stays.
fn set(table: &mut dyn TableLike, name: &str, number: u64) {
    let mut value = Value::from(i64::try_from(number).unwrap_or(i64::MAX));
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}
