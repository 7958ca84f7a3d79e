//! What a review shows follows from ids and texts alone, and what it counts from the labels.

use super::*;
use crate::analyze::agreement::Table;
use crate::model::{Answer, Label, Observation, Question, QuestionId, SnapshotAnswers, SnapshotName};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The texts of a question's answers: of the old snapshot, and of the new one.
type Texts = ([u8; 2], [u8; 2]);

fn answer(text: u8) -> Answer {
    Answer::parse(&format!("answer {text}"), 99).unwrap()
}

fn question(number: usize) -> Question {
    Question { id: QuestionId(format!("q{number}")), text: format!("What {number}?"), tags: Vec::new(), cluster: None }
}

/// An observation of these answers whose pairs are labelled by the bits of `labels`, in the order of their texts.
fn observation(number: usize, (old, new): Texts, labels: u64) -> Observation {
    let side = |snapshot, texts: [u8; 2]| SnapshotAnswers {
        snapshot,
        answers: texts.map(answer).into(),
        evidence: None,
        cited: Vec::new(),
    };
    let distinct: Vec<Answer> =
        BTreeSet::from([old, new].concat().try_into().unwrap_or([0; 4])).into_iter().map(answer).collect();
    let mut judgments = BTreeMap::new();
    for (at, one) in distinct.iter().enumerate() {
        for other in &distinct[at + 1..] {
            let label = if (labels >> (judgments.len() % 64)) & 1 == 0 { Label::Different } else { Label::Same };
            judgments.insert((one.clone(), other.clone()), label);
        }
    }
    Observation {
        id: question(number).id,
        cluster: None,
        tags: Vec::new(),
        snapshots: vec![side(SnapshotName::old(), old), side(SnapshotName::new_snapshot(), new)],
        judgments,
        similarities: BTreeMap::new(),
        gold: Vec::new(),
        unchanged: false,
    }
}

fn selected(all: &[Texts], labels: u64, flips: &[usize], sample: Option<usize>) -> Selected {
    let flips = flips.iter().map(|number| question(*number).id).collect();
    let mut selector = Selector::new(Wanted { key: [3; 32], flips, sample, named: BTreeSet::new() });
    for (number, texts) in all.iter().enumerate() {
        selector.take(
            &question(number),
            &observation(number, *texts, labels.rotate_left(u32::try_from(number).unwrap_or(0))),
        );
    }
    selector.finish()
}

/// What whoever labels is shown, in order.
fn shown(selected: &Selected) -> Vec<(String, String, String)> {
    let shown = |pair: &Pair| {
        let [a, b] = pair.answers.clone().map(|answer| answer.as_str().to_owned());
        (pair.text.clone(), a, b)
    };
    selected.pairs.iter().map(shown).collect()
}

fn swapped(all: &[Texts]) -> Vec<Texts> {
    all.iter().map(|(old, new)| (*new, *old)).collect()
}

fn audits() -> impl Strategy<Value = Vec<Texts>> {
    proptest::collection::vec((proptest::array::uniform2(0_u8..5), proptest::array::uniform2(0_u8..5)), 1..40)
}

