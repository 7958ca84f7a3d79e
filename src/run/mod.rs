//! The stages in order. Short, because each stage is a call.
pub mod outside;
