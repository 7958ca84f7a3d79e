//! Results whose verdict is nothing to go by, and what their reports begin with: no sign of a pass, whatever they say.

use super::result::AuditResult;
use crate::gate::Verdict;

/// Why a verdict proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// It came in an artifact that somebody else filled.
    Artifact,
    /// Its ledgers were not there, so that nothing vouches for it.
    Unverified,
    /// No server was asked.
    Replay,
    /// The rule is the change's own.
    Exploratory,
    /// What it was drawn as before could not be read, and an earlier verdict may stand.
    HistoryUnknown,
    /// Another spec of the same name has told of the same commit.
    Twin,
    /// By the rule of another base branch the same commit did not pass.
    Elsewhere,
}

impl Unproved {
    /// What a result says of itself.
    #[must_use]
    pub fn of(result: &AuditResult) -> Option<Self> {
        if result.is_replay() {
            return Some(Self::Replay);
        }
        result.exploratory.then_some(Self::Exploratory)
    }

    /// The first line of its report.
    pub(super) fn headline(self, verdict: Verdict) -> String {
        let who = match self {
            Self::Artifact => "Unproved: a fork's own run says",
            Self::Unverified => "Unverified: a result without its ledgers says",
            Self::Replay => "A replay: the recording says",
            Self::Exploratory => "Exploratory: a rule that nobody has agreed to says",
            Self::HistoryUnknown => "History unknown: this draw says",
            Self::Elsewhere => "Held by another base branch: this one's rule says",
            Self::Twin => "Of two specs with one name, this one says",
        };
        let verdict = match verdict {
            Verdict::Compatible => "compatible",
            Verdict::Incompatible => "incompatible",
            Verdict::Inconclusive => "inconclusive",
        };
        format!("{who} {verdict}")
    }
}
