//! Rows of a Kafka source, put together from what keys and values decode to, and from the messages' metadata.

use super::codes;
use super::delivery::MessageHeaders;
use super::table::KafkaTable;
use arrow::array::{
    Array, ArrayRef, BinaryBuilder, Int32Array, Int64Array, MapBuilder, RecordBatch, RecordBatchOptions, StringArray,
    StringBuilder, TimestampMillisecondArray, UInt32Array, make_array, new_null_array,
};
use arrow::compute::{concat, take};
use arrow::datatypes::DataType;
use base::connector::ScanSpec;
use base::format::{DecodeError, DecodeSpec, Decoded, Decoder, Records};
use base::types::INSTANT_ZONE;
use base::{ChangelogBatch, Error, Field, Result, RowKind, RowType};
use rdkafka::Timestamp;
use rdkafka::message::{BorrowedMessage, Headers, Message};
use std::sync::Arc;

/// Where a column of the scan comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// A column of the decoded values; if the table is keyed and a message has no value, of the decoded keys.
    Value { value: usize, key: Option<usize> },
    /// A column of the decoded keys.
    Key(usize),
    /// The message itself.
    Message(Metadata),
}

/// What a message says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metadata {
    Topic,
    Partition,
    Headers,
    LeaderEpoch,
    Offset,
    Timestamp,
    TimestampType,
}

impl Metadata {
    fn parse(key: &str) -> Option<Metadata> {
        Some(match key {
            "topic" => Metadata::Topic,
            "partition" => Metadata::Partition,
            "headers" => Metadata::Headers,
            "leader-epoch" => Metadata::LeaderEpoch,
            "offset" => Metadata::Offset,
            "timestamp" => Metadata::Timestamp,
            "timestamp-type" => Metadata::TimestampType,
            _ => return None,
        })
    }
}

/// How messages become rows.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    output: RowType,
    columns: Vec<From>,
    /// What values decode to.
    value: DecodeSpec,
    /// What keys decode to; `None` if nobody needs them.
    key: Option<DecodeSpec>,
    /// Whether every key is decoded; else only those of messages without a value.
    needs_every_key: bool,
    is_upsert: bool,
    /// What is gathered of each message besides key and value.
    wants_headers: bool,
    wants_timestamps: bool,
    wants_epochs: bool,
}

impl Layout {
    /// The layout of a scan.
    ///
    /// # Errors
    /// A scan of columns that the table does not have is a bug of the planner.
    pub fn new(table: &KafkaTable, scan: &ScanSpec) -> Result<Layout> {
        let mut value_fields = Vec::new();
        let mut key_fields = Vec::new();
        let mut columns = Vec::new();
        let key_row = table.key.as_ref().map(|key| key.row(&table.physical));
        let mut needs_every_key = false;
        for name in &scan.physical {
            let position = table.physical.index_of(name).ok_or_else(|| Error::internal(format!("no column {name}")))?;
            let field = &table.physical.fields()[position];
            let in_key = table.key.as_ref().and_then(|key| key.columns.iter().position(|column| *column == position));
            let mut add_key = || {
                let (row, index) = key_row.as_ref().zip(in_key)?;
                key_fields.push(row.fields()[index].clone());
                Some(key_fields.len() - 1)
            };
            if table.value_columns.contains(&position) {
                let key = if table.is_upsert { add_key() } else { None };
                value_fields.push(field.clone());
                columns.push(From::Value { value: value_fields.len() - 1, key });
            } else {
                let index = add_key().ok_or_else(|| Error::internal(format!("column {name} is nowhere")))?;
                needs_every_key = true;
                columns.push(From::Key(index));
            }
        }
        let mut format_metadata = Vec::new();
        for (key, field) in scan.metadata.iter().zip(&scan.output.fields()[scan.physical.len()..]) {
            match Metadata::parse(key) {
                Some(metadata) => columns.push(From::Message(metadata)),
                None => {
                    let own = key.strip_prefix("value.").unwrap_or(key);
                    format_metadata.push(own.to_string());
                    value_fields.push(Field::new(own, field.sql_type.clone()));
                    columns.push(From::Value { value: value_fields.len() - 1, key: None });
                }
            }
        }
        let has = |metadata: &[Metadata]| {
            columns.iter().any(|from| matches!(from, From::Message(wanted) if metadata.contains(wanted)))
        };
        let spec = |fields, metadata, table_row| DecodeSpec {
            columns: RowType::new(fields),
            metadata,
            table: table_row,
            time_zone: table.time_zone,
        };
        let needs_keys = needs_every_key || table.is_upsert;
        Ok(Layout {
            output: scan.output.clone(),
            needs_every_key,
            is_upsert: table.is_upsert,
            wants_headers: has(&[Metadata::Headers]),
            wants_timestamps: has(&[Metadata::Timestamp, Metadata::TimestampType]),
            wants_epochs: has(&[Metadata::LeaderEpoch]),
            columns,
            value: spec(value_fields, format_metadata, table.value_row()),
            key: key_row.filter(|_| needs_keys).map(|row| spec(key_fields, Vec::new(), row)),
        })
    }

