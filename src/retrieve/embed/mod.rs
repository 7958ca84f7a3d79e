//! Questions to vectors. Each is embedded once for all snapshots and both passes, each call recorded before it is made and
//! after; what was sent to an engine is named by the digest in its attempt. An embedder that changes under its name is
//! noticed, within a run, between the shards of one, and between a question and the stored documents.

mod alike;
mod calls;
mod caveats;
mod check;
mod embedder;
mod held;
mod kept;
mod line;
mod named;
mod opened;
mod planned;
mod probe;
mod program;
mod reference;
mod server;
mod vectors;

pub use caveats::embedder_caveats;
pub(super) use check::check;
pub(super) use embedder::Embedder;
pub(super) use held::Held;
pub use named::Named;
pub(super) use named::named;
pub(super) use opened::{Opened, open, reuse};
pub use planned::{Embedding, embedding};
pub use probe::probe;
pub use reference::{Reference, reference};
pub(super) use vectors::{Vectors, still_the_same, vectors};
