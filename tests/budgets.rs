//! Budgets of tokens and money through the real binary: refused beforehand, kept, counted across processes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod harness;

use anyhow::Result;
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, stderr, stdout};
use serde_json::{Value, json};
use std::{fs, process::Output};

/// Answers every question; a judge's packets as well, where one is asked for.
fn server(usage: Option<Value>) -> Result<RawServer> {
    RawServer::start(move |request| {
        let pairs = request.body.pointer("/response_format/json_schema/schema/required").unwrap().as_array().unwrap();
        let members = pairs.iter().map(|pair| (pair.as_str().unwrap().to_owned(), json!("same")));
        let text = if pairs == &[json!("answer")] {
            json!({ "answer": format!("answer {}", request.number) })
        } else {
            Value::Object(members.collect())
        };
        let choice = json!({ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text.to_string() } });
        let mut reply = json!({ "id": format!("response-{}", request.number), "model": "m-1", "choices": [choice] });
        if let Some(usage) = &usage {
            reply["usage"] = usage.clone();
        }
        Reply::json(200, &reply)
    })
}

/// Ten tokens read and two written, whatever is asked.
fn twelve() -> Value {
    json!({ "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12 })
}

/// The quickstart with five questions, this server as generator and judge, and this budget: 20 answers, 5 packets.
fn workspace(server: &RawServer, budget: &str) -> Result<Workspace> {
    let workspace = Workspace::quickstart()?;
    let model = format!(
        "openai: {{ model: m, base_url: \"{}/v1\", max_tokens: 20, price: {{ input: 2, output: 10 }} }}",
        server.host
    );
    workspace.edit("churngate.yaml", |spec| {
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 5, seed: 1 }")
            .replace("reader: {}", &format!("unchanged_evidence: sample\n  {model}"))
            .replace("embedded: {}", &model)
            + &format!("budget: {{ {budget} }}\n")
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
