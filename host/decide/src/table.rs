//! Exact tables: which index a hash has, with one read of two buckets.
//!
//! A table has `TABLE_CHOICES` times `TABLE_BUCKETS` buckets of `TABLE_WAYS` entries. An entry stands in the bucket
//! that its hash has by one of the choices, and keeps 23 more bits of the hash, its key, and an index. The host puts the
//! entries in and moves others to make room (cuckoo); a device only reads.
//!
//! Guaranteed: no two entries have one key, so a look-up meets at most one; a hash that was put in gives its index; and
//! every look-up of [`Tables`] is right, because a hit counts only if the whole name or tag is that of the index. A
//! table that cannot be made is refused with the entry and the remedy, another key of the hash: of 255 entries two have
//! the same key, by chance, in one of 260 cases.
use crate::Bundle;
use forebay_spec::hash::{bucket, entry_key, entry_word, tag_hash, text_hash};
use forebay_spec::limits::{MODEL_NAME_BYTES_MAX, TABLE_BUCKETS, TABLE_CHOICES, TABLE_WAYS};
use std::collections::{HashMap, VecDeque};
use std::fmt;

/// Entries of a table.
pub const TABLE_ENTRIES: usize = TABLE_CHOICES * TABLE_BUCKETS * TABLE_WAYS;

/// Why entries do not make a table. Entries are counted from 0 in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// Two entries have the same key.
    SameKey {
        /// The one that is in the table.
        first: usize,
        /// The one that cannot be.
        second: usize,
    },
    /// No place can be made for an entry.
    Full {
        /// The entry.
        entry: usize,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::SameKey { first, second } => write!(f, "entries {first} and {second} have the same key")?,
            TableError::Full { entry } => write!(f, "entry {entry} finds no place among {TABLE_ENTRIES}")?,
        }
        f.write_str("; choose another hash_key")
    }
}

impl std::error::Error for TableError {}

/// What stands in one place of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    hash: u64,
    index: u8,
}

/// An exact table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// By choice, bucket and way, the last one fastest.
    entries: Vec<Option<Entry>>,
}

impl Default for Table {
    /// Nothing is in it.
    fn default() -> Self {
        Table { entries: vec![None; TABLE_ENTRIES] }
    }
}

/// First place of the bucket that `hash` has by `choice`.
fn bucket_start(hash: u64, choice: usize) -> usize {
    (choice * TABLE_BUCKETS + bucket(hash, choice)) * TABLE_WAYS
}

/// The places where an entry of this hash may stand.
fn places(hash: u64) -> impl Iterator<Item = usize> {
    (0..TABLE_CHOICES).flat_map(move |choice| {
        let start = bucket_start(hash, choice);
        start..start + TABLE_WAYS
    })
}

impl Table {
    /// A table of hashes with their indices, 0 to 254.
    ///
    /// # Errors
    ///
    /// [`TableError`] if two have the same key, or one finds no place.
    pub fn build(entries: impl IntoIterator<Item = (u64, u8)>) -> Result<Self, TableError> {
        let mut table = Table::default();
        let mut keys = HashMap::new();
        for (second, (hash, index)) in entries.into_iter().enumerate() {
            if let Some(first) = keys.insert(entry_key(hash), second) {
                return Err(TableError::SameKey { first, second });
            }
            table.insert(Entry { hash, index }).ok_or(TableError::Full { entry: second })?;
        }
        Ok(table)
    }

    /// Puts an entry in, with as few moves of others as there can be; `None` if it finds no place.
    fn insert(&mut self, entry: Entry) -> Option<()> {
        // breadth first over places: each is reached by moving its entry to one that was reached from there
        let mut reached_from: HashMap<usize, Option<usize>> = places(entry.hash).map(|p| (p, None)).collect();
        let mut queue: VecDeque<usize> = places(entry.hash).collect();
        while let Some(place) = queue.pop_front() {
            let Some(there) = self.entries[place] else {
                self.make_room(place, &reached_from, entry);
                return Some(());
            };
            for next in places(there.hash) {
                reached_from.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    Some(place)
                });
            }
        }
        None
    }

    /// Moves each entry on the way to the free place `to` one step on and puts `entry` into the first.
    fn make_room(&mut self, mut to: usize, reached_from: &HashMap<usize, Option<usize>>, entry: Entry) {
        while let Some(&Some(from)) = reached_from.get(&to) {
            self.entries[to] = self.entries[from];
            to = from;
        }
        self.entries[to] = Some(entry);
    }

    /// The index of the entry that has this hash's key and stands in one of its buckets.
    pub fn lookup(&self, hash: u64) -> Option<u8> {
        places(hash)
            .filter_map(|place| self.entries[place])
            .find(|e| entry_key(e.hash) == entry_key(hash))
            .map(|e| e.index)
    }

    /// The words of the configuration port, in its order.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().map(|e| e.map_or(0, |e| entry_word(entry_key(e.hash), e.index)))
    }
}

/// The tables that a device makes of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Models by the hash of their names.
    pub models: Table,
    /// Tenants by the hash of their tags.
    pub tenants: Table,
}

/// Why a bundle has no tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablesError {
    /// Its models do not make one; entries are model indices.
    Models(TableError),
    /// Its tenants do not make one; entries are tenant indices.
    Tenants(TableError),
}

impl fmt::Display for TablesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TablesError::Models(error) => write!(f, "table of models: {error}"),
            TablesError::Tenants(error) => write!(f, "table of tenants: {error}"),
        }
    }
}

impl std::error::Error for TablesError {}

impl Tables {
    /// The tables of a bundle that is within its limits (`Bundle::over_limit`).
    ///
    /// # Errors
    ///
    /// [`TablesError`] if entries cannot stand in one table.
    pub fn new(bundle: &Bundle) -> Result<Self, TablesError> {
        let models = bundle.models.iter().enumerate();
        let models = models.map(|(i, name)| (text_hash(&bundle.hash_key, name.as_bytes()), i as u8));
        let tenants = bundle.tenant_tags.iter().enumerate().map(|(i, tag)| (tag_hash(tag), i as u8));
        Ok(Tables {
            models: Table::build(models).map_err(TablesError::Models)?,
            tenants: Table::build(tenants).map_err(TablesError::Tenants)?,
        })
    }

    /// Index of the model with this name in the bundle that these tables were made of.
    pub fn model(&self, bundle: &Bundle, text: &[u8]) -> Option<u8> {
        if text.len() > MODEL_NAME_BYTES_MAX {
            return None;
        }
        let index = self.models.lookup(text_hash(&bundle.hash_key, text))?;
        bundle.models.get(usize::from(index)).filter(|name| name.as_bytes() == text).map(|_| index)
    }

    /// Index of the tenant whose credential has this tag, in that bundle.
    pub fn tenant(&self, bundle: &Bundle, tag: &[u8; 16]) -> Option<u8> {
        let index = self.tenants.lookup(tag_hash(tag))?;
        bundle.tenant_tags.get(usize::from(index)).filter(|t| *t == tag).map(|_| index)
    }
}
