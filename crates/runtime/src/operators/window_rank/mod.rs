//! Top-N of a window: its final rows when the window is over.

use super::kept_rows::snapshot_sorted;
use super::late::LateRows;
use super::output::record_batch;
use super::window::{fires_at, readable_time};
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::{ArrayRef, Int64Array};
use arrow::compute::SortOptions;
use arrow::datatypes::{FieldRef, SchemaRef};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Output, WindowRank};
use base::text::zone_offset_ms;
use base::{ChangelogBatch, Result};
use state::{
    KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots, SortedIdentity, SortedRows, SortedRowsSpec,
    Timers,
};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The name of the table of rows in snapshots.
const ROWS: &str = "rows";
/// The name of the watermark in snapshots.
const WATERMARK: &str = "watermark_ms";

/// Keeps the best rows of every window and partition.
///
/// * input: inserts
/// * output: inserts, when the watermark reaches the last millisecond of a window; in the order of window ends, then of the
///   partitions' first rows, then of the ranks
/// * state: the best rows per window and partition; the watermark
/// * dropped: when the window has fired
/// * late rows: a row whose window has fired is dropped and counted
#[derive(Debug)]
pub struct WindowRankOperator {
    window_end: usize,
    end_name: String,
    time_zone: Option<base::time::Tz>,
    keys: Vec<usize>,
    range: Range<usize>,
    last_of_equals: bool,
    with_rank: bool,
    /// Input columns in the order of the store.
    stored: Vec<usize>,
    input_width: usize,
    schema: SchemaRef,
    own_groups: Range<u16>,

    table: KeyTable,
    rows: SortedRows,
    timers: Timers,
    /// The last watermark, also that of the run before.
    watermark_ms: Option<i64>,

    /// Windows that end by then are given out.
    firing_ms: Option<i64>,
    /// The slots of the window that is being given out.
    firing: VecDeque<u32>,
    slots: Slots,
    late: LateRows,
}

impl WindowRankOperator {
    /// The operator of one instance.
    ///
    /// # Errors
    /// Keys of a type that cannot be a key.
    pub fn new(node: &WindowRank, input: &Output, output: &Output, instance: Instance) -> Result<Self> {
        let field = |column: &usize| -> FieldRef { input.row.arrow().fields()[*column].clone() };
        let mut keys = node.partition.clone();
        keys.push(node.window_start);
        let mut order: Vec<usize> =
            node.order.iter().map(|key| key.column).filter(|column| !keys.contains(column)).collect();
        let options = |column: &usize| {
            let key = node.order.iter().find(|key| key.column == *column);
            key.map_or_else(SortOptions::default, |key| SortOptions {
                descending: key.descending,
                nulls_first: key.nulls_first,
            })
        };
        let mut rest: Vec<usize> =
            (0..input.row.len()).filter(|column| !order.contains(column) && !keys.contains(column)).collect();
        if node.by_content {
            order.append(&mut rest);
        }
        let spec = SortedRowsSpec {
            order: order.iter().map(|column| (field(column), options(column))).collect(),
            rest: rest.iter().map(field).collect(),
            identity: SortedIdentity::None,
        };
        let fields = keys.iter().map(field).collect();
        let end = usize::try_from(node.end).unwrap_or(usize::MAX);
        Ok(WindowRankOperator {
            window_end: node.window_end,
            end_name: input.row.fields()[node.window_end].name.clone(),
            time_zone: node.time_zone,
            keys,
            range: usize::try_from(node.start.saturating_sub(1)).unwrap_or(usize::MAX)..end,
            last_of_equals: node.last_of_equals,
            with_rank: node.with_rank,
            stored: order.into_iter().chain(rest).collect(),
            input_width: input.row.len(),
            schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec {
                name: "partitions",
                namespace: Some("window_end"),
                fields,
                ttl_ms: None,
            })?,
            rows: SortedRows::new(spec)?,
            timers: Timers::default(),
            watermark_ms: None,
            firing_ms: None,
            firing: VecDeque::new(),
            slots: Slots::default(),
            late: LateRows::default(),
        })
    }

    /// The rows of a batch whose windows have not fired, and their window ends.
    fn on_time(&mut self, batch: &ChangelogBatch) -> Result<(Vec<u32>, Vec<i64>)> {
        let ends = base::time::epoch_ms(batch.records().column(self.window_end))?;
        let (mut rows, mut kept) = (Vec::with_capacity(ends.len()), Vec::with_capacity(ends.len()));
        let mut known: Option<(i64, i64)> = None;
        for (row, &end) in ends.values().iter().enumerate() {
            let fires = match known {
                Some((known_end, fires)) if known_end == end => fires,
                _ => fires_at(self.time_zone, end),
            };
            known = Some((end, fires));
            match self.watermark_ms {
                Some(watermark_ms) if fires <= watermark_ms => {
                    let (name, zone) = (&self.end_name, self.time_zone);
                    self.late.add_with(|| {
                        let shown = zone.map_or(0, |zone| zone_offset_ms(zone, watermark_ms));
                        format!(
                            "{name} {} is behind watermark {}",
                            readable_time(end, 0),
                            readable_time(watermark_ms, shown)
                        )
                    });
                }
                _ => {
                    rows.push(row as u32);
                    kept.push(end);
                }
            }
        }
        Ok((rows, kept))
    }

    /// Keeps the best rows of each slot.
    fn keep(&mut self, batch: &ChangelogBatch) -> Result<()> {
        let columns: Vec<ArrayRef> = self.stored.iter().map(|&column| batch.records().column(column).clone()).collect();
        let encoded = self.rows.encode(&columns)?;
        for (row, &slot) in self.slots.rows.iter().enumerate() {
            if self.rows.len(slot) >= self.range.end {
                let Some(last) = self.rows.last(slot) else { continue };
                match self.rows.compare(&encoded, row, last) {
                    Ordering::Less => {}
                    Ordering::Equal if self.last_of_equals => {}
                    _ => continue,
                }
                self.rows.remove_last(slot);
            }
            self.rows.insert(slot, &encoded, row);
        }
        self.rows.release();
        Ok(())
    }

    fn next_slot(&mut self) -> Option<u32> {
        let until_ms = self.firing_ms?;
        if self.firing.is_empty() {
            let end = self.timers.first_time()?;
            if fires_at(self.time_zone, end) > until_ms {
                return None;
            }
            let (_, slots) = self.timers.pop_first()?;
            self.firing = slots.into();
        }
        self.firing.pop_front()
    }

    /// Rows of these partitions as output.
    fn output(&self, slots: &[u32], rows: &[u32], ranks: Vec<i64>) -> Result<ChangelogBatch> {
        let mut columns: Vec<Option<ArrayRef>> = vec![None; self.input_width];
        for (&column, key) in self.keys.iter().zip(self.table.keys(slots)?) {
            columns[column] = Some(key);
        }
        for (&column, values) in self.stored.iter().zip(self.rows.columns(rows)?) {
            columns[column] = Some(values);
        }
        let mut columns: Vec<ArrayRef> = columns.into_iter().flatten().collect();
        if self.with_rank {
            columns.push(Arc::new(Int64Array::from(ranks)));
        }
        Ok(ChangelogBatch::inserts(record_batch(&self.schema, columns, rows.len())?))
    }
}

