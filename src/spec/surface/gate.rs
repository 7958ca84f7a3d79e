//! `gate`

use super::shape::{Key, Section, Shape};

/// The rule.
pub static GATE: Section = Section {
    keys: &[
        Key::optional(
            "incompatible_when",
            BLOCKING_LINES,
            "Every line must hold to block; each says that there is churn. The published rule where absent.",
        ),
        Key::optional(
            "compatible_when",
            PASSING_LINES,
            "Every line must hold to pass; each says that there is little churn. `semantic: { upper_bound_below: 5pp }` where absent.",
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

const BLOCKING_LINES: Shape = Shape::List { items: &Shape::Map(&BLOCKING_LINE), min: 1, max: 16 };
const PASSING_LINES: Shape = Shape::List { items: &Shape::Map(&PASSING_LINE), min: 1, max: 16 };

static BLOCKING_LINE: Section = Section {
    keys: &[
        Key::optional("exact", Shape::Map(&BLOCKING), "Equality after normalisation."),
        Key::optional("semantic", Shape::Map(&BLOCKING), "The blind judgment."),
    ],
    one_of: &["exact", "semantic"],
    later: &["soft", "randomisation"],
};

static PASSING_LINE: Section = Section {
    keys: &[
        Key::optional("exact", Shape::Map(&PASSING), "Equality after normalisation."),
        Key::optional("semantic", Shape::Map(&PASSING), "The blind judgment."),
    ],
    one_of: &["exact", "semantic"],
    later: &["soft", "randomisation"],
};

/// What bounds churn from below: to pass on it would be to pass what has changed.
static BLOCKING: Section = Section {
    keys: &[
        Key::optional("at_least", Shape::Points, "Excess churn is at least this."),
        Key::optional("lower_bound_above", Shape::Points, "The lower confidence bound is above this."),
    ],
    one_of: &["at_least", "lower_bound_above"],
    later: &[],
};

/// What bounds churn from above: to block on it would be to block what has not changed.
static PASSING: Section = Section {
    keys: &[
        Key::optional("below", Shape::Points, "Excess churn is below this; proves nothing by itself."),
        Key::optional("upper_bound_below", Shape::Points, "The Dirichlet upper bound is below this."),
    ],
    one_of: &["below", "upper_bound_below"],
    later: &[],
};
