//! What the tests of connectors share: tables in a line, a format of plain lines, and reading a source to its end.

use crate::register;
use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringBuilder};
use base::clock::ManualClock;
use base::connector::*;
use base::format::*;
use base::options::{OptionKind, OptionSpec};
use base::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A format of one column of text. A line `bad` fails, a line `skip` is rejected.
#[derive(Debug)]
pub(crate) struct LineFormat;

const UPPER: OptionSpec = OptionSpec {
    key: "line.upper",
    kind: OptionKind::Boolean,
    default: None,
    required: false,
    en: "upper case",
    zh: "大写",
};

impl FormatFactory for LineFormat {
    fn name(&self) -> &'static str {
        "line"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[UPPER]
    }

    fn describe(&self, _: &Options) -> Result<FormatDescription> {
        Ok(FormatDescription {
            decodes: ChangelogMode::APPEND,
            encodes: ChangelogMode::APPEND,
            metadata: vec![("length", LogicalType::Int.nullable())],
        })
    }

    fn decoder(&self, _: &Options, spec: &DecodeSpec) -> Result<Box<dyn Decoder>> {
        Ok(Box::new(LineCodec(spec.columns.clone())))
    }

    fn encoder(&self, _: &Options, columns: &RowType, _: chrono_tz::Tz) -> Result<Box<dyn Encoder>> {
        Ok(Box::new(LineCodec(columns.clone())))
    }
}

#[derive(Debug)]
struct LineCodec(RowType);

impl LineCodec {
    fn rows(&self, records: &[&[u8]]) -> ChangelogBatch {
        let mut text = StringBuilder::new();
        records.iter().for_each(|record| text.append_value(String::from_utf8_lossy(record)));
        let columns: Vec<ArrayRef> = if self.0.is_empty() { vec![] } else { vec![Arc::new(text.finish())] };
        let options = RecordBatchOptions::new().with_row_count(Some(records.len()));
        ChangelogBatch::inserts(RecordBatch::try_new_with_options(self.0.arrow().clone(), columns, &options).unwrap())
    }
}

impl Decoder for LineCodec {
    fn decode(&mut self, records: &Records) -> std::result::Result<Decoded, DecodeError> {
        let (mut rows, mut numbers, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
        for (index, record) in records.iter().enumerate() {
            match record {
                b"bad" => {
                    let batch = self.rows(&rows);
                    let before = Box::new(Decoded { batch, records: Some(numbers), rejected });
                    return Err(DecodeError { record: index, error: Error::internal("bad line"), before });
                }
                b"skip" => rejected.push((index as u32, Error::internal("skipped"))),
                record => {
                    rows.push(record);
                    numbers.push(index as u32);
                }
            }
        }
        Ok(Decoded { batch: self.rows(&rows), records: Some(numbers), rejected })
    }
}

impl Encoder for LineCodec {
    fn encode(&mut self, batch: &ChangelogBatch, out: &mut Records) -> Result<()> {
        let column = batch.records().column(0).as_string::<i32>();
        column.iter().for_each(|value| out.push(value.unwrap_or_default().as_bytes()));
        Ok(())
    }
}

/// The connectors of this build.
pub(crate) fn connector(name: &str) -> Arc<dyn ConnectorFactory> {
    let mut registry = ConnectorRegistry::default();
    register(&mut registry);
    registry.get(name).unwrap().clone()
}

/// A context whose clock stands at 2024-11-20 15:00:00 UTC.
pub(crate) fn context() -> ConnectorContext {
    let mut formats = FormatRegistry::default();
    formats.register(Arc::new(LineFormat));
    ConnectorContext {
        formats: Arc::new(formats),
        time_zone: chrono_tz::UTC,
        clock: Arc::new(ManualClock::new(1_732_114_800_000)),
        warnings: Warnings::default(),
    }
}

/// A table of `name type` columns (` | ` between them) and options.
pub(crate) fn table(columns: &str, options: &[(&str, &str)]) -> TableDefinition {
    let columns = columns.split(" | ").map(|column| {
        let (name, sql_type) = column.split_once(' ').unwrap();
        Column { name: name.into(), sql_type: sql_type.parse().unwrap(), kind: ColumnKind::Physical, comment: None }
    });
    TableDefinition {
        path: ObjectPath { catalog: "c".into(), database: "d".into(), name: "t".into() },
        columns: columns.collect(),
        primary_key: vec![],
        watermark: None,
        partitioned_by: vec![],
        options: options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        comment: None,
    }
}

/// All physical columns of a table, and some metadata columns.
pub(crate) fn scan(table: &TableDefinition, metadata: &[(&str, SqlType)]) -> ScanSpec {
    let mut fields = table.physical_row().fields().to_vec();
    fields.extend(metadata.iter().map(|(key, sql_type)| Field::new(*key, sql_type.clone())));
    ScanSpec {
        physical: table.physical().map(|column| column.name.clone()).collect(),
        metadata: metadata.iter().map(|(key, _)| key.to_string()).collect(),
        output: RowType::new(fields),
    }
}

/// The next event of a reader without watermarks.
pub(crate) async fn next(reader: &mut dyn SourceReader, rows_max: usize) -> Result<SourceEvent> {
    reader.next(ReadRequest { rows_max, watermarks: &BTreeMap::new() }).await
}

/// All batches up to the end, in order.
pub(crate) async fn read_all(reader: &mut dyn SourceReader, rows_max: usize) -> Result<Vec<ChangelogBatch>> {
    let mut batches = Vec::new();
    loop {
        match next(reader, rows_max).await? {
            SourceEvent::Batch { batch, .. } => batches.push(batch),
            SourceEvent::End => return Ok(batches),
            _ => {}
        }
    }
}

/// The texts of a batch's first column.
pub(crate) fn texts(batch: &ChangelogBatch) -> Vec<String> {
    let column = batch.records().column(0).as_string::<i32>();
    column.iter().map(|value| value.unwrap_or("null").to_string()).collect()
}

/// What, why and fix of an error and those reported with it, for looking things up in.
pub(crate) fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}
