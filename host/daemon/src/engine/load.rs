//! What an engine says of its own load, on the page that it has for it.
use crate::clock::now_ms;
use crate::log;
use crate::metrics::Count;
use bytes::Bytes;
use serde_json::Value;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Times in a row without an answer after which what was told last counts no more.
const MISSED_MAX: u32 = 3;
/// An engine that has neither page is left alone for so many turns.
const NO_PAGE_TURNS: u32 = 60;
/// Ranks of a parallel engine tell the same; the first one counts.
const RANKS: [&str; 2] = ["tp_rank=\"", "pp_rank=\""];

/// Figures of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Requests that it works on.
    pub running: u64,
    /// Requests that wait in it.
    pub waiting: u64,
    /// Share of its KV cache in use, percent; of several parts the fullest.
    pub kv_percent: Option<u8>,
    /// Prompt tokens of a request, on average since it started.
    pub prompt_tokens: Option<u64>,
}

/// The names that one kind of engine has for them.
struct Names {
    running: &'static str,
    waiting: &'static str,
    /// A share, 0 to 1; the name of older versions behind it.
    kv: [&'static str; 2],
    /// Prompt tokens and requests since it started.
    prompts: Option<(&'static str, &'static str)>,
}

const ENGINES: [Names; 3] = [
    Names {
        running: "vllm:num_requests_running",
        waiting: "vllm:num_requests_waiting",
        kv: ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"],
        prompts: Some(("vllm:request_prompt_tokens_sum", "vllm:request_prompt_tokens_count")),
    },
    Names {
        running: "sglang:num_running_reqs",
        waiting: "sglang:num_queue_reqs",
        kv: ["sglang:token_usage", "sglang:token_usage"],
        prompts: Some(("sglang:prompt_tokens_total", "sglang:num_requests_total")),
    },
    Names {
        running: "llamacpp:requests_processing",
        waiting: "llamacpp:requests_deferred",
        kv: ["llamacpp:kv_cache_usage_ratio", "llamacpp:kv_cache_usage_ratio"],
        prompts: None,
    },
];

/// Where figures stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// `/metrics`, as Prometheus reads it: vLLM, SGLang, llama.cpp with `--metrics`.
    Metrics,
    /// `/slots` of llama.cpp.
    Slots,
}

/// What came of reading a page.
#[derive(Debug)]
pub(super) enum Read {
    /// Its text.
    Text(Bytes),
    /// The engine answers, and has no such page.
    NoPage,
    /// No answer, or none that says anything.
    Nothing,
}

/// Name, labels and value of a line; `None` of one that has no sound value.
fn sample(line: &str) -> Option<(&str, &str, f64)> {
    let (head, rest) = match line.rfind('}') {
        // a label may hold a brace, a value cannot
        Some(end) => (&line[..end], &line[end + 1..]),
        None => line.split_once(char::is_whitespace)?,
    };
    let (name, labels) = head.split_once('{').unwrap_or((head, ""));
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some((name, labels, value))
}

/// Is it told by the first of ranks that tell the same?
fn first_rank(labels: &str) -> bool {
    RANKS.iter().all(|rank| labels.split_once(rank).is_none_or(|(_, rest)| rest.starts_with("0\"")))
}

impl Load {
    /// All requests that it has.
    pub fn requests(&self) -> u64 {
        self.running.saturating_add(self.waiting)
    }

    /// Reads a page of metrics; `None` if it is of no engine that is known.
    pub fn of_metrics(text: &str) -> Option<Load> {
        let lines = || text.lines().filter(|l| !l.starts_with('#')).filter_map(sample).filter(|s| first_rank(s.1));
        let all = |name: &'static str| lines().filter(move |(n, ..)| *n == name).map(|(.., value)| value);
        let names = ENGINES.iter().find(|names| all(names.running).next().is_some())?;
        // an engine of several parts has a line for each
        let sum = |name| all(name).sum::<f64>();
        let kv = names.kv.iter().find_map(|name| all(name).reduce(f64::max));
        let prompts = names.prompts.map(|(tokens, requests)| (sum(tokens), sum(requests)));
        Some(Load {
            running: sum(names.running) as u64,
            waiting: sum(names.waiting) as u64,
            kv_percent: kv.map(|share| (share * 100.0).clamp(0.0, 100.0) as u8),
            prompt_tokens: prompts.filter(|(_, requests)| *requests >= 1.0).map(|(tokens, n)| (tokens / n) as u64),
        })
    }

