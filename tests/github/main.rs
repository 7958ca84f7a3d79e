//! Publishing to GitHub, against a server in this process that keeps comments, counts calls and fails on demand.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it skipped"
)]

mod audited;
mod bases;
mod disclosed;
mod draws;
mod early;
mod events;
mod fake;
mod faults;
mod hands;
mod history;
mod named;
mod network;
mod parts;
mod publishing;
mod twins;
mod unproved;
mod workflow;
