//! Names of headers, in lower case.

/// Version of the Messages API that a client was written for; forwarded as it is.
pub const ANTHROPIC_VERSION: &str = "anthropic-version";
/// Features that a client asks for; may come several times, all are forwarded in their order.
pub const ANTHROPIC_BETA: &str = "anthropic-beta";
/// Key of a client of the Messages API.
pub const X_API_KEY: &str = "x-api-key";
/// `Bearer` and the key: what both official SDKs send.
pub const AUTHORIZATION: &str = "authorization";
/// Id of a request, on every answer of the Messages API.
pub const REQUEST_ID: &str = "request-id";
/// The same for OpenAI's clients.
pub const X_REQUEST_ID: &str = "x-request-id";
/// How often an official SDK has tried this request before.
pub const X_STAINLESS_RETRY_COUNT: &str = "x-stainless-retry-count";
/// Whole seconds until a retry makes sense, at least 1.
pub const RETRY_AFTER: &str = "retry-after";
/// The same in milliseconds; official SDKs read this one first.
pub const RETRY_AFTER_MS: &str = "retry-after-ms";
/// `false` where a retry cannot help; official SDKs obey it whatever the status is.
pub const X_SHOULD_RETRY: &str = "x-should-retry";
/// Requests that the client may have under way at once.
pub const RECOMMENDED_CONCURRENCY: &str = "x-recommended-concurrency";
/// Name of the limit that a request ran into.
pub const X_FOREBAY_LIMIT: &str = "x-forebay-limit";
/// Milliseconds that a request was held before its engine got it.
pub const X_QUEUE_TIME: &str = "x-queue-time";
/// Where a request was answered: `twin`, a device, or an engine.
pub const X_FOREBAY_LAYER: &str = "x-forebay-layer";
/// Input tokens of the request, where they are known before the reply.
pub const X_FOREBAY_USAGE: &str = "x-forebay-usage";
/// The decision in JSON, for tenants with that right.
pub const X_FOREBAY_DEBUG: &str = "x-forebay-debug";
/// Methods that a path takes, with a 405.
pub const ALLOW: &str = "allow";
/// Kind of a body.
pub const CONTENT_TYPE: &str = "content-type";

/// Kind of a whole reply.
pub const JSON: &str = "application/json";
/// Kind of a streamed reply.
pub const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";
