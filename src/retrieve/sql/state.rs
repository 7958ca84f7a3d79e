//! What a snapshot physically is in a database.

use super::call::{Cells, Database};
use crate::git;
use crate::model::{Digest, Failure, FailureClass, SnapshotName};
use crate::retrieve::engine::Identity;
use camino::Utf8Path;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};

/// The most rows of a query of state.
pub(super) const ROWS: u32 = 1_000;

/// Asks what a snapshot holds: the rows of the spec's `state`, the first cell of which is the number of documents where it is
/// a number, and for SQLite the bytes of the file.
///
/// # Errors
/// The database does not answer, refuses, or the file cannot be relied on.
pub(in crate::retrieve) async fn identify(
    database: &Database<'_>,
    base: &Utf8Path,
    name: &SnapshotName,
    variables: &BTreeMap<String, String>,
) -> Result<Identity, Failure> {
    let mut identity = Identity::of(variables);
    if let Some(file) = database.file(variables) {
        let digest = file_digest(&mut open(base, &file)?).map_err(|error| unread(&file, &error.kind().to_string()))?;
        identity.state.push(digest.to_string());
        identity.asked = true;
    }
    if let Some(query) = database.state(variables)? {
        let rows = database.insist(&query).await;
        let rows = rows.map_err(|error| error.failure(&format!("failed to look at the snapshot `{name}`")))?;
        if rows.len() > ROWS as usize {
            return Err(too_many(name));
        }
        identity.documents = rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
        if identity.documents == Some(0) {
            return Err(empty(name));
        }
        identity.state.extend(rows.into_iter().map(in_words));
        identity.asked = true;
    }
    Ok(identity)
}

/// An index that is not filled yet would answer every question with nothing, and pass for churn.
fn empty(name: &SnapshotName) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("`state` says that the snapshot `{name}` has no documents"))
        .with_hint("fill it, then run the same command again")
}

/// What stands beyond the rows that are read could change without anybody noticing.
fn too_many(name: &SnapshotName) -> Failure {
    let message = format!("`state` gives more than {ROWS} rows of the snapshot `{name}`");
    Failure::new(FailureClass::Usage, message)
        .with_hint("let the database sum them up, such as `SELECT count(*), md5(string_agg(...))`")
}

/// A row as one text; a cell without a value is not an empty one.
fn in_words(row: Cells) -> String {
    serde_json::Value::from(row).to_string()
}

/// Opens a database file, relative to `base`. What its write-ahead log holds would not be part of what is read. What the file
/// holds is shown in the report: a change may not lead to another one by a link.
///
/// # Errors
/// It is not there or cannot be read, a link leads to it, or it is being written to.
pub(in crate::retrieve) fn open(base: &Utf8Path, file: &Utf8Path) -> Result<File, Failure> {
    if let Some(link) = git::link_on_the_way(base, file) {
        let what = format!("`{link}` is a symbolic link, and none is followed");
        return Err(unread(file, &what).with_hint("name the file that it leads to"));
    }
    let place = base.join(file);
    let refused = |error: io::Error| unread(file, &error.kind().to_string());
    // Looked at before it is opened: opening a pipe waits for somebody to write into it.
    if !std::fs::metadata(&place).map_err(refused)?.is_file() {
        return Err(unread(file, "it is no regular file"));
    }
    for ending in ["-wal", "-journal"] {
        if std::fs::metadata(format!("{place}{ending}")).is_ok_and(|log| log.len() > 0) {
            let what = format!("beside it lies `{file}{ending}`, so that it is being written to, or was not closed");
            return Err(unread(file, &what)
                .with_hint("close it with `PRAGMA wal_checkpoint(TRUNCATE)`, or `VACUUM INTO` a copy"));
        }
    }
    File::open(&place).map_err(refused)
}

fn unread(file: &Utf8Path, what: &str) -> Failure {
    Failure::new(FailureClass::Usage, format!("failed to read the database `{file}`: {what}"))
        .with_hint("check the path; it is relative to the spec's own folder")
}

fn file_digest(file: &mut File) -> io::Result<Digest> {
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest::from_bytes(hasher.finalize().into())),
            count => hasher.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}