    /// The decoders of one reader.
    ///
    /// # Errors
    /// Column types that a format cannot read.
    pub fn decoders(&self, table: &KafkaTable) -> Result<Decoders> {
        let format = &table.value;
        let value = format.factory.decoder(&format.options, &self.value)?;
        let key = match (&table.key, &self.key) {
            (Some(key), Some(spec)) => Some(key.format.factory.decoder(&key.format.options, spec)?),
            _ => None,
        };
        Ok(Decoders { value, key })
    }
}

/// The decoders of one reader.
#[derive(Debug)]
pub(super) struct Decoders {
    value: Box<dyn Decoder>,
    key: Option<Box<dyn Decoder>>,
}

/// Messages of one partition that wait to be decoded.
#[derive(Debug, Default)]
pub(super) struct Pending {
    values: Records,
    keys: Records,
    pub offsets: Vec<i64>,
    timestamps: Vec<Timestamp>,
    epochs: Vec<Option<i32>>,
    headers: Vec<MessageHeaders>,
}

impl Pending {
    /// Takes what the layout needs of a message; returns its bytes.
    pub fn push(&mut self, message: &BorrowedMessage<'_>, layout: &Layout) -> usize {
        let push = |records: &mut Records, bytes: Option<&[u8]>| match bytes {
            Some(bytes) => records.push(bytes),
            None => records.push_null(),
        };
        push(&mut self.values, message.payload());
        if layout.key.is_some() {
            push(&mut self.keys, message.key());
        }
        self.offsets.push(message.offset());
        if layout.wants_timestamps {
            self.timestamps.push(message.timestamp());
        }
        if layout.wants_epochs {
            self.epochs.push(leader_epoch(message));
        }
        if layout.wants_headers {
            self.headers.push(headers(message));
        }
        message.payload_len() + message.key_len()
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    fn clear(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.offsets.clear();
        self.timestamps.clear();
        self.epochs.clear();
        self.headers.clear();
    }
}

/// The epoch of the leader that gave the message; `None` if the broker does not say.
#[allow(unsafe_code)] // the client library has no safe call for it
fn leader_epoch(message: &BorrowedMessage<'_>) -> Option<i32> {
    // SAFETY: the pointer is that of a message which is borrowed for the time of the call.
    let epoch = unsafe { rdkafka::bindings::rd_kafka_message_leader_epoch(message.ptr()) };
    (epoch >= 0).then_some(epoch)
}

fn headers(message: &BorrowedMessage<'_>) -> MessageHeaders {
    let headers = message.headers().into_iter().flat_map(|headers| headers.iter());
    headers.map(|header| (header.key.to_string(), header.value.map(<[u8]>::to_vec))).collect()
}

/// Where messages are from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub table: &'a str,
    pub topic: &'a str,
    pub partition: i32,
}

/// What some messages became.
#[derive(Debug)]
pub(super) struct Rows {
    pub batch: ChangelogBatch,
    /// Messages that were left out: their number and the reason.
    pub rejected: Vec<(u32, Error)>,
    /// The message that fails the job, and why.
    pub failed: Option<(usize, Error)>,
}

/// Where a row's columns are: rows of the decoded values and keys.
#[derive(Debug, Default)]
struct Places {
    messages: Vec<u32>,
    values: Vec<u32>,
    keys: Vec<Option<u32>>,
    kinds: Vec<RowKind>,
    has_tombstone: bool,
}

impl Places {
    fn push(&mut self, message: u32, value: usize, key: Option<u32>, kind: RowKind) {
        self.messages.push(message);
        self.values.push(value as u32);
        self.keys.push(key);
        self.kinds.push(kind);
    }
}

