//! A second generator on a sample of the questions: known churn of both comes to known figures, and its ledgers are evidence.

use crate::audit::{
    QUESTIONS, differs, figures, id, independent, joined, real, records, result, run, said, sample, shown, spec,
    verify, workspace,
};
use crate::evidence::{forged, refused};
use crate::harness::raw::RawServer;
use crate::harness::{Workspace, code, killed_at, stderr, stdout};
use churngate::model::Digest;
use serde_json::{Value, json};
use std::fs;
use std::thread;
use std::time::Duration;

const LEDGERS: [&str; 2] = ["answers-replica.jsonl", "judgments-replica.jsonl"];

/// Whether the second generator's answers follow from the evidence; to the other gadgets it always says the same.
const fn follows(gadget: usize) -> bool {
    !gadget.is_multiple_of(3)
}

/// The audit of the embedded judge, whose second generator heeds the evidence of two gadgets in three.
fn replicated(workspace: &Workspace, size: usize) {
    let cases: Vec<String> = (0..QUESTIONS)
        .filter(|gadget| !follows(*gadget))
        .map(|gadget| format!("*\"What has Gadget{gadget}?\"*"))
        .collect();
    let program = format!(
        "read -r line\ncase $line in {}) echo 'a fixed thing' ;; *) printf '%s' \"$line\" | cksum | cut -d ' ' -f 1 ;; esac\n",
        cases.join("|")
    );
    workspace.write("other.sh", program).unwrap();
    let more = format!("replicate: {{ command: {{ argv: [sh, other.sh] }}, sample: {size} }}\n");
    spec(workspace, "  embedded: {}\n", &more);
}

#[test]
fn both_generators_come_to_their_churn_and_to_the_paired_difference() {
    let workspace = workspace();
    replicated(&workspace, 30);
    let folder = run(&workspace);
    let asked = sample(&folder, "replica", 30);
    let both = asked.iter().filter(|gadget| differs(**gadget)).count();
    let heeded = asked.iter().filter(|gadget| differs(**gadget) && follows(**gadget)).count();
    assert!(both > heeded && heeded > 0 && both < 30, "{asked:?}");
    let found = &result(&folder)["diagnostics"]["replication"];
    assert_eq!((found["generator"].as_str(), &found["served_models"]), (Some("command"), &json!([])));
    assert_eq!(found["sample"], json!({ "questions": 30, "packets": heeded, "unjudged": 0 }));
    let churn = &found["churn"];
    let exact = |side: &str| {
        let mean = &churn[side]["mean"];
        mean["numerator"].as_i64().unwrap() * 30 / mean["denominator"].as_i64().unwrap()
    };
    let sides = ["first", "second", "difference"].map(exact);
    let counts = [both, heeded, both - heeded].map(|count| i64::try_from(count).unwrap());
    assert_eq!(sides, counts, "{churn}");
    // Whatever the answers mean, a check sum is another text for every gadget whose evidence differs, and the same for two repeats.
    let by_text = &found["exact"];
    assert_eq!(by_text["questions"], 30);
    for side in ["first", "second", "difference"] {
        assert_eq!(by_text[side], churn[side], "{side}");
    }
    let end = |side: &str, end: usize| churn[side]["interval"][end]["percentage_points"].as_f64().unwrap();
    let mean = 100.0 * real(both - heeded) / 30.0;
    assert!(0.0 <= end("difference", 0) && end("difference", 0) < mean && mean < end("difference", 1), "{churn}");
    // Questions whose prompts did not change are noted and asked of nobody.
    let answers = records(&folder, LEDGERS[0]);
    assert_eq!(answers.iter().filter(|record| record["type"] == "note").count(), 30 - both);
    assert_eq!(answers.iter().filter(|record| record["type"] == "attempt").count(), 4 * both);
    for file in ["report.md", "report.html", "report.xml"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let line =
            text.lines().find(|line| line.contains("second generator")).unwrap_or_else(|| panic!("{file}\n{text}"));
        assert!(line.contains("by the second, difference +") && line.contains("30 questions sampled"), "{line}");
        assert!(line.contains("semantic D̂") && line.contains("; exact D̂"), "{line}");
    }
}

