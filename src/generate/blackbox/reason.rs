//! What a reply of a deployed system counts as. `docs/outcomes.md` shows the same table.

use crate::generate::asked::Fault;
use crate::http::Wish;
use crate::http::chat::{CountsAs, Reason as Common};
use crate::model::{Failure, FailureClass};

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What the table of language models has as well.
    Common(Common),
    /// A part of a reply.
    PartialReply,
    /// A stream of events without the one that ends it.
    StreamCut,
    /// A success that says that it failed.
    NotOk,
    /// An answer that says that it is cut off.
    CutOff,
    /// No text where the answer should be.
    NoAnswer,
    /// Nothing at this address.
    SystemUnknown,
    /// The request is refused for another cause.
    RequestRefused,
}

impl Reason {
    /// Every one that language models do not have, in the table's order.
    #[cfg(test)]
    pub const OWN: [Self; 7] = [
        Self::PartialReply,
        Self::StreamCut,
        Self::NotOk,
        Self::CutOff,
        Self::NoAnswer,
        Self::SystemUnknown,
        Self::RequestRefused,
    ];

    /// The short code, what it counts as, and when it arises.
    #[must_use]
    pub const fn row(self) -> (&'static str, CountsAs, &'static str) {
        use CountsAs::{Fatal, Invalid};
        match self {
            Self::Common(common) => common.row(),
            Self::PartialReply => ("partial-reply", Invalid, "206, a part of a reply"),
            Self::StreamCut => {
                ("stream-cut", Invalid, "2xx with a stream of events without the one that ends its answer")
            }
            Self::NotOk => ("not-ok", Invalid, "2xx that lacks a value of `ok` or has what must be `absent`"),
            Self::CutOff => ("cut-by-length", Invalid, "2xx that says by `cut` that its answer is cut off"),
            Self::NoAnswer => (
                "no-answer",
                Invalid,
                "2xx without a text where `answer` points, or with something else where a piece of a stream should be",
            ),
            Self::SystemUnknown => ("system-unknown", Fatal, "404 or 410"),
            Self::RequestRefused => {
                ("request-refused", Fatal, "400 and every other 4xx, unless `retry` says that it may pass")
            }
        }
    }

    /// What a status alone says; nothing for a success.
    #[must_use]
    pub const fn of_status(status: u16) -> Option<Self> {
        Some(match status {
            206 => Self::PartialReply,
            200..=299 => return None,
            401 => Self::Common(Common::KeyRefused),
            402 => Self::Common(Common::QuotaUsedUp),
            403 => Self::Common(Common::Forbidden),
            404 | 410 => Self::SystemUnknown,
            408 => Self::Common(Common::ServerTimeout),
            409 | 425 => Self::Common(Common::Conflict),
            429 => Self::Common(Common::RateLimited),
            400..=499 => Self::RequestRefused,
            500..=599 => Self::Common(Common::ServerError),
            _ => Self::Common(Common::UnexpectedStatus),
        })
    }

    /// The fault of an attempt; `said` is what the system says of its error, as one plain line.
    #[must_use]
    pub fn fault(self, wish: Wish, said: Option<&str>) -> Fault {
        let (reason, counts_as, when) = self.row();
        if counts_as != CountsAs::Fatal {
            return Fault::Invalid { reason, wish };
        }
        let said = said.map_or_else(String::new, |said| format!(" and says `{said}`"));
        let message = format!("the audited system gave `{reason}` ({when}){said}");
        let failure = Failure::new(FailureClass::Incomplete, message);
        Fault::Fatal { reason, failure: self.remedy().into_iter().fold(failure, Failure::with_hint) }
    }

    const fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::Common(Common::EventStream) => {
                "ask for one reply: `stream: false` or the like in the body; or say how its events are read (`stream`)"
            }
            Self::Common(common) => return common.remedy(),
            Self::SystemUnknown => "check the URL and the snapshot's variables",
            Self::RequestRefused => "check the request against the system's own description of its requests",
            Self::PartialReply | Self::StreamCut | Self::NotOk | Self::CutOff | Self::NoAnswer => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_table_is_this_table() {
        let page = include_str!("../../../docs/outcomes.md");
        let row = |reason: Reason| {
            let (code, counts_as, when) = reason.row();
            let counts_as = if counts_as == CountsAs::Fatal { "fatal" } else { "invalid" };
            format!("| {when} | {counts_as} | `{code}` |\n")
        };
        let table: String = Reason::OWN.into_iter().map(row).collect();
        assert!(page.contains(&table), "docs/outcomes.md must hold these rows:\n{table}");
    }

    #[test]
    fn every_fatal_reason_has_a_remedy() {
        for reason in Reason::OWN {
            assert_eq!(reason.remedy().is_some(), reason.row().1 == CountsAs::Fatal, "{reason:?}");
        }
    }
}
