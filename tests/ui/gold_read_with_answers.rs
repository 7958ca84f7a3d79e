// refused: E0308
use churngate::freeze::{Protocol, gold};
use churngate::ledger::{AnswersLock, SideLocks};

fn peek(answers: &AnswersLock, side: &SideLocks, protocol: &Protocol) {
    let _ = gold::open(answers, side, protocol);
}

fn main() {}
