//! Overlap of the documents that answers cite: of old and new answers, beside that of repeats of one snapshot. It is what a
//! deployed system says of itself, no evidence of ours, and decides nothing.

use super::comparison::Asked;
use super::figures::{Cited, CitedByPairs, CitedOverlap, PairOverlap};
use crate::model::{Digest, EvidenceKeys, SnapshotAnswers};
use std::collections::BTreeSet;

/// What is counted of the documents that old and new answers cite.
///
/// A question is compared where each of its answers came with a list, be it empty: where some came without one, what these
/// rest on is not known, and the others alone would show one side of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Citing {
    questions: u64,
    partly: u64,
    answers: [Named; 2],
    by_id: ByPairs,
    by_url: ByPairs,
    by_content: ByPairs,
    any_document: bool,
    without_url: bool,
    without_text: bool,
}

/// Answers of one snapshot, and the different documents that they name.
#[derive(Clone, Copy, Debug, Default)]
struct Named {
    answers: u64,
    documents: u64,
}

/// Pairs of answers by where they come from.
#[derive(Clone, Copy, Debug, Default)]
struct ByPairs {
    within_old: Pairs,
    within_new: Pairs,
    cross: Pairs,
}

/// What pairs of answers share under one sort of name.
#[derive(Clone, Copy, Debug, Default)]
struct Pairs {
    count: u64,
    sum: u64,
    none: u64,
    same_set: u64,
    same_list: u64,
}

/// One list, and the different names in it.
struct Listed<K> {
    list: Vec<K>,
    set: BTreeSet<K>,
}

impl Citing {
    /// Takes one asked question.
    pub fn take(&mut self, asked: &Asked<'_>) {
        let (old, new) = (lists(asked.old), lists(asked.new));
        let known = || old.iter().chain(&new).flatten();
        if known().next().is_none() {
            return;
        }
        self.any_document |= known().any(|keys| !keys.ids.is_empty());
        match (all(&old), all(&new)) {
            (Some(old), Some(new)) => self.count(&old, &new),
            _ => self.partly += 1,
        }
    }

    fn count(&mut self, old: &[&EvidenceKeys], new: &[&EvidenceKeys]) {
        self.questions += 1;
        for (named, lists) in self.answers.iter_mut().zip([old, new]) {
            named.answers += lists.len() as u64;
            named.documents +=
                lists.iter().map(|keys| keys.ids.iter().collect::<BTreeSet<_>>().len() as u64).sum::<u64>();
        }
        self.by_id.take(old, new, |keys| &keys.ids);
        self.by_url.take(old, new, |keys| &keys.urls);
        self.by_content.take(old, new, |keys| &keys.contents);
        let documents = || old.iter().chain(new);
        self.without_url |= documents().any(|keys| keys.urls.iter().any(Option::is_none));
        self.without_text |= documents().any(|keys| keys.ids.iter().zip(&keys.contents).any(is_without_text));
    }

    /// The overlap; absent where no answer names any document.
    #[must_use]
    pub fn finish(&self) -> Option<Cited> {
        self.any_document.then(|| Cited {
            questions: self.questions,
            partly: self.partly,
            overlap: (self.questions > 0).then(|| self.overlap()),
        })
    }

    fn overlap(&self) -> CitedOverlap {
        let [old, new] = self.answers.map(|Named { answers, documents }| mean(documents, answers));
        let any = self.answers.iter().any(|named| named.documents > 0);
        CitedOverlap {
            documents: (old, new),
            by_id: self.by_id.figures(),
            by_url: (any && !self.without_url).then(|| self.by_url.figures()),
            by_content: (any && !self.without_text).then(|| self.by_content.figures()),
        }
    }
}

