//! The explanation for a terminal: safe to print in a CI log.

use super::{EvidenceChange, Explanation, Given, StepAnswers, steps, words};
use crate::analyze::counterfactual::Class;
use crate::model::Kernel;
use crate::report::document::{Line, Table};
use crate::report::escape::Untrusted;
use crate::report::{numbers, terminal};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Characters of a question or an answer that are shown.
const TEXT: usize = 200;
/// Characters of a document's text that are shown.
const EXCERPT: usize = 88;
/// Characters of an address or a path that are shown.
const ADDRESS: usize = 4096;
/// Other answers that are shown.
const OTHERS: usize = 5;

/// What changed, what was asked and came of it, and what that shows; lines of at most `width` columns where words allow it.
#[must_use]
pub fn explanation_text(told: &Explanation, width: u16) -> String {
    let mut text = head(told, width);
    if let Some(settled) = told.settled {
        return text + &terminal::wrapped(words::settled(settled), width, "  ");
    }
    if told.steps.iter().any(|step| !step.answers.is_empty()) {
        text.push_str(&(terminal::table(&table(told), width) + "\n\n"));
        text.push_str(&others(told, width));
        text.push_str(&findings(told, width));
    }
    if told.calls.left > 0 {
        text.push_str(&plan_text(told, width));
    }
    text
}

/// What would be asked, of whom, and what that takes.
#[must_use]
pub fn plan_text(told: &Explanation, width: u16) -> String {
    let calls = &told.calls;
    let evidences = numbers::counted(calls.all / u64::from(told.repeats.max(1)), "evidence");
    let all = numbers::counted(calls.all, "answer");
    let mut lines = vec![format!(
        "plan: {evidences}, each asked {} times: {all}, of which {} are on record",
        told.repeats,
        numbers::count(calls.all - calls.left)
    )];
    if let Some(whom) = &calls.whom {
        let left = numbers::counted(calls.left, "call");
        lines.push(format!("asks: {}; {left} before retries", Untrusted::new(whom).terminal(ADDRESS)));
    }
    lines.extend(calls.amount.map(|estimate| {
        let measured = "as the run's own answers to this question took, each at the most";
        let reckoned = "an estimate from the lengths of the prompts";
        format!("these take about {} ({})", estimate.amount, if estimate.measured { measured } else { reckoned })
    }));
    let left_out = told.changes.len() - told.tried;
    if left_out > 0 {
        lines.push(format!(
            "{} left out; `--changes` sets how many are tried",
            numbers::counted(left_out as u64, "change")
        ));
    }
    lines.into_iter().map(|line| terminal::wrapped(&line, width, "  ")).collect()
}

fn head(told: &Explanation, width: u16) -> String {
    let question = Untrusted::new(&told.text).terminal(TEXT);
    let id = Untrusted::new(&told.question.0).terminal(steps::NAME);
    let mut text = terminal::wrapped(&format!("{question} · question {id}"), width, "  ");
    for caveat in &told.caveats {
        text.push_str(&terminal::wrapped(
            &format!("warning: {}", Untrusted::new(caveat).terminal(ADDRESS)),
            width,
            "  ",
        ));
    }
    text.push_str(&answers('-', "old", &told.old));
    text.push_str(&answers('+', "new", &told.new));
    let (shared, old, new) = (numbers::count(told.shared), told.old.documents, told.new.documents);
    let before = numbers::counted(old, "document");
    let _ = writeln!(text, "evidence: {before} before, {} now, {shared} the same in both", numbers::count(new));
    text.extend(told.changes.iter().zip(1..).map(|(change, number): (_, usize)| changed(number, change)));
    text + "\n"
}

/// The distinct answers of one snapshot, each with how many repeats gave it.
fn answers(sign: char, side: &str, given: &Given) -> String {
    let all = given.answers.len();
    let line = |(answer, count): (&str, usize)| {
        format!("{sign} {side} answer  {}  ({count} of {all} repeats)\n", Untrusted::new(answer).terminal(TEXT))
    };
    distinct(given.answers.iter().map(String::as_str)).into_iter().map(line).collect()
}

/// Texts with how often they stand, in the order in which they come first.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<(&'a str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for text in texts {
        match counts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => counts.push((text, 1)),
        }
    }
    counts
}

