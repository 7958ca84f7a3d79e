//! Random small audits as files of outside answers: a number gives an audit, the same one everywhere.

use serde_json::{Value, json};

const TEXTS: [&str; 8] = [
    "The Louvre",
    "louvre",
    "Louvre.",
    "UNKNOWN",
    "Paris, France",
    "a Paris-France",
    "an O\u{2019}Brien",
    "O'Brien the",
];

/// Numbers from a multiplicative congruence (Steele and Vigna 2021, 64 bits).
struct Numbers(u64);

impl Numbers {
    /// The next number below `below`.
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        usize::try_from((self.0 >> 33) % below as u64).expect("a small number")
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// What all questions of one audit share.
#[expect(clippy::struct_excessive_bools, reason = "each is one independent property of an audit")]
struct Plan {
    repeats: [usize; 2],
    /// Of how many texts the answers of one question are drawn: few texts, little noise.
    texts: usize,
    gold: bool,
    evidence: bool,
    tags: bool,
    clusters: bool,
    /// Whether labels follow from classes of meaning.
    transitive: bool,
    /// Whether a snapshot stands between old and new.
    rung: bool,
    /// Whether a placebo was asked.
    placebo: bool,
    /// Whether the closed book was asked.
    closed_book: bool,
    /// Whether answers have similarities.
    soft: bool,
}

/// An audit of 3 to 30 questions.
pub fn random(number: u64) -> String {
    let mut numbers = Numbers(number * 7919 + 13);
    for _ in 0..8 {
        numbers.below(2);
    }
    let plan = Plan {
        repeats: [2 + numbers.below(3), 2 + numbers.below(3)],
        texts: 1 + numbers.below(TEXTS.len()),
        gold: !numbers.one_in(4),
        evidence: !numbers.one_in(4),
        tags: numbers.one_in(2),
        clusters: numbers.one_in(3),
        transitive: !numbers.one_in(3),
        rung: numbers.one_in(3),
        placebo: numbers.one_in(3),
        closed_book: numbers.one_in(3),
        soft: numbers.one_in(3),
    };
    let questions = 3 + numbers.below(28);
    let lines: Vec<String> = (0..questions).map(|id| question(id, &plan, &mut numbers).to_string()).collect();
    lines.join("\n")
}

fn question(id: usize, plan: &Plan, numbers: &mut Numbers) -> Value {
    // The first question is always asked.
    let unchanged = id > 0 && numbers.one_in(5);
    let first = numbers.below(TEXTS.len());
    let shift = usize::from(id.is_multiple_of(3)) * 3;
    let mut answers = |side: usize, shift: usize| -> Vec<&str> {
        let repeats = if unchanged { 0 } else { plan.repeats[side] };
        (0..repeats).map(|_| TEXTS[(first + shift + numbers.below(plan.texts)) % TEXTS.len()]).collect()
    };
    let (old, new) = (answers(0, 0), answers(1, shift));
    let mut record = json!({ "id": format!("q{id}"), "answers": { "old": old, "new": new } });
    let mut said = [old, new].concat();
    for (snapshot, present) in [("mid", plan.rung), ("placebo", plan.placebo), ("closed_book", plan.closed_book)] {
        if present {
            let third = answers(0, usize::from(id.is_multiple_of(2)) * 3);
            record["answers"][snapshot] = json!(third);
            said.extend(third);
        }
    }
    record["labels"] = labels(&said, plan, numbers);
    if plan.soft {
        record["similarity"] = similarities(&said, numbers);
    }
    if unchanged {
        record["unchanged"] = json!(true);
    }
    if plan.gold && !numbers.one_in(5) {
        let alias = TEXTS[numbers.below(TEXTS.len())];
        record["gold"] = json!([alias, "Musée du Louvre"]);
    }
    if plan.tags {
        let tag = ["north", "south", "west"][numbers.below(3)];
        record["tags"] = json!([tag]);
    }
    if plan.clusters && !numbers.one_in(6) {
        record["cluster"] = json!(format!("source {}", id / 4));
    }
    if plan.evidence {
        let mut documents = || -> Vec<Value> {
            (0..3 * usize::from(numbers.below(9) > 0))
                .map(|rank| json!({ "id": rank * 2 + numbers.below(2) }))
                .collect()
        };
        record["evidence"] = json!({ "old": named(documents(), plan), "new": named(documents(), plan) });
        if plan.placebo {
            record["evidence"]["placebo"] = json!(named(documents(), plan));
        }
    }
    record
}

/// Ids are texts. Where questions have tags, documents have URLs and texts, some of which several documents share.
fn named(documents: Vec<Value>, plan: &Plan) -> Vec<Value> {
    let one = |document: Value| {
        let number = document["id"].as_u64().unwrap_or(0);
        let mut named = json!({ "id": format!("d{number}") });
        if plan.tags {
            named["url"] = json!(format!("page {}", number / 2));
            named["text"] = json!(format!("text {}", number / 3));
        }
        named
    };
    documents.into_iter().map(one).collect()
}

/// Some number in hundredths for every pair of texts.
fn similarities(said: &[&str], numbers: &mut Numbers) -> Value {
    let texts: Vec<&str> = TEXTS.into_iter().filter(|text| said.contains(text)).collect();
    let pairs =
        texts.iter().enumerate().flat_map(|(place, one)| texts[place + 1..].iter().map(move |other| (*one, *other)));
    let with = |(one, other): (&str, &str)| {
        json!([one, other, f64::from(u32::try_from(numbers.below(101)).unwrap_or(0)) / 100.0])
    };
    Value::Array(pairs.map(with).collect())
}

fn labels(said: &[&str], plan: &Plan, numbers: &mut Numbers) -> Value {
    let meaning: Vec<usize> = TEXTS.iter().map(|_| numbers.below(4)).collect();
    let said: Vec<usize> = (0..TEXTS.len()).filter(|text| said.contains(&TEXTS[*text])).collect();
    let mut labels = Vec::new();
    for (place, one) in said.iter().enumerate() {
        for other in &said[place + 1..] {
            let same = if plan.transitive { meaning[*one] == meaning[*other] } else { numbers.one_in(2) };
            let label = if same { "same" } else { "different" };
            labels.push(json!([TEXTS[*one], TEXTS[*other], label]));
        }
    }
    Value::Array(labels)
}
