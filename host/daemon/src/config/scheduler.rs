//! What a configuration says of the scheduler, and the pools that its engines make.
use super::check::Checker;
use super::{raw, ConfigError, EngineSettings};
use forebay_messages::Api;
use forebay_spec::burst::{HOLD_MAX, HOLD_MS_MAX, NODES_MAX, POOLS_MAX};
use std::collections::BTreeMap;

/// The name of the scheduler in software.
pub const TWIN: &str = "twin";

/// Entries of the hold buffer that a pool has at least, where there is room.
const POOL_HOLD_MIN: usize = 16;

/// What becomes of a request that no engine can take now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It waits for at most `hold_ms`.
    Hold,
    /// It is refused at once.
    Strict,
}

/// How requests are decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerSettings {
    /// Hold or strict.
    pub mode: Mode,
    /// Longest wait of a held request, ms.
    pub hold_ms: u16,
    /// Requests held at once, of all pools together.
    pub held_max: u16,
    /// Time to first token of a request without a prompt that counts as good, ms.
    pub first_token_budget_ms: u16,
    /// More for each prompt token, us.
    pub first_token_budget_us_per_token: u32,
    /// Mean time of an output token that counts as good, ms.
    pub output_token_budget_ms: u32,
    /// An engine whose KV cache is used to so many percent gets nothing.
    pub kv_full_percent: u8,
    /// What decides: [`TWIN`], or a device by its name.
    pub device: String,
}

impl Checker<'_> {
    pub(super) fn scheduler(&self, raw: &raw::Scheduler) -> Result<SchedulerSettings, ConfigError> {
        let mode = match raw.mode.as_ref().map(|m| (m, m.get_ref().as_str())) {
            None | Some((_, "hold")) => Mode::Hold,
            Some((_, "strict")) => Mode::Strict,
            Some((place, other)) => {
                return Err(self.at(place, format!("mode is {other:?}; give \"hold\" or \"strict\"")));
            }
        };
        let whole =
            |name, raw: &Option<raw::Whole>, default, min, max| self.whole(name, raw.as_ref(), default, min, max);
        let budget_us = &raw.first_token_budget_us_per_token;
        Ok(SchedulerSettings {
            mode,
            hold_ms: whole("hold_ms", &raw.hold_ms, 3_000, 1, u64::from(HOLD_MS_MAX))? as u16,
            held_max: whole("held_max", &raw.held_max, HOLD_MAX as u64, 1, HOLD_MAX as u64)? as u16,
            first_token_budget_ms: whole("first_token_budget_ms", &raw.first_token_budget_ms, 2_000, 1, 60_000)? as u16,
            first_token_budget_us_per_token: whole("first_token_budget_us_per_token", budget_us, 200, 0, 60_000)?
                as u32,
            output_token_budget_ms: whole("output_token_budget_ms", &raw.output_token_budget_ms, 75, 1, 60_000)? as u32,
            kv_full_percent: whole("kv_full_percent", &raw.kv_full_percent, 95, 1, 100)? as u8,
            device: match raw.device.as_ref() {
                Some(place) if place.get_ref() != TWIN => {
                    return Err(self.at(place, format!("device is {:?}; this build has {TWIN:?}", place.get_ref())));
                }
                _ => TWIN.to_owned(),
            },
        })
    }

    /// In strict mode long requests leave one slot of each engine free: one that has no other never gets any.
    pub(super) fn strict_has_room(&self, raw: &raw::File) -> Result<(), ConfigError> {
        let strict = raw.scheduler.mode.as_ref().is_some_and(|mode| mode.get_ref() == "strict");
        let single = raw
            .engine
            .iter()
            .find_map(|engine| engine.get_ref().requests_max.as_ref().filter(|max| strict && *max.get_ref() == 1));
        single.map_or(Ok(()), |place| {
            let what = "requests_max is 1, and mode \"strict\" keeps one place free of long requests; give 2, or mode \"hold\"";
            Err(self.at(place, what.to_owned()))
        })
    }

    /// The engines, if the scheduler has room for them and their pools.
    pub(super) fn pooled(&self, raw: &raw::File) -> Result<Vec<EngineSettings>, ConfigError> {
        let engines = self.engines(&raw.engine)?;
        if let Some(extra) = raw.engine.get(NODES_MAX) {
            let what =
                format!("{} engines, the limit is {NODES_MAX}; remove {}", engines.len(), engines.len() - NODES_MAX);
            return Err(self.at(extra, what));
        }
        let pools = Pools::of(&engines).masks.len();
        if pools > POOLS_MAX {
            return Err(self.top(format!(
                "the engines make {pools} pools (sets of engines that serve the same models), the limit is {POOLS_MAX}; \
                 give engines the same list of models, or run a daemon for each part"
            )));
        }
        let held_max = self.whole("held_max", raw.scheduler.held_max.as_ref(), HOLD_MAX as u64, 1, HOLD_MAX as u64)?;
        match &raw.scheduler.held_max {
            Some(place) if held_max < pools as u64 => {
                Err(self
                    .at(place, format!("held_max is {held_max}; give at least {pools}, one for each pool of engines")))
            }
            _ => Ok(engines),
        }
    }
}

/// Sets of engines that serve the same: the pools of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pools {
    /// Of each pool, a bit for each engine.
    pub masks: Vec<u64>,
    /// By name of a model that an engine lists.
    models: BTreeMap<String, ByApi>,
    /// For all other names.
    other: ByApi,
}

