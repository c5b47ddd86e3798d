//! A lookup join in a chain: asks a table for the rows of a batch's keys, keeps found rows as long as the table's cache options
//! say, asks again for keys without a row where a hint says so.

use crate::operators::kept_rows::{Hits, NO_ROW, PairCondition, pick_all};
use crate::operators::output::record_batch;
use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{FieldRef, SchemaRef};
use arrow::row::{RowConverter, SortField};
use base::lookup::{LookupCache, LookupReader};
use base::plan::{LookupJoin, LookupRetry, Output};
use base::{ChangelogBatch, Error, Result, RowKind};
use state::RowStore;
use std::collections::{BTreeMap, HashMap};

/// One reader with what surrounds it.
pub(crate) struct LookupBody {
    reader: Box<dyn LookupReader>,
    table: String,
    keys: Vec<usize>,
    key_schema: SchemaRef,
    converter: RowConverter,
    found_fields: Vec<FieldRef>,
    output_schema: SchemaRef,
    is_outer: bool,
    condition: Option<PairCondition>,
    retry: Option<LookupRetry>,
    cache: Option<Cache>,
}

/// The different keys of a batch.
struct Distinct {
    /// By row its key; [`NO_ROW`] for one with NULL, which nothing is equal to.
    key_of_row: Vec<u32>,
    /// By key its first row.
    first_rows: Vec<u32>,
    /// By key its encoding.
    bytes: Vec<Box<[u8]>>,
}

/// The rows of a batch's keys.
struct Found {
    /// The columns of all rows that were found.
    columns: Vec<ArrayRef>,
    /// By distinct key: its rows in them.
    rows: Vec<Vec<u32>>,
}

impl LookupBody {
    pub(crate) fn new(
        node: &LookupJoin,
        input: &Output,
        output: &Output,
        reader: Box<dyn LookupReader>,
    ) -> Result<Self> {
        let fields = input.row.arrow().fields();
        let key_fields: Vec<FieldRef> = node
            .keys
            .iter()
            .zip(&node.key_names)
            .map(|(&key, name)| fields[key].as_ref().clone().with_name(name).into())
            .collect();
        let sorts = key_fields.iter().map(|field| SortField::new(field.data_type().clone())).collect();
        let found_fields: Vec<FieldRef> = output.row.arrow().fields()[input.row.len()..].to_vec();
        Ok(LookupBody {
            reader,
            table: node.table.clone(),
            keys: node.keys.clone(),
            key_schema: std::sync::Arc::new(arrow::datatypes::Schema::new(key_fields)),
            converter: RowConverter::new(sorts)?,
            output_schema: output.row.arrow().clone(),
            is_outer: node.is_outer,
            condition: PairCondition::over(&node.condition, output.row.arrow().clone()),
            retry: node.retry,
            cache: node.provider.cache().map(|rules| Cache::new(rules, found_fields.clone())).transpose()?,
            found_fields,
        })
    }

    /// The rows of a batch with what is found for them.
    pub(crate) async fn join(&mut self, batch: &ChangelogBatch, now_ms: i64) -> Result<Option<ChangelogBatch>> {
        let columns = batch.records().columns();
        let keys: Vec<ArrayRef> = self.keys.iter().map(|&key| columns[key].clone()).collect();
        let Distinct { key_of_row, first_rows, bytes } = self.distinct(&keys, batch.num_rows())?;
        let found = self.find(&keys, &first_rows, &bytes, now_ms).await?;
        let (mut rows, mut pool) = (Vec::new(), Vec::new());
        for (row, &key) in key_of_row.iter().enumerate().filter(|(_, key)| **key != NO_ROW) {
            pool.extend_from_slice(&found.rows[key as usize]);
            rows.resize(pool.len(), row as u32);
        }
        let mut hits = Hits::default();
        if let (Some(condition), false) = (&self.condition, rows.is_empty()) {
            hits = condition.evaluate(pick_all(columns, &rows)?, pick_all(&found.columns, &pool)?, rows.len())?;
        }
        let (mut shown_rows, mut shown_pool) = (Vec::new(), Vec::new());
        let mut pair = 0;
        for row in 0..batch.num_rows() as u32 {
            let before = shown_rows.len();
            while rows.get(pair) == Some(&row) {
                if hits.contains(pair) {
                    shown_rows.push(row);
                    shown_pool.push(pool[pair]);
                }
                pair += 1;
            }
            if self.is_outer && shown_rows.len() == before {
                shown_rows.push(row);
                shown_pool.push(NO_ROW);
            }
        }
        if shown_rows.is_empty() {
            return Ok(None);
        }
        let mut output = pick_all(columns, &shown_rows)?;
        match found.columns.first().is_none_or(|column| column.is_empty()) {
            true => output.extend(
                self.found_fields.iter().map(|field| arrow::array::new_null_array(field.data_type(), shown_rows.len())),
            ),
            false => output.extend(pick_all(&found.columns, &shown_pool)?),
        }
        let records = record_batch(&self.output_schema, output, shown_rows.len())?;
        let kinds: Vec<RowKind> = shown_rows.iter().map(|&row| batch.kind(row as usize)).collect();
        Ok(Some(ChangelogBatch::new(records, kinds)))
    }

