//! How many bytes and characters GitHub takes.

/// A comment's body. The server's limit is 65,536 characters by its error's text and 262,144 bytes as measured; this is
/// within every reading, with the marker.
pub const COMMENT: usize = 65_000;

/// A check's summary: the server takes 65,535 bytes.
pub const CHECK: usize = 65_000;

/// A job's summary, for the whole file of one step: 1 MiB.
pub const SUMMARY: usize = 1024 * 1024;

/// A status's description, in characters.
pub const DESCRIPTION: usize = 140;

/// A status's context, in characters.
pub const CONTEXT: usize = 255;

/// Remarks at lines in one request.
pub const PER_REQUEST: usize = 50;

/// Remarks at lines of one check run, in five requests: nobody reads more, and each request costs.
pub const ANNOTATIONS: usize = 250;

/// A remark's text: the server takes 64 KB.
pub const MESSAGE: usize = 60_000;

/// A check's title, in characters.
pub const TITLE: usize = 255;
