//! Retrieval by calls that leave the process: each is recorded before it is made, and tried again where it came to
//! nothing.

use super::command::Program;
use super::embed::{self, Embedder, Opened, Vectors};
use super::engine::{Engine, Sample, sample};
use super::limits::{HOPELESS, MAX_ATTEMPTS};
use super::moved;
use super::progress::{PASSES, Progress, Unit};
use super::records::{Writer, accepted, now_ms, outcome};
use super::sql::{Database, Query};
use super::stage::out_of_time;
use crate::freeze::Protocol;
use crate::http::{Attempted, Call, Context, Pace, RetryPolicy, Wish, interrupted, remedy, tape, until_accepted};
use crate::ledger::record::{Attempt, EvidenceKey, Outcome, Record, Verdict};
use crate::model::{Digest, Event, Evidence, Failure, FailureClass, Question, RateLimit, SnapshotName, StageName};
use crate::spec::RetrieveBackend;
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;
use std::time::Duration;

/// What one call came to.
pub(super) struct Made {
    pub status: Option<u16>,
    pub body: Option<Vec<u8>>,
    pub latency: Duration,
    pub judged: Judged,
}

/// What a call counts as.
pub(super) enum Judged {
    Accepted(Evidence),
    Invalid { reason: &'static str, wish: Wish, said: Option<String> },
    Fatal { reason: &'static str, failure: Failure },
}

enum Backend<'a> {
    Engine(Engine<'a>),
    Database(Box<Database<'a>>),
    Program(Program<'a>),
}

/// A call that is ready to be made, by whom.
enum Prepared<'a> {
    Call(&'a Engine<'a>, Call),
    Query(&'a Database<'a>, Query),
    Input(&'a Program<'a>, Vec<u8>),
}

/// Everything that all units share.
struct Stage<'a> {
    protocol: &'a Protocol,
    backend: Backend<'a>,
    variables: Vec<BTreeMap<String, String>>,
    vectors: Option<Vectors>,
    writer: &'a Writer,
    pace: Pace,
    // Cancelled with the audit, and by the first failure of any unit.
    context: Context,
}

/// How a unit ended.
enum Ended {
    Done(Unit, Digest),
    GivenUp(&'static str, Option<String>),
    NotStarted,
}

/// Both passes. Within a pass the snapshots are asked in turn, question by question, so that whatever drifts with time
/// drifts for all of them. What the snapshots are is asked before and after, and must be what was frozen. Returns the
/// questions' vectors, where they were embedded.
pub(super) async fn passes(
    protocol: &Protocol,
    progress: &mut Progress,
    writer: &Writer,
    embeds: Option<&Opened>,
    context: &Context,
) -> Result<Option<Vectors>, Failure> {
    let Some(backend) = backend(protocol, context)? else { return Ok(None) };
    let found = moved::expect(protocol, context).await?;
    let own = Context { cancel: context.cancel.child_token(), ..context.clone() };
    let pace = Pace::new(own.at_once(protocol.spec.retrieve.concurrency), RateLimit::default());
    let mut stage = Stage { protocol, backend, variables: found, vectors: None, writer, pace, context: own };
    let embedder = embeds.zip(protocol.spec.retrieve.embed.as_ref());
    let embedder = embedder.and_then(|(opened, spec)| opened.embedder(spec, context));
    // Where nothing is left to ask either: a run that stopped at its last check is checked when it goes on.
    stage.embed(embeds, embedder.as_ref()).await?;
    for pass in 0..PASSES {
        stage.pass(pass, progress).await?;
        if context.cancel.is_cancelled() {
            return Err(interrupted());
        }
    }
    if let (Some(embedder), Some(vectors)) = (&embedder, &stage.vectors) {
        embed::still_the_same(embedder, vectors).await?;
    }
    moved::expect(protocol, context).await?;
    Ok(stage.vectors)
}

fn backend<'a>(protocol: &'a Protocol, context: &Context) -> Result<Option<Backend<'a>>, Failure> {
    let (top_k, max_chars) = (protocol.spec.retrieve.top_k, protocol.spec.retrieve.max_chars);
    Ok(match &protocol.spec.retrieve.backend {
        RetrieveBackend::Sql(spec) => {
            let database = Database::new(spec, (top_k, max_chars), &protocol.base, context)?;
            Some(Backend::Database(Box::new(database)))
        }
        RetrieveBackend::Http(spec) => Some(Backend::Engine(Engine { spec, top_k, max_chars })),
        RetrieveBackend::Command(spec) => Some(Backend::Program(Program { spec, top_k, max_chars })),
        RetrieveBackend::Bm25(_) | RetrieveBackend::File | RetrieveBackend::Within => None,
    })
}

impl Stage<'_> {
    /// Makes the vectors of all questions, where the engine takes them, and holds them against the snapshots' own.
    async fn embed(&mut self, opened: Option<&Opened>, embedder: Option<&Embedder<'_>>) -> Result<(), Failure> {
        let Some(opened) = opened else { return Ok(()) };
        let vectors = embed::vectors(embedder, &self.protocol.questions, opened).await?;
        if let Some(embedder) = embedder.filter(|embedder| embedder.spec.check)
            && !opened.is_checked(self.protocol)?
        {
            embed::check(embedder, &self.samples().await?, &vectors).await?;
        }
        self.vectors = Some(vectors);
        Ok(())
    }