    /// The different keys of a batch.
    fn distinct(&self, keys: &[ArrayRef], rows: usize) -> Result<Distinct> {
        let encoded = self.converter.convert_columns(keys)?;
        let mut known: HashMap<Box<[u8]>, u32> = HashMap::new();
        let (mut key_of_row, mut first_rows, mut bytes) = (Vec::with_capacity(rows), Vec::new(), Vec::new());
        for row in 0..rows {
            if keys.iter().any(|key| key.is_null(row)) {
                key_of_row.push(NO_ROW);
                continue;
            }
            let key = encoded.row(row);
            let next = first_rows.len() as u32;
            let number = match known.get(key.data()) {
                Some(&number) => number,
                None => {
                    let owned: Box<[u8]> = key.data().into();
                    known.insert(owned.clone(), next);
                    first_rows.push(row as u32);
                    bytes.push(owned);
                    next
                }
            };
            key_of_row.push(number);
        }
        Ok(Distinct { key_of_row, first_rows, bytes })
    }

    /// The rows of distinct keys, from the cache or the table.
    async fn find(&mut self, keys: &[ArrayRef], first: &[u32], bytes: &[Box<[u8]>], now_ms: i64) -> Result<Found> {
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); first.len()];
        let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
        let mut length = 0u32;
        let mut wanted: Vec<u32> = (0..first.len() as u32).collect();
        if let Some(cache) = &mut self.cache {
            let mut slots = Vec::new();
            wanted.retain(|&key| match cache.get(&bytes[key as usize], now_ms) {
                Some(kept) => {
                    rows[key as usize] = (length..length + kept.len() as u32).collect();
                    length += kept.len() as u32;
                    slots.extend_from_slice(kept);
                    false
                }
                None => true,
            });
            if !slots.is_empty() {
                parts.push(cache.rows.columns(&slots)?);
            }
        }
        let mut attempts = self.retry.map_or(1, |retry| retry.attempts.saturating_add(1));
        while !wanted.is_empty() {
            let places: UInt32Array = wanted.iter().map(|&key| first[key as usize]).collect();
            let asked = keys.iter().map(|key| Ok(take(key.as_ref(), &places, None)?)).collect::<Result<Vec<_>>>()?;
            let asked = record_batch(&self.key_schema, asked, wanted.len())?;
            let answer = self.reader.lookup(&asked).await?;
            self.check(&answer.rows, &answer.keys, wanted.len())?;
            for (at, &key) in answer.keys.iter().enumerate() {
                rows[wanted[key as usize] as usize].push(length + at as u32);
            }
            attempts -= 1;
            let missing = |key: &u32| rows[*key as usize].is_empty();
            if let Some(cache) = &mut self.cache {
                let keeps_missing = attempts == 0 && cache.rules.keeps_missing;
                for &key in wanted.iter().filter(|key| keeps_missing || !missing(key)) {
                    let own: Vec<u32> = rows[key as usize].iter().map(|row| row - length).collect();
                    cache.put(&bytes[key as usize], answer.rows.columns(), &own, now_ms)?;
                }
            }
            length += answer.rows.num_rows() as u32;
            parts.push(answer.rows.columns().to_vec());
            wanted.retain(missing);
            match self.retry {
                Some(retry) if attempts > 0 && !wanted.is_empty() => tokio::time::sleep(retry.delay).await,
                _ => break,
            }
        }
        Ok(Found { columns: self.together(&parts)?, rows })
    }

    /// What a connector must keep to.
    fn check(&self, rows: &RecordBatch, keys: &[u32], asked: usize) -> Result<()> {
        let is_right = rows.num_rows() == keys.len()
            && rows.num_columns() == self.found_fields.len()
            && keys.iter().all(|key| (*key as usize) < asked);
        if is_right {
            Ok(())
        } else {
            Err(Error::internal(format!("an answer of table {} to another question", self.table)))
        }
    }

    fn together(&self, parts: &[Vec<ArrayRef>]) -> Result<Vec<ArrayRef>> {
        match parts {
            [] => Ok(Vec::new()),
            [one] => Ok(one.clone()),
            many => (0..self.found_fields.len())
                .map(|column| {
                    let arrays: Vec<&dyn Array> = many.iter().map(|part| part[column].as_ref()).collect();
                    Ok(concat(&arrays)?)
                })
                .collect(),
        }
    }
}

