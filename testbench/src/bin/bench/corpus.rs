//! Bodies to measure with: always the same ones, of the shapes and in the order of members that the SDKs send.
use serde_json::json;

/// A body and what it is like.
pub(crate) struct Body {
    pub(crate) kind: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// Sizes, bytes: about that of a usual request, and that of a long one.
pub(crate) const BODY_BYTES: [usize; 2] = [2_000, 100_000];

/// Model of all bodies.
pub(crate) const MODEL: &str = "claude-sonnet-5";

const WORDS: [&str; 24] = [
    "the",
    "request",
    "is",
    "a",
    "quick",
    "brown",
    "model",
    "that",
    "answers",
    "every",
    "question",
    "with",
    "some",
    "context",
    "about",
    "tokens",
    "and",
    "limits",
    "of",
    "machines",
    "which",
    "d\u{f6}g",
    "naturally",
    "it",
];

/// Words in an order that only the seed decides.
struct Writer(u64);

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }

    /// Prose of about this many bytes, with a line end after a few sentences and a quotation now and then.
    fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(WORDS[self.below(WORDS.len())]);
            text.push_str(match self.below(40) {
                0 | 1 => ". ",
                2 => ".\n",
                3 => " said \"max_tokens\": 7, ",
                4 | 5 => ", ",
                _ => " ",
            });
        }
        text
    }

    /// Source code of about this many bytes: quotes, backslashes, tabs and line ends.
    fn code(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let (a, b) = (WORDS[self.below(WORDS.len())], self.below(1000));
            text.push_str(&match self.below(4) {
                0 => format!("\tif {a} == \"{b}\" {{\n\t\treturn {{\"{a}\": [{b}, {{}}]}};\n\t}}\n"),
                1 => format!("    println!(\"{a}: {{}}\\n\", {a}[{b}]);\n"),
                2 => format!("# {a}: C:\\\\{a}\\\\{b}.txt\n"),
                _ => format!("\tlet {a} = r'\\d+\\s{a}';\n"),
            });
        }
        text
    }

    fn tool(&mut self, number: usize) -> serde_json::Value {
        let mut property = |name: &str| {
            let description = self.prose(30);
            (name.to_owned(), json!({"type": "string", "description": description, "enum": ["a", "b", "c"]}))
        };
        let properties: serde_json::Map<_, _> =
            [property("location"), property("unit"), property("model")].into_iter().collect();
        json!({
            "name": format!("get_weather_{number}"),
            "description": self.prose(60),
            "input_schema": {"type": "object", "properties": properties, "required": ["location", "unit"]},
        })
    }
}

/// The body around some messages, its members in the order of the Anthropic SDK.
fn around(messages: &[serde_json::Value], system: &str, tools: &[serde_json::Value]) -> Vec<u8> {
    let messages: Vec<String> = messages.iter().map(ToString::to_string).collect();
    let mut body = format!(
        r#"{{"max_tokens":1024,"messages":[{}],"model":"{MODEL}","stream":true,"system":{},"temperature":0.7"#,
        messages.join(","),
        json!(system),
    );
    if !tools.is_empty() {
        let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
        body.push_str(&format!(r#","tools":[{}]"#, tools.join(",")));
    }
    body.push_str(r#","top_k":40}"#);
    body.into_bytes()
}

/// One long prompt.
fn prompt(bytes: usize) -> Vec<u8> {
    let mut writer = Writer(1);
    let system = writer.prose(bytes / 8);
    around(&[json!({"role": "user", "content": writer.prose(bytes * 5 / 6)})], &system, &[])
}

/// Many messages of a talk, in blocks.
fn talk(bytes: usize) -> Vec<u8> {
    let mut writer = Writer(2);
    let mut messages = Vec::new();
    let mut left = bytes as i64 - 250;
    while left > 0 {
        let text = writer.prose(40 + 100 * (messages.len() % 3));
        let role = ["user", "assistant"][messages.len() % 2];
        let message = json!({"role": role, "content": [{"type": "text", "text": text}]});
        left -= message.to_string().len() as i64;
        messages.push(message);
    }
    around(&messages, "Be brief.", &[])
}

/// A short question and many tools.
fn tools(bytes: usize) -> Vec<u8> {
    let mut writer = Writer(3);
    let mut tools = Vec::new();
    let mut left = bytes as i64 - 250;
    while left > 0 {
        let tool = writer.tool(tools.len());
        left -= tool.to_string().len() as i64;
        tools.push(tool);
    }
    around(&[json!({"role": "user", "content": "What is the weather in San Francisco?"})], "Be brief.", &tools)
}

/// A prompt that is mostly source code.
fn code(bytes: usize) -> Vec<u8> {
    let mut writer = Writer(4);
    let content = writer.code(bytes * 3 / 4);
    around(&[json!({"role": "user", "content": content})], "Be brief.", &[])
}

/// Makes a body of about so many bytes.
type Make = fn(usize) -> Vec<u8>;

/// All bodies, by size.
pub(crate) fn bodies() -> Vec<Body> {
    let kinds: [(&str, Make); 4] = [("prompt", prompt), ("talk", talk), ("tools", tools), ("code", code)];
    let of_size = |bytes| kinds.iter().map(move |(kind, make)| Body { kind, bytes: make(bytes) });
    BODY_BYTES.into_iter().flat_map(of_size).collect()
}
