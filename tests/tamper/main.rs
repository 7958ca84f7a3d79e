//! Every change to a finished run is found: by the library and by the independent checker.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so and stops")]
#![expect(clippy::print_stdout, reason = "says what was counted and what was skipped")]

mod rules;
mod synthetic_run;

use camino::{Utf8Path, Utf8PathBuf};
use churngate::ledger::{BlobCheck, verify};
use std::fs;
use std::process::Command;

const LEDGERS: [&str; 3] = ["evidence.jsonl", "answers.jsonl", "judgments.jsonl"];

struct Runs {
    folder: tempfile::TempDir,
    cases: Vec<String>,
}

impl Runs {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder"), cases: Vec::new() }
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().join(name)).expect("a UTF-8 path")
    }

    /// A copy of the run, to be changed.
    fn case(&mut self, name: String) -> Utf8PathBuf {
        let (from, to) = (self.path("whole"), self.path(&name));
        copy(&from, &to);
        self.cases.push(name);
        to
    }

    fn edit(&mut self, ledger: &str, what: &str, edit: impl FnOnce(&mut Vec<String>)) {
        let path = self.case(format!("{ledger} {what}")).join(ledger);
        let mut lines = lines(&path);
        let before = lines.concat();
        edit(&mut lines);
        assert_ne!(before, lines.concat(), "`{ledger} {what}` changes nothing");
        fs::write(path, lines.concat()).expect("the ledger is written");
    }
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    fs::create_dir_all(to.join("blobs")).expect("a folder");
    for part in ["", "blobs"] {
        for entry in fs::read_dir(from.join(part)).expect("the folder is read") {
            let entry = entry.expect("an entry");
            if entry.path().is_file() {
                fs::copy(entry.path(), to.join(part).as_std_path().join(entry.file_name())).expect("a copy");
            }
        }
    }
}

/// Lines with their newlines.
fn lines(path: &Utf8Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("the ledger is read");
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// The text with the character at `index` replaced by another one of the same kind, so that the line stays JSON where
/// it can.
fn edited(line: &str, index: usize) -> String {
    let mut bytes = line.as_bytes().to_vec();
    bytes[index] = match bytes[index] {
        b'9' => b'8',
        digit @ b'0'..=b'8' => digit + 1,
        b'z' => b'y',
        b'f' => b'e',
        letter @ b'a'..=b'y' => letter + 1,
        _ => b'x',
    };
    String::from_utf8(bytes).expect("ASCII stays ASCII")
}

fn build(path: &Utf8Path, questions: u32) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(synthetic_run::build(path, questions));
}

/// Names of runs that the independent checker calls different; `None` where there is no Python.
fn checked_by_python(runs: &[Utf8PathBuf], options: &[&str]) -> Option<Vec<bool>> {
    let script = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ledger_checker/check_run.py");
    let output = match Command::new("python3").arg(script).args(options).args(runs).output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped the independent checker: python3 cannot be run ({error})");
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts: Vec<_> = text.lines().map(|line| line.starts_with("difference: ")).collect();
    assert_eq!(verdicts.len(), runs.len(), "{text}");
    assert_eq!(output.status.success(), !verdicts.contains(&true));
    Some(verdicts)
}

fn line_cases(runs: &mut Runs, ledger: &str) {
    let whole = lines(&runs.path("whole").join(ledger));
    for at in 0..whole.len() {
        runs.edit(ledger, &format!("delete {at}"), |lines| drop(lines.remove(at)));
        runs.edit(ledger, &format!("duplicate {at}"), |lines| lines.insert(at, lines[at].clone()));
        runs.edit(ledger, &format!("blank line before {at}"), |lines| lines.insert(at, "\n".to_owned()));
        runs.edit(ledger, &format!("truncate after {at}"), |lines| {
            lines.truncate(at + 1);
            let half = lines[at].len() / 2;
            lines[at].truncate(half);
        });
        runs.edit(ledger, &format!("truncate the newline of {at}"), |lines| {
            lines.truncate(at + 1);
            lines[at].pop();
        });
        if at + 1 < whole.len() {
            runs.edit(ledger, &format!("swap {at}"), |lines| lines.swap(at, at + 1));
            runs.edit(ledger, &format!("move {at} to the end"), |lines| {
                let line = lines.remove(at);
                lines.push(line);
            });
        }
        for index in (0..whole[at].len()).step_by(whole[at].len() / 9) {
            runs.edit(ledger, &format!("edit {at} at {index}"), |lines| lines[at] = edited(&lines[at], index));
        }
    }
    runs.edit(ledger, "reverse", |lines| lines[1..].reverse());
    runs.edit(ledger, "empty", Vec::clear);
    runs.edit(ledger, "text after the seal", |lines| lines.push("{}\n".to_owned()));
    runs.edit(ledger, "no newline after the seal", |lines| {
        lines.last_mut().expect("a seal").pop();
    });
    let gone = runs.case(format!("{ledger} gone"));
    fs::remove_file(gone.join(ledger)).expect("the ledger is removed");
}

