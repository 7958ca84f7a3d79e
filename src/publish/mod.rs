//! GitHub: what an audit found is told to the pull request, the commit, the job.
//!
//! Everything about the environment comes in as [`Surroundings`]; this module reads no variable. It decides nothing about
//! the verdict, and a publication that fails never changes it: each part comes to an [`Outcome`] of its own.

pub mod api;
pub mod budget;
pub mod check;
pub mod comment;
pub mod disclosure;
pub mod event;
#[cfg(test)]
mod fixtures;
pub mod log;
pub mod marker;
pub mod outputs;
pub mod pace;
pub mod publication;
pub mod refusal;
pub mod status;
pub mod summary;
pub mod surroundings;
pub mod target;
pub mod text;
pub mod wording;

pub use disclosure::Disclosure;
pub use pace::Pace;
pub use publication::{CommentMode, MarkKind, Options, Outcome, Publication, publish};
pub use surroundings::Surroundings;
