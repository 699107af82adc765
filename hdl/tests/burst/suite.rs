//! One stream as the block gets it, and where the block's answers first differ from the twin's.
use super::program::{Ports, Program, Ran, Shown};
use super::setup::saturating;
use super::stream::{config, Stream, Theme};
use crate::random::Rng;
use forebay_decide::burst::Config;
use forebay_hdl::burst::{INTERVAL_CLOCKS, LATENCY_CLOCKS};
use forebay_spec::burst::Sizes;

/// Mixed streams of a quick run.
pub(crate) const STREAMS: u64 = 6;
/// Events of each of them.
pub(crate) const EVENTS: usize = 20_000;
/// Streams of each theme.
pub(crate) const THEMED: u64 = 4;

/// A set-up, events before a reset and events behind it.
pub(crate) struct Case {
    pub(crate) stream: Stream,
    sizes: Sizes,
    words: Vec<(u16, u32)>,
    before: Vec<(u32, Ports)>,
    events: Vec<(u32, Ports)>,
}

impl Case {
    /// The same seed gives the same case. One of three is strict; every other one uses all pools, and draws
    /// every register.
    pub(crate) fn new(sizes: Sizes, seed: u64, events: usize) -> Self {
        let mut rng = Rng::new(1_000 + seed);
        let config = config(sizes, seed % 3 == 2, seed % 2 == 1, &mut rng);
        let streams = [3_000, 2_000].map(|from| Stream::new(config.clone(), Rng::new(from + seed)));
        Self::of(config, streams, events, rng)
    }

    /// The cases of all themes, each with its number.
    pub(crate) fn themed(sizes: Sizes) -> impl Iterator<Item = Self> {
        (0..THEMED).flat_map(|seed| Theme::ALL.map(|theme| (theme, seed))).map(move |(theme, seed)| {
            let seed = 10 * seed + theme as u64;
            let mut rng = Rng::new(5_000 + seed);
            let config = theme.config(sizes, seed % 3 == 2, &mut rng);
            let streams = [7_000, 6_000].map(|from| Stream::of(config.clone(), theme, Rng::new(from + seed)));
            Self::of(config, streams, theme.events(), rng)
        })
    }

    /// Nobody gets a node, and all are promised their work, until no promise can grow.
    pub(crate) fn saturated(sizes: Sizes) -> Self {
        let mut rng = Rng::new(9_000);
        let config = saturating(sizes, &mut rng);
        let [before, mut stream] = [9_001, 9_002].map(|seed| Stream::new(config.clone(), Rng::new(seed)));
        stream.saturate();
        let events = stream.log.len();
        Self::of(config, [before, stream], events, rng)
    }

    /// A tenth of the events come before the reset, of a stream of their own.
    fn of(config: Config, [mut before, mut stream]: [Stream; 2], events: usize, mut rng: Rng) -> Self {
        let sizes = config.sizes;
        let words = shuffled(config.words(), &mut rng);
        before.run(events / 10);
        stream.run(events);
        let mut ports = |stream: &Stream| -> Vec<_> {
            stream.log.iter().map(|(event, ..)| (pause(&mut rng), Ports::of(event))).collect()
        };
        let (before, events) = (ports(&before), ports(&stream));
        Case { stream, sizes, words, before, events }
    }

    /// What a program does of a case; number 0 for one that is no netlist of mutants.
    pub(crate) fn run(&self, program: &Program, mutant: usize) -> std::io::Result<Ran> {
        program.run(mutant, &self.words, &self.before, &self.events)
    }

    /// The first thing that is not as the twin has it, or not in the clocks that the block's page states: verdicts with
    /// their numbers, the pools whose bind is due after each event, the counts, the clocks.
    pub(crate) fn differs(&self, ran: &Ran) -> Option<String> {
        self.verdicts(ran).or_else(|| self.binds(ran)).or_else(|| self.counts(ran)).or_else(|| self.clocks(ran))
    }

    fn verdicts(&self, ran: &Ran) -> Option<String> {
        let mut shown = ran.shown.iter();
        for (number, (event, verdicts, _)) in self.stream.log.iter().enumerate() {
            for (second, verdict) in verdicts.iter().enumerate() {
                let due = Shown::of(verdict, second == 1);
                match shown.next() {
                    Some(shown) if *shown == due => {}
                    other => return Some(format!("event {number}: verdict {other:?}, not {due:?}; {event:?}")),
                }
            }
        }
        shown.next().map(|more| format!("event {}: one verdict too many, {more:?}", more.seq))
    }

    fn binds(&self, ran: &Ran) -> Option<String> {
        let log = self.stream.log.iter().zip(&ran.binds_due).enumerate();
        let mut other = log.filter(|(_, ((.., due), shown))| due != *shown);
        other.next().map(|(n, ((event, _, due), shown))| format!("event {n}: binds due {shown}, not {due}; {event:?}"))
    }

    fn counts(&self, ran: &Ran) -> Option<String> {
        let counters = self.stream.counters();
        let due = (counters.stale_release, counters.stale_node);
        let shown = (u64::from(ran.stale_releases), u64::from(ran.stale_nodes));
        (due != shown).then(|| format!("stale releases and nodes {shown:?}, not {due:?}"))
    }

    fn clocks(&self, ran: &Ran) -> Option<String> {
        let clears = 2 * self.sizes.tickets as u32;
        let second = [LATENCY_CLOCKS + 1; 2];
        let right = ran.latency == [LATENCY_CLOCKS; 2]
            && ran.interval == [INTERVAL_CLOCKS; 2]
            && (clears..clears + 2 * INTERVAL_CLOCKS).contains(&ran.opens)
            && (self.stream.seen.evicted == 0 || ran.second_latency == second);
        let Ran { latency, second_latency, interval, opens, .. } = ran;
        (!right)
            .then(|| format!("clocks: latency {latency:?}, {second_latency:?}; interval {interval:?}; opens {opens}"))
    }
}

fn pause(rng: &mut Rng) -> u32 {
    if rng.one_in(8) {
        rng.below(20) as u32
    } else {
        0
    }
}

/// Words in any order, and among them such as are not the scheduler's: of addresses that differ from its own in a bit.
fn shuffled(mut words: Vec<(u16, u32)>, rng: &mut Rng) -> Vec<(u16, u32)> {
    let foreign: Vec<_> = (0..words.len())
        .map(|_| (words[rng.below(words.len() as u64) as usize].0 ^ 1 << (5 + rng.below(10)), rng.next() as u32))
        .filter(|(address, _)| !matches!(address & 0x7fff, 0..=0x3f | 0x700..=0x7ff | 0xc00..=0xd47 | 0xe00..=0xfff))
        .collect();
    words.extend(foreign);
    for n in (1..words.len()).rev() {
        words.swap(n, rng.below(n as u64 + 1) as usize);
    }
    words
}
