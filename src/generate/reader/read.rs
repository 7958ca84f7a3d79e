//! The reader's one act.

use super::candidates::{Candidate, candidates};
use super::cue::kind;
use super::draw::Dice;
use super::score::{Page, Terms};
use super::text::tokens;
use crate::model::{Digest, Evidence, Question, UNKNOWN};
use crate::spec::ReaderSpec;

/// The score of saying that one does not know: what a page that lacks the rarest word of the question scores about.
const DOUBT: f64 = 3.5;

/// The embedded reader.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    temperature: f64,
    key: Digest,
}

/// Which draw it is.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// The digest of the evidence that is read.
    pub evidence: Digest,
    /// The number of the repeat.
    pub repeat: u32,
    /// The place of the snapshot within the audit: a stream of its own, so that repeats of two snapshots are
    /// independent even where their evidence is the same.
    pub snapshot: u64,
}

impl Reader {
    /// The reader of this spec; `seed` is the protocol's.
    #[must_use]
    pub fn new(spec: &ReaderSpec, seed: &[u8; 32]) -> Self {
        let key = Digest::of_parts([seed.as_slice(), spec.seed.to_le_bytes().as_slice()]);
        Self { temperature: f64::from(spec.temperature_milli) / 1000.0, key }
    }

    /// One answer. The same question, evidence and draw always give the same one.
    #[must_use]
    pub fn answer(&self, question: &Question, evidence: &Evidence, draw: Draw) -> String {
        self.draw(question, &read(question, evidence), draw)
    }

    /// One answer out of the candidates of this question.
    pub(super) fn draw(&self, question: &Question, candidates: &[Candidate], draw: Draw) -> String {
        let mut dice = self.dice(question, draw);
        let scores: Vec<f64> = [DOUBT].into_iter().chain(candidates.iter().map(|candidate| candidate.score)).collect();
        let drawn = dice.choose(&scores, self.temperature).and_then(|index| candidates.get(index.checked_sub(1)?));
        let Some(candidate) = drawn else { return UNKNOWN.to_owned() };
        let costs: Vec<f64> = candidate.forms.iter().map(|form| -form.cost).collect();
        let form = dice.choose(&costs, self.temperature).and_then(|index| candidate.forms.get(index));
        form.map_or_else(|| UNKNOWN.to_owned(), |form| form.text.clone())
    }

    fn dice(&self, question: &Question, draw: Draw) -> Dice {
        let repeat = draw.repeat.to_le_bytes();
        let parts = [self.key.as_bytes().as_slice(), question.id.0.as_bytes(), draw.evidence.as_bytes(), &repeat];
        Dice::new(*Digest::of_parts(parts).as_bytes(), draw.snapshot)
    }
}

/// What could be answered.
pub(super) fn read(question: &Question, evidence: &Evidence) -> Vec<Candidate> {
    let asked = tokens(&question.text);
    let pages: Vec<_> = evidence.documents.iter().map(|document| Page::read(&document.text)).collect();
    candidates(kind(&asked), &Terms::of(&asked), &pages)
}
