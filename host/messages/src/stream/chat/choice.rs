//! One choice of a chat or completions stream.
use super::ChatOptions;
use crate::{
    json::{object, Object, Value},
    stream::StopFilter,
};

/// Calls of tools in one choice; more end the stream.
const TOOLS_MAX: usize = 1_024;

/// What is wrong with a call that never got a name.
pub(super) const NAMELESS: &str = "a tool is called without a name";

/// Further members of a delta that are output of the model.
const OUTPUT: &[&str] = &["refusal", "function_call", "audio"];

/// What a choice has said so far.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    role: bool,
    finish: Option<String>,
    stop: StopFilter,
    /// Texts so far, of content and of reasoning, for engines that repeat them.
    text: String,
    reasoning: String,
    tools: Vec<Tool>,
}

#[derive(Clone, Debug)]
struct Tool {
    /// The engine's index.
    index: u64,
    id: String,
    named: bool,
}

/// What one chunk adds to a choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    role: bool,
    content: Option<String>,
    /// The name of the member, and its text.
    reasoning: Option<(&'static str, String)>,
    tools: Vec<String>,
    /// Further members of the delta and of the choice, as they came.
    delta: Vec<(String, String)>,
    choice: Vec<(String, String)>,
    finish: Option<String>,
    /// The stop sequence that ended the text.
    stop: Option<String>,
    pub(super) token: bool,
    pub(super) repairs: u64,
}

impl Piece {
    /// Does it say nothing that a client could miss?
    pub(super) fn is_empty(&self) -> bool {
        let nothing = self.content.is_none() && self.reasoning.is_none() && self.tools.is_empty();
        nothing && !self.role && self.delta.is_empty() && self.choice.is_empty() && self.finish.is_none()
    }

    /// Does it say a text, and nothing else at all?
    pub(super) fn is_plain(&self) -> bool {
        let Piece { role, content, reasoning, tools, delta, choice, finish, stop, token, repairs } = self;
        let nothing = reasoning.is_none() && tools.is_empty() && delta.is_empty() && choice.is_empty();
        content.is_some() && *token && nothing && !role && finish.is_none() && stop.is_none() && *repairs == 0
    }

    pub(super) fn write(&self, out: &mut Object<'_>, index: u64, completions: bool) {
        out.number("index", index);
        if completions {
            out.string("text", self.content.as_deref().unwrap_or_default());
        } else {
            out.object("delta", |delta| self.delta(delta));
        }
        for (name, value) in &self.choice {
            out.member(name, value);
        }
        match &self.finish {
            Some(reason) => out.string("finish_reason", reason),
            None => out.raw("finish_reason", "null"),
        };
        if let Some(stop) = &self.stop {
            out.string("stop_reason", stop);
        }
    }

    fn delta(&self, out: &mut Object<'_>) {
        if self.role {
            out.string("role", "assistant");
        }
        if let Some(text) = &self.content {
            out.string("content", text);
        } else if self.role && self.tools.is_empty() && self.reasoning.is_none() {
            out.string("content", "");
        }
        if let Some((name, text)) = &self.reasoning {
            out.string(name, text);
        }
        if !self.tools.is_empty() {
            out.raw("tool_calls", &format!("[{}]", self.tools.join(",")));
        }
        for (name, value) in &self.delta {
            out.member(name, value);
        }
    }
}

/// What a chunk says of a call: each thing once.
struct Call<'c> {
    index: u64,
    first: bool,
    id: Option<&'c str>,
    name: Option<&'c str>,
    arguments: Option<&'c str>,
}

impl Call<'_> {
    fn json(&self) -> String {
        object(|out| {
            out.number("index", self.index);
            self.id.into_iter().for_each(|id| out.string("id", id).done());
            if self.first {
                out.string("type", "function");
            }
            out.object("function", |out| {
                self.name.into_iter().for_each(|name| out.string("name", name).done());
                if self.first || self.arguments.is_some() {
                    out.string("arguments", self.arguments.unwrap_or_default());
                }
            });
        })
    }
}

/// Where a choice says what it adds.
fn delta<'d, 'a>(choice: Value<'d, 'a>, completions: bool) -> Option<Value<'d, 'a>> {
    if completions {
        Some(choice)
    } else {
        choice.some("delta").or(choice.some("message"))
    }
}

