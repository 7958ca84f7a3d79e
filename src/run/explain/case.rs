//! One question of one run, and what it takes to explain it.

use super::found::{self, OfRun};
use super::kept::Kept;
use super::told;
use crate::analyze::counterfactual::{Difference, Finding, Sides};
use crate::http::Context;
use crate::judge::embedded;
use crate::model::{Answer, Failure, FailureClass, Kernel, Label, QuestionId};
use crate::process;
use crate::report::{Explanation, Settled};
use crate::spec::{GenerateBackend, JudgeBackend, Spec};
use camino::Utf8Path;

/// A question whose flip is to be explained.
pub struct Case {
    pub(super) of: OfRun,
    pub(super) difference: Difference,
    pub(super) settled: Option<Settled>,
    /// How many changes are tried: the first ones.
    pub(super) tried: usize,
    pub(super) kept: Kept,
}

/// Reads the question of this id in a finished run. Of the changes of its evidence the first `most` are tried.
///
/// # Errors
/// The folder holds no finished run with texts and evidence, or the run has no such question, or no answer to it: class
/// [`FailureClass::Usage`](crate::model::FailureClass::Usage). Or it is damaged.
pub fn open(run: &Utf8Path, id: &QuestionId, most: usize) -> Result<Case, Failure> {
    let of = found::read(run, id)?;
    let [old, new] = of.evidence.clone();
    let difference = Difference::between(old, new);
    let settled = settled(&of, &difference)?;
    let tried = difference.changes().len().min(most);
    let kept = Kept::of(run, &of, &difference);
    Ok(Case { of, difference, settled, tried, kept })
}

impl Case {
    /// The spec of the run, by its protocol: the limits of one process are the defaults.
    #[must_use]
    pub const fn spec(&self) -> &Spec {
        &self.of.protocol.spec
    }

    /// Whether asking calls nobody, so that it costs nothing.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        matches!(self.of.protocol.spec.generate.backend, GenerateBackend::Reader(_))
    }

    /// What is known so far. Nothing is asked.
    ///
    /// # Errors
    /// What an earlier call left is damaged, or in use.
    pub fn explanation(&self) -> Result<Explanation, Failure> {
        told::explanation(self)
    }

    /// Asks for what is not there yet, each attempt on record before it is made.
    ///
    /// # Errors
    /// As [`generate::ask`](crate::generate::ask), or the generator is a program that is not there: class
    /// [`FailureClass::Usage`](crate::model::FailureClass::Usage).
    pub async fn ask(&self, context: &Context) -> Result<(), Failure> {
        if self.settled.is_some() {
            return Ok(());
        }
        if let GenerateBackend::Command(program) = &self.of.protocol.spec.generate.backend
            && let Some((program, why)) = program.argv.first().and_then(|name| Some((name, process::missing(name)?)))
        {
            let hint = "go to the folder that the audit was started in: relative paths of programs count from there";
            return Err(found::usage(format!("failed to find the program `{program}`: {why}")).with_hint(hint));
        }
        self.kept.ask(&self.difference.steps(self.tried), context).await.map_err(without_a_spec)
    }

    /// The kernels that answers are compared by: no judge is called.
    pub(super) fn kernels(&self) -> Vec<Kernel> {
        kernels(&self.of)
    }

    /// Whether a kernel takes two answers for one.
    pub(super) fn same(&self, kernel: Kernel) -> impl Fn(&Answer, &Answer) -> bool {
        same(&self.of, kernel)
    }
}

/// What stands in the spec of a finished run is frozen, or was a limit of another process: it mends nothing here.
fn without_a_spec(failure: Failure) -> Failure {
    let of_spec =
        failure.class == FailureClass::Incomplete && failure.hint.as_ref().is_some_and(|hint| hint.contains("spec"));
    if !of_spec {
        return failure;
    }
    failure.with_hint(
        "run the same command again to go on: what is on record is not asked for again; what the spec of the run says is frozen, and \
         where the server takes it no more, another run is needed",
    )
}

fn kernels(of: &OfRun) -> Vec<Kernel> {
    match of.protocol.spec.judge.backend {
        JudgeBackend::Embedded => vec![Kernel::Exact, Kernel::Semantic],
        JudgeBackend::Model(_) | JudgeBackend::Command(_) => vec![Kernel::Exact],
    }
}

fn same(of: &OfRun, kernel: Kernel) -> impl Fn(&Answer, &Answer) -> bool {
    let normalisation = of.protocol.spec.judge.normalisation;
    move |one, other| match kernel {
        Kernel::Exact => normalisation.apply(one.as_str()) == normalisation.apply(other.as_str()),
        Kernel::Semantic => {
            one == other || embedded::judge(&of.question.text, one.as_str(), other.as_str()) == Label::Same
        }
    }
}

/// Why nothing is to be asked, where nothing is.
///
/// # Errors
/// The run has no answer that could have flipped.
fn settled(of: &OfRun, difference: &Difference) -> Result<Option<Settled>, Failure> {
    if of.unasked || difference.changes().is_empty() {
        let varies = of.varies && !of.unasked;
        let same = Settled::SameEvidence { asked: !of.unasked };
        return Ok(Some(if varies { Settled::RetrievalVaries } else { same }));
    }
    for (answers, snapshot) in [(&of.old, "old"), (&of.new, "new")] {
        if answers.is_empty() {
            let message =
                format!("the run has no accepted answer to `{}` from the snapshot `{snapshot}`", of.question.id);
            return Err(found::usage(message).with_hint("nothing can be said to have flipped: name another question"));
        }
    }
    let sides = Sides { old: &of.old, new: &of.new };
    let flips = |kernel: &Kernel| Finding::of(sides, &same(of, *kernel), &[], 0, 0) != Finding::NoFlip;
    Ok((!kernels(of).iter().any(flips)).then_some(Settled::NoFlip))
}
