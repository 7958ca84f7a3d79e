// refused: E0277
use churngate::ledger::{self, ProtocolLock, RunFolder, stage::Protocol};

fn append_to_the_protocol(folder: &RunFolder, protocol: &ProtocolLock) {
    let _ = ledger::open::<Protocol>(folder, protocol);
}

fn main() {}
