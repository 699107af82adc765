//! What time brings: ticks and visits, binds of whoever waits, and what breakers and probes say of engines.
use super::scheduler::{Node, Scheduler};
use crate::clock::now_ms;
use forebay_spec::burst::{Input, NodeChange};
use std::time::{Duration, Instant};

/// While somebody is held, or an engine that is gone has something to be taken back, time passes by the millisecond.
const BUSY_TICK: Duration = Duration::from_millis(1);
/// While prompts are worked off: events that are so late cost nothing.
const PROMPT_TICK: Duration = Duration::from_millis(10);
/// Else: promises fade.
const IDLE_TICK: Duration = Duration::from_millis(256);

impl Scheduler {
    /// When something is to be done next, if nothing comes.
    pub(super) fn next_tick(&self) -> Instant {
        let prompts = || (0..self.nodes.len()).any(|n| self.pair.twin().node(n).debt > 0);
        let wait = match self.pair.twin().held() > 0 || self.pair.twin().gone().is_some() {
            true => BUSY_TICK,
            false if prompts() => PROMPT_TICK,
            false => IDLE_TICK,
        };
        self.ticked + wait
    }

    /// Lets the scheduler know what time has passed.
    pub(super) fn pass_time(&mut self) {
        let mut elapsed_ms = self.ticked.elapsed().as_millis() as u64;
        self.ticked += Duration::from_millis(elapsed_ms);
        while elapsed_ms > 0 {
            let step = elapsed_ms.min(u64::from(u16::MAX));
            self.advance(step as u16);
            elapsed_ms -= step;
        }
    }

    pub(super) fn advance(&mut self, elapsed_ms: u16) {
        self.timer.start(elapsed_ms);
        while let Some(input) = self.timer.next(self.pair.twin()) {
            if let Input::Tick { elapsed_ms } = input {
                self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
            }
            self.event(input);
        }
    }

    /// Whoever waits gets what has come free.
    pub(super) fn bind(&mut self) {
        while let Some(pool) = self.pair.twin().bind_due(self.last_bind) {
            self.last_bind = pool;
            self.event(Input::Bind { pool });
        }
    }

    /// Tells of engines what has changed.
    pub(super) fn look(&mut self) {
        for n in 0..self.nodes.len() {
            let (engine, told) = (&self.fleet.engines[n], self.nodes[n]);
            let up = told.shunned == 0 && engine.breaker.is_alive(now_ms());
            let gone = !up && engine.is_gone();
            let change = match (told.up, up) {
                (false, true) => NodeChange::Up,
                (true, false) if !gone => NodeChange::Drain,
                (_, false) if gone && !told.gone => NodeChange::Gone,
                _ => continue,
            };
            self.nodes[n] = Node { up, gone, ..told };
            self.event(Input::Node { node: n as u8, change });
            if change == NodeChange::Up {
                self.tell_kv(n);
            }
        }
    }
}
