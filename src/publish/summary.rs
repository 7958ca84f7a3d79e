//! The job's summary: the whole report, and what could not be published.

use super::budget::SUMMARY;
use super::notice::Notice;
use camino::Utf8Path;
use fs_err as fs;
use std::io::{self, Write as _};

/// Appends the report to the summary's file, within what is left of its limit.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(file: &Utf8Path, notice: &Notice, notes: &[String]) -> io::Result<()> {
    let written = fs::metadata(file).map_or(0, |found| usize::try_from(found.len()).unwrap_or(usize::MAX));
    let notes = listed(notes);
    let room = SUMMARY.saturating_sub(written).saturating_sub(notes.len() + 2);
    let report = notice.markdown_within(room);
    if report.len() > room {
        return Err(io::Error::other("the job's summary has no room left"));
    }
    let mut out = fs::OpenOptions::new().create(true).append(true).open(file)?;
    out.write_all(format!("{report}\n{notes}\n").as_bytes())
}

/// Our own sentences; what stands in them of code is in code spans already.
fn listed(notes: &[String]) -> String {
    let line = |note: &String| format!("> **Not published:** {}\n", note.replace('\n', "\n> "));
    notes.iter().map(line).collect::<Vec<_>>().join("\n")
}
