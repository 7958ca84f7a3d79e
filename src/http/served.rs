//! What servers say of themselves beside their replies, and what may not be: a model that changes within one stage, and
//! a reply that is given twice. Both would be taken for churn, or for the want of it.

use super::chat::Facts;
use crate::model::{Digest, Failure, FailureClass, ServedModels, SnapshotName};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The shortest id that is believed to be unique. Hosted services and most local servers give random ids of 30
/// characters or so; shorter ones are counters, clock times, constants, or drawn from a thousand numbers, and come twice
/// without any cache.
const SHORTEST_ID: usize = 20;

/// The longest name of a model in a message, in characters.
const LONGEST_SHOWN: usize = 64;

/// What the accepted replies of one stage say, those of earlier processes included.
#[derive(Debug)]
pub struct Served {
    /// Whose server it is: `generator` or `judge`.
    whose: &'static str,
    remedy: Remedy,
    rule: ServedModels,
    said: Mutex<Said>,
}

/// What is to be done where replies cannot stand beside each other: their ledger is spoiled, and what was sealed before it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The ledger that holds the replies, by its file.
    pub spoiled: &'static str,
    /// Those that go with it, where they are there: they continue it, or hold earlier replies of the same server.
    pub with: Vec<&'static str>,
    /// Where they lie.
    pub place: Place,
}

/// Where the ledgers of spoiled replies lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the folder of the run, which is run again.
    Run,
    /// In the folders of shards.
    Shards,
    /// In the folder of an explanation, within that of a run.
    Explanation,
}

#[derive(Debug, Default)]
struct Said {
    /// By the system that serves them; there is one where it has no name. Of each model the snapshots that it answered.
    models: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    /// Digests of response ids.
    ids: HashSet<Digest>,
}

impl Served {
    /// Nothing was said yet. `whose` names the server in messages.
    #[must_use]
    pub fn by(whose: &'static str, remedy: Remedy, rule: ServedModels) -> Self {
        Self { whose, remedy, rule, said: Mutex::default() }
    }

    /// Takes what stands beside one more accepted reply.
    ///
    /// # Errors
    /// It is from another model than those before, where the spec wants one, or has the id of one of them: the audit cannot stand.
    pub fn accept(&self, facts: &Facts) -> Result<(), Failure> {
        self.take(facts.served_model.as_deref(), facts.response_id.as_deref())
    }

    /// The same for a reply on record.
    ///
    /// # Errors
    /// As above.
    pub fn take(&self, model: Option<&str>, id: Option<&str>) -> Result<(), Failure> {
        self.take_of("", model, id)
    }

    /// The same where there are several systems, each of which serves a model of its own throughout: `system` says which.
    ///
    /// # Errors
    /// As above.
    pub fn take_of(&self, system: &str, model: Option<&str>, id: Option<&str>) -> Result<(), Failure> {
        self.take_about(system, None, model, id)
    }

    /// The same of a reply for a snapshot.
    ///
    /// # Errors
    /// As above.
    pub fn take_about(
        &self,
        system: &str,
        snapshot: Option<&SnapshotName>,
        model: Option<&str>,
        id: Option<&str>,
    ) -> Result<(), Failure> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = model.filter(|_| self.rule == ServedModels::One) {
            said.note(system, model, snapshot);
        }
        if let Some(models) = said.models.values().find(|models| models.len() > 1) {
            return Err(self.mixed(models));
        }
        match id.and_then(Self::lasting).map(|id| said.ids.insert(id)) {
            Some(false) => Err(self.replayed()),
            Some(true) | None => Ok(()),
        }
    }

    /// What stands for a response's id, where it is one that comes once: no two replies have it.
    #[must_use]
    pub fn lasting(id: &str) -> Option<Digest> {
        (id.chars().count() >= SHORTEST_ID).then(|| Digest::of(id.as_bytes()))
    }

    /// What is said where an id came twice.
    #[must_use]
    pub fn replayed(&self) -> Failure {
        let whose = self.whose;
        let message =
            format!("the {whose}'s server gave one response twice, under the same id: a cache answered for it");
        Failure::new(FailureClass::Incomplete, message).with_hint(format!(
            "repeats out of a cache show no noise: turn off every cache of responses between the audit and the model, {}",
            self.remedy
        ))
    }

    /// Names every model that was served, and the snapshots that it answered.
    fn mixed(&self, models: &BTreeMap<String, BTreeSet<String>>) -> Failure {
        let named = |(model, snapshots): (&String, &BTreeSet<String>)| {
            let snapshots: Vec<String> = snapshots.iter().map(|name| format!("`{name}`")).collect();
            let of = if snapshots.is_empty() { String::new() } else { format!(" for {}", snapshots.join(" and ")) };
            format!("`{}`{of}", shown(model))
        };
        let (whose, models) = (self.whose, models.iter().map(named).collect::<Vec<_>>().join(", "));
        let message = format!("the {whose}'s server changed the model that it serves during the audit: {models}");
        Failure::new(FailureClass::Incomplete, message).with_hint(format!(
            "once the server serves one model, {}; a spec that names a model version that does not move, or says \
             `tolerance.served_models: report` to go on with a warning, begins another run",
            self.remedy
        ))
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |files: &[&str]| files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
        let Self { spoiled, with, place } = self;
        // What a shard says of itself names the heads of its ledgers: without them it is not gone on with.
        let (also, folder, command) = match place {
            Place::Run => ("", "the run folder", "run the same command again"),
            Place::Explanation => ("", "the explanation's folder", "run the same command again"),
            Place::Shards => {
                (" and `shard.json`", "the folder of each shard that it was so in", "run these shards again, and merge")
            }
        };
        write!(f, "remove `{spoiled}`{also} from {folder}")?;
        if !with.is_empty() {
            write!(f, " (and {}, where there)", quoted(with))?;
        }
        write!(f, ", and {command}: what was sealed before stays, and is not asked for again")
    }
}

