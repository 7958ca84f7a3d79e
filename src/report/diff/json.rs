//! The diff as JSON.

use super::{AuditCost, DIFF_FORMAT, EvidenceDiff, QuestionAtRisk};
use crate::analyze::{Overlap, OverlapFigures};
use crate::model::PassedOver;
use crate::report::result::{EvidenceLine, SnapshotSummary};
use serde_json::{Value, json};

/// The diff as JSON, indented, keys in a fixed order, a line break at the end.
#[must_use]
pub fn diff_json(diff: &EvidenceDiff) -> Vec<u8> {
    let EvidenceDiff {
        name,
        protocol,
        snapshots,
        retrieve,
        replayed,
        overlap,
        placebo,
        caveats,
        mismatched,
        at_risk,
        cost,
    } = diff;
    let value = json!({
        "format": DIFF_FORMAT,
        "name": name,
        "protocol": protocol.to_string(),
        "retrieve": retrieve,
        "replayed": replayed,
        "snapshots": snapshots.iter().map(snapshot).collect::<Vec<_>>(),
        "overlap": self::overlap(overlap),
        "placebo": placebo.as_ref().map(self::overlap),
        "caveats": caveats,
        "mismatched": mismatched,
        "cost": self::cost(cost),
        "at_risk": at_risk.iter().map(question).collect::<Vec<_>>(),
    });
    format!("{value:#}\n").into_bytes()
}

fn snapshot(snapshot: &SnapshotSummary) -> Value {
    let SnapshotSummary { name, physical, fingerprint, documents, passed_over } = snapshot;
    let fingerprint = fingerprint.map(|digest| digest.to_string());
    let passed_over = passed_over.as_ref().map(|PassedOver { endings, others, hidden, links }| {
        json!({ "endings": endings, "others": others, "hidden": hidden, "links": links })
    });
    json!({
        "name": name,
        "physical": physical,
        "fingerprint": fingerprint,
        "documents": documents,
        "passed_over": passed_over,
    })
}

fn overlap(overlap: &Overlap) -> Value {
    json!({
        "questions": overlap.questions,
        "identical_prompts": overlap.identical_prompts,
        "by_id": figures(&overlap.by_id),
        "by_url": overlap.by_url.as_ref().map(figures),
        "by_content": figures(&overlap.by_content),
    })
}

fn figures(figures: &OverlapFigures) -> Value {
    let OverlapFigures { mean_shared, none, same_set, same_list } = figures;
    json!({ "mean_shared": mean_shared, "none": none, "same_set": same_set, "same_list": same_list })
}

fn cost(cost: &AuditCost) -> Value {
    let AuditCost { asked, unasked, answers, packets, calls } = cost;
    json!({ "asked": asked, "unasked": unasked, "answers": answers, "packets": packets, "calls": calls })
}

fn question(question: &QuestionAtRisk) -> Value {
    let QuestionAtRisk { question, text, turnover, shared, lost, gained } = question;
    json!({
        "question": question.0,
        "text": text,
        "turnover": turnover,
        "shared": shared,
        "lost": lost.iter().map(line).collect::<Vec<_>>(),
        "gained": gained.iter().map(line).collect::<Vec<_>>(),
    })
}

fn line(line: &EvidenceLine) -> Value {
    json!({ "id": line.id, "excerpt": line.excerpt })
}
