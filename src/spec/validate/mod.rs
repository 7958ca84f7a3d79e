//! A checked tree to the validated types, and everything that only shows when values are seen together.

mod address;
mod answer;
mod embed;
mod gate;
mod generate;
mod http;
mod judge;
mod model;
mod preset;
mod questions;
mod retrieve;
mod root;
mod snapshots;
mod sql;

pub use root::spec;
