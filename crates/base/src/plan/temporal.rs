//! Operators whose results follow from time: joins that watermarks bound.

use super::{JoinKey, JoinKind};
use crate::expression::Expression;
use std::sync::Arc;
use std::time::Duration;

/// When a window gives its result besides at its end. By default it does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowEmit {
    /// Before its end: this long after a row came, at once if zero.
    pub early: Option<Duration>,
    /// After its end: this long after a late row came, at once if zero. `None` is at once as well, where rows may be late.
    pub late: Option<Duration>,
    /// How long after its end a window takes late rows.
    pub lateness: Duration,
}

impl WindowEmit {
    /// Whether a window can give more than one result.
    pub fn makes_updates(&self) -> bool {
        self.early.is_some() || self.late.is_some() || !self.lateness.is_zero()
    }
}

/// A join of rows whose times are near each other. Output: the columns of the left input, then those of the right one.
///
/// A pair is joined if `lower_ms <= left time - right time <= upper_ms`. Both inputs give inserts only, and are spread by the
/// hash of their key columns; without keys everything goes to one instance. The output's watermark is held back by as much as
/// rows can wait for a partner.
#[derive(Debug, Clone)]
pub struct IntervalJoin {
    /// Inner, left, right or full.
    pub kind: JoinKind,
    /// What must be equal.
    pub keys: Vec<JoinKey>,
    /// What else must be true, over the columns of both inputs.
    pub condition: Option<Arc<dyn Expression>>,
    /// The rowtime columns of the inputs; `None`: the processing time at which rows arrive.
    pub rowtimes: Option<[usize; 2]>,
    /// The smallest difference of the times.
    pub lower_ms: i64,
    /// The largest difference of the times.
    pub upper_ms: i64,
}

/// A join of rows with the versions of a table: `FOR SYSTEM_TIME AS OF`. Output: the columns of both inputs.
///
/// A left row is given when the watermark reaches its time, with the kind that it came with, together with the right row that
/// was valid then: the last one of its key with a time that is not later. The right input's `-U` rows are not needed; a `-D`
/// ends the version before it at its own time.
#[derive(Debug, Clone)]
pub struct TemporalJoin {
    /// LEFT JOIN: left rows without a version are given padded.
    pub is_outer: bool,
    /// What must be equal: the right side's primary key.
    pub keys: Vec<JoinKey>,
    /// What else must be true, over the columns of both inputs.
    pub condition: Option<Arc<dyn Expression>>,
    /// The rowtime columns of the inputs.
    pub rowtimes: [usize; 2],
    /// Keys not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// A join of the rows of equal windows. Output: the columns of both inputs; only the left ones of a semi or anti join.
///
/// Results are given when the watermark reaches the end of the window, all of them inserts; then its rows are dropped. Both
/// inputs give inserts only.
#[derive(Debug, Clone)]
pub struct WindowJoin {
    /// Which rows it gives.
    pub kind: JoinKind,
    /// What must be equal besides the window.
    pub keys: Vec<JoinKey>,
    /// What else must be true, over the columns of both inputs.
    pub condition: Option<Arc<dyn Expression>>,
    /// The columns window_start of both inputs.
    pub starts: [usize; 2],
    /// The columns window_end of both inputs.
    pub ends: [usize; 2],
    /// The zone in which the windows of a TIMESTAMP_LTZ are cut.
    pub time_zone: Option<chrono_tz::Tz>,
    /// The windows of both sides, for people.
    pub windows: [String; 2],
}
