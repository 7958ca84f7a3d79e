//! Snapshot -> evidence: embedded BM25, HTTP, command, file. One file a backend.
