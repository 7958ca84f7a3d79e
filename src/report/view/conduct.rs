//! How answers came to be, in time: drift of the model, and answers that were drawn again.

use super::NAME;
use crate::model::fisher::{CHANCE, Share, fisher};
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::{AuditResult, Conduct};

/// The figures, a line each.
pub(super) fn facts(result: &AuditResult) -> Vec<Line<'_>> {
    let shown = conduct(result);
    let drift = shown.iter().filter(|one| one.early.1 > 0).map(|one| {
        let p = numbers::probability(drift(one));
        Line::default().theirs(&one.snapshot, NAME).and(format!(
            ": all repeats are one text for {} of the {} questions answered first and {} of the {} answered last (p = {p})",
            numbers::count(one.early.0),
            numbers::count(one.early.1),
            numbers::count(one.late.0),
            numbers::count(one.late.1)
        ))
    });
    let redrawn = shown.iter().filter(|one| one.redrawn.0 > 0).map(|one| {
        Line::default().theirs(&one.snapshot, NAME).and(format!(
            ": {} of {} complete replies held no acceptable answer and were drawn again",
            numbers::count(one.redrawn.0),
            numbers::count(one.redrawn.1)
        ))
    });
    drift.chain(redrawn).collect()
}

/// What of it must be known before a number is believed.
pub(super) fn warnings(result: &AuditResult) -> Vec<Line<'_>> {
    let shown = conduct(result);
    let mut warnings: Vec<Line<'_>> = Vec::new();
    for one in shown.iter().filter(|one| drift(one) < CHANCE) {
        warnings.push(
            Line::ours("Repeats agreed differently early and late in the audit, beyond chance, in ")
                .theirs(&one.snapshot, NAME)
                .and(": the model may have changed meanwhile."),
        );
    }
    for one in shown.iter().filter(|one| one.fingerprints > 1) {
        warnings.push(
            Line::ours(format!("The server named {} fingerprints of its backend in ", one.fingerprints))
                .theirs(&one.snapshot, NAME)
                .and(": the model may have changed meanwhile."),
        );
    }
    warnings.extend(uneven(shown));
    warnings
}

fn conduct(result: &AuditResult) -> &[Conduct] {
    result.record.conduct.as_deref().unwrap_or_default()
}

const fn share((counted, of): (u64, u64)) -> Share {
    Share { counted, of }
}

fn drift(one: &Conduct) -> f64 {
    fisher(share(one.early), share(one.late))
}

/// The first two snapshots whose replies were drawn again unequally often.
fn uneven(shown: &[Conduct]) -> Option<Line<'_>> {
    let pairs = shown.iter().enumerate().flat_map(|(at, one)| shown[at + 1..].iter().map(move |other| (one, other)));
    let (one, other) =
        pairs.into_iter().find(|(one, other)| fisher(share(one.redrawn), share(other.redrawn)) < CHANCE)?;
    let line = Line::ours("Answers that could not be accepted were drawn again unequally often, beyond chance: ");
    let line = line.and(format!("{} of {} in ", numbers::count(one.redrawn.0), numbers::count(one.redrawn.1)));
    let line = line.theirs(&one.snapshot, NAME);
    let line = line.and(format!(", {} of {} in ", numbers::count(other.redrawn.0), numbers::count(other.redrawn.1)));
    Some(
        line.theirs(&other.snapshot, NAME).and(". The answers that remain are a selection, and it may pass for churn."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;
    use crate::report::result::AuditResult;

    fn said(conduct: Vec<Conduct>) -> (String, String) {
        let mut result = fixtures::compatible();
        result.record.conduct = Some(conduct);
        let text = |result: &AuditResult| {
            let formats = crate::report::FORMATS.iter().find(|format| format.name == "markdown").unwrap();
            String::from_utf8((formats.render)(result)).unwrap()
        };
        let with = text(&result);
        result.record.conduct = None;
        (with, text(&result))
    }

    fn of(name: &str, early: u64, late: u64, fingerprints: u64, redrawn: u64) -> Conduct {
        let snapshot = name.to_owned();
        Conduct { snapshot, early: (early, 100), late: (late, 100), fingerprints, redrawn: (redrawn, 400) }
    }

    #[test]
    fn drift_and_uneven_redrawing_are_warned_of_beyond_chance_alone() {
        let (quiet, without) = said(vec![of("old", 80, 78, 1, 2), of("new", 70, 75, 1, 5)]);
        assert!(
            quiet.contains("for 80 of the 100 questions answered first and 78 of the 100 answered last"),
            "{quiet}"
        );
        assert!(quiet.contains("2 of 400 complete replies held no acceptable answer"), "{quiet}");
        for warning in ["early and late", "fingerprints", "unequally often"] {
            assert!(!quiet.contains(warning) && !without.contains(warning), "{quiet}");
        }
        let (loud, _) = said(vec![of("old", 80, 40, 1, 0), of("new", 70, 75, 3, 40)]);
        assert!(loud.contains("agreed differently early and late in the audit, beyond chance"), "{loud}");
        assert!(loud.contains("named 3 fingerprints"), "{loud}");
        assert!(loud.contains("0 of 400 in"), "{loud}");
    }
}
