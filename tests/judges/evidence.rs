//! The ledgers of diagnostics are evidence like all others: resumed, verified, exported, merged.

use crate::audit::{
    figures, id, independent, joined, judge, labelled, model, records, result, run, said, sample, shown, spec, verify,
    workspace,
};
use crate::harness::raw::RawServer;
use crate::harness::{Workspace, code, killed_at, stderr};
use churngate::model::Digest;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

const LEDGERS: [&str; 2] = ["judgments-again.jsonl", "judgments-second.jsonl"];

/// An audit with both diagnostics, judged by programs: what they say follows from the packet alone, and the second judge calls
/// two answers the same where the greater one stands first, so that it depends on the order.
fn programs(workspace: &Workspace) {
    let judge = "read -r line\ncase $line in *Gadget*3?*) label=same ;; *) label=different ;; esac\n\
                 printf '{\"A-B\": \"%s\"}' $label\n";
    let second = r#"read -r line
answer() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([0-9]*\)\".*/\1/"; }
if [ "$(answer A)" -gt "$(answer B)" ]; then label=same; else label=different; fi
printf '{"A-B": "%s"}' $label
"#;
    workspace.write("judge.sh", judge).unwrap();
    workspace.write("second.sh", second).unwrap();
    let judges = "  command: { argv: [sh, judge.sh] }\n  passes: 2\n  self_consistency: 20\n  \
                  second: { command: { argv: [sh, second.sh] }, sample: 20 }\n";
    spec(workspace, judges, "");
}

#[test]
fn an_audit_that_is_killed_in_its_second_pass_asks_only_for_what_is_missing() {
    let workspace = workspace();
    let server = RawServer::start(|request| {
        thread::sleep(Duration::from_millis(5));
        labelled(if shown(request).gadget.is_multiple_of(2) { "same" } else { "different" }, &id(request.number), "j-1")
    })
    .unwrap();
    let judges = format!("  {}\n  concurrency: 1\n  passes: 2\n  self_consistency: 40\n", model(&server, "j"));
    spec(&workspace, &judges, "");
    let folder = killed_at(workspace.command(), &workspace, "judgments-again.jsonl", 12).unwrap();
    assert!(!folder.join("result.json").exists());
    let accepted = |folder: &Path| {
        let records = records(folder, "judgments-again.jsonl");
        records.iter().filter(|record| record["verdict"]["accepted"].is_object()).count()
    };
    let (before, asked) = (accepted(&folder), server.seen().len());
    assert!(before > 1);
    run(&workspace);
    // One call may have been under way when it was killed.
    let (after, more) = (accepted(&folder), server.seen().len() - asked);
    assert!(after - before <= more && more <= after - before + 1, "{before} {after} {more}");
    assert_eq!(result(&folder)["diagnostics"]["self_consistency"]["labels"]["flipped"], 0);
}

