//! Flows of correctness: what was lost and gained, net beside gross.

use crate::analyze::{Analysis, Correctness, Flows};
use crate::model::Fraction;
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

/// Gained minus lost over the compared pairs: the change of exact match. Absent where nothing was compared.
pub(super) fn net(correctness: &Correctness) -> Option<Fraction> {
    let total = total(correctness);
    let numerator = i64::try_from(i128::from(total.gained) - i128::from(total.lost)).ok()?;
    (correctness.comparisons > 0).then_some(Fraction { numerator, denominator: correctness.comparisons })
}

/// Whether any answer is, word for word, an accepted one. Systems that answer in sentences never match short ones, and then neither
/// `lost` nor `wrong` says anything.
pub(super) const fn matches_at_all(correctness: &Correctness) -> bool {
    correctness.exact_match.0.numerator > 0 || correctness.exact_match.1.numerator > 0
}

/// Without accepted answers, what is left to tell is how often nothing was answered.
pub(super) fn section(analysis: &Analysis) -> Option<Section<'static>> {
    let unknown = analysis.unknown.map(|shares| format!("UNKNOWN {}", arrow(shares)));
    let Some(correctness) = &analysis.correctness else {
        let unknown = unknown?;
        let fact = format!("{unknown} of all answers; no question has accepted answers");
        return Some(Section::new(Topic::Correctness, unknown, vec![Block::List(vec![Line::ours(fact)])]));
    };
    let facts = facts(correctness).into_iter().chain(unknown).map(Line::ours).collect();
    let blocks = vec![Block::Table(flows(correctness)), Block::List(facts)];
    Some(Section::new(Topic::Correctness, teaser(correctness), blocks))
}

fn arrow((old, new): (Fraction, Fraction)) -> String {
    format!("{} → {}", numbers::percent(old), numbers::percent(new))
}

fn teaser(correctness: &Correctness) -> String {
    let total = total(correctness);
    let net = net(correctness).map_or_else(|| "–".to_owned(), numbers::signed_pp);
    let gross = numbers::percent_of(total.lost.saturating_add(total.gained), correctness.comparisons);
    format!("net {net} pp of pairs, gross {gross} moved")
}

/// Flows whatever became of the meaning.
pub(super) fn total(correctness: &Correctness) -> Flows {
    let (same, changed) = (correctness.flows_same_meaning, correctness.flows_changed_meaning);
    Flows {
        kept: same.kept.saturating_add(changed.kept),
        lost: same.lost.saturating_add(changed.lost),
        gained: same.gained.saturating_add(changed.gained),
        wrong: same.wrong.saturating_add(changed.wrong),
    }
}

fn flows<'a>(correctness: &Correctness) -> Table<'a> {
    let columns = vec![
        ("pairs of answers", false),
        ("same meaning", true),
        ("changed meaning", true),
        ("all", true),
        ("share", true),
    ];
    let split = [correctness.flows_same_meaning, correctness.flows_changed_meaning, total(correctness)];
    let rows = [
        row("correct before and after", split.map(|flows| flows.kept), correctness),
        row("lost: correct before, wrong after", split.map(|flows| flows.lost), correctness),
        row("gained: wrong before, correct after", split.map(|flows| flows.gained), correctness),
        row("wrong before and after", split.map(|flows| flows.wrong), correctness),
    ];
    Table { columns, rows: rows.into() }
}

fn row<'a>(label: &'static str, counts: [u64; 3], correctness: &Correctness) -> Vec<Line<'a>> {
    let share = numbers::percent_of(counts[2], correctness.comparisons);
    let cells = [label.to_owned()].into_iter().chain(counts.map(numbers::count)).chain([share]);
    cells.map(Line::ours).collect()
}

fn facts(correctness: &Correctness) -> [String; 3] {
    let (old_f1, new_f1) = correctness.f1;
    [
        format!(
            "{} with accepted answers, {} of old and new answers; a pair takes the same repeat of both snapshots",
            numbers::counted(correctness.questions, "question"),
            numbers::counted(correctness.comparisons, "pair")
        ),
        format!("exact match {}", arrow(correctness.exact_match)),
        format!("token F1 {} → {}", numbers::float(old_f1 * 100.0, 2), numbers::float(new_f1 * 100.0, 2)),
    ]
}
