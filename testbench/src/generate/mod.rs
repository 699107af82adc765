//! Generators. Each makes its value from [`Choices`], so that the same code serves a seeded run, proptest, which
//! shrinks the bytes, and a fuzzer, which mutates them.
mod body;
mod bundle;
mod burst;
mod capture;
mod choices;
mod cuts;
pub mod frames;
mod http;
mod noise;
mod number;

pub use body::{any_body, damage, ordinary_body, valid_body};
pub use bundle::{bundle, policy, CREDENTIALS, MODELS};
pub use burst::{burst_config, BurstStream};
pub use capture::capture;
pub use choices::Choices;
pub use cuts::{cut, Answer, Piece, Script, Step};
pub use http::{ordinary_request, request, stream, Intent, Outcome, Request};
pub use noise::{absurd_lengths, long_headers, noise};
