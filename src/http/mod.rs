//! One client for every external call over HTTP: time limits, size limits, pace of retries, redaction.
//!
//! This module makes exactly one call when it is asked for one. Whoever asks records the attempt before and the
//! outcome after; `attempts` drives the retries between.

pub mod attempts;
mod body;
pub mod budget;
pub mod call;
pub mod chat;
pub mod client;
pub mod context;
pub mod descriptors;
pub mod fill;
pub mod opening;
pub mod outage;
pub mod pace;
mod proxy;
pub mod rate;
mod readings;
pub mod remedy;
pub mod secrets;
pub mod served;
pub mod spare;
pub mod tally;
pub mod tape;
pub mod tls;
mod told;
pub mod wish;

pub use attempts::{Attempted, RetryPolicy, interrupted, until_accepted};
pub use body::{begins_events, json, unmarked};
pub use budget::{Before, Budget, Reserved};
pub use call::{Call, CallError, HeaderText, Reply};
pub use client::{Client, HttpSettings};
pub use context::Context;
pub use opening::{Opening, SILENT};
pub use outage::PartAsked;
pub use pace::{InFlight, InLine, Pace};
pub use remedy::{is_served, remedy};
pub use secrets::Secrets;
pub use served::{Place, Remedy, Served};
pub use tally::Tally;
pub use tape::{Tape, Unit};
pub use wish::Wish;

/// The headers of a reply that anything here reads, in lower case. Nobody else reads any of a server that an audit asks.
pub fn headers_read() -> impl Iterator<Item = &'static str> {
    wish::HEADERS.into_iter().chain(spare::headers())
}
