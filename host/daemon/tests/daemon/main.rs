//! The daemon over real sockets: port 0, a plain client, engines that are echoes, other daemons, or fakes.
#![allow(clippy::unwrap_used, reason = "tests fail aloud")]

mod access;
mod admin;
mod attacks;
mod calibrate;
mod cancel;
mod cases;
mod commands;
mod common;
mod cut_points;
mod device;
mod drain;
mod edges;
mod engines;
mod examples;
mod folder;
#[path = "../../../messages/tests/common/mod.rs"]
mod grammar;
mod handover;
mod http2;
mod keys;
mod limits;
mod load;
mod log;
mod pages;
mod refuse;
mod reload;
mod scheduler;
mod seed;
mod serve;
mod streams;
