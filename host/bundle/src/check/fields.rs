//! Names of fields: patterns, counted out.
use super::Checker;
use crate::error::PolicyError;
use crate::patterns::{parse, shown, words, Endless, PATTERNS_MAX, WORDS_MAX, WORD_BYTES_MAX};
use crate::raw;
use crate::FieldNames;
use forebay_decide::Name;
use forebay_spec::limits::{NAMES_MAX, NAME_BYTES_MAX, NAME_BYTES_MIN};
use forebay_spec::Field;
use toml::Spanned;

/// What a value of a field is read as.
pub(crate) fn kind(field: Field) -> &'static str {
    match field {
        Field::MaxTokens | Field::TopK => "unsigned",
        Field::Model => "string",
        Field::Stream => "bool",
        Field::Temperature => "decimal",
    }
}

/// Each field by its own name.
pub(crate) fn own_names() -> Vec<FieldNames> {
    let own = |&field: &Field| {
        let name = field.name().to_owned();
        FieldNames { field, pattern: name.clone(), names: vec![name] }
    };
    Field::ALL.iter().map(own).collect()
}

/// May a letter stand in a name?
pub(crate) fn is_letter(byte: u8) -> bool {
    byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-' | b'.')
}

/// All names of these patterns, for the bundle.
pub(crate) fn bundle_names(fields: &[FieldNames]) -> Vec<Name> {
    let each = |f: &FieldNames| f.names.iter().map(|n| Name { text: n.clone(), field: f.field }).collect::<Vec<_>>();
    fields.iter().flat_map(each).collect()
}

impl Checker<'_> {
    pub(super) fn fields(&self, raw: &[Spanned<raw::Field>]) -> Result<Vec<FieldNames>, PolicyError> {
        let Some(first) = raw.first() else {
            return Ok(own_names());
        };
        if let Some(extra) = raw.get(PATTERNS_MAX) {
            let count = raw.len();
            return Err(self.at(extra, format!("{count} times [[field]], the limit is {PATTERNS_MAX}; join some by |")));
        }
        let mut fields: Vec<FieldNames> = Vec::new();
        for entry in raw.iter().map(Spanned::get_ref) {
            let field = self.field(entry)?;
            let mut names = self.expand(&entry.name)?;
            self.not_taken(field, &entry.name, &names, &fields)?;
            // a name that the field has already
            names.retain(|name| !fields.iter().any(|f| f.names.contains(name)));
            fields.push(FieldNames { field, pattern: entry.name.get_ref().clone(), names });
            let count: usize = fields.iter().map(|f| f.names.len()).sum();
            if count > NAMES_MAX {
                let pattern = shown(entry.name.get_ref());
                return Err(self.at(
                    &entry.name,
                    format!("with the pattern {pattern} there are {count} names, the limit is {NAMES_MAX}; narrow it"),
                ));
            }
        }
        if !fields.iter().any(|f| f.field == Field::MaxTokens) {
            let what = "no [[field]] gives max_tokens a name, and without it no request can be decided; \
                        add one with field = \"max_tokens\" and name = \"max_tokens\"";
            return Err(self.at(first, what.to_owned()));
        }
        Ok(fields)
    }

    fn field(&self, entry: &raw::Field) -> Result<Field, PolicyError> {
        let given = entry.field.get_ref();
        let Some(&field) = Field::ALL.iter().find(|f| f.name() == given) else {
            let all: Vec<&str> = Field::ALL.iter().map(|f| f.name()).collect();
            return Err(self.at(&entry.field, format!("there is no field {given:?}; give one of {}", all.join(", "))));
        };
        match &entry.kind {
            Some(kind_given) if kind_given.get_ref() != kind(field) => {
                let (name, own, given) = (field.name(), kind(field), kind_given.get_ref());
                Err(self.at(kind_given, format!("{name} is of kind {own}, not {given:?}; leave the kind out")))
            }
            _ => Ok(field),
        }
    }

    /// The names that a pattern stands for.
    fn expand(&self, pattern: &Spanned<String>) -> Result<Vec<String>, PolicyError> {
        let text = shown(pattern.get_ref());
        let hir = parse(pattern.get_ref()).map_err(|fault| self.fault(pattern, &fault))?;
        let all = words(&hir).map_err(|endless| {
            let why = match endless {
                Endless::Infinite => format!("infinitely many names, the limit is {NAMES_MAX}; bound the repetition"),
                Endless::Many => format!("more than {WORDS_MAX} names, the limit is {NAMES_MAX}; narrow it"),
                Endless::Long => {
                    format!("a name of more than {WORD_BYTES_MAX} bytes, the limit is {NAME_BYTES_MAX}; shorten it")
                }
            };
            self.at(pattern, format!("the pattern {text} stands for {why}"))
        })?;
        if all.len() > NAMES_MAX {
            let count = all.len();
            return Err(self.at(
                pattern,
                format!("the pattern {text} stands for {count} names, the limit is {NAMES_MAX}; narrow it"),
            ));
        }
        all.iter().map(|name| self.field_name(pattern, name)).collect()
    }

    fn field_name(&self, pattern: &Spanned<String>, name: &[u8]) -> Result<String, PolicyError> {
        let stands =
            format!("the pattern {} stands for the name \"{}\"", shown(pattern.get_ref()), name.escape_ascii());
        if !(NAME_BYTES_MIN..=NAME_BYTES_MAX).contains(&name.len()) {
            let bytes = name.len();
            return Err(self.at(
                pattern,
                format!("{stands} of {bytes} bytes, the limits are {NAME_BYTES_MIN} to {NAME_BYTES_MAX}; exclude it"),
            ));
        }
        match name.iter().find(|&&b| !is_letter(b)) {
            Some(bad) => Err(self.at(
                pattern,
                format!(
                    "{stands} with the letter \"{}\", names are of a to z, _, - and .; exclude it",
                    bad.escape_ascii()
                ),
            )),
            None => Ok(name.iter().map(|&b| char::from(b)).collect()),
        }
    }

    /// Whether no name means another field already.
    fn not_taken(
        &self,
        field: Field,
        pattern: &Spanned<String>,
        names: &[String],
        fields: &[FieldNames],
    ) -> Result<(), PolicyError> {
        let others = fields.iter().filter(|f| f.field != field);
        let shared = others.flat_map(|f| f.names.iter().map(move |n| (f, n))).find(|(_, n)| names.contains(n));
        shared.map_or(Ok(()), |(other, name)| {
            let (own, field, theirs) = (shown(pattern.get_ref()), field.name(), other.field.name());
            Err(self.at(
                pattern,
                format!(
                    "the pattern {own} for {field} and {} for {theirs} both stand for the name {name:?}; \
                     leave it to one of them",
                    shown(&other.pattern)
                ),
            ))
        })
    }
}
