//! Drives scanner and field finder with mixed bodies, and looks at all that comes out.
use super::names;
use super::reader::{Body, Names};
use super::top::ScanFields;
use crate::common::feed::{Beat, Feed};
use crate::common::tables::Tables;
use crate::common::{json, part, word};
use crate::random::Rng;
use forebay_decide::Name;
use forebay_hdl::{fields, scan};
use forebay_spec::Kind;
use std::collections::VecDeque;

pub(crate) const CONNECTIONS: usize = 4;
const TEXT_CLOCKS: usize = scan::LATENCY_CLOCKS + fields::TEXT_LATENCY_CLOCKS;
const FOUND_CLOCKS: usize = scan::LATENCY_CLOCKS + fields::LATENCY_CLOCKS;

/// How often something occurred.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) beats: u64,
    pub(crate) bodies: u64,
    pub(crate) texts: u64,
    pub(crate) numbers: u64,
    pub(crate) name_escapes: u64,
    pub(crate) value_escapes: u64,
    pub(crate) odd_numbers: u64,
    pub(crate) others: u64,
    pub(crate) loads: u64,
}

/// The names of both banks, bodies by them, and what of them is still to be loaded.
struct Banks {
    names: [Names; 2],
    tables: [Tables; 2],
    words: Vec<(u16, u32)>,
    /// A bank that is loaded, or waits until no body has it: no new body may.
    closed: Option<usize>,
    /// Clocks to wait before the words are written.
    wait: usize,
}

/// What must come out in some clock.
struct Due<T> {
    clock: usize,
    what: T,
}

pub(crate) struct Bench {
    rng: Rng,
    feed: Feed,
    banks: Banks,
    /// Of the last body of each connection.
    bank: [bool; CONNECTIONS],
    bodies: [Body; CONNECTIONS],
    texts: VecDeque<Due<(Beat, bool, Body)>>,
    found: VecDeque<Due<Body>>,
    /// By connection: the text as the ports tell it, and whether it closed.
    captured: [(Vec<u8>, bool); CONNECTIONS],
    pub(crate) seen: Seen,
}

/// What bodies with these names are made of.
fn tables(rng: &mut Rng, names: &Names) -> Tables {
    let mut tables = Tables::new(rng);
    tables.bundle.names = names.iter().map(|(text, field)| Name { text: text.clone(), field: *field }).collect();
    tables
}

impl Bench {
    pub(crate) fn new(width: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let names = [names::names(&mut rng), names::names(&mut rng)];
        let tables = names.clone().map(|names| tables(&mut rng, &names));
        let words = names.iter().enumerate().flat_map(|(bank, names)| names::words(names, bank == 1)).collect();
        Bench {
            rng,
            feed: Feed::new(width, CONNECTIONS, true),
            banks: Banks { names, tables, words, closed: None, wait: 0 },
            bank: [false; CONNECTIONS],
            bodies: Default::default(),
            texts: VecDeque::new(),
            found: VecDeque::new(),
            captured: Default::default(),
            seen: Seen::default(),
        }
    }

    /// Looks at the outputs of this clock, then sets its inputs.
    pub(crate) fn clock<const W: usize, const B: usize>(&mut self, b: &mut ScanFields<W, B, 2>, clock: usize) {
        self.check_text(b, clock);
        self.check_found(b, clock);
        b.reset.next = self.rng.one_in(6_000);
        if b.reset.next {
            // beats under way are lost
            self.texts.clear();
            self.found.clear();
            self.feed.restart();
        }
        b.valid.next = false;
        self.configure(b);
        let loading = self.seen.loads == 0 && !self.banks.words.is_empty();
        if !b.reset.next && !loading && !self.rng.one_in(8) {
            self.beat(b, clock);
        }
    }

    /// Loads other names now and then, while bodies of the other bank pass.
    fn configure<const W: usize, const B: usize>(&mut self, b: &mut ScanFields<W, B, 2>) {
        b.cfg_valid.next = false;
        let banks = &mut self.banks;
        let Some(bank) = banks.closed else {
            if !banks.words.is_empty() {
                self.write(b);
            } else if self.rng.one_in(3_000) {
                banks.closed = Some(self.rng.below(2) as usize);
                banks.wait = FOUND_CLOCKS;
            }
            return;
        };
        if self.feed.under_way().any(|connection| usize::from(self.bank[connection]) == bank) {
            banks.wait = FOUND_CLOCKS;
        } else if banks.wait > 1 {
            banks.wait -= 1;
        } else if banks.wait == 1 {
            banks.wait = 0;
            banks.names[bank] = names::names(&mut self.rng);
            banks.tables[bank] = tables(&mut self.rng, &banks.names[bank]);
            banks.words = names::words(&banks.names[bank], bank == 1);
        } else if banks.words.is_empty() {
            banks.closed = None;
        } else if !self.rng.one_in(10) {
            self.write(b);
        }
    }