impl Layout {
    /// Decodes pending messages of one partition; there are none afterwards.
    ///
    /// # Errors
    /// Only bugs: what is wrong with a message is in [`Rows::failed`] or [`Rows::rejected`].
    pub fn decode(&self, decoders: &mut Decoders, pending: &mut Pending, place: Place<'_>) -> Result<Rows> {
        let (values, mut failed) = split(decoders.value.decode(&pending.values));
        let mut rejected = values.rejected;
        let keys = match &mut decoders.key {
            Some(decoder) if self.needs_every_key || pending.values.has_nulls() => {
                let (keys, key_failed) = split(decoder.decode(&pending.keys));
                rejected.extend(keys.rejected.iter().cloned());
                failed = earlier(failed, key_failed);
                Some((keys.batch, keys.records))
            }
            _ => None,
        };
        let end = failed.as_ref().map_or(pending.len(), |(message, _)| *message);
        let is_keyless = self.is_upsert && pending.keys.has_nulls();
        let batch = if keys.is_none() && !is_keyless && values.records.is_none() && values.batch.num_rows() <= end {
            // Every message is one row.
            self.assemble(&values.batch, None, None, pending, place)?
        } else {
            let places =
                self.places(&values.batch, values.records.as_deref(), keys.as_ref(), pending, end, |message| {
                    let reason = "the key says which row a record replaces";
                    rejected
                        .push((message, Error::new(&codes::NO_KEY, &[("table", &place.table), ("reason", &reason)])));
                });
            self.assemble(&values.batch, keys.as_ref().map(|(batch, _)| batch), Some(&places), pending, place)?
        };
        rejected.retain(|(message, _)| (*message as usize) < end);
        rejected.sort_by_key(|(message, _)| *message);
        rejected.dedup_by_key(|(message, _)| *message);
        pending.clear();
        Ok(Rows { batch, rejected, failed })
    }

    /// Brings values and keys of the same message together, messages in order.
    fn places(
        &self,
        values: &ChangelogBatch,
        value_records: Option<&[u32]>,
        keys: Option<&(ChangelogBatch, Option<Vec<u32>>)>,
        pending: &Pending,
        end: usize,
        mut without_key: impl FnMut(u32),
    ) -> Places {
        let mut places = Places::default();
        let (mut value, mut key) = (0, 0);
        let value_count = values.num_rows();
        let key_count = keys.map_or(0, |(batch, _)| batch.num_rows());
        let record = |records: Option<&[u32]>, row: usize| records.map_or(row as u32, |records| records[row]);
        for message in 0..end as u32 {
            let key_records = keys.and_then(|(_, records)| records.as_deref());
            while key < key_count && record(key_records, key) < message {
                key += 1;
            }
            let own_key = (key < key_count && record(key_records, key) == message).then_some(key as u32);
            let first = value;
            while value < value_count && record(value_records, value) == message {
                value += 1;
            }
            if self.is_upsert && pending.keys.is_null(message as usize) {
                without_key(message);
                continue;
            }
            let is_tombstone = self.is_upsert && pending.values.is_null(message as usize);
            if own_key.is_none() && keys.is_some() && (is_tombstone || self.needs_every_key) {
                // An empty key says as little as none; one that cannot be read has been rejected already.
                let has_key = !pending.keys.get(message as usize).is_empty();
                if !has_key && self.is_upsert {
                    without_key(message);
                }
                if has_key || self.is_upsert {
                    continue;
                }
            }
            if is_tombstone {
                places.has_tombstone = true;
                // Behind the last row stands one of defaults.
                places.push(message, value_count, own_key, RowKind::Delete);
            } else {
                (first..value).for_each(|row| places.push(message, row, own_key, values.kind(row)));
            }
        }
        places
    }

