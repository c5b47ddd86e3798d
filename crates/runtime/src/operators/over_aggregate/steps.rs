//! Running aggregates, column by column: which rows enter and leave the accumulators, and after which of them a result
//! is wanted.
//!
//! What lies between two results of one partition is a wave. Accumulators are called once per wave with the rows of all
//! partitions: a batch with many partitions takes few calls.

use super::super::aggregates::{Aggregates, SlotRows};
use super::super::output::record_batch;
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::SchemaRef;
use base::{Result, RowKind};

/// A program for accumulators. Its vectors are kept from batch to batch.
#[derive(Debug, Default)]
pub(super) struct Steps {
    slots: Vec<u32>,
    rows: Vec<u32>,
    kinds: Vec<RowKind>,
    waves: Vec<u32>,
    retracts: bool,
    result_slots: Vec<u32>,
    result_waves: Vec<u32>,
    /// By slot: the wave that it is in.
    wave_of: Vec<u32>,
    waves_len: usize,
}

impl Steps {
    /// Forgets everything; slots are below `slots_len`.
    pub fn start(&mut self, slots_len: usize) {
        for &slot in self.result_slots.iter().chain(&self.slots) {
            self.wave_of[slot as usize] = 0;
        }
        if self.wave_of.len() < slots_len {
            self.wave_of.resize(slots_len, 0);
        }
        self.slots.clear();
        self.rows.clear();
        self.kinds.clear();
        self.waves.clear();
        self.result_slots.clear();
        self.result_waves.clear();
        self.retracts = false;
        self.waves_len = 0;
    }

    /// Row `row` of the arguments enters.
    pub fn add(&mut self, slot: u32, row: usize) {
        self.push(slot, row, RowKind::Insert);
    }

    /// Row `row` of the arguments leaves.
    pub fn retract(&mut self, slot: u32, row: usize) {
        self.retracts = true;
        self.push(slot, row, RowKind::Delete);
    }

    fn push(&mut self, slot: u32, row: usize, kind: RowKind) {
        self.slots.push(slot);
        self.rows.push(row as u32);
        self.kinds.push(kind);
        let wave = self.wave_of[slot as usize];
        self.waves.push(wave);
        self.waves_len = self.waves_len.max(wave as usize + 1);
    }

    /// The result of what is in a slot now: gives its place among the results.
    pub fn result(&mut self, slot: u32) -> u32 {
        let wave = &mut self.wave_of[slot as usize];
        self.result_slots.push(slot);
        self.result_waves.push(*wave);
        self.waves_len = self.waves_len.max(*wave as usize + 1);
        *wave += 1;
        self.result_slots.len() as u32 - 1
    }

    /// Runs the program: one column of results per aggregate.
    pub fn run(
        &self,
        aggregates: &mut Aggregates,
        schema: &SchemaRef,
        arguments: &[ArrayRef],
    ) -> Result<Vec<ArrayRef>> {
        let (rows, row_ends) = by_wave(&self.waves, self.waves_len);
        let (results, result_ends) = by_wave(&self.result_waves, self.waves_len);
        let ordered: UInt32Array = rows.iter().map(|&at| Some(self.rows[at as usize])).collect();
        let arguments = arguments.iter().map(|column| Ok(take(column.as_ref(), &ordered, None)?));
        let batch = record_batch(schema, arguments.collect::<Result<_>>()?, rows.len())?;
        let slots: Vec<u32> = rows.iter().map(|&at| self.slots[at as usize]).collect();
        let kinds: Vec<RowKind> = match self.retracts {
            true => rows.iter().map(|&at| self.kinds[at as usize]).collect(),
            false => Vec::new(),
        };
        let result_slots: Vec<u32> = results.iter().map(|&at| self.result_slots[at as usize]).collect();
        let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
        let (mut start, mut result_start) = (0, 0);
        for (end, result_end) in row_ends.into_iter().zip(result_ends) {
            let kinds = self.retracts.then(|| &kinds[start..end]);
            let to = SlotRows { slots: &slots[start..end], kinds, rows: None };
            aggregates.update(&batch.slice(start, end - start), to)?;
            if result_end > result_start {
                parts.push(aggregates.values(&result_slots[result_start..result_end])?);
            }
            (start, result_start) = (end, result_end);
        }
        let Some(first) = parts.first() else { return aggregates.values(&[]) };
        let back = (parts.len() > 1).then(|| inverse(&results));
        (0..first.len())
            .map(|call| {
                let Some(back) = &back else { return Ok(first[call].clone()) };
                let pieces: Vec<_> = parts.iter().map(|part| part[call].as_ref()).collect();
                Ok(take(concat(&pieces)?.as_ref(), back, None)?)
            })
            .collect()
    }

    /// The number of results.
    pub fn results_len(&self) -> usize {
        self.result_slots.len()
    }
}

/// The positions in the order of their waves, each wave in its own order, and where each wave ends.
fn by_wave(waves: &[u32], waves_len: usize) -> (Vec<u32>, Vec<usize>) {
    let mut ends = vec![0usize; waves_len];
    waves.iter().for_each(|&wave| ends[wave as usize] += 1);
    let mut next = Vec::with_capacity(waves_len);
    let mut sum = 0;
    for end in &mut ends {
        next.push(sum);
        sum += *end;
        *end = sum;
    }
    let mut order = vec![0u32; waves.len()];
    for (at, &wave) in waves.iter().enumerate() {
        let place = &mut next[wave as usize];
        order[*place] = at as u32;
        *place += 1;
    }
    (order, ends)
}

/// Where each position has gone.
fn inverse(order: &[u32]) -> UInt32Array {
    let mut back = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(place, &at)| back[at as usize] = place as u32);
    back.into()
}
