//! What a finished run proves: its export without texts, the matrix of its claims, forgeries that a chain alone does not
//! show, and every sort of damage with its exit code.

#[path = "../harness/mod.rs"]
mod harness;

mod bad_runs;
#[cfg(unix)]
mod barren;
mod claims;
mod export;
mod fixture;
mod forged;
mod lacking;
mod lost;
mod reports;
#[cfg(unix)]
mod signals;
mod slips;
