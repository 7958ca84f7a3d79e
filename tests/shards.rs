//! An audit that is cut into shards and joined again comes to the result of the whole, and to no result at all where a shard
//! is missing, stands twice or is not what it says.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod harness;

use churngate::model::Digest;
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, stderr};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The quickstart with repeats that vary, so that there is churn, noise and judging in every shard.
const SPEC: &str = "changed.yaml";

fn shard(workspace: &Workspace, number: u32, of: u32, runs: &str) -> PathBuf {
    let file = format!("folder-{number}");
    let (shard, runs) = (format!("--shard={number}/{of}"), format!("--runs={runs}"));
    let output =
        workspace.churngate(&["run", "--quiet", &shard, &runs, &format!("--folder-file={file}"), SPEC]).unwrap();
    assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no verdict yet"), "a shard alone decides nothing");
    PathBuf::from(workspace.read(&file).unwrap())
}

fn shards(workspace: &Workspace, of: u32) -> Vec<PathBuf> {
    (1..=of).map(|number| shard(workspace, number, of, "shards")).collect()
}

/// Exit code and everything that was said.
fn merge(workspace: &Workspace, folders: &[PathBuf]) -> (i32, String) {
    let mut arguments = vec!["merge", "--runs=merged", "--folder-file=merged-folder"];
    arguments.extend(folders.iter().map(|folder| folder.to_str().unwrap()));
    let output = workspace.churngate(&arguments).unwrap();
    let said = String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned();
    (code(&output).unwrap(), said)
}

/// The result without the times, the heads and the costs of one run.
fn figures(folder: &Path) -> Value {
    let mut result: Value = serde_json::from_slice(&std::fs::read(folder.join("result.json")).unwrap()).unwrap();
    result.as_object_mut().unwrap().remove("record").unwrap();
    result
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn joined_shards_come_to_the_result_of_the_whole() {
    let workspace = Workspace::quickstart().unwrap();
    let whole = workspace.churngate(&["run", "--quiet", "--runs=whole", "--folder-file=whole-folder", SPEC]).unwrap();
    let whole_folder = PathBuf::from(workspace.read("whole-folder").unwrap());
    let mut folders = shards(&workspace, 5);
    folders.reverse();
    let (merged, said) = merge(&workspace, &folders);
    assert_eq!(merged, code(&whole).unwrap(), "{said}");
    let merged_folder = PathBuf::from(workspace.read("merged-folder").unwrap());
    assert_eq!(merged_folder.file_name(), whole_folder.file_name(), "the run is named by the same protocol");
    let protocol = |folder: &Path| std::fs::read(folder.join("protocol.lock.json")).unwrap();
    assert_eq!(protocol(&merged_folder), protocol(&whole_folder));
    assert_eq!(figures(&merged_folder), figures(&whole_folder));
    for folder in folders.iter().chain([&merged_folder]) {
        let verified = workspace.churngate(&["verify", folder.to_str().unwrap()]).unwrap();
        assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
    }
    let told: Value = serde_json::from_slice(&std::fs::read(merged_folder.join("merged.json")).unwrap()).unwrap();
    assert_eq!(told.as_array().unwrap().len(), 5);
    // Joined once more, as after a kill that came too late: the same run, verified.
    std::fs::remove_file(workspace.path("merged-folder")).unwrap();
    let (again, told_again) = merge(&workspace, &folders);
    assert_eq!((again, told_again), (merged, said));
    assert_eq!(PathBuf::from(workspace.read("merged-folder").unwrap()), merged_folder);
    let others: Vec<_> = (1..=3).map(|number| shard(&workspace, number, 3, "others")).collect();
    let (again, said) = merge(&workspace, &others);
    assert!(again == 2 && said.contains("exists already, and was not made of these shards"), "{said}");
    let damaged = merged_folder.join("answers.jsonl");
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, bytes.to_ascii_uppercase()).unwrap();
    let (again, said) = merge(&workspace, &folders);
    assert_eq!(again, 5, "{said}");
    std::fs::write(&damaged, bytes).unwrap();
    // As a pattern finds it that matches all folders where the joined run lies beside the shards.
    let (again, said) = merge(&workspace, &[folders.clone(), vec![merged_folder.clone()]].concat());
    let named = format!("`{}` is the run that shards were joined to, and no shard", merged_folder.display());
    assert!(again == 2 && said.contains(&named) && said.contains("name the shards alone"), "{again} {said}");
    let (again, said) = merge(&workspace, &[folders.clone(), vec![whole_folder]].concat());
    assert!(again == 2 && said.contains("is a finished run, and no shard"), "{again} {said}");
    harness::independent_check(&[folders, vec![merged_folder]].concat());
}

