//! The stage as a whole, over real run folders.

mod embedded;
mod harness;
