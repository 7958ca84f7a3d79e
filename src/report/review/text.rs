//! The dialogue of a review and its end, for a terminal.

use super::{Between, Review, ReviewFigures, verdict, word};
use crate::analyze::agreement::Table;
use crate::analyze::review::{Confirmed, HandLabel, Pair, Sides, Stratum};
use crate::model::{Answer, Label};
use crate::report::escape::Untrusted;
use crate::report::numbers;
use crate::report::terminal::wrapped;
use std::fmt::Write as _;

/// Characters of a name or an id that are shown.
const NAME: usize = 80;
/// Characters of a text that are shown at the end.
const TEXT: usize = 100;
/// Characters of a path that are shown.
const PATH: usize = 4096;

/// Columns before a text that is labelled.
const MARGIN: u16 = 12;

/// What is said before the first pair.
#[must_use]
pub fn opening(review: &Review, width: u16) -> String {
    let left = review.left() as u64;
    let told = format!(
        "{}: {} to label by hand as {}, {left} left. Neither the snapshot of an answer nor the judge's label is shown before \
         the end. Each label is kept at once in {}",
        name(&review.name),
        numbers::counted(review.wanted().count() as u64, "pair"),
        name(&review.reviewer),
        path(&review.labels_file),
    );
    let keys = "Do both answers mean the same as answers to the question? s same, d different, u cannot tell, b back, q stop and keep";
    wrapped(&told, width, "") + &wrapped(keys, width, "")
}

/// One pair, as whoever labels it sees it.
#[must_use]
pub fn prompt(pair: &Pair, number: usize, of: usize, width: u16) -> String {
    let line = |label: &str, text: &str| {
        let lines = wrapped(&Untrusted::new(text).terminal(usize::MAX), width.saturating_sub(MARGIN), "");
        let labels = std::iter::once(label).chain(std::iter::repeat(""));
        let told = lines.lines().zip(labels).map(|(line, label)| format!("  {label:<9} {line}"));
        told.collect::<Vec<_>>().join("\n") + "\n"
    };
    let [a, b] = pair.answers.each_ref().map(Answer::as_str);
    format!("\n{number} of {of}\n{}{}{}", line("question", &pair.text), line("A", a), line("B", b))
}

/// What the labels came to, as far as it may be told.
#[must_use]
pub fn review_text(review: &Review, width: u16) -> String {
    if let Some(why) = review.nothing() {
        return wrapped(&format!("{}: nothing to label: {why}", name(&review.name)), width, "");
    }
    let mut text = wrapped(&head(review), width, "");
    let _ = writeln!(text, "labels: {}", path(&review.labels_file));
    let Some(figures) = &review.figures else {
        let why = "no figures yet: the judge's labels are shown when every pair is labelled, or with `--reveal`; the same \
                   command goes on";
        return text + &wrapped(why, width, "");
    };
    text.push('\n');
    text.push_str(&sample(review, figures, width));
    text.push_str(&flips(review, figures, width));
    text.extend(figures.between.iter().map(|between| wrapped(&self::between(between), width, "  ")));
    text.push('\n');
    text.push_str(&wrapped(&meaning(review, figures), width, ""));
    text.push_str(&disagreements(review, width));
    text
}

fn head(review: &Review) -> String {
    let wanted = review.wanted().count() as u64;
    let labelled = wanted - review.left() as u64;
    let given = review.wanted().filter_map(|pair| review.labels.get(&pair.id));
    let unsure = given.filter(|label| **label == HandLabel::Unsure).count() as u64;
    let others = (review.labels.len() as u64).saturating_sub(labelled);
    let mut told = format!(
        "{}: {} of {} labelled by hand as {}",
        name(&review.name),
        numbers::count(labelled),
        numbers::counted(wanted, "pair"),
        name(&review.reviewer)
    );
    if unsure > 0 {
        let _ = write!(told, ", {} of them unsure", numbers::count(unsure));
    }
    if others > 0 {
        let _ = write!(told, "; {} outside of this selection, kept and not counted", numbers::counted(others, "label"));
    }
    told
}

fn sample(review: &Review, figures: &ReviewFigures, width: u16) -> String {
    if figures.sample.pairs == 0 {
        return String::new();
    }
    let of = format!("{} of {}", numbers::count(figures.sample.pairs), numbers::counted(review.judged, "judged pair"));
    let kappa = figures.sample.kappa.map_or_else(String::new, |kappa| format!(", kappa {}", numbers::float(kappa, 2)));
    let told = format!("Blind sample ({of}, drawn by a hash): {}{kappa}", alike(&figures.sample));
    let why = "  This sample alone estimates how far the judge and the reviewer agree.\n";
    wrapped(&told, width, "  ") + &counts(&figures.sample) + why
}

fn flips(review: &Review, figures: &ReviewFigures, width: u16) -> String {
    if review.reviewed == 0 {
        return String::new();
    }
    let worst = if review.reviewed < review.flips { "the worst " } else { "" };
    let told = format!(
        "Pairs of {worst}{} ({}, chosen by the judge's own labels): {}",
        numbers::counted(review.reviewed, "stable flip"),
        numbers::count(figures.flips.pairs),
        alike(&figures.flips)
    );
    wrapped(&told, width, "  ") + &counts(&figures.flips)
}

