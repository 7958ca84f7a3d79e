//! One call to every server of a model that the spec names, before anything is spent on an audit.

use super::Prepared;
use crate::http::Context;
use crate::http::chat::Probed;
use crate::model::{Failure, FailureClass};
use crate::{generate, judge};

/// Asks the generator and the judge once each, where they are servers. A failure of one does not keep the other from
/// being asked.
///
/// # Errors
/// A key is not set.
pub async fn probe(prepared: &Prepared, context: &Context) -> Result<Vec<Probed>, Failure> {
    let generator = generate::probe(&prepared.protocol, context).await?;
    let judge = judge::probe(&prepared.protocol, context).await?;
    let mut probed: Vec<Probed> = generator.into_iter().chain(judge).collect();
    for one in &mut probed {
        // Nothing is begun that could be completed later: what is refused is the spec's fault.
        let refused = one.facts.status.is_some_and(|status| (400..500).contains(&status) && status != 429);
        if let Some(failure) = one.failure.as_mut().filter(|_| refused) {
            failure.class = FailureClass::Usage;
        }
    }
    Ok(probed)
}
