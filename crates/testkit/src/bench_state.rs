//! `hw-testkit bench --state`: heap bytes per entry of state, as the operators count them and as the process grows.

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use base::config::JobConfig;
use base::connector::Instance;
use base::function::AggregateOptions;
use base::plan::{
    AggregateCall, Distribution, Edge, GroupAggregate, Join, JoinKey, JoinKind, JoinRows, JoinSide, Node, NodeKind,
    Output,
};
use base::{ChangelogBatch, ChangelogMode, Field, LogicalType, RowType};
use runtime::operator::{Operator, OperatorContext};
use std::sync::Arc;

/// The most bytes that a group of COUNT and SUM over BIGINT may take, its BIGINT key included.
const GROUP_BYTES_MAX: f64 = 120.0;
/// A joined row may take this many times its size in Arrow ...
const ROW_FACTOR_MAX: f64 = 1.5;
/// ... and so many bytes.
const ROW_BYTES_MAX: f64 = 60.0;
const BATCH_ROWS: usize = 4096;

/// Bytes per entry of one kind of state.
#[derive(Debug, Clone)]
pub struct StateSize {
    /// What was kept.
    pub what: String,
    /// Entries.
    pub entries: u64,
    /// Bytes per entry, as the operator counts.
    pub counted: f64,
    /// Bytes per entry by which the resident memory of the process has grown; noisy, and without what was free before.
    pub resident: f64,
    /// The limit.
    pub limit: f64,
}

/// Measures everything with this many entries each.
///
/// # Errors
/// A bug in an operator.
pub fn measure(entries: usize) -> base::Result<Vec<StateSize>> {
    let mut sizes = vec![groups(entries)?];
    for (rows, per_key, text) in [
        (JoinRows::One, 1, "one per key"),
        (JoinRows::ByKey(vec![1]), 1, "1 per key, told apart by a BIGINT"),
        (JoinRows::ByKey(vec![1]), 10, "10 per key, told apart by a BIGINT"),
        (JoinRows::Any, 1, "1 per key, counted"),
        (JoinRows::Any, 10, "10 per key, counted"),
    ] {
        sizes.push(joined(entries, &rows, per_key, text)?);
    }
    Ok(sizes)
}

pub(crate) fn output(row: RowType) -> Output {
    Output { row, changelog: ChangelogMode::ALL, upsert_keys: Vec::new() }
}

pub(crate) fn node(kind: NodeKind, inputs: usize, row: RowType) -> Node {
    let edge = |node| Edge { node, distribution: Distribution::Hash(vec![0]) };
    Node {
        operator_id: "bench".into(),
        digest: "bench".into(),
        kind,
        inputs: (0..inputs).map(edge).collect(),
        output: output(row),
    }
}

pub(crate) fn operator(node: &Node, inputs: &[&Output]) -> base::Result<Box<dyn Operator>> {
    let instance = Instance { index: 0, parallelism: 1 };
    let mut operator = runtime::operators::create(node, inputs, instance, &JobConfig::default())?;
    operator.open(&[])?;
    Ok(operator)
}

fn feed(operator: &mut dyn Operator, input: usize, batch: ChangelogBatch) -> base::Result<()> {
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: BATCH_ROWS };
    operator.on_batch(input, batch, &context)?;
    while operator.next_output(&context)?.is_some() {}
    Ok(())
}

