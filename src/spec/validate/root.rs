//! The whole spec.

use super::{gate, generate, judge, questions, retrieve, snapshots};
use crate::spec::node::{Kind, Node};
use crate::spec::preset::Presets;
use crate::spec::problem::Problem;
use crate::spec::reader::Reader;
use crate::spec::types::{BootstrapSpec, BudgetSpec, Spec, ToleranceSpec};

/// Makes a spec of a checked tree. Every section is looked at even where another one is broken.
pub fn spec(root: Reader<'_>, presets: &mut Presets<'_>, problems: &mut Vec<Problem>) -> Option<Spec> {
    let empty = Node { span: root.start(), kind: Kind::Map(Vec::new()) };
    let questions = root.section("questions").and_then(|section| questions::questions(section, &empty, problems));
    let snapshots = root.section("snapshots").and_then(|section| snapshots::snapshots(section, problems));
    let retrieve = root.section("retrieve").and_then(|section| retrieve::retrieve(section, presets, problems));
    let generate = root.section("generate").and_then(|section| generate::generate(section, problems));
    let judge = root.section("judge").and_then(|section| judge::judge(section, problems));
    let gate = gate::gate(root.section_or("gate", &empty)?);
    if let (Some(snapshots), Some(retrieve)) = (&snapshots, &retrieve) {
        snapshots::fit(root, snapshots, retrieve, problems);
    }
    Some(Spec {
        name: root.text("name")?,
        questions: questions?,
        snapshots: snapshots?,
        closed_book: root.section("snapshots")?.flag("closed_book")?,
        retrieve: retrieve?.spec,
        generate: generate?,
        judge: judge?,
        gate: gate?,
        bootstrap: bootstrap(root.section_or("bootstrap", &empty)?)?,
        budget: budget(root.section_or("budget", &empty)?),
        tolerance: ToleranceSpec { invalid_cells: root.section_or("tolerance", &empty)?.points("invalid_cells")? },
    })
}

fn bootstrap(section: Reader<'_>) -> Option<BootstrapSpec> {
    Some(BootstrapSpec { draws: section.small("draws")?, confidence: section.confidence("confidence")? })
}

fn budget(section: Reader<'_>) -> BudgetSpec {
    BudgetSpec { calls: section.integer("calls"), minutes: section.small("minutes") }
}
