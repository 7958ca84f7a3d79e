//! Answers made elsewhere, through the real binary: the published figures to the printed digit, and bad files.

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, root, stderr, stdout};
use std::fs;

/// One row of the kernels' table: D̂, interval, within, cross, lower bound.
struct Row(&'static str, [&'static str; 5]);

/// What a study says of correctness: the net change in percentage points, and how many pairs lost and gained it.
struct Correctness {
    net: &'static str,
    lost: &'static str,
    gained: &'static str,
}

fn assert_correctness(markdown: &str, wanted: &Correctness) -> Result<()> {
    let net = format!("net {} pp of pairs", wanted.net);
    assert!(markdown.contains(&net), "`{net}` is missing in:\n{markdown}");
    for (row, count) in [("lost: correct before", wanted.lost), ("gained: wrong before", wanted.gained)] {
        let line = markdown.lines().find(|line| line.contains(row)).context("no such row")?;
        // Same meaning, changed meaning, all, share.
        assert_eq!(line.split('|').rev().nth(2).map(str::trim), Some(count), "{line}");
    }
    Ok(())
}

fn assert_study(folder: &str, rows: &[Row], flips: &str, correctness: &Correctness) -> Result<()> {
    let workspace = Workspace::new()?;
    let file = root().join("examples").join(folder).join("answers.jsonl").display().to_string();
    let output = workspace.churngate(&["analyze", &file, "--old", "n1", "--new", "n7", "--between", "n3"])?;
    let text = stdout(&output);
    assert_eq!(code(&output)?, 1, "{}", stderr(&output));
    assert!(text.contains(flips), "`{flips}` is missing in:\n{text}");
    for Row(kernel, figures) in rows {
        let line = text.lines().find(|line| line.trim_start().starts_with(kernel)).context("no such row")?;
        for figure in figures {
            assert!(line.contains(figure), "`{figure}` is missing in: {line}");
        }
    }
    let options = ["analyze", &file, "--old", "n1", "--new", "n7", "--format", "markdown"];
    assert_correctness(&stdout(&workspace.churngate(&options)?), correctness)
}

#[test]
fn the_study_of_open_questions_comes_out_to_the_printed_digit() -> Result<()> {
    let rows = [
        Row("exact", ["6.44", "4.19 to 8.75", "25.25%", "18.81%", "4.56"]),
        Row("semantic", ["10.25", "7.19 to 13.44", "89.13%", "78.88%", "7.69"]),
    ];
    assert_study(
        "paper-nq",
        &rows,
        "40 stable flips in 400 questions",
        &Correctness { net: "-1.50", lost: "46", gained: "34" },
    )
}

#[test]
fn the_study_of_trivia_comes_out_to_the_printed_digit() -> Result<()> {
    let rows = [
        Row("exact", ["3.00", "0.00 to 6.00", "64.50%", "61.50%", "0.50"]),
        Row("semantic", ["2.13", "0.13 to 4.50", "96.75%", "94.63%", "0.38"]),
    ];
    assert_study(
        "paper-triviaqa",
        &rows,
        "5 stable flips in 200 questions",
        &Correctness { net: "+1.25", lost: "30", gained: "35" },
    )
}

#[test]
fn a_file_without_the_snapshots_that_are_meant_names_those_it_has() -> Result<()> {
    let file = root().join("examples/paper-nq/answers.jsonl").display().to_string();
    for (options, unknown) in [(&[][..], "old"), (&["--old", "n1"], "new"), (&["--old", "n9", "--new", "n7"], "n9")] {
        let output = Workspace::new()?.churngate(&[&["analyze", &file], options].concat())?;
        assert_eq!(code(&output)?, 2);
        let wanted = format!(
            "it has no snapshot `{unknown}`, but `n0`, `n1`, `n3`, `n7`; name two of them by `--old` and `--new`"
        );
        assert!(stderr(&output).contains(&wanted), "{}", stderr(&output));
    }
    Ok(())
}

