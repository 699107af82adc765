//! Classes of models: patterns for the value of `model`.
use super::tables::OWN_NAME_BYTES_MAX;
use super::Checker;
use crate::error::PolicyError;
use crate::patterns::{compile, parse, shown, Entry, PATTERNS_MAX};
use crate::raw;
use crate::ClassPattern;
use forebay_decide::patterns::Patterns;
use forebay_spec::limits::CLASSES_MAX;
use toml::Spanned;

/// What `[[class]]` comes to.
#[derive(Default)]
pub(super) struct Classes {
    pub(super) names: Vec<String>,
    pub(super) patterns: Vec<ClassPattern>,
    pub(super) tables: Option<Patterns>,
}

impl Checker<'_> {
    pub(super) fn classes(&self, raw: &[Spanned<raw::Class>]) -> Result<Classes, PolicyError> {
        if let Some(extra) = raw.get(PATTERNS_MAX) {
            let count = raw.len();
            return Err(self.at(extra, format!("{count} times [[class]], the limit is {PATTERNS_MAX}; join some by |")));
        }
        let mut classes = Classes::default();
        let mut entries = Vec::new();
        for raw::Class { name, model } in raw.iter().map(Spanned::get_ref) {
            let class = self.class(name, &mut classes.names)?;
            let hir = parse(model.get_ref()).map_err(|fault| self.fault(model, &fault))?;
            entries.push(Entry { hir, class });
            classes.patterns.push(ClassPattern { class, pattern: model.get_ref().clone() });
        }
        let compiled = compile(&entries).map_err(|refused| match raw.get(refused.entry) {
            Some(entry) => {
                let model = &entry.get_ref().model;
                self.at(model, format!("pattern {}: {}", shown(model.get_ref()), refused.what))
            }
            None => self.error(0, refused.what),
        })?;
        classes.tables = compiled.map(|c| c.tables);
        Ok(classes)
    }

    /// Index of the class with this name, from 1; a new one if there is none.
    fn class(&self, name: &Spanned<String>, names: &mut Vec<String>) -> Result<u8, PolicyError> {
        self.name("class", name, OWN_NAME_BYTES_MAX)?;
        let index = names.iter().position(|n| n == name.get_ref()).unwrap_or_else(|| {
            names.push(name.get_ref().clone());
            names.len() - 1
        });
        if index >= CLASSES_MAX {
            let text = name.get_ref();
            let what = format!("class {text:?} is the {}th, the limit is {CLASSES_MAX}; use fewer names", index + 1);
            return Err(self.at(name, what));
        }
        Ok(index as u8 + 1)
    }
}
