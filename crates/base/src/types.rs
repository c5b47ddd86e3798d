//! Flink SQL's types, their text form and their Arrow form.
//!
//! Arrow cannot hold everything Flink's types say (lengths of CHAR, precisions of TIMESTAMP, MULTISET, time attributes),
//! so a field carries the SQL type as text in its metadata (`flink.type`, `flink.time`). The text form is Flink's own
//! (`DESCRIBE` output) and parses back.

use crate::error::{Error, Result};
use arrow::datatypes::{DataType, Field as ArrowField, FieldRef, IntervalUnit, Schema, SchemaRef, TimeUnit};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Metadata key of an Arrow field that holds the SQL type.
pub const TYPE_KEY: &str = "flink.type";
/// Metadata key of an Arrow field that holds its time attribute.
pub const TIME_KEY: &str = "flink.time";
/// The metadata key under which a column carries what it holds: a text that stays equal as long as the meaning does. State
/// that is kept of the column is found by it when the script has changed.
pub const COLUMN_ID_KEY: &str = "highwater.column";
/// The metadata key under which a column of an aggregate's state carries its call, as SQL.
pub const COLUMN_CALL_KEY: &str = "highwater.call";
/// Time zone written into the Arrow type of TIMESTAMP_LTZ: the values are instants.
pub const INSTANT_ZONE: &str = "UTC";
/// The length of STRING and BYTES: VARCHAR and VARBINARY without a limit that matters.
pub const LENGTH_MAX: u32 = i32::MAX as u32;

/// A type without its nullability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LogicalType {
    /// The type of a bare NULL.
    Null,
    /// BOOLEAN.
    Boolean,
    /// TINYINT.
    TinyInt,
    /// SMALLINT.
    SmallInt,
    /// INT.
    Int,
    /// BIGINT.
    BigInt,
    /// FLOAT.
    Float,
    /// DOUBLE.
    Double,
    /// DECIMAL(precision, scale), precision 1 to 38.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// CHAR(n).
    Char(u32),
    /// VARCHAR(n); STRING is VARCHAR([`LENGTH_MAX`]).
    VarChar(u32),
    /// BINARY(n).
    Binary(u32),
    /// VARBINARY(n); BYTES is VARBINARY([`LENGTH_MAX`]).
    VarBinary(u32),
    /// DATE: days since 1970-01-01.
    Date,
    /// TIME(p): milliseconds of the day, p only matters for text.
    Time(u8),
    /// TIMESTAMP(p), 0 to 9: a wall-clock reading without a zone.
    Timestamp(u8),
    /// TIMESTAMP_LTZ(p), 0 to 9: an instant.
    TimestampLtz(u8),
    /// INTERVAL YEAR TO MONTH: months.
    IntervalYearMonth,
    /// INTERVAL DAY TO SECOND: milliseconds.
    IntervalDayTime,
    /// ARRAY<element>.
    Array(Box<SqlType>),
    /// MAP<key, value>.
    Map(Box<SqlType>, Box<SqlType>),
    /// MULTISET<element>.
    Multiset(Box<SqlType>),
    /// ROW<...>.
    Row(Vec<(String, SqlType)>),
    /// STRUCTURED<'class', ...>: a row whose type has a name.
    Structured(String, Vec<(String, SqlType)>),
    /// VARIANT: a value of any shape, as PARSE_JSON makes it. It is held as its JSON text, keys in order.
    Variant,
    /// BITMAP: a set of 32-bit integers, held as the portable serialisation of a roaring bitmap.
    Bitmap,
}

/// A type with its nullability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SqlType {
    /// The type.
    pub logical: LogicalType,
    /// Whether NULL is a value.
    pub nullable: bool,
}

impl LogicalType {
    /// STRING.
    pub const STRING: LogicalType = LogicalType::VarChar(LENGTH_MAX);
    /// BYTES.
    pub const BYTES: LogicalType = LogicalType::VarBinary(LENGTH_MAX);

