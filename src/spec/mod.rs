//! The audit spec: raw YAML in, a validated [`Spec`] out, every problem at once with line and column.
//!
//! This module is pure: it is given text and gives back types.

pub mod types;

pub use types::*;
