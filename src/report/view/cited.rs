//! The documents that a deployed system cites: what it says of itself, beside how much that varies where nothing changed.

use crate::analyze::{Analysis, Cited, CitedByPairs, CitedOverlap, PairOverlap};
use crate::report::document::{Block, Line, Section, Table, Topic};
use crate::report::numbers;

pub(super) fn section(analysis: &Analysis) -> Option<Section<'static>> {
    let cited = analysis.cited.as_ref()?;
    let mut facts = vec![compared(cited, analysis.asked)];
    facts.extend(cited.overlap.as_ref().map(named));
    let mut blocks = vec![Block::Paragraph(Line::ours(
        "What the audited system says its answers rest on: its own word, and no evidence that was locked. Compare old and new \
         with the repeats of one snapshot, where nothing changed. No line of the rule reads this.",
    ))];
    blocks.extend(cited.overlap.as_ref().map(|overlap| Block::Table(table(overlap))));
    blocks.push(Block::List(facts.into_iter().map(Line::ours).collect()));
    Some(Section::new(Topic::Cited, teaser(cited, analysis.asked), blocks))
}

fn teaser(cited: &Cited, asked: u64) -> String {
    let Some(overlap) = &cited.overlap else { return format!("0 of {} compared", numbers::counted(asked, "question")) };
    let CitedByPairs { within_old, within_new, cross } = &overlap.by_id;
    let within = within_old.mean_shared.midpoint(within_new.mean_shared);
    format!(
        "old and new answers share {} on average, repeats {}",
        numbers::float(cross.mean_shared, 2),
        numbers::float(within, 2)
    )
}

/// How many questions the figures rest on.
fn compared(cited: &Cited, asked: u64) -> String {
    let partly = match cited.partly {
        0 => String::new(),
        partly => {
            format!("; {} more, where some answer has one and another has none, are left out", numbers::count(partly))
        }
    };
    format!(
        "{} of {} compared: those of which every answer came with a list of documents{partly}",
        numbers::count(cited.questions),
        numbers::counted(asked, "asked question")
    )
}

fn named(overlap: &CitedOverlap) -> String {
    let (old, new) = overlap.documents;
    format!(
        "an answer of the old snapshot names {} documents on average, one of the new {}",
        numbers::float(old, 2),
        numbers::float(new, 2)
    )
}

fn table(overlap: &CitedOverlap) -> Table<'static> {
    let columns = vec![
        ("compared by", false),
        ("answers", false),
        ("documents shared (mean)", true),
        ("none shared", true),
        ("same set", true),
        ("same list", true),
    ];
    let by = [("id", Some(&overlap.by_id)), ("URL", overlap.by_url.as_ref()), ("content", overlap.by_content.as_ref())];
    let rows = by.into_iter().filter_map(|(by, pairs)| Some(rows(by, pairs?))).flatten().collect();
    Table { columns, rows }
}

fn rows(by: &'static str, pairs: &CitedByPairs) -> [Vec<Line<'static>>; 3] {
    let CitedByPairs { within_old, within_new, cross } = pairs;
    [("repeats of old", within_old), ("repeats of new", within_new), ("old and new", cross)]
        .map(|(answers, figures)| row(by, answers, figures))
}

fn row(by: &str, answers: &str, figures: &PairOverlap) -> Vec<Line<'static>> {
    let share = |part: u64| format!("{} ({})", numbers::count(part), numbers::percent_of(part, figures.pairs));
    let cells = [
        by.to_owned(),
        answers.to_owned(),
        numbers::float(figures.mean_shared, 2),
        share(figures.none),
        share(figures.same_set),
        share(figures.same_list),
    ];
    cells.into_iter().map(Line::ours).collect()
}
