//! Answers -> judgments: packets, blinding, language-model judge, embedded judge, command.
//!
//! A judge sees a question and its distinct answers under labels, and labels every pair "same" or "different". It must
//! never learn which snapshot or repeat an answer came from, what evidence there was, or what is right. What is not a
//! complete judgment is none, and never counts as "different".
//!
//! The judge's second pass and the second judge are the same stage over other ledgers and a sample of the questions.

mod backend;
mod batch;
mod calls;
mod check;
mod command;
pub mod embedded;
mod given_up;
mod judging;
mod llm;
pub mod packet;
pub mod parts;
mod plan;
mod probe;
mod progress;
mod prompt;
mod record;
mod reply;
mod stage;
#[cfg(test)]
mod tests;

pub use check::{Check, Checked};
pub use judging::Judging;
pub use probe::probe;
pub use stage::judge;