    /// Whether every value of this type is the same value of the other, larger one.
    pub fn widens_to(&self, other: &LogicalType) -> bool {
        use LogicalType::*;
        match (self, other) {
            (TinyInt, SmallInt | Int | BigInt) | (SmallInt, Int | BigInt) | (Int, BigInt) => true,
            (VarChar(from), VarChar(to)) | (VarBinary(from), VarBinary(to)) => to >= from,
            (Decimal { precision: from, scale: one }, Decimal { precision: to, scale: other }) => {
                to >= from && one == other
            }
            _ => self == other,
        }
    }

    /// This type, nullable.
    pub fn nullable(self) -> SqlType {
        SqlType { logical: self, nullable: true }
    }

    /// This type, NOT NULL.
    pub fn not_null(self) -> SqlType {
        SqlType { logical: self, nullable: false }
    }

    /// CHAR or VARCHAR of any length.
    pub fn is_string(&self) -> bool {
        matches!(self, LogicalType::Char(_) | LogicalType::VarChar(_))
    }

    /// TINYINT to BIGINT.
    pub fn is_integer(&self) -> bool {
        use LogicalType::*;
        matches!(self, TinyInt | SmallInt | Int | BigInt)
    }

    /// Integers, FLOAT, DOUBLE and DECIMAL.
    pub fn is_numeric(&self) -> bool {
        use LogicalType::*;
        self.is_integer() || matches!(self, Float | Double | Decimal { .. })
    }

    /// The fields of a ROW or of a STRUCTURED type.
    pub fn fields(&self) -> Option<&[(String, SqlType)]> {
        match self {
            LogicalType::Row(fields) | LogicalType::Structured(_, fields) => Some(fields),
            _ => None,
        }
    }

    /// TIMESTAMP or TIMESTAMP_LTZ.
    pub fn is_timestamp(&self) -> bool {
        matches!(self, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_))
    }

    /// The unit in which a timestamp of this precision is stored: ms up to 3 digits, us up to 6, else ns.
    pub fn timestamp_unit(precision: u8) -> TimeUnit {
        match precision {
            0..=3 => TimeUnit::Millisecond,
            4..=6 => TimeUnit::Microsecond,
            _ => TimeUnit::Nanosecond,
        }
    }

    /// The Arrow type that holds values of this type.
    pub fn arrow(&self) -> DataType {
        use LogicalType::*;
        match self {
            Null => DataType::Null,
            Boolean => DataType::Boolean,
            TinyInt => DataType::Int8,
            SmallInt => DataType::Int16,
            Int => DataType::Int32,
            BigInt => DataType::Int64,
            Float => DataType::Float32,
            Double => DataType::Float64,
            Decimal { precision, scale } => DataType::Decimal128(*precision, *scale as i8),
            Char(_) | VarChar(_) => DataType::Utf8,
            Binary(_) | VarBinary(_) => DataType::Binary,
            Date => DataType::Date32,
            Time(_) => DataType::Time32(TimeUnit::Millisecond),
            Timestamp(p) => DataType::Timestamp(Self::timestamp_unit(*p), None),
            TimestampLtz(p) => DataType::Timestamp(Self::timestamp_unit(*p), Some(INSTANT_ZONE.into())),
            IntervalYearMonth => DataType::Interval(IntervalUnit::YearMonth),
            IntervalDayTime => DataType::Duration(TimeUnit::Millisecond),
            Array(element) => DataType::List(element.arrow_field("item")),
            Map(key, value) => map_type(key.arrow_field("key"), value.arrow_field("value")),
            Multiset(element) => map_type(element.arrow_field("key"), LogicalType::Int.not_null().arrow_field("value")),
            Row(fields) | Structured(_, fields) => {
                DataType::Struct(fields.iter().map(|(name, t)| t.arrow_field(name)).collect())
            }
            // Types of Arrow that no other SQL type uses: they are recognised where metadata is lost.
            Variant => DataType::LargeUtf8,
            Bitmap => DataType::LargeBinary,
        }
    }
}

