//! The committed weights. Written by `cargo run --example fit_judge -- --write`; a test fits them again.

use super::model::Weights;

/// Fitted to the tuned half of `data/judge/pairs.jsonl`.
pub const WEIGHTS: Weights = [
    -1.0423, // one
    0.7502,  // word_f1
    0.9569,  // word_coverage
    0.1116,  // letter_coverage
    -0.4685, // trigram_dice
    0.2234,  // last_word_equal
    -0.1867, // first_word_equal
    0.4757,  // amounts_equal
    0.5002,  // amounts_subset
    0.4582,  // amounts_one_sided
    1.6421,  // length_gap
    1.8040,  // best_common_start
    -0.8197, // nothing_shared
    -0.1763, // list_on_one_side
    -0.9948, // contrasting_word
    -0.6432, // negation_differs
    0.7464,  // person_contained
    -0.3172, // words_replaced
    -0.5363, // one_word_replaced
];
