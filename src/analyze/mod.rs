//! Pure statistics on observations: churn, bootstrap, bounds, flips, correctness, overlap.
//!
//! No I/O, no clock, no randomness that is not seeded by the caller.

pub mod figures;

pub use figures::*;
