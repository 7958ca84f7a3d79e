// builds
use churngate::freeze::{Protocol, gold};
use churngate::ledger::{JudgmentsLock, SideLocks};

fn read(judgments: &JudgmentsLock, side: &SideLocks, protocol: &Protocol) {
    let _ = gold::open(judgments, side, protocol);
}

fn main() {}
