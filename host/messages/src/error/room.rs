//! Engines that have no room for a reply blame the prompt, or leave it open what is too much. Their numbers say it.
use super::ApiError;

/// What stands before the size of the context: vLLM, SGLang.
const CONTEXT: [&str; 2] = ["maximum context length is ", "maximum context length of "];
/// What stands behind the size of the prompt: vLLM of several versions, SGLang.
const INPUT: [&str; 3] = [" input tokens", " in the messages", " tokens from the input messages"];
/// What stands behind what was asked for.
const OUTPUT: [&str; 3] = [" output tokens", " in the completion", " tokens for the completion"];
/// What stands before it in newer versions of vLLM.
const TOO_LARGE: &str = "is too large: ";

fn after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

fn before(text: &str, words: &str) -> Option<u64> {
    let (head, _) = text.split_once(words)?;
    head[head.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |end| end + 1)..].parse().ok()
}

/// Is a complaint about a reply that does not fit behind its prompt? Then with both numbers and what to do about it. A prompt
/// that does not fit by itself is not meant: there the engine's words say what is wrong.
pub(super) fn no_room(text: &str) -> Option<ApiError> {
    let context = CONTEXT.iter().find_map(|words| after(text, words))?;
    let input = INPUT.iter().find_map(|words| before(text, words))?;
    let output = OUTPUT.iter().find_map(|words| before(text, words)).or_else(|| after(text, TOO_LARGE))?;
    let too_much = input.saturating_add(output) > context;
    (too_much && input < context).then(|| ApiError::no_room(input, output, context))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wholly_understood_is_said_anew() {
        let said = "This model's maximum context length is 100 tokens. However, you requested 130 tokens (50 in the messages, 80 in \
                    the completion).";
        assert_eq!(no_room(said), Some(ApiError::no_room(50, 80, 100)));
        for (from, to) in [
            ("maximum context", "context"),
            ("50 in the messages", "many in the messages"),
            ("80 in the completion", "99999999999999999999999 in the completion"),
            ("80 in", "40 in"),
            ("50 in", "100 in"),
            ("length is 100", "length is é100"),
        ] {
            assert_eq!(no_room(&said.replace(from, to)), None, "{from}");
        }
        assert_eq!(no_room(""), None);
    }
}
