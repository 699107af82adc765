//! Bodies of requests: checked, summed up, and made into bodies for engines.
mod chat;
mod common;
mod completions;
mod content;
mod edit;
mod messages;
mod tools;

pub use edit::Edits;

pub(crate) use common::Path;
pub(crate) use content::IMAGES;

use crate::{
    api::Api,
    error::ApiError,
    json::{Doc, JsonError, Size, Value, DEPTH_MAX, VALUES_MAX},
};
use std::borrow::Cow;

/// What stands where a request says nothing, in thousandths: both APIs say 1.0.
pub const DEFAULT_TEMPERATURE_MILLI: u32 = 1_000;
/// The same for `top_k`: 0, which is no limit.
pub const DEFAULT_TOP_K: u32 = 0;
/// Tokens of a chat reply where the request names no limit. The API has none; a scheduler needs one.
pub const DEFAULT_CHAT_MAX_TOKENS: u32 = 4_096;
/// The same for completions, where the API says so.
pub const DEFAULT_COMPLETION_MAX_TOKENS: u32 = 16;

/// Limits of a body; at each of them the request is rejected with the name, the limit and the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the body. Over: 413. Default 16 MiB.
    pub body_bytes_max: usize,
    /// Names and values in the body, token ids among them; each costs 16 bytes while the request is looked at. Default
    /// 2,097,152.
    pub values_max: usize,
    /// Objects and arrays within each other. Default 1,024.
    pub depth_max: usize,
    /// Messages. Default 100,000, as the API has it.
    pub messages_max: usize,
    /// Content blocks of one message. Default 10,000.
    pub blocks_max: usize,
    /// Tools. Default 1,024.
    pub tools_max: usize,
    /// Stop sequences of a Messages body. Default 256.
    pub stop_sequences_max: usize,
    /// Stop sequences of a chat or completions body. Default 16; the API has 4, engines take more.
    pub stop_max: usize,
    /// Bytes of one stop sequence. Default 1,024.
    pub stop_bytes_max: usize,
    /// Bytes of the model's name. Default 256.
    pub model_bytes_max: usize,
    /// Replies to one chat or completions request, `n`. Default 16.
    pub n_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes_max: 16 << 20,
            values_max: VALUES_MAX,
            depth_max: DEPTH_MAX,
            messages_max: 100_000,
            blocks_max: 10_000,
            tools_max: 1_024,
            stop_sequences_max: 256,
            stop_max: 16,
            stop_bytes_max: 1_024,
            model_bytes_max: 256,
            n_max: 16,
        }
    }
}

/// A body that has passed every check. Texts stay where they are.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub(crate) api: Api,
    pub(crate) doc: Doc<'a>,
    /// The model that is asked for.
    pub model: Cow<'a, str>,
    /// Tokens that the reply may have, by the request or by default. 0 for `count_tokens`.
    pub max_tokens: u32,
    /// Does the limit stand in the request?
    pub max_tokens_given: bool,
    /// Is the reply to be streamed?
    pub stream: bool,
    /// Does the client of a chat or completions stream want the usage at its end (`stream_options.include_usage`)?
    pub include_usage: bool,
    /// Temperature in thousandths, by the request or by default.
    pub temperature_milli: u32,
    /// Candidates for each token, by the request or by default; 0 is no limit.
    pub top_k: u32,
    /// Replies that are asked for; 1 for Messages.
    pub n: u32,
    /// Texts that end the reply.
    pub stop: Vec<Cow<'a, str>>,
    /// Counts of what is in the request.
    pub counts: Counts,
    /// Paths of fields and kinds of blocks that this version does not know; they are accepted and handed on.
    pub unknown: Vec<String>,
}

/// What is in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages, without a system prompt that stands apart. Prompts of a completions body.
    pub messages: usize,
    /// Tools that the model may call.
    pub tools: usize,
    /// Blocks and parts that are images.
    pub images: usize,
    /// Blocks and parts that are documents, files, or sound.
    pub documents: usize,
    /// Bytes of all texts for the model, as they stand in the body: system prompt, messages, tools.
    pub text_bytes: usize,
    /// Prompt tokens that are given as ids.
    pub token_ids: usize,
}

impl<'a> Request<'a> {
    /// Checks a body. An error is what the client gets: 400 with the path of the field, or 413.
    pub fn check(api: Api, body: &'a [u8], limits: &Limits) -> Result<Self, ApiError> {
        too_large(body.len(), limits)?;
        let text = crate::json::utf8(body).map_err(broken)?;
        Self::check_text(api, text, limits)
    }

    /// The same for a body that is known to be UTF-8.
    pub fn check_text(api: Api, body: &'a str, limits: &Limits) -> Result<Self, ApiError> {
        too_large(body.len(), limits)?;
        let size = Size { values_max: limits.values_max, depth_max: limits.depth_max };
        let doc = Doc::parse(body, &size).map_err(broken)?;
        if doc.root().kind() != crate::json::Kind::Object {
            let kind = doc.root().kind().name();
            return Err(ApiError::field("", format_args!("the body is {kind}; send a JSON object")));
        }
        let mut checker = Checker { limits, counts: Counts::default(), unknown: Vec::new() };
        let facts = match api {
            Api::Messages | Api::CountTokens => messages::check(&mut checker, api, doc.root())?,
            Api::Chat => chat::check(&mut checker, doc.root())?,
            Api::Completions => completions::check(&mut checker, doc.root())?,
        };
        let Checker { counts, unknown, .. } = checker;
        Ok(Request {
            api,
            model: facts.model,
            max_tokens: facts.max_tokens.1,
            max_tokens_given: facts.max_tokens.0,
            stream: facts.stream,
            include_usage: facts.include_usage,
            temperature_milli: facts.temperature_milli,
            top_k: facts.top_k,
            n: facts.n,
            stop: facts.stop,
            counts,
            unknown,
            doc,
        })
    }

    /// The API that the body is for.
    pub fn api(&self) -> Api {
        self.api
    }

    /// The body for an engine of the same API, with these changes, in the order of the request; of top-level members with
    /// one name only the last, which is the one that was checked.
    pub fn body(&self, edits: &Edits<'_>) -> Vec<u8> {
        self.parts(edits).concat().into_bytes()
    }

    /// The same in parts, which are the body when they are put together: what stays is the client's own text and is not
    /// copied.
    pub fn parts(&self, edits: &Edits<'_>) -> Vec<Cow<'a, str>> {
        edit::parts(self, edits)
    }

    pub(crate) fn root(&self) -> Value<'_, 'a> {
        self.doc.root()
    }
}

fn too_large(bytes: usize, limits: &Limits) -> Result<(), ApiError> {
    match bytes > limits.body_bytes_max {
        true => Err(ApiError::too_large(bytes as u64, limits.body_bytes_max as u64)),
        false => Ok(()),
    }
}

fn broken(error: JsonError) -> ApiError {
    ApiError::field("", format_args!("the body cannot be read as JSON: {error}"))
}

/// What the checks gather on their way.
pub(crate) struct Checker<'l> {
    limits: &'l Limits,
    counts: Counts,
    unknown: Vec<String>,
}

/// What the top level of a body says.
pub(crate) struct Facts<'a> {
    model: Cow<'a, str>,
    /// Does it stand there, and its value.
    max_tokens: (bool, u32),
    stream: bool,
    include_usage: bool,
    temperature_milli: u32,
    top_k: u32,
    n: u32,
    stop: Vec<Cow<'a, str>>,
}
