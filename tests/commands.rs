//! docs/commands.md, held to what it says: its programs are run on its own examples and through the real binary.

#![cfg(unix)]

mod harness;

use anyhow::{Context as _, Result, ensure};
use harness::{Workspace, code, figures, root, stderr};
use serde_json::{Deserializer, Value, json};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The programs of the page, in its order.
const PROGRAMS: [&str; 3] = ["retrieve.py", "answer.py", "judge.py"];

/// The fenced blocks of the page in this language.
fn blocks(language: &str) -> Result<Vec<String>> {
    let page = fs::read_to_string(root().join("docs/commands.md"))?;
    let opening = format!("```{language}\n");
    let block = |rest: &str| rest.split_once("```").map(|(block, _)| block.to_owned());
    page.split(&opening).skip(1).map(|rest| block(rest).context("a fence that does not end")).collect()
}

/// Whether the interpreter of the page's programs is here; says so where it is not.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: there is no `python3`");
    }
    found
}

/// A folder with the page's programs and its spec.
fn workspace() -> Result<Workspace> {
    let workspace = Workspace::new()?;
    let (programs, specs) = (blocks("python")?, blocks("yaml")?);
    ensure!(programs.len() == PROGRAMS.len() && specs.len() == 1, "the page has other blocks");
    for (name, program) in PROGRAMS.iter().zip(&programs) {
        ensure!(program.starts_with(&format!("# {name}\n")), "the program is not `{name}`");
        workspace.write(name, program)?;
    }
    workspace.write("churngate.yaml", &specs[0])?;
    let question =
        |number| format!("{{\"id\":\"q{number}\",\"question\":\"Since when is thing {number} supported?\"}}\n");
    workspace.write("questions.jsonl", (0..6).map(question).collect::<Vec<_>>().concat())?;
    Ok(workspace)
}

/// The page's examples: what each program reads and what it writes.
fn examples() -> Result<Vec<[Value; 2]>> {
    let values = blocks("json")?.iter().map(|block| serde_json::from_str(block)).collect::<Result<Vec<Value>, _>>()?;
    ensure!(values.len() == 2 * PROGRAMS.len(), "{} examples", values.len());
    Ok(values.chunks(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect())
}

/// The names of all members, without the values: `{"a": [{"b": 1}]}` is `{a:[{b:_}]}`.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members.iter().map(|(name, value)| format!("{name}:{}", shape(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.first().map_or_else(String::new, shape)),
        _ => "_".to_owned(),
    }
}

#[test]
fn the_programs_of_the_page_turn_its_inputs_into_its_outputs() -> Result<()> {
    if !has_python() {
        return Ok(());
    }
    let workspace = workspace()?;
    for (program, [input, output]) in PROGRAMS.iter().zip(examples()?) {
        let mut child = Command::new("python3")
            .arg(workspace.path(program))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        child.stdin.take().context("no input")?.write_all(input.to_string().as_bytes())?;
        let written = child.wait_with_output()?;
        assert!(written.status.success(), "{program}");
        assert_eq!(serde_json::from_slice::<Value>(&written.stdout)?, output, "{program}");
    }
    Ok(())
}

#[test]
fn an_audit_with_the_programs_of_the_page_gives_them_the_inputs_of_the_page() -> Result<()> {
    if !has_python() {
        return Ok(());
    }
    let workspace = workspace()?;
    // What each program reads is kept beside it.
    workspace.edit("churngate.yaml", |spec| {
        PROGRAMS.iter().fold(spec, |spec, name| {
            let kept = format!("[/bin/sh, -c, \"tee -a {name}.input | python3 {name}\"]");
            spec.replace(&format!("[python3, {name}]"), &kept)
        })
    })?;
    let output =
        workspace.command().env("MODEL_KEY", "key-2718").args(["run", "--tasks", "1", "churngate.yaml"]).output()?;
    assert!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let result = figures(&workspace.run_folder()?)?;
    assert_eq!(result["flips"].as_array().map(Vec::len), Some(6), "every answer changed and no repeat did");
    // Two passes over two snapshots; two repeats of two; one packet a question.
    for ((program, calls), [input, _]) in PROGRAMS.iter().zip([24, 24, 6]).zip(examples()?) {
        let kept = workspace.read(&format!("{program}.input"))?;
        let read = Deserializer::from_str(&kept).into_iter().collect::<Result<Vec<Value>, _>>()?;
        assert_eq!(read.len(), calls, "{program}");
        for each in read {
            assert_eq!(shape(&each), shape(&input), "{program}");
        }
    }
    Ok(())
}

