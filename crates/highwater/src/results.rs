//! Where the changelog of a SELECT goes: lines on standard output, or a table that is kept up to date.

use crate::batch_results::TableSink;
use crate::table_text;
use arrow::array::{Array, StringArray};
use base::connector::{Committable, Instance, SinkProvider, SinkWriter};
use base::{BoxFuture, ChangelogBatch, ChangelogMode, Epoch, Error, LogicalType, Result, RowType};
use planner::ResultSinkFactory;
use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use unicode_width::UnicodeWidthStr;

/// How results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultMode {
    /// Every change as a line, as Flink's tableau mode.
    Changelog,
    /// The table that the changes describe.
    Table,
}

/// The rows of a result, one text per cell.
type TextRow = Vec<Option<String>>;

/// The table that a changelog describes, in order of insertion.
#[derive(Debug, Default)]
pub struct LiveTable {
    /// Column names.
    pub columns: Vec<String>,
    rows: std::collections::BTreeMap<u64, TextRow>,
    places: HashMap<TextRow, Vec<u64>>,
    next: u64,
    /// Changes received.
    pub changes: u64,
    /// The final tables of earlier queries of the script.
    earlier: String,
}

impl LiveTable {
    /// Begins the table of the next query; the one before is kept as text.
    fn begin(&mut self, columns: Vec<String>) {
        let earlier = self.final_text();
        *self = LiveTable { columns, earlier, ..LiveTable::default() };
    }

    /// The tables of all queries so far.
    pub fn final_text(&self) -> String {
        let last = if self.columns.is_empty() {
            String::new()
        } else {
            table_text::table(&self.columns, &self.last(usize::MAX))
        };
        format!("{}{last}", self.earlier)
    }

    fn apply(&mut self, addition: bool, row: TextRow) {
        self.changes += 1;
        if addition {
            self.places.entry(row.clone()).or_default().push(self.next);
            self.rows.insert(self.next, row);
            self.next += 1;
        } else if let Some(places) = self.places.get_mut(&row) {
            if let Some(place) = places.pop() {
                self.rows.remove(&place);
            }
            if places.is_empty() {
                self.places.remove(&row);
            }
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The last `count` rows, oldest first.
    pub fn last(&self, count: usize) -> Vec<TextRow> {
        let skipped = self.rows.len().saturating_sub(count);
        self.rows.values().skip(skipped).cloned().collect()
    }
}

/// Makes the sinks of SELECT statements.
#[derive(Debug, Default)]
pub struct ResultSinks {
    /// Whether results are shown as a table. The script's SET decides, after its statements are planned.
    table: Arc<AtomicBool>,
    /// The table of [`ResultMode::Table`], shared with the view.
    pub live: Arc<Mutex<LiveTable>>,
}

impl ResultSinks {
    /// How results are shown.
    pub fn mode(&self) -> ResultMode {
        mode(&self.table)
    }

    /// Sets how results are shown, before any job starts.
    pub fn set_mode(&self, mode: ResultMode) {
        self.table.store(mode == ResultMode::Table, Ordering::Relaxed);
    }
}

fn mode(table: &AtomicBool) -> ResultMode {
    if table.load(Ordering::Relaxed) { ResultMode::Table } else { ResultMode::Changelog }
}

impl ResultSinkFactory for ResultSinks {
    fn result_sink(&self, row: &RowType, _changelog: ChangelogMode, time_zone: chrono_tz::Tz) -> Arc<dyn SinkProvider> {
        Arc::new(ResultSink {
            row: row.clone(),
            table: self.table.clone(),
            live: self.live.clone(),
            time_zone,
            count: Arc::default(),
        })
    }

    fn table_sink(&self, row: &RowType, time_zone: chrono_tz::Tz) -> Arc<dyn SinkProvider> {
        Arc::new(TableSink::new(row, time_zone))
    }
}

/// A panicked writer leaves whole rows behind, so the data stays usable.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct ResultSink {
    row: RowType,
    table: Arc<AtomicBool>,
    live: Arc<Mutex<LiveTable>>,
    time_zone: chrono_tz::Tz,
    count: Arc<AtomicU64>,
}

impl ResultSink {
    fn widths(&self) -> Vec<usize> {
        let columns = self.row.fields().iter().map(|field| column_width(&field.name, &field.sql_type.logical));
        std::iter::once(2).chain(columns).collect()
    }
}

impl SinkProvider for ResultSink {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async {
            if mode(&self.table) == ResultMode::Table {
                lock(&self.live).begin(self.row.fields().iter().map(|field| field.name.clone()).collect());
            } else {
                let widths = self.widths();
                let mut text = String::new();
                table_text::frame(&mut text, &widths);
                let names = self.row.fields().iter().map(|field| field.name.as_str());
                table_text::line(&mut text, &widths, std::iter::once("op").chain(names));
                table_text::frame(&mut text, &widths);
                print(&text)?;
            }
            Ok(Vec::new())
        })
    }

    fn writer(&self, _instance: Instance, _restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(ResultWriter {
            row: self.row.clone(),
            widths: self.widths(),
            mode: mode(&self.table),
            live: self.live.clone(),
            time_zone: self.time_zone,
            count: self.count.clone(),
        }))
    }

    fn finish<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            match mode(&self.table) {
                ResultMode::Changelog => {
                    let mut text = String::new();
                    table_text::frame(&mut text, &self.widths());
                    let count = self.count.load(Ordering::Relaxed);
                    let plural = if count == 1 { "" } else { "s" };
                    text.push_str(&format!("Received a total of {count} row{plural}\n"));
                    print(&text)
                }
                ResultMode::Table => Ok(()),
            }
        })
    }

    fn prints(&self) -> bool {
        mode(&self.table) == ResultMode::Changelog
    }
}

