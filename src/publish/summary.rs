//! The job's summary: the whole report, and what could not be published.

use super::budget::SUMMARY;
use super::job_file::JobFile;
use super::notice::Notice;
use std::io;

/// Writes the report into the summary's file, within what is left of its limit.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(file: &JobFile<'_>, notice: &Notice, notes: &[String]) -> io::Result<()> {
    let written = usize::try_from(file.begin()).unwrap_or(usize::MAX);
    let notes = listed(notes);
    let room = SUMMARY.saturating_sub(written).saturating_sub(notes.len() + 2);
    let report = notice.markdown_within(room);
    if report.len() > room {
        return Err(io::Error::other("the job's summary has no room left"));
    }
    file.write(&format!("{report}\n{notes}\n"))
}

/// Our own sentences; what stands in them of code is in code spans already.
fn listed(notes: &[String]) -> String {
    let line = |note: &String| format!("> **Not published:** {}\n", note.replace('\n', "\n> "));
    notes.iter().map(line).collect::<Vec<_>>().join("\n")
}
