//! What is told, whatever the audit came to: one notice, from which comment, mark and summary follow.

use super::disclosure::{Disclosure, disclosed, disclosed_evidence};
use super::draws::{Draw, Draws};
use super::history::{History, Unread};
use super::lines::{Annotation, Lines, annotations};
use super::maker::Maker;
use super::marks::{Blocks, Elsewhere, Marks};
use super::preface::{OTHER_BASE, TWO_SPECS, drawn_before, stands, two_specs, unknown};
use super::text::within_chars;
use super::wording::{self, Standing};
use crate::report::{self, AuditResult, EvidenceDiff, Unproved, Verdict};
use serde_json::Value;

/// A fork could have made up the verdict in an artifact of its own run; a mark would let it pass.
const NO_MARK_OF_AN_ARTIFACT: &str = "what came in an artifact marks no commit";
/// A recording says what servers answered once, not what they answer for this commit.
const NO_MARK_OF_A_REPLAY: &str = "a replay marks no commit";

/// An audit that came to no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The audit's name, or what stands for it where its spec cannot be read.
    pub name: String,
    /// Whether the spec is the change's own, because the base has none.
    pub exploratory: bool,
    /// The exit code that it ended with.
    pub exit_code: i32,
    /// What the program said; may quote text from outside.
    pub message: String,
}

/// What is told.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact by itself, true or false whatever the others are")]
pub(super) struct Notice {
    /// The audit's name.
    pub name: String,
    /// What the mark is called: that of an audit by a change's own rule otherwise than that of an audit which was agreed to, so
    /// that a change cannot write over the mark which a merge waits for.
    pub context: String,
    /// What the comment is found again by.
    pub key: String,
    /// Which spec it is of, where that is known.
    pub spec: Option<String>,
    /// The branch whose rule it is of, where that is known.
    pub base: Option<String>,
    /// Whether another spec of the same name has told of the same commit.
    pub is_twin: bool,
    /// The mark that holds it up by the rule of another base branch.
    elsewhere: Option<Elsewhere>,
    /// The word for it in the comment's marker.
    pub word: &'static str,
    /// Whether the rule is the change's own.
    pub exploratory: bool,
    /// What it does to the gate.
    pub standing: Standing,
    /// One line about it, not yet cut.
    pub line: String,
    /// What is said after it, not yet cut.
    remarks: String,
    /// Remarks at lines of files, for a check run.
    pub annotations: Vec<Annotation>,
    /// Why it marks no commit, where it must not.
    pub unmarked: Option<&'static str>,
    /// Why its verdict proves nothing, where it does not.
    pub unproved: Option<Unproved>,
    /// Whether an earlier draw was incompatible, and that stands.
    pub stands: bool,
    /// Why a verdict that passes is not told as a pass: an earlier one, which would stand, could not be read.
    pub unread: Option<Unread>,
    /// What the audit was drawn as so far, this draw included where it is one.
    pub draws: Draws,
    draw: Option<Draw>,
    /// Whether another draw has the same content before it.
    frozen: bool,
    /// What is said before anything else.
    preface: String,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Report(Box<AuditResult>),
    Evidence(Box<EvidenceDiff>),
    Failure { why: String, advice: &'static str, message: String },
}

/// The word of a compatible verdict with something else to know.
const WITH_REMARKS: &str = "compatible-with-remarks";

/// The word in the comment's marker. What passes without any remark has one of its own: then there is nothing new to tell, whether
/// the change does not touch what is audited or changes no answer.
fn marker_word(result: &AuditResult, exploratory: bool) -> &'static str {
    let unchanged = result.same_content && !exploratory;
    match (result.decision.verdict, report::has_remarks(result)) {
        (Verdict::Compatible, true) => WITH_REMARKS,
        (Verdict::Inconclusive, false) if unchanged => "unchanged",
        (Verdict::Inconclusive, true) if unchanged => "unchanged-with-remarks",
        (verdict, _) => wording::word(verdict),
    }
}

