//! The whole spec.

use super::{answer, gate, generate, judge, questions, retrieve, snapshots};
use crate::model::ServedModels;
use crate::spec::node::{Kind, Node};
use crate::spec::preset::Presets;
use crate::spec::problem::{Code, Problem};
use crate::spec::reader::Reader;
use crate::spec::secrets::EMBEDDER;
use crate::spec::types::{BootstrapSpec, BudgetSpec, GenerateSpec, Mode, Spec, ToleranceSpec};

/// Makes a spec of a checked tree. Every section is looked at even where another one is broken.
pub fn spec(root: Reader<'_>, mode: Mode, presets: &mut Presets<'_>, problems: &mut Vec<Problem>) -> Option<Spec> {
    let empty = Node { span: root.start(), kind: Kind::Map(Vec::new()) };
    let questions = root.section("questions").and_then(|section| questions::questions(section, &empty, problems));
    let snapshots = root.section("snapshots").and_then(|section| snapshots::snapshots(section, problems));
    // Where nothing is answered, the embedded parts stand for what a whole audit would have.
    let [answering, judging] = ["reader", "embedded"].map(|part| Node::of_json(&serde_json::json!({ part: {} })));
    let section = |name, stand_in| match mode {
        Mode::Audit => root.section(name),
        Mode::Evidence => root.section_or(name, stand_in),
    };
    let (retrieve, generate) = match root.section("answer") {
        Some(section) => answer::answer(section, presets, problems).unzip(),
        None => (
            root.section("retrieve").and_then(|section| retrieve::retrieve(section, presets, problems)),
            section("generate", &answering).and_then(|section| generate::generate(section, problems)),
        ),
    };
    let first = generate.as_ref().map(|generate: &GenerateSpec| &generate.backend);
    let replicate = root.section("replicate").map(|section| generate::replicate(section, first, problems));
    let judge = section("judge", &judging).and_then(|section| judge::judge(section, problems));
    let gate = gate::gate(root.section_or("gate", &empty)?);
    if let (Some(snapshots), Some(retrieve)) = (&snapshots, &retrieve) {
        snapshots::fit(root, snapshots, retrieve, problems);
    }
    let spec = Spec {
        name: root.text("name")?,
        mode,
        questions: questions?,
        snapshots: snapshots?,
        closed_book: root.section("snapshots")?.flag("closed_book")?,
        retrieve: retrieve?.spec,
        generate: generate?,
        judge: judge?,
        gate: gate?,
        bootstrap: bootstrap(root.section_or("bootstrap", &empty)?)?,
        budget: budget(root.section_or("budget", &empty)?),
        tolerance: tolerance(root.section_or("tolerance", &empty)?)?,
        replicate: match replicate {
            Some(replicate) => Some(replicate?),
            None => None,
        },
    };
    priced(root, &spec, problems);
    Some(spec)
}

fn bootstrap(section: Reader<'_>) -> Option<BootstrapSpec> {
    Some(BootstrapSpec { draws: section.small("draws")?, confidence: section.confidence("confidence")? })
}

fn tolerance(section: Reader<'_>) -> Option<ToleranceSpec> {
    let served_models = match section.word("served_models")? {
        "report" => ServedModels::Report,
        _ => ServedModels::One,
    };
    Some(ToleranceSpec { invalid_cells: section.points("invalid_cells")?, served_models })
}

fn budget(section: Reader<'_>) -> BudgetSpec {
    BudgetSpec {
        calls: section.integer("calls"),
        minutes: section.small("minutes"),
        tokens: section.integer("tokens"),
        // A thousandth of a dollar has a million nano-dollars.
        nano_usd: section.decimal("usd").map(|(milli, _)| u64::from(milli) * 1_000_000),
    }
}

/// A budget of money holds only where every call has a price.
fn priced(root: Reader<'_>, spec: &Spec, problems: &mut Vec<Problem>) {
    let Some(budget) = root.section("budget").filter(|_| spec.budget.nano_usd.is_some()) else { return };
    for (whose, price) in spec.prices() {
        if price.is_none() {
            let message = format!("`budget.usd` needs the price of the {whose}'s model");
            let problem = Problem::new(Code::MissingKey, budget.span("usd"), message);
            let example = if whose == EMBEDDER { "input: 0.02" } else { "input: 0.4, output: 1.6" };
            problems.push(
                problem.help(format!(
                    "add `price: {{ {example} }}`, in US dollars for a million tokens, beside its `model`"
                )),
            );
        }
    }
}
