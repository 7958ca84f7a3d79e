//! Which servers a spec names, and which environment variables: for keys, and to be passed on to programs.

use super::black_box::BlackBoxBackend;
use super::types::{
    CommandSpec, EmbedBackend, EmbedSpec, GenerateBackend, JudgeBackend, RetrieveBackend, Spec, SqlEngine,
};
use crate::model::Price;
use std::collections::BTreeSet;

/// What messages call whatever embeds the questions.
pub(in crate::spec) const EMBEDDER: &str = "embedder";

/// The environment variables that something names, each once, in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    /// Those that hold keys of servers.
    pub keys: BTreeSet<&'a str>,
    /// Those that are passed on to programs. Their values may be keys, and are kept as such.
    pub passed: BTreeSet<&'a str>,
}

impl<'a> Named<'a> {
    fn pass_on(&mut self, program: &'a CommandSpec) {
        self.passed.extend(program.env.iter().map(String::as_str));
    }
}

impl Spec {
    /// The environment variables that the spec names.
    #[must_use]
    pub fn named(&self) -> Named<'_> {
        let mut named = self.named_in_retrieval();
        for (_, backend) in self.generators() {
            match backend {
                GenerateBackend::Model(server) => named.keys.extend(server.key_env.as_deref()),
                GenerateBackend::Command(program) => named.pass_on(program),
                GenerateBackend::BlackBox(system) => match &system.backend {
                    BlackBoxBackend::Http(http) => {
                        named.keys.extend(http.secret_headers.values().map(|header| header.env.as_str()));
                    }
                    BlackBoxBackend::Command(program) => named.pass_on(program),
                },
                GenerateBackend::Reader(_) => {}
            }
        }
        for (_, backend) in self.judges() {
            match backend {
                JudgeBackend::Model(server) => named.keys.extend(server.key_env.as_deref()),
                JudgeBackend::Command(program) => named.pass_on(program),
                JudgeBackend::Embedded => {}
            }
        }
        named
    }

    /// The environment variables that retrieval alone needs.
    #[must_use]
    pub fn named_in_retrieval(&self) -> Named<'_> {
        let mut named = Named::default();
        match &self.retrieve.backend {
            RetrieveBackend::Http(http) => {
                named.keys.extend(http.secret_headers.values().map(|header| header.env.as_str()));
            }
            RetrieveBackend::Sql(sql) => {
                if let SqlEngine::Postgres { url_env } = &sql.engine {
                    named.keys.insert(url_env);
                }
            }
            RetrieveBackend::Command(program) => named.pass_on(program),
            RetrieveBackend::Bm25(_) | RetrieveBackend::File | RetrieveBackend::Within => {}
        }
        match self.retrieve.embed.as_ref().map(|EmbedSpec { backend, .. }| backend) {
            Some(EmbedBackend::OpenAi(server)) => named.keys.extend(server.key_env.as_deref()),
            Some(EmbedBackend::Command(program)) => named.pass_on(program),
            None => {}
        }
        named
    }

    /// The generators, each with what messages call it.
    pub fn generators(&self) -> impl Iterator<Item = (&'static str, &GenerateBackend)> {
        let second = self.replicate.as_ref().map(|replica| ("second generator", &replica.backend));
        [("generator", &self.generate.backend)].into_iter().chain(second)
    }

    /// The judges, each with what messages call it.
    pub fn judges(&self) -> impl Iterator<Item = (&'static str, &JudgeBackend)> {
        let second = self.judge.second.as_ref().map(|second| ("second judge", &second.backend));
        [("judge", &self.judge.backend)].into_iter().chain(second)
    }

    /// The prices of everything that counts tokens, each with whose it is, as messages call it.
    #[must_use]
    pub fn prices(&self) -> Vec<(&'static str, Option<Price>)> {
        let mut prices = Vec::new();
        if let Some(EmbedBackend::OpenAi(server)) = self.retrieve.embed.as_ref().map(|embed| &embed.backend) {
            prices.push((EMBEDDER, server.price));
        }
        for (whose, backend) in self.generators() {
            match backend {
                GenerateBackend::Model(server) => prices.push((whose, server.price)),
                GenerateBackend::BlackBox(system) => prices.push(("audited system", system.price)),
                GenerateBackend::Reader(_) | GenerateBackend::Command(_) => {}
            }
        }
        for (whose, backend) in self.judges() {
            if let JudgeBackend::Model(server) = backend {
                prices.push((whose, server.price));
            }
        }
        prices
    }

    /// The environment variables that hold keys of servers, each once, in alphabetical order.
    #[must_use]
    pub fn secret_names(&self) -> Vec<&str> {
        self.named().keys.into_iter().collect()
    }

    /// The environment variables that are passed on to programs, each once, in alphabetical order.
    #[must_use]
    pub fn passed_names(&self) -> Vec<&str> {
        self.named().passed.into_iter().collect()
    }
}
