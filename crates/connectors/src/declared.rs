//! What a `CREATE TABLE` declares, seen by a connector: its options checked against the connector's and the formats',
//! and the formats found.

use crate::codes;
use base::connector::ConnectorContext;
use base::format::{FormatDescription, FormatFactory, FormatRegistry};
use base::nearest::nearest;
use base::{Error, OptionKind, OptionSpec, Options, Result, TableDefinition};
use std::sync::Arc;

/// `sink.parallelism`, the same for every sink.
pub(crate) const SINK_PARALLELISM: OptionSpec = option(
    "sink.parallelism",
    OptionKind::Integer,
    None,
    "number of parallel writers; default: the parallelism of the job",
    "并行写入实例数；默认为作业的并行度",
);

/// `scan.parallelism`, the same for every source.
pub(crate) const SCAN_PARALLELISM: OptionSpec = option(
    "scan.parallelism",
    OptionKind::Integer,
    None,
    "number of parallel readers; default: the parallelism of the job",
    "并行读取实例数；默认为作业的并行度",
);

/// The options of a connector that reads: its own, and those of watermarks that every source has.
pub(crate) fn of_source(own: &[OptionSpec]) -> Vec<OptionSpec> {
    own.iter().chain(base::watermark_options::OPTIONS).copied().collect()
}

/// An option that a table can do without.
pub(crate) const fn option(
    key: &'static str,
    kind: OptionKind,
    default: Option<&'static str>,
    en: &'static str,
    zh: &'static str,
) -> OptionSpec {
    OptionSpec { key, kind, default, required: false, en, zh }
}

/// An option that a table cannot do without.
pub(crate) const fn required(key: &'static str, kind: OptionKind, en: &'static str, zh: &'static str) -> OptionSpec {
    OptionSpec { key, kind, default: None, required: true, en, zh }
}

/// A format of a table, with the options that are its own.
#[derive(Debug, Clone)]
pub(crate) struct TableFormat {
    /// The format.
    pub factory: Arc<dyn FormatFactory>,
    /// Options as the format looks them up: `json.ignore-parse-errors`.
    pub options: Options,
    /// Kinds and metadata under these options.
    pub description: FormatDescription,
}

/// Looks up the format that option `key` names; `None` if the option is not set.
pub(crate) fn find_format(
    table: &TableDefinition,
    key: &str,
    formats: &FormatRegistry,
) -> Result<Option<Arc<dyn FormatFactory>>> {
    let Some(name) = table.options.get(key) else { return Ok(None) };
    if let Some(factory) = formats.get(name) {
        return Ok(Some(factory.clone()));
    }
    let known = formats.names();
    let mut near = nearest(name, known.iter().copied());
    if near.is_empty() {
        near = known.clone();
    }
    Err(Error::new(
        &codes::UNKNOWN_FORMAT,
        &[("key", &key), ("format", &name), ("known", &quoted(&known)), ("nearest", &quoted(&near))],
    ))
}

/// A format that a table may use: the option that names it, and what stands before the format's options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormatSlot {
    /// `format`, `value.format`, `key.format`.
    pub key: &'static str,
    /// Empty, `value.` or `key.`.
    pub prefix: &'static str,
}

/// Checks all options of a table, and finds the formats of `slots` in order.
///
/// # Errors
/// Every unknown, missing or wrong option at once.
pub(crate) fn check(
    table: &TableDefinition,
    specs: &[OptionSpec],
    slots: &[FormatSlot],
    owner: &str,
    context: &ConnectorContext,
) -> Result<Vec<Option<TableFormat>>> {
    let factories =
        slots.iter().map(|slot| find_format(table, slot.key, &context.formats)).collect::<Result<Vec<_>>>()?;
    let mut own = Options::default();
    let mut of_formats = vec![Options::default(); slots.len()];
    for (key, value) in table.options.iter().filter(|(key, _)| *key != "connector") {
        match slots.iter().zip(&factories).position(|(slot, factory)| belongs(key, slot, factory.as_deref())) {
            Some(index) => of_formats[index].set(&key[slots[index].prefix.len()..], value),
            None => own.set(key, value),
        };
    }
    let mut errors: Vec<Error> = Vec::new();
    // Formats without a prefix share the connector's name space: a typo in either is compared with both.
    let mut known: Vec<&OptionSpec> = specs.iter().collect();
    for (slot, factory) in slots.iter().zip(&factories) {
        if let (Some(factory), true) = (factory, slot.prefix.is_empty()) {
            known.extend(factory.options());
        }
    }
    errors.extend(own.validate(&known, owner).err());
    let mut found = Vec::new();
    for (factory, options) in factories.into_iter().zip(of_formats) {
        let Some(factory) = factory else {
            found.push(None);
            continue;
        };
        let known: Vec<&OptionSpec> = factory.options().iter().collect();
        errors.extend(options.validate(&known, &format!("format '{}'", factory.name())).err());
        match factory.describe(&options) {
            Ok(description) => found.push(Some(TableFormat { factory, options, description })),
            Err(error) => errors.push(error),
        }
    }
    Error::all(errors).map_or(Ok(found), Err)
}

fn belongs(key: &str, slot: &FormatSlot, factory: Option<&dyn FormatFactory>) -> bool {
    let (Some(factory), Some(rest)) = (factory, key.strip_prefix(slot.prefix)) else { return false };
    rest.strip_prefix(factory.name()).is_some_and(|rest| rest.starts_with('.'))
}

/// The value of a whole-number option as a size of something; values below 1 are refused.
pub(crate) fn positive(options: &Options, spec: &OptionSpec) -> Result<Option<usize>> {
    match options.integer(spec)? {
        Some(number) if number < 1 => Err(bad_value(spec.key, &number.to_string(), "a whole number from 1")),
        Some(number) => Ok(Some(number as usize)),
        None => Ok(None),
    }
}

/// A value that an option does not take, with what it takes.
pub(crate) fn bad_value(key: &str, value: &str, expected: &str) -> Error {
    Error::new(&base::options::BAD_OPTION, &[("key", &key), ("value", &value), ("expected", &expected)])
}

/// Names in quotes, for messages.
pub(crate) fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    names.iter().map(|name| format!("'{}'", name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// An error for an option that names a column which is not there.
pub(crate) fn unknown_column(table: &TableDefinition, key: &str, column: &str) -> Error {
    let known: Vec<&str> = table.physical().map(|column| column.name.as_str()).collect();
    let mut near = nearest(column, known.iter().copied());
    if near.is_empty() {
        near = known.clone();
    }
    Error::new(
        &codes::UNKNOWN_COLUMN,
        &[("key", &key), ("column", &column), ("known", &quoted(&known)), ("nearest", &quoted(&near))],
    )
}

/// An error for a table that is used in a direction which its connector does not have.
pub(crate) fn wrong_direction(table: &TableDefinition, owner: &str, direction: &str) -> Error {
    Error::new(&codes::WRONG_DIRECTION, &[("owner", &owner), ("direction", &direction), ("table", &table.path.name)])
}