#[test]
fn a_snapshot_that_an_option_names_must_be_in_the_file() -> Result<()> {
    let line = |id: &str, third: &str| {
        format!("{{\"id\":\"{id}\",\"answers\":{{\"old\":[\"x\",\"x\"],\"new\":[\"x\",\"x\"]{third}}}}}\n")
    };
    for (options, snapshot) in [(&["--closed-book"][..], "closed_book"), (&["--between", "mid"], "mid")] {
        let unchanged =
            format!("{{\"id\":\"u\",\"answers\":{{\"old\":[],\"new\":[],\"{snapshot}\":[]}},\"unchanged\":true}}\n");
        let third = format!(",\"{snapshot}\":[\"x\",\"x\"]");
        for (file, named) in [
            (line("a", "") + &line("b", ""), Some(format!("it has no snapshot `{snapshot}`"))),
            (line("a", &third) + &line("b", ""), Some(format!("question `b` has no snapshot `{snapshot}`"))),
            (line("a", &third) + &line("b", &third) + &unchanged, None),
        ] {
            let workspace = Workspace::new()?;
            workspace.write("answers.jsonl", &file)?;
            let output = workspace.churngate(&[&["analyze", "answers.jsonl"], options].concat())?;
            let error = stderr(&output);
            assert_eq!(code(&output)?, if named.is_some() { 2 } else { 0 }, "{options:?}\n{file}\n{error}");
            if let Some(named) = named {
                assert!(error.contains(&named) && error.contains(options[0]), "{error}");
                assert_eq!(error.matches("failed to").count(), 1, "{error}");
            }
        }
    }
    Ok(())
}

#[test]
fn what_could_not_be_read_is_hinted_at_by_who_named_it() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let relative = "relative to the spec's own folder";
    for arguments in [["check", "nowhere.yaml"], ["run", "nowhere.yaml"], ["analyze", "nowhere.jsonl"]] {
        let output = workspace.churngate(&arguments)?;
        let error = stderr(&output);
        assert_eq!(code(&output)?, 2);
        assert!(error.contains("does not exist") && !error.contains(relative), "{error}");
    }
    fs::remove_file(workspace.path("questions.jsonl"))?;
    let error = stderr(&workspace.churngate(&["check", "churngate.yaml"])?);
    assert!(error.contains("does not exist") && error.contains(relative), "{error}");
    Ok(())
}

