// refused: E0451
use churngate::ledger::{JudgmentsLock, Lock};
use churngate::model::Digest;

fn judgments_without_judging() -> JudgmentsLock {
    Lock { folder: "run".into(), head: Digest::of(b""), records: 0, stage: std::marker::PhantomData }
}

fn main() {}