    /// Reads the slots of a llama.cpp server.
    pub fn of_slots(text: &[u8]) -> Option<Load> {
        let slots: Value = serde_json::from_slice(text).ok()?;
        let busy = |slot: &Value| slot.get("is_processing").and_then(Value::as_bool);
        let busy: Vec<bool> = slots.as_array()?.iter().map(busy).collect::<Option<_>>()?;
        let running = busy.iter().filter(|b| **b).count() as u64;
        (!busy.is_empty()).then_some(Load { running, ..Load::default() })
    }
}

#[derive(Debug, Default)]
struct State {
    last: Option<(Load, u64)>,
    /// The page that has figures.
    page: Option<Page>,
    missed: u32,
    /// Turns that are left out.
    wait: u32,
}

/// What an engine has told.
#[derive(Debug, Default)]
pub struct Told {
    state: Mutex<State>,
    /// Its first figures have been taken in.
    seeded: AtomicBool,
    /// It is being asked.
    asking: AtomicBool,
    /// Times that it was asked and did not tell.
    pub failures: Count,
}

/// The turn is over, however it ends.
struct Turn<'a>(&'a AtomicBool);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

impl Told {
    /// What it told last; `None` if it never has, or has not answered for a while.
    pub fn known(&self) -> Option<Load> {
        self.with(|s| s.last.map(|(load, _)| load))
    }

    /// How old that is, ms.
    pub fn age_ms(&self) -> Option<u64> {
        self.with(|s| s.last.map(|(_, at_ms)| now_ms().saturating_sub(at_ms)))
    }

