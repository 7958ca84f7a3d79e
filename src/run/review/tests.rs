//! Labels on disk: nothing but a torn last line is ever lost, and a file that is wrong gives none.

use super::labels::{Header, LabelFile, others};
use super::sheet::{Sheet, format};
use crate::analyze::review::{HandLabel, Labels, Pair, Sides};
use crate::model::{Answer, Digest, FailureClass, Label, QuestionId};
use crate::report::review::{SheetFormat, sheet};
use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;

const HAND: [HandLabel; 3] = [HandLabel::Same, HandLabel::Different, HandLabel::Unsure];

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    (folder, path)
}

fn header(reviewer: &str) -> Header {
    Header::new(Digest::of(b"run"), Digest::of(b"judgments"), reviewer)
}

fn id(number: u8) -> Digest {
    Digest::of(&[number])
}

/// A run whose labels are these bytes.
fn with(bytes: &[u8]) -> (tempfile::TempDir, Utf8PathBuf) {
    let (kept, run) = folder();
    fs_err::create_dir(run.join("review")).unwrap();
    fs_err::write(run.join("review/ann.jsonl"), bytes).unwrap();
    (kept, run)
}

/// The file of labels that are given one after the other.
fn written(labels: &[(Digest, HandLabel)]) -> Vec<u8> {
    let (_kept, run) = folder();
    let mut file = LabelFile::read(&run, header("ann")).unwrap();
    for label in labels {
        file.give(&[*label]).unwrap();
        let now = LabelFile::read(&run, header("ann")).unwrap();
        assert_eq!(now.labels(), file.labels(), "a label is there as soon as it is given");
    }
    fs_err::read(run.join("review/ann.jsonl")).unwrap()
}

/// A later label of a pair stands in an earlier one's place.
fn kept(labels: &[(Digest, HandLabel)]) -> Labels {
    labels.iter().copied().collect()
}

#[test]
fn a_kill_at_any_byte_loses_at_most_the_torn_last_line() {
    let given: Vec<(Digest, HandLabel)> =
        (0..6).map(|number| (id(number % 4), HAND[usize::from(number) % 3])).collect();
    let whole = written(&given);
    for cut in 0..=whole.len() {
        let lines = whole[..cut].split(|byte| *byte == b'\n').count() - 1;
        let (_kept, run) = with(&whole[..cut]);
        let mut file = LabelFile::read(&run, header("ann")).unwrap();
        assert_eq!(*file.labels(), kept(&given[..lines.saturating_sub(1)]), "cut at byte {cut}");
        if cut % 5 == 0 {
            file.give(&[(id(9), HandLabel::Same)]).unwrap();
            let again = LabelFile::read(&run, header("ann")).unwrap();
            let all = [&given[..lines.saturating_sub(1)], &[(id(9), HandLabel::Same)]].concat();
            assert_eq!(*again.labels(), kept(&all), "gone on at byte {cut}");
        }
    }
}

