//! Runs an external program for a room: an argv, JSON on standard input, a limited answer on standard output, a time
//! limit, a scrubbed environment. Never through a shell, and never with more of the environment than it was given.

mod child;
mod error;
mod find;

pub use child::{Output, run};
pub use error::ProcessError;
pub use find::missing;
