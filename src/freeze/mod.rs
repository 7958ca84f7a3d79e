//! Selection, execution order, prompts, and the protocol lock: everything that is fixed before the first call.
//!
//! `plan` is pure: bytes in, a protocol out. `freeze` writes it, `load` reads it back and derives everything again.
//! Gold answers are read by `gold::open` alone, which needs the proof that all judgments are sealed; `plan` asks whether they
//! could be read, and learns nothing else.

mod audited;
mod compare;
mod document;
mod error;
mod expected;
pub mod gold;
mod id_lines;
mod ids;
mod lines;
pub mod order;
mod plan;
pub mod prompts;
pub mod protocol;
mod questions;
mod samples;
mod seeds;
mod select;
mod selection;
mod store;
mod template;
#[cfg(test)]
mod tests;

pub use compare::compare;
pub use error::{FreezeError, QuestionProblem, Unlisted};
pub use lines::question_lines;
pub use plan::{Inputs, plan};
pub use protocol::{Frozen, Origin, Protocol, ResolvedSnapshot, Seeds};
pub use samples::Samples;
pub use selection::Selection;
pub use store::{freeze, load, mode, outline, outline_without_texts};
