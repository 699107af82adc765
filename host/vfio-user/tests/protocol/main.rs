//! Driver and function over a socket, and what strangers send to either.
#![allow(clippy::unwrap_used)]
mod both_sides;
mod engine;
mod hostile;