/// `17 of 18 labels alike (94.44%, interval 74.24 to 99.01)`.
fn alike(stratum: &Stratum) -> String {
    let (alike, all) = (stratum.table.alike(), stratum.table.pairs());
    let interval = interval(stratum.interval);
    let share = numbers::percent_of(alike, all);
    format!("{} of {} alike ({share}{interval})", numbers::count(alike), numbers::counted(all, "label"))
}

fn interval(interval: Option<(f64, f64)>) -> String {
    let told = |(low, high)| format!(", interval {} to {}", numbers::pp_float(low), numbers::pp_float(high));
    interval.map_or_else(String::new, told)
}

fn counts(stratum: &Stratum) -> String {
    let Table { both_same, only_first, only_second, both_different } = stratum.table;
    let line = |judge: &str, same: u64, different: u64| {
        let (same, different) = (numbers::count(same), numbers::count(different));
        format!("  {judge:<15}  hand same {same}, hand different {different}\n")
    };
    let unsure = match stratum.unsure {
        0 => String::new(),
        unsure => format!("  {:<15}  {}\n", word(HandLabel::Unsure), numbers::count(unsure)),
    };
    line("judge same", both_same, only_first) + &line("judge different", only_second, both_different) + &unsure
}

fn between(between: &Between) -> String {
    let [one, other] = between.names.each_ref().map(|reviewer| name(reviewer));
    let table = &between.table;
    let kappa = table.kappa().map_or_else(String::new, |kappa| format!(", kappa {}", numbers::float(kappa, 2)));
    format!(
        "Reviewers {one} and {other}: {} of {} alike ({}){kappa}",
        numbers::count(table.alike()),
        numbers::counted(table.pairs(), "label"),
        numbers::percent_of(table.alike(), table.pairs())
    )
}

/// What the labels say of the flips, and that they say nothing to the rule.
fn meaning(review: &Review, figures: &ReviewFigures) -> String {
    let Confirmed { confirmed, refuted, open } = figures.confirmed;
    let told = confirmed + refuted;
    let mut sentence = match told {
        _ if review.flips == 0 => "There is no stable flip to confirm".to_owned(),
        0 => "No stable flip is labelled as a whole".to_owned(),
        _ => format!(
            "By hand {} of {} confirmed ({}{})",
            numbers::count(confirmed),
            if told == 1 {
                "1 stable flip is".to_owned()
            } else {
                format!("{} stable flips are", numbers::count(told))
            },
            numbers::percent_of(confirmed, told),
            interval(figures.confirmed_interval)
        ),
    };
    if refuted > 0 {
        let _ = write!(
            sentence,
            "; those that are not make up {} of the {} pp of semantic D̂",
            numbers::pp(figures.refuted),
            numbers::pp(figures.churn)
        );
    }
    if open > 0 {
        let _ = write!(sentence, "; {} open, with a pair that is unsure or without a label", numbers::count(open));
    }
    format!(
        "{sentence}. The verdict stays {}: labels that are given after the outcome change neither a figure nor the rule.",
        verdict(review.verdict)
    )
}

fn disagreements(review: &Review, width: u16) -> String {
    let all: Vec<(&Pair, HandLabel)> = review.disagreements().collect();
    if all.is_empty() {
        return String::new();
    }
    let each = all.iter().enumerate().map(|(at, (pair, hand))| disagreement(at + 1, pair, *hand, width));
    format!("\nWhere judge and hand differ\n{}", each.collect::<String>())
}

fn disagreement(number: usize, pair: &Pair, hand: HandLabel, width: u16) -> String {
    let question = Untrusted::new(&pair.text).terminal(TEXT);
    let why = if pair.flip { " · stable flip" } else { "" };
    let title = format!("{number}. {question} · question {}{why}", name(&pair.question.0));
    let [a, b] = &pair.answers;
    let texts = Untrusted::apart(a.as_str(), b.as_str(), TEXT).map(|text| text.terminal(TEXT));
    let mut lines: Vec<(Sides, String)> = pair.sides.into_iter().zip(texts).collect();
    lines.sort_by_key(|(sides, _)| !sides.old);
    let lines = lines.iter().map(|(sides, text)| format!("   {:<11}  {text}\n", side(*sides)));
    let judge = match pair.judge {
        Label::Same => HandLabel::Same,
        Label::Different => HandLabel::Different,
    };
    let labels = format!("   judge {}, hand {}\n", word(judge), word(hand));
    wrapped(&title, width, "   ") + &lines.collect::<String>() + &labels
}

/// Which snapshots gave an answer.
const fn side(sides: Sides) -> &'static str {
    match sides {
        Sides { old: true, new: true } => "old and new",
        Sides { old: true, new: false } => "old",
        Sides { new: true, .. } => "new",
        Sides { .. } => "",
    }
}

fn name(text: &str) -> String {
    Untrusted::new(text).terminal(NAME)
}

fn path(text: &str) -> String {
    Untrusted::new(text).terminal(PATH)
}
