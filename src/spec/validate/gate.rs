//! `gate`

use crate::model::{Kernel, PercentagePoints};
use crate::spec::node::Node;
use crate::spec::reader::Reader;
use crate::spec::surface::{Section, Shape};
use crate::spec::types::{Condition, GateLine, GateSpec, Inconclusive};

/// The rule, with the published lines where none stand.
pub fn gate(section: Reader<'_>) -> Option<GateSpec> {
    Some(GateSpec {
        incompatible_when: lines(section, "incompatible_when")?.unwrap_or_else(GateSpec::published_block),
        compatible_when: lines(section, "compatible_when")?.unwrap_or_else(GateSpec::published_pass),
        inconclusive: match section.word("inconclusive")? {
            "pass" => Inconclusive::Pass,
            "fail" => Inconclusive::Fail,
            _ => Inconclusive::Warn,
        },
    })
}

/// The lines of one rule: `Some(None)` where the key does not stand, `None` where a line cannot be read.
#[expect(clippy::option_option, reason = "absent and unreadable are different things here")]
fn lines(section: Reader<'_>, name: &str) -> Option<Option<Vec<GateLine>>> {
    let Some(node) = section.node(name) else { return Some(None) };
    let table = line_table(section, name)?;
    let read: Option<Vec<GateLine>> = node.items().iter().map(|item| line(item, table)).collect();
    read.filter(|lines| !lines.is_empty()).map(Some)
}

fn line_table(section: Reader<'_>, name: &str) -> Option<&'static Section> {
    match section.shape(name)? {
        Shape::List { items: Shape::Map(table), .. } => Some(table),
        _ => None,
    }
}

fn line(node: &Node, table: &'static Section) -> Option<GateLine> {
    let line = Reader::new(node, table);
    let (kernel, condition) = match (line.section("exact"), line.section("semantic")) {
        (Some(condition), None) => (Kernel::Exact, condition),
        (None, Some(condition)) => (Kernel::Semantic, condition),
        _ => return None,
    };
    Some(GateLine { kernel, condition: self::condition(condition)? })
}

fn condition(section: Reader<'_>) -> Option<Condition> {
    let at_least = section.points("at_least").map(Condition::AtLeast);
    let below = || section.points("below").map(Condition::Below);
    let lower = || section.points("lower_bound_above").map(Condition::LowerBoundAbove);
    let upper = || section.points("upper_bound_below").map(Condition::UpperBoundBelow);
    at_least.or_else(below).or_else(lower).or_else(upper)
}

impl GateSpec {
    /// The rule where a spec names none: the published blocking rule and the default passing rule; undecided audits warn.
    #[must_use]
    pub fn published() -> Self {
        let (incompatible_when, compatible_when) = (Self::published_block(), Self::published_pass());
        Self { incompatible_when, compatible_when, inconclusive: Inconclusive::Warn }
    }

    /// The published blocking rule: exact D̂ >= 3 pp, exact lower bound > 0, semantic lower bound > 0.
    #[must_use]
    pub fn published_block() -> Vec<GateLine> {
        let zero = PercentagePoints::from_units(0);
        let three = PercentagePoints::from_units(3_000_000);
        vec![
            GateLine { kernel: Kernel::Exact, condition: Condition::AtLeast(three) },
            GateLine { kernel: Kernel::Exact, condition: Condition::LowerBoundAbove(zero) },
            GateLine { kernel: Kernel::Semantic, condition: Condition::LowerBoundAbove(zero) },
        ]
    }

    /// The default passing rule: semantic Dirichlet upper bound < 5 pp.
    #[must_use]
    pub fn published_pass() -> Vec<GateLine> {
        let five = PercentagePoints::from_units(5_000_000);
        vec![GateLine { kernel: Kernel::Semantic, condition: Condition::UpperBoundBelow(five) }]
    }
}