#[test]
fn the_exact_kernel_tells_texts_apart_that_mean_the_same_and_needs_no_text_in_an_export() {
    let workspace = workspace();
    replicated(&workspace, 30);
    // The second generator says one thing in two ways by turns, and one thing in ways that normalisation makes equal.
    let program = "read -r line\necho >> turns\ncase $(($(wc -l < turns) % 2)) in 0) echo 'The Executor.' ;; *) echo 'executor' ;; esac\n";
    workspace.write("other.sh", program).unwrap();
    let judge = RawServer::start(|request| crate::audit::labelled("same", &id(request.number), "j-1")).unwrap();
    let model = format!("  openai: {{ model: j, base_url: \"{}/v1\" }}\n", judge.host);
    workspace.edit("churngate.yaml", |text| text.replace("  embedded: {}\n", &model)).unwrap();
    let mut found = Vec::new();
    for normalisation in ["none", "nq"] {
        workspace
            .edit("churngate.yaml", |text| {
                let text = text.lines().filter(|line| !line.starts_with("  normalisation:")).collect::<Vec<_>>();
                text.join("\n").replace("judge:\n", &format!("judge:\n  normalisation: {normalisation}\n")) + "\n"
            })
            .unwrap();
        let _ = fs::remove_dir_all(workspace.path(".churngate"));
        let folder = run(&workspace);
        let replication = figures(&folder)["diagnostics"]["replication"].clone();
        assert_eq!(replication["churn"]["second"]["mean"]["numerator"], 0, "{replication}");
        found.push(replication["exact"]["second"]["interval"].clone());
        let copy = format!("copy-{normalisation}");
        let output = workspace.churngate(&["export", folder.to_str().unwrap(), "--output", &copy]).unwrap();
        assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
        verify(&workspace, &workspace.path(&copy));
        assert_eq!(figures(&workspace.path(&copy))["diagnostics"]["replication"], replication);
        assert!(independent(&workspace.path(&copy)).is_none_or(|(accepted, _)| accepted));
        // Classes of the second generator's answers are evidence as well.
        let classes = format!("{copy}/classes.jsonl");
        let intact = workspace.read(&classes).unwrap();
        let forged = intact.replacen("\"replica\":[", "\"replica\":[{\"answer\":\"", 1);
        assert_ne!(forged, intact);
        workspace.write(&classes, forged).unwrap();
        assert_eq!(code(&workspace.churngate(&["verify", &copy]).unwrap()).unwrap(), 5);
        let line = intact.lines().find(|line| line.contains("\"replica\":[")).unwrap();
        let (before, _) = line.split_once(",\"replica\":[").unwrap();
        workspace.write(&classes, intact.replace(line, &format!("{before}}}"))).unwrap();
        refused(&workspace, &workspace.path(&copy), "answers-replica.jsonl");
        assert!(independent(&workspace.path(&copy)).is_none_or(|(accepted, _)| !accepted));
    }
    let zero = |interval: &Value| interval.as_array().unwrap().iter().all(|end| end["numerator"] == 0);
    assert!(!zero(&found[0]) && zero(&found[1]), "{found:?}");
}

#[test]
fn a_replication_moves_no_figure_of_the_audit() {
    let (plain, with) = (workspace(), workspace());
    replicated(&with, 20);
    spec(&plain, "  embedded: {}\n", "");
    let (plain, mut with) = (figures(&run(&plain)), figures(&run(&with)));
    assert!(with.remove("diagnostics").is_some() && !plain.contains_key("diagnostics"));
    for name in ["decision", "flips", "validity", "machinery"] {
        assert_eq!(with[name], plain[name], "{name}");
    }
    let churn = |figures: &serde_json::Map<String, Value>| figures["analysis"]["kernels"][1]["churn"].clone();
    assert_eq!(churn(&with), churn(&plain));
}

#[test]
fn a_second_generator_that_answers_too_little_gives_no_figure() {
    let workspace = workspace();
    replicated(&workspace, 40);
    workspace
        .write("other.sh", "read -r line\ncase $line in *Gadget1*) exit 1 ;; esac\nprintf '%s' \"$line\" | cksum\n")
        .unwrap();
    workspace.edit("churngate.yaml", |text| text.replace("sample: 40", "sample: 40, max_attempts: 1")).unwrap();
    let folder = run(&workspace);
    let found = &result(&folder)["diagnostics"]["replication"];
    let why = found["sample"]["why"].as_str().unwrap();
    assert!(found["churn"].is_null() && why.contains("hold no answer"), "{found}");
    assert_eq!(result(&folder)["validity"]["excluded_questions"], 0);
}

