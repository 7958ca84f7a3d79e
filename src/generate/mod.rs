//! Evidence -> answer: embedded reader, OpenAI-compatible server, command. One file a backend.
//!
//! An attempt's record is durable before its call is made; an accepted cell is never asked again, whatever it says.
//! No backend is told which snapshot it answers for.

mod answer;
mod asked;
mod backend;
mod cells;
mod command;
mod embedded;
mod openai;
mod plan;
mod reader;
mod resume;
mod stage;
#[cfg(test)]
mod tests;
mod tolerance;

pub use stage::generate;
