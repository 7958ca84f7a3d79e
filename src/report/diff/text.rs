//! The diff for a terminal: safe to print in a CI log.

use super::{AuditCost, EvidenceDiff, QuestionAtRisk};
use crate::analyze::{Overlap, OverlapFigures};
use crate::report::escape::Untrusted;
use crate::report::result::{EvidenceLine, SnapshotSummary};
use crate::report::{numbers, terminal};
use std::fmt::Write as _;

/// Characters of a name or an id that are shown.
const NAME: usize = 80;
/// Characters of a text that are shown.
const TEXT: usize = 100;
/// Documents of one question that are shown on each side.
const DOCUMENTS: usize = 3;

/// Snapshots, overlap, cost, and the first `limit` questions at risk.
#[must_use]
pub fn diff_text(diff: &EvidenceDiff, limit: usize) -> String {
    let mut text = format!("{}: evidence alone, no verdict\n", Untrusted::new(&diff.name).terminal(NAME));
    let _ = writeln!(text, "retrieved by {}", Untrusted::new(&diff.retrieve).terminal(2 * NAME));
    let caveat = |caveat: &String| format!("warning: {}\n", Untrusted::new(caveat).terminal(4 * NAME));
    text.extend(diff.caveats.iter().map(caveat));
    text.extend(diff.snapshots.iter().map(snapshot));
    text.extend(terminal::passed_over(&diff.snapshots).into_iter().map(|line| line + "\n"));
    text.push_str(&overlap("compared by", &diff.overlap));
    if let Some(placebo) = &diff.placebo {
        text.push_str(&overlap("placebo", placebo));
        text.push_str("the placebo is the old snapshot rebuilt: what it lost, the rebuild alone took\n");
    }
    if diff.mismatched > 0 {
        let _ = writeln!(
            text,
            "warning: two retrievals of the same snapshot differ {} times",
            numbers::count(diff.mismatched)
        );
    }
    text.push_str(&cost(diff.cost));
    let _ = writeln!(text, "\nquestions at risk: {}", numbers::count(diff.at_risk.len() as u64));
    text.extend(diff.at_risk.iter().take(limit).enumerate().map(|(number, one)| question(number + 1, one)));
    let left_out = diff.at_risk.len().saturating_sub(limit);
    if left_out > 0 {
        let _ = writeln!(
            text,
            "{} more; `--limit` shows them, `--format json` has them all",
            numbers::count(left_out as u64)
        );
    }
    text
}

fn snapshot(snapshot: &SnapshotSummary) -> String {
    let documents =
        snapshot.documents.map_or_else(String::new, |count| format!(", {}", numbers::counted(count, "document")));
    let (name, physical) = (Untrusted::new(&snapshot.name), Untrusted::new(&snapshot.physical));
    format!("snapshot {}: {}{documents}\n", name.terminal(NAME), physical.terminal(2 * NAME))
}

fn overlap(title: &str, overlap: &Overlap) -> String {
    let by = [("id", Some(&overlap.by_id)), ("URL", overlap.by_url.as_ref()), ("content", Some(&overlap.by_content))];
    let mut text = format!("\n{title:<11}  shared (mean)  none shared  same set  same list\n");
    for (by, figures) in by {
        let Some(OverlapFigures { mean_shared, none, same_set, same_list }) = figures else { continue };
        let share = |part: &u64| numbers::percent_of(*part, overlap.questions);
        let (none, set, list) = (share(none), share(same_set), share(same_list));
        let _ = writeln!(text, "{by:<11}  {:>13}  {none:>11}  {set:>8}  {list:>9}", numbers::float(*mean_shared, 2));
    }
    let identical = numbers::percent_of(overlap.identical_prompts, overlap.questions);
    let (part, whole) = (numbers::count(overlap.identical_prompts), numbers::counted(overlap.questions, "question"));
    let _ = writeln!(text, "{part} of {whole} ({identical}) would be asked with the same bytes");
    text
}

fn cost(cost: AuditCost) -> String {
    format!(
        "a whole audit would ask {} and not ask {}: at most {}, {}, {} before retries\n",
        numbers::counted(cost.asked, "question"),
        numbers::count(cost.unasked),
        numbers::counted(cost.answers, "answer"),
        numbers::counted(cost.packets, "packet"),
        numbers::counted(cost.calls, "external call"),
    )
}

fn question(number: usize, question: &QuestionAtRisk) -> String {
    let id = Untrusted::new(&question.question.0).terminal(NAME);
    let (changed, shared) = (numbers::pp_float(question.turnover), numbers::count(question.shared));
    let mut text = format!("{number:>4}. {id}: {changed}% of the weight changed, {shared} shared\n");
    let _ = writeln!(text, "      {}", Untrusted::new(&question.text).terminal(TEXT));
    for (sign, lines) in [('-', &question.lost), ('+', &question.gained)] {
        text.extend(lines.iter().take(DOCUMENTS).map(|line| document(sign, line)));
        let more = lines.len().saturating_sub(DOCUMENTS);
        if more > 0 {
            let _ = writeln!(text, "      {sign} and {more} more");
        }
    }
    text
}

fn document(sign: char, line: &EvidenceLine) -> String {
    let (id, excerpt) = (Untrusted::new(&line.id).terminal(NAME), Untrusted::new(&line.excerpt).terminal(TEXT));
    if excerpt.is_empty() { format!("      {sign} {id}\n") } else { format!("      {sign} {id}  ·  {excerpt}\n") }
}