#[test]
fn a_variable_that_a_program_needs_is_asked_for_before_anything_is_spent() -> Result<()> {
    let workspace = workspace()?;
    let output = workspace.command().env_remove("MODEL_KEY").args(["run", "churngate.yaml"]).output()?;
    assert_eq!(code(&output)?, 2);
    assert!(stderr(&output).contains("`MODEL_KEY` is not set"), "{}", stderr(&output));
    assert!(!workspace.path(".churngate").exists());
    Ok(())
}

#[test]
fn every_program_gets_the_variables_that_it_names_and_no_other() -> Result<()> {
    if !has_python() {
        return Ok(());
    }
    let workspace = workspace()?;
    let check = "import os\nassert {n: os.environ[n] for n in os.environ if n[:4] == 'KEY_'} == {NAMED}\n";
    for (program, variable) in PROGRAMS.iter().zip(["KEY_R", "KEY_G", "KEY_J"]) {
        let body = workspace.read(program)?;
        workspace.write(program, check.replace("{NAMED}", &format!("{{'{variable}': 'one\\ntwo three'}}")) + &body)?;
        workspace.edit("churngate.yaml", |spec| {
            spec.replace(", env: [MODEL_KEY]", "")
                .replace(&format!("{program}]"), &format!("{program}], env: [{variable}]"))
        })?;
    }
    let mut command = workspace.command();
    for variable in ["KEY_R", "KEY_G", "KEY_J", "KEY_OTHER"] {
        command.env(variable, "one\ntwo three");
    }
    let output = command.args(["run", "churngate.yaml"]).output()?;
    assert!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    Ok(())
}

