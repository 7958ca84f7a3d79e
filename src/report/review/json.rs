//! A review as JSON.

use super::{Between, Review, ReviewFigures, verdict, word};
use crate::analyze::agreement::Table;
use crate::analyze::review::{HandLabel, Pair, Sides, Stratum};
use crate::analyze::significant;
use serde_json::{Value, json};

/// The version that is written.
const FORMAT: &str = "1.0";

/// The review as JSON, indented, keys in a fixed order, a line break at the end. Texts are as they are; a label of the judge's
/// stands nowhere before there are figures.
#[must_use]
pub fn review_json(review: &Review) -> Vec<u8> {
    let wanted = review.wanted().count();
    let value = json!({
        "format": FORMAT,
        "name": review.name,
        "protocol": review.protocol.to_string(),
        "judgments": review.judgments.to_string(),
        "judge": review.judge,
        "verdict": verdict(review.verdict),
        "reviewer": review.reviewer,
        "labels_file": review.labels_file,
        "nothing_to_label": review.nothing(),
        "judged_pairs": review.judged,
        "stable_flips": review.flips,
        "reviewed_flips": review.reviewed,
        "pairs": wanted,
        "left": review.left(),
        "figures": review.figures.as_ref().map(|figures| self::figures(review, figures)),
    });
    format!("{value:#}\n").into_bytes()
}

fn figures(review: &Review, figures: &ReviewFigures) -> Value {
    let labelled = review.pairs.iter().filter_map(|pair| Some(self::pair(pair, *review.labels.get(&pair.id)?)));
    let confirmed = figures.confirmed;
    json!({
        "sample": stratum(&figures.sample),
        "flips": stratum(&figures.flips),
        "confirmed": {
            "confirmed": confirmed.confirmed,
            "refuted": confirmed.refuted,
            "open": confirmed.open,
            "interval": figures.confirmed_interval,
            "semantic_churn_pp": figures.churn.to_pp(2),
            "refuted_pp": figures.refuted.to_pp(2),
        },
        "reviewers": figures.between.iter().map(between).collect::<Vec<_>>(),
        "labelled": labelled.collect::<Vec<_>>(),
    })
}

fn stratum(stratum: &Stratum) -> Value {
    let Stratum { pairs, unsure, table, agreement, interval, kappa } = stratum;
    json!({
        "pairs": pairs,
        "unsure": unsure,
        "labels": self::table(table, "judge", "hand"),
        "agreement": agreement,
        "interval": interval,
        "kappa": kappa,
    })
}

fn table(table: &Table, first: &str, second: &str) -> Value {
    let Table { both_same, only_first, only_second, both_different } = table;
    let key = |one: &str, other: &str| format!("{first}_{one}_{second}_{other}");
    json!({
        (key("same", "same")): both_same,
        (key("same", "different")): only_first,
        (key("different", "same")): only_second,
        (key("different", "different")): both_different,
    })
}

fn between(between: &Between) -> Value {
    let Between { names, table } = between;
    json!({
        "names": names,
        "labels": self::table(table, "first", "second"),
        "agreement": table.agreement().map(significant),
        "kappa": table.kappa().map(significant),
    })
}

fn pair(pair: &Pair, hand: HandLabel) -> Value {
    let Pair { id, question, text, answers, sides, judge, flip, sampled } = pair;
    let answer = |at: usize| {
        let Sides { old, new } = sides[at];
        json!({ "text": answers[at].as_str(), "old": old, "new": new })
    };
    json!({
        "id": id.to_string(),
        "question": question.0,
        "text": text,
        "a": answer(0),
        "b": answer(1),
        "judge": judge,
        "hand": word(hand),
        "stable_flip": flip,
        "sampled": sampled,
    })
}