impl ByPairs {
    fn take<'k, K: Ord + 'k>(
        &mut self,
        old: &[&'k EvidenceKeys],
        new: &[&'k EvidenceKeys],
        names: impl Fn(&'k EvidenceKeys) -> &'k [K],
    ) {
        let listed =
            |keys: &&'k EvidenceKeys| Listed { list: names(keys).iter().collect(), set: names(keys).iter().collect() };
        let (old, new): (Vec<_>, Vec<_>) = (old.iter().map(listed).collect(), new.iter().map(listed).collect());
        self.within_old.within(&old);
        self.within_new.within(&new);
        for one in &old {
            for other in &new {
                self.cross.take(one, other);
            }
        }
    }

    fn figures(&self) -> CitedByPairs {
        CitedByPairs {
            within_old: self.within_old.figures(),
            within_new: self.within_new.figures(),
            cross: self.cross.figures(),
        }
    }
}

impl Pairs {
    /// Takes every unordered pair of repeats.
    fn within<K: Ord>(&mut self, repeats: &[Listed<K>]) {
        for (place, one) in repeats.iter().enumerate() {
            for other in repeats.iter().skip(place + 1) {
                self.take(one, other);
            }
        }
    }

    fn take<K: Ord>(&mut self, one: &Listed<K>, other: &Listed<K>) {
        let shared = one.set.intersection(&other.set).count() as u64;
        self.count += 1;
        self.sum += shared;
        self.none += u64::from(shared == 0);
        self.same_set += u64::from(one.set == other.set);
        self.same_list += u64::from(one.list == other.list);
    }

    fn figures(&self) -> PairOverlap {
        PairOverlap {
            pairs: self.count,
            mean_shared: mean(self.sum, self.count),
            none: self.none,
            same_set: self.same_set,
            same_list: self.same_list,
        }
    }
}

/// What each repeat names.
fn lists(snapshot: &SnapshotAnswers) -> Vec<Option<&EvidenceKeys>> {
    (0..snapshot.answers.len()).map(|repeat| snapshot.cited.get(repeat)?.as_ref()).collect()
}

fn all<'k>(lists: &[Option<&'k EvidenceKeys>]) -> Option<Vec<&'k EvidenceKeys>> {
    lists.iter().copied().collect()
}

/// Whether nothing is known of the document but its id: its content is then the digest of this.
fn is_without_text((id, content): (&String, &Digest)) -> bool {
    *content == Digest::of(id.as_bytes())
}

