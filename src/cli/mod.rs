//! Arguments, one file a command, terminal output, exit codes. Alone prints, alone reads the environment.
