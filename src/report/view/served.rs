//! Servers that changed their model during the audit, where the spec lets them.

use super::{NAME, first_rows};
use crate::model::SnapshotName;
use crate::model::fisher::{CHANCE, Share, fisher};
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::{AuditResult, ChangedModel, ModelReplies, Validity};

/// What must be known before a number is believed: one warning a server.
pub(super) fn warnings(result: &AuditResult) -> impl Iterator<Item = Line<'_>> {
    result.validity.changed_models.iter().map(warning)
}

fn warning(changed: &ChangedModel) -> Line<'_> {
    let line = Line::ours("The ").theirs(&changed.server, NAME).and(
        "'s server changed its model during the audit, which the \
         spec lets it do (`tolerance.served_models`): ",
    );
    let line = models(line, changed);
    let answers = [Validity::GENERATOR, Validity::SECOND_GENERATOR].contains(&changed.server.as_str());
    let line = line.and(if answers {
        ". Part of the churn, and of the noise, may be the models' and not the index's."
    } else {
        ". Answers may have been called the same or different by who judged them."
    });
    match apart(changed) {
        Some(p) => line.and(format!(
            " Old and new were not answered by the same share of each model, beyond chance (p = {}): the churn may be nothing but \
             that change.",
            numbers::probability(p)
        )),
        None => line,
    }
}

/// The same as facts of the audit's course.
pub(super) fn facts<'a>(result: &'a AuditResult) -> impl Iterator<Item = Line<'a>> {
    let fact = |changed: &'a ChangedModel| {
        models(Line::ours("model changed: ").theirs(&changed.server, NAME).and(", "), changed)
    };
    result.validity.changed_models.iter().map(fact)
}

fn models<'a>(line: Line<'a>, changed: &'a ChangedModel) -> Line<'a> {
    let (shown, left_out) = first_rows(&changed.models);
    let line = shown
        .iter()
        .enumerate()
        .fold(line, |line, (at, one)| replies(if at == 0 { line } else { line.and("; ") }, one));
    if left_out == 0 { line } else { line.and(format!("; and {} more", numbers::count(left_out as u64))) }
}

fn replies<'a>(line: Line<'a>, one: &'a ModelReplies) -> Line<'a> {
    let counted = match one.replies {
        1 => " in 1 reply".to_owned(),
        many => format!(" in {} replies", numbers::count(many)),
    };
    let line = line.theirs(&one.model, NAME).and(counted);
    let (shown, _) = first_rows(&one.snapshots);
    let of = |line: Line<'a>, (at, (snapshot, count)): (usize, &'a (String, u64))| {
        let before = if at == 0 { " (" } else { ", " };
        line.and(format!("{before}{} for ", numbers::count(*count))).theirs(snapshot, NAME)
    };
    let line = shown.iter().enumerate().fold(line, of);
    if shown.is_empty() { line } else { line.and(")") }
}

/// The probability that old and new have such shares of a model by chance, where it is below what this program calls one. Of several
/// models the one that lies furthest apart.
fn apart(changed: &ChangedModel) -> Option<f64> {
    let count = |one: &ModelReplies, name: &SnapshotName| {
        one.snapshots.iter().find(|(snapshot, _)| *snapshot == name.0).map_or(0, |(_, count)| *count)
    };
    let (old, new) = (SnapshotName::old(), SnapshotName::new_snapshot());
    let all = |name| changed.models.iter().fold(0_u64, |sum, one| sum.saturating_add(count(one, name)));
    let of = [all(&old), all(&new)];
    let share = |one, name, of| Share { counted: count(one, name), of };
    let p = changed.models.iter().map(|one| fisher(share(one, &old, of[0]), share(one, &new, of[1])));
    p.reduce(f64::min).filter(|p| *p < CHANCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures;

    fn said(changed: Vec<ChangedModel>) -> Vec<(&'static str, String)> {
        let mut result = fixtures::incompatible();
        result.validity.changed_models = changed;
        let text = |format: &crate::report::Format| String::from_utf8((format.render)(&result)).unwrap();
        crate::report::FORMATS.iter().map(|format| (format.name, text(format))).collect()
    }

    fn model(model: &str, snapshots: &[(&str, u64)]) -> ModelReplies {
        let snapshots: Vec<(String, u64)> =
            snapshots.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        ModelReplies { model: model.to_owned(), replies: snapshots.iter().map(|(_, count)| count).sum(), snapshots }
    }

    fn of(server: &str, models: Vec<ModelReplies>) -> ChangedModel {
        ChangedModel { server: server.to_owned(), models }
    }

    fn warned(changed: ChangedModel) -> String {
        let all = said(vec![changed]);
        all.into_iter().find(|(name, _)| *name == "markdown").map(|(_, text)| text).unwrap()
    }

    #[test]
    fn every_report_begins_with_the_models_and_their_counts() {
        let models = || vec![model("m-1", &[("old", 400), ("new", 12)]), model("m-2", &[("new", 388)])];
        let text = warned(of("generator", models()));
        let warning = "The `generator`'s server changed its model during the audit, which the spec lets it do \
                       (`tolerance.served_models`): `m-1` in 412 replies (400 for `old`, 12 for `new`); `m-2` in 388 replies (388 \
                       for `new`). Part of the churn";
        let at = text.find(warning).unwrap_or_else(|| panic!("{text}"));
        assert!(at < text.find("How the audit went").unwrap_or(usize::MAX));
        assert!(text.contains("beyond chance (p = "), "{text}");
        assert!(text.contains("model changed: `generator`, `m-1` in 412 replies"), "{text}");
        // A list of tests has no place for warnings.
        for (name, text) in said(vec![of("generator", models())]).into_iter().filter(|(name, _)| *name != "junit") {
            assert!(text.contains("m-2") && text.contains("412"), "{name}: {text}");
        }
    }

    #[test]
    fn shares_that_chance_explains_and_models_of_a_judge_are_not_called_apart() {
        let alike = vec![model("m-1", &[("old", 200), ("new", 205)]), model("m-2", &[("old", 200), ("new", 195)])];
        assert!(!warned(of("generator", alike)).contains("beyond chance (p"));
        let one = |name: &str, replies| ModelReplies { model: name.to_owned(), replies, snapshots: Vec::new() };
        let text = warned(of("judge", vec![one("j-1", 1), one("j-2", 2)]));
        assert!(text.contains("`j-1` in 1 reply; `j-2` in 2 replies. Answers may have been called"), "{text}");
        assert!(!text.contains("beyond chance (p"), "{text}");
    }
}