struct ResultWriter {
    row: RowType,
    widths: Vec<usize>,
    mode: ResultMode,
    live: Arc<Mutex<LiveTable>>,
    time_zone: chrono_tz::Tz,
    count: Arc<AtomicU64>,
}

impl ResultWriter {
    fn take(&mut self, batch: &ChangelogBatch) -> Result<()> {
        let columns: Vec<StringArray> = batch
            .records()
            .columns()
            .iter()
            .zip(self.row.fields())
            .map(|(column, field)| functions::to_text(column, &field.sql_type, self.time_zone))
            .collect::<Result<_>>()?;
        self.count.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        let cell = |column: &StringArray, row: usize| column.is_valid(row).then(|| column.value(row).to_string());
        match self.mode {
            ResultMode::Table => {
                let mut live = lock(&self.live);
                for row in 0..batch.num_rows() {
                    live.apply(batch.kind(row).is_addition(), columns.iter().map(|column| cell(column, row)).collect());
                }
                Ok(())
            }
            ResultMode::Changelog => {
                let mut text = String::new();
                for row in 0..batch.num_rows() {
                    let cells = columns.iter().map(|c| if c.is_valid(row) { c.value(row) } else { "<NULL>" });
                    table_text::line(&mut text, &self.widths, std::iter::once(batch.kind(row).short()).chain(cells));
                }
                print(&text)
            }
        }
    }
}

impl SinkWriter for ResultWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { self.take(batch) })
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn prepare_commit<'a>(&'a mut self, _epoch: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// Writes to standard output at once, so that a reader of a pipe sees rows as they come.
fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|cause| Error::io("write to", "standard output", &cause))
}

/// The width of a column before its values are known: by type, as Flink's SQL client does it.
fn column_width(name: &str, logical: &LogicalType) -> usize {
    use LogicalType::*;
    const WIDTH_MAX: usize = 30;
    let fraction = |precision: u8| if precision == 0 { 0 } else { precision as usize + 1 };
    let width = match logical {
        Null | Boolean => 6,
        TinyInt => 4,
        SmallInt => 6,
        Int => 11,
        BigInt => 20,
        Float => 14,
        Double => 24,
        Decimal { precision, .. } => *precision as usize + 3,
        Char(n) | VarChar(n) => (*n as usize).min(WIDTH_MAX),
        Date => 10,
        Time(precision) => 8 + fraction(*precision),
        Timestamp(precision) | TimestampLtz(precision) => 19 + fraction(*precision),
        _ => WIDTH_MAX,
    };
    width.max(name.width()).max(6)
}