#[test]
fn replies_that_the_page_calls_invalid_are_counted_by_their_codes() -> Result<()> {
    if !has_python() {
        return Ok(());
    }
    for (program, script, reason) in [
        ("answer.py", "print('{\"answer\": 5}')", "answer-malformed"),
        ("answer.py", "print(' ')", "answer-empty"),
        ("answer.py", "print('9' * 600)", "answer-too-long"),
        ("answer.py", "print('9' * (1 << 20))", "reply-too-large"),
        ("answer.py", "raise SystemExit(3)", "program-failed"),
        ("judge.py", "print('{\"A-B\": \"equal\"}')", "judgment-not-labels"),
        ("judge.py", "print('{}')", "judgment-pair-missing"),
        ("judge.py", "print('{\"A-B\": \"same\", \"B-A\": \"same\"}')", "judgment-pair-unasked"),
    ] {
        let workspace = workspace()?;
        workspace.write(program, script)?;
        workspace.edit("churngate.yaml", |spec| {
            spec.replace("questions.jsonl }", "questions.jsonl, select: { count: 1 } }")
                .replace("generate:\n", "generate:\n  max_attempts: 1\n")
                .replace("judge:\n", "judge:\n  max_attempts: 1\n")
        })?;
        let output = workspace.command().env("MODEL_KEY", "key-2718").args(["run", "churngate.yaml"]).output()?;
        assert_eq!(code(&output)?, 4, "{script}\n{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("({reason} ")), "{script}\n{}", stderr(&output));
    }
    Ok(())
}

/// A `claude` that keeps what it was started with and writes what it is told to.
const CLAUDE: &str = "#!/usr/bin/env python3\n\
import json, os, sys\n\
here = os.path.dirname(os.path.abspath(__file__))\n\
with open(os.path.join(here, 'seen'), 'a') as seen:\n    \
    seen.write(json.dumps([sys.argv[1:], sys.stdin.read()]) + '\\n')\n\
with open(os.path.join(here, 'writes')) as writes:\n    \
    sys.stdout.write(writes.read())\n\
sys.exit(int(open(os.path.join(here, 'exit')).read()))\n";

/// What the example makes of this output and exit code of `claude`: the end of it, and what `claude` was started with.
fn asked_of_claude(writes: &str, exit: i32) -> Result<(Option<Value>, Vec<String>, String)> {
    let workspace = Workspace::new()?;
    for (name, content) in [("claude", CLAUDE), ("writes", writes), ("exit", &exit.to_string())] {
        workspace.write(&format!("bin/{name}"), content)?;
    }
    let program = workspace.path("bin/claude");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let path = format!("{}:{}", workspace.path("bin").display(), std::env::var("PATH")?);
    let mut child = Command::new("python3")
        .arg(root().join("examples/commands/ask_claude.py"))
        .args(["--model", "claude-x"])
        .env("PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let input = r#"{"question":"q?","evidence":[],"prompt":"--help\n\u00e9 $(id)"}"#;
    child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
    let written = child.wait_with_output()?;
    let answer = if written.status.success() { Some(serde_json::from_slice(&written.stdout)?) } else { None };
    ensure!(answer.is_some() || written.stdout.is_empty(), "an output of no answer");
    let (argv, stdin) = serde_json::from_str(&workspace.read("bin/seen")?)?;
    Ok((answer, argv, stdin))
}

#[test]
fn the_claude_cli_is_asked_without_tools_and_gives_whole_answers_alone() -> Result<()> {
    if !has_python() {
        return Ok(());
    }
    let result = json!({ "type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": "92" });
    let (answer, argv, stdin) = asked_of_claude(&result.to_string(), 0)?;
    assert_eq!(answer, Some(json!({ "answer": "92" })));
    let expected = "-p --output-format json --bare --tools  --strict-mcp-config --no-session-persistence \
                    --system-prompt Reply with the answer alone. --model claude-x";
    assert_eq!(argv.join(" "), expected);
    let tools = argv.iter().position(|argument| argument == "--tools").context("no tools")?;
    assert_eq!(argv[tools + 1], "", "an empty list of tools");
    assert_eq!(stdin, "--help\n\u{e9} $(id)", "the prompt stands in no argument");

    let with = |member: &str, value: Value| {
        let mut changed = result.clone();
        changed[member] = value;
        changed.to_string()
    };
    for whole in ["end_turn", "stop_sequence", "refusal"] {
        let (answer, ..) = asked_of_claude(&with("stop_reason", json!(whole)), 0)?;
        assert_eq!(answer, Some(json!({ "answer": "92" })), "{whole}");
    }
    for (writes, exit) in [
        (with("is_error", json!(true)), 0),
        (with("is_error", Value::Null), 0),
        (with("subtype", json!("error_max_turns")), 0),
        (with("subtype", json!("error_during_execution")), 0),
        (with("type", json!("system")), 0),
        (with("result", Value::Null), 0),
        (with("stop_reason", json!("max_tokens")), 0),
        (with("stop_reason", json!("tool_use")), 0),
        (result.to_string(), 1),
        (format!("[{result}]"), 0),
        (result.to_string().replace('}', ""), 0),
        ("Credit balance is too low".to_owned(), 0),
        (String::new(), 0),
    ] {
        assert_eq!(asked_of_claude(&writes, exit)?.0, None, "{exit}: {writes}");
    }
    Ok(())
}

#[test]
fn an_audit_whose_generator_is_the_claude_cli_draws_again_what_is_no_answer() -> Result<()> {
    if !has_python() {
        return Ok(());
    }
    let workspace = Workspace::quickstart()?;
    // Every other call is an error.
    let claude = "#!/usr/bin/env python3\nimport json, os, sys\nat = __file__ + '.turn'\n\
                  turn = os.path.exists(at)\nos.remove(at) if turn else open(at, 'w').close()\n\
                  print(json.dumps({'type': 'result', 'subtype': 'success', 'is_error': not turn, 'result': 'API Error'}))\n";
    workspace.write("bin/claude", claude)?;
    fs::set_permissions(workspace.path("bin/claude"), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let script = root().join("examples/commands/ask_claude.py");
    workspace.edit("churngate.yaml", |spec| {
        let program = json!({ "argv": ["python3", script.display().to_string(), "--model", "m"] });
        spec.replace("file: questions.jsonl", "file: questions.jsonl\n  select: { count: 3, seed: 4 }")
            .replace("reader: {}", &format!("concurrency: 1\n  command: {program}"))
    })?;
    let path = format!("{}:{}", workspace.path("bin").display(), std::env::var("PATH")?);
    let output = workspace.command().env("PATH", path).args(["run", "churngate.yaml"]).output()?;
    assert!([0, 1, 3].contains(&code(&output)?), "{}", stderr(&output));
    let folder = workspace.run_folder()?;
    let result: Value = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    let failed = &result["record"]["retries"][0];
    assert_eq!(failed[0], "program-failed", "{result}");
    let ledger = fs::read_to_string(folder.join("answers.jsonl"))?;
    let accepted = ledger.matches("\"accepted\"").count();
    assert!(accepted > 0 && failed[1] == json!(accepted), "{accepted}: {failed}");
    Ok(())
}
