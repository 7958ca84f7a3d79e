//! Evidence -> answer: embedded reader, language model behind a server, command. One file a backend. Or question -> answer,
//! where a deployed system retrieves by itself.
//!
//! An attempt's record is durable before its call is made; an accepted cell is never asked again, whatever it says.
//! No backend is told which snapshot it answers for, but for such a system, which a snapshot is. A second generator is the same
//! stage over another ledger and a sample of the questions. Some cells alone are asked for to explain a flip.

mod answer;
mod answering;
mod asked;
mod backend;
mod blackbox;
mod cells;
mod check;
mod command;
mod embedded;
mod given_up;
mod llm;
mod outcomes;
mod plan;
mod probe;
mod reader;
mod resume;
mod some;
mod stage;
#[cfg(test)]
mod tests;
mod tolerance;

pub use answering::Answering;
pub use check::{Check, Checked};
pub use outcomes::is_of_content;
pub use probe::probe;
pub use some::ask;
pub use stage::generate;
pub use tolerance::{Missing, intolerable};
