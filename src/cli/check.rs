//! `churngate check`.

use super::arguments::CheckArguments;
use super::{context, output, tape};
use crate::http::Context;
use crate::http::chat::{Facts, Probed, Tokens};
use crate::model::Failure;
use crate::report;
use crate::retrieve::Embedding;
use crate::run::{self, Plan, Prepared};
use crate::spec::{Mode, RetrieveBackend, SqlEngine};
use tokio::runtime::Runtime;

/// Validates the spec, resolves its snapshots and prints the plan. Spends nothing, unless it is asked to probe.
pub fn check(arguments: &CheckArguments) -> Result<u8, Failure> {
    let draft = run::read(arguments.spec.request())?;
    // Without its keys an engine cannot be asked what its snapshots are; all else can still be checked.
    let taped = arguments.tape.record.is_some() || arguments.tape.replay.is_some();
    let has_keys = taped || context::missing_secrets(draft.spec()).is_empty();
    let context = if has_keys { Some(context::context(draft.spec(), &arguments.tape, None, true)?) } else { None };
    let runtime = super::runtime()?;
    let planned = runtime.block_on(run::planned(draft, context.as_ref()));
    let (prepared, unasked) = context.as_ref().map_or(Ok(()), tape::sound).and(planned)?;
    let plan = run::plan(&prepared);
    let asked = (context.is_some() && unasked.is_none()) || !has_probes(&prepared);
    output::write(text(&prepared, &plan, asked).as_bytes())?;
    unasked.map_or(Ok(()), Err)?;
    plan.within_budget()?;
    if !arguments.probe {
        return Ok(0);
    }
    let context = match context {
        Some(context) => context,
        None => context::context(&prepared.protocol.spec, &arguments.tape, None, true)?,
    };
    probe(&prepared, &context, &runtime)
}

/// One call to each server. The first failure is the command's.
fn probe(prepared: &Prepared, context: &Context, runtime: &Runtime) -> Result<u8, Failure> {
    let probed = runtime.block_on(run::probe(prepared, context))?;
    if context.client.is_replaying() {
        output::line("probe: replayed from a recording, no server was called")?;
    }
    if probed.is_empty() {
        output::line("probe: the spec names no server of a model")?;
    }
    for one in &probed {
        output::line(&said(one))?;
    }
    tape::sound(context)?;
    probed.into_iter().find_map(|one| one.failure).map_or(Ok(0), Err)
}

/// One line about one server.
fn said(probed: &Probed) -> String {
    let Probed { whose, controls, facts, dimensions, latency, failure } = probed;
    let Facts { status, served_model, fingerprint, tokens, .. } = facts;
    let mut parts = vec![status.map_or_else(|| "no reply".to_owned(), |status| format!("status {status}"))];
    parts.push(format!("{:.1} s", latency.as_secs_f64()));
    parts.extend(served_model.as_ref().map(|model| format!("served model `{model}`")));
    parts.extend(fingerprint.as_ref().map(|print| format!("fingerprint `{print}`")));
    parts.extend(dimensions.map(|length| format!("vectors of {length} numbers")));
    parts.extend(tokens.map(|Tokens { input, output, .. }| format!("{input} tokens read and {output} written")));
    let verb = if failure.is_none() { "took" } else { "was sent" };
    let controls = if controls.is_empty() { "no control".to_owned() } else { format!("`{}`", controls.join("`, `")) };
    format!("probe of the {whose}: {}; it {verb} {controls}", parts.join(", "))
}

/// Whether an engine tells what its snapshots are.
fn has_probes(prepared: &Prepared) -> bool {
    match &prepared.protocol.spec.retrieve.backend {
        RetrieveBackend::Http(http) => !http.probes.is_empty(),
        RetrieveBackend::Sql(sql) => sql.state.is_some() || matches!(sql.engine, SqlEngine::Sqlite { .. }),
        RetrieveBackend::Bm25(_) | RetrieveBackend::Command(_) | RetrieveBackend::File | RetrieveBackend::Within => {
            false
        }
    }
}

/// What an audit asks.
fn calls(plan: &Plan) -> Vec<String> {
    let Plan { questions, snapshots, repeats, answers, packets, diagnostics, embedding, calls, amount, .. } = plan;
    let mut lines = vec![
        format!("questions: {questions}, asked {repeats} times of each of {snapshots} snapshots"),
        format!(
            "at most {} and {}; {} before retries",
            counted(*answers, "answer"),
            counted(*packets, "packet"),
            counted(*calls, "external call")
        ),
    ];
    lines.extend(embedded(*embedding));
    lines.extend(diagnostics.iter().cloned());
    if amount.tokens > 0 {
        lines.push(format!("these take up to {amount} (an estimate: all evidence and answers at their full length)"));
    }
    lines
}

/// What it takes to embed the questions, where they are embedded.
fn embedded(embedding: Embedding) -> Option<String> {
    let Embedding { calls, texts, amount } = embedding;
    let takes = if amount.tokens == 0 { String::new() } else { format!(", up to {amount}") };
    (calls > 0).then(|| format!("questions as vectors: at most {calls} of these calls, {texts} texts{takes}"))
}

/// What a comparison of evidence asks.
fn evidence(plan: &Plan) -> Vec<String> {
    let Plan { questions, snapshots, embedding, .. } = plan;
    let mut lines = vec![format!("questions: {questions}, retrieved twice from each of {snapshots} snapshots")];
    lines.extend(embedded(*embedding));
    lines.push("nothing is answered, judged or decided (`mode: evidence`)".to_owned());
    lines
}

/// `1 document`, `2 documents`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn text(prepared: &Prepared, plan: &Plan, asked: bool) -> String {
    let spec = &prepared.protocol.spec;
    let mut lines = vec![format!("audit `{}`: the spec is valid", spec.name)];
    for snapshot in &prepared.protocol.snapshots {
        let documents =
            snapshot.documents.map_or_else(String::new, |count| format!(", {}", counted(count, "document")));
        lines.push(format!("snapshot {}: {}{documents}", snapshot.name, snapshot.physical));
    }
    lines.extend(report::passed_over(&run::snapshots(&prepared.protocol)));
    lines.extend(match spec.mode {
        Mode::Audit => calls(plan),
        Mode::Evidence => evidence(plan),
    });
    if !asked {
        lines.push("note: no engine was asked what its snapshots are; the run folder may be another one".to_owned());
    }
    lines.extend(run::one_and_the_same(&prepared.protocol).map(|caveat| format!("warning: {caveat}")));
    lines.extend(prepared.protocol.notes().iter().map(|note| format!("note: {note}")));
    if spec.mode == Mode::Audit {
        lines.extend(run::sensitivity(prepared));
    }
    lines.extend(context::missing_secrets(&prepared.protocol.spec).iter().map(|line| format!("warning: {line}")));
    lines.extend(prepared.origin.iter().flat_map(run::Origin::caveats));
    lines.push(format!("run folder: {}", prepared.folder));
    lines.join("\n") + "\n"
}
