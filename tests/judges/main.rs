//! Diagnostics of the judge through the real binary: the same judge asked again, a second judge, their ledgers and their figures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../harness/mod.rs"]
mod harness;

mod audit;
mod evidence;
mod figures;
mod refusals;
mod replica;