#[test]
fn a_shard_alone_has_no_result() {
    let workspace = Workspace::quickstart().unwrap();
    let folder = shard(&workspace, 2, 3, "shards");
    let folder = folder.to_str().unwrap();
    let verified = workspace.churngate(&["verify", folder]).unwrap();
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(code(&verified).unwrap() == 0 && said.contains("shard 2 of 3"), "{said}");
    for command in ["report", "publish"] {
        let refused = workspace.churngate(&[command, folder]).unwrap();
        assert_eq!(code(&refused).unwrap(), 2, "{command}: {}", stderr(&refused));
    }
    // Not even where the note that says so is gone: too much is missing.
    std::fs::remove_file(Path::new(folder).join("shard.json")).unwrap();
    let refused = workspace.churngate(&["report", folder]).unwrap();
    assert_eq!(code(&refused).unwrap(), 4, "{}", stderr(&refused));
    let again = workspace.churngate(&["run", "--quiet", "--shard=9/3", SPEC]).unwrap();
    assert_eq!(code(&again).unwrap(), 2);
    let too_many = workspace.churngate(&["run", "--quiet", "--shard=1/100", SPEC]).unwrap();
    assert!(stderr(&too_many).contains("80 questions make at most 40 shards"), "{}", stderr(&too_many));
}

#[test]
fn a_closed_book_is_verified_exported_and_joined() {
    let workspace = Workspace::quickstart().unwrap();
    workspace.edit(SPEC, |text| text.replacen("snapshots:", "snapshots:\n  closed_book: true", 1)).unwrap();
    let whole = workspace.churngate(&["run", "--quiet", "--runs=whole", "--folder-file=whole-folder", SPEC]).unwrap();
    assert!(matches!(code(&whole).unwrap(), 0 | 1), "{}", stderr(&whole));
    let folder = workspace.read("whole-folder").unwrap();
    let export = workspace.path("exported").display().to_string();
    let output = format!("--output={export}");
    for arguments in [&["verify", &folder][..], &["export", &folder, &output], &["verify", &export]] {
        let output = workspace.churngate(arguments).unwrap();
        assert_eq!(code(&output).unwrap(), 0, "{arguments:?}: {}", stderr(&output));
    }
    let (merged, said) = merge(&workspace, &shards(&workspace, 2));
    assert!(matches!(merged, 0 | 1), "{said}");
    let joined = workspace.read("merged-folder").unwrap();
    assert_eq!(figures(Path::new(&folder)), figures(Path::new(&joined)));
    assert!(figures(Path::new(&joined))["analysis"]["closed_book"].is_object());
    harness::independent_check(&[folder, export, joined].map(PathBuf::from));
}

#[test]
fn a_missing_or_doubled_shard_is_named() {
    let workspace = Workspace::quickstart().unwrap();
    let folders = shards(&workspace, 3);
    let refused = |folders: &[PathBuf], expected: i32, words: &str| {
        let (code, said) = merge(&workspace, folders);
        assert!(code == expected && said.contains(words), "{words}: {code} {said}");
        let left = std::fs::read_dir(workspace.path("merged")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "nothing is left behind");
    };
    refused(&[folders[0].clone(), folders[2].clone()], 4, "shard 2 of 3 is missing");
    let copied = workspace.path("copied");
    copy(&folders[1], &copied);
    refused(&[&folders[..], &[copied]].concat(), 2, "shard 2 of 3 stands twice");
    let other = shard(&workspace, 1, 2, "shards");
    refused(&[&folders[..], &[other]].concat(), 2, "they were cut differently");
    refused(&[workspace.path("nowhere")], 2, "is not a run folder");
    let unfinished = workspace.path("unfinished");
    copy(&folders[1], &unfinished);
    std::fs::remove_file(unfinished.join("shard.json")).unwrap();
    refused(&[unfinished], 4, "is no finished shard");
    workspace.edit(SPEC, |text| text.replace("repeats: 2", "repeats: 3")).unwrap();
    let changed = shard(&workspace, 3, 3, "shards");
    refused(&[folders[0].clone(), folders[1].clone(), changed], 2, "is of audit");
}

