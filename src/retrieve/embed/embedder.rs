//! One embedder, whatever it is: texts in, vectors of one length out. Each call is recorded before it is made, and what came
//! of it after.

use super::line::Line;
use super::{program, server};
use crate::http::chat::Facts;
use crate::http::{Attempted, Call, Context, Pace, RetryPolicy, Wish, remedy, until_accepted};
use crate::ledger::record::{
    AcceptedVectors, Attempt, EmbedKey, Outcome, Record, Texts, Usage, VectorRecord, VectorsRecord, Verdict,
};
use crate::ledger::{Writer, stage};
use crate::model::{Digest, Failure, FailureClass, QuestionId, StageName};
use crate::retrieve::limits::MAX_ATTEMPTS;
use crate::retrieve::records::now_ms;
use crate::spec::{CommandSpec, EmbedBackend, EmbedServer, EmbedSpec};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An embedder and the ledger of its calls.
pub(in crate::retrieve) struct Embedder<'a> {
    /// As the spec describes it.
    pub spec: &'a EmbedSpec,
    /// The ledger.
    pub writer: &'a Writer<stage::Vectors>,
    /// The outside world.
    pub context: &'a Context,
    /// How often it is called: one call at a time.
    pub pace: Pace,
    /// The number of the next unit of work.
    pub units: AtomicU64,
}

/// Texts that go into one call.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    /// What they are.
    pub kind: Texts,
    /// The texts.
    pub texts: Vec<String>,
    /// The questions, in their order; nothing where the texts are none.
    pub questions: Vec<QuestionId>,
    /// The reference text's line, once there is one.
    pub reference: Option<&'a Line>,
}

/// What came of one call.
pub(super) struct Came {
    /// What the server says of it.
    pub facts: Facts,
    /// What came back.
    pub body: Option<Vec<u8>>,
    /// From the call's start to its end.
    pub latency: Duration,
    /// One vector a text, all of one length.
    pub vectors: Result<Vec<Vec<f64>>, Fault>,
}

/// Why a call gave no vectors.
pub(super) enum Fault {
    /// It may be made again.
    Invalid { reason: &'static str, wish: Wish },
    /// The audit cannot go on.
    Fatal { reason: &'static str, failure: Failure },
}

impl Fault {
    /// What the server says of the next call.
    const fn wish(&self) -> Wish {
        match self {
            Self::Invalid { wish, .. } => *wish,
            Self::Fatal { .. } => Wish::NONE,
        }
    }

    /// Its code.
    const fn code(&self) -> &'static str {
        match self {
            Self::Invalid { reason, .. } | Self::Fatal { reason, .. } => reason,
        }
    }
}

/// A call that is ready to be made.
enum Prepared<'a> {
    Call(&'a EmbedServer, Call),
    Input(&'a CommandSpec, Vec<u8>),
}

impl Embedder<'_> {
    /// Embeds these texts: a line each, in their order.
    ///
    /// # Errors
    /// The embedder refuses or gives no valid vectors, or is another one than before; the audit is cancelled, out of time or
    /// out of budget.
    pub(super) async fn embed(&self, batch: &Batch<'_>) -> Result<Vec<Line>, Failure> {
        let of = EmbedKey { texts: batch.kind, number: self.units.fetch_add(1, Ordering::Relaxed) };
        let attempt = async |_| self.attempt(of, batch).await.unwrap_or_else(Attempted::Fatal);
        let policy = RetryPolicy::for_servers(MAX_ATTEMPTS);
        let accepted = until_accepted(policy, self.context, StageName::Retrieve, attempt).await?;
        accepted.map_err(|last| {
            let message = format!("the embedder gave no valid vectors in {MAX_ATTEMPTS} attempts ({last})");
            Failure::new(FailureClass::Incomplete, message).with_hint(remedy(last))
        })
    }

    /// One attempt: paid for out of the budget when its turn comes, recorded, made, and its outcome recorded. With one call at a
    /// time there is none that would wait for the disk.
    async fn attempt(&self, of: EmbedKey, batch: &Batch<'_>) -> Result<Attempted<Vec<Line>>, Failure> {
        let prepared = self.prepare(&batch.texts)?;
        let most = super::planned::most(self.spec, batch.texts.iter().map(|text| text.len() as u64));
        let in_line = self.pace.line_up(self.context).await?;
        let (in_flight, reserved) = in_line.go(self.context, StageName::Retrieve, most).await?;
        let attempt = Attempt { of, request: prepared.digest(), at_ms: now_ms() };
        let seq = self.writer.append(&Record::Attempt(attempt)).await?;
        let Came { facts, body, latency, vectors } = prepared.make(batch.texts.len(), self.context).await;
        self.pace.took(most, &facts);
        in_flight.came_to(vectors.as_ref().map(drop).map_err(Fault::wish));
        let lines = vectors.and_then(|vectors| batch.lines(vectors, facts.served_model.as_deref()));
        let (record, mut blobs) = outcome(seq, of, &facts, latency, &lines, body);
        if of.texts == Texts::Stored && lines.is_ok() {
            // No ledger has them otherwise, and without them nobody could render the request again.
            blobs.extend(batch.texts.iter().map(|text| text.clone().into_bytes()));
        }
        self.writer.append_with_blobs(&record, blobs).await?;
        self.context.settle(reserved, &facts);
        self.context.must_count(&facts, lines.as_ref().err().map(Fault::code), server::WHOSE)?;
        Ok(match lines {
            Ok(lines) => Attempted::Accepted(lines),
            Err(Fault::Invalid { reason, wish }) => Attempted::Invalid { reason, wish },
            Err(Fault::Fatal { failure, .. }) => Attempted::Fatal(failure),
        })
    }

    fn prepare(&self, texts: &[String]) -> Result<Prepared<'_>, Failure> {
        Ok(match &self.spec.backend {
            EmbedBackend::OpenAi(server) => Prepared::Call(server, server::call(server, texts, self.context)?),
            EmbedBackend::Command(command) => Prepared::Input(command, program::input(texts)),
        })
    }
}

