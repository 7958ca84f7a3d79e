//! One document of a corpus.

/// The largest document that is read, in bytes of its text.
pub const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// The longest id of a document, in bytes. Ids stand in every record of what was found, so that a few long ones would be more
/// than a record can hold.
pub const MAX_ID_BYTES: usize = 1024;
/// The longest URL of a document, in bytes, for the same reason.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// A document as the corpus has it, neither compacted nor cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusDocument {
    /// Its id: the path within the folder, or the id in the JSONL file.
    pub id: String,
    /// Where it can be read, if the corpus says so.
    pub url: Option<String>,
    /// Its whole text; a title of its own stands before it.
    pub text: String,
}
