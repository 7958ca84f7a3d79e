//! Closed lists of English words.

/// Words that say nothing about what a sentence is about.
const FUNCTION: &str = " a an the of in on at by to for from with without about as into over under after before since \
    until during between among and or but nor so if than then that this these those it its they them their he she his \
    her him we our you your i my me is are was were be been being am do does did done has have had having will would \
    can could shall should may might must not no yes who whom whose what which when where why how there here also only \
    very such other same own any all each some more most many much few us s t ";

/// Small words that may stand within a name.
const JOINING: &str = " of de van von der la le al bin ibn the ";

/// Words before a span that belong to a fuller wording of it.
const LEADING: &str = " since in by at on from about during around to as with of ";

const MONTHS: &str = " january february march april may june july august september october november december ";

const NUMBERS: &str = " one two three four five six seven eight nine ten eleven twelve ";

fn among(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|entry| entry == word)
}

/// Whether a lower-case word says nothing about what a sentence is about.
pub fn is_function(word: &str) -> bool {
    among(FUNCTION, word)
}

/// Whether a lower-case word may stand within a name.
pub fn joins_names(word: &str) -> bool {
    among(JOINING, word)
}

/// Whether a lower-case word leads in a span.
pub fn leads_in(word: &str) -> bool {
    among(LEADING, word)
}

/// Whether a lower-case word is a month.
pub fn is_month(word: &str) -> bool {
    among(MONTHS, word)
}

/// Whether a lower-case word is a small number.
pub fn is_number_word(word: &str) -> bool {
    among(NUMBERS, word)
}
