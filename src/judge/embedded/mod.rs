//! The embedded judge: rules first, then a logistic model on lexical features.
//!
//! It needs no network, no key and no model file, gives the same label for the same pair everywhere and always, is
//! symmetric and reflexive, and is not transitive (the raw labels are what is counted). It reads the question and the
//! two answers and nothing else.

pub mod amounts;
pub mod bounds;
pub mod chains;
pub mod date;
pub mod features;
pub mod fit;
pub mod fold;
pub mod labelled;
mod measures;
pub mod model;
pub mod names;
pub mod numeral;
pub mod pair;
pub mod reading;
pub mod rules;
pub mod scan;
pub mod signs;
pub mod similar;
pub mod unit;
pub mod unknowing;
pub mod weights;
pub mod words;

#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod tests;
mod verdict;

pub use verdict::{Decision, Reason, decide, judge};

/// The name and version under which ledgers record this judge. A change of rules, features or weights changes it.
pub const NAME: &str = "embedded-judge-2";