/// COUNT(*) and SUM of a BIGINT by a BIGINT, over a changelog that can retract.
fn groups(entries: usize) -> base::Result<StateSize> {
    let bigint = || LogicalType::BigInt.nullable();
    let row = RowType::new(vec![Field::new("k", bigint()), Field::new("v", bigint())]);
    let call = |name: &str, arguments: Vec<usize>| -> base::Result<AggregateCall> {
        let function = functions::aggregate(name).ok_or_else(|| base::Error::internal(name))?;
        let options = AggregateOptions { distinct: false, retract: true };
        Ok(AggregateCall { function, arguments, filter: None, options, sql: name.into() })
    };
    let calls = vec![call("COUNT", Vec::new())?, call("SUM", vec![1])?];
    let group = GroupAggregate { keys: vec![0], calls, merges: None, state_ttl: None };
    let result = ["k", "c", "s"].map(|name| Field::new(name, bigint())).to_vec();
    let input = output(row);
    let node = node(NodeKind::GroupAggregate(group), 1, RowType::new(result));
    let before = resident_bytes();
    let mut operator = operator(&node, &[&input])?;
    for start in (0..entries).step_by(BATCH_ROWS) {
        let keys = (start..entries.min(start + BATCH_ROWS)).map(|key| scattered(key) as i64);
        let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(keys));
        let records = RecordBatch::try_new(input.row.arrow().clone(), vec![keys.clone(), keys])?;
        feed(operator.as_mut(), 0, ChangelogBatch::inserts(records))?;
    }
    Ok(size("COUNT and SUM per BIGINT key".into(), operator.as_ref(), before, GROUP_BYTES_MAX))
}

/// One side of a join by a BIGINT: rows of two BIGINT and a text of 20 bytes.
fn joined(entries: usize, rows: &JoinRows, per_key: usize, text: &str) -> base::Result<StateSize> {
    let fields = vec![
        Field::new("k", LogicalType::BigInt.not_null()),
        Field::new("id", LogicalType::BigInt.not_null()),
        Field::new("name", LogicalType::STRING.nullable()),
    ];
    let row = RowType::new(fields.clone());
    let both = RowType::new(fields.iter().chain(&fields).cloned().collect());
    let side = || JoinSide { rows: rows.clone(), state_ttl: None };
    let key = JoinKey { left: 0, right: 0, null_safe: false };
    let join = Join { kind: JoinKind::Inner, keys: vec![key], condition: None, left: side(), right: side() };
    let input = output(row);
    let node = node(NodeKind::Join(join), 2, both);
    let before = resident_bytes();
    let mut operator = operator(&node, &[&input, &input])?;
    let mut arrow_bytes = 0;
    for start in (0..entries).step_by(BATCH_ROWS) {
        let numbers = start..entries.min(start + BATCH_ROWS);
        let keys = Int64Array::from_iter_values(numbers.clone().map(|row| scattered(row / per_key) as i64));
        let ids = Int64Array::from_iter_values(numbers.clone().map(|row| row as i64));
        let names = StringArray::from_iter_values(numbers.map(|row| format!("name of row {row:08}")));
        let columns: Vec<ArrayRef> = vec![Arc::new(keys), Arc::new(ids), Arc::new(names)];
        arrow_bytes +=
            columns.iter().map(|column| column.to_data().get_slice_memory_size()).sum::<Result<usize, _>>()?;
        let records = RecordBatch::try_new(input.row.arrow().clone(), columns)?;
        feed(operator.as_mut(), 0, ChangelogBatch::inserts(records))?;
    }
    let arrow_row = arrow_bytes as f64 / entries as f64;
    let what = format!("joined row of {arrow_row:.0} bytes in Arrow, {text}");
    let mut size = size(what, operator.as_ref(), before, ROW_FACTOR_MAX * arrow_row + ROW_BYTES_MAX);
    // Per row, whatever the operator calls an entry.
    let scale = size.entries as f64 / entries as f64;
    (size.counted, size.resident, size.entries) = (size.counted * scale, size.resident * scale, entries as u64);
    Ok(size)
}

fn size(what: String, operator: &dyn Operator, before: u64, limit: f64) -> StateSize {
    let statistics = operator.statistics();
    let grown = resident_bytes().saturating_sub(before);
    let per_entry = |bytes: u64| bytes as f64 / statistics.state_entries.max(1) as f64;
    StateSize {
        what,
        entries: statistics.state_entries,
        counted: per_entry(statistics.state_bytes),
        resident: per_entry(grown),
        limit,
    }
}

/// A key that looks like no other: splitmix64's mixing.
pub(crate) fn scattered(number: usize) -> u64 {
    let value = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 27)
}

pub(crate) fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

#[cfg(test)]
#[path = "bench_state_tests.rs"]
mod tests;
