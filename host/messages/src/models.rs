//! Lists of models, and counts of tokens.
use crate::{
    api::Dialect,
    json::{object, Object},
};

/// A model that clients may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// What requests call it.
    pub id: String,
    /// What people call it.
    pub display_name: String,
    /// When it was made, in seconds since 1970.
    pub created_s: u64,
}

/// The body of `GET /v1/models`: all of them, on one page.
pub fn models_list(dialect: Dialect, models: &[Model]) -> String {
    let entries: Vec<String> = models.iter().map(|model| models_one(dialect, model)).collect();
    let data = format!("[{}]", entries.join(","));
    object(|list| match dialect {
        Dialect::Anthropic => {
            list.raw("data", &data).raw("has_more", "false");
            id_or_null(list, "first_id", models.first());
            id_or_null(list, "last_id", models.last());
        }
        Dialect::OpenAi => {
            list.string("object", "list").raw("data", &data);
        }
    })
}

/// The body of `GET /v1/models/ID`.
pub fn models_one(dialect: Dialect, model: &Model) -> String {
    object(|entry| match dialect {
        Dialect::Anthropic => {
            entry.string("type", "model").string("id", &model.id).string("display_name", &model.display_name);
            entry.string("created_at", &rfc3339(model.created_s));
        }
        Dialect::OpenAi => {
            entry.string("id", &model.id).string("object", "model").number("created", model.created_s);
            entry.string("owned_by", "forebay");
        }
    })
}

/// The body of `POST /v1/messages/count_tokens`.
pub fn token_count(input_tokens: u64) -> String {
    object(|reply| {
        reply.number("input_tokens", input_tokens);
    })
}

fn id_or_null(list: &mut Object<'_>, name: &'static str, model: Option<&Model>) {
    match model {
        Some(model) => list.string(name, &model.id),
        None => list.raw(name, "null"),
    };
}

/// Seconds since 1970 as a date and time in UTC.
fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // days from 0000-03-01, in eras of 400 years
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let date = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), text);
        }
    }

    #[test]
    fn lists_of_both_apis() {
        let model = Model { id: "m".into(), display_name: "M \"1\"".into(), created_s: 0 };
        assert_eq!(
            models_list(Dialect::Anthropic, std::slice::from_ref(&model)),
            concat!(
                r#"{"data":[{"type":"model","id":"m","display_name":"M \"1\"","created_at":"1970-01-01T00:00:00Z"}],"#,
                r#""has_more":false,"first_id":"m","last_id":"m"}"#
            )
        );
        assert_eq!(
            models_list(Dialect::OpenAi, &[model]),
            r#"{"object":"list","data":[{"id":"m","object":"model","created":0,"owned_by":"forebay"}]}"#
        );
        assert!(models_list(Dialect::Anthropic, &[]).contains(r#""first_id":null"#));
        assert_eq!(token_count(7), r#"{"input_tokens":7}"#);
    }
}
