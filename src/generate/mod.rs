//! Evidence -> answer: embedded reader, OpenAI-compatible server, command. One file a backend.