#[test]
fn the_same_judge_may_neither_change_its_model_nor_take_a_reply_out_of_a_cache() {
    for (again, words) in
        [(("j-2", 1000), "the judge's server changed the model"), (("j-1", 0), "gave one response twice")]
    {
        let workspace = workspace();
        let asked = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let server = RawServer::start(move |request| {
            let gadget = shown(request).gadget;
            let is_first = asked.lock().unwrap().insert(gadget);
            let (model, shift) = if is_first { ("j-1", 0) } else { again };
            labelled("different", &id(gadget + shift), model)
        })
        .unwrap();
        spec(&workspace, &format!("  {}\n  passes: 2\n", model(&server, "j")), "");
        let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"]).unwrap();
        assert_eq!(code(&output).unwrap(), 4, "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(!workspace.run_folder().unwrap().join("result.json").exists());
    }
}

/// Writes a ledger whose chain holds, with these edits, as somebody would who forges it.
pub fn forged(path: &Path, edit: impl Fn(&mut Value) -> bool) {
    let text = fs::read_to_string(path).unwrap();
    let (mut lines, mut edited): (Vec<String>, bool) = (Vec::new(), false);
    for line in text.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        edited |= !edited && edit(&mut record);
        if let Some(last) = lines.last() {
            record["prev"] = Digest::of(last.as_bytes()).to_string().into();
        }
        lines.push(record.to_string());
    }
    assert!(edited);
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

pub fn refused(workspace: &Workspace, folder: &Path, words: &str) {
    let output = workspace.churngate(&["verify", folder.to_str().unwrap()]).unwrap();
    let said = stderr(&output);
    assert_eq!(code(&output).unwrap(), 5, "{words}: {said}");
    assert!(said.contains(words), "{words}: {said}");
}

#[test]
fn no_byte_of_these_ledgers_can_change_unnoticed() {
    let workspace = workspace();
    programs(&workspace);
    let folder = run(&workspace);
    for ledger in LEDGERS {
        let path = folder.join(ledger);
        let intact = fs::read(&path).unwrap();
        // Every byte of a ledger is of one of a few kinds; a step that shares no factor with a line's length meets all of them.
        for at in (0..intact.len()).step_by(977) {
            let mut bytes = intact.clone();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            refused(&workspace, &folder, ledger);
            assert!(independent(&folder).is_none_or(|(accepted, _)| !accepted), "{ledger} byte {at}");
        }
        fs::remove_file(&path).unwrap();
        refused(&workspace, &folder, "which the protocol asks for");
        assert!(independent(&folder).is_none_or(|(accepted, said)| !accepted && said.contains(ledger)));
        fs::write(&path, &intact).unwrap();
        verify(&workspace, &folder);
        let request = |record: &mut Value| {
            let is_attempt = record["type"] == "attempt";
            if is_attempt {
                record["request"] = Digest::of(b"another packet").to_string().into();
            }
            is_attempt
        };
        forged(&path, request);
        refused(&workspace, &folder, "the request does not follow from the packet");
        fs::write(&path, &intact).unwrap();
        let turned = |record: &mut Value| {
            let is_packet = record["type"] == "note";
            if is_packet {
                record["answers"].as_array_mut().unwrap().reverse();
                record["cells"].as_array_mut().unwrap().reverse();
            }
            is_packet
        };
        forged(&path, turned);
        refused(&workspace, &folder, "the packet is not the one that follows");
        fs::write(&path, &intact).unwrap();
        let label = |record: &mut Value| {
            let label = record.pointer_mut("/verdict/accepted/pairs/0/label");
            label.is_some_and(|label| {
                *label = if *label == "same" { "different".into() } else { "same".into() };
                true
            })
        };
        forged(&path, label);
        refused(&workspace, &folder, "does not follow from the ledgers");
        fs::write(&path, &intact).unwrap();
    }
    verify(&workspace, &folder);
}

#[test]
fn a_ledger_that_nobody_asked_for_is_none_of_the_runs() {
    let (asked, plain) = (workspace(), workspace());
    programs(&asked);
    programs(&plain);
    plain.edit("churngate.yaml", |text| text.replace("  passes: 2\n  self_consistency: 20\n", "")).unwrap();
    let (asked, folder) = (run(&asked), run(&plain));
    fs::copy(asked.join(LEDGERS[0]), folder.join(LEDGERS[0])).unwrap();
    refused(&plain, &folder, LEDGERS[0]);
    assert!(independent(&folder).is_none_or(|(accepted, said)| !accepted && said.contains(LEDGERS[0])));
}

#[test]
fn an_export_comes_to_the_same_figures_without_texts() {
    let workspace = workspace();
    programs(&workspace);
    let folder = run(&workspace);
    let output = workspace.churngate(&["export", folder.to_str().unwrap(), "--output", "copy"]).unwrap();
    assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
    let copy = workspace.path("copy");
    verify(&workspace, &copy);
    assert_eq!(figures(&copy)["diagnostics"], figures(&folder)["diagnostics"]);
    for ledger in LEDGERS {
        assert_eq!(fs::read(copy.join(ledger)).unwrap(), fs::read(folder.join(ledger)).unwrap());
        let name = ledger.trim_end_matches(".jsonl");
        let claims: Value = serde_json::from_slice(&fs::read(copy.join("claims.json")).unwrap()).unwrap();
        let sources = claims["sources"].as_array().unwrap();
        let source = sources.iter().find(|source| source["name"] == format!("{name}.accepted")).unwrap();
        assert_eq!(source["file"], ledger);
        let heads = result(&copy)["record"]["heads"].to_string();
        assert!(heads.contains(name), "{heads}");
    }
}

#[test]
fn joined_shards_come_to_the_diagnostics_of_the_whole() {
    let workspace = workspace();
    programs(&workspace);
    let whole = run(&workspace);
    let (shards, merged) = joined(&workspace);
    verify(&workspace, &merged);
    assert_eq!(figures(&merged), figures(&whole));
    for (ledger, what) in LEDGERS.into_iter().zip(["again", "second"]) {
        let questions = |folder: &Path| crate::audit::packets(folder, ledger).len();
        assert_eq!(shards.iter().map(|folder| questions(folder)).sum::<usize>(), questions(&whole), "{ledger}");
        assert!(sample(&merged, what, 20).len() >= questions(&merged));
    }
}

#[test]
fn a_judge_that_is_out_of_order_leaves_the_audit_to_be_resumed() {
    let (workspace, one) = (workspace(), judge(|_| "different", |_| "different"));
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let state = std::sync::Arc::clone(&broken);
    let other = RawServer::start(move |request| {
        if state.load(std::sync::atomic::Ordering::SeqCst) {
            return said("hm", &id(request.number), "k-1");
        }
        labelled("same", &id(request.number), "k-1")
    })
    .unwrap();
    let judges =
        format!("  {}\n  second: {{ {}, sample: 40, max_attempts: 1 }}\n", model(&one, "j"), model(&other, "k"));
    spec(&workspace, &judges, "");
    let output = workspace.churngate(&["run", "--quiet", "churngate.yaml"]).unwrap();
    assert_eq!(code(&output).unwrap(), 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("the second judge gave no judgment at all"), "{}", stderr(&output));
    broken.store(false, std::sync::atomic::Ordering::SeqCst);
    let asked = one.seen().len();
    let folder = run(&workspace);
    assert_eq!(one.seen().len(), asked, "the first judge's labels stand");
    assert_eq!(result(&folder)["diagnostics"]["second_judge"]["labels"]["agreement"]["table"]["only_second"], 32);
}
