//! How far the evidence itself changed.

use crate::analyze::{Analysis, FlipOverlap, Overlap, OverlapFigures};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

pub(super) fn section(analysis: &Analysis) -> Option<Section<'static>> {
    analysis.overlap.as_ref().map(of)
}

/// What two snapshots share, and whether flips come with what they do not.
pub(super) fn of(overlap: &Overlap) -> Section<'static> {
    let mut facts = vec![Line::ours(identical(overlap))];
    facts.extend(flips(&overlap.flips).map(Line::ours));
    let blocks = vec![Block::Table(table(overlap)), Block::List(facts)];
    Section::new(Topic::Turnover, teaser(overlap), blocks)
}

/// What two snapshots share, by id, URL and content.
pub(super) fn table(overlap: &Overlap) -> Table<'static> {
    let columns = vec![
        ("compared by", false),
        ("documents shared (mean)", true),
        ("none shared", true),
        ("same set", true),
        ("same list", true),
    ];
    let by = [("id", Some(&overlap.by_id)), ("URL", overlap.by_url.as_ref()), ("content", Some(&overlap.by_content))];
    let rows = by.into_iter().filter_map(|(by, figures)| Some(row(by, figures?, overlap))).collect();
    Table { columns, rows }
}

pub(super) fn identical(overlap: &Overlap) -> String {
    format!(
        "{} of {} have byte-identical evidence in both snapshots ({})",
        numbers::count(overlap.identical_prompts),
        numbers::counted(overlap.questions, "question"),
        numbers::percent_of(overlap.identical_prompts, overlap.questions)
    )
}

fn teaser(overlap: &Overlap) -> String {
    let changed = overlap.questions.saturating_sub(overlap.identical_prompts);
    format!("evidence changed for {} of questions", numbers::percent_of(changed, overlap.questions))
}

/// Whether flips come with turnover: flips against the other questions. A document that was edited in its place is shared by
/// id and not by content.
fn flips(flips: &FlipOverlap) -> Option<String> {
    let (of_flips, of_rest) = (flips.flips_mean_shared?, flips.rest_mean_shared?);
    let by_id = against(flips.flips, "by id", (of_flips, of_rest), (flips.flips_none, flips.fisher_p));
    let content = flips.by_content.and_then(|content| {
        let means = (content.flips_mean_shared?, content.rest_mean_shared?);
        Some(against(flips.flips, "by content", means, (content.flips_none, content.fisher_p)))
    });
    Some(format!("stable flips share {}", [Some(by_id), content].into_iter().flatten().collect::<Vec<_>>().join("; ")))
}

fn against(count: u64, by: &str, (of_flips, of_rest): (f64, f64), (none, p): (u64, f64)) -> String {
    format!(
        "{} documents {by} on average, other questions {}, and {} of {} share none (Fisher p {})",
        numbers::float(of_flips, 2),
        numbers::float(of_rest, 2),
        numbers::count(none),
        numbers::counted(count, "flip"),
        numbers::probability(p)
    )
}

fn row(by: &'static str, figures: &OverlapFigures, overlap: &Overlap) -> Vec<Line<'static>> {
    let share = |part: u64| format!("{} ({})", numbers::count(part), numbers::percent_of(part, overlap.questions));
    let cells = [
        by.to_owned(),
        numbers::float(figures.mean_shared, 2),
        share(figures.none),
        share(figures.same_set),
        share(figures.same_list),
    ];
    cells.into_iter().map(Line::ours).collect()
}