    fn write<const W: usize, const B: usize>(&mut self, b: &mut ScanFields<W, B, 2>) {
        if let Some((address, data)) = self.banks.words.pop() {
            b.cfg_valid.next = true;
            b.cfg_address.next = u64::from(address).into();
            b.cfg_data.next = u64::from(data).into();
            self.seen.loads += u64::from(self.banks.words.is_empty());
        }
    }

    fn beat<const W: usize, const B: usize>(&mut self, b: &mut ScanFields<W, B, 2>, clock: usize) {
        let banks = &self.banks;
        let mut began = false;
        let beat = self.feed.beat(&mut self.rng, |rng| {
            let bank = banks.closed.map_or(rng.below(2) as usize, |closed| 1 - closed);
            began = bank == 1;
            json::body(rng, &banks.tables[bank])
        });
        if beat.start {
            self.bank[beat.connection] = began;
        }
        let bank = self.bank[beat.connection];
        b.valid.next = true;
        b.first.next = beat.start;
        b.last.next = beat.end;
        b.connection.next = (beat.connection as u64).into();
        b.bank.next = bank;
        b.data.next = beat.data(&mut self.rng);
        b.keep.next = word(&beat.keep().to_le_bytes());
        let body = &mut self.bodies[beat.connection];
        if beat.start {
            *body = Body::default();
        }
        body.bytes(&beat.bytes, &self.banks.names[usize::from(bank)]);
        self.seen.beats += 1;
        if beat.end {
            self.found.push_back(Due { clock: clock + FOUND_CLOCKS, what: body.clone() });
        }
        self.texts.push_back(Due { clock: clock + TEXT_CLOCKS, what: (beat, bank, body.clone()) });
    }

    fn check_text<const W: usize, const B: usize>(&mut self, b: &ScanFields<W, B, 2>, clock: usize) {
        let here = self.texts.front().is_some_and(|due| due.clock == clock);
        assert_eq!(b.text_valid.val(), here, "clock {clock}");
        let Some(Due { what: (beat, bank, body), .. }) = self.texts.pop_front_if(|_| here) else { return };
        let shown = (b.text_connection.val().index(), b.text_bank.val(), b.text_first.val(), b.text_last.val());
        assert_eq!(shown, (beat.connection, bank, beat.start, beat.end), "clock {clock}");
        let data = b.text_data.val();
        let bytes: Vec<u8> = (0..beat.bytes.len()).map(|i| part(&data, 8 * i, 8) as u8).collect();
        assert_eq!(bytes, beat.bytes, "clock {clock}");
        let (text, closed) = &mut self.captured[beat.connection];
        if beat.start || b.text_clear.val() {
            (*text, *closed) = (Vec::new(), false);
        }
        let take = part(&b.text_take.val(), 0, W);
        assert!(take & !beat.keep() == 0, "clock {clock}: {take:x} of {:x}", beat.keep());
        let run = take >> take.trailing_zeros().min(63);
        assert!(run & run.wrapping_add(1) == 0, "clock {clock}: {take:x} has a gap");
        text.extend((0..W).filter(|i| take >> i & 1 == 1).map(|i| bytes[i]));
        *closed |= b.text_end.val();
        let read = || String::from_utf8_lossy(&body.read).into_owned();
        assert_eq!((*closed, &*text), (body.closed, &body.text), "clock {clock}, {beat:?} of {}", read());
    }

    fn check_found<const W: usize, const B: usize>(&mut self, b: &ScanFields<W, B, 2>, clock: usize) {
        let here = self.found.front().is_some_and(|due| due.clock == clock);
        assert_eq!(b.found_valid.val(), here, "clock {clock}");
        let Some(Due { what: body, .. }) = self.found.pop_front_if(|_| here) else { return };
        let found = b.found.val();
        let kinds = body.kinds.iter().rev().fold(0, |kinds, kind| kinds << 4 | u64::from(kind.code()));
        let odd = body.kinds.contains(&Kind::OddNumber);
        let wanted = [
            kinds,
            body.values[0].into(),
            body.values[3].into(),
            body.values[4].into(),
            body.name_escape.into(),
            body.value_escape.into(),
            odd.into(),
        ];
        let shown = fields::FOUND.map(|(_, at, width)| part(&found, at, width));
        assert_eq!(shown, wanted, "clock {clock}, body {}", String::from_utf8_lossy(&body.read));
        self.count(&body, odd);
    }

    /// Everything has occurred.
    pub(crate) fn assert_enough(&self) {
        let s = &self.seen;
        let rare = [s.texts, s.numbers, s.name_escapes, s.value_escapes, s.odd_numbers, s.others];
        assert!(s.bodies > 300 && s.loads > 0 && rare.iter().all(|&n| n > 3), "{s:?}");
    }

    fn count(&mut self, body: &Body, odd: bool) {
        let seen = &mut self.seen;
        seen.bodies += 1;
        seen.texts += u64::from(body.closed && !body.text.is_empty());
        seen.numbers += u64::from(body.values.iter().any(|value| *value > 9));
        seen.name_escapes += u64::from(body.name_escape);
        seen.value_escapes += u64::from(body.value_escape);
        seen.odd_numbers += u64::from(odd);
        seen.others += u64::from(body.kinds.contains(&Kind::Other));
    }
}