#[expect(clippy::cast_precision_loss, reason = "numbers of documents are far below 2^53")]
fn mean(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::{Analysis, Settings, analyze};
    use crate::model::{Answer, Label, Observation, QuestionId, SnapshotName};
    use std::collections::BTreeMap;

    /// One document: its id, its URL and its text.
    type Document = (&'static str, Option<&'static str>, Option<&'static str>);

    const A: Document = ("a", Some("https://h/a"), Some("text a"));
    const B: Document = ("b", Some("https://h/b"), Some("text b"));
    const C: Document = ("c", Some("https://h/c"), Some("text a"));

    fn keys(documents: &[Document]) -> EvidenceKeys {
        let content = |(id, _, text): &Document| Digest::of(text.unwrap_or(id).as_bytes());
        EvidenceKeys {
            ids: documents.iter().map(|(id, ..)| (*id).to_owned()).collect(),
            urls: documents.iter().map(|(_, url, _)| url.map(str::to_owned)).collect(),
            contents: documents.iter().map(content).collect(),
        }
    }

    /// A question of two repeats a snapshot: what each answer names, `None` where it came without a list.
    fn question(number: usize, named: [Option<&[Document]>; 4]) -> Observation {
        let answer = |text: &str| Answer::parse(text, 512).unwrap();
        let side = |snapshot, text, named: &[Option<&[Document]>]| SnapshotAnswers {
            snapshot,
            answers: vec![answer(text); 2],
            evidence: None,
            cited: named.iter().map(|list| list.map(keys)).collect(),
        };
        Observation {
            id: QuestionId(format!("q{number}")),
            cluster: None,
            tags: Vec::new(),
            snapshots: vec![
                side(SnapshotName::old(), "x", &named[..2]),
                side(SnapshotName::new_snapshot(), "y", &named[2..]),
            ],
            judgments: BTreeMap::from([((answer("x"), answer("y")), Label::Different)]),
            similarities: BTreeMap::new(),
            gold: Vec::new(),
            unchanged: false,
        }
    }

    fn analysis(questions: &[[Option<&[Document]>; 4]]) -> Analysis {
        let observations: Vec<Observation> =
            questions.iter().enumerate().map(|(number, named)| question(number, *named)).collect();
        analyze(&observations, &Settings::default()).unwrap()
    }

    fn row(overlap: &PairOverlap) -> (u64, f64, u64, u64, u64) {
        (overlap.pairs, overlap.mean_shared, overlap.none, overlap.same_set, overlap.same_list)
    }

    #[test]
    fn old_and_new_stand_beside_the_repeats_of_each() {
        let cited = analysis(&[
            [Some(&[A, B]), Some(&[B, A]), Some(&[C]), Some(&[C, C])],
            [Some(&[A]), Some(&[A]), Some(&[A]), Some(&[B])],
        ])
        .cited
        .unwrap();
        assert_eq!((cited.questions, cited.partly), (2, 0));
        let CitedOverlap { documents, by_id, by_url, by_content } = cited.overlap.unwrap();
        assert_eq!(documents, (1.5, 1.0));
        assert_eq!(row(&by_id.within_old), (2, 1.5, 0, 2, 1), "both of two, and one of one");
        assert_eq!(row(&by_id.within_new), (2, 0.5, 1, 1, 0), "a list that names one twice is another list");
        assert_eq!(row(&by_id.cross), (8, 0.25, 6, 2, 2));
        assert_eq!(by_url.unwrap(), by_id, "each has one URL");
        // c is a under another id.
        assert_eq!(row(&by_content.unwrap().cross), (8, 0.75, 2, 2, 2));
    }

    #[test]
    fn an_empty_list_is_a_list_and_an_absent_one_leaves_the_question_out() {
        let cited = |questions: &[_]| analysis(questions).cited;
        let empty: Option<&[Document]> = Some(&[]);
        assert_eq!(cited(&[[None; 4]]), None);
        assert_eq!(cited(&[[empty; 4], [None; 4]]), None, "no answer names anything");
        let partly = cited(&[[Some(&[A]), None, empty, empty], [None; 4]]).unwrap();
        assert_eq!(partly, Cited { questions: 0, partly: 1, overlap: None });
        let found =
            cited(&[[Some(&[A]), Some(&[A]), empty, empty], [Some(&[A]), None, None, None], [None; 4]]).unwrap();
        assert_eq!((found.questions, found.partly), (1, 1));
        let by_id = found.overlap.unwrap().by_id;
        assert_eq!(row(&by_id.within_new), (1, 0.0, 1, 1, 1));
        assert_eq!(row(&by_id.cross), (4, 0.0, 4, 0, 0));
    }

    #[test]
    fn urls_and_contents_are_compared_where_every_document_has_one() {
        let overlap =
            |documents: &[Document]| analysis(&[[Some(&[A]); 4], [Some(documents); 4]]).cited.unwrap().overlap.unwrap();
        let there = |documents: &[Document]| {
            let CitedOverlap { by_url, by_content, .. } = overlap(documents);
            (by_url.is_some(), by_content.is_some())
        };
        assert_eq!(there(&[B]), (true, true));
        assert_eq!(there(&[("b", None, Some("text"))]), (false, true));
        assert_eq!(there(&[("b", Some("https://h/b"), None)]), (true, false));
        assert_eq!(there(&[("b", None, None)]), (false, false));
        let without_any: Option<&[Document]> = Some(&[]);
        let cited = analysis(&[[without_any; 4], [Some(&[A]), None, None, None]]).cited.unwrap().overlap.unwrap();
        assert_eq!((cited.by_url, cited.by_content), (None, None), "no document is compared");
    }

    #[test]
    fn no_other_figure_depends_on_what_is_cited() {
        let without = analysis(&[[None; 4], [None; 4]]);
        let with = analysis(&[[Some(&[A]), Some(&[A]), Some(&[B]), Some(&[B])], [Some(&[A]), None, None, None]]);
        assert!(with.cited.is_some());
        assert_eq!(Analysis { cited: None, ..with }, without);
    }
}
