// builds
use churngate::freeze::{Protocol, gold};
use churngate::ledger::JudgmentsLock;

fn read(judgments: &JudgmentsLock, protocol: &Protocol) {
    let _ = gold::open(judgments, protocol);
}

fn main() {}
