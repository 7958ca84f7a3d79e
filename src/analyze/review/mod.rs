//! The judge held against people who label pairs of answers by hand: which pairs they are shown, in which order, and what
//! their labels come to. None of it moves a figure of the audit or its verdict.

mod figures;
mod select;
#[cfg(test)]
mod tests;

pub use figures::{Confirmed, HandLabel, Labels, Stratum, between, confirmed};
pub use select::{Pair, Selected, Selector, Sides, Wanted};
