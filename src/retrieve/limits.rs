//! Numbers that bound retrieval and are no matter of the spec.

/// Attempts of one call within one process.
pub(super) const MAX_ATTEMPTS: u32 = 5;
/// The most bytes that a program may write for one question.
pub(super) const MAX_OUTPUT_BYTES: usize = 32 * 1024 * 1024;
/// Questions that are searched for and recorded together by the embedded backends.
pub(super) const BATCH: usize = 256;
/// Corpora of at most this many bytes are indexed in memory.
pub(super) const IN_MEMORY_BYTES: u64 = 64 * 1024 * 1024;
/// Units without any valid reply after which a pass stops, if no other unit of it had one either: then the template or
/// the server is wrong, and more calls would not mend it.
pub(super) const HOPELESS: u64 = 10;
/// The most bytes of one cell of a database: as much as a document of a corpus may have.
pub(super) const MAX_CELL_BYTES: usize = 4 * 1024 * 1024;
/// Stored documents of each snapshot that are held against the embedder at most, whatever shows them.
pub(super) const STORED: u32 = 8;
/// Questions of which a snapshot must answer at least one. Fewer can all be without documents by chance.
pub(super) const ANSWERED: usize = 10;
