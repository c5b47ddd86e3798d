//! The result of a SELECT in batch mode: a table, printed when it is complete.

use crate::output;
use crate::results::lock;
use crate::table_text;
use arrow::array::{Array, StringArray};
use base::connector::{Committable, Instance, SinkProvider, SinkWriter};
use base::{BoxFuture, ChangelogBatch, Epoch, Error, Result, RowType};
use std::sync::{Arc, Mutex};

/// The rows of a result, one text per cell.
type TextRows = Vec<Vec<Option<String>>>;

/// Collects rows and prints them as a table at the end.
#[derive(Debug)]
pub struct TableSink {
    row: RowType,
    time_zone: chrono_tz::Tz,
    rows: Arc<Mutex<TextRows>>,
}

impl TableSink {
    /// The sink of a result with these columns; instants are shown in `time_zone`.
    pub fn new(row: &RowType, time_zone: chrono_tz::Tz) -> TableSink {
        TableSink { row: row.clone(), time_zone, rows: Arc::default() }
    }
}

impl SinkProvider for TableSink {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, _instance: Instance, _restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(TableWriter { row: self.row.clone(), time_zone: self.time_zone, rows: self.rows.clone() }))
    }

    fn finish<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let columns: Vec<String> = self.row.fields().iter().map(|field| field.name.clone()).collect();
            output::write(&table_text::table(&columns, &lock(&self.rows)))
                .map_err(|cause| Error::io("write to", "standard output", &cause))
        })
    }

    fn prints(&self) -> bool {
        true
    }
}

struct TableWriter {
    row: RowType,
    time_zone: chrono_tz::Tz,
    rows: Arc<Mutex<TextRows>>,
}

impl SinkWriter for TableWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let columns: Vec<StringArray> = (batch.records().columns().iter().zip(self.row.fields()))
                .map(|(column, field)| functions::to_text(column, &field.sql_type, self.time_zone))
                .collect::<Result<_>>()?;
            let cell = |column: &StringArray, row: usize| match column.is_valid(row) {
                true => column.value(row).to_string(),
                false => "<NULL>".to_string(),
            };
            let texts = (0..batch.num_rows()).map(|row| columns.iter().map(|column| Some(cell(column, row))).collect());
            lock(&self.rows).extend(texts);
            Ok(())
        })
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn prepare_commit<'a>(&'a mut self, _epoch: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
