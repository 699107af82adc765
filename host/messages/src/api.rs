//! Which API a request is for.
use crate::error::{ApiError, ErrorKind};

/// The APIs that take a body with a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST /v1/messages`.
    Messages,
    /// `POST /v1/messages/count_tokens`: answered without an engine's tokens.
    CountTokens,
    /// `POST /v1/chat/completions`.
    Chat,
    /// `POST /v1/completions`.
    Completions,
}

impl Api {
    /// Its path, under which engines are asked too.
    pub const fn path(self) -> &'static str {
        match self {
            Api::Messages => "/v1/messages",
            Api::CountTokens => "/v1/messages/count_tokens",
            Api::Chat => "/v1/chat/completions",
            Api::Completions => "/v1/completions",
        }
    }

    /// Its name in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Api::Messages => "messages",
            Api::CountTokens => "count_tokens",
            Api::Chat => "chat",
            Api::Completions => "completions",
        }
    }

    /// How its errors look.
    pub const fn dialect(self) -> Dialect {
        match self {
            Api::Messages | Api::CountTokens => Dialect::Anthropic,
            Api::Chat | Api::Completions => Dialect::OpenAi,
        }
    }
}

/// How errors and lists look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// `{"type":"error","error":{"type":...,"message":...},"request_id":...}`.
    Anthropic,
    /// `{"error":{"message":...,"type":...,"param":...,"code":...}}`.
    OpenAi,
}

impl Dialect {
    /// That of a request for a path that both have, `/v1/models`: only clients of Anthropic name a version.
    pub const fn of_version(has_anthropic_version: bool) -> Self {
        if has_anthropic_version {
            Dialect::Anthropic
        } else {
            Dialect::OpenAi
        }
    }
}

/// What a method and a path ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// A body with a prompt.
    Inference(Api),
    /// `GET /v1/models`.
    Models,
    /// `GET /v1/models/ID`, the id as it stands in the path.
    Model(&'a str),
    /// `HEAD /`: a client looks whether anybody is there. 200 without a body.
    Probe,
}

/// What is asked for. The target may have a query, which says nothing (`?beta=true`). An unknown path is a 404, a
/// known one with another method a 405, whose `allow` header names the right one.
pub fn route<'a>(method: &str, target: &'a str) -> Result<Route<'a>, ApiError> {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let (route, allow) = match path {
        "/" => (Route::Probe, "HEAD"),
        "/v1/models" => (Route::Models, "GET"),
        "/v1/messages" => (Route::Inference(Api::Messages), "POST"),
        "/v1/messages/count_tokens" => (Route::Inference(Api::CountTokens), "POST"),
        "/v1/chat/completions" => (Route::Inference(Api::Chat), "POST"),
        "/v1/completions" => (Route::Inference(Api::Completions), "POST"),
        _ => match path.strip_prefix("/v1/models/").filter(|id| !id.is_empty()) {
            Some(id) => (Route::Model(id), "GET"),
            None => {
                let message = format!("there is nothing at {}; paths start with /v1", crate::error::quoted(path));
                return Err(ApiError::new(ErrorKind::NotFound, message));
            }
        },
    };
    let head = allow == "GET" && method == "HEAD";
    if method == allow || head {
        return Ok(route);
    }
    let message = format!("{path} takes {allow}, not {}", crate::error::quoted(method));
    Err(ApiError { allow: Some(allow), ..ApiError::new(ErrorKind::MethodNotAllowed, message) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_of_the_clients() {
        for (method, target, expected) in [
            ("POST", "/v1/messages?beta=true", Route::Inference(Api::Messages)),
            ("POST", "/v1/messages/count_tokens?beta=true", Route::Inference(Api::CountTokens)),
            ("POST", "/v1/chat/completions", Route::Inference(Api::Chat)),
            ("POST", "/v1/completions", Route::Inference(Api::Completions)),
            ("GET", "/v1/models?limit=20", Route::Models),
            ("GET", "/v1/models/org/model-7b", Route::Model("org/model-7b")),
            ("HEAD", "/", Route::Probe),
        ] {
            assert_eq!(route(method, target), Ok(expected), "{method} {target}");
        }
        let error = route("GET", "/v1/messages").unwrap_err();
        assert_eq!((error.kind, error.allow), (ErrorKind::MethodNotAllowed, Some("POST")));
        for target in ["/v1/message", "/v1/models/", "", "*", "/V1/messages", "/v1/messages/"] {
            assert_eq!(route("POST", target).unwrap_err().kind, ErrorKind::NotFound, "{target}");
        }
    }
}
