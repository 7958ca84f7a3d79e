//! Answers by which a system says that it does not know.

use super::reading::Reading;

/// Phrases by which a system says that it does not know, in normal form.
const PHRASES: &[&str] = &[
    "unknown",
    "i do not know",
    "do not know",
    "i am not sure",
    "not sure",
    "not known",
    "it is unknown",
    "it is not known",
    "unclear",
    "no answer",
    "not available",
    "not stated",
    "not specified",
    "not mentioned",
    "not given",
    "cannot be determined",
    "can not be determined",
    "cannot determine",
    "cannot answer",
    "can not answer",
    "not enough information",
    "insufficient information",
    "insufficient evidence",
    "no information",
    "information not available",
    "n a",
    "it cannot be determined",
    "it can not be determined",
    "i cannot determine",
    "i can not determine",
    "i cannot answer",
    "i can not answer",
    "it is unclear",
    "it is not stated",
    "it is not specified",
    "it is not mentioned",
    "na",
    "answer is unknown",
    "evidence does not say",
    "unsure",
    "undetermined",
    "no evidence",
];

/// What may follow such a phrase: where it was looked for, and for what. Any other word says something of its own
/// (`not available in Safari`).
const TAIL: &[&str] = &[
    "in",
    "from",
    "by",
    "on",
    "of",
    "to",
    "based",
    "within",
    "about",
    "any",
    "this",
    "that",
    "these",
    "it",
    "is",
    "was",
    "here",
    "there",
    "with",
    "at",
    "all",
    "be",
    "determined",
    "answer",
    "answers",
    "question",
    "material",
    "provided",
    "given",
    "available",
    "supplied",
    "retrieved",
    "found",
    "above",
    "certainty",
    "sure",
    "search",
    "results",
];

/// Who may fail to say something; each may stand in a tail as well.
const SOURCES: &[&str] = &[
    "document",
    "documents",
    "evidence",
    "context",
    "text",
    "texts",
    "passage",
    "passages",
    "source",
    "sources",
    "information",
];

const VERBS: &[&str] =
    &["say", "mention", "specify", "state", "contain", "provide", "answer", "tell", "include", "give"];

/// Whether nothing in these words says something of its own.
fn is_tail(words: &[&str]) -> bool {
    words.iter().all(|word| TAIL.contains(word) || SOURCES.contains(word))
}

/// Whether an answer says that it does not know, and nothing else.
#[must_use]
pub fn says_so(reading: &Reading) -> bool {
    if !reading.amounts().is_empty() {
        return false;
    }
    let words: Vec<&str> = reading.words().map(|word| word.text.as_str()).collect();
    let words = match words.as_slice() {
        ["sorry" | "there", rest @ ..] => rest.strip_prefix(&["is"]).unwrap_or(rest),
        all => all,
    };
    let known = |phrase: &&str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.strip_prefix(phrase.as_slice()).is_some_and(|tail| tail.is_empty() || (phrase.len() > 1 && is_tail(tail)))
    };
    PHRASES.iter().any(known) || source_is_silent(words)
}

/// `the documents do not say`, `the provided context does not mention this`.
fn source_is_silent(words: &[&str]) -> bool {
    let Some(denied) = words.windows(2).position(|pair| matches!(pair, ["do" | "does" | "did", "not"])) else {
        return false;
    };
    let (subject, rest) = (&words[..denied], &words[denied + 2..]);
    let source = subject.iter().any(|word| SOURCES.contains(word)) && is_tail(subject);
    let [verb, tail @ ..] = rest else { return false };
    source && VERBS.contains(verb) && is_tail(tail)
}
