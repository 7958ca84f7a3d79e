//! The committed weights. Written by `cargo run --example fit_judge -- --write`; a test fits them again.

use super::model::Weights;

/// Fitted to the tuned half of `data/judge/pairs.jsonl`.
pub const WEIGHTS: Weights = [
    -1.693367, // one
    0.797977, // word_f1
    1.468553, // word_coverage
    0.144767, // letter_coverage
    -0.658063, // trigram_dice
    0.412375, // last_word_equal
    -0.216862, // first_word_equal
    0.428975, // amounts_equal
    0.000000, // amounts_subset
    0.475151, // amounts_one_sided
    1.569873, // length_gap
    0.798796, // best_common_start
    -0.290334, // nothing_shared
    -0.202789, // list_on_one_side
    -1.111563, // contrasting_word
    0.276516, // negation_differs
    0.594778, // person_contained
];
