//! A declared Kafka table: everything its options say, parsed once for source and sink.

use super::client::ClientSettings;
use super::options::*;
use crate::codes;
use crate::declared::{self, TableFormat};
use base::connector::ConnectorContext;
use base::{Error, Field, Options, Result, RowType, TableDefinition, Warnings};
use regex::Regex;
use std::collections::BTreeMap;
use std::time::Duration;

/// A table of connector `kafka` or `upsert-kafka`.
#[derive(Debug, Clone)]
pub(crate) struct KafkaTable {
    /// Table name for people.
    pub name: String,
    /// How clients are made.
    pub settings: ClientSettings,
    /// Which topics.
    pub topics: Topics,
    /// The format of the values.
    pub value: TableFormat,
    /// The keys; `None` if they are not looked at.
    pub key: Option<Key>,
    /// All physical columns, in declared order.
    pub physical: RowType,
    /// The physical columns that values hold, in declared order.
    pub value_columns: Vec<usize>,
    /// Whether a key without a value deletes a row.
    pub is_upsert: bool,
    /// Where reading begins when there is no checkpoint.
    pub startup: Startup,
    /// Where reading ends.
    pub stop: Stop,
    /// How often to look for new partitions.
    pub discovery: Option<Duration>,
    /// `scan.parallelism`.
    pub scan_parallelism: Option<usize>,
    /// The consumer group that the table names.
    pub group: Option<String>,
    /// Whether positions are committed to the broker with every checkpoint.
    pub commits_offsets: bool,
    /// Takes what does not stop the job.
    pub warnings: Warnings,
    /// `table.local-time-zone`.
    pub time_zone: chrono_tz::Tz,
}

/// The topics of a table.
#[derive(Debug, Clone)]
pub(crate) enum Topics {
    /// These.
    Named(Vec<String>),
    /// Those whose whole name matches: the pattern as written, and compiled.
    Pattern(String, Regex),
}

/// The keys of a table's messages.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// Their format.
    pub format: TableFormat,
    /// The physical columns that they hold, in the order of the key.
    pub columns: Vec<usize>,
    /// What the names of these columns begin with in the table, and do not in the messages.
    pub prefix: String,
}

/// Where reading begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Startup {
    Earliest,
    Latest,
    /// At the group's offsets; where there is none, as told.
    Group(Option<Reset>),
    /// At the first record of this time or later.
    Timestamp(i64),
    /// At these offsets; other partitions from their beginning.
    Offsets(BTreeMap<i32, i64>),
}

/// What `properties.auto.offset.reset` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reset {
    Earliest,
    Latest,
}

/// Where reading ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    Never,
    /// At the end as it is when the job starts.
    Latest,
    Group,
    /// Before the first record of this time or later.
    Timestamp(i64),
    /// Before these offsets; other partitions are not read.
    Offsets(BTreeMap<i32, i64>),
}

impl KafkaTable {
    /// Parses what has been checked: formats are those of the table's options, `key_columns` are positions of physical
    /// columns.
    ///
    /// # Errors
    /// Values that options do not take.
    pub fn new(
        table: &TableDefinition,
        value: TableFormat,
        key: Option<Key>,
        is_upsert: bool,
        context: &ConnectorContext,
    ) -> Result<KafkaTable> {
        let options = &table.options;
        let settings = ClientSettings::new(table)?;
        let physical = table.physical_row();
        let except_key = options.word(&FIELDS_INCLUDE)? == Some("EXCEPT_KEY");
        let in_key = |column: &usize| except_key && key.as_ref().is_some_and(|key| key.columns.contains(column));
        let value_columns = (0..physical.len()).filter(|column| !in_key(column)).collect();
        Ok(KafkaTable {
            name: table.path.name.clone(),
            settings,
            topics: topics(options)?,
            value,
            physical,
            value_columns,
            is_upsert,
            startup: if is_upsert { Startup::Earliest } else { startup(options)? },
            stop: stop(options)?,
            discovery: options.duration(&DISCOVERY)?.filter(|interval| !interval.is_zero()),
            scan_parallelism: declared::positive(options, &declared::SCAN_PARALLELISM)?,
            group: options.get(GROUP_ID.key).map(str::to_string),
            commits_offsets: super::client::commits_offsets(options),
            warnings: context.warnings.clone(),
            time_zone: context.time_zone,
            key,
        })
    }