/// The text that a choice adds.
pub(super) fn content<'d, 'a>(choice: Value<'d, 'a>, completions: bool) -> Option<Value<'d, 'a>> {
    delta(choice, completions)?.get(if completions { "text" } else { "content" })
}

/// What a delta adds to the text so far, where every delta repeats it.
fn beyond<'t>(so_far: &mut String, text: &'t str) -> Result<&'t str, &'static str> {
    match text.strip_prefix(so_far.as_str()) {
        Some(rest) => {
            so_far.push_str(rest);
            Ok(rest)
        }
        // an empty delta beside a tool call or a finish reason repeats nothing
        None if text.is_empty() => Ok(""),
        None => Err("a text that should begin with the text so far does not"),
    }
}

impl Choice {
    pub(super) fn new(stop: &[String]) -> Self {
        Choice {
            role: false,
            finish: None,
            stop: StopFilter::new(stop),
            text: String::new(),
            reasoning: String::new(),
            tools: Vec::new(),
        }
    }

    /// Why it has ended, if it has.
    pub(super) fn finish(&self) -> Option<&str> {
        self.finish.as_deref()
    }

    /// Has every call a name?
    pub(super) fn is_whole(&self) -> bool {
        self.tools.iter().all(|tool| tool.named)
    }

    /// Has a stop sequence ended it before the engine did?
    pub(super) fn was_cut(&self) -> bool {
        self.stop.hit().is_some()
    }

    /// Is it known whether the engine repeats itself?
    pub(super) fn has_compared(repeats: (u32, u32)) -> bool {
        repeats.1 > 0 || repeats.0 >= 8
    }

