//! Steps between two evidences lead where they say, and findings say no more than the answers show.

use super::*;
use crate::model::{Answer, Document, Evidence};
use proptest::prelude::*;

fn document(id: &str, text: &str) -> Document {
    Document { id: id.to_owned(), url: None, text: text.to_owned() }
}

/// `a1 b2` are the documents `a` and `b` with the texts `a1` and `b2`.
fn evidence(documents: &str) -> Evidence {
    Evidence { documents: documents.split_whitespace().map(|word| document(&word[..1], word)).collect() }
}

fn shown(evidence: &Evidence) -> String {
    evidence.documents.iter().map(|document| document.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn between(old: &str, new: &str) -> Difference {
    Difference::between(evidence(old), evidence(new))
}

#[test]
fn a_replaced_document_and_an_edited_one_are_told_apart() {
    let difference = between("a1 b1 c1", "a1 d1 c2");
    let changes = [Change::Left { old: 1 }, Change::Came { new: 1 }, Change::Edited { old: 2, new: 2 }];
    assert_eq!(difference.changes(), changes);
    assert_eq!(difference.shared(), 1);
    let evidences: Vec<String> = difference.steps(9).iter().map(|step| shown(&difference.evidence(*step))).collect();
    assert_eq!(
        evidences,
        ["a1 d1 c2", "a1 b1 c1", "a1 b1 d1 c2", "a1 c1", "a1 c2", "a1 d1 b1 c1", "a1 d1 c1", "a1 b1 c2"]
    );
    assert_eq!(difference.steps(1).len(), 4);
}

#[test]
fn a_place_that_moves_because_of_others_is_no_change_of_order() {
    assert_eq!(between("a1 b1 c1", "b1 c1").changes(), [Change::Left { old: 0 }]);
    assert_eq!(between("a1 b1", "x1 a1 b1").changes(), [Change::Came { new: 0 }]);
    let turned = between("a1 b1 c1", "c1 x1 a1 b1");
    assert_eq!(turned.changes(), [Change::Came { new: 1 }, Change::Reordered]);
    assert_eq!(shown(&turned.made(&[Change::Reordered])), "c1 a1 b1");
    assert_eq!(shown(&turned.undone(&[Change::Reordered])), "a1 x1 b1 c1");
}

#[test]
fn a_document_that_is_put_back_stands_at_its_old_rank_or_at_the_end() {
    let gone = between("a1 b1 c1 d1", "x1 d1");
    assert_eq!(shown(&gone.undone(&[Change::Left { old: 2 }])), "x1 d1 c1");
    assert_eq!(shown(&gone.undone(&[Change::Left { old: 0 }])), "a1 x1 d1");
    assert_eq!(shown(&gone.made(&[Change::Came { new: 0 }])), "x1 a1 b1 c1 d1");
}

#[test]
fn a_document_is_known_again_by_its_text_where_its_id_changed() {
    let old = Evidence { documents: vec![document("v1/a", "text"), document("v1/b", "other")] };
    let new = Evidence { documents: vec![document("v2/a", "text"), document("v1/b", "other")] };
    let difference = Difference::between(old.clone(), new.clone());
    assert_eq!(difference.changes(), [Change::Edited { old: 0, new: 0 }]);
    assert_eq!(difference.made(difference.changes()), new);
    assert_eq!(Difference::between(old.clone(), old.clone()).changes(), []);
    assert_eq!(Difference::between(old, new).mirrored().changes(), [Change::Edited { old: 0, new: 0 }]);
}

/// Any documents at all: ids and texts may stand several times.
fn any_evidence() -> impl Strategy<Value = Evidence> {
    let document = ("[a-e]", "[x-z]{0,1}", proptest::option::of("[u-v]"));
    let document = document.prop_map(|(id, text, url)| Document { id, url, text });
    proptest::collection::vec(document, 0..8).prop_map(|documents| Evidence { documents })
}

/// Documents of which each has an id and a text of its own, as engines give them.
fn evidence_of_ids() -> impl Strategy<Value = Evidence> {
    let ids = Just(('a'..='h').collect::<Vec<char>>()).prop_shuffle();
    (ids, 0_usize..8, 0_u8..8).prop_map(|(ids, count, version)| {
        let edited = |id: &char| u32::from(*id) % 3 == u32::from(version) % 3;
        let text = |id: &char| if edited(id) { format!("{id} {version}") } else { id.to_string() };
        Evidence { documents: ids.iter().take(count).map(|id| document(&id.to_string(), &text(id))).collect() }
    })
}

proptest! {
    #[test]
    fn every_change_made_or_undone_gives_the_other_evidence(old in any_evidence(), new in any_evidence()) {
        let difference = Difference::between(old.clone(), new.clone());
        prop_assert_eq!(&difference.made(difference.changes()), &new);
        prop_assert_eq!(&difference.undone(difference.changes()), &old);
        prop_assert_eq!(&difference.made(&[]), &old);
        prop_assert_eq!(&difference.undone(&[]), &new);
        prop_assert_eq!(difference.changes().is_empty(), old == new);
    }

    #[test]
    fn a_step_is_one_change_away_from_its_base_and_of_the_kind_that_it_says(
        old in evidence_of_ids(),
        new in evidence_of_ids(),
    ) {
        let difference = Difference::between(old.clone(), new.clone());
        for change in difference.changes() {
            let made = Difference::between(old.clone(), difference.made(&[*change]));
            prop_assert_eq!(made.changes().len(), 1, "{:?} {:?}", change, made);
            prop_assert_eq!(std::mem::discriminant(&made.changes()[0]), std::mem::discriminant(change));
            let undone = Difference::between(difference.undone(&[*change]), new.clone());
            prop_assert_eq!(undone.changes().len(), 1, "{:?} {:?}", change, undone);
            prop_assert_eq!(std::mem::discriminant(&undone.changes()[0]), std::mem::discriminant(change));
        }
    }

    #[test]
    fn a_change_made_in_any_order_of_naming_gives_the_same(old in any_evidence(), new in any_evidence(), turn in 0_usize..9) {
        let difference = Difference::between(old, new);
        let mut changes = difference.changes().to_vec();
        if !changes.is_empty() {
            let turn = turn % changes.len();
            changes.rotate_left(turn);
        }
        prop_assert_eq!(difference.made(&changes), difference.new_evidence().clone());
    }
}

fn answers(texts: &str) -> Vec<Answer> {
    texts.split_whitespace().map(|text| Answer::parse(text, 9).unwrap()).collect()
}

fn equal(one: &Answer, other: &Answer) -> bool {
    one == other
}

/// The finding of a run's answers and of those to each step: the new base, the old base, then each change undone and made.
fn finding(old: &str, new: &str, steps: &[&str]) -> Finding {
    let (old, new) = (answers(old), answers(new));
    let sides = Sides { old: &old, new: &new };
    let step = |number: usize| Step {
        base: if number.is_multiple_of(2) { Base::New } else { Base::Old },
        change: (number / 2).checked_sub(1),
    };
    let row = |(number, texts): (usize, &&str)| Row {
        step: step(number),
        classes: answers(texts).iter().map(|answer| sides.class(answer, &equal)).collect(),
    };
    let rows: Vec<Row> = steps.iter().enumerate().map(row).collect();
    Finding::of(sides, &equal, &rows, steps.len().saturating_sub(2) / 2, 2)
}

fn told(lists: [&[usize]; 5]) -> Finding {
    let [decide, needed, enough, in_part, open] = lists.map(<[usize]>::to_vec);
    Finding::Told { decide, needed, enough, in_part, open }
}

#[test]
fn what_decides_is_told_only_where_every_repeat_shows_it() {
    let bases = ["n n", "o x"];
    let with = |steps: &[&'static str]| finding("o o", "n n", &[&bases[..], steps].concat());
    assert_eq!(with(&["o o", "n n"]), told([&[0], &[], &[], &[], &[]]));
    assert_eq!(with(&["o x", "n n"]), told([&[0], &[], &[], &[], &[]]));
    assert_eq!(with(&["o o", "o o"]), told([&[], &[0], &[], &[], &[]]));
    assert_eq!(with(&["x o", "n o"]), told([&[], &[0], &[], &[], &[]]));
    assert_eq!(with(&["n n", "n n", "n n", "o o"]), told([&[], &[], &[0], &[], &[]]));
    assert_eq!(with(&["o n", "n n"]), told([&[], &[], &[0], &[], &[]]));
    assert_eq!(with(&["o n", "o o"]), told([&[], &[], &[], &[0], &[]]));
    assert_eq!(with(&["n n", "n x"]), told([&[], &[], &[], &[0], &[]]));
    assert_eq!(with(&["o o", "n"]), told([&[], &[], &[], &[], &[0]]));
    assert_eq!(with(&["n n", "o o", "", ""]), told([&[], &[], &[], &[], &[1]]));
}

#[test]
fn nothing_is_told_where_the_run_or_the_bases_do_not_stand() {
    let sound = ["n n", "o o", "o o", "n n"];
    assert_eq!(finding("o o", "o o", &["o o", "o o", "o o", "o o"]), Finding::NoFlip);
    assert_eq!(finding("o o", "n m", &sound), Finding::Unstable);
    assert_eq!(finding("o n", "n n", &sound), Finding::Unstable);
    assert_eq!(finding("o p", "n n", &sound), told([&[0], &[], &[], &[], &[]]));
    assert_eq!(finding("o o", "n n", &["n n", "o n", "o o", "n n"]), Finding::Drifted);
    assert_eq!(finding("o o", "n n", &["n o", "o o", "o o", "n n"]), Finding::Drifted);
    assert_eq!(finding("o o", "n n", &["n", "o o", "o o", "n n"]), Finding::Open);
    assert_eq!(finding("o o", "n n", &[]), Finding::Open);
}

#[test]
fn an_answer_that_is_unknown_is_the_runs_own_where_the_run_said_so() {
    let (old, new) = (answers("UNKNOWN UNKNOWN"), answers("n n"));
    let class = |text: &str, old: &[Answer]| Sides { old, new: &new }.class(&answers(text)[0], &equal);
    assert_eq!(class("UNKNOWN", &old), Class::Old);
    assert_eq!(class("UNKNOWN", &answers("o")), Class::Unknown);
    assert_eq!(class("n", &answers("n")), Class::Both);
    assert_eq!(class("x", &old), Class::Other);
}
