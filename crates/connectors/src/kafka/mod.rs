//! Connectors `kafka` and what `upsert-kafka` shares with it: topics as tables.
//!
//! `table` parses the options, `client` makes clients, `probe` looks at the cluster before the job runs, `source` reads,
//! `layout` puts rows together from keys, values and metadata, `sink` writes: through `delivery` at once, or through
//! `transactions` once a checkpoint is durable.
//!
//! Invariants: nothing is opened before `start`; positions are the job's own, a consumer group only shows them to others.

pub(crate) mod client;
pub mod codes;
mod delivery;
mod input;
mod layout;
mod local_broker;
mod look;
pub(crate) mod options;
mod outage;
mod position;
mod probe;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod table;
mod transactions;

use self::options::*;
use self::sink::KafkaSink;
use self::source::KafkaSource;
use self::table::{KafkaTable, Key, offset, split_list};
use crate::codes as common;
use crate::declared::{self, FormatSlot, TableFormat, unknown_column};
use base::connector::*;
use base::{Error, LogicalType, OptionSpec, Options, Result, RowType, SqlType, TableDefinition};
use std::sync::Arc;

pub use local_broker::LocalBroker;

const OWNER: &str = "connector 'kafka'";

/// The factory.
#[derive(Debug)]
pub(crate) struct Kafka;