#[test]
fn a_bad_file_is_refused_with_its_line() -> Result<()> {
    let good = r#"{"id":"a","answers":{"old":["x","x"],"new":["x","x"]}}"#;
    let many = |count: usize| vec!["\"x\""; count].join(",");
    let fine = format!(r#"{{"id":"a","answers":{{"old":[{}],"new":[{}]}}}}"#, many(97), many(89));
    let cases = [
        (fine.as_str(), "97 and 89 repeats make too fine a lattice"),
        ("", "no question"),
        ("{\"id\":\"a\"}\n", "1"),
        (&format!("{good}\n{good}\n"), "line 2: the id stands on line 1"),
        (&format!("{good}\nnot json\n"), "2"),
        (r#"{"id":"a","answers":{"old":["x","x"],"new":["y","y"]}}"#, "`a`"),
        (r#"{"id":"a","answers":{"old":["x"],"new":["x","x"]}}"#, "`a`"),
    ];
    for (text, named) in cases {
        let workspace = Workspace::new()?;
        workspace.write("answers.jsonl", text)?;
        let output = workspace.churngate(&["analyze", "answers.jsonl"])?;
        let error = stderr(&output);
        assert_eq!(code(&output)?, 2, "{text}\n{error}");
        assert!(error.contains("answers.jsonl") && error.contains(named), "{text}\n{error}");
    }
    Ok(())
}

/// Lines of questions with these answers, one a place; `more` is added to each object.
fn questions(count: usize, old: [&str; 2], new: [&str; 2], more: &str) -> String {
    let line = |place| format!("{{\"id\":\"q{place}\",\"answers\":{{\"old\":{old:?},\"new\":{new:?}}}{more}}}\n");
    (0..count).map(line).collect::<Vec<String>>().concat()
}

/// So many clusters of ten questions with these answers.
fn clustered(clusters: usize, old: [&str; 2], new: [&str; 2], more: &str) -> String {
    let of = |cluster| {
        let member = format!("{more},\"cluster\":\"{} {cluster}\"", new[0]);
        questions(10, old, new, &member).replace("\"id\":\"q", &format!("\"id\":\"{} {cluster} q", new[0]))
    };
    (0..clusters).map(of).collect()
}

#[test]
fn what_is_checked_before_anything_is_spent_counts_clusters_as_the_gate_does() -> Result<()> {
    let workspace = Workspace::quickstart()?;
    let checked = |count: usize, clusters: usize| -> Result<String> {
        let cluster = |place: usize| match clusters {
            0 => String::new(),
            _ => format!(",\"cluster\":\"c{}\"", place % clusters),
        };
        let line = |place| format!("{{\"id\":\"q{place}\",\"question\":\"What is {place}?\"{}}}\n", cluster(place));
        workspace.write("questions.jsonl", (0..count).map(line).collect::<String>())?;
        let output = workspace.churngate(&["check", "churngate.yaml"])?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
        Ok(stdout(&output))
    };
    let plain = checked(70, 0)?;
    assert!(
        !plain.contains("out of reach") && plain.contains("audits rehearsed") && plain.contains(" 10.4 pp"),
        "{plain}"
    );
    let few = checked(70, 5)?;
    assert!(few.contains("an upper bound below 5pp takes at least 59 clusters of questions"), "{few}");
    assert!(!few.contains("audits rehearsed") && few.contains("the questions come in 5 clusters"), "{few}");
    assert!(few.contains("and the questions of a cluster change together") && !few.contains(" 10.4 pp"), "{few}");
    assert!(!checked(118, 59)?.contains("out of reach"));
    for (count, clusters, least) in [(2, 0, "3 questions"), (70, 2, "3 clusters of questions")] {
        let blind = checked(count, clusters)?;
        assert!(
            blind.contains(&format!("no churn can be seen, whatever its size: a lower bound takes at least {least}")),
            "{blind}"
        );
        assert!(!blind.contains("would be seen in 4 of 5"), "{blind}");
    }
    Ok(())
}

/// A name, a file of answers, an exit code, and what is said of it.
type Case<'a> = (&'a str, String, i32, &'a [&'a str]);

fn assert_explained(cases: &[Case<'_>]) -> Result<()> {
    for (name, file, expected, words) in cases {
        let workspace = Workspace::new()?;
        workspace.write("answers.jsonl", file)?;
        let output = workspace.churngate(&["analyze", "answers.jsonl"])?;
        // Lines are wrapped for a terminal, and Markdown says what a terminal leaves out.
        let report = stdout(&workspace.churngate(&["analyze", "answers.jsonl", "--format", "markdown"])?);
        let text = (stdout(&output) + &report).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code(&output)?, *expected, "{name}\n{text}");
        for word in *words {
            assert!(text.contains(word), "{name}: `{word}` is missing in {text}");
        }
    }
    Ok(())
}

#[test]
fn audits_that_can_show_little_are_defined_and_explained() -> Result<()> {
    let labels = ",\"labels\":[[\"x\",\"y\",\"different\"]]";
    let evidence = ",\"evidence\":{\"old\":[],\"new\":[]}";
    assert_explained(&[
        (
            "one question",
            questions(1, ["x", "x"], ["y", "y"], labels),
            0,
            &[
                "Inconclusive",
                "too few questions to prove it",
                "about 3 questions in all would decide",
                "with 1 question asked, as here, no lower bound says anything: churn of no size is seen",
            ],
        ),
        (
            "questions of a cluster that change together",
            clustered(2, ["x", "x"], ["y", "y"], labels) + &clustered(18, ["x", "x"], ["x", "x"], ""),
            0,
            &[
                "Inconclusive",
                "about 520 questions in all would decide",
                "with 200 questions in 20 clusters and the spread seen here, excess churn of 23.61 pp or more is seen in 80% of \
                 audits, if the questions of a cluster change together",
            ],
        ),
        (
            "one cluster",
            questions(5, ["x", "x"], ["y", "y"], &format!("{labels},\"cluster\":\"page\"")),
            0,
            &[
                "Inconclusive",
                "All questions have the same cluster, which is too few for any bound",
                "too few clusters of questions to prove it",
            ],
        ),
        (
            "one cluster in which nothing changed",
            questions(80, ["x", "x"], ["x", "x"], ",\"cluster\":\"page\""),
            0,
            &["Inconclusive", "too few clusters of questions to prove it"],
        ),
        (
            "flips of one cluster of two",
            questions(5, ["x", "x"], ["y", "y"], &format!("{labels},\"cluster\":\"page\""))
                + "{\"id\":\"u\",\"answers\":{\"old\":[],\"new\":[]},\"unchanged\":true}\n",
            0,
            &["Inconclusive", "too few clusters of questions to prove it"],
        ),
        ("no spread", questions(80, ["x", "x"], ["y", "y"], labels), 1, &["sees no spread", "100.00 to 100.00"]),
        (
            "nothing changed",
            questions(80, ["x", "x"], ["x", "x"], ""),
            0,
            &["Compatible", "sees no spread", "0.00 to 0.00"],
        ),
        (
            "too few to pass",
            questions(58, ["x", "x"], ["x", "x"], ""),
            0,
            &["Inconclusive", "too few questions to prove it", "59"],
        ),
        (
            "all unknown",
            questions(80, ["UNKNOWN", "UNKNOWN"], ["UNKNOWN", "UNKNOWN"], ""),
            0,
            &["Every answer is UNKNOWN"],
        ),
        (
            "no evidence",
            questions(80, ["x", "x"], ["x", "x"], evidence),
            0,
            &["No document at all was retrieved for 80 questions"],
        ),
    ])
}

#[test]
fn what_a_kernel_cannot_see_and_what_nobody_asked_is_explained() -> Result<()> {
    let labels = ",\"labels\":[[\"x\",\"y\",\"different\"]]";
    let paragraphs = ",\"labels\":[[\"a b\",\"c d\",\"same\"],[\"a b\",\"e f\",\"same\"],[\"a b\",\"g h\",\"same\"],\
                      [\"c d\",\"e f\",\"same\"],[\"c d\",\"g h\",\"same\"],[\"e f\",\"g h\",\"same\"]]";
    let unasked = |place| format!("{{\"id\":\"u{place}\",\"answers\":{{\"old\":[],\"new\":[]}},\"unchanged\":true}}\n");
    let unchanged = (0..120).map(unasked).collect::<Vec<String>>().concat();
    assert_explained(&[
        (
            "paragraphs",
            questions(80, ["a b", "c d"], ["e f", "g h"], paragraphs),
            0,
            &["it cannot see churn, and no rule that needs it can block or pass.", "sees no churn here"],
        ),
        (
            "a judge that finds no two answers alike",
            questions(70, ["a b", "c d"], ["e f", "g h"], &paragraphs.replace("same", "different")),
            0,
            &[
                "Inconclusive: 70 questions do not prove churn, and to pass, the rule asks for semantic upper bound < 5 pp \
                 (cannot hold: this kernel sees no churn here)",
                "under the exact and the semantic kernel: it cannot see churn, and no rule that needs it can block or pass.",
            ],
        ),
        (
            "one noisy question among many unchanged ones",
            unchanged.clone() + &questions(1, ["x", "y"], ["x", "y"], labels),
            0,
            &["Compatible: excess churn is proved small, semantic upper bound", "only because so few were asked: 1."],
        ),
        (
            "all unchanged",
            unchanged,
            0,
            &[
                "Compatible",
                "120 of 120 questions have byte-identical prompts",
                "already subtracted. No question was asked. The interval",
                "with 0 questions asked, as here, no lower bound says anything",
            ],
        ),
    ])
}

#[test]
fn a_judge_that_says_one_word_to_everything_is_told_before_the_first_figure() -> Result<()> {
    let label = |word: &str| format!(",\"labels\":[[\"x\",\"y\",\"{word}\"]]");
    let loud = "The judge told no answers apart: all 70 labels of 70 questions say that the two mean the same, though repeats of one \
                snapshot agree to the letter in 100.00% of pairs and old with new in 0.00%.";
    let apart = "The judge told all answers apart: all 70 labels of 70 questions say that the two differ.";
    let quiet = "The judge told no answers apart: all 70 labels of 70 questions say that the two mean the same. Under such a judge";
    assert_explained(&[
        ("all the same", questions(70, ["x", "x"], ["y", "y"], &label("same")), 0, &["Compatible", loud]),
        ("all the same in noise", questions(70, ["x", "y"], ["y", "x"], &label("same")), 0, &["Compatible", quiet]),
        ("all different", questions(70, ["x", "x"], ["y", "y"], &label("different")), 1, &["Incompatible", apart]),
    ])?;
    let workspace = Workspace::new()?;
    workspace.write("answers.jsonl", questions(70, ["x", "x"], ["y", "y"], &label("same")))?;
    for format in ["markdown", "html", "terminal"] {
        let text = stdout(&workspace.churngate(&["analyze", "answers.jsonl", "--format", format])?);
        let (warning, figure) =
            (text.find("The judge told no").context("a warning")?, text.find("within").context("a figure")?);
        assert!(warning < figure, "{format}: {text}");
    }
    let json = stdout(&workspace.churngate(&["analyze", "answers.jsonl", "--format", "json"])?);
    let result: serde_json::Value = serde_json::from_str(&json)?;
    assert_eq!(result["analysis"]["judged"], serde_json::json!({"questions": 70, "pairs": 70, "same": 70}));
    // Nine packets may well be such, and so may seventy of which one is not.
    let few = questions(9, ["x", "x"], ["y", "y"], &label("same"));
    let mixed = questions(70, ["x", "x"], ["y", "y"], &label("same"))
        + &questions(1, ["x", "x"], ["y", "y"], &label("different")).replace("q0", "other");
    for file in [few, mixed] {
        workspace.write("answers.jsonl", &file)?;
        assert!(!stdout(&workspace.churngate(&["analyze", "answers.jsonl"])?).contains("The judge told"));
    }
    Ok(())
}

#[test]
fn answers_made_elsewhere_are_not_said_to_be_judged_or_retrieved_or_ruled_by_a_spec() -> Result<()> {
    let workspace = Workspace::new()?;
    workspace
        .write("answers.jsonl", questions(1, ["x", "x"], ["y", "y"], ",\"labels\":[[\"x\",\"y\",\"different\"]]"))?;
    for format in ["markdown", "html", "terminal"] {
        let text = stdout(&workspace.churngate(&["analyze", "answers.jsonl", "--format", format])?);
        for false_word in ["judged blindly", "two retrievals", "The spec lets", "to fill"] {
            assert!(!text.contains(false_word), "{format}: `{false_word}` in {text}");
        }
    }
    Ok(())
}

#[test]
fn labels_of_two_repeats_that_contradict_one_another_are_no_swap() -> Result<()> {
    // Both agreeing pairs across share an answer: under them no flip is half as likely.
    let labels = [("a", "b", "different"), ("c", "d", "different"), ("a", "c", "same"), ("a", "d", "same")];
    let other = [("b", "c", "different"), ("b", "d", "different")];
    let told: Vec<_> =
        labels.iter().chain(&other).map(|(one, two, word)| serde_json::json!([one, two, word])).collect();
    let file = serde_json::json!({"id": "q", "answers": {"old": ["a", "b"], "new": ["c", "d"]}, "labels": told});
    let workspace = Workspace::new()?;
    workspace.write("answers.jsonl", format!("{file}\n"))?;
    let json = stdout(&workspace.churngate(&["analyze", "answers.jsonl", "--format", "json"])?);
    let result: serde_json::Value = serde_json::from_str(&json)?;
    assert_eq!(result["analysis"]["kernels"][1]["corrected_flips"], 0.0);
    Ok(())
}

#[test]
fn a_line_that_is_not_utf_8_is_named_by_its_number() -> Result<()> {
    let workspace = Workspace::new()?;
    fs::write(workspace.path("answers.jsonl"), b"\n\n{\"id\":\"\xff\"}\n")?;
    let output = workspace.churngate(&["analyze", "answers.jsonl"])?;
    assert_eq!(code(&output)?, 2);
    assert!(stderr(&output).contains("`answers.jsonl`, line 3: not UTF-8"), "{}", stderr(&output));
    Ok(())
}
