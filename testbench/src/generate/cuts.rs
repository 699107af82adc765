//! Streams cut into segments, connections interleaved, host inputs between them.
use super::{http, Choices, Intent};
use forebay_device::Segment;
use forebay_spec::{Input, Kind, Record, ReleaseKind};

/// A segment that owns its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// As in [`Segment`].
    pub connection: u16,
    /// As in [`Segment`].
    pub start: bool,
    /// As in [`Segment`].
    pub close: bool,
    /// As in [`Segment`].
    pub payload: Vec<u8>,
}

impl Piece {
    /// The segment that a device takes.
    pub fn segment(&self) -> Segment<'_> {
        Segment { connection: self.connection, start: self.start, close: self.close, payload: &self.payload }
    }
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A segment.
    Segment(Piece),
    /// The slot of one of the requests that run comes back; nothing when none runs.
    Release {
        /// Which of them, modulo their number.
        which: usize,
        /// Why.
        kind: ReleaseKind,
    },
    /// A release that changes nothing: the generation that a slot was granted last and this much more. With 0 it is
    /// the second release of a slot; nothing when the slot is in use.
    Stale {
        /// Slot, beyond the profile's at times.
        slot: u16,
        /// How far off the generation is.
        off: u8,
        /// Why.
        kind: ReleaseKind,
    },
    /// Time passes.
    Tick(u16),
    /// The software path answers the punt that has waited longest; nothing when none waits.
    Answer(Answer),
}

/// What the software path found in a request that was punted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Passes, instead of being decided.
    pub pass: bool,
    /// Kind of `max_tokens`.
    pub kind: Kind,
    /// Its value.
    pub max_tokens: u32,
}

impl Answer {
    /// The input for the punt of this connection and position.
    pub fn input(&self, connection: u16, index: u16) -> Input {
        use forebay_spec::Disposition::{Decide, Pass};
        let mut record = Record::empty(connection, index, if self.pass { Pass } else { Decide });
        if !self.pass {
            record.kinds[0] = self.kind;
            record.max_tokens = if self.kind == Kind::Number { self.max_tokens } else { 0 };
        }
        Input::PuntResult(record)
    }
}

/// Steps, and what the requests of each connection were made to be.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The steps.
    pub steps: Vec<Step>,
    /// By connection, in the order in which they start: its number, and its requests up to the one that ends it.
    pub intents: Vec<(u16, Vec<Intent>)>,
}

/// Cuts a stream: anywhere, with empty segments, often a byte at a time, or not at all.
pub fn cut(c: &mut Choices<'_>, connection: u16, bytes: &[u8], close: bool) -> Vec<Piece> {
    let size = c.one(&[usize::MAX, 1460, 1, 7, 8, 9, 64, 300]);
    let exact = c.percent(50);
    let mut pieces = Vec::new();
    let mut rest = bytes;
    loop {
        let most = size.min(rest.len());
        let taken = if exact || most == 0 { most } else { c.below(most + 1) };
        let (payload, left) = rest.split_at(if c.spent() { rest.len() } else { taken });
        pieces.push(Piece { connection, start: pieces.is_empty(), close: false, payload: payload.to_vec() });
        rest = left;
        if rest.is_empty() {
            break;
        }
    }
    if close {
        if c.percent(50) {
            pieces.push(Piece { connection, start: false, close: true, payload: Vec::new() });
        } else if let Some(last) = pieces.last_mut() {
            last.close = true;
        }
    }
    pieces
}

fn host_step(c: &mut Choices<'_>) -> Step {
    match c.below(10) {
        0..=3 => Step::Release { which: c.below(256), kind: c.one(ReleaseKind::ALL) },
        4 => {
            let slot = if c.percent(80) { c.below(10) } else { c.below(1 << 16) } as u16;
            let off = if c.percent(50) { 0 } else { c.byte() };
            Step::Stale { slot, off, kind: c.one(ReleaseKind::ALL) }
        }
        5 | 6 => Step::Tick(c.between(1, 5000) as u16),
        _ => Step::Answer(Answer { pass: c.percent(20), kind: c.one(&KINDS), max_tokens: c.wide() }),
    }
}

const KINDS: [Kind; 6] = [Kind::Number, Kind::Number, Kind::Number, Kind::OddNumber, Kind::Missing, Kind::String];

impl Script {
    /// Up to `connections_max` streams with numbers of their own below `numbers`, interleaved with each other and with
    /// host inputs. Every stream is closed in the end; a number is given out again only after that.
    pub fn generate(c: &mut Choices<'_>, connections_max: usize, numbers: usize) -> Script {
        let mut script = Script::default();
        let mut numbers_left: Vec<u16> = (0..numbers as u16).collect();
        let mut streams: Vec<std::vec::IntoIter<Piece>> = Vec::new();
        for _ in 0..c.between(1, connections_max) {
            let number = numbers_left.swap_remove(c.below(numbers_left.len()));
            let (bytes, intents) = http::stream(c);
            streams.push(cut(c, number, &bytes, true).into_iter());
            script.intents.push((number, intents));
        }
        while !streams.is_empty() {
            let which = c.below(streams.len());
            for _ in 0..c.between(1, 4) {
                match streams[which].next() {
                    Some(piece) => script.steps.push(Step::Segment(piece)),
                    None => {
                        streams.swap_remove(which);
                        break;
                    }
                }
            }
            if c.percent(30) {
                script.steps.push(host_step(c));
            }
        }
        for _ in 0..c.below(10) {
            script.steps.push(host_step(c));
        }
        script
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::for_cases;
    use std::collections::HashMap;

    #[test]
    fn cuts_keep_every_byte_in_order() {
        for_cases(500, 300, |c| {
            let (bytes, _) = http::stream(c);
            let pieces = cut(c, 3, &bytes, true);
            let joined: Vec<u8> = pieces.iter().flat_map(|p| p.payload.clone()).collect();
            let starts = pieces.iter().filter(|p| p.start).count();
            let closes = pieces.iter().filter(|p| p.close).count();
            if joined == bytes && (starts, closes) == (1, 1) && pieces[0].start && pieces[pieces.len() - 1].close {
                return Ok(());
            }
            Err(format!("{pieces:?}"))
        });
    }

    #[test]
    fn scripts_use_a_number_for_one_connection() {
        for_cases(300, 3000, |c| {
            let script = Script::generate(c, 5, 8);
            let mut open: HashMap<u16, bool> = HashMap::new();
            for step in &script.steps {
                let Step::Segment(p) = step else { continue };
                match (p.start, open.get(&p.connection)) {
                    (true, None) | (false, Some(true)) => {}
                    other => return Err(format!("connection {}: {other:?}", p.connection)),
                }
                open.insert(p.connection, !p.close);
            }
            if open.values().any(|is_open| *is_open) {
                return Err("a connection stays open".to_string());
            }
            Ok(())
        });
    }
}
