//! Known labels come to known figures.

use crate::audit::{
    differs, figures, id, judge, labelled, model, packets, real, records, result, run, said, sample, shown, spec,
    whole, workspace,
};
use crate::harness::raw::{RawServer, Request};
use crate::harness::{code, stderr, stdout};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Of every third gadget the label changes when it is asked again.
fn again(gadget: usize) -> &'static str {
    if gadget.is_multiple_of(3) { "same" } else { "different" }
}

#[test]
fn a_judge_that_changes_every_third_label_is_told_by_how_many() {
    let (workspace, server) = (workspace(), judge(|_| "different", again));
    spec(&workspace, &format!("  {}\n  passes: 2\n  self_consistency: 25\n", model(&server, "j")), "");
    let folder = run(&workspace);
    let asked: Vec<usize> = sample(&folder, "again", 25).into_iter().filter(|gadget| differs(*gadget)).collect();
    let flipped = asked.iter().filter(|gadget| gadget.is_multiple_of(3)).count();
    assert!(flipped > 2 && asked.len() > flipped, "{asked:?}");
    let found = &result(&folder)["diagnostics"]["self_consistency"];
    assert_eq!(found["sample"], json!({ "questions": 25, "packets": asked.len(), "unjudged": 0 }));
    let labels = &found["labels"];
    let counted = ["pairs", "flipped", "questions", "questions_flipped"].map(|name| labels[name].as_u64().unwrap());
    assert_eq!(counted, [asked.len(), flipped, asked.len(), flipped].map(whole));
    let [low, high] = [0, 1].map(|end| labels["interval"][end].as_f64().unwrap());
    let rate = real(flipped) / real(asked.len());
    assert!(0.0 <= low && low < rate && rate < high && high < 1.0, "{labels}");
    // The verdict rests on the first pass: by it every pair differs.
    let semantic = &result(&folder)["analysis"]["kernels"][1];
    assert_eq!(semantic["churn"]["percentage_points"], 80.0);
    reports(&folder, "judge asked again", &format!("{flipped} of {} labels changed", asked.len()));
}

/// One line in each report.
fn reports(folder: &std::path::Path, name: &str, words: &str) {
    for file in ["report.md", "report.html", "report.xml"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let line = text.lines().find(|line| line.contains(words)).unwrap_or(&text);
        assert!(line.contains(name), "{line}");
    }
}

#[test]
fn what_is_asked_again_is_the_same_packet_in_another_order_and_nothing_else() {
    let (workspace, server) = (workspace(), judge(|_| "different", |_| "different"));
    spec(&workspace, &format!("  {}\n  passes: 2\n  self_consistency: 25\n", model(&server, "j")), "");
    let folder = run(&workspace);
    let (first, second) = (packets(&folder, "judgments.jsonl"), packets(&folder, "judgments-again.jsonl"));
    assert!(!second.is_empty() && second.len() < first.len());
    for (question, answers) in &second {
        let mut turned = answers.clone();
        turned.reverse();
        assert_eq!(first.get(question), Some(&turned), "{question}");
    }
    // Byte for byte the requests of one gadget differ in the order of its two answers alone.
    let mut bodies: BTreeMap<usize, BTreeSet<Vec<String>>> = BTreeMap::new();
    for request in server.seen() {
        let text = request.body.to_string();
        let shown = shown(&request);
        let mut lines: Vec<String> = text.split("\\n").map(str::to_owned).collect();
        for (answer, name) in shown.answers.iter().zip(["one", "two"]) {
            for line in &mut lines {
                *line = line.replace(answer.as_str(), name);
            }
        }
        bodies.entry(shown.gadget).or_default().insert(lines);
    }
    assert!(bodies.values().all(|bodies| bodies.len() == 1), "{bodies:?}");
    // Prose was asked again, and never read as a label.
    let invalid = |record: &Value| record["verdict"]["invalid"] == "judgment-not-labels";
    assert!(records(&folder, "judgments-again.jsonl").iter().any(invalid));
    assert_eq!(result(&folder)["diagnostics"]["self_consistency"]["labels"]["flipped"], 0);
}

