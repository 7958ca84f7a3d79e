//! The explanation as JSON.

use super::{CallPlan, EXPLANATION_FORMAT, EvidenceChange, Explanation, Given, Settled, StepAnswers, words};
use crate::analyze::counterfactual::{Base, Change, Class, Finding};
use crate::model::Kernel;
use crate::report::terminal;
use serde_json::{Value, json};

/// The explanation as JSON, indented, a line break at the end. Ranks count from 1, changes and repeats from 0.
#[must_use]
pub fn explanation_json(told: &Explanation) -> Vec<u8> {
    let value = json!({
        "format": EXPLANATION_FORMAT,
        "run": told.run.to_string(),
        "question": told.question.0,
        "text": told.text,
        "generate": told.generate,
        "judge": told.judge,
        "normalisation": told.normalisation,
        "repeats": told.repeats,
        "old": given(&told.old),
        "new": given(&told.new),
        "shared": told.shared,
        "changes": told.changes.iter().map(change).collect::<Vec<_>>(),
        "tried": told.tried,
        "settled": told.settled.map(settled),
        "steps": told.steps.iter().map(step).collect::<Vec<_>>(),
        "findings": told.findings.iter().map(|(kernel, found)| finding(told, *kernel, found)).collect::<Vec<_>>(),
        "calls": calls(&told.calls),
        "caveats": told.caveats,
        "folder": told.folder,
    });
    format!("{value:#}\n").into_bytes()
}

fn given(given: &Given) -> Value {
    json!({ "documents": given.documents, "answers": given.answers })
}

fn change(change: &EvidenceChange) -> Value {
    let (kind, old, new) = match change.change {
        Change::Left { old } => ("left", Some(old + 1), None),
        Change::Came { new } => ("came", None, Some(new + 1)),
        Change::Edited { old, new } => ("changed", Some(old + 1), Some(new + 1)),
        Change::Reordered => ("reordered", None, None),
    };
    json!({
        "kind": kind,
        "id": change.id,
        "new_id": change.new_id,
        "old_rank": old,
        "new_rank": new,
        "old_excerpt": change.old_excerpt,
        "new_excerpt": change.new_excerpt,
    })
}

const fn settled(settled: Settled) -> &'static str {
    match settled {
        Settled::SameEvidence { .. } => "same_evidence",
        Settled::RetrievalVaries => "retrieval_varies",
        Settled::NoFlip => "no_flip",
    }
}

fn step(step: &StepAnswers) -> Value {
    let base = match step.step.base {
        Base::Old => "old",
        Base::New => "new",
    };
    let answer = |(place, (repeat, answer)): (usize, &(u32, String))| {
        let is = |wanted: Kernel| {
            let classes = step.classes.iter().find(|(kernel, _)| *kernel == wanted);
            classes.and_then(|(_, classes)| classes.get(place)).map(|one| class(*one))
        };
        json!({ "repeat": repeat, "answer": answer, "exact": is(Kernel::Exact), "semantic": is(Kernel::Semantic) })
    };
    json!({
        "base": base,
        "change": step.step.change,
        "evidence": step.evidence.to_string(),
        "answers": step.answers.iter().enumerate().map(answer).collect::<Vec<_>>(),
    })
}

const fn class(class: Class) -> &'static str {
    match class {
        Class::Old => "old",
        Class::New => "new",
        Class::Both => "both",
        Class::Unknown => "unknown",
        Class::Other => "other",
    }
}

fn finding(told: &Explanation, kernel: Kernel, finding: &Finding) -> Value {
    let sentences: Vec<String> = words::finding(told, kernel, finding).iter().map(terminal::line).collect();
    let (name, lists) = match finding {
        Finding::NoFlip => ("no_flip", Value::Null),
        Finding::Unstable => ("unstable", Value::Null),
        Finding::Open => ("open", Value::Null),
        Finding::Drifted => ("drifted", Value::Null),
        Finding::Told { decide, needed, enough, in_part, open } => (
            "told",
            json!({
                "decide": decide,
                "needed": needed,
                "enough": enough,
                "in_part": in_part,
                "open": open,
            }),
        ),
    };
    json!({ "kernel": kernel, "finding": name, "changes": lists, "sentence": sentences.join(" ") })
}

fn calls(calls: &CallPlan) -> Value {
    let CallPlan { all, left, amount, whom } = calls;
    let amount = amount.map(|estimate| {
        let (tokens, nano_usd) = (estimate.amount.tokens, estimate.amount.nano_usd);
        json!({ "tokens": tokens, "nano_usd": nano_usd, "measured": estimate.measured })
    });
    json!({ "answers": all, "left": left, "estimate": amount, "whom": whom })
}
