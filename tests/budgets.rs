//! Budgets of tokens and money through the real binary: refused beforehand, kept, counted across processes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::Result;
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, questions_file, stderr, stdout};
use serde_json::{Value, json};
use std::{
    fs,
    process::{Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Answers every question; a judge's packets as well, where one is asked for.
fn server(usage: Option<Value>) -> Result<RawServer> {
    RawServer::start(move |request| reply(request, "stop", usage.clone()))
}

/// What is answered to one request, how the text is said to end, and what it is said to have taken.
fn reply(request: &Request, finish: &str, usage: Option<Value>) -> Reply {
    let pairs = request.body.pointer("/response_format/json_schema/schema/required").unwrap().as_array().unwrap();
    let members = pairs.iter().map(|pair| (pair.as_str().unwrap().to_owned(), json!("same")));
    let text = if pairs == &[json!("answer")] {
        json!({ "answer": format!("answer {}", request.number) })
    } else {
        Value::Object(members.collect())
    };
    let choice =
        json!({ "index": 0, "finish_reason": finish, "message": { "role": "assistant", "content": text.to_string() } });
    let mut reply = json!({ "id": format!("response-{}", request.number), "model": "m-1", "choices": [choice] });
    if let Some(usage) = usage {
        reply["usage"] = usage;
    }
    Reply::json(200, &reply)
}

/// Ten tokens read and two written, whatever is asked.
fn twelve() -> Value {
    json!({ "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12 })
}

/// The quickstart with five questions, this server as generator and judge, and this budget: 20 answers, 5 packets.
fn workspace(server: &RawServer, budget: &str) -> Result<Workspace> {
    audit(&model(server), &model(server), &format!("budget: {{ {budget} }}\n"))
}

fn model(server: &RawServer) -> String {
    format!(
        "openai: {{ model: m, base_url: \"{}/v1\", max_tokens: 20, price: {{ input: 2, output: 10 }} }}",
        server.host
    )
}

/// The quickstart with five questions, this generator, this judge, and more: 20 answers, 5 packets.
fn audit(generator: &str, judge: &str, more: &str) -> Result<Workspace> {
    let workspace = Workspace::quickstart()?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 5, seed: 1 }")
            .replace("reader: {}", &format!("unchanged_evidence: sample\n  {generator}"))
            .replace("embedded: {}", judge)
            + more
    })?;
    Ok(workspace)
}

fn set_budget(workspace: &Workspace, budget: &str) -> Result<()> {
    workspace.edit("churngate.yaml", |spec| {
        format!("{}budget: {{ {budget} }}\n", spec.split("budget:").next().unwrap_or_default())
    })
}

fn run(workspace: &Workspace) -> Result<Output> {
    workspace.churngate(&["run", "churngate.yaml"])
}

/// Tokens and nano-dollars as the run's ledgers have them.
fn recorded(workspace: &Workspace) -> Result<(u64, u64)> {
    let (mut tokens, mut cost) = (0, 0);
    for ledger in ["answers.jsonl", "judgments.jsonl"] {
        let text = fs::read_to_string(workspace.run_folder()?.join(ledger)).unwrap_or_default();
        for line in text.lines() {
            let usage = serde_json::from_str::<Value>(line)?["usage"].clone();
            tokens += usage["input"].as_u64().unwrap_or(0) + usage["output"].as_u64().unwrap_or(0);
            cost += usage["nano_usd"].as_u64().unwrap_or(0);
        }
    }
    Ok((tokens, cost))
}

#[test]
fn a_plan_that_does_not_fit_is_refused_before_anything_is_spent() -> Result<()> {
    let server = server(Some(twelve()))?;
    for (budget, key) in [("tokens: 1000", "`budget.tokens`"), ("usd: 0.001", "`budget.usd`")] {
        let workspace = workspace(&server, budget)?;
        for command in ["check", "run"] {
            let output = workspace.churngate(&[command, "churngate.yaml"])?;
            assert_eq!(code(&output)?, 2, "{}", stderr(&output));
            assert!(stderr(&output).contains(key) && stderr(&output).contains("hint: raise"), "{}", stderr(&output));
        }
        assert!(!workspace.path(".churngate").exists());
    }
    let workspace = workspace(&server, "tokens: 1000000, usd: 5")?;
    let output = workspace.churngate(&["check", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert!(stdout(&output).contains(" tokens, 0."), "{}", stdout(&output));
    assert_eq!(server.seen().len(), 0);
    Ok(())
}

#[test]
fn money_without_a_price_is_a_problem_of_the_spec() -> Result<()> {
    let server = server(Some(twelve()))?;
    let workspace = workspace(&server, "usd: 5")?;
    workspace.edit("churngate.yaml", |spec| spec.replacen(", price: { input: 2, output: 10 }", "", 1))?;
    let output = workspace.churngate(&["check", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 2);
    for part in ["missing-key", "price of the generator's model", "add `price:"] {
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    Ok(())
}

#[test]
fn a_budget_that_is_reached_stops_cleanly_and_counts_what_earlier_processes_spent() -> Result<()> {
    // Each call says that it took 5,000 tokens, more than was planned.
    let usage = json!({ "prompt_tokens": 4_800, "completion_tokens": 200 });
    let server = server(Some(usage))?;
    for (limit, more, key) in [
        ("tokens: 90000", "tokens: 200000", "budget.tokens"),
        // A call costs 4,800 * 2 + 200 * 10 millionths of a dollar: 0.0116.
        ("usd: 0.2", "usd: 1", "budget.usd"),
    ] {
        let workspace = workspace(&server, limit)?;
        let before = server.seen().len();
        let output = run(&workspace)?;
        assert_eq!(code(&output)?, 4, "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("has no room for another call") && said.contains(&format!("raise `{key}`")), "{said}");
        let spent = recorded(&workspace)?;
        let calls = (server.seen().len() - before) as u64;
        assert_eq!(spent, (calls * 5_000, calls * 11_600_000), "every call counts once and in full");
        assert!(calls > 10 && calls < 25, "{calls} calls");

        // The same command makes no further call, since the first process's spending counts.
        assert_eq!(code(&run(&workspace)?)?, 4);
        assert_eq!(server.seen().len() - before, usize::try_from(calls)?);

        set_budget(&workspace, more)?;
        let output = run(&workspace)?;
        assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
        assert_eq!(server.seen().len() - before, 25, "no accepted cell was asked again");
        assert_eq!(recorded(&workspace)?, (125_000, 290_000_000));
        let folder = workspace.run_folder()?;
        let report = fs::read_to_string(folder.join("report.md"))?;
        assert!(report.contains("0.2900 USD"), "{report}");
        let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
        assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    }
    Ok(())
}

#[test]
fn shards_together_keep_what_limits_the_whole_run() -> Result<()> {
    let server = server(Some(json!({ "prompt_tokens": 4_800, "completion_tokens": 200 })))?;
    let workspace = workspace(&server, "tokens: 90000, calls: 20")?;
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("unchanged_evidence: sample", "unchanged_evidence: sample\n  concurrency: 1")
    })?;
    let shards = || -> Result<Vec<i32>> {
        let run = |shard: &str| code(&workspace.churngate(&["run", "--quiet", shard, "churngate.yaml"])?);
        Ok(vec![run("--shard=1/2")?, run("--shard=2/2")?])
    };
    assert_eq!(shards()?, [4, 4]);
    let calls = server.seen().len() as u64;
    // The last call of each may take more than was thought.
    assert!((16..=20).contains(&calls), "{calls} calls of 5,000 tokens");

    set_budget(&workspace, "tokens: 200000, calls: 20")?;
    assert_eq!(shards()?, [0, 0], "25 calls, and `calls` limits each process");
    assert_eq!(server.seen().len(), 25);

    set_budget(&workspace, "tokens: 1000")?;
    let refused = workspace.churngate(&["run", "--shard=1/2", "--runs=other", "churngate.yaml"])?;
    assert_eq!(code(&refused)?, 2);
    assert!(
        stderr(&refused).contains("exceeds `budget.tokens`, which limits all shards together"),
        "{}",
        stderr(&refused)
    );
    Ok(())
}

#[test]
fn tokens_that_were_spent_before_there_was_a_price_count_at_the_price_there_is() -> Result<()> {
    let server = server(Some(json!({ "prompt_tokens": 4_800, "completion_tokens": 200 })))?;
    let workspace = workspace(&server, "tokens: 90000")?;
    let price = ", price: { input: 2, output: 10 }";
    workspace.edit("churngate.yaml", |spec| spec.replace(price, ""))?;
    let output = workspace.churngate(&["run", "--tasks", "1", "churngate.yaml"])?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    let calls = server.seen().len() as u64;
    // The next call leaves before it is known how much more than planned the one before it took.
    assert!(matches!(calls, 18 | 19), "{calls} calls");
    assert_eq!(recorded(&workspace)?, (calls * 5_000, 0));

    // Now there is one, and so many calls at 0.0116 are more than the budget.
    workspace.edit("churngate.yaml", |spec| spec.replace("max_tokens: 20", &format!("max_tokens: 20{price}")))?;
    set_budget(&workspace, "usd: 0.18")?;
    let output = run(&workspace)?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    let said = stderr(&output);
    let spent = format!("0.{:04} USD of 0.1800 USD", calls * 116);
    assert!(said.contains("the budget of usd has no room") && said.contains(&spent), "{spent}: {said}");
    assert_eq!(server.seen().len() as u64, calls, "nothing more was asked");

    set_budget(&workspace, "usd: 1")?;
    let output = run(&workspace)?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let priced = (25 - calls) * 11_600_000;
    assert_eq!((recorded(&workspace)?, server.seen().len()), ((125_000, priced), 25));
    let folder = workspace.run_folder()?;
    let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    assert_eq!(result["record"]["nano_usd"], priced);
    assert_eq!(result["record"]["unpriced"], calls * 5_000);
    let report = fs::read_to_string(folder.join("report.md"))?;
    let told = format!("USD without the {},000 tokens that had no price", calls * 5);
    assert!(report.contains(&told), "{told}: {report}");
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    Ok(())
}

/// What a server of this path says of one answer, and that it took more tokens than there are.
fn absurd(request: &Request) -> Reply {
    let text = json!({ "answer": format!("answer {}", request.number) }).to_string();
    let (id, most) = (format!("response-{}", request.number), u64::MAX);
    Reply::json(
        200,
        &match request.path.rsplit('/').next().unwrap() {
            "messages" => json!({
                "id": id, "model": "m-1", "stop_reason": "end_turn", "content": [{ "type": "text", "text": text }],
                "usage": { "input_tokens": most, "output_tokens": most, "cache_read_input_tokens": most, "cache_creation_input_tokens": most },
            }),
            "responses" => json!({
                "id": id, "model": "m-1", "status": "completed",
                "output": [{ "type": "message", "content": [{ "type": "output_text", "text": text }] }],
                "usage": { "input_tokens": most, "output_tokens": most, "input_tokens_details": { "cached_tokens": most } },
            }),
            _ => json!({
                "id": id, "model": "m-1",
                "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }],
                "usage": { "prompt_tokens": most, "completion_tokens": most, "prompt_tokens_details": { "cached_tokens": most } },
            }),
        },
    )
}

#[test]
fn a_server_that_counts_more_tokens_than_there_are_gives_the_largest_figure_and_uses_up_every_budget() -> Result<()> {
    for interface in ["openai", "responses", "anthropic"] {
        let server = RawServer::start(absurd)?;
        let workspace = Workspace::quickstart()?;
        let limited = |budget: &str| {
            let model = format!(
                "{interface}: {{ model: m, base_url: \"{}/v1\", price: {{ input: 2, output: 10 }} }}",
                server.host
            );
            workspace.write(
                "spec.yaml",
                workspace
                    .read("churngate.yaml")?
                    .replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 3, seed: 1 }")
                    .replace("reader: {}", &format!("unchanged_evidence: sample\n  {model}"))
                    + budget,
            )
        };
        limited("")?;
        let output = workspace.churngate(&["run", "spec.yaml", "--runs", "whole"])?;
        assert!(matches!(code(&output)?, 0 | 1), "{interface}: {}", stderr(&output));
        let folder = fs::read_dir(workspace.path("whole"))?.next().unwrap()?.path();
        let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
        assert_eq!(result["record"]["tokens"], json!([u64::MAX, u64::MAX]), "{interface}");
        assert_eq!(result["record"]["nano_usd"], json!(u64::MAX), "{interface}");
        let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
        assert_eq!(code(&verified)?, 0, "{interface}: {}", stderr(&verified));

        limited("budget: { tokens: 10000000, usd: 1000 }\n")?;
        let output = workspace.churngate(&["run", "spec.yaml", "--runs", "limited", "--tasks", "1"])?;
        assert_eq!(code(&output)?, 4, "{interface}: {}", stderr(&output));
        assert!(stderr(&output).contains("has no room for another call"), "{interface}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{interface}: {}", stderr(&output));
    }
    Ok(())
}

#[test]
fn a_server_that_does_not_count_cannot_be_held_to_a_budget() -> Result<()> {
    let server = server(None)?;
    let workspace = workspace(&server, "tokens: 1000000")?;
    let output = run(&workspace)?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("does not say how many tokens"), "{}", stderr(&output));
    set_budget(&workspace, "calls: 100")?;
    assert!(matches!(code(&run(&workspace)?)?, 0 | 1));
    Ok(())
}

/// What servers say in place of how many tokens they used.
fn untold() -> [Option<Value>; 7] {
    [
        None,
        Some(Value::Null),
        Some(json!({ "prompt_tokens": -10, "completion_tokens": 2 })),
        Some(json!({ "prompt_tokens": 1e30, "completion_tokens": 2 })),
        Some(json!({ "prompt_tokens": "10", "completion_tokens": "2" })),
        Some(json!({ "prompt_tokens": 10.5, "completion_tokens": 2.5 })),
        Some(json!({ "prompt_tokens": 10 })),
    ]
}

/// The first run stops at the first reply that does not say what it took, and so does every other one, before a call.
fn is_held_by_no_budget(workspace: &Workspace, servers: &[&RawServer], whose: &str) -> Result<()> {
    let connections = || servers.iter().map(|server| server.connections()).sum::<usize>();
    // One call at a time, so that some are left.
    let run = || workspace.churngate(&["run", "churngate.yaml", "--tasks", "1"]);
    let output = run()?;
    assert_eq!(code(&output)?, 4, "{whose}: {}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains(&format!("the {whose}'s server does not say how many tokens a call used")), "{said}");
    let before = connections();
    for _ in 0..2 {
        let output = run()?;
        assert_eq!(code(&output)?, 4, "{whose}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains(&format!("the {whose}'s server does not say how many tokens")), "{said}");
        assert!(said.contains("on record used") && said.contains("take them out of the spec"), "{said}");
        assert_eq!(connections(), before, "{whose}");
    }
    Ok(())
}

/// What such a run comes to without a budget; and with one again, where nothing is left to be spent.
fn goes_on_without_one(workspace: &Workspace, servers: &[&RawServer], whose: &str) -> Result<()> {
    let budgeted = workspace.read("churngate.yaml")?;
    set_budget(workspace, "calls: 1000")?;
    let output = run(workspace)?;
    assert!(matches!(code(&output)?, 0 | 1), "{whose}: {}", stderr(&output));
    let result: Value = serde_json::from_slice(&fs::read(workspace.run_folder()?.join("result.json"))?)?;
    assert!(result["record"]["untold"].as_u64() > Some(0), "{whose}: {}", result["record"]);
    let connections: Vec<usize> = servers.iter().map(|server| server.connections()).collect();
    workspace.write("churngate.yaml", budgeted)?;
    let output = run(workspace)?;
    assert!(matches!(code(&output)?, 0 | 1), "{whose}: {}", stderr(&output));
    assert_eq!(servers.iter().map(|server| server.connections()).collect::<Vec<_>>(), connections, "{whose}");
    Ok(())
}

#[test]
fn whoever_does_not_count_is_asked_nothing_by_a_second_run_either() -> Result<()> {
    let counting = server(Some(twelve()))?;
    for (turn, usage) in (0..).zip(untold()) {
        let silent = server(usage.clone())?;
        // Counts as long as it judges for the verdict, and not when it is asked again.
        let turning = RawServer::start(move |request| {
            reply(request, "stop", if request.number < 5 { Some(twelve()) } else { usage.clone() })
        })?;
        let (good, bad) = (model(&counting), model(&silent));
        let roles = [
            ("generator", audit(&bad, &good, "")?),
            ("judge", audit(&good, &bad, "")?),
            ("judge", audit(&good, &format!("{}\n  passes: 2\n  self_consistency: 10", model(&turning)), "")?),
            ("second judge", audit(&good, &format!("{good}\n  second: {{ {bad}, sample: 10 }}"), "")?),
            ("second generator", audit(&good, &good, &format!("replicate: {{ {bad}, sample: 10 }}\n"))?),
        ];
        // Every role once, and every way of not saying it at least once.
        let roles = roles.into_iter().enumerate().filter(|(role, _)| *role == turn || turn >= 5 && *role == turn - 5);
        for (_, (whose, workspace)) in roles {
            let budget = if turn % 2 == 0 { "budget: { tokens: 10000000 }\n" } else { "budget: { usd: 100 }\n" };
            workspace.edit("churngate.yaml", |spec| spec + budget)?;
            let servers = [&counting, &silent, &turning];
            is_held_by_no_budget(&workspace, &servers, whose)?;
            goes_on_without_one(&workspace, &servers, whose)?;
        }
    }
    Ok(())
}

#[test]
fn answers_that_are_sealed_and_do_not_say_what_they_took_let_no_judge_be_asked() -> Result<()> {
    let (silent, ill) = (server(None)?, RawServer::start(|_| Reply::json(500, &json!({})))?);
    let workspace = audit(&model(&silent), &format!("max_attempts: 1\n  {}", model(&ill)), "")?;
    let output = run(&workspace)?;
    assert_eq!((code(&output)?, silent.seen().len(), ill.seen().len()), (4, 20, 5), "{}", stderr(&output));
    let connections = ill.connections();
    set_budget(&workspace, "usd: 100")?;
    let output = run(&workspace)?;
    assert_eq!((code(&output)?, ill.connections()), (4, connections), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the generator's server does not say how many tokens 20 calls on record used"), "{said}");
    Ok(())
}

#[test]
fn an_embedder_that_does_not_count_is_asked_nothing_by_a_second_run_either() -> Result<()> {
    let engine = RawServer::start(|_| Reply::json(200, &json!({ "points": [{ "id": "1", "text": "a text" }] })))?;
    let embedder = RawServer::start(|request| {
        let texts = request.body["input"].as_array().unwrap();
        let data: Vec<Value> = texts.iter().map(|_| json!({ "embedding": [0.5, 0.25] })).collect();
        Reply::json(200, &json!({ "model": "e-1", "data": data, "usage": { "prompt_tokens": -7 } }))
    })?;
    let workspace = Workspace::new()?;
    workspace.write("q.jsonl", questions_file(["What is it?"]))?;
    let spec = format!(
        "version: 1\nname: vectors\nquestions: {{ file: q.jsonl }}\n\
         snapshots: {{ old: {{ index: old }}, new: {{ index: new }} }}\n\
         retrieve:\n  http: {{ url: \"{}/{{index}}\", body: {{ v: \"{{{{vector}}}}\" }}, items: /points }}\n  \
         embed: {{ openai: {{ model: e, base_url: \"{}/v1\" }} }}\n\
         generate: {{ reader: {{}} }}\njudge: {{ embedded: {{}} }}\nbudget: {{ tokens: 100000 }}\n",
        engine.host, embedder.host
    );
    workspace.write("churngate.yaml", spec)?;
    is_held_by_no_budget(&workspace, &[&embedder], "embedder")?;
    goes_on_without_one(&workspace, &[&embedder], "embedder")
}

#[test]
fn a_deployed_system_that_does_not_count_is_asked_nothing_by_a_second_run_either() -> Result<()> {
    let system = RawServer::start(|request| {
        Reply::json(200, &json!({ "text": format!("answer {}", request.number), "usage": { "read": 10 } }))
    })?;
    let workspace = Workspace::new()?;
    workspace.write("q.jsonl", questions_file(["What is it?", "Where is it?"]))?;
    let spec = format!(
        "version: 1\nname: system\nquestions: {{ file: q.jsonl }}\n\
         snapshots: {{ old: {{ flow: one }}, new: {{ flow: two }} }}\n\
         answer: {{ http: {{ url: \"{}/{{flow}}\", body: {{ q: \"{{{{question}}}}\", n: \"{{{{nonce}}}}\" }}, answer: /text, \
         usage: {{ input: /usage/read, output: /usage/written }} }} }}\n\
         judge: {{ embedded: {{}} }}\nbudget: {{ tokens: 100000 }}\n",
        system.host
    );
    workspace.write("churngate.yaml", spec)?;
    is_held_by_no_budget(&workspace, &[&system], "generator")?;
    goes_on_without_one(&workspace, &[&system], "generator")
}

#[test]
fn what_a_model_wrote_in_vain_must_be_counted_and_errors_need_not() -> Result<()> {
    let silent = RawServer::start(|request| reply(request, "length", None))?;
    let workspace = workspace(&silent, "tokens: 1000000")?;
    is_held_by_no_budget(&workspace, &[&silent], "generator")?;
    assert!(silent.seen().len() <= 8, "{} calls", silent.seen().len());

    // Errors within a success say nothing of tokens, and then the server is well.
    let failing = RawServer::start(|request| match request.number {
        0 => Reply::json(200, &json!({ "error": { "message": "overloaded" } })),
        1 => Reply::Full(200, Vec::new(), b"<html>".to_vec()),
        2 => Reply::json(503, &json!({})),
        _ => reply(request, "stop", Some(twelve())),
    })?;
    let output = run(&self::workspace(&failing, "tokens: 1000000")?)?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    Ok(())
}

/// The record of a finished run, and its line in the report, which `verify` finds to be those of the ledgers and no others.
fn told(workspace: &Workspace, more: &str) -> Result<(Value, String)> {
    let folder = workspace.run_folder()?;
    let path = folder.join("result.json");
    let text = fs::read_to_string(&path)?;
    let record = serde_json::from_str::<Value>(&text)?["record"].clone();
    let verify = || workspace.churngate(&["verify", &folder.display().to_string()]);
    let verified = verify()?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    let count = record[more].as_u64().unwrap();
    let changed = text.replace(&format!("\"{more}\":{count}"), &format!("\"{more}\":{}", count + 1));
    let changed = changed.replace(&format!("\"{more}\": {count}"), &format!("\"{more}\": {}", count + 1));
    assert_ne!(changed, text);
    fs::write(&path, changed)?;
    let tampered = verify()?;
    assert_eq!(code(&tampered)?, 5, "{}", stderr(&tampered));
    fs::write(&path, text)?;
    let report = fs::read_to_string(folder.join("report.md"))?;
    let line = report.lines().find(|line| line.contains(" tokens read and ")).unwrap().to_owned();
    Ok((record, line))
}

#[test]
fn the_report_says_of_how_many_replies_it_does_not_know_the_cost() -> Result<()> {
    // Every fifth of 25 replies says nothing.
    let server = RawServer::start(|request| reply(request, "stop", Some(twelve()).filter(|_| request.number % 5 > 0)))?;
    let workspace = workspace(&server, "calls: 1000")?;
    let output = run(&workspace)?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));
    let (record, line) = told(&workspace, "untold")?;
    assert_eq!(
        (&record["untold"], &record["unended"], &record["tokens"]),
        (&json!(5), &Value::Null, &json!([200, 40]))
    );
    // A call costs 10 * 2 + 2 * 10 millionths of a dollar.
    assert!(line.contains("25 attempts, at least 200 tokens read and 40 written, at least 0.0008 USD, "), "{line}");
    assert!(line.ends_with("; 5 replies did not say what they took"), "{line}");
    Ok(())
}

#[test]
fn the_report_says_of_how_many_attempts_it_does_not_know_the_end() -> Result<()> {
    let hangs = Arc::new(AtomicBool::new(true));
    let now = Arc::clone(&hangs);
    let server = RawServer::start(move |request| {
        let hangs = now.load(Ordering::SeqCst) && request.number >= 10;
        if hangs { Reply::Hang(Duration::from_mins(1)) } else { reply(request, "stop", Some(twelve())) }
    })?;
    let workspace = workspace(&server, "calls: 1000")?;
    let mut command = workspace.command();
    let mut child =
        command.args(["run", "churngate.yaml", "--tasks", "2"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    while server.seen().len() < 12 && child.try_wait()?.is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill()?;
    child.wait()?;
    hangs.store(false, Ordering::SeqCst);
    let output = run(&workspace)?;
    assert!(matches!(code(&output)?, 0 | 1), "{}", stderr(&output));

    let answers = fs::read_to_string(workspace.run_folder()?.join("answers.jsonl"))?;
    let of = |kind: &str| answers.lines().filter(|line| line.contains(&format!("\"type\":\"{kind}\""))).count();
    let unended = of("attempt") - of("outcome");
    // Two calls were under way, two stood in line before them, and what two others came to may not have been written yet.
    assert!((2..=6).contains(&unended), "{unended}");
    let (record, line) = told(&workspace, "unended")?;
    assert_eq!((&record["unended"], &record["untold"]), (&json!(unended), &Value::Null));
    assert!(
        line.contains(" at least ") && line.ends_with(&format!("; {unended} attempts have no known end")),
        "{line}"
    );
    Ok(())
}
