//! Questions that are the same but for case, punctuation and articles.
//!
//! Nothing looser is asked: questions made from one template differ in a single word, and are not the same for that.

use crate::model::Digest;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

/// The first half of a digest: enough to tell the questions of one file apart.
type Key = [u8; 16];

/// The questions met so far.
#[derive(Default)]
pub(super) struct Near {
    texts: HashMap<Key, String>,
    wordings: HashMap<Key, (String, Option<String>)>,
    same: Pairs,
    alike: Pairs,
}

/// How many questions repeat an earlier one, and the first of them.
#[derive(Default)]
struct Pairs {
    count: u64,
    first: Option<(String, String)>,
}

impl Near {
    /// Takes in a question that stands at this place.
    pub(super) fn take(&mut self, text: &str, cluster: Option<&str>, at: &str) {
        if let Some(first) = self.texts.get(&key(text)) {
            self.same.add(first, at);
            return;
        }
        self.texts.insert(key(text), at.to_owned());
        let wording = key(&wording(text));
        match self.wordings.get(&wording) {
            // Whoever gave both one cluster knows of them.
            Some((_, known)) if cluster.is_some() && known.as_deref() == cluster => {}
            Some((first, _)) => self.alike.add(first, at),
            None => {
                self.wordings.insert(wording, (at.to_owned(), cluster.map(str::to_owned)));
            }
        }
    }

    /// What a person should know.
    pub(super) fn notes(self) -> impl Iterator<Item = String> {
        let remedy =
            "each counts by itself, which makes bounds too narrow: remove one, or give both the same `cluster`";
        let same = self.same.note("the same text as another one under a different id", remedy);
        let alike = self.alike.note("the text of another one but for case, punctuation or articles", remedy);
        same.into_iter().chain(alike)
    }
}

impl Pairs {
    fn add(&mut self, first: &str, second: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| (first.to_owned(), second.to_owned()));
    }

    fn note(self, what: &str, remedy: &str) -> Option<String> {
        let (first, second) = self.first?;
        let have = if self.count == 1 { "1 question has" } else { &format!("{} questions have", self.count) };
        Some(format!("{have} {what}, first on {first} and {second}; {remedy}"))
    }
}

fn key(text: &str) -> Key {
    let mut key = [0; 16];
    key.copy_from_slice(&Digest::of(text.as_bytes()).as_bytes()[..16]);
    key
}

/// The words in lower case, without punctuation and articles. Other signs stay: C, C++ and C# are three things.
fn wording(text: &str) -> String {
    let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let between = |c: char| c.is_whitespace() || c.is_control() || ".,;:!?¿¡'\"`’‘“”„«»()[]{}…–—-_/\\".contains(c);
    let words = lower.split(between).filter(|word| !matches!(*word, "" | "a" | "an" | "the"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(questions: &[(&str, Option<&str>)]) -> Vec<String> {
        let mut near = Near::default();
        for (number, (text, cluster)) in questions.iter().enumerate() {
            near.take(text, *cluster, &format!("line {}", number + 1));
        }
        near.notes().collect()
    }

    #[test]
    fn a_question_that_is_asked_twice_is_named_with_both_lines() {
        let found = notes(&[("Who?", None), ("Is the C++ book out?", None), ("Who?", None), ("is C++ book out", None)]);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with(
            "1 question has the same text as another one under a different id, first on line 1 and line 3; "
        ));
        assert!(found[1].starts_with(
            "1 question has the text of another one but for case, punctuation or articles, first on line 2 and line 4; "
        ));
    }

    #[test]
    fn questions_of_one_template_raise_no_alarm() {
        let asked = [
            "Since which version does X support Y?",
            "Since which version does X support Z?",
            "What is C?",
            "What is C++?",
            "What is C#?",
            "Does A call B?",
            "Does B call A?",
            "Is 1.5 enough?",
            "Is 15 enough?",
        ];
        let asked: Vec<_> = asked.iter().map(|text| (*text, None)).collect();
        assert_eq!(notes(&asked), Vec::<String>::new());
        assert_eq!(notes(&[("Who?", Some("s")), ("who", Some("s"))]), Vec::<String>::new());
        assert_eq!(notes(&[("Who?", Some("s")), ("who", Some("t"))]).len(), 1);
    }
}