impl Said {
    fn note(&mut self, system: &str, model: &str, snapshot: Option<&SnapshotName>) {
        let known = self.models.get(system).and_then(|models| models.get(model));
        let is_known = known.is_some_and(|snapshots| snapshot.is_none_or(|name| snapshots.contains(&name.0)));
        if is_known {
            return;
        }
        let snapshots = self.models.entry(system.to_owned()).or_default().entry(model.to_owned()).or_default();
        snapshots.extend(snapshot.map(|name| name.0.clone()));
    }
}

/// A name as people may see it, whatever a ledger has for one.
fn shown(model: &str) -> String {
    model.chars().filter(|c| !c.is_control() && *c != '`').take(LONGEST_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "chatcmpl-0123456789abcdef";

    fn remedy(with: &[&'static str]) -> Remedy {
        Remedy { spoiled: "a.jsonl", with: with.to_vec(), place: Place::Run }
    }

    fn served(whose: &'static str) -> Served {
        Served::by(whose, remedy(&[]), ServedModels::One)
    }

    #[test]
    fn a_second_model_goes_on_where_the_spec_lets_it_and_an_id_that_comes_twice_never_does() {
        let served = Served::by("judge", remedy(&[]), ServedModels::Report);
        served.take(Some("m-1"), Some(ID)).unwrap();
        served.take(Some("m-2"), None).unwrap();
        assert!(served.take(Some("m-2"), Some(ID)).is_err());
    }

    #[test]
    fn the_remedy_names_the_ledgers_and_nothing_that_was_sealed_before() {
        insta::assert_snapshot!(remedy(&[]), @"remove `a.jsonl` from the run folder, and run the same command again: what was sealed before stays, and is not asked for again");
        insta::assert_snapshot!(remedy(&["b.jsonl", "c.jsonl"]), @"remove `a.jsonl` from the run folder (and `b.jsonl`, `c.jsonl`, where there), and run the same command again: what was sealed before stays, and is not asked for again");
    }

    #[test]
    fn a_second_model_is_refused_whether_or_not_the_first_is_named_again() {
        let served = served("judge");
        for model in [None, Some("m-1"), None, Some("m-1")] {
            served.take(model, None).unwrap();
        }
        let failure = served.take(Some("m-2"), None).unwrap_err();
        assert_eq!(failure.class, FailureClass::Incomplete);
        let changed = "the judge's server changed the model that it serves during the audit: `m-1`, `m-2`";
        assert_eq!(failure.message, changed);
        assert!(served.take(Some("m-1"), None).is_err(), "what was mixed stays so");
    }

    #[test]
    fn a_change_names_the_models_and_the_snapshots_that_each_answered() {
        let served = served("generator");
        let (old, new) = (SnapshotName::old(), SnapshotName::new_snapshot());
        for snapshot in [&old, &new, &old] {
            served.take_about("", Some(snapshot), Some("m-1"), None).unwrap();
        }
        let long = format!("m-2\u{1b}[31m`{}", "x".repeat(100));
        let failure = served.take_about("", Some(&new), Some(&long), None).unwrap_err();
        let end = format!(": `m-1` for `new` and `old`, `m-2[31m{}` for `new`", "x".repeat(57));
        assert!(failure.message.ends_with(&end), "{failure}");
    }

    #[test]
    fn deployed_systems_may_each_serve_a_model_of_their_own_and_never_share_an_id() {
        let served = served("generator");
        served.take_of("old", Some("m-1"), Some(ID)).unwrap();
        served.take_of("new", Some("m-2"), None).unwrap();
        assert!(served.take_of("new", None, Some(ID)).unwrap_err().message.contains("a cache answered"));
        assert!(served.take_of("old", Some("m-2"), None).is_err());
    }

    #[test]
    fn an_id_that_comes_twice_is_a_replay() {
        let served = served("generator");
        served.accept(&Facts { response_id: Some(ID.to_owned()), ..Facts::default() }).unwrap();
        served.take(None, Some(&format!("{ID}0"))).unwrap();
        let failure = served.take(None, Some(ID)).unwrap_err();
        assert_eq!(failure.class, FailureClass::Incomplete);
        assert!(failure.message.contains("a cache answered"), "{failure}");
        assert!(failure.to_string().contains("turn off every cache"), "{failure}");
    }

    #[test]
    fn ids_that_are_absent_or_too_short_to_be_unique_say_nothing() {
        let served = served("generator");
        for id in [None, Some(""), Some("chatcmpl-817"), Some("cmpl-1")] {
            for _ in 0..2 {
                served.take(None, id).unwrap();
            }
        }
    }
}
