//! What a policy comes to: sizes of its tables, and what they mean for requests.
use crate::check::kind;
use crate::patterns::{compile, parse, shown, Compiled, Entry, TableSizes, Walk};
use crate::{ClassPattern, Policy};
use forebay_decide::bloom::{Bloom, CAPACITY_ONE_PERCENT};
use forebay_decide::table::TABLE_ENTRIES;
use forebay_spec::limits::{PATTERN_TEXT_BYTES_MAX, RECORD_CLOCKS, RECORD_PATTERN_CLOCKS};
use forebay_spec::PuntReason;
use serde::Serialize;

/// Share of false hits of a filter beyond which a report warns; `CAPACITY_ONE_PERCENT` is made for it.
const FALSE_HITS_MAX: f64 = 0.01;

/// A pattern for names of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameReport {
    /// Name of the field in records.
    pub field: &'static str,
    /// What its value is read as.
    pub kind: &'static str,
    /// The pattern.
    pub pattern: String,
    /// The names that it gives.
    pub names: Vec<String>,
}

/// A pattern for names of models.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassReport {
    /// The class, 1 and up.
    pub class: u8,
    /// Its name.
    pub name: String,
    /// The pattern.
    pub pattern: String,
    /// Sizes of tables for this pattern alone; `None` if it would not fit.
    pub alone: Option<TableSizes>,
    /// Can it match a name of more than `PATTERN_TEXT_BYTES_MAX` bytes?
    pub long: bool,
}

/// Tables of all patterns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableReport {
    /// What is in use.
    pub used: TableSizes,
    /// The limits.
    pub limits: TableSizes,
    /// Table memory in use, bits.
    pub bits: usize,
    /// Table memory there is, bits.
    pub bits_max: usize,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelReport {
    /// Its name.
    pub name: String,
    /// Does it stay loaded?
    pub hot: bool,
}

/// A Bloom filter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilterReport {
    /// What was put in.
    pub entries: usize,
    /// Share of its bits that are set.
    pub fill: f64,
    /// Share of hits to expect among what was not put in, by those bits.
    pub false_positive_rate: f64,
}

/// What this policy leaves to software.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PuntReport {
    /// The reason.
    pub reason: &'static str,
    /// Which requests.
    pub when: String,
}

/// What a policy comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Patterns of names of fields.
    pub names: Vec<NameReport>,
    /// Patterns of names of models, in the order in which they are asked.
    pub classes: Vec<ClassReport>,
    /// Their tables; `None` without patterns.
    pub tables: Option<TableReport>,
    /// Models, by index.
    pub models: Vec<ModelReport>,
    /// Names of tenants, by index.
    pub tenants: Vec<String>,
    /// Entries that an exact table has room for; there is one of models and one of tenants.
    pub exact_entries_max: usize,
    /// The filter of hot models.
    pub hot: FilterReport,
    /// The filter of known keys.
    pub keys: FilterReport,
    /// Level thresholds, tokens.
    pub thresholds: Vec<u32>,
    /// Requests of each level that may run.
    pub level_limits: Vec<u16>,
    /// Clocks from the last beat of a body to its record, at most.
    pub record_clocks: u32,
    /// What the patterns leave to software.
    pub punts: Vec<PuntReport>,
    /// What should be looked at.
    pub warnings: Vec<String>,
}

fn filter(bloom: &Bloom, entries: usize) -> FilterReport {
    let ones: u32 = bloom.ones().iter().sum();
    let bits = 32 * bloom.words().count();
    FilterReport { entries, fill: f64::from(ones) / bits as f64, false_positive_rate: bloom.hit_rate() }
}

fn compiled(patterns: &[ClassPattern]) -> Option<Compiled> {
    let entry = |p: &ClassPattern| Some(Entry { hir: parse(&p.pattern).ok()?, class: p.class });
    compile(&patterns.iter().map(entry).collect::<Option<Vec<_>>>()?).ok()?
}

fn class(policy: &Policy, pattern: &ClassPattern) -> ClassReport {
    let alone = compiled(std::slice::from_ref(pattern));
    ClassReport {
        class: pattern.class,
        name: policy.class_name(pattern.class).unwrap_or_default().to_owned(),
        pattern: pattern.pattern.clone(),
        alone: alone.as_ref().map(|c| Walk::new(&c.tables).sizes()),
        long: alone.is_none_or(|c| c.tables.long),
    }
}

fn warnings(policy: &Policy, hot: &FilterReport, keys: &FilterReport) -> Vec<String> {
    let mut warnings = Vec::new();
    for (what, filter) in [("hot models", hot), ("known keys", keys)] {
        if filter.false_positive_rate > FALSE_HITS_MAX {
            let (entries, percent) = (filter.entries, 100.0 * filter.false_positive_rate);
            warnings.push(format!(
                "the filter of {what} has {entries} entries and hits falsely at {percent:.1} % of all others; \
                 up to {CAPACITY_ONE_PERCENT} stay within 1 %"
            ));
        }
    }
    let fresh = compiled(&policy.patterns);
    for pattern in fresh.iter().flat_map(|c| &c.idle).filter_map(|&i| policy.patterns.get(i)) {
        let shown = shown(&pattern.pattern);
        warnings.push(format!("the pattern {shown} never decides: earlier ones match all that it matches"));
    }
    if policy.bundle.patterns != fresh.map(|c| c.tables) {
        warnings.push("the tables of the patterns are not those that this version makes of them".to_owned());
    }
    warnings
}

impl Policy {
    /// What this policy comes to.
    pub fn report(&self) -> Report {
        let bundle = &self.bundle;
        let names = self.fields.iter().map(|f| NameReport {
            field: f.field.name(),
            kind: kind(f.field),
            pattern: f.pattern.clone(),
            names: f.names.clone(),
        });
        let models = bundle.models.iter().zip(&self.hot).map(|(name, &hot)| ModelReport { name: name.clone(), hot });
        let tables = bundle.patterns.as_ref().map(|tables| {
            let used = Walk::new(tables).sizes();
            let limits = TableSizes::MAX;
            TableReport { used, limits, bits: used.bits(), bits_max: limits.bits() }
        });
        let long = bundle.patterns.as_ref().is_some_and(|p| p.long);
        let punt = PuntReport {
            reason: PuntReason::ValueBytes.name(),
            when: format!(
                "the name of the model has more than {PATTERN_TEXT_BYTES_MAX} bytes, and a pattern can match one"
            ),
        };
        let (hot, keys) = (filter(&bundle.hot, self.hot_names), filter(&bundle.keys, self.known_keys));
        Report {
            names: names.collect(),
            classes: self.patterns.iter().map(|p| class(self, p)).collect(),
            record_clocks: if tables.is_some() { RECORD_PATTERN_CLOCKS } else { RECORD_CLOCKS },
            tables,
            models: models.collect(),
            tenants: self.tenants.clone(),
            exact_entries_max: TABLE_ENTRIES,
            warnings: warnings(self, &hot, &keys),
            hot,
            keys,
            thresholds: bundle.thresholds.to_vec(),
            level_limits: bundle.level_limits.to_vec(),
            punts: if long { vec![punt] } else { Vec::new() },
        }
    }
}
