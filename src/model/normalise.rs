//! The declared normalisations of answer texts, character by character as the official evaluations do it.

use serde::{Deserialize, Serialize};

/// How texts are normalised before they are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalisation {
    /// Lower case, ASCII punctuation and articles deleted, white space compacted (NQ and SQuAD).
    #[default]
    Nq,
    /// Lower case, the underscore, ASCII punctuation, typographic single quotes and accents turned into spaces, articles
    /// deleted, white space compacted.
    TriviaQa,
    /// Nothing but trimming.
    None,
}
