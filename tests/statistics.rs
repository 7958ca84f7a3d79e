//! The statistics against worked values and against the two published studies.
#![expect(clippy::expect_used, reason = "tests fail by panicking")]

#[path = "statistics/calibration.rs"]
mod calibration;
#[path = "statistics/gate.rs"]
mod gate;
#[path = "statistics/ledger.rs"]
mod ledger;
#[path = "statistics/needed.rs"]
mod needed;
#[path = "statistics/properties.rs"]
mod properties;
#[path = "statistics/published.rs"]
mod published;
#[path = "statistics/refusals.rs"]
mod refusals;
#[path = "statistics/vectors.rs"]
mod vectors;