fn blob_cases(runs: &mut Runs) {
    let names: Vec<_> = fs::read_dir(runs.path("whole").join("blobs"))
        .expect("the blobs are listed")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    assert!(names.len() > 10);
    for name in &names {
        let edited_path = runs.case(format!("blob {name} edited")).join("blobs").join(name);
        let text = fs::read_to_string(&edited_path).expect("a blob");
        fs::write(&edited_path, edited(&text, text.len() / 2)).expect("the blob is written");
        let gone = runs.case(format!("blob {name} gone")).join("blobs").join(name);
        fs::remove_file(gone).expect("the blob is removed");
        let cut = runs.case(format!("blob {name} cut")).join("blobs").join(name);
        fs::write(cut, &text[1..]).expect("the blob is written");
    }
    let stray = runs.case("stray blob".to_owned());
    fs::write(stray.join("blobs/notes.txt"), "x").expect("a stray file");
}

fn foreign_cases(runs: &mut Runs) {
    build(&runs.path("other"), 4);
    for file in [&LEDGERS[..], &["protocol.lock.json"]].concat() {
        let path = runs.case(format!("foreign {file}")).join(file);
        fs::copy(runs.path("other").join(file), &path).expect("a foreign file");
        if file == "protocol.lock.json" {
            fs::write(path, "{}").expect("another protocol");
        }
    }
    for (one, other) in [(0, 1), (1, 2), (0, 2)] {
        let path = runs.case(format!("{} in place of {}", LEDGERS[one], LEDGERS[other]));
        fs::copy(path.join(LEDGERS[one]), path.join(LEDGERS[other])).expect("a copy");
    }
}

#[cfg(unix)]
fn link_cases(runs: &mut Runs) {
    let blob =
        fs::read_dir(runs.path("whole").join("blobs")).expect("blobs").next().expect("a blob").expect("an entry");
    let blob = format!("blobs/{}", blob.file_name().into_string().expect("UTF-8"));
    for name in [&LEDGERS[..], &["protocol.lock.json", "blobs", &blob]].concat() {
        let path = runs.case(format!("link {}", name.replace('/', " "))).join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).expect("the folder is removed");
        } else {
            fs::remove_file(&path).expect("the file is removed");
        }
        std::os::unix::fs::symlink(runs.path("whole").join(name), &path).expect("a link");
    }
    let more = runs.case("one link more".to_owned());
    std::os::unix::fs::symlink("/dev/null", more.join("result.json")).expect("a link");
}

#[test]
fn every_change_to_a_run_is_found_by_the_library_and_by_the_independent_checker() {
    let mut runs = Runs::new();
    build(&runs.path("whole"), 3);
    let report = verify(&runs.path("whole"), BlobCheck::Present).expect("the run is verified");
    assert!(report.difference.is_none(), "{:?}", report.difference);
    for ledger in LEDGERS {
        line_cases(&mut runs, ledger);
    }
    blob_cases(&mut runs);
    foreign_cases(&mut runs);
    #[cfg(unix)]
    link_cases(&mut runs);

    let paths: Vec<_> = runs.cases.iter().map(|name| runs.path(name)).collect();
    let missed: Vec<_> = runs
        .cases
        .iter()
        .zip(&paths)
        .filter(|(_, path)| verify(path, BlobCheck::Present).expect("the run is verified").difference.is_none())
        .map(|(name, _)| name)
        .collect();
    println!("{} changes, {} missed by the library", paths.len(), missed.len());
    assert!(missed.is_empty(), "missed: {missed:?}");
    if let Some(found) = checked_by_python(&paths, &[]) {
        let missed: Vec<_> = runs.cases.iter().zip(found).filter(|(_, found)| !found).map(|(name, _)| name).collect();
        println!("{} changes, {} missed by the independent checker", paths.len(), missed.len());
        assert!(missed.is_empty(), "missed by the independent checker: {missed:?}");
    }
}

#[test]
fn a_whole_run_and_its_export_are_accepted_by_both() {
    let runs = Runs::new();
    let (whole, export) = (runs.path("whole"), runs.path("export"));
    build(&whole, 6);
    churngate::ledger::export(&whole, &export).expect("the run is exported");
    assert!(churngate::ledger::export(&whole, &export).is_err(), "an export replaces nothing");
    assert!(!export.join("blobs").exists());
    let report = verify(&whole, BlobCheck::Present).expect("the run is verified");
    assert!(report.difference.is_none(), "{:?}", report.difference);
    assert_eq!((report.evidence.attempts, report.evidence.notes), (24, 12));
    assert_eq!((report.answers.accepted, report.answers.invalid, report.answers.notes), (20, 1, 1));
    assert_eq!((report.judgments.accepted, report.judgments.records), (5, 15));
    assert_eq!(report.blobs, fs::read_dir(whole.join("blobs")).expect("blobs").count() as u64);
    let structural = verify(&export, BlobCheck::Absent).expect("the export is verified");
    assert!(structural.difference.is_none(), "{:?}", structural.difference);
    assert_eq!(
        (structural.evidence, structural.answers, structural.judgments),
        (report.evidence, report.answers, report.judgments)
    );
    assert!(verify(&export, BlobCheck::Present).expect("the export is verified").difference.is_some());
    if let Some(found) = checked_by_python(&[whole, export.clone()], &[]) {
        assert_eq!(found, [false, true]);
        assert_eq!(checked_by_python(&[export], &["--without-blobs"]), Some(vec![false]));
    }
}
