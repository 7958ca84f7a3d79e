//! `churngate check`.

use super::arguments::SpecArguments;
use super::{context, output};
use crate::model::Failure;
use crate::run::{self, Plan, Prepared};

/// Validates the spec, resolves its snapshots and prints the plan. Spends nothing.
pub fn check(arguments: &SpecArguments) -> Result<u8, Failure> {
    let prepared = run::prepare(arguments.request())?;
    let plan = run::plan(&prepared);
    output::write(text(&prepared, &plan).as_bytes())?;
    plan.within_budget().map(|()| 0)
}

fn text(prepared: &Prepared, plan: &Plan) -> String {
    let mut lines = vec![format!("audit `{}`: the spec is valid", prepared.protocol.spec.name)];
    for snapshot in &prepared.protocol.snapshots {
        let documents = snapshot.documents.map_or_else(String::new, |count| format!(", {count} documents"));
        lines.push(format!("snapshot {}: {}{documents}", snapshot.name, snapshot.physical));
    }
    let Plan { questions, snapshots, repeats, answers, packets, calls, fits_budget: _, sensitivity } = plan;
    lines.push(format!("questions: {questions}, asked {repeats} times of each of {snapshots} snapshots"));
    lines.push(format!("at most {answers} answers and {packets} packets; {calls} external calls before retries"));
    lines.extend(prepared.protocol.notes().iter().map(|note| format!("note: {note}")));
    lines.extend(sensitivity.iter().cloned());
    lines.extend(context::missing_secrets(&prepared.protocol.spec).iter().map(|line| format!("warning: {line}")));
    lines.extend(prepared.origin.iter().flat_map(run::Origin::caveats));
    lines.push(format!("run folder: {}", prepared.folder));
    lines.join("\n") + "\n"
}
