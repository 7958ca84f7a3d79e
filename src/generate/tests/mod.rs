//! The stage against real ledgers, and against servers that do everything wrong.

mod fixture;
mod outcomes;
mod presets;
mod programs;
mod reading;
mod servers;
