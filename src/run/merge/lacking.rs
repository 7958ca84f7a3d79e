//! Which shards lack most, where all of them together lack more than is tolerated.

use super::Locks;
use super::parts::Part;
use crate::freeze;
use crate::ledger::BlobReader;
use crate::model::{Failure, FailureClass};
use crate::run::collect::{self, Sources};
use crate::run::found::Texts;
use crate::run::join::Join;
use crate::run::tally::Tally;

/// The shards that are named, at most.
const NAMED: usize = 3;

/// What one shard cannot show.
struct Lacking<'a> {
    part: &'a Part,
    excluded: u64,
    questions: u64,
}

/// A failure of the whole with what can be done about it: a finished shard is sealed, so that no command asks again for what it
/// lacks. A failure that has its hint, or that no shard's answers and judgments explain, stays as it is.
pub(super) fn with_remedy(failure: Failure, parts: &[Part]) -> Failure {
    if failure.class != FailureClass::Incomplete || failure.hint.is_some() {
        return failure;
    }
    // The shards were read before. Whatever cannot be read again now explains nothing.
    let Ok(mut lacking) = parts.iter().map(of).collect::<Result<Vec<_>, Failure>>() else { return failure };
    lacking.retain(|lacking| lacking.excluded > 0);
    lacking.sort_by_key(|lacking| std::cmp::Reverse(lacking.excluded));
    let named: Vec<String> = lacking.iter().take(NAMED).map(Lacking::told).collect();
    if named.is_empty() {
        return failure;
    }
    failure.with_hint(format!(
        "most is missing in {}: a finished shard is not gone on with, so remove the folder, run the shard again, and merge",
        named.join(", then in ")
    ))
}

impl Lacking<'_> {
    fn told(&self) -> String {
        let Self { part, excluded, questions } = self;
        format!("shard {} (`{}`, {excluded} of {questions} questions)", part.shard, part.folder)
    }
}

fn of(part: &Part) -> Result<Lacking<'_>, Failure> {
    let locks = Locks::open(&part.folder)?;
    let folder = locks.evidence.folder();
    let (mut protocol, mut selection) = freeze::outline(folder)?;
    part.shard.narrow(&mut protocol, &mut selection)?;
    let mut tally = Tally::default();
    let mut join = Join::read(&protocol, folder, &mut tally)?;
    let texts = Texts::Whole(BlobReader::at(folder));
    let mut sources = Sources { selection: &mut selection, join: &mut join, gold: None, texts };
    let collected = collect::collect(&protocol, &mut sources, tally, |_, _, _| Ok(()))?;
    Ok(Lacking { part, excluded: collected.excluded, questions: collected.questions })
}
