//! What the envelopes of the dialects are made of, and where its parts are in a record.

use crate::formats::json::encode::Frame;
use crate::formats::json::reader::{Reader, Span, unescape};

/// A part of an envelope that has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The new content of the row, or the only one: `after` of Debezium and GoldenGate.
    New,
    /// The old content of the row: `before` of Debezium and GoldenGate; in the others the old values of what changed.
    Old,
    /// The operation.
    Operation,
    /// Debezium's envelope inside that of Kafka Connect.
    Payload,
    /// What belongs to the form with or without that, whichever is not expected.
    Misplaced,
    /// The description of the payload.
    Schema,
    /// Debezium's origin of the change.
    Source,
    SourceTime,
    SourceDatabase,
    SourceSchema,
    SourceTable,
    Database,
    Table,
    /// When the record was written.
    Time,
    /// When the change happened.
    EventTime,
    Types,
    Keys,
}

const PARTS: usize = Part::Keys as usize + 1;

/// Keys and what they stand for.
pub type Members = &'static [(&'static str, Part)];

/// What an operation does to the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Adds the new ones.
    Insert,
    /// Replaces the old ones by the new ones.
    Update,
    /// Takes them away.
    Delete,
    /// Nothing: it is about something else than rows.
    None,
}

/// What the rows of a record are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The whole old and the whole new row.
    BeforeAndAfter,
    /// The row, and for an update its old values.
    DataAndOld,
    /// The same for several rows, in arrays.
    Arrays,
}

/// How a metadata column is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// STRING.
    Text,
    /// ARRAY of STRING.
    Texts,
    /// MAP from STRING to STRING.
    TextByName,
    /// MAP from STRING to INT.
    NumberByName,
    /// TIMESTAMP_LTZ(3) in seconds.
    Seconds,
    /// TIMESTAMP_LTZ(3) in milliseconds.
    Milliseconds,
    /// TIMESTAMP_LTZ(6) as a date and time in UTC.
    DateTime,
}

/// A metadata column.
#[derive(Debug, Clone, Copy)]
pub struct Metadata {
    /// What METADATA FROM names.
    pub key: &'static str,
    /// Where it is in a record.
    pub part: Part,
    /// How it is written there.
    pub form: Form,
}

const fn metadata(key: &'static str, part: Part, form: Form) -> Metadata {
    Metadata { key, part, form }
}

/// A dialect of change records.
#[derive(Debug)]
pub struct Dialect {
    /// The name of the format.
    pub name: &'static str,
    /// The keys of the envelope.
    pub members: Members,
    /// The operations.
    pub operations: &'static [(&'static str, Operation)],
    /// What the rows are made of.
    pub content: Content,
    /// The metadata columns.
    pub metadata: &'static [Metadata],
    /// Who leaves the old row out of [`Content::BeforeAndAfter`] unless told otherwise, and how it is told.
    pub old_rows: Option<[&'static str; 2]>,
    /// What is written around a row that is added, and around one that is taken away.
    pub frames: [Frame; 2],
    /// The same when NULL is not written.
    pub frames_without_nulls: [Frame; 2],
}

impl Dialect {
    /// The key of a part, for people.
    pub fn key(&self, part: Part) -> &'static str {
        self.members.iter().find(|(_, other)| *other == part).map_or("payload", |(key, _)| key)
    }
}

