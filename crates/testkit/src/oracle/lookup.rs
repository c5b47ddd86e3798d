//! The `oracle` connector asked for rows: the log of its table as it stands at the end.

use super::connector::format_of;
use super::feed::Feed;
use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::row::{RowConverter, SortField};
use base::connector::{ConnectorContext, Instance};
use base::format::{DecodeSpec, Records};
use base::lookup::{LookupCache, LookupProvider, LookupReader, LookupRows, LookupSpec};
use base::{BoxFuture, Error, Field, Result, RowKind, RowType, TableDefinition};
use std::collections::HashMap;
use std::sync::Arc;

/// A table of a case that is asked for rows.
#[derive(Debug)]
pub struct OracleLookup {
    /// The table.
    pub table: TableDefinition,
    /// Its name in the log.
    pub log_name: String,
    /// What is asked.
    pub lookup: LookupSpec,
    /// For the format.
    pub context: ConnectorContext,
    /// The log.
    pub feed: Arc<Feed>,
}

impl OracleLookup {
    /// The columns that are decoded: those that are wanted, then keys that are not among them; and where the keys are.
    fn columns(&self) -> (RowType, Vec<usize>) {
        let mut fields: Vec<Field> = self.lookup.output.fields().to_vec();
        let mut places = Vec::new();
        for key in self.lookup.keys.fields() {
            let known = fields.iter().position(|field| field.name == key.name);
            places.push(known.unwrap_or(fields.len()));
            if known.is_none() {
                fields.push(key.clone());
            }
        }
        (RowType::new(fields), places)
    }
}

impl LookupProvider for OracleLookup {
    fn reader(&self, _instance: Instance) -> Result<Box<dyn LookupReader>> {
        let (columns, places) = self.columns();
        let format = format_of(&self.table, &self.context)?;
        let spec = DecodeSpec {
            columns,
            metadata: Vec::new(),
            table: self.table.physical_row(),
            time_zone: self.context.time_zone,
        };
        let mut payloads: Vec<&str> = Vec::new();
        for event in self.feed.events.iter().filter(|event| event.table == self.log_name) {
            match event.kind.unwrap_or(RowKind::Insert).is_addition() {
                true => payloads.push(&event.payload),
                false => {
                    let place = payloads.iter().rposition(|payload| *payload == event.payload);
                    place.map(|place| payloads.remove(place));
                }
            }
        }
        let mut records = Records::default();
        payloads.iter().for_each(|payload| records.push(payload.as_bytes()));
        let decoded =
            format.decoder(&self.table.options, &spec)?.decode(&records).map_err(|failed| failed.error)?.batch;
        let columns = decoded.records().columns();
        let keys: Vec<ArrayRef> = places.iter().map(|&place| columns[place].clone()).collect();
        let sorts = keys.iter().map(|key| SortField::new(key.data_type().clone())).collect();
        let converter = RowConverter::new(sorts)?;
        let mut by_key: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
        for (row, key) in converter.convert_columns(&keys)?.iter().enumerate() {
            by_key.entry(key.data().to_vec()).or_default().push(row as u32);
        }
        let wanted: Vec<usize> = (0..self.lookup.output.len()).collect();
        let rows = decoded.records().project(&wanted)?.with_schema(self.lookup.output.arrow().clone())?;
        Ok(Box::new(OracleLookupReader { rows, converter, by_key }))
    }

    fn cache(&self) -> Option<LookupCache> {
        LookupCache::from_options(&self.table.options).ok().flatten()
    }
}

struct OracleLookupReader {
    rows: RecordBatch,
    converter: RowConverter,
    by_key: HashMap<Vec<u8>, Vec<u32>>,
}

impl LookupReader for OracleLookupReader {
    fn lookup<'a>(&'a mut self, keys: &'a RecordBatch) -> BoxFuture<'a, Result<LookupRows>> {
        Box::pin(async {
            let (mut rows, mut of) = (Vec::new(), Vec::new());
            for (number, key) in self.converter.convert_columns(keys.columns())?.iter().enumerate() {
                let found = self.by_key.get(key.data()).map_or(&[][..], Vec::as_slice);
                rows.extend_from_slice(found);
                of.resize(rows.len(), number as u32);
            }
            let places = UInt32Array::from(rows);
            let columns = self.rows.columns().iter().map(|column| take(column.as_ref(), &places, None));
            let columns = columns.collect::<Result<Vec<_>, _>>().map_err(Error::from)?;
            let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(of.len()));
            Ok(LookupRows { rows: RecordBatch::try_new_with_options(self.rows.schema(), columns, &options)?, keys: of })
        })
    }
}