impl Notice {
    /// A result, with the texts that may be shown.
    /// A replay has a comment of its own, as an artifact has.
    pub(super) fn of_result(result: &AuditResult, disclosure: Disclosure, exploratory: bool, lines: &Lines) -> Self {
        let mut shown = disclosed(result, disclosure);
        shown.exploratory |= exploratory;
        let standing = wording::standing(&shown, exploratory);
        let line = wording::line(&shown, exploratory);
        Self {
            name: shown.name.clone(),
            context: context(&shown.name, exploratory),
            key: key(&shown.name, exploratory, shown.is_replay()),
            spec: None,
            base: None,
            is_twin: false,
            elsewhere: None,
            unmarked: shown.is_replay().then_some(NO_MARK_OF_A_REPLAY),
            unproved: Unproved::of(&shown),
            word: marker_word(&shown, exploratory),
            exploratory,
            standing,
            annotations: annotations(&shown, standing, &line, lines),
            line,
            remarks: String::new(),
            draw: Draw::of(&shown),
            frozen: shown.snapshots.iter().all(|snapshot| snapshot.fingerprint.is_some()),
            stands: false,
            unread: None,
            draws: Draws::default(),
            preface: String::new(),
            body: Body::Report(Box::new(shown)),
        }
    }

    /// What changed in the evidence alone, with the texts that may be shown. It blocks nothing and passes nothing.
    pub(super) fn of_evidence(diff: &EvidenceDiff, disclosure: Disclosure, exploratory: bool) -> Self {
        let shown = disclosed_evidence(diff, disclosure);
        let prefix = if exploratory { "exploratory, " } else { "" };
        Self {
            name: shown.name.clone(),
            context: context(&shown.name, exploratory),
            key: key(&shown.name, exploratory, shown.replayed),
            spec: None,
            base: None,
            is_twin: false,
            elsewhere: None,
            unmarked: shown.replayed.then_some(NO_MARK_OF_A_REPLAY),
            unproved: None,
            // What a change compares by its own rule is always told.
            word: match (shown.at_risk.is_empty() && !exploratory, report::evidence_has_remarks(&shown)) {
                (true, false) => "unchanged",
                (true, true) => "unchanged-with-remarks",
                (false, _) => "changed",
            },
            exploratory,
            standing: Standing::Told,
            line: format!("{prefix}{}", report::diff_line(&shown)),
            remarks: String::new(),
            annotations: Vec::new(),
            draw: None,
            frozen: false,
            stands: false,
            unread: None,
            draws: Draws::default(),
            preface: String::new(),
            body: Body::Evidence(Box::new(shown)),
        }
    }

    /// An audit without a verdict.
    pub(super) fn of_failure(failed: &Failed) -> Self {
        let (why, advice) = reason(failed.exit_code);
        Self {
            name: failed.name.clone(),
            context: context(&failed.name, failed.exploratory),
            key: key(&failed.name, failed.exploratory, false),
            spec: None,
            base: None,
            is_twin: false,
            elsewhere: None,
            word: "none",
            exploratory: failed.exploratory,
            standing: Standing::Error,
            line: format!("no verdict: {why}"),
            remarks: String::new(),
            annotations: Vec::new(),
            unmarked: None,
            unproved: None,
            draw: None,
            frozen: false,
            stands: false,
            unread: None,
            draws: Draws::default(),
            preface: String::new(),
            body: Body::Failure { why, advice, message: failed.message.clone() },
        }
    }

    /// The same, of this spec, by the rule of this branch.
    pub(super) fn of_spec(self, spec: Option<String>, base: Option<String>) -> Self {
        Self { spec, base, ..self }
    }

    /// The same, by the rule of this branch, where nothing else is known of it.
    pub(super) fn into_base(self, base: Option<String>) -> Self {
        Self { base: self.base.or(base), ..self }
    }

    /// Who makes its mark, in this run and attempt. One that says that another stands is a word of the other's.
    pub(super) fn maker(&self, run: (u64, u64)) -> Maker {
        match &self.elsewhere {
            Some(elsewhere) => elsewhere.maker.clone(),
            None => Maker { run: Some(run), spec: self.spec.clone(), base: self.base.clone() },
        }
    }

