//! The committed weights. Written by `cargo run --example fit_judge -- --write`; a test fits them again.

use super::model::Weights;

/// Fitted to the tuned half of `data/judge/pairs.jsonl`.
pub const WEIGHTS: Weights = [
    -1.6934, // one
    0.7980,  // word_f1
    1.4686,  // word_coverage
    0.1448,  // letter_coverage
    -0.6581, // trigram_dice
    0.4124,  // last_word_equal
    -0.2169, // first_word_equal
    0.4290,  // amounts_equal
    0.0000,  // amounts_subset
    0.4752,  // amounts_one_sided
    1.5699,  // length_gap
    0.7988,  // best_common_start
    -0.2903, // nothing_shared
    -0.2028, // list_on_one_side
    -1.1116, // contrasting_word
    0.2765,  // negation_differs
    0.5948,  // person_contained
];