impl ConnectorFactory for Kafka {
    fn name(&self) -> &'static str {
        "kafka"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }

    fn decides(&self, key: &str, options: &Options) -> bool {
        decides(key, options)
    }

    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription> {
        let kafka = check(table, context)?;
        kafka.settings.check()?;
        let append = kafka.value.description.encodes.is_append_only();
        let (guarantee, guarantee_reason) = guarantee(&table.options, false)?;
        Ok(TableDescription {
            source: Some(SourceDescription {
                changelog: kafka.value.description.decodes,
                bounded: table.options.word(&BOUNDED_MODE)?.is_some_and(|mode| mode != "unbounded"),
                replayable: true,
                metadata: metadata(&kafka.value),
            }),
            sink: Some(SinkDescription {
                input: if append { SinkInput::Append } else { SinkInput::Any },
                guarantee,
                guarantee_reason,
                parallelism_max: declared::positive(&table.options, &declared::SINK_PARALLELISM)?,
            }),
            warnings: kafka.settings.warnings(),
        })
    }

    fn source(
        &self,
        table: &TableDefinition,
        scan: &ScanSpec,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>> {
        Ok(Arc::new(KafkaSource::new(check(table, context)?, scan)?))
    }

    fn sink(
        &self,
        table: &TableDefinition,
        columns: &RowType,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SinkProvider>> {
        let kafka = check(table, context)?;
        table.options.require(&TOPIC, "a kafka sink")?;
        Ok(Arc::new(KafkaSink::new(kafka, table, columns)?))
    }
}

/// Whether an option decides which records are read and how: topics, begin and end, formats. How the client reaches the
/// brokers does not, nor does the group, as long as its offsets are not asked for.
pub(crate) fn decides(key: &str, options: &Options) -> bool {
    match key.strip_prefix(PROPERTIES_PREFIX) {
        Some("isolation.level") => true,
        Some("group.id" | "auto.offset.reset") => {
            let mode = |spec: &OptionSpec| options.word(spec).ok().flatten() == Some("group-offsets");
            mode(&STARTUP_MODE) || mode(&BOUNDED_MODE)
        }
        Some(_) => false,
        None => !key.starts_with("sink.") && !key.starts_with("scan.watermark.") && !NOT_DECIDING.contains(&key),
    }
}

/// Options of a scan that only say how it is done.
const NOT_DECIDING: &[&str] = &[declared::SCAN_PARALLELISM.key, DISCOVERY.key];

/// What a Kafka sink promises, and why. `converges` if a change that is written twice leaves the same table.
///
/// # Errors
/// A word that the option does not take.
pub(crate) fn guarantee(options: &Options, converges: bool) -> Result<(Guarantee, &'static str)> {
    Ok(match (options.word(&DELIVERY_GUARANTEE)?, converges) {
        (Some("none"), _) => {
            (Guarantee::None, "what has not been delivered when the job fails is lost ('sink.delivery-guarantee')")
        }
        (Some("exactly-once"), _) => (
            Guarantee::ExactlyOnce,
            "transactions write the rows of a checkpoint once it is durable; who reads committed records only sees \
             each once ('sink.delivery-guarantee')",
        ),
        (_, false) => (
            Guarantee::AtLeastOnce,
            "every row is delivered before its checkpoint is complete, rows since the last one are written again after \
             a failure ('sink.delivery-guarantee')",
        ),
        (_, true) => (
            Guarantee::AtLeastOnce,
            "changes since the last checkpoint are written again after a failure; the content of every key comes out \
             the same ('sink.delivery-guarantee')",
        ),
    })
}

/// The metadata columns of a topic, and those of the value's format behind `value.`.
pub(crate) fn metadata(value: &TableFormat) -> Vec<MetadataColumn> {
    use LogicalType as L;
    let headers = L::Map(Box::new(L::STRING.not_null()), Box::new(L::BYTES.nullable())).not_null();
    let column = |key: &str, sql_type: SqlType, writable| MetadataColumn { key: key.to_string(), sql_type, writable };
    let mut columns = vec![
        column("topic", L::STRING.not_null(), true),
        column("partition", L::Int.not_null(), false),
        column("headers", headers, true),
        column("leader-epoch", L::Int.nullable(), false),
        column("offset", L::BigInt.not_null(), false),
        column("timestamp", L::TimestampLtz(3).not_null(), true),
        column("timestamp-type", L::STRING.not_null(), false),
    ];
    let of_value = value.description.metadata.iter();
    columns.extend(of_value.map(|(key, sql_type)| column(&format!("value.{key}"), sql_type.clone(), false)));
    columns
}

/// Checks a definition and parses it.
fn check(table: &TableDefinition, context: &ConnectorContext) -> Result<KafkaTable> {
    let options = &table.options;
    // 'format' is another word for 'value.format', with unprefixed format options.
    let prefixed = options.get(VALUE_FORMAT.key).is_some();
    let value_slot = if prefixed {
        FormatSlot { key: VALUE_FORMAT.key, prefix: "value." }
    } else {
        FormatSlot { key: FORMAT.key, prefix: "" }
    };
    let key_slot = FormatSlot { key: KEY_FORMAT.key, prefix: "key." };
    let mut formats = declared::check(table, &OPTIONS, &[value_slot, key_slot], OWNER, context)?.into_iter();
    let value = formats.next().flatten();
    let key = formats.next().flatten();
    let mut errors = Vec::new();
    if options.get(TOPIC.key).is_none() && options.get(TOPIC_PATTERN.key).is_none() {
        errors.extend(options.require(&TOPIC, OWNER).err());
    }
    if options.get(TOPIC.key).is_some() && options.get(TOPIC_PATTERN.key).is_some() {
        errors.push(clash(TOPIC.key, TOPIC_PATTERN.key, "a table reads either named topics or those of a pattern"));
    }
    if prefixed && options.get(FORMAT.key).is_some() {
        errors.push(clash(FORMAT.key, VALUE_FORMAT.key, "both name the format of the values"));
    }
    if value.is_none() {
        errors.extend(options.require(&FORMAT, OWNER).err());
    }
    if let (Some(format), false) =
        (value.as_ref().filter(|v| v.description.decodes.is_append_only()), table.primary_key.is_empty())
    {
        let name = format.factory.name();
        errors.push(Error::new(&codes::NO_PRIMARY_KEY, &[("table", &table.path.name), ("format", &name)]));
    }
    errors.extend(check_key(table, key.as_ref()));
    errors.extend(check_modes(table));
    match (Error::all(errors), value) {
        (Some(error), _) => Err(error),
        (None, Some(value)) => {
            let key = key.map(|format| Key {
                columns: key_columns(table),
                prefix: options.text(&KEY_PREFIX).unwrap_or_default().to_string(),
                format,
            });
            KafkaTable::new(table, value, key, false, context)
        }
        (None, None) => Err(Error::internal("a missing format passed the check")),
    }
}

/// An error for two options that exclude each other.
pub(crate) fn clash(key: &str, other: &str, reason: &str) -> Error {
    Error::new(&common::OPTIONS_CLASH, &[("key", &key), ("other", &other), ("reason", &reason)])
}

/// An error for an option that another one needs.
pub(crate) fn needs(key: &str, other: &OptionSpec) -> Error {
    Error::new(&common::NEEDS_OPTION, &[("key", &key), ("other", &other.key), ("purpose", &other.en)])
}

fn check_key(table: &TableDefinition, key: Option<&TableFormat>) -> Vec<Error> {
    let options = &table.options;
    let mut errors = Vec::new();
    let fields: Vec<&str> = options.get(KEY_FIELDS.key).map_or(Vec::new(), |list| split_list(list).collect());
    match (key, fields.is_empty()) {
        (Some(_), true) => errors.push(needs(KEY_FORMAT.key, &KEY_FIELDS)),
        (None, false) => errors.push(needs(KEY_FIELDS.key, &KEY_FORMAT)),
        _ => {}
    }
    let prefix = options.text(&KEY_PREFIX).unwrap_or_default();
    for (index, &field) in fields.iter().enumerate() {
        if fields[..index].contains(&field) {
            errors.push(declared::bad_value(KEY_FIELDS.key, field, "every column once"));
        } else if !table.physical().any(|column| column.name == field) {
            errors.push(unknown_column(table, KEY_FIELDS.key, field));
        } else if !field.starts_with(prefix) {
            let expected = format!("columns that begin with '{prefix}' ('{}')", KEY_PREFIX.key);
            errors.push(declared::bad_value(KEY_FIELDS.key, field, &expected));
        }
    }
    let except_key = options.word(&FIELDS_INCLUDE).ok().flatten() == Some("EXCEPT_KEY");
    if !prefix.is_empty() && !except_key {
        errors.push(needs(
            KEY_PREFIX.key,
            &OptionSpec {
                en: "'value.fields-include' = 'EXCEPT_KEY', because the values would hold the prefixed names as well",
                ..FIELDS_INCLUDE
            },
        ));
    }
    errors
}

fn check_modes(table: &TableDefinition) -> Vec<Error> {
    let options = &table.options;
    let mut errors = Vec::new();
    let modes = [
        (&STARTUP_MODE, "timestamp", &STARTUP_TIMESTAMP),
        (&STARTUP_MODE, "specific-offsets", &STARTUP_OFFSETS),
        (&STARTUP_MODE, "group-offsets", &GROUP_ID),
        (&BOUNDED_MODE, "timestamp", &BOUNDED_TIMESTAMP),
        (&BOUNDED_MODE, "specific-offsets", &BOUNDED_OFFSETS),
        (&BOUNDED_MODE, "group-offsets", &GROUP_ID),
        (&DELIVERY_GUARANTEE, "exactly-once", &TRANSACTION_PREFIX),
    ];
    for (mode, value, other) in modes {
        // The default of the startup mode is group-offsets; it only has to be complete when it is written.
        if options.get(mode.key).is_some_and(|word| word.eq_ignore_ascii_case(value))
            && options.get(other.key).is_none()
        {
            errors.push(needs(&format!("{}' = '{value}", mode.key), other));
        }
    }
    for spec in [&STARTUP_TIMESTAMP, &BOUNDED_TIMESTAMP] {
        if let Ok(Some(time_ms)) = options.integer(spec)
            && time_ms < 0
        {
            errors.push(declared::bad_value(spec.key, &time_ms.to_string(), "milliseconds since 1970, from 0"));
        }
    }
    for spec in [&STARTUP_OFFSETS, &BOUNDED_OFFSETS] {
        if let Some(text) = options.get(spec.key)
            && !split_list(text).all(|part| offset(part).is_some())
        {
            errors.push(declared::bad_value(
                spec.key,
                text,
                "offsets such as 'partition:0,offset:42;partition:1,offset:300'",
            ));
        }
    }
    errors
}

/// The positions of the physical columns that 'key.fields' names.
fn key_columns(table: &TableDefinition) -> Vec<usize> {
    let position = |name| table.physical().position(|column| column.name == name);
    split_list(table.options.get(KEY_FIELDS.key).unwrap_or_default()).filter_map(position).collect()
}

#[cfg(test)]
#[path = "kafka_tests.rs"]
mod tests;
