//! Why a reply ended.

/// The stop reason of Messages for the finish reason of a chat.
///
/// `called`: the reply calls a tool, which some engines end with `stop`. `stopped`: a stop sequence is known to have
/// ended it.
pub fn stop_reason(finish_reason: &str, called: bool, stopped: bool) -> &'static str {
    match finish_reason {
        "length" => "max_tokens",
        "content_filter" => "refusal",
        "tool_calls" | "function_call" => "tool_use",
        _ if stopped => "stop_sequence",
        _ if called => "tool_use",
        _ => "end_turn",
    }
}

/// The finish reason of a chat for the stop reason of Messages.
pub fn finish_reason(stop_reason: &str) -> &'static str {
    match stop_reason {
        "max_tokens" | "model_context_window_exceeded" => "length",
        "tool_use" => "tool_calls",
        "refusal" => "content_filter",
        _ => "stop",
    }
}