#[test]
fn a_damaged_or_relabelled_shard_is_evidence_that_does_not_hold() {
    let workspace = Workspace::quickstart().unwrap();
    let folders = shards(&workspace, 3);
    let broken = |words: &str| {
        let (code, said) = merge(&workspace, &folders);
        assert!(code == 5 && said.contains(words), "{words}: {code} {said}");
    };
    let note = folders[1].join("shard.json");
    let intact = std::fs::read_to_string(&note).unwrap();
    std::fs::write(&note, intact.replace("\"shard\": 2", "\"shard\": 1")).unwrap();
    broken("which is not of this shard");
    std::fs::write(&note, "{").unwrap();
    broken("is damaged");
    let mut named: Value = serde_json::from_str(&intact).unwrap();
    let heads = named["heads"].as_array().unwrap().clone();
    let other = |name: &'static str| {
        heads.iter().map(move |head| if head[0] == name { json!([name, "0".repeat(64)]) } else { head.clone() })
    };
    let of_judgments = "the judgments ledger in `";
    for (heads, words) in [
        (other("judgments").collect(), of_judgments),
        (Vec::new(), "the protocol ledger in `"),
        (heads.iter().filter(|head| head[0] != "judgments").cloned().collect(), of_judgments),
        (
            heads.iter().cloned().chain([json!(["judgments-again", "0".repeat(64)])]).collect(),
            "the judgments-again ledger, of which",
        ),
    ] {
        named["heads"] = Value::Array(heads);
        std::fs::write(&note, named.to_string()).unwrap();
        broken(words);
        let verified = workspace.churngate(&["verify", folders[1].to_str().unwrap()]).unwrap();
        assert_eq!(code(&verified).unwrap(), 5);
    }
    named["heads"] = Value::Array(other("answers").collect());
    std::fs::write(&note, named.to_string()).unwrap();
    let again = workspace.churngate(&["run", "--quiet", "--shard=2/3", "--runs=shards", SPEC]).unwrap();
    assert!(
        stderr(&again).contains("answers.jsonl` is not the ledger that `shard.json` was made from"),
        "{}",
        stderr(&again)
    );
    assert_eq!(code(&again).unwrap(), 5);
    std::fs::write(&note, &intact).unwrap();
    let ledger = folders[2].join("answers.jsonl");
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, text.replacen("\"repeat\":0", "\"repeat\":1", 1)).unwrap();
    broken("answers.jsonl");
}

