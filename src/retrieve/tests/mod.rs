//! The stage as a whole, against folders, repositories, servers and programs.

mod archives;
mod barren;
mod corpora;
mod graphql;
pub(super) mod harness;
mod local;
mod presets;
mod recorded;
mod remote;
mod traps;
