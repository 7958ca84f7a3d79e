//! Files and trees at a commit, and the merge base, through git's own command.
