//! The stream plan: the one thing between planner and runtime.
//!
//! A plan is a list of nodes; inputs come before their readers. Plain structs and one exhaustive enum, so that an operator
//! without its other half does not compile. Nothing in it is serialised: after a restart the SQL is planned again and the
//! nodes are compared with the checkpoint by [`Node::operator_id`], [`Node::digest`] and the columns that operators keep.

mod pattern;
mod relational;
mod temporal;

pub use pattern::*;
pub use relational::*;
pub use temporal::*;

use crate::changelog::ChangelogMode;
use crate::config::JobConfig;
use crate::connector::{Guarantee, SinkProvider, SourceProvider};
use crate::expression::{Expression, HiddenColumn};
use crate::function::{AggregateFunction, AggregateOptions};
use crate::types::RowType;
use crate::watermark_options::Alignment;
use arrow::array::RecordBatch;
use std::sync::Arc;
use std::time::Duration;

/// The position of a node in [`StreamPlan::nodes`].
pub type NodeId = usize;

/// A job.
#[derive(Debug, Clone)]
pub struct StreamPlan {
    /// All nodes; the inputs of a node come before it.
    pub nodes: Vec<Node>,
    /// Configuration.
    pub config: JobConfig,
}

/// One operator of a job.
#[derive(Debug, Clone)]
pub struct Node {
    /// Made from what the operator means (kind, keys, the ids of its inputs, the sink's name), never from its position, so
    /// that state survives an unrelated edit.
    pub operator_id: String,
    /// Two nodes with equal digests do the same with the same rows: state is taken over only then. Which columns and calls
    /// they have is no part of it: rows of a state say that themselves ([`crate::types::COLUMN_ID_KEY`]).
    pub digest: String,
    /// What it does.
    pub kind: NodeKind,
    /// Where its rows come from.
    pub inputs: Vec<Edge>,
    /// What it gives.
    pub output: Output,
}

/// An input of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The node whose output is read.
    pub node: NodeId,
    /// How its rows are spread over the instances of the reader.
    pub distribution: Distribution,
}

/// How rows are spread over parallel instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// Instance `i` reads instance `i`: the operators can be chained.
    Forward,
    /// By the hash of these columns; with no column, everything goes to one instance.
    Hash(Vec<usize>),
    /// Everything to instance 0.
    Single,
}

/// What a node gives.
#[derive(Debug, Clone)]
pub struct Output {
    /// Columns.
    pub row: RowType,
    /// Row kinds that it may carry.
    pub changelog: ChangelogMode,
    /// Sets of columns whose values identify a row, smallest first.
    pub upsert_keys: Vec<Vec<usize>>,
}

/// What a node does.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Reads a table.
    Scan(Scan),
    /// Constant rows, then the end.
    Values(Values),
    /// Filter and projection.
    Calc(Calc),
    /// All rows of all inputs.
    Union,
    /// GROUP BY without a window.
    GroupAggregate(GroupAggregate),
    /// A window table function: appends window_start, window_end, window_time.
    WindowTable(WindowTable),
    /// GROUP BY a window.
    WindowAggregate(WindowAggregate),
    /// Makes a full changelog of keyed changes: repeats and deletes of unknown keys disappear, updates get their old content.
    ChangelogNormalize(ChangelogNormalize),
    /// Leaves out `-U` rows that nobody behind needs.
    DropUpdateBefore,
    /// A join of two changelogs.
    Join(Join),
    /// Top-N, ORDER BY .. LIMIT, LIMIT.
    Rank(Rank),
    /// The first or last row per key by time.
    Deduplicate(Deduplicate),
    /// ORDER BY a time attribute.
    TemporalSort(TemporalSort),
    /// OVER windows.
    OverAggregate(OverAggregate),
    /// Grouping sets.
    Expand(Expand),
    /// UNNEST.
    Unnest(Unnest),
    /// Rows as often as a column says.
    Replicate(Replicate),
    /// The last row per sink key.
    UpsertMaterialize(UpsertMaterialize),
    /// The first phase of GROUP BY.
    LocalAggregate(LocalAggregate),
    /// A join of rows whose times are near each other.
    IntervalJoin(IntervalJoin),
    /// A join with the versions of a table.
    TemporalJoin(TemporalJoin),
    /// A join of the rows of equal windows.
    WindowJoin(WindowJoin),
    /// Top-N of windows.
    WindowRank(WindowRank),
    /// A join with the rows that a table has now.
    LookupJoin(LookupJoin),
    /// MATCH_RECOGNIZE.
    MatchRecognize(MatchRecognize),
    /// What a window has dropped as too late.
    LateRows(LateRows),
    /// Writes a table.
    Sink(Sink),
}