    /// Takes what a chunk says about it.
    pub(super) fn take(
        &mut self,
        value: Value<'_, '_>,
        options: &ChatOptions,
        repeats: &mut (u32, u32),
    ) -> Result<Piece, &'static str> {
        let mut piece = Piece::default();
        if self.finish.is_some() {
            piece.repairs = u64::from(!self.was_cut());
            return Ok(piece);
        }
        let delta = delta(value, options.completions);
        let content = content(value, options.completions).and_then(Value::text);
        if let Some(text) = content.filter(|text| !text.is_empty()) {
            let text = self.advance(&text, options, repeats)?;
            piece.token |= !text.is_empty();
            let text = self.stop.push(text);
            piece.content = Some(text).filter(|text| !text.is_empty());
        }
        if let Some(delta) = delta.filter(|_| !options.completions) {
            self.reasoning(delta, options, &mut piece)?;
            self.tool_calls(delta, options, &mut piece)?;
            rest(delta, &["role", "content", "reasoning_content", "reasoning", "tool_calls"], &mut piece.delta);
        }
        rest(value, &["index", "delta", "message", "text", "finish_reason", "stop_reason"], &mut piece.choice);
        piece.token |= value.get("token_ids").is_some_and(|ids| ids.items().next().is_some());
        let said = |(name, value): &(String, String)| OUTPUT.contains(&name.as_str()) && value != "\"\"";
        piece.token |= piece.delta.iter().any(said);
        if value.some("finish_reason").is_some() || self.was_cut() {
            self.end_by(value, &mut piece);
        }
        if piece.finish.is_some() && !self.is_whole() {
            return Err(NAMELESS);
        }
        if !piece.is_empty() || delta.is_some_and(|delta| delta.some("role").is_some()) {
            piece.role = !options.completions && !self.role;
            self.role = true;
        }
        Ok(piece)
    }

    /// Does its text repeat what came before? Only the first texts are looked at.
    pub(super) fn compare(&mut self, text: &str, repeats: &mut (u32, u32)) {
        if Self::has_compared(*repeats) {
            return;
        }
        if self.text.is_empty() {
        } else if text.len() > self.text.len() && text.starts_with(self.text.as_str()) {
            repeats.0 += 1;
        } else {
            repeats.1 += 1;
        }
        text.clone_into(&mut self.text);
    }

    fn advance<'t>(
        &mut self,
        text: &'t str,
        options: &ChatOptions,
        repeats: &mut (u32, u32),
    ) -> Result<&'t str, &'static str> {
        if options.cumulative {
            return beyond(&mut self.text, text);
        }
        self.compare(text, repeats);
        Ok(text)
    }

    fn reasoning(
        &mut self,
        delta: Value<'_, '_>,
        options: &ChatOptions,
        piece: &mut Piece,
    ) -> Result<(), &'static str> {
        for name in ["reasoning_content", "reasoning"] {
            let Some(text) = delta.text_of(name).filter(|text| !text.is_empty()) else { continue };
            let text =
                if options.cumulative { beyond(&mut self.reasoning, &text)?.to_owned() } else { text.into_owned() };
            if !text.is_empty() {
                piece.token = true;
                piece.reasoning = Some((name, text));
            }
            // engines that send both say the same in both
            break;
        }
        Ok(())
    }

    fn tool_calls(
        &mut self,
        delta: Value<'_, '_>,
        options: &ChatOptions,
        piece: &mut Piece,
    ) -> Result<(), &'static str> {
        for (at, call) in delta.get("tool_calls").into_iter().flat_map(Value::items).enumerate() {
            let index = call.get("index").and_then(Value::unsigned).unwrap_or(at as u64);
            let id = call.text_of("id").unwrap_or_default();
            let function = call.get("function");
            let name = function.and_then(|function| function.text_of("name")).unwrap_or_default();
            // the last one counts: some engines give every call the index 0, and an id of its own
            let known = self.tools.iter().rposition(|tool| tool.index == index);
            let known =
                known.filter(|&i| id.is_empty() || self.tools.get(i).is_some_and(|t| t.id.is_empty() || t.id == id));
            let own = known.unwrap_or(self.tools.len());
            if own >= TOOLS_MAX {
                return Err("it has more than 1024 tool calls");
            }
            let mut id = id;
            if known.is_none() {
                if id.is_empty() && name.is_empty() {
                    return Err("arguments come for a tool that has not begun");
                }
                if id.is_empty() {
                    piece.repairs += 1;
                    id = format!("call_{}_{own}", options.id).into();
                }
                self.tools.push(Tool { index, id: String::new(), named: false });
            }
            let Some(tool) = self.tools.get_mut(own) else { continue };
            let new_id = !id.is_empty() && tool.id.is_empty();
            let new_name = !name.is_empty() && !tool.named;
            if new_id {
                id.as_ref().clone_into(&mut tool.id);
            }
            tool.named |= new_name;
            let arguments = function.and_then(|function| function.some("arguments"));
            // some engines give an object where a string should stand
            let arguments = arguments.map(|value| value.text().unwrap_or(value.raw().into()));
            piece.token |= new_id || new_name || arguments.as_ref().is_some_and(|text| !text.is_empty());
            let call = Call {
                index: own as u64,
                first: known.is_none(),
                id: new_id.then_some(id.as_ref()),
                name: new_name.then_some(name.as_ref()),
                arguments: arguments.as_deref(),
            };
            piece.tools.push(call.json());
        }
        Ok(())
    }

    fn end_by(&mut self, value: Value<'_, '_>, piece: &mut Piece) {
        let reason = value.text_of("finish_reason").unwrap_or_default();
        if let Some(stop) = self.stop.hit() {
            piece.stop = Some(stop.to_owned());
            piece.finish = Some("stop".to_owned());
        } else if !reason.is_empty() {
            let held = self.stop.flush();
            if !held.is_empty() {
                piece.content.get_or_insert_default().push_str(&held);
            }
            piece.finish = Some(reason.into_owned());
            // vLLM, SGLang, llama.cpp: the sequence as a string; a number is a token that ends every reply
            let named = ["stop_reason", "matched_stop", "stopping_word"].iter().find_map(|name| value.filled(name));
            piece.stop = named.and_then(Value::text).map(|stop| stop.into_owned());
        }
        self.finish.clone_from(&piece.finish);
    }

    /// The end that the engine has not said: `None` if it has.
    pub(super) fn end(&mut self) -> Option<Piece> {
        if self.finish.is_some() {
            return None;
        }
        let held = Some(self.stop.flush()).filter(|text| !text.is_empty());
        let reason = if self.tools.is_empty() { "stop" } else { "tool_calls" };
        self.finish = Some(reason.to_owned());
        Some(Piece { role: !self.role, content: held, finish: self.finish.clone(), ..Piece::default() })
    }
}

/// Members that are handed on as they are.
fn rest(value: Value<'_, '_>, known: &[&str], out: &mut Vec<(String, String)>) {
    for (name, value) in value.members().filter(|(_, value)| !value.is_null()) {
        let name = name.text().unwrap_or_default();
        if !known.contains(&name.as_ref()) {
            out.push((name.into_owned(), value.raw().to_owned()));
        }
    }
}
