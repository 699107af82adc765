//! How long an admitted request runs in a replay.

/// `first_token + output_token * min(max_tokens, output_tokens_max)`, rounded up to whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// From the admission to the first output token, us.
    pub first_token_us: u64,
    /// Each output token, us.
    pub output_token_us: u64,
    /// Output tokens after which an answer ends by itself.
    pub output_tokens_max: u32,
}

impl Default for Service {
    /// 200 ms to the first token, 20 ms a token, answers of up to 256 tokens.
    fn default() -> Self {
        Service { first_token_us: 200_000, output_token_us: 20_000, output_tokens_max: 256 }
    }
}

impl Service {
    /// Run time of a request that declares `max_tokens`, ms.
    pub fn duration_ms(&self, max_tokens: u32) -> u64 {
        let tokens = u64::from(max_tokens.min(self.output_tokens_max));
        self.output_token_us.saturating_mul(tokens).saturating_add(self.first_token_us).div_ceil(1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_time_is_cut_at_the_longest_answer_and_rounded_up() {
        let service = Service { first_token_us: 500, output_token_us: 250, output_tokens_max: 10 };
        assert_eq!(service.duration_ms(0), 1);
        assert_eq!(service.duration_ms(2), 1);
        assert_eq!(service.duration_ms(3), 2);
        assert_eq!(service.duration_ms(u32::MAX), 3);
        let endless = Service { output_token_us: u64::MAX, output_tokens_max: u32::MAX, ..service };
        assert!(endless.duration_ms(u32::MAX) > 0);
    }
}
