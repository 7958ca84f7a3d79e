//! Plain types that every room shares: ids, digests, percentage points, questions, answers.
//!
//! This module names nothing else of ours, does no I/O, reads no clock and draws no randomness.

pub mod amount;
pub mod answer;
pub mod digest;
pub mod evidence;
pub mod failure;
pub mod fisher;
pub mod fraction;
pub mod id;
pub mod json;
pub mod kernel;
pub mod normalise;
pub mod observation;
pub mod passed;
pub mod percent;
pub mod progress;
pub mod question;
pub mod served;
pub mod server;

pub use amount::Amount;
pub use answer::{Answer, AnswerError, UNKNOWN};
pub use digest::{Digest, DigestError, Hashing};
pub use evidence::{Document, Evidence};
pub use failure::{Failure, FailureClass};
pub use fraction::Fraction;
pub use id::{Cell, QuestionId, SnapshotName};
pub use json::{JsonError, Object};
pub use kernel::{Kernel, Label};
pub use normalise::Normalisation;
pub use observation::{EvidenceKeys, Observation, SnapshotAnswers};
pub use passed::PassedOver;
pub use percent::{Confidence, PercentagePoints};
pub use progress::{Event, Observer, Silent, StageName};
pub use question::Question;
pub use served::ServedModels;
pub use server::{KeyHeader, LimitName, ModelServer, OutputLimit, Price, RateLimit, Structured, Wire};
