//! Retrieval from real engines that this test starts: two snapshots are built, the audit is killed and goes on, names are
//! swapped, and the evidence is what the engine says by itself.
//!
//! SQLite with FTS5 is built in. The others need Python with the packages of `tests/requirements.txt` (`CHURNGATE_PYTHON`),
//! `groonga` on the path, or Node and what `scripts/setup-pglite` installs: they fail without it where `CHURNGATE_REQUIRE_ALL` is set, and say elsewhere that they were
//! skipped.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

#[path = "../harness/mod.rs"]
mod harness;

mod audit;
mod chroma;
mod corpus;
mod groonga;
#[cfg(unix)]
mod pglite;
#[cfg(unix)]
mod pooler;
#[cfg(unix)]
mod postgres;
mod programs;
mod python;
#[cfg(unix)]
mod secure;
mod sqlite;
#[cfg(unix)]
mod vectors;
