//! The daemon on inference nodes: unmodified clients in front, engines behind, and a scheduler that decides each request
//! before anything is spent on it.
//!
//! [`Daemon`] is the whole of it; `forebayd` adds the command line and signals. The contract with clients is
//! `forebay_messages`, the decision `forebay_decide::burst`.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod access;
pub mod admin;
pub mod app;
pub mod body;
pub mod calibrate;
mod clock;
pub mod command;
pub mod config;
pub mod daemon;
pub mod decision;
pub mod engine;
pub mod folder;
pub mod goodput;
pub mod histogram;
pub mod ids;
pub mod inference;
pub mod log;
pub mod metrics;
pub mod problem;
pub mod read;
pub mod route;
pub mod server;
pub mod ticket;
pub mod tls;

pub use config::Config;
pub use daemon::Daemon;