    /// A few stored vectors of each snapshot; nothing where nobody says how to ask for them.
    async fn samples(&self) -> Result<Vec<(SnapshotName, Vec<Sample>)>, Failure> {
        let mut samples = Vec::new();
        for (snapshot, variables) in self.protocol.spec.snapshots.iter().zip(&self.variables) {
            let stored = match &self.backend {
                Backend::Engine(engine) => sample(*engine, variables, &self.context).await?,
                Backend::Database(database) => database.sample(variables).await?,
                Backend::Program(_) => None,
            };
            samples.extend(stored.map(|stored| (snapshot.name.clone(), stored)));
        }
        Ok(samples)
    }

    async fn pass(&self, pass: u32, progress: &mut Progress) -> Result<(), Failure> {
        let mut units: Vec<Unit> =
            (0..progress.retrieved()).flat_map(|snapshot| progress.open_units(snapshot, pass)).collect();
        units.sort_unstable();
        let keyed: Vec<_> = units.into_iter().map(|unit| (unit, progress.key(unit))).collect();
        let work = keyed.into_iter().map(|(unit, key)| self.unit(unit, key));
        let mut ended = stream::iter(work).buffer_unordered(self.pace.most());
        let mut tally = Tally::default();
        while let Some(outcome) = ended.next().await {
            if let Ok(Ended::Done(unit, evidence)) = &outcome {
                progress.done(*unit, *evidence);
                self.context.observer.observe(Event::Advanced(StageName::Retrieve));
            }
            tally.take(outcome);
            if tally.is_hopeless() {
                self.context.cancel.cancel();
            }
        }
        tally.finish()
    }

    /// One unit, until it is accepted or given up. After a failure of any unit no further one is started.
    async fn unit(&self, unit: Unit, key: EvidenceKey) -> Result<Ended, Failure> {
        if self.context.cancel.is_cancelled() {
            return Ok(Ended::NotStarted);
        }
        let outcome = self.accepted(unit, &key).await;
        if outcome.is_err() {
            self.context.cancel.cancel();
        }
        outcome
    }

    async fn accepted(&self, unit: Unit, key: &EvidenceKey) -> Result<Ended, Failure> {
        let prepared = self.prepare(unit)?;
        let mut last_said = None;
        let attempt = async |_| {
            let attempt = self.attempt(key, &prepared).await;
            let (attempted, said) = attempt.unwrap_or_else(|failure| (Attempted::Fatal(failure), None));
            last_said = said;
            attempted
        };
        let policy = RetryPolicy::for_servers(MAX_ATTEMPTS);
        let accepted = until_accepted(policy, &self.context, StageName::Retrieve, attempt).await?;
        Ok(match accepted {
            Ok(evidence) => Ended::Done(unit, evidence),
            Err(last) => Ended::GivenUp(last, last_said),
        })
    }

