//! Tokens as engines tell them.
use crate::json::{Object, Value};

/// Tokens of a reply; `None` where the engine did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens that were computed: without those read from or written to a cache, as Messages counts.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Input tokens read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to a cache.
    pub cache_write_tokens: Option<u64>,
}

impl Usage {
    /// All input tokens, cached or not.
    pub fn prompt_tokens(&self) -> Option<u64> {
        let cached = self.cache_read_tokens.unwrap_or(0).saturating_add(self.cache_write_tokens.unwrap_or(0));
        self.input_tokens.map(|input| input.saturating_add(cached))
    }

    /// Takes over what a later report says; figures are totals, so that the last one counts.
    pub fn update(&mut self, later: &Usage) {
        // 0 is what engines say that do not know, unless all of the prompt came from a cache
        let cached = later.cache_read_tokens.unwrap_or(0).saturating_add(later.cache_write_tokens.unwrap_or(0)) > 0;
        let known = later.input_tokens.filter(|&tokens| tokens > 0 || cached);
        self.input_tokens = known.or(self.input_tokens).or(later.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_read_tokens = later.cache_read_tokens.or(self.cache_read_tokens);
        self.cache_write_tokens = later.cache_write_tokens.or(self.cache_write_tokens);
    }

    /// The `usage` object of Messages.
    pub(crate) fn of_messages(value: Value<'_, '_>) -> Self {
        let number = |name| value.get(name).and_then(Value::unsigned);
        Usage {
            input_tokens: number("input_tokens"),
            output_tokens: number("output_tokens"),
            cache_read_tokens: number("cache_read_input_tokens"),
            cache_write_tokens: number("cache_creation_input_tokens"),
        }
    }

    /// The `usage` object of chat and completions.
    pub(crate) fn of_chat(value: Value<'_, '_>) -> Self {
        let number = |name| value.get(name).and_then(Value::unsigned);
        let cached = value.get("prompt_tokens_details").and_then(|d| d.get("cached_tokens")).and_then(Value::unsigned);
        Usage {
            input_tokens: number("prompt_tokens").map(|all| all.saturating_sub(cached.unwrap_or(0))),
            output_tokens: number("completion_tokens"),
            cache_read_tokens: cached,
            cache_write_tokens: None,
        }
    }

    /// Writes the members of a `usage` object of Messages.
    pub(crate) fn write_messages(&self, object: &mut Object<'_>) {
        object.number("input_tokens", self.input_tokens.unwrap_or(0));
        if let Some(tokens) = self.cache_write_tokens {
            object.number("cache_creation_input_tokens", tokens);
        }
        if let Some(tokens) = self.cache_read_tokens {
            object.number("cache_read_input_tokens", tokens);
        }
        object.number("output_tokens", self.output_tokens.unwrap_or(0));
    }

    /// Writes the members of a `usage` object of chat and completions.
    pub(crate) fn write_chat(&self, object: &mut Object<'_>) {
        let (prompt, output) = (self.prompt_tokens().unwrap_or(0), self.output_tokens.unwrap_or(0));
        object.number("prompt_tokens", prompt).number("completion_tokens", output);
        object.number("total_tokens", prompt.saturating_add(output));
        if let Some(tokens) = self.cache_read_tokens {
            object.object("prompt_tokens_details", |details| {
                details.number("cached_tokens", tokens);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{object, Doc};

    fn of(text: &str, read: fn(Value<'_, '_>) -> Usage) -> Usage {
        Doc::of(text).map(|doc| read(doc.root())).unwrap_or_default()
    }

    #[test]
    fn both_apis_count_the_same_tokens() {
        let own = of(
            r#"{"input_tokens":5,"cache_read_input_tokens":27,"cache_creation_input_tokens":3,"output_tokens":12}"#,
            Usage::of_messages,
        );
        assert_eq!(own.prompt_tokens(), Some(35));
        let chat = object(|out| own.write_chat(out));
        assert!(chat.starts_with(r#"{"prompt_tokens":35,"completion_tokens":12,"total_tokens":47,"#), "{chat}");
        let back = of(&chat, Usage::of_chat);
        assert_eq!((back.input_tokens, back.cache_read_tokens, back.prompt_tokens()), (Some(8), Some(27), Some(35)));
    }

    #[test]
    fn the_last_figure_counts_unless_it_says_nothing() {
        let mut usage = Usage { input_tokens: Some(19), ..Usage::default() };
        usage.update(&of(r#"{"input_tokens":0,"output_tokens":0}"#, Usage::of_messages));
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(19), Some(0)));
        usage.update(&of(r#"{"output_tokens":7}"#, Usage::of_messages));
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(19), Some(7)));
        // all of the prompt came from the cache
        let cached = r#"{"prompt_tokens":20,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":20}}"#;
        usage.update(&of(cached, Usage::of_chat));
        assert_eq!((usage.input_tokens, usage.prompt_tokens()), (Some(0), Some(20)));
        assert_eq!(of(r#"{"input_tokens":"x","output_tokens":-1}"#, Usage::of_messages), Usage::default());
    }
}
