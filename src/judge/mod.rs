//! Answers -> judgments: packets, blinding, language-model judge, embedded judge, command.
