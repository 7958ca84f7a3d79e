// refused: E0308
use churngate::freeze::{Protocol, gold};
use churngate::ledger::AnswersLock;

fn peek(answers: &AnswersLock, protocol: &Protocol) {
    let _ = gold::open(answers, protocol);
}

fn main() {}
