//! MATCH_RECOGNIZE: rows in the order of time that follow a pattern.

use super::SortKey;
use crate::expression::Expression;
use crate::function::AggregateFunction;
use crate::types::SqlType;
use std::sync::Arc;

/// Finds patterns. Output: the partition columns, then one column per element of [`MatchRecognize::output`]; one row per match.
///
/// Input: inserts, spread by the hash of the partition columns. Rows are looked at when the watermark reaches their time.
#[derive(Debug, Clone)]
pub struct MatchRecognize {
    /// Partition columns of the input; none for one partition.
    pub partition: Vec<usize>,
    /// The rowtime column that orders; `None`: the order of arrival (processing time).
    pub rowtime: Option<usize>,
    /// What orders rows of equal time.
    pub order: Vec<SortKey>,
    /// The pattern: its variables one after the other.
    pub variables: Vec<PatternVariable>,
    /// The last row of a match comes less than this after the first one.
    pub within_ms: Option<i64>,
    /// Where matching goes on.
    pub skip: AfterMatch,
    /// What is given of a match.
    pub output: Vec<PatternReference>,
    /// Texts for people.
    pub text: PatternText,
}

/// A clause of MATCH_RECOGNIZE as people write it.
#[derive(Debug, Clone, Default)]
pub struct PatternText {
    /// MEASURES: expressions with their names.
    pub measures: Vec<String>,
    /// PATTERN.
    pub pattern: String,
    /// DEFINE: variables with their conditions.
    pub define: Vec<String>,
}

/// A variable of a pattern with its quantifier.
#[derive(Debug, Clone)]
pub struct PatternVariable {
    /// Its name.
    pub name: String,
    /// The least rows.
    pub min: u32,
    /// The most rows.
    pub max: Option<u32>,
    /// A row that can be its row is not one of the next variable.
    pub is_greedy: bool,
    /// What its rows must satisfy; `None`: any row.
    pub condition: Option<PatternCondition>,
}

/// A condition of DEFINE.
#[derive(Debug, Clone)]
pub struct PatternCondition {
    /// What it reads of the row and of the rows matched before it.
    pub reads: Vec<PatternReference>,
    /// A BOOLEAN over the columns of `reads`.
    pub expression: Arc<dyn Expression>,
}

/// A value taken from the rows of a match.
#[derive(Debug, Clone)]
pub struct PatternReference {
    /// The variable whose rows are meant; `None`: all rows. In a condition they end with the row that is looked at, if it
    /// would be one of them.
    pub variable: Option<usize>,
    /// What is taken of them.
    pub value: PatternValue,
    /// The type of the values.
    pub result: SqlType,
}

/// What is taken of some rows of a match.
#[derive(Debug, Clone)]
pub enum PatternValue {
    /// `FIRST(column, offset)`: a column of the row so many after the first one; NULL if there is none.
    First {
        /// Column of the input.
        column: usize,
        /// Rows after the first one.
        offset: u32,
    },
    /// `LAST(column, offset)`: a column of the row so many before the last one; NULL if there is none.
    Last {
        /// Column of the input.
        column: usize,
        /// Rows before the last one.
        offset: u32,
    },
    /// The event time at which the match is given: that of its last row, or of what an earlier match waited for. It is never
    /// behind the watermark. Not for conditions.
    Rowtime,
    /// An aggregate over the rows.
    Aggregate {
        /// The function.
        function: Arc<dyn AggregateFunction>,
        /// Over the columns of the input.
        arguments: Vec<Arc<dyn Expression>>,
    },
}

/// Where matching goes on after a match: which other matches are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterMatch {
    /// Behind its last row.
    PastLastRow,
    /// Behind its first row.
    ToNextRow,
    /// At the first row of a variable.
    ToFirst(usize),
    /// At the last row of a variable.
    ToLast(usize),
}
