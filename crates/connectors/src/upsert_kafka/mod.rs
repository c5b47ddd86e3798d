//! Connector `upsert-kafka`: a topic as a table with a primary key, one message per change of a key and none for the
//! old content. Source and sink are those of `kafka` with a key.

use crate::codes;
use crate::declared::{self, FormatSlot};
use crate::kafka::codes::READ_AS_A_WHOLE;
use crate::kafka::options::*;
use crate::kafka::sink::{KafkaSink, gathering_warning};
use crate::kafka::source::KafkaSource;
use crate::kafka::table::{KafkaTable, Key};
use crate::kafka::{decides, guarantee, metadata, needs};
use base::connector::*;
use base::{ChangelogMode, Error, OptionSpec, Options, Result, RowType, TableDefinition};
use std::sync::Arc;

const OWNER: &str = "connector 'upsert-kafka'";

/// The factory.
#[derive(Debug)]
pub(crate) struct UpsertKafka;

impl ConnectorFactory for UpsertKafka {
    fn name(&self) -> &'static str {
        "upsert-kafka"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &UPSERT_OPTIONS
    }

    fn decides(&self, key: &str, options: &Options) -> bool {
        // It is always read from the beginning.
        !matches!(key, "properties.group.id" | "properties.auto.offset.reset") && decides(key, options)
    }

    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription> {
        let kafka = check(table, context)?;
        kafka.settings.check()?;
        let mut warnings = kafka.settings.warnings();
        warnings.extend(gathering_warning(table)?);
        let (guarantee, guarantee_reason) = guarantee(&table.options, true)?;
        Ok(TableDescription {
            source: Some(SourceDescription {
                changelog: ChangelogMode::UPSERT,
                bounded: table.options.word(&BOUNDED_MODE)?.is_some_and(|mode| mode != "unbounded"),
                replayable: true,
                metadata: metadata(&kafka.value),
            }),
            sink: Some(SinkDescription {
                input: SinkInput::Upsert,
                guarantee,
                guarantee_reason,
                parallelism_max: declared::positive(&table.options, &declared::SINK_PARALLELISM)?,
            }),
            warnings,
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
        Ok(Arc::new(KafkaSink::new(check(table, context)?, table, columns)?))
    }
}

/// Checks a definition and parses it.
fn check(table: &TableDefinition, context: &ConnectorContext) -> Result<KafkaTable> {
    let mut errors = Vec::new();
    if table.primary_key.is_empty() {
        let reason = "the key of a message is the primary key, and a message without a value deletes its row";
        errors.push(Error::new(
            &codes::NEEDS_PRIMARY_KEY,
            &[("owner", &OWNER), ("reason", &reason), ("table", &table.path.name)],
        ));
    }
    let guarantee = table.options.get(DELIVERY_GUARANTEE.key).unwrap_or_default();
    if guarantee.eq_ignore_ascii_case("exactly-once") && table.options.get(TRANSACTION_PREFIX.key).is_none() {
        errors.push(needs(&format!("{}' = 'exactly-once", DELIVERY_GUARANTEE.key), &TRANSACTION_PREFIX));
    }
    let mut table = table.clone();
    for key in [STARTUP_MODE.key, STARTUP_OFFSETS.key, STARTUP_TIMESTAMP.key] {
        if table.options.remove(key).is_some() {
            errors.push(Error::new(&READ_AS_A_WHOLE, &[("table", &table.path.name), ("key", &key)]));
        }
    }
    let table = &table;
    let slots =
        [FormatSlot { key: VALUE_FORMAT.key, prefix: "value." }, FormatSlot { key: KEY_FORMAT.key, prefix: "key." }];
    match declared::check(table, &UPSERT_OPTIONS, &slots, OWNER, context) {
        Err(error) => errors.push(error),
        Ok(formats) => {
            for (slot, format) in slots.iter().zip(formats.iter().flatten()) {
                if !format.description.decodes.is_append_only() {
                    let expected = "a format without row kinds, such as 'json': the key says what a change replaces";
                    errors.push(declared::bad_value(slot.key, format.factory.name(), expected));
                }
            }
            let mut formats = formats.into_iter().flatten();
            if let (None, Some(value), Some(format)) = (errors.first(), formats.next(), formats.next()) {
                let position = |name: &String| table.physical().position(|column| column.name == *name);
                let columns = table.primary_key.iter().filter_map(position).collect();
                let prefix = table.options.text(&KEY_PREFIX).unwrap_or_default().to_string();
                return KafkaTable::new(table, value, Some(Key { format, columns, prefix }), true, context);
            }
        }
    }
    Err(Error::all(errors).unwrap_or_else(|| Error::internal("a missing format passed the check")))
}

#[cfg(test)]
#[path = "upsert_kafka_tests.rs"]
mod tests;
