//! `churngate check`.

use super::arguments::SpecArguments;
use crate::model::Failure;
use crate::run::{self, Plan, Prepared};

/// Validates the spec, resolves its snapshots and prints the plan. Spends nothing.
pub fn check(arguments: &SpecArguments) -> Result<u8, Failure> {
    let prepared = run::prepare(&arguments.spec, arguments.runs.as_deref(), arguments.base.as_deref(), super::VERSION)?;
    print!("{}", text(&prepared, &run::plan(&prepared)));
    Ok(0)
}

fn text(prepared: &Prepared, plan: &Plan) -> String {
    let mut lines = vec![format!("audit `{}`: the spec is valid", prepared.protocol.spec.name)];
    for snapshot in &prepared.protocol.snapshots {
        let documents = snapshot.documents.map_or_else(String::new, |count| format!(", {count} documents"));
        lines.push(format!("snapshot {}: {}{documents}", snapshot.name, snapshot.physical));
    }
    let Plan { questions, snapshots, repeats, answers, packets, calls, fits_budget, sensitivity } = plan;
    lines.push(format!("questions: {questions}, asked {repeats} times of each of {snapshots} snapshots"));
    lines.push(format!("at most {answers} answers and {packets} packets; {calls} external calls before retries"));
    if !fits_budget {
        lines.push("the calls do not fit `budget.calls`: `run` would refuse".to_owned());
    }
    lines.extend(sensitivity.iter().cloned());
    lines.extend(prepared.origin.iter().flat_map(run::Origin::caveats));
    lines.push(format!("run folder: {}", prepared.folder));
    lines.join("\n") + "\n"
}
