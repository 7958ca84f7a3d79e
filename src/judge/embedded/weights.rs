//! The committed weights. Written by `cargo run --example fit_judge -- --write`; a test fits them again.

use super::model::Weights;

/// Fitted to the tuned half of `data/judge/pairs.jsonl`.
pub const WEIGHTS: Weights = [
    -0.8681, // one
    0.8985,  // word_f1
    1.1392,  // word_coverage
    0.1473,  // letter_coverage
    -0.5338, // trigram_dice
    -0.0230, // last_word_equal
    -0.3606, // first_word_equal
    0.9962,  // amounts_equal
    0.4976,  // amounts_subset
    0.4347,  // amounts_one_sided
    1.6746,  // length_gap
    1.8028,  // best_common_start
    -0.9741, // nothing_shared
    -0.2190, // list_on_one_side
    -1.0211, // contrasting_word
    -0.6377, // negation_differs
    0.6066,  // person_contained
    -0.4442, // words_replaced
    -0.6157, // one_word_replaced
];
