//! The `churngate` program: a few lines around the library.

fn main() {}
