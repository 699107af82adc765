//! The grammar of a chat or completions stream.
mod choice;

use super::{Seen, Sink, Usage};
use crate::{
    error::{in_stream, ApiError, ErrorKind},
    json::{object, Cast, Doc, Kind, Object, Value},
};
use choice::{Choice, Piece, NAMELESS};

/// What a guard has to know, and puts into the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatOptions {
    /// Completions: the text stands in the choice itself.
    pub completions: bool,
    /// Id of each chunk.
    pub id: String,
    /// The model as the client called it; empty leaves the engine's name.
    pub model: String,
    /// When the reply was made, in seconds since 1970, where the engine does not say.
    pub created_s: u64,
    /// The stream ends with a chunk that has the usage, and no choices.
    pub include_usage: bool,
    /// Input tokens, for an engine that does not say.
    pub input_tokens: Option<u64>,
    /// Replies that were asked for; choices beyond are left out. 0 counts as 1.
    pub choices: u32,
    /// Stop sequences that the engine may let through.
    pub stop: Vec<String>,
    /// Each delta of the engine repeats the text so far.
    pub cumulative: bool,
}

/// Holds a chat or completions stream to its grammar: chunks with one id and one model; for each choice the role once,
/// then deltas, then one finish reason and nothing behind it; ids and names of tool calls once, their indexes counted
/// from 0; the usage in a chunk of its own at the end if it is wanted; `[DONE]` once. A stream that is cut off ends
/// with an error and without `[DONE]`.
#[derive(Clone, Debug)]
pub struct ChatGuard {
    options: ChatOptions,
    seen: Seen,
    choices: Vec<Choice>,
    model: String,
    created_s: u64,
    fingerprint: Option<String>,
    /// The engine's last usage object.
    usage: Option<String>,
    /// Deltas that began with the whole text so far, and deltas that did not.
    repeats: (u32, u32),
    /// The last chunk, if it said a text and nothing else, as it came and as it was handed on.
    plain: Cast,
    /// The choice whose text that was.
    speaker: usize,
}

impl ChatGuard {
    /// A guard at the start of a stream.
    pub fn new(options: ChatOptions) -> Self {
        let (model, created_s) = (options.model.clone(), options.created_s);
        let usage = Usage { input_tokens: options.input_tokens, ..Usage::default() };
        ChatGuard {
            options,
            seen: Seen { usage, ..Seen::default() },
            choices: Vec::new(),
            model,
            created_s,
            fingerprint: None,
            usage: None,
            repeats: (0, 0),
            plain: Cast::default(),
            speaker: 0,
        }
    }

    /// What has come so far.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Does every delta so far, at least 4 of them, begin with the whole text before it? Then the engine should be set
    /// as [`ChatOptions::cumulative`].
    pub fn looks_cumulative(&self) -> bool {
        self.repeats.0 >= 4 && self.repeats.1 == 0
    }

    /// Ends the stream with an error, which [`Seen::error`] holds; the caller writes it.
    pub fn fail(&mut self, error: ApiError) {
        if !self.seen.ended {
            self.seen.ended = true;
            self.seen.error = Some(error);
        }
    }

    fn broken(&mut self, what: &str) {
        self.fail(ApiError::new(ErrorKind::BadGateway, format!("the engine's stream is broken: {what}")));
    }

    /// Takes the data of one event.
    pub fn event(&mut self, data: &str, sink: &mut dyn Sink) {
        if self.seen.ended {
            return;
        }
        if !Choice::has_compared(self.repeats) {
            if let (Some(text), Some(choice)) = (self.plain.text(data), self.choices.get_mut(self.speaker)) {
                choice.compare(&text, &mut self.repeats);
            }
        }
        if let Some(chunk) = self.plain.written(data) {
            self.seen.token();
            return sink.event("", chunk);
        }
        self.plain.forget();
        if data.trim() == "[DONE]" {
            return self.done(sink);
        }
        let Ok(doc) = Doc::of(data) else { return self.broken("a chunk is no JSON") };
        let root = doc.root();
        if root.some("error").is_some() || root.get("object").is_some_and(|object| object.is("error")) {
            return self.fail(in_stream(data));
        }
        if root.kind() != Kind::Object {
            return self.broken("a chunk is no object");
        }
        self.head(root);
        let choices = root.get("choices");
        let alone = root.some("usage").is_none() && choices.into_iter().flat_map(Value::items).count() == 1;
        for (at, choice) in choices.into_iter().flat_map(Value::items).enumerate() {
            let index = choice.get("index").and_then(Value::unsigned).unwrap_or(at as u64);
            self.choice(index, choice, alone, sink);
            if self.seen.ended {
                return;
            }
        }
        let stopped = !self.choices.is_empty() && self.choices.iter().all(Choice::was_cut);
        if stopped && self.choices.len() >= self.options.choices as usize {
            self.done(sink);
        }
    }

