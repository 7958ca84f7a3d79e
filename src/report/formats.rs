//! The files a report is written to: one list, to which a further format is added.

use super::result::AuditResult;
use super::{html, json, junit, markdown};

/// One format of a report, and the file it is written to.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its file in the run's folder.
    pub file: &'static str,
    /// Renders a result.
    pub render: fn(&AuditResult) -> Vec<u8>,
}

/// Every format that is a file.
pub const FORMATS: &[Format] = &[
    Format { name: "json", file: "result.json", render: json },
    Format { name: "markdown", file: "report.md", render: |result| markdown(result).into_bytes() },
    Format { name: "html", file: "report.html", render: |result| html(result).into_bytes() },
    Format { name: "junit", file: "report.xml", render: |result| junit(result).into_bytes() },
];

impl Format {
    /// The format of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::{compatible, incompatible, inconclusive};

    #[test]
    fn names_and_files_are_unique_and_every_format_renders_every_verdict() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert!(Format::named(format.name).is_some_and(|found| found.file == format.file));
            assert!(FORMATS[..index].iter().all(|other| other.file != format.file), "{}", format.file);
            for result in [incompatible(), compatible(), inconclusive()] {
                let bytes = (format.render)(&result);
                assert!(String::from_utf8(bytes).is_ok_and(|text| text.contains("docs-search")), "{}", format.name);
            }
        }
        assert!(Format::named("docx").is_none());
    }
}
