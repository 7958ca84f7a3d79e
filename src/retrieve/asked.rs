//! Whoever can be asked what a snapshot physically is.

use super::engine::{Engine, Identity, identify};
use super::sql::{self, Database};
use crate::http::Context;
use crate::model::{Failure, SnapshotName};
use crate::spec::{RetrieveBackend, RetrieveSpec};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;

/// An engine, a database, or nobody: then a snapshot is known by its name alone.
pub(super) enum Asked<'a> {
    Engine(Engine<'a>),
    Database(Box<Database<'a>>, Utf8PathBuf),
    Nobody,
}

impl<'a> Asked<'a> {
    /// # Errors
    /// The variable that holds a database's address is not set, or holds none.
    pub(super) fn new(spec: &'a RetrieveSpec, base: &Utf8Path, context: &Context) -> Result<Self, Failure> {
        let (top_k, max_chars) = (spec.top_k, spec.max_chars);
        Ok(match &spec.backend {
            RetrieveBackend::Http(spec) => Self::Engine(Engine { spec, top_k, max_chars }),
            RetrieveBackend::Sql(spec) => {
                let database = Database::new(spec, (top_k, max_chars), base, context)?;
                Self::Database(Box::new(database), base.to_owned())
            }
            RetrieveBackend::Bm25(_)
            | RetrieveBackend::Command(_)
            | RetrieveBackend::File
            | RetrieveBackend::Within => Self::Nobody,
        })
    }

    /// What a snapshot is.
    ///
    /// # Errors
    /// It is not ready, or whoever is asked refuses or does not answer.
    pub(super) async fn identify(
        &self,
        name: &SnapshotName,
        named: &BTreeMap<String, String>,
        context: &Context,
    ) -> Result<Identity, Failure> {
        match self {
            Self::Engine(engine) => identify(*engine, name, named, context).await,
            Self::Database(database, base) => sql::identify(database, base, name, named).await,
            Self::Nobody => Ok(Identity::of(named)),
        }
    }
}
