//! Connector `filesystem`: tables over files of lines, in one file or a folder.
//!
//! A source reads every file below its path, one split a file; with `source.monitor-interval` the folder (or file) may
//! grow. A sink writes a folder of part files, hidden until the checkpoint that they belong to is durable.

mod lines;
mod listing;
mod options;
mod part_files;
mod sink;
mod source;
mod split;

use self::options::{FilesystemOptions, OPTIONS};
use base::connector::*;
use base::format::DecodeSpec;
use base::{Field, LogicalType, Result, RowType, SqlType, TableDefinition};
use std::sync::Arc;

/// The factory.
#[derive(Debug)]
pub(crate) struct Filesystem;

pub(super) const OWNER: &str = "connector 'filesystem'";

/// Metadata keys of the connector.
const METADATA: [&str; 4] = ["file.path", "file.name", "file.size", "file.modification-time"];

fn metadata_type(key: &str) -> SqlType {
    match key {
        "file.size" => LogicalType::BigInt.not_null(),
        "file.modification-time" => LogicalType::TimestampLtz(3).not_null(),
        _ => LogicalType::STRING.not_null(),
    }
}

impl ConnectorFactory for Filesystem {
    fn name(&self) -> &'static str {
        "filesystem"
    }

    fn options(&self) -> &'static [base::OptionSpec] {
        &OPTIONS
    }

    fn partitioning(&self) -> Partitioning {
        Partitioning::Columns
    }

    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription> {
        let options = FilesystemOptions::read(table, context)?;
        let mut metadata: Vec<MetadataColumn> = METADATA
            .iter()
            .map(|key| MetadataColumn { key: key.to_string(), sql_type: metadata_type(key), writable: false })
            .collect();
        metadata.extend(options.format.description.metadata.iter().map(|(key, sql_type)| MetadataColumn {
            key: key.to_string(),
            sql_type: sql_type.clone(),
            writable: false,
        }));
        let append = options.format.description.encodes.is_append_only();
        Ok(TableDescription {
            source: Some(SourceDescription {
                changelog: options.format.description.decodes,
                bounded: options.monitor_interval.is_none(),
                replayable: true,
                metadata,
            }),
            sink: Some(SinkDescription {
                input: if append { SinkInput::Append } else { SinkInput::Any },
                guarantee: Guarantee::ExactlyOnce,
                guarantee_reason: "part files become visible when the checkpoint they belong to is durable",
                parallelism_max: options.sink_parallelism,
            }),
            warnings: Vec::new(),
        })
    }

    fn source(
        &self,
        table: &TableDefinition,
        scan: &ScanSpec,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>> {
        let options = FilesystemOptions::read(table, context)?;
        let layout = Layout::new(table, scan, &options, context)?;
        Ok(Arc::new(source::FilesystemSource::new(options, layout, table.watermark.is_some())?))
    }

    fn sink(
        &self,
        table: &TableDefinition,
        columns: &RowType,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SinkProvider>> {
        let options = FilesystemOptions::read(table, context)?;
        if !table.partitioned_by.is_empty() {
            return Err(base::Error::unsupported("writing a filesystem table with PARTITIONED BY"));
        }
        Ok(Arc::new(sink::FilesystemSink::new(options, columns.clone(), context)?))
    }
}

/// Where the columns of a scan come from.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// What the decoder gives.
    pub decode: DecodeSpec,
    /// One entry per column of [`Layout::output`].
    pub columns: Vec<ColumnFrom>,
    /// The row type of every batch.
    pub output: RowType,
    /// Partition columns and their types, in the order of PARTITIONED BY.
    pub partitions: Vec<(String, SqlType)>,
}

/// Where one column of a scan comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnFrom {
    /// A column of the decoder.
    Decoded(usize),
    /// A partition column.
    Partition(usize),
    /// `file.path`: the full path.
    Path,
    /// `file.name`.
    Name,
    /// `file.size`.
    Size,
    /// `file.modification-time`.
    ModificationTime,
}

impl Layout {
    fn new(
        table: &TableDefinition,
        scan: &ScanSpec,
        options: &FilesystemOptions,
        context: &ConnectorContext,
    ) -> Result<Layout> {
        let partitions: Vec<(String, SqlType)> = table
            .partitioned_by
            .iter()
            .filter_map(|field| table.column(&field.column))
            .map(|column| (column.name.clone(), column.sql_type.clone()))
            .collect();
        for (_, sql_type) in &partitions {
            listing::check_partition_type(sql_type)?;
        }
        let mut decoded: Vec<Field> = Vec::new();
        let mut format_metadata = Vec::new();
        let mut columns = Vec::new();
        for (index, field) in scan.output.fields().iter().enumerate() {
            let key = index.checked_sub(scan.physical.len()).map(|index| scan.metadata[index].as_str());
            columns.push(match key {
                Some("file.path") => ColumnFrom::Path,
                Some("file.name") => ColumnFrom::Name,
                Some("file.size") => ColumnFrom::Size,
                Some("file.modification-time") => ColumnFrom::ModificationTime,
                other => match partitions.iter().position(|(name, _)| other.is_none() && *name == field.name) {
                    Some(partition) => ColumnFrom::Partition(partition),
                    None => {
                        format_metadata.extend(other.map(str::to_string));
                        decoded.push(field.clone());
                        ColumnFrom::Decoded(decoded.len() - 1)
                    }
                },
            });
        }
        let in_files = table.physical_row();
        let in_files: Vec<usize> = (0..in_files.len())
            .filter(|&index| partitions.iter().all(|(name, _)| *name != in_files.fields()[index].name))
            .collect();
        // The very same row type where nothing is added: then a decoded batch is passed on as it is.
        let all_decoded = decoded.len() == columns.len();
        let decode = DecodeSpec {
            columns: if all_decoded { scan.output.clone() } else { RowType::new(decoded) },
            metadata: format_metadata,
            table: table.physical_row().project(&in_files),
            time_zone: context.time_zone,
        };
        // Column types that the format cannot read are reported before anything is opened.
        options.format.factory.decoder(&options.format.options, &decode)?;
        Ok(Layout { decode, columns, output: scan.output.clone(), partitions })
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod source_tests;