#[test]
fn shards_that_others_could_have_made_up_are_refused() {
    let workspace = Workspace::quickstart().unwrap();
    let folders = shards(&workspace, 2);
    let rule = folders[1].join("rule.json");
    std::fs::write(&rule, r#"{"commit": "abc", "edited": [], "missing": null}"#).unwrap();
    let (refused, said) = merge(&workspace, &folders);
    assert!(refused == 5 && said.contains("its rule came from elsewhere"), "{said}");
    std::fs::remove_file(rule).unwrap();
    for arguments in [&["init", "--quiet"][..], &["add", "--force", "--all"]] {
        let git = std::process::Command::new("git").current_dir(workspace.path(".")).args(arguments).status();
        assert!(git.unwrap().success());
    }
    let (refused, said) = merge(&workspace, &folders);
    assert!(refused == 5 && said.contains("is committed"), "{said}");
}

/// A small audit of twelve questions, answered by this generator.
fn small(workspace: &Workspace, generator: &str, more: &str) {
    let documents = |code: usize| -> String {
        (0..12)
            .map(|item| json!({ "id": item, "text": format!("Gadget{item} has {}.", code + item) }).to_string() + "\n")
            .collect()
    };
    let questions: String = (0..12)
        .map(|item| {
            json!({ "id": format!("q{item}"), "question": format!("What has Gadget{item}?") }).to_string() + "\n"
        })
        .collect();
    let spec = format!(
        "version: 1\nname: small\nquestions: {{ file: small.jsonl }}\n\
         snapshots: {{ old: {{ path: one.jsonl }}, new: {{ path: two.jsonl }} }}\nretrieve: {{ bm25: {{}}, top_k: 1 }}\n\
         generate: {{ {generator}, max_attempts: 1 }}\njudge: {{ embedded: {{}} }}\n{more}"
    );
    let files =
        [("one.jsonl", documents(100)), ("two.jsonl", documents(200)), ("small.jsonl", questions), (SPEC, spec)];
    for (name, text) in files {
        workspace.write(name, text).unwrap();
    }
}

/// The same with programs that answer and that judge, each asked once.
fn by_programs(workspace: &Workspace, answer: &str, judge: &str, more: &str) {
    small(workspace, "command: { argv: [sh, answer.sh] }", more);
    let judged = "judge: { command: { argv: [sh, judge.sh] }, max_attempts: 1 }";
    workspace.edit(SPEC, |text| text.replace("judge: { embedded: {} }", judged)).unwrap();
    workspace.write("answer.sh", answer).unwrap();
    workspace.write("judge.sh", judge).unwrap();
}

/// What a server of models says of itself from now on: its model, and the number of its next response.
type Said = Arc<Mutex<(&'static str, usize)>>;

fn server() -> (RawServer, Said) {
    let said: Said = Arc::new(Mutex::new(("m-1", 0)));
    let state = Arc::clone(&said);
    let server = RawServer::start(move |_| {
        let mut said = state.lock().unwrap();
        said.1 += 1;
        let message = json!({ "role": "assistant", "content": "the same" });
        Reply::json(
            200,
            &json!({
                "id": format!("chatcmpl-{:024}", said.1), "object": "chat.completion", "created": 0, "model": said.0,
                "choices": [{ "index": 0, "finish_reason": "stop", "message": message }],
            }),
        )
    });
    (server.unwrap(), said)
}

#[test]
fn shards_that_different_models_or_a_cache_answered_come_to_no_verdict() {
    for (model, number, words) in
        [("m-1", 1000, None), ("m-2", 1000, Some("changed the model")), ("m-1", 0, Some("gave one response twice"))]
    {
        let workspace = Workspace::new().unwrap();
        let (server, said) = server();
        small(&workspace, &format!("openai: {{ model: m, base_url: \"{}/v1\", structured: plain }}", server.host), "");
        let first = shard(&workspace, 1, 2, "shards");
        *said.lock().unwrap() = (model, number);
        let second = shard(&workspace, 2, 2, "shards");
        let (merged, told) = merge(&workspace, &[first, second]);
        match words {
            None => assert_eq!(merged, 0, "{told}"),
            Some(words) => {
                assert!(merged == 4 && told.contains(words), "{words}: {merged} {told}");
                assert_eq!(std::fs::read_dir(workspace.path("merged")).unwrap().count(), 0, "nothing is left behind");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn what_may_be_missing_is_asked_of_the_whole_and_not_of_a_shard() {
    // One question of twelve is never answered: a twelfth of all cells, and a sixth of those of its shard.
    let program = "read -r line\ncase $line in *Gadget3?*) exit 1 ;; esac\nprintf 'an answer'\n";
    for (tolerance, stands) in [("10pp", true), ("5pp", false)] {
        let workspace = Workspace::new().unwrap();
        let more = format!("tolerance: {{ invalid_cells: {tolerance} }}\n");
        small(&workspace, "command: { argv: [sh, answer.sh] }", &more);
        workspace.write("answer.sh", program).unwrap();
        let whole =
            workspace.churngate(&["run", "--quiet", "--runs=whole", "--folder-file=whole-folder", SPEC]).unwrap();
        let folders = shards(&workspace, 2);
        let (merged, said) = merge(&workspace, &folders);
        assert_eq!((merged, code(&whole).unwrap()), if stands { (0, 0) } else { (4, 4) }, "{said}{}", stderr(&whole));
        if stands {
            let folder = |name: &str| PathBuf::from(workspace.read(name).unwrap());
            assert_eq!(figures(&folder("merged-folder")), figures(&folder("whole-folder")));
            assert_eq!(figures(&folder("merged-folder"))["validity"]["excluded_questions"], 1);
        } else {
            assert!(said.contains("more than is tolerated") && said.contains("1 of 6 questions"), "{said}");
            // The fault is over: as the hint says, that shard alone is run again, and all are merged.
            let (_, named) = said.split_once("hint: most is missing in shard ").unwrap();
            let folder = named.split('`').nth(1).unwrap();
            let number = named.split(' ').next().unwrap().parse().unwrap();
            std::fs::remove_dir_all(workspace.path(folder)).unwrap();
            workspace.write("answer.sh", "printf 'an answer'\n").unwrap();
            assert!(folders.contains(&shard(&workspace, number, 2, "shards")));
            let (merged, said) = merge(&workspace, &folders);
            assert_eq!(merged, 0, "{said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn judgments_that_are_missing_are_weighed_over_the_whole() {
    // Every answer follows from the evidence, so that both snapshots differ everywhere; one packet of twelve is not judged.
    let answer = "read -r line\nprintf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
    let judge = "read -r line\ncase $line in *Gadget3?*) exit 1 ;; esac\nprintf '{\"A-B\": \"different\"}'\n";
    for (tolerance, stands) in [("10pp", true), ("5pp", false)] {
        let workspace = Workspace::new().unwrap();
        let more = format!("tolerance: {{ invalid_cells: {tolerance} }}\n");
        by_programs(&workspace, answer, judge, &more);
        let (merged, said) = merge(&workspace, &shards(&workspace, 2));
        if stands {
            assert!(matches!(merged, 0 | 1), "{merged} {said}");
            let folder = PathBuf::from(workspace.read("merged-folder").unwrap());
            assert_eq!(figures(&folder)["validity"]["excluded_questions"], 1);
        } else {
            assert!(
                merged == 4 && said.contains("1 of 12 packets of different answers have no judgment"),
                "{merged} {said}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_shard_of_which_the_judge_refuses_every_packet_is_weighed_with_the_others() {
    // Of twelve packets those of one shard of four get prose in place of labels.
    let answer = "read -r line\nprintf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
    let judge = "read -r line\nfor item in $(cat refused); do case $line in *Gadget$item\\?*) echo 'I will not.'; exit ;; esac; done\n\
                 printf '{\"A-B\": \"different\"}'\n";
    for (tolerance, refuses_all, stands) in [("40pp", false, true), ("10pp", false, false), ("100pp", true, false)] {
        let workspace = Workspace::new().unwrap();
        let more = format!("tolerance: {{ invalid_cells: {tolerance} }}\n");
        by_programs(&workspace, answer, judge, &more);
        // A first pass tells which questions are in the second shard.
        workspace.write("refused", "").unwrap();
        let second = shard(&workspace, 2, 3, "known");
        let all = (0..12).map(|item: usize| item.to_string()).collect::<Vec<_>>().join(" ");
        workspace.write("refused", if refuses_all { all } else { items(&second).join(" ") }).unwrap();
        let folders = shards(&workspace, 3);
        let verified = workspace.churngate(&["verify", folders[1].to_str().unwrap()]).unwrap();
        assert_eq!(code(&verified).unwrap(), 0, "{}", stderr(&verified));
        let (merged, said) = merge(&workspace, &folders);
        if stands {
            assert!(matches!(merged, 0 | 1), "{merged} {said}");
            let folder = PathBuf::from(workspace.read("merged-folder").unwrap());
            assert_eq!(figures(&folder)["validity"]["excluded_questions"], 4);
        } else {
            let missing = if refuses_all { 12 } else { 4 };
            let expected = format!("{missing} of 12 packets of different answers have no judgment");
            assert!(merged == 4 && said.contains(&expected), "{merged} {said}");
            let most = if refuses_all { "shard 1 of 3" } else { "shard 2 of 3" };
            assert!(said.contains(&format!("hint: most is missing in {most} (`")), "{said}");
            assert!(
                said.contains("4 of 4 questions") && said.contains("remove the folder, run the shard again"),
                "{said}"
            );
            assert_eq!(said.contains("then in shard 3 of 3"), refuses_all, "{said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn packets_that_are_refused_are_told_from_packets_without_a_reply() {
    let answer = "read -r line\nprintf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
    let judge = "read -r line\necho >> asked\n\
                 for item in $(cat refused); do case $line in *Gadget$item\\?*) echo 'I will not.'; exit ;; esac; done\n\
                 for item in $(cat down); do case $line in *Gadget$item\\?*) sleep 0.2; exit 7 ;; esac; done\n\
                 printf '{\"A-B\": \"different\"}'\n";
    let some = |items: std::ops::Range<usize>| items.map(|item| item.to_string()).collect::<Vec<_>>().join(" ");
    // Of twelve packets: which the judge refuses, to which it does not reply, whether the one shard is finished then, and
    // whether the judge is asked for all of them. The next call does not wait until what came of one is durable: one that takes
    // longer than that shows where the calls end.
    for (refused, down, finished, all_asked) in [
        (some(0..12), some(0..0), true, true),
        (some(0..0), some(0..12), false, false),
        (some(0..7), some(7..12), true, true),
        (some(0..6), some(6..12), false, true),
        (some(0..2), some(2..12), false, true),
        (some(0..1), some(2..7), true, true),
    ] {
        let workspace = Workspace::new().unwrap();
        by_programs(&workspace, answer, judge, "tolerance: { invalid_cells: 10pp }\n");
        workspace.write("refused", &refused).unwrap();
        workspace.write("down", &down).unwrap();
        let arguments = ["run", "--quiet", "--tasks=1", "--shard=1/1", "--runs=shards", "--folder-file=at", SPEC];
        let output = workspace.churngate(&arguments).unwrap();
        let what = format!("{refused} | {down}: {}", stderr(&output));
        assert_eq!(code(&output).unwrap(), if finished { 0 } else { 4 }, "{what}");
        assert_eq!(workspace.read("asked").unwrap().lines().count() == 12, all_asked, "{what}");
        if finished {
            let (merged, said) = merge(&workspace, &[PathBuf::from(workspace.read("at").unwrap())]);
            assert!(merged == 4 && said.contains("packets of different answers have no judgment"), "{what} {said}");
            assert!(said.contains("most is missing in shard 1 of 1"), "{what} {said}");
            continue;
        }
        assert!(stderr(&output).contains("program-failed"), "{what}");
        // What is refused for good does not keep the shard open once there are replies.
        workspace.write("down", "").unwrap();
        let output = workspace.churngate(&arguments).unwrap();
        assert_eq!(code(&output).unwrap(), 0, "{what}: {}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn an_audit_goes_on_where_only_refused_packets_are_left() {
    let answer = "read -r line\nprintf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
    let judge = "read -r line\nfor item in $(cat refused); do case $line in *Gadget$item\\?*) echo 'I will not.'; exit ;; esac; done\n\
                 printf '{\"A-B\": \"different\"}'\n";
    let workspace = Workspace::new().unwrap();
    by_programs(&workspace, answer, judge, "tolerance: { invalid_cells: 10pp }\n");
    // All but one of twelve packets. Of those that are left for the second run none gets a judgment.
    workspace.write("refused", "0 1 2 3 4 5 6 7 8 9 10").unwrap();
    for _ in 0..2 {
        let output = workspace.churngate(&["run", "--quiet", "--tasks=1", SPEC]).unwrap();
        assert_eq!(code(&output).unwrap(), 4, "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("11 of 12 packets of different answers have no judgment"), "{said}");
    }
}

/// The numbers of the questions that a shard holds.
fn items(folder: &Path) -> Vec<String> {
    let ledger = std::fs::read_to_string(folder.join("judgments.jsonl")).unwrap();
    let notes = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of = |note: Value| note["question"].as_str().map(|id| id.trim_start_matches('q').to_owned());
    notes.filter(|record| record["type"] == "note").filter_map(of).collect()
}

#[cfg(unix)]
#[test]
fn a_shard_whose_judge_is_not_there_is_no_finished_one() {
    let workspace = Workspace::new().unwrap();
    let answer = "read -r line\nprintf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
    small(&workspace, "command: { argv: [sh, answer.sh] }", "tolerance: { invalid_cells: 50pp }\n");
    workspace
        .edit(SPEC, |text| text.replace("{ embedded: {} }", "{ command: { argv: [sh, judge.sh] }, max_attempts: 1 }"))
        .unwrap();
    workspace.write("answer.sh", answer).unwrap();
    workspace.write("judge.sh", "exit 7\n").unwrap();
    let arguments = ["run", "--quiet", "--shard=1/3", "--runs=shards", SPEC];
    let output = workspace.churngate(&arguments).unwrap();
    assert_eq!(code(&output).unwrap(), 4, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("4 of 4 packets") && stderr(&output).contains("program-failed"),
        "{}",
        stderr(&output)
    );
    workspace.write("judge.sh", "printf '{\"A-B\": \"different\"}'\n").unwrap();
    let output = workspace.churngate(&arguments).unwrap();
    assert_eq!(code(&output).unwrap(), 0, "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_shard_of_which_an_outage_left_much_open_goes_on_later() {
    // A program is out of order for all questions but one.
    let down = "read -r line\nfor item in $(cat down); do case $line in *Gadget$item\\?*) exit 7 ;; esac; done\n";
    let reads = "read -r line\n";
    let answer = "printf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
    let judge = "printf '{\"A-B\": \"different\"}'\n";
    for (ill, what, says) in [("answer.sh", "cells", answer), ("judge.sh", "packets", judge)] {
        let workspace = Workspace::new().unwrap();
        let well = [answer, judge].map(|says| format!("{reads}{says}"));
        by_programs(&workspace, &well[0], &well[1], "tolerance: { invalid_cells: 10pp }\n");
        workspace.write(ill, format!("{down}{says}")).unwrap();
        workspace.write("down", "1 2 3 4 5 6 7 8 9 10 11").unwrap();
        let arguments = ["run", "--quiet", "--shard=1/1", "--runs=shards", SPEC];
        let output = workspace.churngate(&arguments).unwrap();
        let said = stderr(&output);
        assert_eq!(code(&output).unwrap(), 4, "{what}: {said}");
        assert!(said.contains(what) && said.contains("program-failed"), "{what}: {said}");
        workspace.write("down", "").unwrap();
        shard(&workspace, 1, 1, "shards");
    }
}

/// A shard of two questions: fewer cells and packets than of which an outage is told by their number alone.
#[test]
fn a_small_shard_whose_server_is_down_goes_on_later_however_often_it_is_tried() {
    let down = Arc::new(Mutex::new(true));
    let (is_down, given) = (Arc::clone(&down), Mutex::new(0));
    let server = RawServer::start(move |request| {
        if *is_down.lock().unwrap() {
            return Reply::json(500, &json!({ "error": "down" }));
        }
        let mut next = given.lock().unwrap();
        *next += 1;
        let judges = request.body["model"] == "j";
        let content = if judges { r#"{"A-B": "different"}"#.to_owned() } else { request.body["messages"].to_string() };
        let message = json!({ "role": "assistant", "content": content });
        Reply::json(
            200,
            &json!({
                "id": format!("chatcmpl-{:024}", *next), "object": "chat.completion", "created": 0,
                "model": request.body["model"], "choices": [{ "index": 0, "finish_reason": "stop", "message": message }],
            }),
        )
    })
    .unwrap();
    let model =
        |name: &str| format!("openai: {{ model: {name}, base_url: \"{}/v1\", structured: plain }}", server.host);
    for (judged, what) in [(false, "8 cells"), (true, "2 of 2 packets")] {
        let workspace = Workspace::new().unwrap();
        small(&workspace, &model("g"), "");
        if judged {
            let answers = "read -r line\nprintf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
            small(&workspace, "command: { argv: [sh, answer.sh] }", "");
            workspace.write("answer.sh", answers).unwrap();
            let judge = format!("judge: {{ {}, max_attempts: 1 }}", model("j"));
            workspace.edit(SPEC, |text| text.replace("judge: { embedded: {} }", &judge)).unwrap();
        }
        let arguments = ["run", "--quiet", "--shard=1/6", "--runs=shards", "--folder-file=at", SPEC];
        *down.lock().unwrap() = true;
        for _ in 0..3 {
            let output = workspace.churngate(&arguments).unwrap();
            let said = stderr(&output);
            assert_eq!(code(&output).unwrap(), 4, "{what}: {said}");
            assert!(said.contains("server-error") && !said.contains("is complete"), "{what}: {said}");
            assert!(said.contains("run the same command again"), "{what}: {said}");
        }
        *down.lock().unwrap() = false;
        shard(&workspace, 1, 6, "shards");
    }
}

#[cfg(unix)]
#[test]
fn a_question_that_never_gets_a_reply_keeps_a_small_shard_open_no_longer_than_for_a_second_try() {
    let answer = "printf '%s' \"$line\" | cksum | cut -d ' ' -f 1\n";
    let judge = "printf '{\"A-B\": \"different\"}'\n";
    for ill in ["answer.sh", "judge.sh"] {
        let workspace = Workspace::new().unwrap();
        let well = [answer, judge].map(|says| format!("read -r line\n{says}"));
        by_programs(&workspace, &well[0], &well[1], "");
        let known = shard(&workspace, 1, 6, "known");
        let items = items(&known);
        assert_eq!(items.len(), 2, "{items:?}");
        let says = if ill == "answer.sh" { answer } else { judge };
        let program = format!("read -r line\ncase $line in *Gadget{}\\?*) exit 7 ;; esac\n{says}", items[0]);
        workspace.write(ill, program).unwrap();
        let arguments = ["run", "--quiet", "--shard=1/6", "--runs=shards", SPEC];
        let output = workspace.churngate(&arguments).unwrap();
        assert_eq!(code(&output).unwrap(), 4, "{ill}: half of it could be an outage: {}", stderr(&output));
        shard(&workspace, 1, 6, "shards");
    }
}

#[cfg(unix)]
#[test]
fn how_unevenly_snapshots_lack_answers_is_asked_of_the_whole() {
    // Three questions of one shard have no answer from the new snapshot, three of the other none from the old one.
    let program = "read -r line\ncase $line in *'has 2'[0-9][0-9]*) side=new ;; *) side=old ;; esac\n\
                   for item in $(cat \"lacking-$side\" 2>/dev/null); do case $line in *Gadget$item\\?*) exit ;; esac; done\n\
                   printf 'an answer'\n";
    let workspace = Workspace::new().unwrap();
    small(&workspace, "command: { argv: [sh, answer.sh] }, repeats: 4", "tolerance: { invalid_cells: 60pp }\n");
    workspace.write("answer.sh", program).unwrap();
    let asked = |folder: &Path| -> Vec<String> {
        let ledger = std::fs::read_to_string(folder.join("answers.jsonl")).unwrap();
        let records = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let of = |record: Value| record["of"]["question"].as_str().map(|id| id.trim_start_matches('q').to_owned());
        let items: std::collections::BTreeSet<String> = records.filter_map(of).collect();
        items.into_iter().take(3).collect()
    };
    for (number, side) in [(1, "new"), (2, "old")] {
        let known = shard(&workspace, number, 2, "known");
        workspace.write(&format!("soon-{side}"), asked(&known).join(" ")).unwrap();
    }
    for side in ["new", "old"] {
        std::fs::rename(workspace.path(&format!("soon-{side}")), workspace.path(&format!("lacking-{side}"))).unwrap();
    }
    let (merged, said) = merge(&workspace, &shards(&workspace, 2));
    assert!(matches!(merged, 0 | 1), "{merged} {said}");
    let folder = PathBuf::from(workspace.read("merged-folder").unwrap());
    assert_eq!(figures(&folder)["validity"]["excluded_questions"], 6);
}

/// Points the first judge's attempt elsewhere, chains the ledger anew and names its new head, as somebody would who forges a shard.
fn forge_a_request(folder: &Path) {
    let ledger = &folder.join("judgments.jsonl");
    let text = std::fs::read_to_string(ledger).unwrap();
    let mut lines: Vec<String> = Vec::new();
    let mut forged = false;
    for line in text.lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if !forged && record["type"] == "attempt" {
            record["request"] = Digest::of(b"another packet").to_string().into();
            forged = true;
        }
        if let Some(last) = lines.last() {
            record["prev"] = Digest::of(last.as_bytes()).to_string().into();
        }
        lines.push(record.to_string());
    }
    assert!(forged, "there is no attempt to forge");
    std::fs::write(ledger, lines.join("\n") + "\n").unwrap();
    let head = |line: &str| Digest::of(line.as_bytes()).to_string();
    let (note, seal) = (folder.join("shard.json"), text.lines().last().unwrap());
    let named = std::fs::read_to_string(&note).unwrap();
    assert!(named.contains(&head(seal)), "the head is named");
    std::fs::write(&note, named.replace(&head(seal), &head(lines.last().unwrap()))).unwrap();
}

#[test]
fn a_shard_that_does_not_follow_from_the_protocol_is_not_merged_although_its_chains_hold() {
    let workspace = Workspace::quickstart().unwrap();
    let folders = shards(&workspace, 3);
    forge_a_request(&folders[1]);
    let verified = workspace.churngate(&["verify", folders[1].to_str().unwrap()]).unwrap();
    assert_eq!(code(&verified).unwrap(), 5, "{}", stderr(&verified));
    let (code, said) = merge(&workspace, &folders);
    assert!(code == 5 && said.contains("shard 2 of 3") && said.contains("request"), "{code} {said}");
}

#[test]
fn a_finished_shard_that_lost_a_ledger_is_not_begun_again() {
    let workspace = Workspace::quickstart().unwrap();
    let folder = shard(&workspace, 1, 3, "shards");
    let again = ["run", "--quiet", "--shard=1/3", "--runs=shards", SPEC];
    harness::lost::nothing_is_drawn_again(&workspace, &again, &folder, &|| 0).unwrap();
}
