//! `gate`

use super::shape::{Key, Section, Shape};

/// The rule.
pub static GATE: Section = Section {
    keys: &[
        Key::optional("incompatible_when", LINES, "Every line must hold to block; the published rule where absent."),
        Key::optional(
            "compatible_when",
            LINES,
            "Every line must hold to pass with proof; `semantic: { upper_bound_below: 5pp }` where absent.",
        ),
        Key::default(
            "inconclusive",
            Shape::Word(&["pass", "warn", "fail"]),
            "warn",
            "What an undecided audit does to the exit code.",
        ),
    ],
    one_of: &[],
    later: &[],
};

const LINES: Shape = Shape::List { items: &Shape::Map(&LINE), min: 1, max: 16 };

static LINE: Section = Section {
    keys: &[
        Key::optional("exact", Shape::Map(&CONDITION), "Equality after normalisation."),
        Key::optional("semantic", Shape::Map(&CONDITION), "The blind judgment."),
    ],
    one_of: &["exact", "semantic"],
    later: &["soft", "randomisation"],
};

static CONDITION: Section = Section {
    keys: &[
        Key::optional("at_least", Shape::Points, "Excess churn is at least this."),
        Key::optional("below", Shape::Points, "Excess churn is below this."),
        Key::optional("lower_bound_above", Shape::Points, "The lower confidence bound is above this."),
        Key::optional("upper_bound_below", Shape::Points, "The Dirichlet upper bound is below this."),
    ],
    one_of: &["at_least", "below", "lower_bound_above", "upper_bound_below"],
    later: &[],
};
