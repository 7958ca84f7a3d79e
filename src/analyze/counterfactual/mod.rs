//! Which change of evidence moved an answer: the changes between two evidences, the evidences that lie one change away from
//! either, and what the answers to those show.
//!
//! Everything here is a function of evidences and answers. Nothing is asked: whoever asks is given evidences, and brings back
//! how their answers compare.

mod changes;
mod finding;
mod step;
#[cfg(test)]
mod tests;

pub use changes::{Change, Difference};
pub use finding::{Class, Finding, Row, Sides};
pub use step::{Base, Step};
