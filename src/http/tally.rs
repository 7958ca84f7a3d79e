//! Attempts of one process that came to nothing, counted by their codes: what a failure says about its cause.

use super::remedy::remedy;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often each code was given, and with which ones units were given up. Holds codes of ours and never a text from outside.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    attempts: BTreeMap<&'static str, u64>,
    given_up: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Counts one attempt.
    pub fn add(&self, code: &'static str) {
        *self.counts().attempts.entry(code).or_default() += 1;
    }

    /// Counts a unit whose last attempt came to this.
    pub fn give_up(&self, code: &'static str) {
        *self.counts().given_up.entry(code).or_default() += 1;
    }

    /// How many units were given up with a code that is not of this kind.
    pub fn gave_up_but(&self, is_of_kind: impl Fn(&str) -> bool) -> u64 {
        self.counts().given_up.iter().filter(|(code, _)| !is_of_kind(code)).map(|(_, count)| count).sum()
    }

    /// What to do about the code that most units were given up with.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        let counts = self.counts();
        let most = counts.given_up.iter().max_by_key(|(_, count)| **count);
        remedy(most.map_or("", |(code, _)| code))
    }

    /// A panic elsewhere leaves numbers that are still good.
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut counts: Vec<(&str, u64)> = self.counts().attempts.iter().map(|(code, count)| (*code, *count)).collect();
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

    #[test]
    fn what_units_were_given_up_with_is_told_from_what_was_tried_again() {
        let tally = Tally::default();
        tally.add("timed-out");
        tally.give_up("answer-too-long");
        assert_eq!(tally.gave_up_but(|code| code == "answer-too-long"), 0);
        tally.give_up("timed-out");
        assert_eq!(tally.gave_up_but(|code| code == "answer-too-long"), 1);
    }

    #[test]
    fn the_remedy_is_that_of_what_most_units_were_given_up_with() {
        let tally = Tally::default();
        assert_eq!(tally.remedy(), "run the same command again to go on");
        for code in ["timed-out", "cut-by-length", "cut-by-length"] {
            tally.give_up(code);
        }
        assert!(tally.remedy().starts_with("raise `max_tokens`"), "{}", tally.remedy());
    }
}
