//! How to get the same figures again, and how to overrule the gate in the open.

use crate::report::document::{Block, Line, Section, Topic};
use crate::report::result::{AuditResult, RunRecord};

/// Digits of a ledger's name that are shown.
const NAME: usize = 24;

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    if result.record.heads.is_empty() {
        return without_run();
    }
    let override_note = "The rule was fixed before anything was asked. Whoever accepts this change all the same \
                         changes the rule in the spec of the base branch, where it can be reviewed, or merges over \
                         the check.";
    let blocks = vec![
        Block::Paragraph(the_folder("every answer and judgment")),
        Block::Commands(commands(result)),
        Block::List(heads(&result.record)),
        Block::Paragraph(Line::ours(override_note)),
    ];
    Section::new(Topic::Reproduce, format!("run {}", result.protocol.short()), blocks)
}

/// What the run's folder holds, and where the reader gets it: no folder lies where a comment is read.
pub(super) fn the_folder<'a>(holding: &str) -> Line<'a> {
    let intro = format!(
        "The run's folder, named by the digest of its protocol, holds {holding}. It lies where the audit ran, in "
    );
    Line::ours(intro)
        .code(".churngate")
        .and(" beside the spec; of an audit in GitHub Actions, it is what the workflow uploaded: ")
        .code("gh run download RUN --name churngate-run --dir FOLDER")
        .and(". Within it, verifying recomputes each digest and figure, without a network.")
}

/// Figures of answers that were made elsewhere have no ledgers behind them.
fn without_run<'a>() -> Section<'a> {
    let told = "These figures were computed from answers and labels made elsewhere. There is no run whose ledgers could \
                be verified: the same file gives the same figures again.";
    Section::new(Topic::Reproduce, "no run", vec![Block::Paragraph(Line::ours(told))])
}

fn commands(result: &AuditResult) -> Vec<String> {
    // Where the folder lies is no part of a result: the same one may lie in many places.
    let folder = format!("cd {}", result.protocol);
    std::iter::once(folder).chain(["verify", "report"].map(|command| format!("churngate {command} ."))).collect()
}

fn heads(record: &RunRecord) -> Vec<Line<'_>> {
    record.heads.iter().map(|(name, head)| Line::default().theirs(name, NAME).and(" ").code(head.to_string())).collect()
}
