//! Attempts of one process that came to nothing, counted by their codes: what a failure says about its cause.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// How often each code was given. Holds codes of ours and never a text from outside.
#[derive(Debug, Default)]
pub struct Tally(Mutex<BTreeMap<&'static str, u64>>);

impl Tally {
    /// Counts one attempt.
    pub fn add(&self, code: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(code).or_default() += 1;
    }

    /// Whether this code was given.
    #[must_use]
    pub fn has(&self, code: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(code)
    }

    /// A message with the counts behind it in brackets, where there are any.
    #[must_use]
    pub fn after(&self, message: &str) -> String {
        let counts = self.to_string();
        if counts.is_empty() { message.to_owned() } else { format!("{message} ({counts})") }
    }
}

/// The counts, the most frequent code first: `not-json 7, timed-out 3`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts: Vec<(&str, u64)> = counts.iter().map(|(code, count)| (*code, *count)).collect();
        counts.sort_by_key(|(code, count)| (std::cmp::Reverse(*count), *code));
        let counts: Vec<String> = counts.iter().map(|(code, count)| format!("{code} {count}")).collect();
        f.write_str(&counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_behind_the_message_the_most_frequent_first() {
        let tally = Tally::default();
        assert_eq!(tally.after("no answer"), "no answer");
        for code in ["timed-out", "not-json", "empty-body", "not-json"] {
            tally.add(code);
        }
        assert_eq!(tally.after("no answer"), "no answer (not-json 2, empty-body 1, timed-out 1)");
    }
}
