//! A part of an operator instance: an operator of its own over some key groups, in memory or put away, and the rows that
//! wait for it.

use crate::operator::{Operator, OperatorStatistics, Wakes};
use arrow::array::UInt16Array;
use arrow::compute::concat_batches;
use base::connector::Instance;
use base::key::groups_of_instance;
use base::{ChangelogBatch, Error, Result, RowKind};
use state::{CacheFile, OperatorSnapshot, SnapshotKind, TableSnapshot};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a part are counted anew after rows for this fraction of its entries: counting can take a look at each.
const COUNT_FRACTION: u64 = 64;

/// Rows that wait for a part.
pub(super) struct Piece {
    pub input: usize,
    pub batch: ChangelogBatch,
    pub bytes: u64,
    /// The watermark when they came.
    pub watermark_ms: Option<i64>,
}

/// Why and since when a part that was put away is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// What has been given on before: nothing later may be until the part has been at work.
    pub watermark_ms: Option<i64>,
    /// The lowest has waited longest.
    pub since: u64,
}

/// Where a part's state is.
pub(super) enum Place {
    /// In memory.
    Hot(Box<dyn Operator>),
    /// In files of the cache, to be restored in this order.
    Cold(Wakes),
}

/// A part.
pub(super) struct Part {
    /// Its number in checkpoints.
    pub number: u32,
    /// What it is as an instance: the part of all key groups that is its own.
    pub instance: Instance,
    pub place: Place,
    /// The files with its state, as long as they hold all of it.
    pub files: Vec<Arc<CacheFile>>,
    pub waiting: VecDeque<Piece>,
    pub waiting_bytes: u64,
    /// Something is to be done although it was put away.
    pub wanted: Option<Wanted>,
    /// How often it is to be told the time: a look at what has expired is a look at so many entries.
    pub ticks: u64,
    /// It has a place on the agenda.
    pub is_listed: bool,
    /// The watermark that it has been told.
    pub watermark_ms: Option<i64>,
    /// When it was put away or looked at, in processing time.
    pub visited_ms: i64,
    /// It differs from what the last checkpoint has.
    pub is_changed: bool,
    /// Rows that came for it lately.
    pub heat: f64,
    /// Bytes and entries, as counted last.
    pub bytes: u64,
    pub entries: u64,
    /// Rows since then.
    pub uncounted: u64,
    /// What operators that are gone have counted.
    pub before: OperatorStatistics,
}

impl Part {
    pub fn new(number: u32, instance: Instance, place: Place) -> Part {
        Part {
            number,
            instance,
            place,
            files: Vec::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            wanted: None,
            ticks: 0,
            is_listed: false,
            watermark_ms: None,
            visited_ms: i64::MIN,
            is_changed: true,
            heat: 0.0,
            bytes: 0,
            entries: 0,
            uncounted: 0,
            before: OperatorStatistics::default(),
        }
    }

    /// The key groups of the part.
    pub fn groups(&self) -> Range<u16> {
        groups_of_instance(self.instance.index, self.instance.parallelism)
    }

    pub fn is_hot(&self) -> bool {
        matches!(self.place, Place::Hot(_))
    }

    /// Its operator.
    pub fn operator(&mut self) -> Result<&mut dyn Operator> {
        match &mut self.place {
            Place::Hot(operator) => Ok(operator.as_mut()),
            Place::Cold(_) => Err(Error::internal("a part that was put away is at work")),
        }
    }

    /// It is no longer what its files hold.
    pub fn change(&mut self) {
        self.is_changed = true;
        self.files.clear();
    }

    /// Whether its bytes are to be counted.
    pub fn is_count_due(&self) -> bool {
        self.uncounted > self.entries / COUNT_FRACTION
    }

    /// What it has counted, its operators that are gone included.
    pub fn counted(&self) -> OperatorStatistics {
        let mut counted = self.before.clone();
        if let Place::Hot(operator) = &self.place {
            add_counts(&mut counted, &operator.statistics());
        }
        counted
    }

    /// The next rows that wait, as many as can be given at once: of one input, at most `rows_max`, and of one watermark if
    /// that makes a difference.
    pub fn next_piece(&mut self, rows_max: usize, minds_time: bool) -> Result<Option<Piece>> {
        let Some(first) = self.waiting.pop_front() else { return Ok(None) };
        let mut pieces = vec![first];
        let mut rows = pieces[0].batch.num_rows();
        while let Some(next) = self.waiting.front() {
            let fits = next.input == pieces[0].input
                && (next.watermark_ms == pieces[0].watermark_ms || !minds_time)
                && rows + next.batch.num_rows() <= rows_max;
            if !fits {
                break;
            }
            rows += next.batch.num_rows();
            pieces.extend(self.waiting.pop_front());
        }
        let bytes = pieces.iter().map(|piece| piece.bytes).sum();
        self.waiting_bytes -= bytes;
        let (input, watermark_ms) = (pieces[0].input, pieces[0].watermark_ms);
        Ok(Some(Piece { input, batch: concat(pieces)?, bytes, watermark_ms }))
    }
}

fn concat(mut pieces: Vec<Piece>) -> Result<ChangelogBatch> {
    if pieces.len() == 1 {
        return pieces.pop().map(|piece| piece.batch).ok_or_else(|| Error::internal("no rows"));
    }
    let batches: Vec<ChangelogBatch> = pieces.into_iter().map(|piece| piece.batch).collect();
    let records = concat_batches(batches[0].records().schema_ref(), batches.iter().map(ChangelogBatch::records))?;
    if batches.iter().all(|batch| batch.kinds().is_none()) {
        return Ok(ChangelogBatch::inserts(records));
    }
    let kinds: Vec<RowKind> =
        batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.kind(row))).collect();
    Ok(ChangelogBatch::new(records, kinds))
}

/// Adds the counts of rows; state is counted elsewhere.
pub(super) fn add_counts(into: &mut OperatorStatistics, other: &OperatorStatistics) {
    into.late_rows += other.late_rows;
    into.dropped_rows += other.dropped_rows;
    if into.late_sample.is_none() {
        into.late_sample.clone_from(&other.late_sample);
    }
}

/// State that is put away comes back only to the owner of its key group.
///
/// # Errors
/// Rows of another group: an operator whose state is spread by something else than its input.
pub(super) fn check_groups(snapshot: &OperatorSnapshot, groups: &Range<u16>) -> Result<()> {
    for table in &snapshot.tables {
        if !matches!(table.kind, SnapshotKind::Full) {
            return Err(Error::internal("a full snapshot was asked for"));
        }
        if !groups_of(table)?.values().iter().all(|group| groups.contains(group)) {
            return Err(Error::internal(format!("state of {} is not spread by the keys of its input", table.name)));
        }
    }
    Ok(())
}

/// The key groups of the rows of a snapshot.
pub(super) fn groups_of(table: &TableSnapshot) -> Result<&UInt16Array> {
    table.key_groups().ok_or_else(|| Error::internal("a snapshot starts with its key groups"))
}