proptest! {
    /// Neither the judge's labels nor which snapshot is old moves a pair of the sample, its place or the order of its answers.
    #[test]
    fn what_is_shown_depends_on_no_label_and_on_no_snapshot(
        all in audits(), one in any::<u64>(), other in any::<u64>(), sample in 0_usize..30,
        flips in proptest::collection::vec(0_usize..40, 0..4),
    ) {
        for sample in [Some(sample), None] {
            let before = selected(&all, one, &flips, sample);
            prop_assert_eq!(shown(&before), shown(&selected(&all, other, &flips, sample)));
            let after = selected(&swapped(&all), one, &flips, sample);
            prop_assert_eq!(shown(&before), shown(&after));
            prop_assert_eq!(before.judged, after.judged);
            for (pair, mirrored) in before.pairs.iter().zip(&after.pairs) {
                prop_assert_eq!((pair.id, pair.sampled, pair.flip), (mirrored.id, mirrored.sampled, mirrored.flip));
                let turned = mirrored.sides.map(|Sides { old, new }| Sides { old: new, new: old });
                prop_assert_eq!(pair.sides, turned);
            }
        }
    }

    /// The sample is the same whatever flipped, is as large as was asked, and grows without losing a pair.
    #[test]
    fn the_sample_is_blind_to_flips_and_a_larger_one_holds_it(
        all in audits(), labels in any::<u64>(), size in 0_usize..30, flips in proptest::collection::vec(0_usize..40, 0..9),
    ) {
        let sampled = |flips: &[usize], size| {
            let pairs = selected(&all, labels, flips, Some(size)).pairs;
            pairs.into_iter().filter(|pair| pair.sampled).map(|pair| pair.id).collect::<BTreeSet<_>>()
        };
        let without = sampled(&[], size);
        prop_assert_eq!(&without, &sampled(&flips, size));
        prop_assert!(without.is_subset(&sampled(&flips, size + 3)));
        let whole = selected(&all, labels, &flips, None);
        prop_assert_eq!(without.len() as u64, whole.judged.min(size as u64));
        prop_assert_eq!(whole.pairs.len() as u64, whole.judged);
    }

    /// No pair of equal texts is ever shown, and every pair of a flip is.
    #[test]
    fn equal_texts_are_no_pair_and_flips_are_whole(all in audits(), labels in any::<u64>(), flip in 0_usize..40) {
        let selected = selected(&all, labels, &[flip], Some(0));
        prop_assert!(selected.pairs.iter().all(|pair| pair.answers[0] != pair.answers[1] && pair.flip && !pair.sampled));
        let texts = all.get(flip).map_or(1, |(old, new)| BTreeSet::from([old[0], old[1], new[0], new[1]]).len());
        prop_assert_eq!(selected.pairs.len(), texts * (texts - 1) / 2);
    }

    /// Every labelled pair of the selection is counted once, and whoever copies the judge agrees with it.
    #[test]
    fn counts_add_up(all in audits(), labels in any::<u64>(), told in any::<u64>()) {
        let whole = selected(&all, labels, &[0, 1, 2], None);
        let hand = |(at, pair): (usize, &Pair)| match (told >> (at % 64)) & 3 {
            0 => None,
            1 => Some((pair.id, HandLabel::Unsure)),
            2 => Some((pair.id, HandLabel::Same)),
            _ => Some((pair.id, HandLabel::Different)),
        };
        let given: Labels = whole.pairs.iter().enumerate().filter_map(hand).collect();
        let stratum = Stratum::of(&whole.pairs, &given, 0.05);
        prop_assert_eq!(stratum.table.pairs() + stratum.unsure, given.len() as u64);
        let copied: Labels = whole.pairs.iter().map(|pair| (pair.id, copy(pair.judge))).collect();
        let stratum = Stratum::of(&whole.pairs, &copied, 0.05);
        prop_assert_eq!(stratum.table.alike(), whole.judged);
        let confirmed = confirmed(&whole.pairs, &copied);
        prop_assert_eq!((confirmed.refuted, confirmed.open), (0, 0));
        let table = between(&given, &copied);
        prop_assert!(table.pairs() <= given.len() as u64);
        prop_assert_eq!(table.only_first, between(&copied, &given).only_second);
    }
}

const fn copy(judge: Label) -> HandLabel {
    match judge {
        Label::Same => HandLabel::Same,
        Label::Different => HandLabel::Different,
    }
}

#[test]
fn the_order_of_two_answers_is_a_fair_coin() {
    let all: Vec<Texts> = (0..2_000).map(|_| ([1, 1], [2, 2])).collect();
    let old_first = selected(&all, 0, &[], None).pairs.iter().filter(|pair| pair.sides[0].old).count();
    // 1,000 expected with a standard deviation of 22.
    assert!((900..1100).contains(&old_first), "{old_first}");
}

#[test]
fn a_flip_is_confirmed_by_all_of_its_pairs_and_refuted_by_one() {
    // Two wordings in the old snapshot: the judge calls them the same, and both different from the new one.
    let all = [([1, 2], [3, 3]); 3];
    let pairs = {
        let mut selector = Selector::new(Wanted {
            key: [3; 32],
            flips: (0..3).map(|number| question(number).id).collect(),
            sample: Some(0),
            named: BTreeSet::new(),
        });
        for (number, texts) in all.iter().enumerate() {
            selector.take(&question(number), &observation(number, *texts, 1));
        }
        selector.finish().pairs
    };
    let of = |number: usize| pairs.iter().filter(move |pair| pair.question == question(number).id);
    let mut labels: Labels = of(0).chain(of(1)).map(|pair| (pair.id, copy(pair.judge))).collect();
    assert_eq!(confirmed(&pairs, &labels), Confirmed { confirmed: 2, refuted: 0, open: 1 });
    let within = of(1).find(|pair| pair.judge == Label::Same).unwrap();
    labels.insert(within.id, HandLabel::Unsure);
    assert_eq!(confirmed(&pairs, &labels), Confirmed { confirmed: 1, refuted: 0, open: 2 });
    labels.insert(within.id, HandLabel::Different);
    assert_eq!(confirmed(&pairs, &labels), Confirmed { confirmed: 1, refuted: 1, open: 1 });
    let stratum = Stratum::of(&pairs, &labels, 0.05);
    assert_eq!(stratum.table, Table { both_same: 1, only_first: 1, only_second: 0, both_different: 4 });
    let (low, high) = stratum.interval.unwrap();
    // Five of six, as statsmodels' `proportion_confint(5, 6, method="wilson")` has it.
    assert!((low - 0.436_497).abs() < 1e-5 && (high - 0.969_947).abs() < 1e-5, "{low} {high}");
}
