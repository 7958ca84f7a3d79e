// refused: E0382
use churngate::ledger::{Writer, record::AnswersRecord, stage::Answers};

async fn one_more(writer: Writer<Answers>, record: AnswersRecord) {
    let _ = writer.seal().await;
    let _ = writer.append(&record).await;
}

fn main() {}