    /// The mark of a newer run than this one, which this one's must not take the place of.
    pub(super) fn newer<'m>(&self, marks: &'m Marks, run: (u64, u64)) -> Option<&'m Value> {
        let blocks = |draw: &&Draw| (self.stands || draw.blocks()) && self.frozen && !self.exploratory;
        let standing = self.draw.as_ref().filter(blocks).map(Draw::signature);
        marks.newer(run, self.base.as_deref(), standing.as_deref())
    }

    /// The mark by the rule of another base branch that a pass must not take the place of.
    pub(super) fn held_by(&self, marks: &Marks) -> Option<Elsewhere> {
        let passes = matches!(self.standing, Standing::Pass | Standing::Warn | Standing::Told);
        if passes && !self.exploratory { marks.elsewhere(self.base.as_deref()) } else { None }
    }

    /// Whether the rule of another base branch holds it up.
    pub(super) const fn is_held(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// The same where the mark by another base branch's rule stands, and stays what it was.
    pub(super) fn held(self, elsewhere: Elsewhere) -> Self {
        Self {
            standing: match elsewhere.blocks {
                Blocks::Failure => Standing::Block,
                Blocks::Error => Standing::Error,
            },
            unproved: self.unproved.or(Some(Unproved::Elsewhere)),
            word: match self.word {
                "compatible" => WITH_REMARKS,
                "unchanged" => "unchanged-with-remarks",
                word => word,
            },
            line: format!("held by another base branch's audit; here {}", self.line),
            preface: format!("{OTHER_BASE}{}", self.preface),
            elsewhere: Some(elsewhere),
            ..self
        }
    }

    /// The same where another spec of the same name has told of the same commit: neither can be told from the other, so that nothing
    /// passes.
    pub(super) fn twin(self) -> Self {
        let why = two_specs(&self.name);
        let preface = format!("## ⛔ No mark: {why}\n\n{TWO_SPECS} What this one came to:\n\n---\n\n{}", self.preface);
        let (standing, unproved) = (Standing::Error, Some(Unproved::Twin));
        Self {
            is_twin: true,
            elsewhere: None,
            standing,
            unproved,
            line: format!("no mark: {why}"),
            remarks: String::new(),
            preface,
            ..self
        }
    }

    /// The same, with something more in its line.
    pub(super) fn remarked(self, remark: &str) -> Self {
        Self { remarks: format!("{}; {remark}", self.remarks), ..self }
    }

    /// The same, beside what was drawn before it is published. What came to no verdict is no draw, and what others made, or may have, is nobody's.
    pub(super) fn drawn(mut self, History { draws, marks, unread }: History) -> Self {
        self.draws = draws;
        let counts = self.unmarked.is_none() && self.unproved != Some(Unproved::Unverified);
        let Some(draw) = self.draw.clone().filter(|_| counts) else { return self };
        self.draws.told_by(&marks, &draw);
        let others: Vec<Draw> = self.draws.others(&draw).into_iter().cloned().collect();
        if draw.is_of_chance() {
            self.draws.add(&draw);
        }
        let blocked = others.iter().any(Draw::blocks) && !draw.blocks();
        if blocked && self.frozen && !self.exploratory {
            self = self.standing_by(&draw);
        } else if draw.is_of_chance() && !others.is_empty() {
            let verdicts: Vec<String> = others.into_iter().map(|draw| draw.verdict).collect();
            self = self.drawn_again(&draw, &verdicts.join(", "));
        }
        match unread {
            Some(unread) if !self.exploratory && self.standing != Standing::Block => self.without_history(unread),
            _ => self,
        }
    }

    /// An earlier draw was incompatible, and that counts whatever this one came to.
    fn standing_by(self, draw: &Draw) -> Self {
        Self {
            stands: true,
            standing: Standing::Block,
            word: wording::word(Verdict::Incompatible),
            preface: stands(draw),
            line: format!("incompatible when it was drawn before, and that stands; now {}", self.line),
            ..self
        }
    }

    /// There were earlier draws, which this one has to be read beside.
    fn drawn_again(self, draw: &Draw, verdicts: &str) -> Self {
        Self {
            preface: drawn_before(draw, verdicts),
            remarks: format!("; drawn before: {verdicts}{}", self.remarks),
            word: if self.word == "compatible" { WITH_REMARKS } else { self.word },
            ..self
        }
    }

    /// An earlier verdict may stand: then nothing is told as a pass.
    fn without_history(self, unread: Unread) -> Self {
        Self {
            unread: Some(unread),
            unproved: self.unproved.or(Some(Unproved::HistoryUnknown)),
            standing: Standing::Error,
            word: "none",
            preface: format!("{}{}", unknown(unread), self.preface),
            line: format!("history unknown: publish this run again; {}", self.line),
            ..self
        }
    }

    /// The line in at most this many characters, with the signature of its draw at the end. What has no room is of its figures first:
    /// they stand in the report, and what the verdict must be read beside is told at a glance.
    pub(super) fn line_within(&self, limit: usize) -> String {
        let signature = self.draw.as_ref().map(Draw::signature).unwrap_or_default();
        let limit = limit.saturating_sub(signature.len());
        let remarks = within_chars(&self.remarks, limit / 2);
        let line = within_chars(&self.line, limit.saturating_sub(remarks.chars().count()));
        format!("{line}{remarks}{signature}")
    }

    /// The same, from files that somebody else made. Its comment is another one than the audit's own, whatever name it
    /// gives itself: a colon stands in no name of a spec.
    pub(super) fn of_an_artifact(self) -> Self {
        let (key, unmarked) = (format!("artifact:{}", self.name), Some(NO_MARK_OF_AN_ARTIFACT));
        Self { key, unmarked, unproved: Some(Unproved::Artifact), ..self }
    }

    /// The same, of a result that nothing vouches for: anybody can write one. It has a comment of its own and passes nothing.
    pub(super) fn unverified(self) -> Self {
        let stays = self.exploratory || self.standing == Standing::Block;
        Self {
            key: format!("unverified:{}", self.name),
            standing: if stays { self.standing } else { Standing::Error },
            line: format!("unverified, {}", self.line),
            unproved: Some(Unproved::Unverified),
            ..self
        }
    }

    /// Markdown of at most `budget` bytes.
    pub(super) fn markdown_within(&self, budget: usize) -> String {
        let budget = budget.saturating_sub(self.preface.len());
        let text = match &self.body {
            Body::Evidence(shown) => report::diff_markdown_within(shown, budget),
            Body::Report(shown) => report::markdown_as(shown, self.unproved, budget),
            Body::Failure { why, advice, message } => report::failure_within(&self.name, why, advice, message, budget),
        };
        format!("{}{text}", self.preface)
    }
}

