// refused: E0624
use churngate::ledger::{JudgmentsLock, Lock, stage::Judgments};
use churngate::model::Digest;

fn judgments_without_judging() -> JudgmentsLock {
    Lock::<Judgments>::prove("run".into(), Digest::of(b""), 0)
}

fn main() {}
