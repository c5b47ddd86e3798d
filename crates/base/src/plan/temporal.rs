//! Operators whose results follow from time: joins that watermarks bound, and rows that came too late.

use super::{JoinKey, JoinKind, SortKey};
use crate::changelog::ChangelogMode;
use crate::expression::Expression;
use crate::lookup::LookupProvider;
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

/// The rows that the window below has dropped because they were late. Output: the columns of the input of that window.
///
/// It is the window that decides, so each late row that it counts is given, once and with the kind that it came with.
#[derive(Debug, Clone)]
pub struct LateRows {
    /// The kinds that the input of the window may have.
    pub changelog: ChangelogMode,
    /// The window, for people.
    pub window: String,
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
///
/// Without rowtimes it is the right row of now: left rows are given when they come, but not before the right input has caught
/// up with what its tables held when the job started. Event time is that of the left input alone.
#[derive(Debug, Clone)]
pub struct TemporalJoin {
    /// LEFT JOIN: left rows without a version are given padded.
    pub is_outer: bool,
    /// What must be equal: the right side's primary key.
    pub keys: Vec<JoinKey>,
    /// What else must be true, over the columns of both inputs.
    pub condition: Option<Arc<dyn Expression>>,
    /// The rowtime columns of the inputs; `None`: the rows of now.
    pub rowtimes: Option<[usize; 2]>,
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

/// The best rows of every window. Output: the columns of the input, then the number if it is asked for.
///
/// Rows are given when the watermark reaches the end of the window, all of them inserts; then they are dropped. The input gives
/// inserts only.
#[derive(Debug, Clone)]
pub struct WindowRank {
    /// The column window_start.
    pub window_start: usize,
    /// The column window_end.
    pub window_end: usize,
    /// The zone in which the windows of a TIMESTAMP_LTZ are cut.
    pub time_zone: Option<chrono_tz::Tz>,
    /// The window, for people.
    pub window: String,
    /// What else rows are ranked by each on its own: PARTITION BY without the window.
    pub partition: Vec<usize>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// The first rank that is given, from 1.
    pub start: u64,
    /// The last rank that is given.
    pub end: u64,
    /// Of rows that are equal in the order the last one counts: the last row of a key by time. With one rank only.
    pub last_of_equals: bool,
    /// Rows that are equal in the order are told apart by their content, not by their arrival: results of windows, which come
    /// in no order that means anything.
    pub by_content: bool,
    /// Whether the number is given.
    pub with_rank: bool,
}

/// A join with the rows that a table has now. Output: the columns of the input, then those that were asked for.
///
/// Every row of the input is given with its kind, once per row that is found for it; nothing is kept but what the table's cache
/// options say.
#[derive(Debug, Clone)]
pub struct LookupJoin {
    /// Table name for people.
    pub table: String,
    /// The table.
    pub provider: Arc<dyn LookupProvider>,
    /// LEFT JOIN: rows for which nothing is found are given padded.
    pub is_outer: bool,
    /// The columns of the input whose values are asked for, in the order of the table's keys.
    pub keys: Vec<usize>,
    /// The names of the table's keys.
    pub key_names: Vec<String>,
    /// What else must be true, over the columns of the output.
    pub condition: Option<Arc<dyn Expression>>,
    /// How often keys without a row are asked for again, and how long after.
    pub retry: Option<LookupRetry>,
}

/// The LOOKUP hint's `'retry-predicate' = 'lookup_miss'`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupRetry {
    /// How often a key is asked for, the first time not counted.
    pub attempts: u32,
    /// How long after the last time.
    pub delay: Duration,
}
