//! The stage as a whole, against folders, repositories, servers and programs.

mod archives;
mod corpora;
mod harness;
mod local;
mod presets;
mod remote;
mod traps;
