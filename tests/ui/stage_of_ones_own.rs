// refused: E0277
use churngate::ledger::{Stage, stage::Protocol};

enum Shortcut {}

impl Stage for Shortcut {
    const NAME: &'static str = "judgments";
    const FILE: &'static str = "judgments.jsonl";
    type Before = Protocol;
    type Record = churngate::model::Cell;
}

fn main() {}
