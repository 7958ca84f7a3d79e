//! What kind of answer a question asks for.

use super::text::Token;

/// A kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A version number.
    Version,
    /// A number.
    Count,
    /// A date or a year.
    Date,
    /// A person.
    Person,
    /// A place.
    Place,
    /// Yes or no.
    YesNo,
    /// Anything else.
    Other,
}

/// The kind of answer that these words ask for.
#[must_use]
pub fn kind(question: &[Token]) -> Kind {
    let has = |word: &str| question.iter().any(|token| token.lower == word);
    let pair = |one: &str, next: &[&str]| {
        question.windows(2).any(|pair| pair[0].lower == one && next.contains(&pair[1].lower.as_str()))
    };
    let opening = question.first().map_or("", |token| token.lower.as_str());
    match () {
        () if pair("which", &["version", "release"]) || pair("what", &["version", "release"]) => Kind::Version,
        () if pair("how", &["many", "much", "long", "old", "far", "tall", "high", "big", "large"]) => Kind::Count,
        () if has("when") || pair("which", &["year", "date", "day"]) || pair("what", &["year", "date", "day"]) => {
            Kind::Date
        }
        () if has("who") || has("whom") || has("whose") => Kind::Person,
        () if has("where") || pair("which", &["country", "city"]) || pair("what", &["country", "city"]) => Kind::Place,
        () if matches!(opening, "is" | "are" | "was" | "were" | "does" | "do" | "did" | "can" | "has" | "have") => {
            Kind::YesNo
        }
        () => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::reader::text::tokens;

    #[test]
    fn the_opening_words_tell_the_kind() {
        for (question, expected) in [
            ("Since which version does Chrome support Array.prototype.at?", Kind::Version),
            ("How many moons has Mars?", Kind::Count),
            ("when did the war end", Kind::Date),
            ("In what year was it built?", Kind::Date),
            ("Who wrote it?", Kind::Person),
            ("Where is Oslo?", Kind::Place),
            ("Does Chrome support it?", Kind::YesNo),
            ("What is the capital of Norway?", Kind::Other),
            ("", Kind::Other),
        ] {
            assert_eq!(kind(&tokens(question)), expected, "{question}");
        }
    }
}
