//! Operators that keep rows: joins, Top-N, deduplication, OVER, and what set operations and grouping sets are made of.

use super::AggregateCall;
use crate::expression::Expression;
use std::sync::Arc;
use std::time::Duration;

/// Which rows a join gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and left rows without a partner.
    Left,
    /// Pairs, and right rows without a partner.
    Right,
    /// Pairs, and rows of both sides without a partner.
    Full,
    /// Left rows that have a partner. Output: the left columns.
    Semi,
    /// Left rows that have no partner. Output: the left columns.
    Anti,
}

/// Two columns that must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinKey {
    /// Column of the left input.
    pub left: usize,
    /// Column of the right input, of the same type.
    pub right: usize,
    /// `IS NOT DISTINCT FROM`: NULL equals NULL. Otherwise a row with NULL here has no partner.
    pub null_safe: bool,
}

/// What is known of the rows of one side that have the same join key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinRows {
    /// There is one at most: the join key holds a unique key.
    One,
    /// These columns tell them apart.
    ByKey(Vec<usize>),
    /// Rows may even be equal: copies are counted.
    Any,
}

/// One side of a join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinSide {
    /// How rows with the same join key are told apart.
    pub rows: JoinRows,
    /// Rows not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// A regular join: any two changelogs. Output: the columns of the left input, then those of the right one; only the left
/// ones for [`JoinKind::Semi`] and [`JoinKind::Anti`].
///
/// Both inputs are spread by the hash of their key columns; without keys everything goes to one instance.
#[derive(Debug, Clone)]
pub struct Join {
    /// Which rows it gives.
    pub kind: JoinKind,
    /// What must be equal.
    pub keys: Vec<JoinKey>,
    /// What else must be true, over the columns of the left input, then those of the right one.
    pub condition: Option<Arc<dyn Expression>>,
    /// Sides.
    pub left: JoinSide,
    /// Sides.
    pub right: JoinSide,
}

/// A column to order by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// Column of the input.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
    /// NULL before all values. Flink's default: NULL is the lowest value (first ascending, last descending).
    pub nulls_first: bool,
}

/// The last rank that a Top-N gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankEnd {
    /// A constant.
    Constant(u64),
    /// The value of this column, the same for all rows of a partition.
    Column(usize),
    /// All ranks: ORDER BY or OFFSET without LIMIT.
    All,
}

/// What a Top-N keeps, following from its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankStrategy {
    /// Rows are only added: the best ones are enough.
    Append,
    /// Rows are updated by this key (within the partition) and can only rise: the best ones are enough.
    Update(Vec<usize>),
    /// Any changelog: every row is kept.
    Retract,
}

/// Top-N: `ROW_NUMBER() OVER (PARTITION BY .. ORDER BY ..)` with a filter on its number, and ORDER BY .. LIMIT.
///
/// Output: the columns of the input, then the rank (BIGINT NOT NULL) if wanted. Equal rows keep the order of their arrival.
#[derive(Debug, Clone)]
pub struct Rank {
    /// Partition columns; none for one ranking of all rows.
    pub partition: Vec<usize>,
    /// The order; none for LIMIT alone.
    pub order: Vec<SortKey>,
    /// The first rank that is given, from 1.
    pub start: u64,
    /// The last rank that is given.
    pub end: RankEnd,
    /// Whether the rank is a column of the output.
    pub with_rank: bool,
    /// What is kept.
    pub strategy: RankStrategy,
    /// Partitions not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// Which row of a key a deduplication keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first.
    First,
    /// The last; of equal times the later arrival.
    Last,
}

/// One row per key: `ROW_NUMBER() OVER (PARTITION BY keys ORDER BY time) = 1` over a time attribute, input append-only.
/// Output: the columns of the input.
#[derive(Debug, Clone)]
pub struct Deduplicate {
    /// Key columns.
    pub keys: Vec<usize>,
    /// Which row.
    pub keep: Keep,
    /// The rowtime column that orders; `None`: the order of arrival (processing time).
    pub rowtime: Option<usize>,
    /// Keys not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// `ORDER BY` a rowtime, then other columns: rows wait for the watermark. Input and output: inserts.
#[derive(Debug, Clone)]
pub struct TemporalSort {
    /// The rowtime column (ascending), then the other keys.
    pub order: Vec<SortKey>,
    /// `None`: processing time comes first, so rows are given as they come, sorted by the other keys within a batch.
    pub rowtime: Option<usize>,
}

/// What orders the rows of an OVER window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverTime {
    /// A rowtime column, ascending: rows wait for the watermark.
    Rowtime(usize),
    /// Processing time, ascending: the order of arrival.
    Proctime,
    /// No time: any order; results are updated.
    None,
}