fn map_type(key: FieldRef, value: FieldRef) -> DataType {
    let key = Arc::new(key.as_ref().clone().with_nullable(false));
    let entries = ArrowField::new("entries", DataType::Struct(vec![key, value].into()), false);
    DataType::Map(Arc::new(entries), false)
}

impl SqlType {
    /// STRING, nullable.
    pub fn string() -> SqlType {
        LogicalType::STRING.nullable()
    }

    /// The same type with another nullability.
    pub fn with_nullable(&self, nullable: bool) -> SqlType {
        SqlType { logical: self.logical.clone(), nullable }
    }

    /// The Arrow type that holds values of this type.
    pub fn arrow(&self) -> DataType {
        self.logical.arrow()
    }

    /// An Arrow field of this type that carries the SQL type in its metadata.
    pub fn arrow_field(&self, name: &str) -> FieldRef {
        let metadata = [(TYPE_KEY.to_string(), self.to_string())].into();
        Arc::new(ArrowField::new(name, self.arrow(), self.nullable).with_metadata(metadata))
    }

    /// The SQL type of an Arrow field: from its metadata, else the plainest SQL type that its Arrow type fits.
    ///
    /// Nullability is always the Arrow field's own, because planners change it without touching metadata.
    pub fn from_arrow(field: &ArrowField) -> Result<SqlType> {
        if let Some(text) = field.metadata().get(TYPE_KEY) {
            let (parsed, arrow) = parsed(text)?;
            // Metadata can survive a cast that it no longer describes; the Arrow type is the truth then.
            if arrow == *field.data_type() || same_shape(&arrow, field.data_type()) {
                return Ok(parsed.with_nullable(field.is_nullable()));
            }
        }
        Ok(LogicalType::from_arrow_type(field.data_type())?.nullable().with_nullable(field.is_nullable()))
    }
}

/// Types that a thread remembers by their text: a planner asks for the same few thousands of times.
const PARSED_MAX: usize = 1024;

thread_local! {
    static PARSED: RefCell<HashMap<String, (SqlType, DataType)>> = RefCell::default();
}

/// A type by its text, and its Arrow form.
fn parsed(text: &str) -> Result<(SqlType, DataType)> {
    if let Some(known) = PARSED.with_borrow(|parsed| parsed.get(text).cloned()) {
        return Ok(known);
    }
    let sql_type: SqlType = text.parse()?;
    let arrow = sql_type.arrow();
    PARSED.with_borrow_mut(|parsed| {
        if parsed.len() >= PARSED_MAX {
            parsed.clear();
        }
        parsed.insert(text.to_string(), (sql_type.clone(), arrow.clone()));
    });
    Ok((sql_type, arrow))
}

/// Nested Arrow types differ in field metadata and names without being another type.
fn same_shape(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::List(x), DataType::List(y)) | (DataType::Map(x, _), DataType::Map(y, _)) => {
            same_shape(x.data_type(), y.data_type())
        }
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same_shape(x.data_type(), y.data_type()))
        }
        _ => a == b,
    }
}

