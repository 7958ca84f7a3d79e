//! Answers -> judgments: packets, blinding, language-model judge, embedded judge, command.

pub mod embedded;
pub mod packet;
pub mod parts;
