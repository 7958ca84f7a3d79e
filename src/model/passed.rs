//! What of a corpus was not read.

use serde::{Deserialize, Serialize};

/// Files beside the documents of a corpus, counted. A corpus without any has none of this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Files by their ending, such as `.pdf`, in lower case: those with most files first, and only the first few.
    pub endings: Vec<(String, u64)>,
    /// All other files: without an ending, or with one that stands not above.
    pub others: u64,
    /// Files and folders whose names begin with a dot; what lies in such a folder is not counted.
    pub hidden: u64,
    /// Symbolic links and submodules.
    pub links: u64,
}

impl PassedOver {
    /// How many entries of the corpus were passed over.
    #[must_use]
    pub fn total(&self) -> u64 {
        let named = self.endings.iter().map(|(_, count)| *count);
        named.chain([self.others, self.hidden, self.links]).fold(0, u64::saturating_add)
    }
}
