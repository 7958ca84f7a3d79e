//! Databases: one query a question, its values bound, in a transaction that can write nothing.
//!
//! The address of a server is a secret from the environment, and nothing that a server says is shown but its error code.

mod address;
mod binding;
mod call;
mod error;
mod postgres;
mod sqlite;
mod state;
mod tls;

pub(super) use call::{Database, Query};
pub(super) use state::{identify, open};
