// refused: E0308
use churngate::ledger::{self, RunFolder, Writer, stage::{Answers, Judgments}};

fn go_on_without_a_seal(folder: &RunFolder, answers: &Writer<Answers>) {
    let _ = ledger::open::<Judgments>(folder, answers);
}

fn main() {}