fn changed(number: usize, change: &EvidenceChange) -> String {
    let mut text = format!("{number:>4}. {}\n", terminal::line(&steps::changed(change)));
    let line = |sign: char, excerpt: Untrusted<'_>| format!("      {sign} {}\n", excerpt.terminal(EXCERPT));
    match (&change.old_excerpt, &change.new_excerpt) {
        (Some(old), Some(new)) => {
            let [old, new] = Untrusted::apart(old, new, EXCERPT);
            text.push_str(&(line('-', old) + &line('+', new)));
        }
        (Some(old), None) => text.push_str(&line('-', Untrusted::new(old))),
        (None, Some(new)) => text.push_str(&line('+', Untrusted::new(new))),
        (None, None) => {}
    }
    text
}

/// One row a step: how many of its answers are which.
fn table(told: &Explanation) -> Table<'_> {
    let kernels: Vec<Kernel> = told.findings.iter().map(|(kernel, _)| *kernel).collect();
    let mut columns = vec![("evidence", false)];
    columns.extend(kernels.iter().flat_map(|kernel| titles(*kernel)).map(|title| (*title, true)));
    let row = |step| {
        let counts = kernels.iter().flat_map(|kernel| counts(*kernel, step));
        std::iter::once(steps::evidence(step.step, &told.changes)).chain(counts.map(Line::ours)).collect()
    };
    Table { columns, rows: told.steps.iter().map(row).collect() }
}

const fn titles(kernel: Kernel) -> &'static [&'static str] {
    match kernel {
        Kernel::Exact => &["old", "new", "other", "UNKNOWN"],
        Kernel::Semantic => &["means old", "means new"],
    }
}

/// What a kernel cannot tell apart counts as another answer: it is neither the old one nor the new one alone.
fn counts(kernel: Kernel, step: &StepAnswers) -> Vec<String> {
    let classes = step.classes.iter().find(|(of, _)| *of == kernel).map(|(_, classes)| classes.as_slice());
    let classes = classes.unwrap_or_default();
    let shown = |wanted: &&[Class]| {
        let count = classes.iter().filter(|class| wanted.contains(class)).count() as u64;
        if classes.is_empty() { numbers::or_dash(None) } else { numbers::count(count) }
    };
    let columns: [&[Class]; 4] = [&[Class::Old], &[Class::New], &[Class::Other, Class::Both], &[Class::Unknown]];
    columns.iter().take(titles(kernel).len()).map(shown).collect()
}

/// The answers that are neither of the run's own, to be looked at.
fn others(told: &Explanation, width: u16) -> String {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for step in &told.steps {
        let classes = step.classes.iter().find(|(kernel, _)| *kernel == Kernel::Exact);
        let classes = classes.map(|(_, classes)| classes.as_slice()).unwrap_or_default();
        for ((_, answer), _) in step.answers.iter().zip(classes).filter(|(_, class)| **class == Class::Other) {
            *found.entry(answer).or_default() += 1;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let line = |(answer, count): &(&str, usize)| {
        terminal::wrapped(
            &format!(
                "other answer  {}  ({})",
                Untrusted::new(answer).terminal(TEXT),
                numbers::counted(*count as u64, "time")
            ),
            width,
            "  ",
        )
    };
    let mut text: String = found.iter().take(OTHERS).map(line).collect();
    if found.len() > OTHERS {
        let _ = writeln!(text, "{} more other answers; `--format json` has them all", found.len() - OTHERS);
    }
    text
}

/// What the answers show; kernels that show the same are told together.
fn findings(told: &Explanation, width: u16) -> String {
    let mut said: Vec<(Vec<String>, String)> = Vec::new();
    for (kernel, finding) in &told.findings {
        let sentences: Vec<String> = words::finding(told, *kernel, finding).iter().map(terminal::line).collect();
        let sentences = sentences.join(" ");
        match said.iter_mut().find(|(_, known)| *known == sentences) {
            Some((kernels, _)) => kernels.push(kernel.to_string()),
            None => said.push((vec![kernel.to_string()], sentences)),
        }
    }
    let line = |(kernels, sentences): &(Vec<String>, String)| {
        terminal::wrapped(&format!("{}: {sentences}", kernels.join(" and ")), width, "  ")
    };
    said.iter().map(line).collect::<String>() + &terminal::wrapped(&basis(told), width, "  ")
}

/// What the kernels that were used cannot tell.
fn basis(told: &Explanation) -> String {
    let exact = format!(
        "Compared: exact, equal after the normalisation `{}`, so that an answer in other words is another one",
        told.normalisation
    );
    let semantic = told.findings.iter().any(|(kernel, _)| *kernel == Kernel::Semantic);
    if semantic {
        format!("{exact}; semantic, as the embedded judge has it.")
    } else {
        let judge = Untrusted::new(&told.judge).terminal(steps::NAME);
        format!("{exact}, though it may mean the same: the run's judge ({judge}) is not asked.")
    }
}