    /// What a chunk says besides its choices.
    fn head(&mut self, root: Value<'_, '_>) {
        if self.model.is_empty() {
            self.model = root.text_of("model").unwrap_or_default().into_owned();
        }
        if let Some(created) = root.get("created").and_then(Value::unsigned).filter(|_| self.created_s == 0) {
            self.created_s = created;
        }
        if let Some(print) = root.some("system_fingerprint") {
            self.fingerprint = Some(print.raw().to_owned());
        }
        if let Some(usage) = root.some("usage") {
            // an engine may write what is no count at all: then ours goes out
            let is_count = |name| usage.get(name).and_then(Value::unsigned).is_some();
            let counts = ["prompt_tokens", "completion_tokens"].into_iter().all(is_count);
            self.usage = counts.then(|| usage.raw().to_owned());
            self.seen.usage.update(&Usage::of_chat(usage));
        }
    }

    /// Takes what a chunk says about a choice, alone or not.
    fn choice(&mut self, index: u64, value: Value<'_, '_>, alone: bool, sink: &mut dyn Sink) {
        if index >= u64::from(self.options.choices.max(1)) {
            self.seen.repairs += 1;
            return;
        }
        while self.choices.len() as u64 <= index {
            self.choices.push(Choice::new(&self.options.stop));
        }
        let Some(choice) = self.choices.get_mut(index as usize) else { return };
        let piece = match choice.take(value, &self.options, &mut self.repeats) {
            Ok(piece) => piece,
            Err(what) => return self.broken(what),
        };
        if piece.token {
            self.seen.token();
        }
        self.seen.repairs += piece.repairs;
        if let Some(reason) = choice.finish().filter(|_| index == 0) {
            self.seen.stop_reason = Some(reason.to_owned());
        }
        if piece.is_empty() {
            return;
        }
        let chunk = self.chunk(index, &piece);
        sink.event("", &chunk);
        if alone && piece.is_plain() && self.options.stop.is_empty() && !self.options.cumulative {
            let completions = self.options.completions;
            if let Some(text) = choice::content(value, completions) {
                self.speaker = index as usize;
                self.plain
                    .learn(text, &chunk, |root| choice::content(root.get("choices")?.items().next()?, completions));
            }
        }
    }

    fn write(&self, index: u64, piece: &Piece, sink: &mut dyn Sink) {
        if !piece.is_empty() {
            sink.event("", &self.chunk(index, piece));
        }
    }

    fn chunk(&self, index: u64, piece: &Piece) -> String {
        object(|chunk| {
            self.members(chunk);
            chunk.only("choices", |choice| piece.write(choice, index, self.options.completions));
            if self.options.include_usage {
                chunk.raw("usage", "null");
            }
        })
    }

    /// What all chunks of a stream have.
    fn members(&self, chunk: &mut Object<'_>) {
        let object = if self.options.completions { "text_completion" } else { "chat.completion.chunk" };
        chunk.string("id", &self.options.id).string("object", object).number("created", self.created_s);
        chunk.string("model", &self.model);
        if let Some(print) = &self.fingerprint {
            chunk.raw("system_fingerprint", print);
        }
    }

    /// The end as it should be: what is missing is added.
    fn done(&mut self, sink: &mut dyn Sink) {
        if self.choices.is_empty() {
            return self.broken("it ended without a choice");
        }
        if !self.choices.iter().all(Choice::is_whole) {
            return self.broken(NAMELESS);
        }
        for index in 0..self.choices.len() {
            let Some(choice) = self.choices.get_mut(index) else { continue };
            let Some(piece) = choice.end() else { continue };
            self.seen.repairs += 1;
            if let Some(reason) = choice.finish().filter(|_| index == 0) {
                self.seen.stop_reason = Some(reason.to_owned());
            }
            self.write(index as u64, &piece, sink);
        }
        if self.options.include_usage {
            let own =
                Usage { output_tokens: self.seen.usage.output_tokens.or(Some(self.seen.deltas)), ..self.seen.usage };
            let chunk = object(|chunk| {
                self.members(chunk);
                chunk.raw("choices", "[]");
                match &self.usage {
                    Some(usage) => chunk.raw("usage", usage),
                    None => chunk.object("usage", |usage| own.write_chat(usage)),
                };
            });
            sink.event("", &chunk);
        }
        sink.event("", "[DONE]");
        self.seen.ended = true;
    }

    /// The engine's stream has ended. Right, if every choice has its finish reason.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        if self.seen.ended {
        } else if self.choices.is_empty() {
            self.broken("it ended before it began");
        } else if self.choices.iter().all(|choice| choice.finish().is_some()) {
            self.seen.repairs += 1;
            self.done(sink);
        } else {
            self.broken("it ended before its finish reason");
        }
    }
}
