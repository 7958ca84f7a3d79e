//! `:vector` of `retrieve.sql`: questions that an embedder of their own turns into vectors, against pgvector.

use crate::audit::{assert_nearest, audited, counted, workspace};
use crate::corpus::{QUESTIONS, documents, questions, texts};
use crate::harness::{Workspace, code, stderr};
use crate::postgres::{self, STATE, Server};
use crate::python;
use anyhow::{Context as _, Result};
use serde_json::json;
use std::path::Path;

const NEAREST: &str =
    "SELECT id, body AS text, link AS url FROM {schema}.docs ORDER BY nearest <=> :vector::vector, id LIMIT :top_k";
const SAMPLE: &str = "SELECT body AS text, nearest::text AS vector FROM {schema}.docs ORDER BY id LIMIT 4";

fn audit(python: &Path, new: &str) -> Result<Workspace> {
    let snapshots = json!({"old": {"schema": "docs_1"}, "new": {"schema": new}});
    let sql = json!({"postgres": {"url_env": "DOCS_URL"}, "query": NEAREST, "state": STATE, "sample": SAMPLE});
    workspace(&snapshots, &json!({"sql": sql, "embed": python::embedder(python, "0")}), QUESTIONS)
}

/// The vectors of a release's texts, by a variant of the embedder.
fn vectors(python: &Path, release: usize, variant: &str) -> Result<Vec<Vec<f64>>> {
    python::embedded(python, &texts(&documents(release)), variant)
}

/// Audits the two schemas at this address, and holds the evidence against every document's distance.
fn nearest(python: &Path, url: &str) -> Result<()> {
    let workspace = audit(python, "docs_2")?;
    let (folder, evidence) = audited(&workspace, &|| postgres::command(&workspace, url))?;
    let asked = python::embedded(python, &questions(), "0")?;
    for (release, snapshot) in [(1, "old"), (2, "new")] {
        assert_nearest(&documents(release), &vectors(python, release, "0")?, &asked, &evidence[snapshot])?;
    }
    assert_ne!(evidence["old"], evidence["new"]);
    assert_eq!(counted(&folder)?, "schema=docs_2");
    edited_vectors_are_found(&workspace, &folder)?;
    postgres::unseen(&folder)
}

/// `vectors.jsonl` is evidence as everything else is.
fn edited_vectors_are_found(workspace: &Workspace, folder: &Path) -> Result<()> {
    let file = folder.join("vectors.jsonl");
    let whole = std::fs::read_to_string(&file)?;
    let cut = whole.rsplit_once("{\"seal\"").context("no seal")?.0.to_owned();
    for edited in [whole.replacen("\"q7\"", "\"q8\"", 1), cut] {
        assert_ne!(edited, whole);
        std::fs::write(&file, &edited)?;
        let verified = workspace.churngate(&["verify", &folder.display().to_string()])?;
        assert_eq!(code(&verified)?, 5, "{}", stderr(&verified));
        assert!(stderr(&verified).contains("vectors.jsonl"), "{}", stderr(&verified));
    }
    Ok(std::fs::write(&file, whole)?)
}

#[test]
fn questions_as_vectors_find_their_nearest_neighbours_in_pgvector() -> Result<()> {
    let (Some(programs), Some(python)) = (postgres::programs()?, python::with("hashlib")?) else { return Ok(()) };
    let server = Server::start(programs)?;
    server.build()?;
    server.sql("DROP SCHEMA docs_1 CASCADE; DROP SCHEMA docs_2 CASCADE")?;
    for (schema, release, variant) in [("docs_1", 1, "0"), ("docs_2", 2, "0"), ("docs_swapped", 2, "1")] {
        server.fill(schema, release, &vectors(&python, release, variant)?)?;
    }
    nearest(&python, &server.url("reader"))?;

    // An index by another embedder of as many numbers is named before anything is asked of it.
    let workspace = audit(&python, "docs_swapped")?;
    let output =
        postgres::command(&workspace, &server.url("reader")).args(["run", "--quiet", "churngate.yaml"]).output()?;
    assert_eq!(code(&output)?, 2, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the vectors in the snapshot `new` are of another embedder than the questions'"), "{said}");
    Ok(())
}
