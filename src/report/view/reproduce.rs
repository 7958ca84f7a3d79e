//! How to get the same figures again, and how to overrule the gate in the open.

use crate::report::document::{Block, Line, Section, Topic};
use crate::report::result::{AuditResult, RunRecord};

/// Digits of a ledger's name that are shown.
const NAME: usize = 24;

pub(super) fn section(result: &AuditResult) -> Section<'_> {
    if result.record.heads.is_empty() {
        return without_run();
    }
    let intro = "The run's folder, named by the digest of its protocol, holds every answer and judgment. Within it, verifying \
                 recomputes each digest and figure, without a network.";
    let override_note = "The rule was fixed before anything was asked. Whoever accepts this change all the same \
                         changes the rule in the spec of the base branch, where it can be reviewed, or merges over \
                         the check.";
    let blocks = vec![
        Block::Paragraph(Line::ours(intro)),
        Block::Commands(commands(result)),
        Block::List(heads(&result.record)),
        Block::Paragraph(Line::ours(override_note)),
    ];
    Section::new(Topic::Reproduce, format!("run {}", result.protocol.short()), blocks)
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
