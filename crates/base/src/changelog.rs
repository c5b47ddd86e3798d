//! Changelog batches: rows with their row kinds, and the set of kinds that a stream can carry.

use arrow::array::{RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use std::fmt;
use std::sync::Arc;

/// What a row means to the table that a changelog describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RowKind {
    /// `+I`: a new row.
    Insert = 0,
    /// `-U`: the old content of a row that is about to be updated.
    UpdateBefore = 1,
    /// `+U`: the new content of an updated row.
    UpdateAfter = 2,
    /// `-D`: a row that is gone.
    Delete = 3,
}

impl RowKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [RowKind; 4] = [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete];

    /// Flink's short form.
    pub fn short(self) -> &'static str {
        match self {
            RowKind::Insert => "+I",
            RowKind::UpdateBefore => "-U",
            RowKind::UpdateAfter => "+U",
            RowKind::Delete => "-D",
        }
    }

    /// Reads Flink's short form.
    pub fn parse(short: &str) -> Option<RowKind> {
        RowKind::ALL.into_iter().find(|kind| kind.short() == short)
    }

    /// Whether the row adds to a result (`+I`, `+U`); the others take away. State looks at this only.
    pub fn is_addition(self) -> bool {
        matches!(self, RowKind::Insert | RowKind::UpdateAfter)
    }

    /// 1 for an addition, -1 for a retraction.
    pub fn sign(self) -> i64 {
        if self.is_addition() { 1 } else { -1 }
    }
}

impl fmt::Display for RowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

/// Rows with their kinds. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangelogBatch {
    records: RecordBatch,
    /// One kind per row; `None` means that every row is an insert: the fast path.
    kinds: Option<Arc<[RowKind]>>,
}

impl ChangelogBatch {
    /// Rows that are all inserts.
    pub fn inserts(records: RecordBatch) -> ChangelogBatch {
        ChangelogBatch { records, kinds: None }
    }

    /// Rows with their kinds. If every kind is an insert, the batch takes the fast path.
    ///
    /// # Panics
    /// If there is not exactly one kind per row: that is a bug of the caller.
    pub fn new(records: RecordBatch, kinds: impl Into<Arc<[RowKind]>>) -> ChangelogBatch {
        let kinds = kinds.into();
        assert_eq!(records.num_rows(), kinds.len(), "one row kind per row");
        let all_inserts = kinds.iter().all(|kind| *kind == RowKind::Insert);
        ChangelogBatch { records, kinds: if all_inserts { None } else { Some(kinds) } }
    }

    /// No rows.
    pub fn empty(schema: &SchemaRef) -> ChangelogBatch {
        ChangelogBatch::inserts(RecordBatch::new_empty(schema.clone()))
    }

    /// The same kinds over other columns of the same number of rows.
    pub fn with_records(&self, records: RecordBatch) -> ChangelogBatch {
        assert_eq!(records.num_rows(), self.num_rows(), "the kinds belong to as many rows");
        ChangelogBatch { records, kinds: self.kinds.clone() }
    }

    /// The rows.
    pub fn records(&self) -> &RecordBatch {
        &self.records
    }

    /// The kinds; `None` if all rows are inserts.
    pub fn kinds(&self) -> Option<&[RowKind]> {
        self.kinds.as_deref()
    }

    /// The kind of one row.
    pub fn kind(&self, row: usize) -> RowKind {
        self.kinds.as_ref().map_or(RowKind::Insert, |kinds| kinds[row])
    }

    /// The number of rows.
    pub fn num_rows(&self) -> usize {
        self.records.num_rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.num_rows() == 0
    }

    /// `length` rows from `offset`; columns are not copied.
    pub fn slice(&self, offset: usize, length: usize) -> ChangelogBatch {
        let records = self.records.slice(offset, length);
        match &self.kinds {
            None => ChangelogBatch::inserts(records),
            Some(kinds) => ChangelogBatch::new(records, &kinds[offset..offset + length]),
        }
    }

    /// The given rows in the given order.
    pub fn take(&self, rows: &UInt32Array) -> crate::Result<ChangelogBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let records = match self.records.num_columns() {
            // Arrow's kernel forgets how many rows there are when there is no column: `SELECT COUNT(*) FROM t`.
            0 => RecordBatch::try_new_with_options(self.records.schema(), vec![], &options)?,
            _ => take_record_batch(&self.records, rows)?,
        };
        Ok(match &self.kinds {
            None => ChangelogBatch::inserts(records),
            Some(kinds) => {
                ChangelogBatch::new(records, rows.values().iter().map(|&row| kinds[row as usize]).collect::<Vec<_>>())
            }
        })
    }

    /// Bytes held by the columns.
    pub fn bytes(&self) -> usize {
        self.records.get_array_memory_size()
    }
}

/// Bytes of the rows of a batch alone: a slice counts without the rest of what it was cut from.
pub fn slice_bytes(records: &RecordBatch) -> usize {
    records.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}

/// The kinds that a stream may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangelogMode(u8);

impl ChangelogMode {
    /// Only `+I`.
    pub const APPEND: ChangelogMode = ChangelogMode(0b0001);
    /// `+I`, `+U`, `-D`: keyed, without the old content of an update.
    pub const UPSERT: ChangelogMode = ChangelogMode(0b1101);
    /// All four kinds.
    pub const ALL: ChangelogMode = ChangelogMode(0b1111);

    /// The set of these kinds.
    pub fn of(kinds: &[RowKind]) -> ChangelogMode {
        ChangelogMode(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u8))
    }

    /// Whether the stream may carry `kind`.
    pub fn contains(self, kind: RowKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// This set with `kind`.
    pub fn with(self, kind: RowKind) -> ChangelogMode {
        ChangelogMode(self.0 | 1 << kind as u8)
    }

    /// This set without `kind`.
    pub fn without(self, kind: RowKind) -> ChangelogMode {
        ChangelogMode(self.0 & !(1 << kind as u8))
    }

    /// Both sets together.
    pub fn union(self, other: ChangelogMode) -> ChangelogMode {
        ChangelogMode(self.0 | other.0)
    }

    /// Whether updates come without the old content of their rows: rows are known by a key.
    pub fn is_upsert(self) -> bool {
        self.contains(RowKind::UpdateAfter) && !self.contains(RowKind::UpdateBefore)
    }

    /// Whether the stream only ever adds rows.
    pub fn is_append_only(self) -> bool {
        self == ChangelogMode::APPEND
    }
}

impl fmt::Display for ChangelogMode {
    /// Flink's plan form: `[I,UB,UA,D]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (RowKind::Insert, "I"),
            (RowKind::UpdateBefore, "UB"),
            (RowKind::UpdateAfter, "UA"),
            (RowKind::Delete, "D"),
        ];
        let kinds: Vec<&str> = names.iter().filter(|(kind, _)| self.contains(*kind)).map(|(_, name)| *name).collect();
        write!(f, "[{}]", kinds.join(","))
    }
}