    fn assemble(
        &self,
        values: &ChangelogBatch,
        keys: Option<&ChangelogBatch>,
        places: Option<&Places>,
        pending: &Pending,
        place: Place<'_>,
    ) -> Result<ChangelogBatch> {
        let rows = places.map_or(values.num_rows(), |places| places.messages.len());
        let value_rows = places.map(|places| UInt32Array::from_iter_values(places.values.iter().copied()));
        let key_rows = places.map(|places| UInt32Array::from_iter(places.keys.iter().copied()));
        let messages = places.map(|places| places.messages.as_slice());
        let columns = self.columns.iter().zip(self.output.fields()).map(|(from, field)| {
            let key_column = |index: usize| -> Result<ArrayRef> {
                let (Some(keys), Some(rows)) = (keys, &key_rows) else {
                    return Ok(new_null_array(&field.sql_type.arrow(), rows));
                };
                let column = take(keys.records().column(index), rows, None)?;
                if column.null_count() > 0 && !field.sql_type.nullable && !self.is_upsert {
                    let reason = format!("column {} is NOT NULL and comes from the key", field.name);
                    return Err(Error::new(&codes::NO_KEY, &[("table", &place.table), ("reason", &reason)]));
                }
                Ok(column)
            };
            match *from {
                From::Key(index) => key_column(index),
                From::Value { value, key } => {
                    let column = values.records().column(value);
                    let (Some(rows), Some(places)) = (&value_rows, places) else { return Ok(column.clone()) };
                    if !places.has_tombstone {
                        return Ok(take(column, rows, None)?);
                    }
                    match key {
                        Some(key) => merge(column, &key_column(key)?, places),
                        None => {
                            let default = default_value(column, field.sql_type.nullable)?;
                            Ok(take(&concat(&[column, &default])?, rows, None)?)
                        }
                    }
                }
                From::Message(metadata) => metadata_column(metadata, field, pending, messages, rows, place),
            }
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let records = RecordBatch::try_new_with_options(self.output.arrow().clone(), columns, &options)?;
        Ok(match (places, values.kinds()) {
            (Some(places), _) => ChangelogBatch::new(records, places.kinds.clone()),
            (None, Some(kinds)) => ChangelogBatch::new(records, kinds),
            (None, None) => ChangelogBatch::inserts(records),
        })
    }
}

/// What the messages of each row say about themselves.
fn metadata_column(
    metadata: Metadata,
    field: &Field,
    pending: &Pending,
    messages: Option<&[u32]>,
    rows: usize,
    place: Place<'_>,
) -> Result<ArrayRef> {
    let message = |row: usize| messages.map_or(row, |messages| messages[row] as usize);
    let time_type = |timestamp: Timestamp| match timestamp {
        Timestamp::NotAvailable => "NoTimestampType",
        Timestamp::CreateTime(_) => "CreateTime",
        Timestamp::LogAppendTime(_) => "LogAppendTime",
    };
    Ok(match metadata {
        Metadata::Topic => Arc::new(StringArray::from_iter_values(std::iter::repeat_n(place.topic, rows))),
        Metadata::Partition => Arc::new(Int32Array::from_value(place.partition, rows)),
        Metadata::Offset => Arc::new(Int64Array::from_iter_values((0..rows).map(|row| pending.offsets[message(row)]))),
        Metadata::Timestamp => {
            let times = (0..rows).map(|row| pending.timestamps[message(row)].to_millis().unwrap_or(-1));
            Arc::new(TimestampMillisecondArray::from_iter_values(times).with_timezone(INSTANT_ZONE))
        }
        Metadata::TimestampType => {
            Arc::new(StringArray::from_iter_values((0..rows).map(|row| time_type(pending.timestamps[message(row)]))))
        }
        Metadata::LeaderEpoch => Arc::new(Int32Array::from_iter((0..rows).map(|row| pending.epochs[message(row)]))),
        Metadata::Headers => header_maps(&field.sql_type.arrow(), rows, |row| &pending.headers[message(row)])?,
    })
}

/// The key of each message that has one, else its value.
fn merge(values: &ArrayRef, keys: &ArrayRef, places: &Places) -> Result<ArrayRef> {
    let indices: Vec<(usize, usize)> = places
        .kinds
        .iter()
        .enumerate()
        .map(|(row, _)| {
            let value = places.values[row] as usize;
            if value < values.len() { (0, value) } else { (1, row) }
        })
        .collect();
    Ok(arrow::compute::interleave(&[values.as_ref(), keys.as_ref()], &indices)?)
}

/// One value for a column of a deleted row: NULL where the column can be NULL, else whatever fits the type, because nobody
/// looks at more than the key of a deleted row.
fn default_value(column: &ArrayRef, nullable: bool) -> Result<ArrayRef> {
    let null = new_null_array(column.data_type(), 1);
    if nullable {
        return Ok(null);
    }
    let data = null.to_data().into_builder().nulls(None).build()?;
    Ok(make_array(data))
}

fn header_maps<'a>(map_type: &DataType, rows: usize, of: impl Fn(usize) -> &'a MessageHeaders) -> Result<ArrayRef> {
    let DataType::Map(entries, _) = map_type else { return Err(Error::internal("headers are a map")) };
    let DataType::Struct(fields) = entries.data_type() else { return Err(Error::internal("a map has entries")) };
    let mut maps = MapBuilder::new(None, StringBuilder::new(), BinaryBuilder::new())
        .with_keys_field(fields[0].clone())
        .with_values_field(fields[1].clone());
    for row in 0..rows {
        for (key, value) in of(row) {
            maps.keys().append_value(key);
            maps.values().append_option(value.as_ref());
        }
        maps.append(true)?;
    }
    Ok(Arc::new(maps.finish()))
}

fn split(decoded: std::result::Result<Decoded, DecodeError>) -> (Decoded, Option<(usize, Error)>) {
    match decoded {
        Ok(decoded) => (decoded, None),
        Err(DecodeError { record, error, before }) => (*before, Some((record, error))),
    }
}

fn earlier(a: Option<(usize, Error)>, b: Option<(usize, Error)>) -> Option<(usize, Error)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