    /// The columns that values hold, as the value's format sees them.
    pub fn value_row(&self) -> RowType {
        self.physical.project(&self.value_columns)
    }

    /// Topics for people.
    pub fn topics_text(&self) -> String {
        match &self.topics {
            Topics::Named(names) => names.join(", "),
            Topics::Pattern(pattern, _) => pattern.clone(),
        }
    }
}

impl Key {
    /// The columns that keys hold, as the key's format sees them: without the prefix.
    pub fn row(&self, physical: &RowType) -> RowType {
        let field = |column: &usize| {
            let field = &physical.fields()[*column];
            Field::new(field.name.strip_prefix(&self.prefix).unwrap_or(&field.name), field.sql_type.clone())
        };
        RowType::new(self.columns.iter().map(field).collect())
    }
}

fn topics(options: &Options) -> Result<Topics> {
    let Some(pattern) = options.get(TOPIC_PATTERN.key) else {
        let mut names: Vec<String> = Vec::new();
        for name in split_list(options.require(&TOPIC, "a Kafka table")?) {
            if names.iter().any(|known| known == name) {
                return Err(declared::bad_value(TOPIC.key, name, "every topic once"));
            }
            names.push(name.to_string());
        }
        return Ok(Topics::Named(names));
    };
    // A pattern must match the whole name, as Java's `matches`.
    match Regex::new(&format!("^(?:{pattern})$")) {
        Ok(compiled) => Ok(Topics::Pattern(pattern.to_string(), compiled)),
        Err(cause) => {
            Err(Error::new(&codes::BAD_PATTERN, &[("key", &TOPIC_PATTERN.key), ("value", &pattern), ("cause", &cause)]))
        }
    }
}

fn startup(options: &Options) -> Result<Startup> {
    Ok(match options.word(&STARTUP_MODE)? {
        Some("earliest-offset") => Startup::Earliest,
        Some("latest-offset") => Startup::Latest,
        Some("timestamp") => Startup::Timestamp(options.integer(&STARTUP_TIMESTAMP)?.unwrap_or_default()),
        Some("specific-offsets") => Startup::Offsets(offsets(options.get(STARTUP_OFFSETS.key).unwrap_or_default())),
        _ => Startup::Group(reset(options)?),
    })
}

fn reset(options: &Options) -> Result<Option<Reset>> {
    let key = "properties.auto.offset.reset";
    match options.get(key).map(str::to_ascii_lowercase).as_deref() {
        Some("earliest" | "smallest" | "beginning") => Ok(Some(Reset::Earliest)),
        Some("latest" | "largest" | "end") => Ok(Some(Reset::Latest)),
        None | Some("none" | "error") => Ok(None),
        Some(other) => Err(declared::bad_value(key, other, "earliest, latest or none")),
    }
}

fn stop(options: &Options) -> Result<Stop> {
    Ok(match options.word(&BOUNDED_MODE)? {
        Some("latest-offset") => Stop::Latest,
        Some("group-offsets") => Stop::Group,
        Some("timestamp") => Stop::Timestamp(options.integer(&BOUNDED_TIMESTAMP)?.unwrap_or_default()),
        Some("specific-offsets") => Stop::Offsets(offsets(options.get(BOUNDED_OFFSETS.key).unwrap_or_default())),
        _ => Stop::Never,
    })
}

/// The names of a list such as `user_id;item_id`.
pub(crate) fn split_list(list: &str) -> impl Iterator<Item = &str> {
    list.split(';').map(str::trim).filter(|name| !name.is_empty())
}

/// The offsets of a list that [`is_offset`] has checked.
fn offsets(list: &str) -> BTreeMap<i32, i64> {
    split_list(list).filter_map(offset).collect()
}

/// One offset: `partition:0,offset:42`.
pub(crate) fn offset(text: &str) -> Option<(i32, i64)> {
    let mut parts = text.split(',').map(str::trim);
    let mut number = |name: &str| parts.next()?.strip_prefix(name)?.trim().parse::<i64>().ok().filter(|n| *n >= 0);
    let (partition, offset) = (number("partition:")?, number("offset:")?);
    let partition = i32::try_from(partition).ok()?;
    parts.next().is_none().then_some((partition, offset))
}
