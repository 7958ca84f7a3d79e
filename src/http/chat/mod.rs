//! The OpenAI-compatible chat wire: request body out, what counts as what back in. Shared by generators and judges.
//!
//! It never decides what an answer is worth: `UNKNOWN`, wrong and refused answers are accepted like any other.

mod read;
mod reason;
mod request;
mod structured;

pub(super) use read::read_with;
pub use read::{Facts, Reading, Tokens, read};
pub use reason::{CountsAs, Reason};
pub use request::{Endpoint, Form, Message, Role};
pub use structured::structured;