    fn prepare(&self, unit: Unit) -> Result<Prepared<'_>, Failure> {
        let question: &Question = &self.protocol.questions[unit.question];
        let variables = &self.variables[unit.snapshot];
        let vector = self.vectors.as_ref().map(|vectors| vectors.get(unit.question)).transpose()?.flatten();
        let vector = vector.as_deref();
        Ok(match &self.backend {
            Backend::Database(database) => Prepared::Query(database, database.query(question, vector, variables)?),
            Backend::Engine(engine) => {
                Prepared::Call(engine, engine.call(question, vector, variables, &self.context.secrets)?)
            }
            Backend::Program(program) => Prepared::Input(program, program.input(question, vector, variables)),
        })
    }

    /// One attempt: recorded, made, and its outcome recorded; and what an engine said of one that came to nothing.
    async fn attempt(
        &self,
        key: &EvidenceKey,
        prepared: &Prepared<'_>,
    ) -> Result<(Attempted<Digest>, Option<String>), Failure> {
        out_of_time(&self.context)?;
        let in_flight = self.pace.line_up(&self.context).await?.begin(&self.context, StageName::Retrieve).await?;
        let attempt = Attempt { of: key.clone(), request: prepared.digest(), at_ms: now_ms() };
        let number = self.writer.append(&Record::Attempt(attempt)).await?;
        let unit = tape::Unit::evidence(&key.question, &key.snapshot, key.pass);
        let made = prepared.make(&self.context.of(unit)).await;
        let (mut blobs, mut words) = (Vec::new(), None);
        let (verdict, attempted) = match made.judged {
            Judged::Accepted(evidence) => {
                let digest = evidence.digest();
                blobs.push(evidence.canonical());
                (Verdict::Accepted(accepted(&evidence, digest)), Attempted::Accepted(digest))
            }
            Judged::Invalid { reason, wish, said } => {
                words = said;
                (Verdict::Invalid(reason.to_owned()), Attempted::Invalid { reason, wish })
            }
            Judged::Fatal { reason, failure } => (Verdict::Fatal(reason.to_owned()), Attempted::Fatal(failure)),
        };
        in_flight.came_to(attempted.came());
        let body = made.body.as_deref().map(Digest::of);
        blobs.extend(made.body);
        let latency_ms = u64::try_from(made.latency.as_millis()).unwrap_or(u64::MAX);
        let outcome = Outcome { status: made.status, body, ..outcome(number, key.clone(), verdict, latency_ms) };
        self.writer.append_with_blobs(&Record::Outcome(outcome), blobs).await?;
        Ok((attempted, words))
    }
}

impl Prepared<'_> {
    /// The digest of what is sent, without keys.
    fn digest(&self) -> Digest {
        match self {
            Self::Input(_, input) => Digest::of(input),
            Self::Query(_, query) => query.digest(),
            Self::Call(_, call) => call.digest(),
        }
    }

    async fn make(&self, context: &Context) -> Made {
        match self {
            Self::Call(engine, call) => engine.make(call, context).await,
            Self::Query(database, query) => database.make(query).await,
            Self::Input(program, input) => program.make(input.clone(), context).await,
        }
    }
}

/// How the units of a pass ended.
#[derive(Default)]
struct Tally {
    done: u64,
    given_up: BTreeMap<&'static str, u64>,
    said: Option<String>,
    failure: Option<Failure>,
}

impl Tally {
    fn take(&mut self, outcome: Result<Ended, Failure>) {
        match outcome {
            Ok(Ended::Done(..)) => self.done += 1,
            Ok(Ended::GivenUp(reason, said)) => {
                *self.given_up.entry(reason).or_default() += 1;
                self.said = self.said.take().or(said);
            }
            Ok(Ended::NotStarted) => {}
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
    }

    fn is_hopeless(&self) -> bool {
        self.done == 0 && self.given_up.values().sum::<u64>() >= HOPELESS
    }

    /// The first failure stands for all that followed from it. A hopeless pass was stopped by us, so that what its other
    /// units say of it says nothing.
    fn finish(self) -> Result<(), Failure> {
        match self.failure {
            Some(failure) if !self.is_hopeless() => Err(failure),
            _ if self.given_up.is_empty() => Ok(()),
            _ => Err(incomplete(&self.given_up, self.said.as_deref())),
        }
    }
}

fn incomplete(given_up: &BTreeMap<&str, u64>, said: Option<&str>) -> Failure {
    let count: u64 = given_up.values().sum();
    let reasons: Vec<String> = given_up.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let said = said.map_or_else(String::new, |said| format!("; the engine says `{said}`"));
    let reasons = reasons.join(", ");
    let message = format!("{count} retrievals got no valid reply in {MAX_ATTEMPTS} attempts ({reasons}){said}");
    let most = given_up.iter().max_by_key(|(_, count)| **count);
    Failure::new(FailureClass::Incomplete, message).with_hint(remedy(most.map_or("", |(reason, _)| reason)))
}
