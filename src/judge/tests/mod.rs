//! The stage as a whole, over real run folders.

mod blindness;
mod embedded;
mod harness;
mod language_model;
mod program;
mod resume;