/// How the second judge labels: with the first one's `different` for odd gadgets and `same` for even ones, this comes to each
/// cell of the table.
fn second(gadget: usize) -> &'static str {
    if gadget % 4 < 2 { "same" } else { "different" }
}

fn first(gadget: usize) -> &'static str {
    if gadget.is_multiple_of(2) { "same" } else { "different" }
}

#[test]
fn a_second_judge_comes_to_its_confusion_table_and_to_kappa() {
    let (workspace, one, other) = (workspace(), judge(first, first), judge(second, second));
    let spec_of = format!("  {}\n  second: {{ {}, sample: 30 }}\n", model(&one, "j"), model(&other, "k"));
    spec(&workspace, &spec_of, "");
    let folder = run(&workspace);
    let all = sample(&folder, "second", 30);
    let asked: Vec<usize> = all.iter().copied().filter(|gadget| differs(*gadget)).collect();
    let count = |cell: [&str; 2]| asked.iter().filter(|gadget| [first(**gadget), second(**gadget)] == cell).count();
    let cells = [["same", "same"], ["same", "different"], ["different", "same"], ["different", "different"]].map(count);
    let [a, b, c, d] = cells.map(real);
    assert!(cells.iter().all(|cell| *cell > 0), "{cells:?}");
    let pairs = a + b + c + d;
    let expected = ((a + b) * (a + c) + (c + d) * (b + d)) / (pairs * pairs);
    let kappa = ((a + d) / pairs - expected) / (1.0 - expected);
    let found = &result(&folder)["diagnostics"]["second_judge"];
    assert_eq!((found["judge"].as_str(), &found["served_models"]), (Some("model k"), &json!(["j-1"])));
    let agreement = &found["labels"]["agreement"];
    let names = ["both_same", "only_first", "only_second", "both_different"];
    assert_eq!(names.map(|name| agreement["table"][name].as_u64().unwrap()), cells.map(whole));
    assert!((agreement["kappa"].as_f64().unwrap() - kappa).abs() < 1e-9, "{agreement} {kappa}");
    assert_eq!(agreement["same_partition"].as_u64().unwrap(), whole(cells[0] + cells[3]));
    // Answers to a gadget agree within each snapshot: D̂ is the share of questions whose two answers differ in meaning.
    let churn = &found["labels"]["churn"];
    let pp = |side: &str| churn[side]["mean"]["percentage_points"].as_f64().unwrap();
    let share = |cell: usize| 100.0 * real(cell) / real(all.len());
    assert!((pp("first") - share(cells[2] + cells[3])).abs() < 1e-9, "{churn}");
    assert!((pp("second") - share(cells[1] + cells[3])).abs() < 1e-9, "{churn}");
    assert!((pp("difference") - (pp("first") - pp("second"))).abs() < 1e-9, "{churn}");
    assert_eq!(churn["questions"], 30);
    // Both were shown the same packets.
    let (first, second) = (packets(&folder, "judgments.jsonl"), packets(&folder, "judgments-second.jsonl"));
    assert!(second.len() == asked.len() && second.iter().all(|(question, packet)| first.get(question) == Some(packet)));
    reports(&folder, "second judge", "labels alike");
}

#[test]
fn a_second_judge_that_leaves_too_much_unlabelled_gives_no_figure_and_moves_nothing() {
    let (workspace, one) = (workspace(), judge(first, first));
    let other = RawServer::start(|request| match shown(request).gadget {
        gadget if gadget % 4 == 1 => crate::audit::said("hm", &id(request.number), "k-1"),
        gadget => labelled(first(gadget), &id(request.number), "k-1"),
    });
    let other = other.unwrap();
    let spec_of =
        format!("  {}\n  second: {{ {}, sample: 30, max_attempts: 2 }}\n", model(&one, "j"), model(&other, "k"));
    spec(&workspace, &spec_of, "");
    let folder = run(&workspace);
    let found = &result(&folder)["diagnostics"]["second_judge"];
    assert!(found["labels"].is_null());
    let why = found["sample"]["why"].as_str().unwrap();
    assert!(why.contains("packets have no judgment, more than `tolerance.invalid_cells` allows"), "{why}");
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.contains("no figure, since"), "{report}");
    assert_eq!(result(&folder)["validity"]["excluded_questions"], 0);
}

