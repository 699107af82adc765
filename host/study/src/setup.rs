//! What is simulated: the fleet, what counts as good, the clients.

/// Nodes, all alike. The default is a 70-billion model in 8 bits on four H100 each.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// Nodes of each pool.
    pub nodes: usize,
    /// Requests that a node runs at the same time.
    pub slots: usize,
    /// Time of a step that does nothing, s: weights are read.
    pub step_s: f64,
    /// Tokens a second beyond that, prompt and output alike.
    pub token_rate: f64,
    /// Time of a step for each token of context that decoding requests have, s.
    pub context_s: f64,
    /// Attention of a prompt, s for each pair of tokens.
    pub attention_s: f64,
    /// Tokens of a step: prompts are taken in pieces.
    pub chunk: u32,
    /// Blocks of 512 tokens that a node's prefix cache holds.
    pub cache_blocks: usize,
    /// Slot time of an output token that the scheduler is told, ms.
    pub tau_ms: u32,
}

impl Default for Fleet {
    fn default() -> Self {
        Fleet {
            nodes: 8,
            slots: 32,
            step_s: 0.012,
            token_rate: 14_000.0,
            context_s: 1.75e-8,
            attention_s: 1.0e-9,
            chunk: 512,
            cache_blocks: 1_024,
            tau_ms: 20,
        }
    }
}

impl Fleet {
    /// Prompt tokens a second of a node that does nothing else.
    pub fn prompt_rate(&self) -> f64 {
        f64::from(self.chunk) / (self.step_s + f64::from(self.chunk) / self.token_rate)
    }

    /// Time of a prompt on a node that does nothing else, s.
    pub fn alone_s(&self, tokens: f64) -> f64 {
        let steps = (tokens / f64::from(self.chunk)).ceil();
        steps * self.step_s + tokens / self.token_rate + tokens * tokens / 2.0 * self.attention_s
    }
}

/// When a request has been served well.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Time to the first token from the client's first attempt on, s.
    pub first_s: f64,
    /// More for each prompt token, s.
    pub first_token_s: f64,
    /// Mean time of an output token, s.
    pub output_s: f64,
}

impl Default for Goal {
    fn default() -> Self {
        Goal { first_s: 2.0, first_token_s: 0.0002, output_s: 0.075 }
    }
}

impl Goal {
    /// Time to first token that a prompt may take, s.
    pub fn first(&self, tokens: u32) -> f64 {
        self.first_s + self.first_token_s * f64::from(tokens)
    }
}

/// What a client says of its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// The truth, and it waits as told.
    Honest,
    /// Never that it is one.
    Omits,
    /// Always that it is one.
    Claims,
    /// The truth, but it comes back after 20 ms whatever it was told.
    Hurries,
}

/// The clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Clients {
    /// How many; their shares follow Zipf's law.
    pub tenants: usize,
    /// A client gives up this long after its first attempt, s.
    pub patience_s: f64,
    /// Relative error of bytes to tokens, one standard deviation.
    pub bytes_error: f64,
    /// Seed of whatever the trace does not say.
    pub seed: u64,
    /// Tenants of which every fourth has this habit.
    pub habit: Habit,
    /// Refused ones come back; else a refusal is the end.
    pub come_back: bool,
}

impl Default for Clients {
    fn default() -> Self {
        Clients { tenants: 32, patience_s: 30.0, bytes_error: 0.15, seed: 1, habit: Habit::Honest, come_back: true }
    }
}

impl Clients {
    /// Is it one of those whose habit is in question? Every fourth, none of them the largest.
    pub fn marked(tenant: u16) -> bool {
        tenant % 4 == 1
    }

    /// What this tenant does.
    pub fn habit_of(&self, tenant: u16) -> Habit {
        if Self::marked(tenant) {
            self.habit
        } else {
            Habit::Honest
        }
    }
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The fleet.
    pub fleet: Fleet,
    /// When a request has been served well.
    pub goal: Goal,
    /// The clients.
    pub clients: Clients,
}
