//! Proxies that the environment names: which calls go through them, and that none reads a key.

mod harness;

use anyhow::Result;
use harness::raw::{RawServer, Reply};
use harness::{Workspace, code, stderr, stdout};
use serde_json::json;
use std::process::Output;

const KEY: &str = "key-27182818284";

/// A probe of this server, by way of a proxy for everything but `no_proxy`.
fn probed(base_url: &str, with_key: bool, proxy: &RawServer, no_proxy: &str) -> Result<Output> {
    let workspace = Workspace::quickstart()?;
    let key = if with_key { ", key_env: CHURNGATE_TEST_KEY" } else { "" };
    workspace.edit("churngate.yaml", |spec| {
        spec.replace(
            "reader: {}",
            &format!("openai: {{ model: m, base_url: \"{base_url}\", timeout_seconds: 5{key} }}"),
        )
    })?;
    let mut command = workspace.command();
    command.env("CHURNGATE_TEST_KEY", KEY).env("HTTP_PROXY", &proxy.host).env("http_proxy", &proxy.host);
    command.env("NO_PROXY", no_proxy).env("no_proxy", no_proxy);
    Ok(command.args(["check", "churngate.yaml", "--probe"]).output()?)
}

fn answering() -> Result<RawServer> {
    RawServer::start(|_| {
        let message = json!({ "role": "assistant", "content": "{\"answer\":\"7\"}" });
        Reply::json(200, &json!({ "model": "m-1", "choices": [{ "finish_reason": "stop", "message": message }] }))
    })
}

#[test]
fn a_key_never_passes_a_proxy_in_the_open() -> Result<()> {
    let proxy = answering()?;
    let output = probed("http://models.invalid:8000/v1", true, &proxy, "")?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    for part in ["key-through-proxy", "NO_PROXY", "https://"] {
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    assert_eq!(proxy.seen().len(), 0);
    assert!(!format!("{}{}", stdout(&output), stderr(&output)).contains(KEY));

    // Without a key there is nothing to keep from it.
    let output = probed("http://models.invalid:8000/v1", false, &proxy, "")?;
    assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    assert_eq!(proxy.seen().len(), 1);
    assert_eq!(proxy.seen()[0].path, "http://models.invalid:8000/v1/chat/completions");

    // A host that NO_PROXY covers is called directly; this one does not exist.
    let output = probed("http://models.invalid:8000/v1", true, &proxy, "models.invalid")?;
    assert_eq!(code(&output)?, 4, "{}", stderr(&output));
    assert!(
        ["connect-failed", "timed-out"].iter().any(|reason| stderr(&output).contains(reason)),
        "{}",
        stderr(&output)
    );
    assert_eq!(proxy.seen().len(), 1);
    Ok(())
}

#[test]
fn the_loopback_interface_is_never_reached_through_a_proxy() -> Result<()> {
    let (proxy, server) = (answering()?, answering()?);
    let port = server.host.rsplit(':').next().unwrap_or_default();
    for host in ["127.0.0.1", "localhost"] {
        let output = probed(&format!("http://{host}:{port}/v1"), true, &proxy, "")?;
        assert_eq!(code(&output)?, 0, "{}", stderr(&output));
    }
    assert_eq!((server.seen().len(), proxy.seen().len()), (2, 0));
    assert_eq!(server.seen()[0].headers.get("authorization"), Some(&format!("Bearer {KEY}")));
    Ok(())
}