#[test]
fn no_diagnosis_moves_a_figure_of_the_audit_nor_stands_where_none_was_asked_for() {
    let plain = {
        let (workspace, server) = (workspace(), judge(first, first));
        spec(&workspace, &format!("  {}\n", model(&server, "j")), "");
        figures(&run(&workspace))
    };
    assert!(!plain.contains_key("diagnostics"));
    let (workspace, one, other) = (workspace(), judge(first, second), judge(second, second));
    let asked = format!(
        "  {}\n  passes: 2\n  self_consistency: 20\n  second: {{ {}, sample: 20 }}\n",
        model(&one, "j"),
        model(&other, "k")
    );
    spec(&workspace, &asked, "");
    let folder = run(&workspace);
    let mut with = figures(&folder);
    assert!(with.remove("diagnostics").is_some());
    let without_stream = |mut figures: serde_json::Map<String, Value>| {
        // The preregistered stream is drawn under the protocol's own key.
        for kernel in figures["analysis"]["kernels"].as_array_mut().unwrap() {
            kernel.as_object_mut().unwrap().remove("stream");
        }
        for name in ["protocol", "audited", "spec"] {
            figures.remove(name);
        }
        figures
    };
    assert_eq!(without_stream(with), without_stream(plain));
}

#[test]
fn the_plan_counts_what_diagnostics_add() {
    let (workspace, one, other) = (workspace(), judge(first, first), judge(second, second));
    let judges = |more: &str| format!("  {}\n{more}", model(&one, "j"));
    let calls = |text: &str| -> u64 {
        let line = text.lines().find(|line| line.contains("external calls")).unwrap();
        line.split(" external calls").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    };
    let check = |more: &str, budget: &str| {
        spec(&workspace, &judges(more), budget);
        workspace.churngate(&["check", "churngate.yaml"]).unwrap()
    };
    let plain = calls(&stdout(&check("", "")));
    let both = format!("  passes: 2\n  self_consistency: 12\n  second: {{ {}, sample: 20 }}\n", model(&other, "k"));
    let told = stdout(&check(&both, ""));
    assert_eq!(calls(&told), plain + 12 + 20);
    for words in ["by the judge again: 12 questions, at most 12 of", "by the second judge: 20 questions, at most 20 of"]
    {
        assert!(told.contains(words), "{told}");
    }
    let refused = check(&both, &format!("budget: {{ calls: {} }}\n", plain + 31));
    assert_eq!(code(&refused).unwrap(), 2, "{}", stderr(&refused));
    assert!(one.seen().is_empty() && other.seen().is_empty());
}

#[test]
fn replies_of_diagnoses_that_name_no_model_beside_others_that_do_are_told() {
    let server = |text: fn(&Request) -> String| {
        let model = |number: usize| number.is_multiple_of(2).then_some("m-1");
        RawServer::start(move |request| said(&text(request), &id(request.number), model(request.number))).unwrap()
    };
    let judge = server(|_| json!({ "A-B": "same" }).to_string());
    let generator = server(|request| format!("code {}", request.body["messages"].to_string().len()));
    let workspace = workspace();
    let second = format!("  embedded: {{}}\n  second: {{ {}, sample: 30 }}\n", model(&judge, "k"));
    let more =
        format!("replicate: {{ {}, sample: 20 }}\n", model(&generator, "g").replace(" }", ", structured: plain }"));
    spec(&workspace, &second, &more);
    let folder = run(&workspace);
    let nameless = |ledger: &str| {
        let is_nameless =
            |record: &&Value| record["verdict"]["accepted"].is_object() && record["served_model"].is_null();
        records(&folder, ledger).iter().filter(is_nameless).count()
    };
    let counts = [nameless("answers-replica.jsonl"), nameless("judgments-second.jsonl")];
    assert!(counts.iter().all(|count| *count > 2), "{counts:?}");
    let told = &result(&folder)["validity"]["unnamed_models"];
    assert_eq!(*told, json!([["second generator", counts[0]], ["second judge", counts[1]]]));
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(
        report.contains(&format!("{} of `second generator`, {} of `second judge`", counts[0], counts[1])),
        "{report}"
    );
}
