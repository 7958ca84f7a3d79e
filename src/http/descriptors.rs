//! How many calls may be in flight by the system's limit of open files. A call without a descriptor fails, and so does the
//! ledger that should keep what the others were paid for.

use std::sync::OnceLock;

/// Descriptors that everything but calls has: ledgers, blobs, a corpus, the runtime.
const OTHERS: u64 = 32;
/// Descriptors of one call at most: a program has three pipes and a handle; a connection of an earlier stage may still be open
/// beside the one of this stage.
const OF_ONE: u64 = 4;

/// The files that this process may have open; `None` where the system does not tell, or sets no limit.
#[must_use]
pub fn limit() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    *LIMIT.get_or_init(|| of(&std::fs::read_to_string("/proc/self/limits").ok()?))
}

/// How many calls may be in flight where so many files may be open.
#[must_use]
pub fn calls(limit: u64) -> u32 {
    u32::try_from(limit.saturating_sub(OTHERS) / OF_ONE).unwrap_or(u32::MAX).max(1)
}

/// The soft limit in what Linux says of a process's limits.
fn of(limits: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix("Max open files"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_of_open_files_is_read() {
        let limits = |soft: &str| {
            format!(
                "Limit      Soft Limit  Hard Limit  Units\nMax processes  7  8  processes\nMax open files  {soft}  4096  files\n"
            )
        };
        assert_eq!(of(&limits("1024")), Some(1024));
        assert_eq!(of(&limits("unlimited")), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn some_descriptors_are_left_to_everything_else() {
        for (limit, most) in [(0, 1), (36, 1), (64, 8), (1_024, 248), (u64::MAX, u32::MAX)] {
            assert_eq!(calls(limit), most, "{limit}");
        }
    }
}
