//! One call to every server of a model that the spec names, before anything is spent on an audit.

use super::Prepared;
use crate::http::Context;
use crate::http::chat::Probed;
use crate::ledger::stage::{Answers, Judgments, ReplicaAnswers, Second};
use crate::model::{Failure, FailureClass};
use crate::{generate, judge, retrieve};

/// Asks the embedder, the generators and the judges once each, where they are servers. A failure of one does not keep the other from
/// being asked.
///
/// # Errors
/// A key is not set.
pub async fn probe(prepared: &Prepared, context: &Context) -> Result<Vec<Probed>, Failure> {
    let embedder = retrieve::probe(&prepared.protocol, context).await?;
    let generator = generate::probe::<Answers>(&prepared.protocol, context).await?;
    let replica = match prepared.protocol.replica() {
        Some(replica) => generate::probe::<ReplicaAnswers>(&replica, context).await?,
        None => None,
    };
    let judge = judge::probe::<Judgments>(&prepared.protocol, context).await?;
    let second = match prepared.protocol.second() {
        Some(second) => judge::probe::<Second>(&second, context).await?,
        None => None,
    };
    let all = [embedder, generator, replica, judge, second];
    let mut probed: Vec<Probed> = all.into_iter().flatten().collect();
    for one in &mut probed {
        // Nothing is begun that could be completed later: what is refused is the spec's fault.
        let refused = one.facts.status.is_some_and(|status| (400..500).contains(&status) && status != 429);
        if let Some(failure) = one.failure.as_mut().filter(|_| refused) {
            failure.class = FailureClass::Usage;
        }
    }
    Ok(probed)
}