/// The pool for Messages and chat, and that for completions; `None` if no engine serves it.
type ByApi = [Option<u8>; 2];

impl Pools {
    /// The pools of these engines, of which up to 64 count.
    pub fn of(engines: &[EngineSettings]) -> Self {
        let mut pools = Pools::default();
        let names: Vec<String> = engines.iter().flat_map(|e| e.models.iter().cloned()).collect();
        for name in names {
            let both = pools.both(engines, |e| e.serves(&name));
            pools.models.insert(name, both);
        }
        pools.other = pools.both(engines, |e| e.models.is_empty());
        pools
    }

    fn both(&mut self, engines: &[EngineSettings], serves: impl Fn(&EngineSettings) -> bool) -> ByApi {
        [Api::Messages, Api::Completions].map(|api| {
            let able = engines.iter().take(NODES_MAX).enumerate().filter(|(_, e)| serves(e) && e.speaks(api).is_some());
            let mask = able.fold(0, |mask, (n, _)| mask | 1 << n);
            let found = self.masks.iter().position(|m| *m == mask);
            (mask != 0).then(|| {
                found.unwrap_or_else(|| {
                    self.masks.push(mask);
                    self.masks.len() - 1
                }) as u8
            })
        })
    }

    /// The pool that serves this model by this API. A request that names no model gets any one that has the API.
    pub fn pool(&self, api: Api, model: Option<&str>) -> Option<u8> {
        let api = usize::from(api == Api::Completions);
        match model {
            Some(model) => self.models.get(model).unwrap_or(&self.other)[api],
            None => self.other[api].or_else(|| self.models.values().find_map(|both| both[api])),
        }
    }

    /// Engines of a pool, as numbers.
    pub fn engines(&self, pool: u8) -> impl Iterator<Item = usize> {
        let mask = self.masks.get(usize::from(pool)).copied().unwrap_or(0);
        (0..NODES_MAX).filter(move |n| mask >> n & 1 == 1)
    }

    /// Parts of the hold buffer: a quarter of each pool's slots, at least 16, all of them together at most `held_max`.
    pub fn hold(&self, engines: &[EngineSettings], held_max: u16) -> Vec<u16> {
        let slots = |pool: usize| {
            self.engines(pool as u8).filter_map(|n| engines.get(n)).map(|e| e.requests_max as usize).sum::<usize>()
        };
        let wants: Vec<usize> = (0..self.masks.len()).map(|p| (slots(p) / 4).max(POOL_HOLD_MIN)).collect();
        let (sum, most) = (wants.iter().sum::<usize>(), usize::from(held_max));
        let spare = most.saturating_sub(wants.len());
        let part = |want: usize| if sum <= most { want } else { 1 + want * spare / sum };
        wants.into_iter().map(|want| part(want).min(most) as u16).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{EchoSettings, EngineKind, KeyHeader};

    fn engine(kind: EngineKind, models: &[&str], requests_max: u64) -> EngineSettings {
        EngineSettings {
            name: "e".to_owned(),
            kind,
            url: String::new(),
            ca_file: None,
            key: None,
            key_header: KeyHeader::Authorization,
            models: models.iter().map(|m| (*m).to_owned()).collect(),
            rename: BTreeMap::new(),
            extensions: true,
            requests_max,
            prefill_tokens_s: 10_000,
            prefill_tokens_s_bounds: (5_000, 20_000),
            output_token_ms: 20,
            echo: EchoSettings::default(),
        }
    }

    #[test]
    fn engines_that_serve_the_same_make_a_pool() {
        use EngineKind::{Chat, Messages};
        let engines = [engine(Chat, &["a"], 8), engine(Messages, &["a", "b"], 8), engine(Chat, &[], 8)];
        let pools = Pools::of(&engines);
        let of = |api, model| pools.pool(api, Some(model)).map(|p| pools.masks[usize::from(p)]);
        assert_eq!([of(Api::Messages, "a"), of(Api::Chat, "b"), of(Api::Chat, "x")], [Some(7), Some(6), Some(4)]);
        assert_eq!([of(Api::Completions, "a"), of(Api::Completions, "b")], [Some(5), Some(4)], "Messages has none");
        assert_eq!(pools.masks.len(), 4);
        assert_eq!(pools.pool(Api::Chat, None).map(|p| pools.engines(p).collect::<Vec<_>>()), Some(vec![2]));
        let listed = Pools::of(&engines[..2]);
        assert_eq!((listed.pool(Api::Chat, Some("x")), listed.pool(Api::Completions, Some("b"))), (None, None));
        assert!(listed.pool(Api::Chat, None).is_some());
    }

    #[test]
    fn parts_of_the_hold_buffer_never_sum_up_to_more_than_there_is() {
        let engines = [engine(EngineKind::Chat, &["a"], 256), engine(EngineKind::Chat, &["b"], 4)];
        let pools = Pools::of(&engines);
        assert_eq!(pools.hold(&engines, 1_024), [64, 16]);
        for held_max in 2..100 {
            let parts = pools.hold(&engines, held_max);
            assert!(parts.iter().sum::<u16>() <= held_max && parts.iter().all(|&p| p > 0), "{held_max}: {parts:?}");
        }
    }
}