impl NodeKind {
    /// Whether results wait for the watermark: a source that holds it back holds them back.
    pub fn waits_for_watermark(&self) -> bool {
        match self {
            NodeKind::WindowAggregate(aggregate) => !aggregate.window.is_processing_time,
            NodeKind::WindowTable(table) => {
                matches!(table.window.kind, WindowKind::Session { .. }) && !table.window.is_processing_time
            }
            NodeKind::WindowJoin(_) | NodeKind::WindowRank(_) => true,
            NodeKind::TemporalJoin(join) => join.rowtimes.is_some(),
            NodeKind::MatchRecognize(pattern) => pattern.rowtime.is_some(),
            NodeKind::IntervalJoin(join) => join.rowtimes.is_some() && join.kind != JoinKind::Inner,
            NodeKind::TemporalSort(sort) => sort.rowtime.is_some(),
            NodeKind::Deduplicate(deduplicate) => deduplicate.rowtime.is_some() && deduplicate.keep == Keep::First,
            NodeKind::OverAggregate(over) => matches!(over.time, OverTime::Rowtime(_)),
            _ => false,
        }
    }

    /// Whether it waits until its right input has given what its tables held when the job started.
    pub fn waits_for_snapshot(&self) -> bool {
        matches!(self, NodeKind::TemporalJoin(join) if join.rowtimes.is_none())
    }

    /// How counters and summaries call it.
    pub fn name(&self) -> &'static str {
        match self {
            NodeKind::Scan(_) => "source",
            NodeKind::Values(_) => "values",
            NodeKind::Calc(_) => "calc",
            NodeKind::Union => "union",
            NodeKind::GroupAggregate(_) => "group aggregate",
            NodeKind::WindowTable(_) => "window table function",
            NodeKind::WindowAggregate(_) => "window aggregate",
            NodeKind::ChangelogNormalize(_) => "changelog normalize",
            NodeKind::DropUpdateBefore => "drop update before",
            NodeKind::Join(_) => "join",
            NodeKind::Rank(_) => "rank",
            NodeKind::Deduplicate(_) => "deduplicate",
            NodeKind::TemporalSort(_) => "temporal sort",
            NodeKind::OverAggregate(_) => "over aggregate",
            NodeKind::Expand(_) => "expand",
            NodeKind::Unnest(_) => "unnest",
            NodeKind::Replicate(_) => "replicate",
            NodeKind::UpsertMaterialize(_) => "upsert materialize",
            NodeKind::LocalAggregate(_) => "local aggregate",
            NodeKind::IntervalJoin(_) => "interval join",
            NodeKind::TemporalJoin(_) => "temporal join",
            NodeKind::WindowJoin(_) => "window join",
            NodeKind::LookupJoin(_) => "lookup join",
            NodeKind::WindowRank(_) => "window rank",
            NodeKind::MatchRecognize(_) => "match",
            NodeKind::LateRows(_) => "late rows",
            NodeKind::Sink(_) => "sink",
        }
    }
}

/// Reads a table: decoded columns, then computed columns, then watermarks, all per split.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Table name for people.
    pub table: String,
    /// The source.
    pub provider: Arc<dyn SourceProvider>,
    /// The row type of the source's batches.
    pub read: RowType,
    /// Computed columns and casts of metadata: from [`Scan::read`] to the node's output; `None` if they are the same.
    pub projection: Option<Calc>,
    /// Watermark strategy over the node's output columns.
    pub watermark: Option<WatermarkStrategy>,
    /// Whether the source ends by itself.
    pub bounded: bool,
    /// Whether it can be read again from a remembered position.
    pub replayable: bool,
    /// The most parallel readers.
    pub parallelism_max: Option<usize>,
    /// How long a split may be silent before it holds no watermark back: stronger than the job's; zero is for ever.
    pub idle_timeout: Option<Duration>,
    /// The sources that this one waits for.
    pub alignment: Option<Alignment>,
}

/// How watermarks are made.
#[derive(Debug, Clone)]
pub struct WatermarkStrategy {
    /// The rowtime column.
    pub column: usize,
    /// The watermark for each row, a timestamp; NULL gives none. Rounded down to milliseconds.
    pub expression: Arc<dyn Expression>,
    /// Text of the rowtime column's name and of the expression, for people.
    pub sql: String,
}

/// Constant rows.
#[derive(Debug, Clone)]
pub struct Values {
    /// The rows, all inserts.
    pub rows: RecordBatch,
}

/// Filter, then projection.
#[derive(Debug, Clone)]
pub struct Calc {
    /// Rows that are not true are left out. Row kinds are not repaired (Flink does the same).
    pub condition: Option<Arc<dyn Expression>>,
    /// One expression per output column.
    pub projection: Vec<Arc<dyn Expression>>,
    /// Hidden columns that the expressions read, behind the input's columns in this order.
    pub hidden: Vec<HiddenColumn>,
}

/// One call of an aggregate function.
#[derive(Debug, Clone)]
pub struct AggregateCall {
    /// The function.
    pub function: Arc<dyn AggregateFunction>,
    /// Input columns.
    pub arguments: Vec<usize>,
    /// FILTER: a boolean input column.
    pub filter: Option<usize>,
    /// DISTINCT and retraction.
    pub options: AggregateOptions,
    /// The call as SQL.
    pub sql: String,
}

