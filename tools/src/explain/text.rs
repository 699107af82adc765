//! The explanation for people.
use super::{Explanation, FieldRead, Form, Level, RAW_BYTES_MAX};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Foreign bytes as plain ASCII, cut to [`RAW_BYTES_MAX`].
pub(super) fn printable(bytes: &[u8]) -> String {
    let shown = bytes.get(..RAW_BYTES_MAX).unwrap_or(bytes);
    let mut text = String::with_capacity(shown.len());
    for &byte in shown {
        match byte {
            b' ' => text.push(' '),
            _ if byte.is_ascii_graphic() => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    if bytes.len() > shown.len() {
        text.push_str("...");
    }
    text
}

fn line(f: &mut Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    writeln!(f, "{name:<12} {value}")
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        line(f, "input", &self.input_text())?;
        if let Some(connection) = &self.source.connection {
            line(f, "connection", &format!("{connection}, its request {}", self.source.request_index))?;
        }
        line(f, "request", &self.request_text())?;
        line(f, "framing", self.framing)?;
        line(f, "header bytes", &self.header_bytes.to_string())?;
        line(f, "body bytes", &self.body_bytes.to_string())?;
        line(f, "body status", &self.body_text())?;
        self.fields_text(f)?;
        line(f, "tenant", self.tenant_text())?;
        line(f, "model", &self.model_text())?;
        if let Some(class) = &self.model_class {
            let name = class.name.as_deref().unwrap_or("without a name");
            line(f, "class", &format!("{} {}, by {}", class.class, plain(name), plain(&class.patterns.join(" or "))))?;
        }
        line(f, "retry", &self.retry.to_string())?;
        line(f, "read by", &self.path_text())?;
        line(f, "level", &self.level.map_or_else(|| "none, the record holds no max_tokens".to_owned(), level_text))?;
        let reason = self.verdict.reason.map_or_else(String::new, |reason| format!(", reason {reason}"));
        line(f, "verdict", &format!("{}{reason}", self.verdict.action.name()))?;
        if let Some(detail) = &self.verdict.detail {
            line(f, "detail", &plain(detail))?;
        }
        line(f, "clocks", &self.clocks_text())
    }
}

/// Control characters escaped.
fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    text.chars().flat_map(plain).collect()
}

fn level_text(level: Level) -> String {
    match level.below {
        Some(below) => format!("{}, max_tokens from {} to {}", level.level, level.from, below.saturating_sub(1)),
        None => format!("{}, max_tokens from {} on", level.level, level.from),
    }
}

fn bytes(span: &Range<usize>) -> String {
    format!("{}..{}", span.start, span.end)
}

/// Name, bytes, kind, value and raw text of a row.
type Row = [String; 5];

impl Explanation {
    fn input_text(&self) -> String {
        let source = &self.source;
        let file = plain(&source.file);
        let (n, count) = (source.request, source.requests);
        match source.form {
            Form::Body => format!("{file}, a JSON body, wrapped as a POST to /v1/messages with its content-length"),
            Form::Stream => format!("{file}, an HTTP stream, request {n} of {count} (from 0)"),
            Form::Capture => format!("{file}, a capture, inference request {n} of {count} (from 0)"),
        }
    }

    fn request_text(&self) -> String {
        let cut = if self.complete { "" } else { " (not whole)" };
        match self.method.is_empty() {
            true => format!("without a request line that can be read{cut}"),
            false => format!("{} {}{cut}", printable(self.method.as_bytes()), printable(self.path.as_bytes())),
        }
    }

    fn body_text(&self) -> String {
        match (self.body_status, self.body_fault_at) {
            (Some(status), Some(at)) => format!("{status}, from byte {at} on"),
            (Some(status), None) => status.to_owned(),
            (None, _) => "not looked at, it is no POST to an inference path".to_owned(),
        }
    }

    fn fields_text(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(fields) = &self.fields else {
            return line(f, "fields", "none, there is no sound inference body");
        };
        let mut rows: Vec<Row> = vec![["name", "bytes", "kind", "value", "raw"].map(str::to_owned)];
        fields.iter().for_each(|field| add_rows(field, &mut rows));
        let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(String::len).max().unwrap_or(0);
        let [name, bytes, kind, value] = [0, 1, 2, 3].map(width);
        for (i, [n, b, k, v, raw]) in rows.iter().enumerate() {
            let row = format!("{n:<name$}  {b:<bytes$}  {k:<kind$}  {v:<value$}  {raw}");
            line(f, if i == 0 { "fields" } else { "" }, row.trim_end())?;
        }
        for field in fields {
            if let Some(written) = &field.name_written {
                let by = field.pattern.as_deref().filter(|p| *p != field.name);
                let by = by.map_or_else(String::new, |pattern| format!(", found by {}", plain(pattern)));
                line(f, "", &format!("{} is written {written}{by}", field.name))?;
            }
        }
        Ok(())
    }

    fn tenant_text(&self) -> &str {
        match (&self.tenant, self.credential) {
            (Some(name), _) => name,
            (None, true) => "none, its key is of no tenant of the policy",
            (None, false) => "none, there is no key that counts",
        }
    }

    fn model_text(&self) -> String {
        let hot = if self.hot { ", hot" } else { "" };
        match (&self.model, self.model_known) {
            (Some(name), true) => format!("{name}, known{hot}"),
            (Some(name), false) => format!("{name}, not in the policy{hot}"),
            (None, _) => "none".to_owned(),
        }
    }

    fn path_text(&self) -> String {
        match &self.punt {
            Some(punt) if punt.earlier_request => format!(
                "{}, as the device gave up the connection at an earlier request: punt {}, {}",
                self.path_taken, punt.reason, punt.meaning
            ),
            Some(punt) => format!("{}: punt {}, {}", self.path_taken, punt.reason, punt.meaning),
            None if self.path_taken == "host" => "host, as every context of the device was taken".to_owned(),
            None => self.path_taken.to_owned(),
        }
    }

    fn clocks_text(&self) -> String {
        match self.clocks {
            Some(c) => {
                let end = if self.punt.is_some() { "punt" } else { "verdict" };
                format!("{} to the record, {} to the device's {end}, {} waited", c.record, c.verdict, c.wait)
            }
            None if self.device == "twin" => "the twin has no clocks".to_owned(),
            None => format!("none, {} did not answer this request", self.device),
        }
    }
}

fn add_rows(field: &FieldRead, rows: &mut Vec<Row>) {
    let value = match (field.value, field.name) {
        (Some(index), "model") => format!("policy {index}"),
        (Some(milli), "temperature") => format!("{milli}/1000"),
        (Some(number), _) => number.to_string(),
        (None, _) => "-".to_owned(),
    };
    for earlier in &field.overridden {
        let (name, bytes) = (field.name.to_owned(), bytes(&earlier.span));
        rows.push([name, bytes, "overridden".to_owned(), "-".to_owned(), earlier.raw.clone()]);
    }
    let kind = if field.span.is_none() { "absent" } else { field.kind };
    let bytes = field.span.as_ref().map_or_else(|| "-".to_owned(), bytes);
    rows.push([field.name.to_owned(), bytes, kind.to_owned(), value, field.raw.clone().unwrap_or_default()]);
}
