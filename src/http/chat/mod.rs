//! The wires of language models: request body out, what counts as what back in. Shared by generators and judges.
//!
//! One adapter a wire, each of the same shape. None decides what an answer is worth: `UNKNOWN`, wrong and refused answers
//! are accepted like any other.

mod completions;
mod endpoint;
mod estimate;
mod filter;
mod finish;
mod messages;
mod probe;
mod read;
mod reason;
mod refusal;
mod request;
mod responses;
mod structured;
mod thoughts;

pub use endpoint::Endpoint;
pub use estimate::estimate;
pub use probe::Probed;
pub use read::{Facts, Reading, Tokens, name as said_name};
pub use reason::{CountsAs, Reason};
pub use refusal::refused;
pub use request::{Form, Message, Role};
pub use structured::structured;
pub use thoughts::behind_thoughts;
