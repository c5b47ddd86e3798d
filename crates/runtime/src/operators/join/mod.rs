//! Regular joins: any two changelogs, any condition.
//!
//! [`side`] is what is kept of one input, [`step`] pairs the rows of a batch with the other side a bounded number of
//! pairs at a time, [`emit`] makes columns of the result.

mod emit;
mod side;
mod step;

use super::EXPIRE_SCAN_MAX;
use super::output::OutputQueue;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use arrow::array::ArrayRef;
use arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use base::connector::Instance;
use base::key::groups_of_instance;
use base::plan::{Join, JoinKind, Output};
use base::{ChangelogBatch, Expression, Result};
use side::Side;
use state::{KeyBatch, KeyTable, KeyTableSpec, OperatorSnapshot, Scope, Slots};
use std::ops::Range;
use std::sync::Arc;
use step::Work;

/// The names of the sides in snapshots.
const TABLES: [&str; 2] = ["left", "right"];

/// Joins two changelogs.
///
/// * input: any kinds on both sides. A row counts by its sign. A retraction of a row that is not there is dropped; if
///   rows of its side expire, it gives its retractions nevertheless
/// * output, one row after the other as Flink gives them: an inner join forwards the kind of the row that came. A
///   change of partners of a padded side gives `-D` padded, `+I` joined and back. A semi join gives a row with its
///   first partner (with the kind of the partner) and takes it back with the last one, an anti join the reverse with
///   `+I` and `-D`. Rows of one input batch see each other's effects; partners come in the order of their arrival
/// * state: the rows of both sides by key, equal rows once with their number, and the number of partners of rows that
///   can be padded, or given once
/// * dropped: when a row is retracted, or has not been written for the TTL of its side. Rows whose key has a NULL that
///   equals nothing are not kept
/// * late rows: count like all others
#[derive(Debug)]
pub struct JoinOperator {
    kind: JoinKind,
    condition: Option<Condition>,
    output_schema: SchemaRef,
    own_groups: Range<u16>,

    /// The keys of both sides.
    table: KeyTable,
    sides: [Side; 2],

    /// The batch that is being joined.
    work: Option<Work>,
    slots: Slots,
    output: OutputQueue,
}

#[derive(Debug)]
struct Condition {
    expression: Arc<dyn Expression>,
    /// The columns of both inputs.
    schema: SchemaRef,
}

impl JoinOperator {
    /// The operator of one instance.
    pub fn new(node: &Join, left: &Output, right: &Output, output: &Output, instance: Instance) -> Result<Self> {
        // NULL can be a key of one side only.
        let field =
            |column: usize| -> FieldRef { Arc::new(left.row.arrow().field(column).clone().with_nullable(true)) };
        let fields = node.keys.iter().map(|key| field(key.left)).collect();
        let condition = node.condition.as_ref().map(|expression| {
            let fields = left.row.arrow().fields().iter().chain(right.row.arrow().fields());
            let fields: Vec<Field> = fields.map(|field| field.as_ref().clone()).collect();
            Condition { expression: expression.clone(), schema: Arc::new(Schema::new(fields)) }
        });
        Ok(JoinOperator {
            kind: node.kind,
            condition,
            output_schema: output.row.arrow().clone(),
            own_groups: groups_of_instance(instance.index, instance.parallelism),
            table: KeyTable::new(KeyTableSpec { name: "keys", namespace: None, fields, ttl_ms: None })?,
            sides: [Side::left(node, left)?, Side::right(node, right)?],
            work: None,
            slots: Slots::default(),
            output: OutputQueue::default(),
        })
    }

    fn resize(&mut self) {
        let slots = self.table.slots_len();
        self.sides.iter_mut().for_each(|side| side.chains.resize(slots));
    }

    /// Forgets the keys among these that have no row on either side.
    fn release(&mut self, mut slots: Vec<u32>) -> Result<()> {
        slots.retain(|&slot| self.sides.iter().all(|side| side.chains.first(slot).is_none()));
        slots.sort_unstable();
        slots.dedup();
        self.table.remove(&slots)
    }
}

impl Operator for JoinOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        for snapshot in restored {
            for (side, name) in self.sides.iter_mut().zip(TABLES) {
                if let Some(table) = snapshot.table(name) {
                    side.chains.restore(&mut self.table, table, self.own_groups.clone())?;
                }
            }
        }
        self.resize();
        Ok(())
    }

    fn on_batch(&mut self, input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let side = &self.sides[input];
        let column = |column: &usize| batch.records().column(*column).clone();
        let keys: Vec<ArrayRef> = side.keys.iter().map(column).collect();
        let key_batch = KeyBatch { columns: &keys, namespaces: None, rows: batch.num_rows() };
        self.table.lookup_or_insert(key_batch, &mut self.slots)?;
        let rows = side.chains.encode(&side.stored.iter().map(column).collect::<Vec<_>>())?;
        let unmatchable = side.unmatchable(&keys);
        self.resize();
        let slots = std::mem::take(&mut self.slots.rows);
        self.table.changed(&slots);
        self.work = Some(Work::new(input, batch, slots, rows, unmatchable, context.processing_time_ms));
        Ok(())
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let mut changed = Vec::new();
        for side in &mut self.sides {
            changed.extend(side.chains.expire(context.processing_time_ms, EXPIRE_SCAN_MAX)?);
        }
        self.release(changed)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        loop {
            if let Some(batch) = self.output.next(context.rows_max) {
                return Ok(Some(batch));
            }
            let Some(mut work) = self.work.take() else { return Ok(None) };
            self.step(&mut work, context.rows_max.max(1))?;
            match work.is_done() {
                false => self.work = Some(work),
                true => self.release(work.into_slots())?,
            }
        }
    }

    fn snapshot(&mut self, scope: Scope) -> Result<OperatorSnapshot> {
        let taken = self.table.take_beside_rows(scope, KeyTable::live_slots);
        let sides = self.sides.iter_mut();
        let tables = sides.map(|side| side.chains.snapshot(&self.table, scope, &taken)).collect::<Result<_>>()?;
        Ok(OperatorSnapshot { tables, ..Default::default() })
    }

    fn minds_time(&self) -> bool {
        false
    }

    fn wakes(&self) -> Wakes {
        Wakes::NEVER
    }

    fn statistics(&self) -> OperatorStatistics {
        let [left, right] = &self.sides;
        OperatorStatistics {
            state_entries: (left.chains.len() + right.chains.len()) as u64,
            state_bytes: (self.table.heap_bytes() + left.chains.heap_bytes() + right.chains.heap_bytes()) as u64,
            ..Default::default()
        }
    }
}
