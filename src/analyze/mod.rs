//! Pure statistics on observations: churn, bootstrap, bounds, flips, correctness, overlap.
//!
//! No I/O, no clock, no randomness that is not seeded by the caller.
#![deny(clippy::disallowed_methods, reason = "statistics are functions of the observations and the settings alone")]

pub mod alignment;
mod audit;
pub mod bootstrap;
pub mod cluster;
pub mod comparison;
pub mod correctness;
pub mod dirichlet;
pub mod edges;
mod error;
pub mod figures;
pub mod fisher;
pub mod flips;
pub mod holm;
pub mod kernel;
pub mod ladder;
pub mod lattice;
pub mod overlap;
mod plane;
pub mod power;
pub mod quantile;
pub mod randomisation;
mod round;
pub mod score;
mod settings;
pub mod stream;
pub mod subgroup;
pub mod sum;
pub mod trajectory;
pub mod transitivity;

pub use audit::analyze;
pub use error::AnalyzeError;
pub use figures::*;
pub use settings::Settings;
