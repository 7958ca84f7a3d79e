//! What of a corpus is not read is counted, told and frozen.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod harness;

use harness::{Workspace, code, stderr, stdout};

const SPEC: &str = "\
version: 1
name: docs
questions: { file: q.jsonl }
snapshots:
  old: { path: old }
  new: { path: new }
retrieve: { bm25: {}, top_k: 2 }
generate: { reader: { temperature: 0 } }
judge: { embedded: {} }
";

fn workspace(files: &[&str]) -> Workspace {
    let workspace = Workspace::new().unwrap();
    workspace.write("churngate.yaml", SPEC).unwrap();
    workspace.write("q.jsonl", "{\"id\": \"q1\", \"question\": \"Which colour is the lamp?\"}\n").unwrap();
    for folder in ["old", "new"] {
        workspace.write(&format!("{folder}/a.md"), format!("The lamp is {folder}.")).unwrap();
    }
    for file in files {
        workspace.write(file, "x").unwrap();
    }
    workspace
}

fn said(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = workspace.churngate(arguments).unwrap();
    assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn a_corpus_of_which_half_is_not_read_says_so_everywhere() {
    let files =
        ["old/1.pdf", "old/2.PDF", "old/b/3.bin", "old/LICENSE", "old/.env", "new/1.pdf", "new/2.pdf", "new/b/3.bin"];
    let workspace = workspace(&files);
    let of_old = "old: 5 files were passed over: .pdf 2, .bin 1, others 1, hidden 1";
    let warning = "Old and new pass over other files, 5 and 3 of them";
    for arguments in [&["check"][..], &["diff", "--quiet"]] {
        let told = said(&workspace, &[arguments, &["churngate.yaml"]].concat());
        assert!(told.contains(of_old) && told.contains("new: 3 files were passed over: .pdf 2, .bin 1\n"), "{told}");
        assert!(told.contains(warning), "{told}");
    }
    let told = said(&workspace, &["run", "--quiet", "churngate.yaml"]);
    assert!(told.contains(&format!("warning: {warning}")), "{told}");
    let run = workspace.run_folder().unwrap();
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains(warning) && report.contains(": 5 files were passed over: `.pdf` 2"), "{report}");

    // It is frozen: another count is another run, and an edited one is found.
    let folder = run.to_str().unwrap();
    assert!(said(&workspace, &["verify", folder]).contains("verified"));
    let lock = run.join("protocol.lock.json");
    let text = std::fs::read_to_string(&lock).unwrap();
    let edited = text.replacen("[\".pdf\",2]", "[\".pdf\",1]", 1);
    assert_ne!(edited, text);
    std::fs::write(&lock, edited).unwrap();
    assert_eq!(code(&workspace.churngate(&["verify", folder]).unwrap()).unwrap(), 5);
}

#[test]
fn snapshots_that_pass_over_the_same_are_told_in_one_line_and_without_a_warning() {
    let workspace = workspace(&["old/1.pdf", "new/1.pdf"]);
    let told = said(&workspace, &["check", "churngate.yaml"]);
    assert!(told.contains("old, new: 1 file was passed over: .pdf 1\n") && !told.contains("pass over other"), "{told}");
    let none = self::workspace(&[]);
    assert!(!said(&none, &["check", "churngate.yaml"]).contains("passed over"));
}

#[cfg(unix)]
#[test]
fn no_ending_reaches_a_report_as_markup() {
    let workspace = workspace(&["new/a.<img src=x>", "new/b.\u{1b}[31m", "new/c.`x`", "new/d.::error::"]);
    let told = said(&workspace, &["check", "churngate.yaml"]);
    assert!(told.contains("new: 4 files were passed over: others 4\n"), "{told}");
}
