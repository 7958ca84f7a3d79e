//! What may be of the models that servers say they use.

/// What happens where a server says within one stage that it used another model than before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServedModels {
    /// The audit stops: part of the churn would be the model's.
    #[default]
    One,
    /// The audit goes on, and every report says so.
    Report,
}