impl Operator for WindowRankOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let fields = self.rows.fields();
        for table in restored.iter().filter_map(|snapshot| snapshot.table(ROWS)) {
            let before = self.table.slots_len();
            let restored = self.table.restore(table, self.own_groups.clone(), &fields)?;
            self.rows.resize(self.table.slots_len());
            let encoded = self.rows.encode(&restored.values)?;
            for (row, &slot) in restored.slots.iter().enumerate() {
                self.rows.insert(slot, &encoded, row);
            }
            // Slots are given in the order of rows, which is that of the partitions.
            (before as u32..self.table.slots_len() as u32).for_each(|slot| {
                self.timers.add(self.table.namespace(slot), slot);
            });
        }
        // The smallest loses no row.
        let watermarks = restored.iter().map(|snapshot| snapshot.values.get(WATERMARK).copied());
        self.watermark_ms = watermarks.min().flatten();
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(context.watermark_ms);
        let (rows, ends) = self.on_time(&batch)?;
        if rows.is_empty() {
            return Ok(());
        }
        let batch = if rows.len() == batch.num_rows() { batch } else { batch.take(&rows.into())? };
        let keys: Vec<ArrayRef> = self.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        let key_batch = KeyBatch { columns: &keys, namespaces: Some(&ends), rows: ends.len() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        for &slot in &self.slots.new {
            self.timers.add(self.table.namespace(slot), slot);
        }
        self.rows.resize(self.table.slots_len());
        self.keep(&batch)
    }

    fn on_watermark(&mut self, watermark_ms: i64, _context: &OperatorContext) -> Result<()> {
        self.watermark_ms = self.watermark_ms.max(Some(watermark_ms));
        self.firing_ms = self.watermark_ms;
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        let (mut slots, mut rows, mut ranks, mut done) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        while rows.len() < context.rows_max.max(1) {
            let Some(slot) = self.next_slot() else {
                self.firing_ms = None;
                break;
            };
            for (rank, row) in self.rows.from(slot, self.range.start).enumerate() {
                slots.push(slot);
                rows.push(row);
                ranks.push((self.range.start + rank + 1) as i64);
            }
            done.push(slot);
        }
        let output = if rows.is_empty() { None } else { Some(self.output(&slots, &rows, ranks)?) };
        done.iter().for_each(|&slot| self.rows.clear(slot));
        self.rows.release();
        self.table.remove(&done)?;
        Ok(output)
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        // Partitions of one window are restored in the order of their numbers: that in which they fire.
        self.table.take_beside_rows(scope, |_| self.timers.slots().collect());
        let table = snapshot_sorted(&mut self.rows, &self.table, ROWS, scope, true, |_| Vec::new())?;
        let values = self.watermark_ms.map(|watermark_ms| (WATERMARK.to_string(), watermark_ms));
        Ok(OperatorSnapshot { tables: vec![table], values: values.into_iter().collect() })
    }

    fn wakes(&self) -> Wakes {
        Wakes::at_watermark(self.timers.first_time().map(|end| fires_at(self.time_zone, end)))
    }

    fn statistics(&self) -> OperatorStatistics {
        let bytes = self.table.heap_bytes() + self.rows.heap_bytes() + self.timers.heap_bytes();
        self.late.report(OperatorStatistics {
            state_entries: self.rows.rows() as u64,
            state_bytes: bytes as u64,
            ..Default::default()
        })
    }
}
