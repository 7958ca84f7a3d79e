//! Pure statistics on observations: churn, bootstrap, bounds, flips, correctness, overlap.
//!
//! No I/O, no clock, no randomness that is not seeded by the caller.
#![deny(clippy::disallowed_methods, reason = "statistics are functions of the observations and the settings alone")]

mod accumulator;
pub mod agreement;
pub mod alignment;
mod audit;
pub mod bootstrap;
pub mod cited;
pub mod cluster;
pub mod comparison;
pub mod correctness;
pub mod counterfactual;
pub mod diagnostics;
pub mod dirichlet;
pub mod edges;
mod error;
pub mod evalue;
pub mod figures;
pub mod fisher;
pub mod flips;
pub mod holm;
pub mod judge_noise;
mod judged;
pub mod kernel;
pub mod ladder;
pub mod lattice;
mod line;
pub mod outlook;
pub mod overlap;
pub mod placebo;
mod plane;
pub mod planning;
pub mod power;
pub mod proportion;
pub mod quantile;
pub mod randomisation;
pub mod rehearsal;
pub mod replication;
pub mod review;
pub mod risk;
mod round;
pub mod score;
pub mod scoring;
mod settings;
pub mod soft;
mod splits;
pub mod stream;
pub mod subgroup;
pub mod sum;
pub mod trajectory;
pub mod transitivity;

pub use accumulator::Accumulator;
pub use audit::{accumulate, analyze, analyze_recorded};
pub use diagnostics::{
    Compared, Diagnostics, LabelFlips, OtherLabels, Replication, Sampled, SecondJudge, SecondOpinion, SelfConsistency,
};
pub use error::AnalyzeError;
pub use figures::*;
pub use replication::{Churn, PairedChurn, Side};
pub use round::significant;
pub use scoring::{QuestionScores, Score, Scores, Scoring};
pub use settings::Settings;