/// What the mark is called. No name of a spec holds a slash.
fn context(name: &str, exploratory: bool) -> String {
    if exploratory { format!("churngate/{name}/exploratory") } else { format!("churngate/{name}") }
}

/// What the comment is found again by. No name of a spec holds a colon.
fn key(name: &str, exploratory: bool, replayed: bool) -> String {
    let prefix = match (replayed, exploratory) {
        (true, _) => "replay:",
        (false, true) => "exploratory:",
        (false, false) => "",
    };
    format!("{prefix}{name}")
}

/// What an exit code means, and what to do about it. The codes are the program's own; a runner that ends it gives others.
fn reason(exit_code: i32) -> (String, &'static str) {
    let (why, advice) = match exit_code {
        2 => ("the spec, or something that it names, is in error", "Nothing was spent."),
        4 => ("the audit could not be completed", "Run the job again once the reason is gone."),
        5 => ("the evidence does not hold", "A lock or a ledger is not what it should be: nothing follows from it."),
        code => {
            return (
                format!("the audit ended unexpectedly, with exit code {code}"),
                "The job's log may say why: out of time, out of memory, or a fault of the program.",
            );
        }
    };
    (why.to_owned(), advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::fixtures::blocking;
    use crate::publish::refusal::{Permission, Refusal};

    #[test]
    fn no_failure_is_churn_or_a_pass() {
        for exit_code in [2, 4, 5, 101, 137] {
            let failed = Failed {
                name: "docs".to_owned(),
                exploratory: false,
                exit_code,
                message: "the server is down".to_owned(),
            };
            let notice = Notice::of_failure(&failed);
            let text = notice.markdown_within(10_000);
            assert_eq!((notice.standing, notice.word), (Standing::Error, "none"));
            assert!(text.contains("neither churn nor a pass") && text.contains("the server is down"), "{text}");
            assert!(!text.to_lowercase().contains("compatible"), "{text}");
        }
    }

    #[test]
    fn an_exploratory_audit_has_a_mark_and_a_comment_of_its_own() {
        let named = |exploratory| {
            let result = Notice::of_result(&blocking(), Disclosure::Ids, exploratory, &Lines::default());
            let failed = Failed { name: "docs-search".to_owned(), exploratory, exit_code: 2, message: String::new() };
            let failed = Notice::of_failure(&failed);
            assert_eq!((&result.context, &result.key), (&failed.context, &failed.key));
            (result.context, result.key)
        };
        assert_eq!(named(false), ("churngate/docs-search".to_owned(), "docs-search".to_owned()));
        let own = ("churngate/docs-search/exploratory".to_owned(), "exploratory:docs-search".to_owned());
        assert_eq!(named(true), own);
    }

    #[test]
    fn what_proves_nothing_passes_nothing_is_no_draw_and_begins_without_the_sign_of_a_pass() {
        let audited = || Notice::of_result(&blocking(), Disclosure::Answers, false, &Lines::default());
        let history = || History { draws: Draws::parse("a.1.incompatible"), ..History::default() };
        for notice in [audited().of_an_artifact(), audited().unverified()] {
            assert_ne!(notice.key, audited().key);
            let notice = notice.drawn(history());
            assert_eq!(
                (notice.draws.to_string(), notice.stands),
                (history().draws.to_string(), false),
                "{}",
                notice.key
            );
        }
        let mut result = blocking();
        result.decision.verdict = Verdict::Compatible;
        let passing = || Notice::of_result(&result, Disclosure::Answers, false, &Lines::default());
        let unread = Unread { refusal: Refusal::NotFound, needed: Permission::PullRequests };
        let unknown = passing().drawn(History { unread: Some(unread), ..History::default() });
        assert!(passing().markdown_within(9_000).contains("## ✅ "));
        for notice in [unknown, passing().twin(), passing().unverified(), passing().of_an_artifact()] {
            assert!(notice.unmarked.is_some() || notice.standing == Standing::Error, "{}", notice.line);
            assert!(notice.unproved.is_some() && !notice.markdown_within(9_000).contains('✅'), "{}", notice.line);
        }
    }

    #[test]
    fn what_a_verdict_is_to_be_read_beside_has_room_in_its_line_before_the_figures() {
        let notice = Notice::of_result(&blocking(), Disclosure::Answers, false, &Lines::default());
        let notice = Notice { line: format!("incompatible: {}", "9".repeat(200)), ..notice };
        let draw = notice.draw.clone().unwrap();
        let notice = notice.remarked("this change edits it").drawn_again(&draw, "inconclusive");
        for limit in [140, 200, 255] {
            let line = notice.line_within(limit);
            assert_eq!(line.chars().count(), limit, "{line}");
            assert!(line.starts_with("incompatible: 999"), "{line}");
            assert!(line.contains("; drawn before: inconclusive; this change edits it ["), "{line}");
        }
    }

    #[test]
    fn an_artifact_has_a_comment_of_its_own() {
        let notice = Notice::of_result(&blocking(), Disclosure::Answers, false, &Lines::default());
        assert_eq!(
            (notice.key.as_str(), notice.clone().of_an_artifact().key.as_str()),
            ("docs-search", "artifact:docs-search")
        );
    }
}
