//! GitHub: what an audit found is told to the pull request, the commit, the job.
//!
//! Everything about the environment comes in as [`Surroundings`]; this module reads no variable. It decides nothing about
//! the verdict, and a publication that fails never changes it: each part comes to an [`Outcome`] of its own.

pub mod api;
pub mod budget;
mod check;
pub mod comment;
pub mod disclosure;
pub mod draws;
pub mod event;
#[cfg(test)]
mod fixtures;
mod history;
mod identity;
mod job_file;
pub mod lines;
pub mod log;
mod maker;
pub mod marker;
mod marking;
mod marks;
pub mod notice;
pub mod options;
pub mod outcome;
pub mod outputs;
pub mod pace;
mod preface;
mod publication;
pub mod refusal;
mod status;
mod summary;
pub mod surroundings;
pub mod target;
pub mod text;
mod twin;
pub mod wording;

pub use comment::Outdated;
pub use disclosure::Disclosure;
pub use lines::{Lines, Place};
pub use notice::Failed;
pub use options::{Audited, Checkout, CommentMode, MarkKind, Options};
pub use outcome::{Outcome, Publication};
pub use pace::Pace;
pub use publication::{publish, publish_evidence, publish_failure};
pub use surroundings::Surroundings;
