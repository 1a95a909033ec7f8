//! What a shim writes down, as the engine hears it.

use ostler_engine::input::{FoldedNews, News};
use ostler_shim::spool::{FoldedItems, Happening, StallReason, StopCause};

pub(super) fn news(what: Happening) -> News {
    match what {
        Happening::Started { pid, began, .. } => News::Started { pid, began },
        Happening::Heard { item } => News::Heard { item },
        Happening::Folded(FoldedItems { items, last, usage }) => {
            News::Folded(FoldedNews { items, last, usage })
        }
        Happening::Stopped { cause, processes, confirmed } => {
            let cause = match cause {
                StopCause::Signal => "signal",
                StopCause::Command => "command",
                StopCause::Stall => "stall",
            };
            News::Stopped { cause: cause.to_owned(), processes: processes as u64, confirmed }
        }
        Happening::WentOn => News::WentOn,
        Happening::Stalled { reason } => News::Stalled {
            reason: match reason {
                StallReason::LogFull => "its log is as large as it may be".to_owned(),
                StallReason::Disk { message } => message,
            },
        },
        Happening::NotStarted { message } => News::NotStarted { message },
        Happening::TookInput { key } => News::TookInput { key },
        Happening::Consumed { key } => News::Consumed { key },
        Happening::ClosedInput { .. } => News::ClosedInput,
        Happening::Ended { code, signal, clean, .. } => News::Ended { code, signal, clean },
        Happening::LimitLowered { what } => News::Unknown { what },
        Happening::Forged => News::Unknown {
            what: "an end that its shim did not write: another process wrote it into the spool".to_owned(),
        },
        Happening::Other => News::Unknown { what: "something that a later version knows".to_owned() },
    }
}
