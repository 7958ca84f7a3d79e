//! Documents and questions that are made, not read: 60 words each and 8, drawn so that a few words are in nearly every
//! document and most are rare, as in real text.

use churngate::retrieve::corpus::CorpusDocument;

const WORDS: u64 = 60;
const VOCABULARY: u64 = 50_000;

/// A word of the vocabulary by a number that stands for a draw: squaring twice makes small ranks common.
fn word(draw: u64) -> String {
    let mixed = draw.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40;
    let squared = (mixed * mixed) >> 24;
    let rank = ((squared * squared) >> 24) * VOCABULARY;
    format!("w{}", rank >> 24)
}

/// The document of this number.
pub fn document(number: u64) -> CorpusDocument {
    let words: Vec<String> = (0..WORDS).map(|place| word(number * WORDS + place)).collect();
    CorpusDocument { id: format!("d{number:07}"), url: None, text: words.join(" ") }
}

/// The question of this number.
pub fn question(number: u64) -> String {
    (0..8).map(|place| word(1_000_000_007 + number * 8 + place)).collect::<Vec<_>>().join(" ")
}

/// The documents of a corpus made from one template: all have the same words but a few, so that most of them tie.
pub fn templated(number: u64) -> CorpusDocument {
    let text = format!("The widget{number} supports feature{number} since version {number}.");
    CorpusDocument { id: format!("d{number:07}"), url: None, text }
}

/// A question about one of them.
pub fn templated_question(number: u64) -> String {
    format!("Since which version does widget{number} support feature{number}?")
}
