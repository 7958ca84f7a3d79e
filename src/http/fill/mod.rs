//! Requests to servers of any make, described as data: a template filled by structure, pointers into the reply.
//!
//! Nothing here pastes text into text that is parsed afterwards, and nothing reads text of a reply as anything but text.

mod encode;
mod expect;
mod filling;
mod pointer;
mod request;

pub use encode::any_of;
pub use expect::{Expect, says, words};
pub use filling::{Filling, TemplateError};
pub use pointer::{items, number, one, reach, text};
pub use request::{Template, keyed};