/// The digest of what is sent for these texts, without keys.
pub(super) fn request(spec: &EmbedSpec, texts: &[String]) -> Digest {
    match &spec.backend {
        EmbedBackend::OpenAi(server) => server::bare(server, texts).digest(),
        EmbedBackend::Command(_) => Digest::of(&program::input(texts)),
    }
}

impl Prepared<'_> {
    /// The digest of what is sent, without keys.
    fn digest(&self) -> Digest {
        match self {
            Self::Call(_, call) => call.digest(),
            Self::Input(_, input) => Digest::of(input),
        }
    }

    async fn make(&self, wanted: usize, context: &Context) -> Came {
        match self {
            Self::Call(server, call) => server::make(server, call, wanted, context).await,
            Self::Input(command, input) => program::make(command, input.clone(), wanted, context).await,
        }
    }
}

impl Batch<'_> {
    /// The vectors as lines; fatal where they are of another embedder than before.
    fn lines(&self, vectors: Vec<Vec<f64>>, model: Option<&str>) -> Result<Vec<Line>, Fault> {
        let reference = self.reference.filter(|_| self.kind == Texts::Questions).map(Line::digest);
        let line = |(place, (text, vector)): (usize, (&String, Vec<f64>))| Line {
            question: self.questions.get(place).map(|question| question.0.clone()),
            text: Digest::of(text.as_bytes()),
            model: model.map(str::to_owned),
            reference,
            vector,
        };
        let lines: Vec<Line> = self.texts.iter().zip(vectors).enumerate().map(line).collect();
        match self.reference.and_then(|kept| lines.iter().find_map(|line| self.unlike(kept, line))) {
            Some(how) => Err(Fault::Fatal { reason: "embedder-changed", failure: changed(&how) }),
            None => Ok(lines),
        }
    }

    fn unlike(&self, kept: &Line, line: &Line) -> Option<String> {
        if self.kind == Texts::Reference { kept.unlike_of_one_text(line) } else { kept.unlike(line) }
    }
}

fn changed(how: &str) -> Failure {
    Failure::new(FailureClass::Incomplete, format!("the embedder changed during the run: {how}"))
        .with_hint("name a model that stays, remove the run folder, and run again")
}

/// The record that follows a call, and the blobs that it names. What came back is kept where no vectors were read from it.
fn outcome(
    attempt: u64,
    of: EmbedKey,
    facts: &Facts,
    latency: Duration,
    lines: &Result<Vec<Line>, Fault>,
    body: Option<Vec<u8>>,
) -> (VectorsRecord, Vec<Vec<u8>>) {
    let body = body.filter(|_| lines.is_err());
    let (verdict, mut blobs) = match lines {
        Ok(lines) => (Verdict::Accepted(accepted(of.texts, lines)), lines.iter().map(Line::bytes).collect()),
        Err(Fault::Invalid { reason, .. }) => (Verdict::Invalid((*reason).to_owned()), Vec::new()),
        Err(Fault::Fatal { reason, .. }) => (Verdict::Fatal((*reason).to_owned()), Vec::new()),
    };
    let usage = |tokens: crate::http::chat::Tokens| Usage {
        input: tokens.input,
        output: tokens.output,
        cached: tokens.cached,
        nano_usd: facts.nano_usd,
    };
    let outcome = Outcome {
        attempt,
        of,
        verdict,
        status: facts.status,
        served_model: facts.served_model.clone(),
        fingerprint: None,
        response_id: None,
        usage: facts.tokens.map(usage),
        latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
        body: body.as_deref().map(Digest::of),
    };
    blobs.extend(body);
    (Record::Outcome(outcome), blobs)
}

fn accepted(texts: Texts, lines: &[Line]) -> AcceptedVectors {
    let vector = |line: &Line| VectorRecord {
        question: line.question.clone().map(QuestionId),
        text: (texts == Texts::Stored).then_some(line.text),
        vector: line.digest(),
    };
    AcceptedVectors {
        dimensions: lines.first().map_or(0, |line| line.vector.len() as u64),
        vectors: lines.iter().map(vector).collect(),
    }
}

/// The vectors in these values, or a code for what is wrong with them.
pub(super) fn read(values: &[&Value], wanted: usize) -> Result<Vec<Vec<f64>>, &'static str> {
    if values.len() != wanted {
        return Err("vectors-missing");
    }
    let vector = |value: &&Value| value.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
    let vectors: Vec<Vec<f64>> = values.iter().map(vector).collect::<Option<_>>().ok_or("no-vector")?;
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return Err("vectors-of-several-lengths");
    }
    Ok(vectors)
}