#[test]
fn damage_and_labels_of_something_else_are_refused_with_a_remedy() {
    let whole = written(&[(id(1), HandLabel::Same), (id(2), HandLabel::Different)]);
    let text = String::from_utf8(whole).unwrap();
    let other = |one: &[u8], two: &[u8]| text.replace(&Digest::of(one).to_string(), &Digest::of(two).to_string());
    for (bytes, said) in [
        (other(b"run", b"x"), "labels of another run"),
        (other(b"judgments", b"x"), "labels of other judgments"),
        (text.replace("\"ann\"", "\"bob\""), "another reviewer than `ann`"),
        (text.replace("\"1.0\"", "\"2.0\""), "another format"),
        (text.replace("\"same\"", "\"sane\""), "line 2 is no label"),
        (text.replace("different\"}", "different\",\"x\":1}"), "line 3 is no label"),
        ("\n".to_owned() + &text, "line 1 is no header"),
    ] {
        let (_kept, run) = with(bytes.as_bytes());
        let failure = LabelFile::read(&run, header("ann")).unwrap_err();
        assert!(failure.class == FailureClass::Evidence && failure.message.contains(said), "{said}: {failure}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("move it away")));
        assert_eq!(others(&run, &header("eve")).unwrap_err().class, FailureClass::Evidence);
    }
    let (_kept, run) = with(text.as_bytes());
    assert_eq!(others(&run, &header("eve")).unwrap()[0].1.len(), 2);
    assert!(others(&run, &header("ann")).unwrap().is_empty());
}

#[test]
fn two_processes_never_label_under_one_name() {
    let (_kept, run) = folder();
    let [mut one, mut other, mut late] = [0; 3].map(|_| LabelFile::read(&run, header("ann")).unwrap());
    one.give(&[(id(1), HandLabel::Same)]).unwrap();
    let held = other.give(&[(id(2), HandLabel::Same)]).unwrap_err();
    assert!(held.class == FailureClass::Usage && held.message.contains("another process"), "{held}");
    drop(one);
    let changed = late.give(&[(id(2), HandLabel::Same)]).unwrap_err();
    assert!(changed.class == FailureClass::Usage && changed.message.contains("changed meanwhile"), "{changed}");
    assert_eq!(LabelFile::read(&run, header("ann")).unwrap().labels().len(), 1);
}

#[test]
fn what_was_shown_settles_the_labels_before_it_alone() {
    let (_kept, run) = folder();
    let mut file = LabelFile::read(&run, header("ann")).unwrap();
    file.reveal().unwrap();
    assert!(!run.join("review").exists(), "nothing was shown of nothing");
    file.give(&[(id(1), HandLabel::Same)]).unwrap();
    file.reveal().unwrap();
    let bytes = fs_err::read(run.join("review/ann.jsonl")).unwrap();
    file.reveal().unwrap();
    assert_eq!(bytes, fs_err::read(run.join("review/ann.jsonl")).unwrap());
    file.give(&[(id(2), HandLabel::Same)]).unwrap();
    let file = LabelFile::read(&run, header("ann")).unwrap();
    assert_eq!([1, 2].map(|number| file.settled(&id(number))), [Some(HandLabel::Same), None]);
}

fn pair(number: u8, texts: [&str; 3]) -> Pair {
    let [text, a, b] = texts;
    Pair {
        id: id(number),
        question: QuestionId(format!("q{number}")),
        text: text.to_owned(),
        answers: [a, b].map(|text| Answer::parse(text, usize::MAX).unwrap()),
        sides: [Sides { old: true, new: false }, Sides { old: false, new: true }],
        judge: Label::Same,
        flip: true,
        sampled: true,
    }
}

/// What a file that was given back says of these pairs.
fn read(path: &Utf8Path, bytes: &[u8], pairs: &[Pair]) -> Result<Labels, crate::model::Failure> {
    fs_err::write(path, bytes).unwrap();
    let (_kept, run) = folder();
    let file = LabelFile::read(&run, header("ann"))?;
    Sheet::read(path)?.labels(pairs, &file).map(|labels| labels.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever stands in questions and answers, a file that is written and filled in says what it was filled in with.
    #[test]
    fn a_file_that_is_written_gives_the_same_labels_back(
        texts in proptest::collection::vec(proptest::array::uniform3("\\PC{0,9}[\"';,=+@\n\r\t\u{feff}\u{202e}-]{0,3}x"), 1..6),
        given in proptest::collection::vec(0_usize..3, 6),
    ) {
        let texts = texts.iter().map(|texts| texts.each_ref().map(String::as_str));
        let pairs: Vec<Pair> = (0..).zip(texts).map(|(number, texts)| pair(number, texts)).collect();
        let labels: Labels = pairs.iter().zip(&given).map(|(pair, label)| (pair.id, HAND[*label])).collect();
        let (_kept, folder) = folder();
        for (name, format) in [("labels.jsonl", SheetFormat::Jsonl), ("labels.CSV", SheetFormat::Csv)] {
            let bytes = sheet(&pairs, &labels, format);
            prop_assert_eq!(&read(&folder.join(name), &bytes, &pairs).unwrap(), &labels);
            let empty = sheet(&pairs, &Labels::new(), format);
            prop_assert!(read(&folder.join(name), &empty, &pairs).unwrap().is_empty());
        }
    }

    /// Whatever is given back, it is read or refused.
    #[test]
    fn no_file_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "(?s)[\"{},;\n\rid:question,abl]{0,80}") {
        let (_kept, folder) = folder();
        for name in ["labels.jsonl", "labels.csv"] {
            for bytes in [&bytes, text.as_bytes(), &[b"id,question,a,b,label\n", text.as_bytes()].concat()] {
                if let Err(failure) = read(&folder.join(name), bytes, &[pair(1, ["q", "a", "b"])]) {
                    prop_assert_eq!(failure.class, FailureClass::Usage);
                }
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_file_is_told_by_line_and_column() {
    let pairs = [pair(1, ["Who?", "-a", "b"]), pair(2, ["What?", "c", "d"])];
    let (_kept, folder) = folder();
    let jsonl = String::from_utf8(sheet(&pairs, &Labels::new(), SheetFormat::Jsonl)).unwrap();
    let csv = String::from_utf8(sheet(&pairs, &Labels::new(), SheetFormat::Csv)).unwrap();
    let first = jsonl.lines().next().unwrap().to_owned();
    for (name, text, said) in [
        (
            "l.jsonl",
            jsonl.replacen("\"label\":\"\"", "\"label\":\"maybe\"", 1),
            "line 1, column `label`: `maybe` is no label",
        ),
        ("l.jsonl", format!("{jsonl}\n{first}"), "line 4, column `id`: it stands on line 1 too"),
        (
            "l.jsonl",
            jsonl.replace(&id(2).to_string(), &id(3).to_string()),
            "line 2, column `id`: it names no pair of this run",
        ),
        ("l.jsonl", jsonl.replace(&id(2).to_string(), "7"), "line 2, column `id`: it names no pair of this run"),
        ("l.jsonl", jsonl.replace("\"d\"", "\"D\""), "line 2, column `b`: the text was edited"),
        ("l.jsonl", jsonl.replace("\"d\"", "4"), "line 2, column `b`: it is no text"),
        ("l.jsonl", jsonl.replace("\"question\":\"Who?\",", ""), "line 1, column `question`: it is missing"),
        ("l.jsonl", jsonl.replace("\"c\"", "c"), "line 2: not valid JSON at column"),
        ("l.csv", csv.replace("What?", "When?"), "line 3, column `question`: the text was edited"),
        ("l.csv", csv.replace("'-a", "-a"), "line 2, column `a`: the text was edited"),
        ("l.csv", csv.replace(",label", ""), "line 1, column `label`: it is missing"),
        ("l.csv", csv.replace(",label", ",id"), "line 1, column `id`: it stands twice"),
        ("l.csv", csv.replace("d,\n", "d,x\n").replace('\n', "\r\n"), "line 3, column `label`: `x` is no label"),
        ("l.csv", csv.replace("d,\n", "d\n"), "line 3: it has another number of columns"),
    ] {
        let failure = read(&folder.join(name), text.as_bytes(), &pairs).unwrap_err();
        assert!(failure.class == FailureClass::Usage && failure.message.contains(said), "{said}: {failure}");
        assert!(failure.hint.is_some(), "{failure}");
    }
    // As spreadsheets save it: a mark, semicolons, other ends of lines, columns in another order, capitals.
    let saved = format!("\u{feff}label;id;question;a;b\r\nSame ;{};Who?;'-a;b\r\n", id(1));
    let labels = read(&folder.join("l.csv"), saved.as_bytes(), &pairs).unwrap();
    assert_eq!(labels.into_values().collect::<Vec<_>>(), [HandLabel::Same]);
    let latin = read(&folder.join("l.csv"), b"id,question,a,b,label\n\xe9", &pairs).unwrap_err();
    assert!(latin.message.contains("line 2: it is not UTF-8"), "{latin}");
    assert!(format(Utf8Path::new("labels.xlsx")).is_err());
}
