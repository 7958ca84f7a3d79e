//! When what a part of an audit lacks is an outage, which is gone on with, and not a question that never gets a reply, which is
//! weighed with the whole.

/// Units without a reply from which on their server counts as out of order, whatever else it replied to.
const MANY: u64 = 10;

/// What a process asked of a part of an audit, in units: cells or packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartAsked {
    /// All that the part has, those included that have been filled before.
    pub all: u64,
    /// Those that this process asked for.
    pub now: u64,
    /// Those of them that an earlier process had given up.
    pub again: u64,
}

impl PartAsked {
    /// Whether so many of them having been given up for want of a reply keeps the part open: ten, or half of what was asked for.
    /// Where an earlier process had given up everything that was left, the units are what goes unanswered and not the time, and
    /// more than half of the whole part is needed: else a question that never gets a reply would keep a part open for good.
    #[must_use]
    pub fn is_outage(self, without_reply: u64) -> bool {
        let of_share = if self.again < self.now { self.now.div_ceil(2) } else { self.all / 2 + 1 };
        without_reply > 0 && without_reply >= of_share.min(MANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least number of units without a reply that is an outage.
    fn least(all: u64, now: u64, again: u64) -> Option<u64> {
        (0..=now).find(|count| PartAsked { all, now, again }.is_outage(*count))
    }

    #[test]
    fn half_of_what_was_asked_is_an_outage_and_so_are_ten() {
        for (now, at) in
            [(0, None), (1, Some(1)), (2, Some(1)), (3, Some(2)), (8, Some(4)), (19, Some(10)), (500, Some(10))]
        {
            assert_eq!(least(now, now, 0), at, "{now}");
            assert_eq!(least(now + 50, now, now.saturating_sub(1)), at, "{now} that were left");
        }
    }

    #[test]
    fn units_that_were_given_up_before_are_an_outage_where_they_are_most_of_the_part() {
        for (all, left, at) in
            [(8, 4, None), (24, 4, None), (8, 5, Some(5)), (8, 8, Some(5)), (1, 1, Some(1)), (2, 1, None)]
        {
            assert_eq!(least(all, left, left), at, "{left} of {all}");
        }
        assert_eq!(least(500, 12, 12), Some(10));
    }
}
