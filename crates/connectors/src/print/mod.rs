//! Connector `print`: every change as a line on standard output, in the text of Flink's print connector.

mod row_text;

use self::row_text::RowText;
use crate::declared::{self, SINK_PARALLELISM, option};
use base::connector::*;
use base::{BoxFuture, ChangelogBatch, Epoch, Error, OptionKind, OptionSpec, Result, RowType, TableDefinition};
use std::io::Write;
use std::sync::Arc;

const OWNER: &str = "connector 'print'";

const IDENTIFIER: OptionSpec =
    option("print-identifier", OptionKind::Text, None, "a word that stands before every line", "每行之前的标识");
const STANDARD_ERROR: OptionSpec = option(
    "standard-error",
    OptionKind::Boolean,
    Some("false"),
    "whether lines go to standard error instead of standard output",
    "是否输出到标准错误而不是标准输出",
);
const OPTIONS: &[OptionSpec] = &[IDENTIFIER, STANDARD_ERROR, SINK_PARALLELISM];

/// The factory.
#[derive(Debug)]
pub(crate) struct Print;

impl ConnectorFactory for Print {
    fn name(&self) -> &'static str {
        "print"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription> {
        declared::check(table, OPTIONS, &[], OWNER, context)?;
        Ok(TableDescription {
            source: None,
            sink: Some(SinkDescription {
                input: SinkInput::Any,
                guarantee: Guarantee::AtLeastOnce,
                guarantee_reason: "a printed line cannot be taken back when a job recovers",
                parallelism_max: declared::positive(&table.options, &SINK_PARALLELISM)?,
            }),
            warnings: Vec::new(),
        })
    }

    fn source(&self, table: &TableDefinition, _: &ScanSpec, _: &ConnectorContext) -> Result<Arc<dyn SourceProvider>> {
        Err(declared::wrong_direction(table, OWNER, "source"))
    }

    fn sink(
        &self,
        table: &TableDefinition,
        columns: &RowType,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SinkProvider>> {
        declared::check(table, OPTIONS, &[], OWNER, context)?;
        Ok(Arc::new(PrintSink {
            columns: columns.clone(),
            identifier: table.options.get(IDENTIFIER.key).unwrap_or_default().to_string(),
            standard_error: table.options.boolean(&STANDARD_ERROR)?,
        }))
    }
}

#[derive(Debug)]
struct PrintSink {
    columns: RowType,
    identifier: String,
    standard_error: bool,
}

impl SinkProvider for PrintSink {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, instance: Instance, _: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(PrintWriter {
            prefix: prefix(&self.identifier, instance),
            columns: self.columns.clone(),
            standard_error: self.standard_error,
            text: String::new(),
        }))
    }

    fn prints(&self) -> bool {
        true
    }
}

/// What Flink puts before a line: `pid> `, `2> `, `pid:2> ` or nothing.
fn prefix(identifier: &str, instance: Instance) -> String {
    match (identifier, instance.parallelism > 1) {
        ("", false) => String::new(),
        ("", true) => format!("{}> ", instance.index + 1),
        (identifier, false) => format!("{identifier}> "),
        (identifier, true) => format!("{identifier}:{}> ", instance.index + 1),
    }
}

struct PrintWriter {
    prefix: String,
    columns: RowType,
    standard_error: bool,
    /// Kept between batches for its memory.
    text: String,
}

impl SinkWriter for PrintWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.text.clear();
            RowText::new(batch, &self.columns)?.push_lines(&self.prefix, &mut self.text);
            // A whole batch in one call: lines of several writers do not mix.
            let bytes = self.text.as_bytes();
            let (name, written) = if self.standard_error {
                ("standard error", write_all(std::io::stderr().lock(), bytes))
            } else {
                ("standard output", write_all(std::io::stdout().lock(), bytes))
            };
            written.map_err(|cause| Error::io("write", name, &cause))
        })
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn prepare_commit<'a>(&'a mut self, _: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn write_all(mut out: impl Write, bytes: &[u8]) -> std::io::Result<()> {
    out.write_all(bytes)?;
    out.flush()
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