/// Rows of keys, for a while.
struct Cache {
    rules: LookupCache,
    entries: HashMap<Box<[u8]>, Entry>,
    /// Keys by their last use.
    used: BTreeMap<u64, Box<[u8]>>,
    next_use: u64,
    rows: RowStore,
    free: Vec<u32>,
    slots: u32,
    live: u64,
}

struct Entry {
    slots: Vec<u32>,
    written_ms: i64,
    used_ms: i64,
    last_use: u64,
}

impl Cache {
    fn new(rules: LookupCache, fields: Vec<FieldRef>) -> Result<Cache> {
        Ok(Cache {
            rules,
            entries: HashMap::new(),
            used: BTreeMap::new(),
            next_use: 0,
            rows: RowStore::new(fields)?,
            free: Vec::new(),
            slots: 0,
            live: 0,
        })
    }

    fn is_over(&self, entry: &Entry, now_ms: i64) -> bool {
        let passed = |since: i64, limit: Option<std::time::Duration>| {
            limit.is_some_and(|limit| now_ms.saturating_sub(since) >= limit.as_millis() as i64)
        };
        passed(entry.written_ms, self.rules.after_write) || passed(entry.used_ms, self.rules.after_access)
    }

    fn get(&mut self, key: &[u8], now_ms: i64) -> Option<&[u32]> {
        if self.is_over(self.entries.get(key)?, now_ms) {
            self.remove(key);
            return None;
        }
        let entry = self.entries.get_mut(key)?;
        let owned = self.used.remove(&entry.last_use)?;
        entry.last_use = self.next_use;
        entry.used_ms = now_ms;
        self.used.insert(self.next_use, owned);
        self.next_use += 1;
        Some(&entry.slots)
    }

    fn put(&mut self, key: &[u8], columns: &[ArrayRef], rows: &[u32], now_ms: i64) -> Result<()> {
        self.remove(key);
        let size = rows.len().max(1) as u64;
        if self.rules.rows_max.is_some_and(|most| size > most) {
            return Ok(());
        }
        while self.rules.rows_max.is_some_and(|most| self.live + size > most)
            && let Some(oldest) = self.used.first_key_value().map(|(_, key)| key.clone())
        {
            self.remove(&oldest);
        }
        let own = pick_all(columns, rows)?;
        let encoded = self.rows.encode(&own)?;
        let mut slots = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            self.rows.set(slot, &encoded, row);
            slots.push(slot);
        }
        self.live += size;
        self.used.insert(self.next_use, key.into());
        self.entries.insert(key.into(), Entry { slots, written_ms: now_ms, used_ms: now_ms, last_use: self.next_use });
        self.next_use += 1;
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) {
        let Some(entry) = self.entries.remove(key) else { return };
        self.used.remove(&entry.last_use);
        self.live -= entry.slots.len().max(1) as u64;
        for slot in entry.slots {
            self.rows.clear(slot);
            self.free.push(slot);
        }
    }
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