/// `debezium-json`.
pub const DEBEZIUM: Dialect = Dialect {
    name: "debezium-json",
    members: &[
        ("before", Part::Old),
        ("after", Part::New),
        ("source", Part::Source),
        ("op", Part::Operation),
        ("ts_ms", Part::Time),
        ("payload", Part::Misplaced),
    ],
    operations: &[
        ("c", Operation::Insert),
        ("r", Operation::Insert),
        ("u", Operation::Update),
        ("d", Operation::Delete),
    ],
    content: Content::BeforeAndAfter,
    metadata: &[
        metadata("schema", Part::Schema, Form::Text),
        metadata("ingestion-timestamp", Part::Time, Form::Milliseconds),
        metadata("source.timestamp", Part::SourceTime, Form::Milliseconds),
        metadata("source.database", Part::SourceDatabase, Form::Text),
        metadata("source.schema", Part::SourceSchema, Form::Text),
        metadata("source.table", Part::SourceTable, Form::Text),
        metadata("source.properties", Part::Source, Form::TextByName),
        metadata("op", Part::Operation, Form::Text),
    ],
    old_rows: Some(["Debezium (PostgreSQL)", "ALTER TABLE ... REPLICA IDENTITY FULL"]),
    frames: [["{\"before\":null,\"after\":", ",\"op\":\"c\"}"], ["{\"before\":", ",\"after\":null,\"op\":\"d\"}"]],
    frames_without_nulls: [["{\"after\":", ",\"op\":\"c\"}"], ["{\"before\":", ",\"op\":\"d\"}"]],
};

/// What is around Debezium's envelope with `debezium-json.schema-include`.
pub const CONNECT: Members = &[("schema", Part::Schema), ("payload", Part::Payload), ("op", Part::Misplaced)];

/// Inside Debezium's `source`.
pub const SOURCE: Members = &[
    ("ts_ms", Part::SourceTime),
    ("db", Part::SourceDatabase),
    ("schema", Part::SourceSchema),
    ("table", Part::SourceTable),
];

/// `canal-json`. TRUNCATE is not among the operations without rows: it takes all rows away, which no changelog can say
/// without knowing them.
pub const CANAL: Dialect = Dialect {
    name: "canal-json",
    members: &[
        ("data", Part::New),
        ("old", Part::Old),
        ("type", Part::Operation),
        ("database", Part::Database),
        ("table", Part::Table),
        ("ts", Part::Time),
        ("es", Part::EventTime),
        ("sqlType", Part::Types),
        ("pkNames", Part::Keys),
    ],
    operations: &[
        ("INSERT", Operation::Insert),
        ("UPDATE", Operation::Update),
        ("DELETE", Operation::Delete),
        ("CREATE", Operation::None),
        ("ALTER", Operation::None),
        ("ERASE", Operation::None),
        ("RENAME", Operation::None),
        ("CINDEX", Operation::None),
        ("DINDEX", Operation::None),
        ("QUERY", Operation::None),
    ],
    content: Content::Arrays,
    metadata: &[
        metadata("database", Part::Database, Form::Text),
        metadata("table", Part::Table, Form::Text),
        metadata("sql-type", Part::Types, Form::NumberByName),
        metadata("pk-names", Part::Keys, Form::Texts),
        metadata("ingestion-timestamp", Part::Time, Form::Milliseconds),
        metadata("event-timestamp", Part::EventTime, Form::Milliseconds),
    ],
    old_rows: None,
    frames: CANAL_FRAMES,
    frames_without_nulls: CANAL_FRAMES,
};

const CANAL_FRAMES: [Frame; 2] = [["{\"data\":[", "],\"type\":\"INSERT\"}"], ["{\"data\":[", "],\"type\":\"DELETE\"}"]];

/// `maxwell-json`.
pub const MAXWELL: Dialect = Dialect {
    name: "maxwell-json",
    members: &[
        ("data", Part::New),
        ("old", Part::Old),
        ("type", Part::Operation),
        ("database", Part::Database),
        ("table", Part::Table),
        ("ts", Part::Time),
        ("primary_key_columns", Part::Keys),
    ],
    operations: &[
        ("insert", Operation::Insert),
        ("update", Operation::Update),
        ("delete", Operation::Delete),
        ("bootstrap-insert", Operation::Insert),
        ("bootstrap-start", Operation::None),
        ("bootstrap-complete", Operation::None),
        ("database-create", Operation::None),
        ("database-alter", Operation::None),
        ("database-drop", Operation::None),
        ("table-create", Operation::None),
        ("table-alter", Operation::None),
        ("table-drop", Operation::None),
    ],
    content: Content::DataAndOld,
    metadata: &[
        metadata("database", Part::Database, Form::Text),
        metadata("table", Part::Table, Form::Text),
        metadata("primary-key-columns", Part::Keys, Form::Texts),
        metadata("ingestion-timestamp", Part::Time, Form::Seconds),
    ],
    old_rows: None,
    frames: MAXWELL_FRAMES,
    frames_without_nulls: MAXWELL_FRAMES,
};