#[test]
fn a_replication_that_is_killed_asks_only_for_what_is_missing() {
    let workspace = workspace();
    let server = RawServer::start(|request| {
        thread::sleep(Duration::from_millis(5));
        let prompt = request.body["messages"].to_string();
        let sum = prompt.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        said(&format!("code {sum}"), &id(request.number), "g-2")
    })
    .unwrap();
    let more = format!(
        "replicate: {{ openai: {{ model: g, base_url: \"{}/v1\", structured: plain }}, sample: 40, concurrency: 1 }}\n",
        server.host
    );
    spec(&workspace, "  embedded: {}\n", &more);
    let folder = killed_at(workspace.command(), &workspace, LEDGERS[0], 40).unwrap();
    assert!(!folder.join("result.json").exists());
    let accepted = || {
        let records = records(&folder, LEDGERS[0]);
        records.iter().filter(|record| record["verdict"]["accepted"].is_object()).count()
    };
    let (before, asked) = (accepted(), server.seen().len());
    run(&workspace);
    let (after, more) = (accepted(), server.seen().len() - asked);
    assert!(before > 1 && after == 4 * 32 && more <= after - before + 1, "{before} {after} {more}");
    assert_eq!(result(&folder)["diagnostics"]["replication"]["served_models"], json!(["g-2"]));
    // The judge sees no more of these answers than of any other.
    assert!(server.seen().iter().all(|request| request.body["messages"][1]["content"].is_string()));
}

#[test]
fn no_byte_of_a_replication_can_change_unnoticed() {
    let workspace = workspace();
    replicated(&workspace, 20);
    let folder = run(&workspace);
    for (ledger, request) in
        LEDGERS.into_iter().zip(["is not the prompt that follows", "does not follow from the packet"])
    {
        let path = folder.join(ledger);
        let intact = fs::read(&path).unwrap();
        for at in (0..intact.len()).step_by(1499) {
            let mut bytes = intact.clone();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            refused(&workspace, &folder, ledger);
            assert!(independent(&folder).is_none_or(|(accepted, _)| !accepted), "{ledger} byte {at}");
        }
        fs::remove_file(&path).unwrap();
        refused(&workspace, &folder, "is missing");
        assert!(independent(&folder).is_none_or(|(accepted, said)| !accepted && said.contains("replica")));
        fs::write(&path, &intact).unwrap();
        forged(&path, |record| {
            let is_attempt = record["type"] == "attempt";
            if is_attempt {
                record["request"] = Digest::of(b"another").to_string().into();
            }
            is_attempt
        });
        // What continues the forged ledger shows it first.
        let words = if ledger == LEDGERS[0] { LEDGERS[1] } else { request };
        refused(&workspace, &folder, words);
        fs::write(&path, &intact).unwrap();
    }
    verify(&workspace, &folder);
}

#[test]
fn exports_and_joined_shards_come_to_the_replication_of_the_whole() {
    let workspace = workspace();
    replicated(&workspace, 25);
    let whole = run(&workspace);
    let output = workspace.churngate(&["export", whole.to_str().unwrap(), "--output", "copy"]).unwrap();
    assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
    let copy = workspace.path("copy");
    verify(&workspace, &copy);
    assert_eq!(figures(&copy)["diagnostics"], figures(&whole)["diagnostics"]);
    let (_, merged) = joined(&workspace);
    verify(&workspace, &merged);
    assert_eq!(figures(&merged), figures(&whole));
}

#[test]
fn the_plan_counts_the_second_generator() {
    let workspace = workspace();
    replicated(&workspace, 12);
    let told = stdout(&workspace.churngate(&["check", "churngate.yaml"]).unwrap());
    // Two snapshots, two repeats; the embedded judge takes no calls.
    assert!(told.contains("diagnosis by the second generator: 12 questions, at most 48 of these calls"), "{told}");
    assert!(told.contains(&format!("{} external calls", 4 * QUESTIONS + 48)), "{told}");
}

#[test]
fn a_judge_is_shown_a_second_generators_answers_as_all_others() {
    let workspace = workspace();
    let judge = RawServer::start(|request| crate::audit::labelled("different", &id(request.number), "j-1")).unwrap();
    replicated(&workspace, 20);
    let model = format!("  openai: {{ model: j, base_url: \"{}/v1\" }}\n", judge.host);
    workspace.edit("churngate.yaml", |text| text.replace("  embedded: {}\n", &model)).unwrap();
    let folder = run(&workspace);
    for request in judge.seen() {
        let text = request.body.to_string();
        assert!(!["replica", "generator", "second", "snapshot"].iter().any(|word| text.contains(word)), "{text}");
        assert_eq!(shown(&request).answers.len(), 2);
    }
    assert!(records(&folder, LEDGERS[1]).iter().any(|record| record["verdict"]["accepted"].is_object()));
}
