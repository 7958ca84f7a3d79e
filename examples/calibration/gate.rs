//! How often the gate as a whole blocks and passes: simulated answers and labels through the whole analysis and the rule.

use churngate::analyze::{Settings, analyze};
use churngate::gate::{Verdict, decide};
use churngate::model::{
    Answer, Kernel, Label, Observation, PercentagePoints, QuestionId, SnapshotAnswers, SnapshotName,
};
use churngate::spec::{Condition, GateLine, GateSpec};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use std::collections::BTreeMap;

const SCENARIOS: &str = include_str!("../../tests/fixtures/stats/scenarios.json");
/// The limit of the passing rule.
const LIMIT: f64 = 0.05;
/// The changes of the study.
pub const CHANGES: [Change; 3] = [Change::Nothing, Change::Wording, Change::AtTheLimit];

/// How the new snapshot differs from the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// In nothing.
    Nothing,
    /// In the wording of every answer: what agreed by text agrees by meaning alone.
    Wording,
    /// In meaning, with D at the limit of the passing rule.
    AtTheLimit,
}

impl Change {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Wording => "wording",
            Self::AtTheLimit => "D = 5 pp",
        }
    }
}

/// A question's exact and semantic cell: places in the fixture's list.
type Cells = (usize, usize);
/// How many questions of an audit have each pair of cells.
type Audit = BTreeMap<Cells, u64>;

/// Answers of one sort: the law of a question's cells under each table of the fixture.
pub struct Study {
    pub name: String,
    /// The names of the cells.
    names: Vec<String>,
    /// Their contrasts, in quarters.
    pub quarters: Vec<i64>,
    /// The laws under no change, changed meanings and changed wording.
    pub tables: BTreeMap<String, Vec<(Cells, f64)>>,
}

/// Verdicts of simulated audits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdicts {
    pub audits: u32,
    /// Blocked by the published rule.
    pub blocked: u32,
    /// Blocked by the rule for paragraph answers: semantic churn of 3 pp or more, its lower bound above 0.
    pub blocked_semantic: u32,
    /// Passed by the default rule.
    pub passed: u32,
}

/// The four scenarios of the fixture, in its order.
pub fn studies() -> Vec<Study> {
    let read: Value = serde_json::from_str(SCENARIOS).expect("scenarios");
    let names: Vec<String> = serde_json::from_value(read["cells"].clone()).expect("cells");
    let quarters: Vec<i64> = serde_json::from_value(read["d_quarters"].clone()).expect("contrasts");
    let table = |value: &Value| -> Vec<(Cells, f64)> {
        let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).expect("a table");
        let cells = rows
            .iter()
            .enumerate()
            .flat_map(|(exact, row)| row.iter().enumerate().map(move |(semantic, mass)| ((exact, semantic), *mass)));
        cells.filter(|(_, mass)| *mass > 0.0).collect()
    };
    let of = |(name, tables): (&String, &Value)| Study {
        name: name.clone(),
        names: names.clone(),
        quarters: quarters.clone(),
        tables: ["null", "surface", "semantic"].map(|kind| (kind.to_owned(), table(&tables[kind]))).into(),
    };
    read["scenarios"].as_object().expect("scenarios").iter().map(of).collect()
}

impl Study {
    #[expect(clippy::cast_precision_loss, reason = "small values")]
    fn contrast(&self, cell: usize) -> f64 {
        self.quarters[cell] as f64 / 4.0
    }

    /// The law of a question's cells.
    pub fn law(&self, change: Change) -> Vec<(Cells, f64)> {
        let table = |kind: &str| self.tables[kind].clone();
        let weighed =
            |law: Vec<(Cells, f64)>, weight: f64| law.into_iter().map(move |(cells, mass)| (cells, mass * weight));
        match change {
            Change::Nothing => table("null"),
            Change::Wording => table("surface"),
            Change::AtTheLimit => {
                let changed = table("semantic");
                let full: f64 = changed.iter().map(|((_, cell), mass)| self.contrast(*cell) * mass).sum();
                let weight = LIMIT / full;
                weighed(changed, weight).chain(weighed(table("null"), 1.0 - weight)).collect()
            }
        }
    }

    /// Simulates audits and decides each. The same arguments give the same counts.
    pub fn verdicts(&self, change: Change, questions: u64, audits: u32) -> Verdicts {
        let law = self.law(change);
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&questions.to_le_bytes());
        seed[8] = change as u8;
        seed[16..16 + self.name.len()].copy_from_slice(self.name.as_bytes());
        let mut cipher = ChaCha20Rng::from_seed(seed);
        let mut known: BTreeMap<Audit, [bool; 3]> = BTreeMap::new();
        let mut verdicts = Verdicts { audits, ..Verdicts::default() };
        for _ in 0..audits {
            let audit = audit(&law, questions, &mut cipher);
            let decided = known.entry(audit).or_insert_with_key(|audit| self.decided(audit));
            verdicts.blocked += u32::from(decided[0]);
            verdicts.blocked_semantic += u32::from(decided[1]);
            verdicts.passed += u32::from(decided[2]);
        }
        verdicts
    }

    /// Whether the published rule and the semantic one block an audit, and whether it passes.
    fn decided(&self, audit: &Audit) -> [bool; 3] {
        let analysis = analyze(&self.observations(audit), &settings()).expect("an analysis");
        let published = decide(&analysis, &GateSpec::published()).verdict;
        let semantic = decide(&analysis, &semantic_alone()).verdict;
        let passed = analysis_passes(&analysis);
        [published == Verdict::Incompatible, semantic == Verdict::Incompatible, passed]
    }

    /// Questions whose answers have these cells.
    pub fn observations(&self, audit: &Audit) -> Vec<Observation> {
        let mut observations = Vec::new();
        for ((exact, semantic), times) in audit {
            let answers = answers(&self.names[*exact], &self.names[*semantic]);
            for _ in 0..*times {
                observations.push(observation(observations.len(), &answers));
            }
        }
        observations
    }
}

