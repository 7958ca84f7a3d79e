// builds
use churngate::ledger::{self, LedgerError, Opened, RunFolder, stage::{Answers, Evidence, Judgments}};

async fn whole(folder: &RunFolder) -> Result<(), LedgerError> {
    let protocol = folder.freeze(b"{}")?;
    let Opened::Open(writer) = ledger::open::<Evidence>(folder, &protocol)? else { return Ok(()) };
    let evidence = writer.seal().await?;
    let Opened::Open(writer) = ledger::open::<Answers>(folder, &evidence)? else { return Ok(()) };
    let answers = writer.seal().await?;
    let Opened::Sealed(_judgments) = ledger::open::<Judgments>(folder, &answers)? else { return Ok(()) };
    Ok(())
}

fn main() {}