const MAXWELL_FRAMES: [Frame; 2] = [["{\"data\":", ",\"type\":\"insert\"}"], ["{\"data\":", ",\"type\":\"delete\"}"]];

/// `ogg-json`, of Oracle GoldenGate. `T`, which takes all rows of a table away, is unknown as TRUNCATE is to `canal-json`.
pub const OGG: Dialect = Dialect {
    name: "ogg-json",
    members: &[
        ("table", Part::Table),
        ("op_type", Part::Operation),
        ("op_ts", Part::EventTime),
        ("current_ts", Part::Time),
        ("primary_keys", Part::Keys),
        ("before", Part::Old),
        ("after", Part::New),
    ],
    operations: &[("I", Operation::Insert), ("U", Operation::Update), ("D", Operation::Delete)],
    content: Content::BeforeAndAfter,
    metadata: &[
        metadata("table", Part::Table, Form::Text),
        metadata("primary-keys", Part::Keys, Form::Texts),
        metadata("ingestion-timestamp", Part::Time, Form::DateTime),
        metadata("event-timestamp", Part::EventTime, Form::DateTime),
    ],
    old_rows: Some(["GoldenGate", "ADD TRANDATA owner.table, ALLCOLS"]),
    frames: [
        ["{\"before\":null,\"after\":", ",\"op_type\":\"I\"}"],
        ["{\"before\":", ",\"after\":null,\"op_type\":\"D\"}"],
    ],
    frames_without_nulls: [["{\"after\":", ",\"op_type\":\"I\"}"], ["{\"before\":", ",\"op_type\":\"D\"}"]],
};

/// Where the parts of one record begin. A part that is null is not there.
#[derive(Debug)]
pub struct Places([Option<u32>; PARTS]);

impl Places {
    /// No part yet.
    pub fn new() -> Places {
        Places([None; PARTS])
    }

    /// Forgets these parts.
    pub fn clear(&mut self, members: Members) {
        members.iter().for_each(|(_, part)| self.set(*part, None));
    }

    /// Where a part begins.
    pub fn get(&self, part: Part) -> Option<usize> {
        self.0[part as usize].map(|place| place as usize)
    }

    /// Sets where a part begins. A buffer of records is shorter than 4 GiB, so places fit.
    pub fn set(&mut self, part: Part, place: Option<usize>) {
        self.0[part as usize] = place.map(|place| place as u32);
    }
}

/// What a key stands for.
#[inline]
pub fn part(key: Span<'_>, members: Members) -> Option<Part> {
    let find = |key: &[u8]| members.iter().find(|(name, _)| name.as_bytes() == key).map(|(_, part)| *part);
    if key.escaped { with_plain(key, find) } else { find(key.raw) }
}

/// The operation at the reader's place; `None` if it is none of the dialect.
pub fn operation(dialect: &Dialect, reader: &mut Reader<'_>) -> Option<Operation> {
    let find = |text: &[u8]| dialect.operations.iter().find(|(name, _)| name.as_bytes() == text).map(|(_, o)| *o);
    let span = reader.string().ok()?;
    if span.escaped { with_plain(span, find) } else { find(span.raw) }
}

/// The text at the reader's place if `test` agrees to it.
pub fn text_is(reader: &mut Reader<'_>, test: impl Fn(&str) -> bool) -> bool {
    let Ok(span) = reader.string() else { return false };
    let test = |text: &[u8]| std::str::from_utf8(text).is_ok_and(&test);
    if span.escaped { with_plain(span, test) } else { test(span.raw) }
}

#[cold]
fn with_plain<T>(span: Span<'_>, then: impl Fn(&[u8]) -> T) -> T {
    let mut plain = Vec::with_capacity(span.raw.len());
    unescape(span.raw, &mut plain);
    then(&plain)
}
