//! The whole spec.

use super::answer::ANSWER;
use super::gate::GATE;
use super::generate::{GENERATE, REPLICATE};
use super::judge::JUDGE;
use super::questions::QUESTIONS;
use super::retrieve::RETRIEVE;
use super::shape::{Key, Section, Shape, Text};
use super::snapshots::SNAPSHOTS;

/// The spec's outermost mapping.
pub static ROOT: Section = Section {
    keys: &[
        Key::required("version", Shape::Integer { min: 1, max: 1 }, "The version of the spec's format."),
        Key::required("name", Shape::Text(Text::Name), "Names the check and the comment; unique in the repository."),
        Key::default(
            "mode",
            Shape::Word(&["audit", "evidence"]),
            "audit",
            "Whether answers are audited, or evidence alone is retrieved and compared, without a verdict.",
        ),
        Key::required("questions", Shape::Map(&QUESTIONS), "What is asked."),
        Key::required("snapshots", Shape::Map(&SNAPSHOTS), "The states of the corpus or index that are compared."),
        Key::unless("retrieve", "answer", Shape::Map(&RETRIEVE), "How a question becomes evidence."),
        Key::unless(
            "generate",
            "answer",
            Shape::Map(&GENERATE),
            "How evidence becomes an answer; not with `mode: evidence`.",
        ),
        Key::optional(
            "answer",
            Shape::Map(&ANSWER),
            "A deployed system that retrieves and answers by itself, in place of `retrieve` and `generate`.",
        ),
        Key::required("judge", Shape::Map(&JUDGE), "How answers are compared; not with `mode: evidence`."),
        Key::optional("gate", Shape::Map(&GATE), "The rule; the published one where absent."),
        Key::optional("bootstrap", Shape::Map(&BOOTSTRAP), "The bootstrap behind the bounds."),
        Key::optional("budget", Shape::Map(&BUDGET), "What may be spent; no limit where absent."),
        Key::optional("tolerance", Shape::Map(&TOLERANCE), "What may go wrong before the audit cannot stand."),
        Key::optional(
            "replicate",
            Shape::Map(&REPLICATE),
            "A second generator on a sample of questions. Diagnosis only.",
        ),
    ],
    one_of: &[],
    later: &["stopping", "disclosure"],
};

/// Keys that say how answers come to be and what is decided about them: none of them stands beside `mode: evidence`, and none
/// is missing there.
pub static OF_ANSWERS: &[&str] = &["generate", "answer", "judge", "gate", "bootstrap", "tolerance", "replicate"];

static BOOTSTRAP: Section = Section {
    keys: &[
        Key::default(
            "draws",
            Shape::Integer { min: 1_000, max: 1_000_000 },
            "50000",
            "Draws of the preregistered stream; the verdict uses the exact distribution.",
        ),
        Key::default("confidence", Shape::Confidence, "95%", "The level of one-sided bounds and of the interval."),
    ],
    one_of: &[],
    later: &["clusters", "strata"],
};

static BUDGET: Section = Section {
    keys: &[
        Key::optional(
            "calls",
            Shape::Integer { min: 1, max: 1_000_000_000 },
            "Calls to generators and judges at most, in one process.",
        ),
        Key::optional(
            "minutes",
            Shape::Integer { min: 1, max: 100_000 },
            "Wall time at most, in minutes, of one process.",
        ),
        Key::optional(
            "tokens",
            Shape::Integer { min: 1, max: 1_000_000_000_000_000 },
            "Tokens read and written at most, in the whole run.",
        ),
        Key::optional(
            "usd",
            Shape::Decimal { max: 1_000_000 },
            "US dollars at most, in the whole run; every server of a model needs a `price`.",
        ),
    ],
    one_of: &[],
    later: &[],
};

static TOLERANCE: Section = Section {
    keys: &[
        Key::default(
            "invalid_cells",
            Shape::Share,
            "1pp",
            "The share of cells without an accepted answer, a snapshot, of questions with such a cell, and of packets without a judgment; more, and the audit is incomplete.",
        ),
        Key::default(
            "served_models",
            Shape::Word(&["one", "report"]),
            "one",
            "What happens where a generator's or a judge's server names another model within one stage: `one` ends the audit as incomplete, `report` goes on, and every report begins with the models and their counts. An embedder's model never changes.",
        ),
    ],
    one_of: &[],
    later: &[],
};