impl LogicalType {
    /// The plainest SQL type for an Arrow type that carries no SQL type.
    ///
    /// # Errors
    /// An Arrow type that no SQL type uses is an internal error.
    pub fn from_arrow_type(data_type: &DataType) -> Result<LogicalType> {
        use LogicalType::*;
        let precision = |unit: &TimeUnit| match unit {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
            TimeUnit::Nanosecond => 9,
        };
        Ok(match data_type {
            DataType::Null => Null,
            DataType::Boolean => Boolean,
            DataType::Int8 => TinyInt,
            DataType::Int16 => SmallInt,
            DataType::Int32 => Int,
            DataType::Int64 => BigInt,
            DataType::Float32 => Float,
            DataType::Float64 => Double,
            DataType::Decimal128(precision, scale) if *scale >= 0 => {
                Decimal { precision: *precision, scale: *scale as u8 }
            }
            DataType::Utf8 => LogicalType::STRING,
            DataType::Binary => LogicalType::BYTES,
            DataType::LargeUtf8 => Variant,
            DataType::LargeBinary => Bitmap,
            DataType::Date32 => Date,
            DataType::Time32(_) => Time(0),
            DataType::Timestamp(unit, None) => Timestamp(precision(unit)),
            DataType::Timestamp(unit, Some(_)) => TimestampLtz(precision(unit)),
            DataType::Interval(IntervalUnit::YearMonth) => IntervalYearMonth,
            DataType::Interval(_) | DataType::Duration(_) => IntervalDayTime,
            DataType::List(field) => Array(Box::new(SqlType::from_arrow(field)?)),
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) if fields.len() == 2 => {
                    Map(Box::new(SqlType::from_arrow(&fields[0])?), Box::new(SqlType::from_arrow(&fields[1])?))
                }
                other => return Err(Error::internal(format!("map entries of type {other}"))),
            },
            DataType::Struct(fields) => Row(fields
                .iter()
                .map(|field| Ok((field.name().clone(), SqlType::from_arrow(field)?)))
                .collect::<Result<_>>()?),
            other => return Err(Error::internal(format!("no SQL type for Arrow type {other}"))),
        })
    }
}

impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use LogicalType::*;
        match self {
            Null => f.write_str("NULL"),
            Boolean => f.write_str("BOOLEAN"),
            TinyInt => f.write_str("TINYINT"),
            SmallInt => f.write_str("SMALLINT"),
            Int => f.write_str("INT"),
            BigInt => f.write_str("BIGINT"),
            Float => f.write_str("FLOAT"),
            Double => f.write_str("DOUBLE"),
            Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Char(n) => write!(f, "CHAR({n})"),
            VarChar(LENGTH_MAX) => f.write_str("STRING"),
            VarChar(n) => write!(f, "VARCHAR({n})"),
            Binary(n) => write!(f, "BINARY({n})"),
            VarBinary(LENGTH_MAX) => f.write_str("BYTES"),
            VarBinary(n) => write!(f, "VARBINARY({n})"),
            Date => f.write_str("DATE"),
            Time(p) => write!(f, "TIME({p})"),
            Timestamp(p) => write!(f, "TIMESTAMP({p})"),
            TimestampLtz(p) => write!(f, "TIMESTAMP_LTZ({p})"),
            IntervalYearMonth => f.write_str("INTERVAL MONTH"),
            IntervalDayTime => f.write_str("INTERVAL SECOND(3)"),
            Array(element) => write!(f, "ARRAY<{element}>"),
            Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Multiset(element) => write!(f, "MULTISET<{element}>"),
            Row(fields) => {
                f.write_str("ROW<")?;
                write_fields(f, fields)
            }
            Structured(class, fields) => {
                write!(f, "STRUCTURED<'{}', ", class.replace('\'', "''"))?;
                write_fields(f, fields)
            }
            Variant => f.write_str("VARIANT"),
            Bitmap => f.write_str("BITMAP"),
        }
    }
}

/// The fields of a row type and what closes it.
fn write_fields(f: &mut fmt::Formatter<'_>, fields: &[(String, SqlType)]) -> fmt::Result {
    for (index, (name, t)) in fields.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}`{}` {t}", name.replace('`', "``"))?;
    }
    f.write_str(">")
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.logical, if self.nullable { "" } else { " NOT NULL" })
    }
}

/// What makes a timestamp column the time of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeAttribute {
    /// Event time: watermarks refer to this column.
    Rowtime,
    /// Processing time.
    Proctime,
}

/// A column of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// Column name, case-sensitive as in Flink.
    pub name: String,
    /// Its type.
    pub sql_type: SqlType,
    /// Its time attribute; `None` for an ordinary column.
    pub time: Option<TimeAttribute>,
}

impl Field {
    /// An ordinary column.
    pub fn new(name: impl Into<String>, sql_type: SqlType) -> Field {
        Field { name: name.into(), sql_type, time: None }
    }

