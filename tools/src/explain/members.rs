//! Where the members of a body stand.
use forebay_decide::exact::json;
use forebay_decide::Name;
use forebay_spec::Field;
use std::ops::Range;

/// A depth-1 member that has the name of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) field: Field,
    /// Its name, quotes included.
    pub(super) name: Range<usize>,
    /// Its value.
    pub(super) value: Range<usize>,
}

/// The members of a body with a field's name, in their order. The body has to be a JSON object, as the validator says;
/// of another one the list is of no use.
pub(super) fn members(body: &[u8], names: &[Name]) -> Vec<Member> {
    let mut scan = Scan { body, at: 0 };
    let mut members = Vec::new();
    scan.skip(b"{");
    while scan.peek() == Some(b'"') {
        let name = scan.string();
        scan.skip(b":");
        let value = scan.value();
        let mut text = Vec::new();
        json::string_value(body.get(name.clone()).unwrap_or_default(), &mut text);
        if let Some(wanted) = names.iter().find(|n| n.text.as_bytes() == text) {
            members.push(Member { field: wanted.field, name, value });
        }
        scan.skip(b",");
    }
    members
}

/// Where a slice of the body stands in it.
pub(super) fn span(body: &[u8], part: &[u8]) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
    start..start + part.len()
}

struct Scan<'a> {
    body: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    /// Skips blanks and these bytes.
    fn skip(&mut self, also: &[u8]) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace() || also.contains(&b)) {
            self.at += 1;
        }
    }

    /// The string that opens here.
    fn string(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        start..self.at
    }

    /// The value that begins here.
    fn value(&mut self) -> Range<usize> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => drop(self.string()),
                b'{' | b'[' => (depth, self.at) = (depth + 1, self.at + 1),
                b'}' | b']' if depth > 0 => (depth, self.at) = (depth - 1, self.at + 1),
                b',' | b'}' | b']' if depth == 0 => break,
                _ if depth == 0 && byte.is_ascii_whitespace() => break,
                _ => self.at += 1,
            }
        }
        start..self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_decide::Bundle;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            "-?[1-9][0-9]{0,3}(\\.[0-9])?",
            Just(r#""a\\\"{,\u0041""#.to_owned()),
            Just("true ".to_owned()),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(|v| format!("[{}]", v.join(" ,"))),
                inner.prop_map(|v| format!("{{ \"max_tokens\" :\n{v}}}")),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_last_members_are_those_of_the_validator(
            list in prop::collection::vec((prop::sample::select(vec![
                r#""max_tokens""#, r#""max\u005ftokens""#, r#""model""#, r#""top_k""#, r#""other""#, r#""str\"eam""#,
            ]), value()), 0..8),
        ) {
            let names = Bundle::default().names;
            let list: Vec<String> = list.iter().map(|(name, value)| format!("\t{name} : {value}")).collect();
            let text = format!(" {{{}\r\n}} ", list.join(","));
            let body = json::read(text.as_bytes(), &names);
            prop_assert_eq!(body.status, json::BodyStatus::Ok, "{}", text);
            let members = members(text.as_bytes(), &names);
            for &field in Field::ALL {
                let last = members.iter().rfind(|m| m.field == field).map(|m| m.value.clone());
                let found = body.values[field as usize].map(|raw| span(text.as_bytes(), raw));
                prop_assert_eq!(last, found, "{} in {}", field, text);
            }
        }

        #[test]
        fn no_body_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..64), json in "[\\[{}\\]\",:\\\\ a0]{0,32}") {
            let names = Bundle::default().names;
            let _ = members(&body, &names);
            let _ = members(json.as_bytes(), &names);
        }
    }
}
