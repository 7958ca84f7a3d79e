//! Selection, execution order, prompts, and the protocol lock: everything that is fixed before the first call.

pub mod protocol;

pub use protocol::{Frozen, Protocol, ResolvedSnapshot, Seeds};