    /// The Arrow field, with SQL type and time attribute in its metadata.
    pub fn arrow(&self) -> FieldRef {
        let field = self.sql_type.arrow_field(&self.name);
        match self.time {
            None => field,
            Some(time) => {
                let mut field = field.as_ref().clone();
                let name = match time {
                    TimeAttribute::Rowtime => "rowtime",
                    TimeAttribute::Proctime => "proctime",
                };
                let mut metadata = field.metadata().clone();
                metadata.insert(TIME_KEY.into(), name.into());
                field.set_metadata(metadata);
                Arc::new(field)
            }
        }
    }

    /// The column that an Arrow field describes.
    pub fn from_arrow(field: &ArrowField) -> Result<Field> {
        let time = match field.metadata().get(TIME_KEY).map(String::as_str) {
            Some("rowtime") => Some(TimeAttribute::Rowtime),
            Some("proctime") => Some(TimeAttribute::Proctime),
            _ => None,
        };
        Ok(Field { name: field.name().clone(), sql_type: SqlType::from_arrow(field)?, time })
    }
}

impl fmt::Display for Field {
    /// Flink's `DESCRIBE` form: `ts TIMESTAMP(3) *ROWTIME*`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = match self.time {
            None => "",
            Some(TimeAttribute::Rowtime) => " *ROWTIME*",
            Some(TimeAttribute::Proctime) => " *PROCTIME*",
        };
        write!(f, "{} {}{time}", self.name, self.sql_type)
    }
}

/// The columns of a stream, with the Arrow schema of its batches.
#[derive(Debug, Clone)]
pub struct RowType {
    fields: Vec<Field>,
    arrow: SchemaRef,
}

/// What columns hold is no part of their types.
impl PartialEq for RowType {
    fn eq(&self, other: &RowType) -> bool {
        self.fields == other.fields
    }
}

impl RowType {
    /// A row of these columns.
    ///
    /// The Arrow schema lets every column be NULL: Flink's own types promise NOT NULL where an overflowing DECIMAL gives
    /// NULL all the same, and a sink's enforcer judges rows with a message of its own.
    pub fn new(fields: Vec<Field>) -> RowType {
        let nullable = |field: &Field| field.arrow().as_ref().clone().with_nullable(true);
        let arrow = Arc::new(Schema::new(fields.iter().map(nullable).collect::<Vec<_>>()));
        RowType { fields, arrow }
    }

    /// The columns.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The Arrow schema; every batch of the stream has exactly this schema object.
    pub fn arrow(&self) -> &SchemaRef {
        &self.arrow
    }

    /// The position of a column by its exact name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The row of some of the columns, in the given order.
    pub fn project(&self, columns: &[usize]) -> RowType {
        let arrow = columns.iter().map(|&index| self.arrow.fields()[index].clone()).collect::<Vec<_>>();
        RowType {
            fields: columns.iter().map(|&index| self.fields[index].clone()).collect(),
            arrow: Arc::new(Schema::new(arrow)),
        }
    }

    /// The same columns with what each of them holds, under [`COLUMN_ID_KEY`].
    pub fn identified(self, ids: &[String]) -> RowType {
        let known = |(field, id): (&FieldRef, &String)| field.metadata().get(COLUMN_ID_KEY) == Some(id);
        if self.arrow.fields().iter().zip(ids).all(known) {
            return self;
        }
        let identified = self.arrow.fields().iter().enumerate().map(|(index, field)| {
            let mut field = field.as_ref().clone();
            if let Some(id) = ids.get(index) {
                let mut metadata = field.metadata().clone();
                metadata.insert(COLUMN_ID_KEY.into(), id.clone());
                field.set_metadata(metadata);
            }
            field
        });
        RowType { arrow: Arc::new(Schema::new(identified.collect::<Vec<_>>())), fields: self.fields }
    }
}

impl fmt::Display for RowType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields.iter().enumerate() {
            write!(f, "{}{field}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[path = "types_parse.rs"]
mod parse;
pub use parse::BAD_TYPE;

#[cfg(test)]
#[path = "types_tests.rs"]
mod tests;
