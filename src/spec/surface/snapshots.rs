//! `snapshots`

use super::shape::{Key, Section, Shape};

/// The states that are compared.
pub static SNAPSHOTS: Section = Section {
    keys: &[
        Key::required("old", Shape::Snapshot { rung: false, from: false }, "The snapshot that is deployed now."),
        Key::required(
            "new",
            Shape::Snapshot { rung: false, from: true },
            "The snapshot that would replace it; `from` is a file that names its variables.",
        ),
        Key::optional(
            "between",
            Shape::List { items: &Shape::Snapshot { rung: true, from: false }, min: 1, max: 16 },
            "Snapshots between old and new, in order, each with a `name`.",
        ),
        Key::optional(
            "placebo",
            Shape::Snapshot { rung: false, from: false },
            "The old snapshot rebuilt unchanged: shows the churn of the rebuild alone, and decides nothing.",
        ),
        Key::default("closed_book", Shape::Flag, "false", "Whether every question is also asked without evidence."),
    ],
    one_of: &[],
    later: &[],
};