/// Whether every line of the passing rule holds, whatever the blocking rule says.
fn analysis_passes(analysis: &churngate::analyze::Analysis) -> bool {
    let never_blocks = GateSpec { incompatible_when: Vec::new(), ..GateSpec::published() };
    decide(analysis, &never_blocks).verdict == Verdict::Compatible
}

fn semantic_alone() -> GateSpec {
    let (three, zero) = (PercentagePoints::from_units(3_000_000), PercentagePoints::from_units(0));
    let line = |condition| GateLine { kernel: Kernel::Semantic, condition };
    let rule = vec![line(Condition::AtLeast(three)), line(Condition::LowerBoundAbove(zero))];
    GateSpec { incompatible_when: rule, ..GateSpec::published() }
}

pub fn settings() -> Settings {
    Settings { draws: 1, ..Settings::default() }
}

#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn audit(law: &[(Cells, f64)], questions: u64, cipher: &mut ChaCha20Rng) -> Audit {
    let mut audit = Audit::new();
    for _ in 0..questions {
        let mut left = (cipher.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let drawn = law.iter().find(|(_, mass)| {
            left -= *mass;
            left < 0.0
        });
        *audit.entry(drawn.or(law.last()).expect("a law").0).or_default() += 1;
    }
    audit
}

/// A class for each of the four answers, the two old ones first.
type Classes = [usize; 4];

/// The first texts and meanings with these cells: answers of one text have one meaning.
fn answers(exact: &str, semantic: &str) -> (Classes, Classes) {
    let all = partitions();
    let finer = |texts: &Classes, meanings: &Classes| {
        (0..4).all(|i| (0..i).all(|j| texts[i] != texts[j] || meanings[i] == meanings[j]))
    };
    let pairs = all.iter().flat_map(|texts| all.iter().map(move |meanings| (*texts, *meanings)));
    let mut fitting = pairs
        .filter(|(texts, meanings)| is_cell(texts, exact) && is_cell(meanings, semantic) && finer(texts, meanings));
    fitting.next().expect("answers of these cells")
}

/// All ways to put four answers into classes.
fn partitions() -> Vec<Classes> {
    let all = (0..64).map(|n| [0, n / 16, n / 4 % 4, n % 4]);
    all.filter(|classes| (1..4).all(|i| classes[i] <= classes[..i].iter().max().map_or(0, |largest| largest + 1)))
        .collect()
}

/// Whether classes make a cell: agreement within old, within new, and across.
fn is_cell(classes: &Classes, cell: &str) -> bool {
    let same = |i: usize, j: usize| classes[i] == classes[j];
    let across = [(0, 2), (0, 3), (1, 2), (1, 3)].into_iter().filter(|(i, j)| same(*i, *j)).count();
    match cell {
        "Z" => !same(0, 1) && !same(2, 3) && across == 0,
        "PL" => same(0, 1) && !same(2, 3) && across == 0,
        "PH" => !same(0, 1) && same(2, 3) && across == 0,
        "Q" => !same(0, 1) && !same(2, 3) && across == 1,
        "FL" => same(0, 1) && same(2, 3) && across == 0,
        "XX" => !same(0, 1) && !same(2, 3) && across == 2,
        "T3" => same(0, 1) != same(2, 3) && across == 2,
        "ALL" => across == 4,
        _ => false,
    }
}

fn observation(place: usize, (texts, meanings): &(Classes, Classes)) -> Observation {
    let answer = |class: usize| Answer::parse(&format!("answer {class}"), 64).expect("an answer");
    let mut judgments = BTreeMap::new();
    for i in 0..4 {
        for j in 0..i {
            let (small, large) = (texts[i].min(texts[j]), texts[i].max(texts[j]));
            let label = if meanings[i] == meanings[j] { Label::Same } else { Label::Different };
            if small < large {
                judgments.insert((answer(small), answer(large)), label);
            }
        }
    }
    let of = |snapshot, classes: &[usize]| SnapshotAnswers {
        snapshot,
        answers: classes.iter().copied().map(answer).collect(),
        evidence: None,
        cited: Vec::new(),
    };
    Observation {
        id: QuestionId(place.to_string()),
        cluster: None,
        tags: Vec::new(),
        snapshots: vec![of(SnapshotName::old(), &texts[..2]), of(SnapshotName::new_snapshot(), &texts[2..])],
        judgments,
        similarities: BTreeMap::new(),
        gold: Vec::new(),
        unchanged: false,
    }
}
