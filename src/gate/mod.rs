//! Rule -> verdict: three outcomes, each an intersection-union rule, block wins.
//!
//! Pure: figures and a rule in, a verdict out. Nothing but the lines of the rule can move it.
#![deny(clippy::disallowed_methods, reason = "a verdict is a function of the figures and the rule alone")]

mod decision;
mod line;
mod needed;
mod rehearse;
mod rule;

pub use decision::{Decision, LineOutcome, Verdict};
pub use line::shows_churn;
pub use needed::questions_to_decide;
pub use rehearse::{Rehearsal, rehearse};
pub use rule::decide;
