//! Fits the embedded judge to the tuned half of `data/judge/pairs.jsonl` and prints how well it does on both halves.
//!
//! `cargo run --example fit_judge` prints weights and figures; `-- --write` also rewrites `src/judge/embedded/weights.rs`
//! (run it once more then: figures are those of the weights compiled in); `-- --errors` lists the errors on the tuned
//! half; `-- --external FILE` measures on answers held against references.
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

use anyhow::{Context as _, Result};
use churngate::judge::embedded::features::NAMES;
use churngate::judge::embedded::labelled::{
    Figures, Half, LabelledPair, ReferencedAnswer, by_kind, fit_to, measure, parse,
};
use churngate::model::Label;

const PAIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/judge/pairs.jsonl");
const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/judge/embedded/weights.rs");

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |flag: &str| arguments.iter().position(|argument| argument == flag);
    let pairs = parse(&fs_err::read_to_string(PAIRS)?).map_err(anyhow::Error::msg)?;
    let weights = fit_to(&pairs);
    for (name, weight) in NAMES.iter().zip(&weights) {
        println!("{name:20} {weight:.6}");
    }
    if given("--write").is_some() {
        fs_err::write(WEIGHTS, source(&weights))?;
    }
    print_figures(&pairs);
    if given("--errors").is_some() {
        print_errors(&pairs);
    }
    if let Some(place) = given("--external") {
        external(arguments.get(place + 1).context("--external takes a file")?, given("--errors").is_some())?;
    }
    Ok(())
}

fn source(weights: &[f64]) -> String {
    let lines: Vec<String> =
        weights.iter().zip(NAMES).map(|(weight, name)| format!("    {weight:.4}, // {name}\n")).collect();
    format!(
        "//! The committed weights. Written by `cargo run --example fit_judge -- --write`; a test fits them again.\n\n\
         use super::model::Weights;\n\n\
         /// Fitted to the tuned half of `data/judge/pairs.jsonl`.\n\
         pub const WEIGHTS: Weights = [\n{}];\n",
        lines.concat()
    )
}

fn print_figures(pairs: &[LabelledPair]) {
    println!("\n| half | pairs | accuracy | precision | recall | balanced accuracy |\n|---|---|---|---|---|---|");
    for (name, half) in [("tuned", Half::Tuned), ("untouched", Half::Untouched)] {
        println!("{}", measure(pairs, half).row(name));
    }
    println!(
        "\n| kind (untouched half) | pairs | accuracy | precision | recall | balanced accuracy |\n|---|---|---|---|---|---|"
    );
    for (kind, figures) in by_kind(pairs, Half::Untouched) {
        println!("{}", figures.row(kind));
    }
}

fn print_errors(pairs: &[LabelledPair]) {
    for pair in pairs.iter().filter(|pair| pair.half() == Half::Tuned) {
        let decision = pair.decision();
        if (decision.label == Label::Same) != pair.same {
            println!(
                "{} same={} {:?}: {} | {} | {}",
                pair.id, pair.same, decision.reason, pair.question, pair.a, pair.b
            );
        }
    }
}

/// Measures on an external file, half by half of its questions; lists errors of the half that may be looked at.
fn external(file: &str, errors: bool) -> Result<()> {
    let mut halves = [Figures::default(), Figures::default()];
    for line in fs_err::read_to_string(file)?.lines() {
        let answer: ReferencedAnswer = serde_json::from_str(line)?;
        let (label, reasons) = answer.decision();
        let half = answer.half();
        halves[half].count(answer.same, label);
        if errors && half == 0 && (label == Label::Same) != answer.same {
            println!(
                "EXT same={} {:?}: {} | {} | {:?}",
                answer.same, reasons, answer.question, answer.answer, answer.reference
            );
        }
    }
    let [one, two] = halves;
    println!("\n{}\n{}", one.row("external, looked at"), two.row("external, not looked at"));
    println!("{}", one.and(two).row("external, all"));
    Ok(())
}
