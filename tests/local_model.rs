//! The audit with a real language model behind an OpenAI-compatible server, as generator and as judge.
//!
//! Needs Python and the packages that `scripts/local-model` installs, and takes minutes: it runs where
//! `CHURNGATE_REQUIRE_ALL` is set, as `scripts/test` sets it, and says elsewhere that it was skipped.

#![expect(clippy::print_stdout, reason = "says what was skipped, and shows the figures with --nocapture")]

mod harness;

use anyhow::{Context as _, Result};
use harness::{Workspace, code, figures, root, stderr};
use serde_json::Value;
use std::process::Command;

/// Runs a spec of examples/local-model against the local server, with its run in the workspace.
fn audited(workspace: &Workspace, spec: &str) -> Result<Value> {
    let spec = root().join("examples/local-model").join(spec);
    let output = Command::new(root().join("scripts/local-model"))
        .arg(env!("CARGO_BIN_EXE_churngate"))
        .args(["run", "--quiet", "--runs"])
        .arg(workspace.path(".churngate"))
        .arg(&spec)
        .output()?;
    assert!([0, 1].contains(&code(&output)?), "{}", stderr(&output));
    let folder = workspace.run_folder()?;
    let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
    assert_eq!(code(&verified)?, 0, "{}", stderr(&verified));
    figures(&folder)
}

/// A share of 1.
fn share(fraction: &Value) -> Result<f64> {
    let part = |name: &str| fraction[name].as_f64().with_context(|| format!("no fraction: {fraction}"));
    Ok(part("numerator")? / part("denominator")?)
}

fn assert_noise_and_bounds(result: &Value) -> Result<()> {
    let exact = &result["analysis"]["kernels"][0];
    let within = share(&exact["agreement"]["within"])?;
    let churn = share(&exact["churn"])?;
    println!("exact: within {within:.4}, churn {churn:.4}, lower bound {:.4}", share(&exact["lower_bound"])?);
    assert!(within < 1.0, "repeats of a language model always agree: {within}");
    assert!(share(&exact["lower_bound"])? <= churn);
    for kernel in result["analysis"]["kernels"].as_array().context("no kernels")? {
        assert!(kernel["upper_bound"].is_number() && kernel["interval"].is_array(), "{kernel}");
    }
    let flips = result["flips"].as_array().context("no flips")?;
    println!("{} stable flips", flips.len());
    for flip in flips {
        assert!(flip["old_answer"].is_string() && flip["new_answer"].is_string(), "{flip}");
    }
    Ok(())
}

#[test]
fn a_language_model_answers_and_judges() -> Result<()> {
    if std::env::var_os("CHURNGATE_REQUIRE_ALL").is_none() {
        println!("skipped: CHURNGATE_REQUIRE_ALL is not set");
        return Ok(());
    }
    for spec in ["churngate.yaml", "judged.yaml"] {
        let workspace = Workspace::new()?;
        assert_noise_and_bounds(&audited(&workspace, spec).with_context(|| spec.to_owned())?)?;
    }
    Ok(())
}