    /// True once: for the first figures of an engine.
    pub fn first(&self) -> bool {
        !self.seeded.swap(true, Relaxed)
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One turn: asks for the page that has figures, or looks which one does. True if the scheduler is to hear of it.
    pub(super) async fn read<F: Future<Output = Read>>(&self, engine: &str, ask: impl Fn(Page) -> F) -> bool {
        if self.asking.swap(true, Relaxed) {
            return false;
        }
        let _turn = Turn(&self.asking);
        let page = self.with(|s| {
            let wait = s.wait;
            s.wait = wait.saturating_sub(1);
            (wait == 0).then_some(s.page)
        });
        let Some(page) = page else {
            return false;
        };
        let pages: &[Page] = match page {
            Some(Page::Metrics) => &[Page::Metrics],
            Some(Page::Slots) => &[Page::Slots],
            None => &[Page::Metrics, Page::Slots],
        };
        let mut answers = false;
        for page in pages {
            let read = ask(*page).await;
            answers |= !matches!(read, Read::Nothing);
            let Read::Text(text) = read else { continue };
            let load = match page {
                Page::Metrics => Load::of_metrics(&String::from_utf8_lossy(&text)),
                Page::Slots => Load::of_slots(&text),
            };
            if let Some(load) = load {
                self.take(engine, *page, load);
                return true;
            }
        }
        self.miss(engine, answers)
    }

    fn take(&self, engine: &str, page: Page, load: Load) {
        let first = self.with(|s| {
            let first = s.last.is_none();
            *s = State { last: Some((load, now_ms())), page: Some(page), missed: 0, wait: 0 };
            first
        });
        if first {
            let (running, waiting) = (load.running.to_string(), load.waiting.to_string());
            log::event("info", "load_known", &[("engine", engine), ("running", &running), ("waiting", &waiting)]);
        }
    }

    /// It has told nothing; true if that matters.
    fn miss(&self, engine: &str, answers: bool) -> bool {
        self.failures.add(1);
        let (known, lost) = self.with(|s| {
            s.missed = s.missed.saturating_add(1);
            let known = s.last.is_some();
            if s.missed >= MISSED_MAX {
                (s.last, s.page) = (None, None);
            }
            if answers && s.last.is_none() {
                s.wait = NO_PAGE_TURNS;
            }
            (known, known && s.last.is_none())
        });
        if lost {
            log::event("warn", "load_unknown", &[("engine", engine)]);
        }
        // what was seeded fades, turn by turn
        known || self.seeded.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! fixture {
        ($name:literal) => {
            include_str!(concat!("../../tests/fixtures/load/", $name))
        };
    }

    #[test]
    fn pages_of_each_engine_say_what_they_say() {
        let load = |running, waiting, kv_percent, prompt_tokens| Load { running, waiting, kv_percent, prompt_tokens };
        for (page, expected) in [
            (fixture!("vllm.txt"), load(8, 2, Some(99), Some(800))),
            (fixture!("vllm-old.txt"), load(1, 0, Some(42), None)),
            (fixture!("sglang.txt"), load(162, 2_826, Some(28), Some(2_032))),
            (fixture!("llamacpp.txt"), load(3, 1, Some(7), None)),
        ] {
            assert_eq!(Load::of_metrics(page), Some(expected), "{page}");
        }
        assert_eq!(Load::of_slots(fixture!("llamacpp-slots.json").as_bytes()), Some(load(2, 0, None, None)));
    }

    #[test]
    fn what_is_no_figure_counts_for_nothing() {
        for page in
            ["", "no page", "a{b 1", "# vllm:num_requests_running 5", "vllm:num_requests_running NaN", "\u{1}{} 1"]
        {
            assert_eq!(Load::of_metrics(page), None, "{page}");
        }
        let running = "vllm:num_requests_running 5\n";
        for (more, percent) in [("-0.5", None), ("1e400", None), ("7", Some(100)), ("0.999", Some(99))] {
            let page = format!("{running}vllm:kv_cache_usage_perc {more}\nvllm:num_requests_waiting x\n");
            let load = Load::of_metrics(&page).unwrap_or_default();
            assert_eq!((load.running, load.waiting, load.kv_percent), (5, 0, percent), "{page}");
        }
        let absurd = Load::of_metrics("vllm:num_requests_running 1e300\nvllm:num_requests_waiting 1e300\n");
        assert_eq!(absurd.map(|load| load.requests()), Some(u64::MAX));
        for slots in ["[]", "{}", "[1]", "[{\"is_processing\": 1}]", "[{\"id\": 0}]", "<html>"] {
            assert_eq!(Load::of_slots(slots.as_bytes()), None, "{slots}");
        }
    }

    /// An engine of these pages; what is asked for is kept.
    async fn turns(told: &Told, count: usize, answer: impl Fn(Page) -> Read) -> Vec<Page> {
        let asked = Mutex::new(Vec::new());
        for _ in 0..count {
            let ask = |page| {
                asked.lock().unwrap_or_else(PoisonError::into_inner).push(page);
                std::future::ready(answer(page))
            };
            told.read("e", ask).await;
        }
        asked.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    #[tokio::test]
    async fn the_page_that_has_figures_is_found_and_kept() {
        let slots = |page| match page {
            Page::Metrics => Read::NoPage,
            Page::Slots => Read::Text(Bytes::from_static(fixture!("llamacpp-slots.json").as_bytes())),
        };
        let told = Told::default();
        assert_eq!(turns(&told, 3, slots).await, [Page::Metrics, Page::Slots, Page::Slots, Page::Slots]);
        assert_eq!(told.known().map(|l| l.running), Some(2));
        // three without an answer, and nothing is known any more
        assert_eq!(turns(&told, 2, |_| Read::Nothing).await.len(), 2);
        assert!(told.known().is_some());
        turns(&told, 1, |_| Read::Nothing).await;
        assert!(told.known().is_none() && told.age_ms().is_none() && told.failures.get() == 3);
        // and it is looked for anew
        assert_eq!(turns(&told, 1, slots).await, [Page::Metrics, Page::Slots]);
        assert!(told.known().is_some());
    }

    #[tokio::test]
    async fn an_engine_without_figures_is_mostly_left_alone() {
        let told = Told::default();
        let asked = turns(&told, 200, |_| Read::NoPage).await;
        assert_eq!(asked.len(), 2 * 200_usize.div_ceil(NO_PAGE_TURNS as usize + 1));
        // one that does not answer is asked each time: it may come
        assert_eq!(turns(&Told::default(), 9, |_| Read::Nothing).await.len(), 18);
    }
}