/// GROUP BY. Output: the keys, then one column per call.
///
/// A group appears with `+I`, changes with `-U`/`+U` (`-U` only if the node's changelog has it) and goes with `-D`. An
/// unchanged result emits nothing, unless state has a TTL.
#[derive(Debug, Clone)]
pub struct GroupAggregate {
    /// Key columns of the input; none for a global aggregate.
    pub keys: Vec<usize>,
    /// Aggregates.
    pub calls: Vec<AggregateCall>,
    /// The second phase: the input is what a [`LocalAggregate`] gives, whose input had these columns. They are what calls read.
    pub merges: Option<RowType>,
    /// Groups not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// How windows cut time. Sizes in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowKind {
    /// Windows of equal size, one after the other.
    Tumble {
        /// Size.
        size_ms: i64,
    },
    /// Windows of equal size that start every slide.
    Hop {
        /// Slide.
        slide_ms: i64,
        /// Size.
        size_ms: i64,
    },
    /// Windows that grow by a step up to a size.
    Cumulate {
        /// Step.
        step_ms: i64,
        /// Largest size.
        size_ms: i64,
    },
    /// Windows that end after a gap.
    Session {
        /// Gap.
        gap_ms: i64,
    },
}

/// A window over a time column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The cut.
    pub kind: WindowKind,
    /// Shift of window starts, may be negative.
    pub offset_ms: i64,
    /// The rowtime column of the input.
    pub time_column: usize,
    /// Windows over TIMESTAMP_LTZ are cut in this zone; `None` for TIMESTAMP.
    pub time_zone: Option<chrono_tz::Tz>,
    /// The time column is a PROCTIME(): rows belong to the windows of the moment at which they come, and windows fire by the clock.
    pub is_processing_time: bool,
}

/// A column made from the window of a row or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowProperty {
    /// window_start, TUMBLE_START: TIMESTAMP(3).
    Start,
    /// window_end, TUMBLE_END: TIMESTAMP(3).
    End,
    /// window_time, TUMBLE_ROWTIME: end - 1 ms, of the type of the time column with precision 3, a rowtime.
    Time,
}

/// A window table function. Output: the input's columns, then Start, End, Time.
///
/// A row in several windows (HOP, CUMULATE) is given once per window. Late rows pass: only an aggregate drops. With SESSION a
/// row is given when its session is over; then late rows are dropped here.
#[derive(Debug, Clone)]
pub struct WindowTable {
    /// The window.
    pub window: Window,
    /// PARTITION BY of SESSION: columns of the input.
    pub partition: Vec<usize>,
}

/// GROUP BY a window and keys. Output: the keys, one column per call, then the properties.
///
/// A window [s, e) fires when the watermark reaches e - 1 ms, with `+I` rows, and its state is dropped. Rows of fired windows
/// are late: dropped and counted. [`WindowAggregate::emit`] may let a window fire earlier and again: then it gives updates.
#[derive(Debug, Clone)]
pub struct WindowAggregate {
    /// The window. Its time column is a rowtime, or, if [`WindowAggregate::is_attached`], the ends of windows that rows come with.
    pub window: Window,
    /// Whether rows come with their windows: those of an operator below.
    pub is_attached: bool,
    /// Key columns of the input.
    pub keys: Vec<usize>,
    /// Aggregates.
    pub calls: Vec<AggregateCall>,
    /// Window columns.
    pub properties: Vec<WindowProperty>,
    /// When windows fire besides at their end.
    pub emit: WindowEmit,
}

/// Keyed changes to a full changelog.
#[derive(Debug, Clone)]
pub struct ChangelogNormalize {
    /// The primary key columns.
    pub keys: Vec<usize>,
    /// Whether it is there to leave out what the source repeats, and not only for readers that need old rows.
    pub drops_repeats: bool,
    /// A row that is not true here counts as deleted.
    pub condition: Option<Arc<dyn Expression>>,
    /// Rows not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// What happens to NULL in a NOT NULL column of a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotNullEnforcer {
    /// The job fails.
    Error,
    /// The row is left out and counted.
    Drop,
}

/// Writes a table.
#[derive(Debug, Clone)]
pub struct Sink {
    /// Table name for people; the state of the sink belongs to this name.
    pub table: String,
    /// The sink.
    pub provider: Arc<dyn SinkProvider>,
    /// The primary key, as columns of the input.
    pub primary_key: Vec<usize>,
    /// Columns that must not be NULL, and what happens if they are.
    pub not_null: Vec<usize>,
    /// The enforcer.
    pub enforcer: NotNullEnforcer,
    /// What the sink promises.
    pub guarantee: Guarantee,
    /// Why.
    pub guarantee_reason: &'static str,
    /// Whether a change that is written twice leaves the same content.
    pub idempotent: bool,
    /// The tables that its rows come from and that can be read again after a failure.
    pub replayable: Vec<String>,
    /// The tables that they come from and that cannot.
    pub unreplayable: Vec<String>,
    /// The most parallel writers.
    pub parallelism_max: Option<usize>,
}
