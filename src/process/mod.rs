//! Runs an external program for a room: an argv, JSON on standard input, a limited answer on standard output, a time
//! limit, a scrubbed environment. Never through a shell.