/// Where the frame of an OVER window begins. It ends at the current row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverFrame {
    /// `ROWS BETWEEN n PRECEDING`; `None` is UNBOUNDED.
    Rows(Option<u64>),
    /// `RANGE BETWEEN INTERVAL .. PRECEDING` in milliseconds; `None` is UNBOUNDED. Rows of equal time share a result.
    Range(Option<i64>),
}

/// What is computed over an OVER window.
#[derive(Debug, Clone)]
pub enum OverFunction {
    /// An aggregate over the frame.
    Aggregate(AggregateCall),
    /// ROW_NUMBER: BIGINT.
    RowNumber,
    /// RANK: BIGINT.
    Rank,
    /// DENSE_RANK: BIGINT.
    DenseRank,
    /// PERCENT_RANK: DOUBLE.
    PercentRank,
    /// CUME_DIST: DOUBLE.
    CumeDist,
    /// NTILE(n): BIGINT.
    Ntile(u64),
    /// LAG (positive) or LEAD (negative offset): argument column, offset, default column.
    Shift {
        /// The column that is read.
        argument: usize,
        /// Rows back.
        offset: i64,
        /// The column that is given where there is no such row; `None` gives NULL.
        default: Option<usize>,
    },
}

/// One call of an OVER window.
#[derive(Debug, Clone)]
pub struct OverCall {
    /// What is computed.
    pub function: OverFunction,
    /// The type of the result.
    pub result: crate::types::SqlType,
    /// The call as SQL.
    pub sql: String,
}

/// OVER windows of one specification. Output: the columns of the input, then one per call.
#[derive(Debug, Clone)]
pub struct OverAggregate {
    /// Partition columns.
    pub partition: Vec<usize>,
    /// The order.
    pub order: Vec<SortKey>,
    /// What orders.
    pub time: OverTime,
    /// The frame.
    pub frame: OverFrame,
    /// What is computed.
    pub calls: Vec<OverCall>,
    /// Partitions not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// Grouping sets: every row once per set, with NULL in the columns that the set leaves out.
///
/// Output: the columns of the input, then `$e` (BIGINT NOT NULL): the set's number as GROUPING_ID would give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expand {
    /// The columns that any set groups by.
    pub columns: Vec<usize>,
    /// For every set: which of `columns` stay, and its `$e`.
    pub sets: Vec<(Vec<usize>, i64)>,
}

/// What a collection is taken apart into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnnestKind {
    /// One row per element of an ARRAY; a ROW element gives a column per field.
    Array,
    /// One row per entry of a MAP: key, value.
    Map,
    /// One row per copy of an element of a MULTISET.
    Multiset,
}

/// `CROSS JOIN UNNEST(column)`. Output: the columns of the input, then those of the elements, then the ordinal (INT) if
/// wanted. Row kinds pass.
#[derive(Debug, Clone)]
pub struct Unnest {
    /// The collection.
    pub column: usize,
    /// What it is.
    pub kind: UnnestKind,
    /// Whether the elements' position, from 1, is a column.
    pub with_ordinality: bool,
    /// LEFT JOIN: a row without elements is given once, with NULLs.
    pub outer: bool,
    /// What must be true of the pair, over all columns of the output; for [`Unnest::outer`].
    pub condition: Option<Arc<dyn Expression>>,
}

/// Gives every row as often as a column says (INTERSECT ALL, EXCEPT ALL): the input's columns without the count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replicate {
    /// The BIGINT column with the number of copies; below 1 is none.
    pub count: usize,
}

/// The last row per key of a changelog whose rows are told apart by something else: what a sink with that key needs.
///
/// Input: any kinds. Output: one row per key; when the current row of a key is taken back, the one before it returns.
#[derive(Debug, Clone)]
pub struct UpsertMaterialize {
    /// The sink's primary key.
    pub keys: Vec<usize>,
    /// The columns that tell the rows of the input apart; empty: their whole content does.
    pub row_keys: Vec<usize>,
    /// Keys not written for this long are dropped.
    pub state_ttl: Option<Duration>,
}

/// The first phase of GROUP BY: aggregates a batch before the exchange, so that hot keys cross it once per batch.
///
/// Output: the keys, the number of rows (BIGINT, negative for retractions), then the accumulator states of all calls. Its rows
/// are inserts; its changelog mode is that of the input, because it is the states that take away.
#[derive(Debug, Clone)]
pub struct LocalAggregate {
    /// Key columns.
    pub keys: Vec<usize>,
    /// Aggregates.
    pub calls: Vec<AggregateCall>,
}
