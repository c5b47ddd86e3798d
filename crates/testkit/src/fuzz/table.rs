//! The table of the expression fuzzer: a column of every type, and rows with NULLs and extremes.

use super::random::Random;
use arrow::array::{
    Array, ArrayRef, Int32Array, ListArray, MapArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType;
use base::function::FunctionContext;
use base::{LogicalType, RowType};
use std::sync::Arc;

/// Name, type and the code of the type in templates.
pub const COLUMNS: &[(&str, &str, char)] = &[
    ("c_tiny", "TINYINT", 't'),
    ("c_int", "INT", 'i'),
    ("c_big", "BIGINT", 'l'),
    ("c_dec", "DECIMAL(10, 2)", 'd'),
    ("c_wide", "DECIMAL(38, 10)", 'd'),
    ("c_float", "FLOAT", 'f'),
    ("c_double", "DOUBLE", 'f'),
    ("c_str", "STRING", 's'),
    ("c_char", "CHAR(3)", 's'),
    ("c_bool", "BOOLEAN", 'b'),
    ("c_date", "DATE", 'a'),
    ("c_time", "TIME(0)", 'm'),
    ("c_ts", "TIMESTAMP(3)", 'p'),
    ("c_ts6", "TIMESTAMP(6)", 'p'),
    ("c_ltz", "TIMESTAMP_LTZ(3)", 'z'),
    ("c_bytes", "BYTES", 'x'),
    ("c_arr", "ARRAY<INT>", 'A'),
    ("c_strs", "ARRAY<STRING>", 'S'),
    ("c_map", "MAP<STRING, INT>", 'M'),
    ("c_row", "ROW<a INT, b STRING>", 'R'),
];

/// The session's zone: it had daylight saving times once.
pub const ZONE: &str = "Asia/Shanghai";

const STRINGS: &[&str] = &[
    "",
    "a",
    " abc ",
    "12",
    "-1.5",
    "1e3",
    "true",
    "2024-02-29",
    "2024-02-29 23:59:59.999",
    "12:34:56",
    "中文字符",
    "😀e\u{301}ß",
    "a,b;c",
    "k=v,k2=v2",
    "%_\\",
    "[a-c]+",
    "(",
    "yyyy-MM-dd HH:mm:ss",
    "$.a",
    "lax $.b[0]",
    "{\"a\":1,\"b\":[1,null,{\"c\":\"x\"}]}",
    "[1,2",
    "http://u:p@h:80/p?q=1&r=2#f",
    "UTC",
    "America/Los_Angeles",
    "it's",
    "x\n\ty",
    "SGVsbG8=",
    "48656C6C6F",
    "99999999999999999999999999999999999999",
    "NaN",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// The values that the primitive types get, as texts that CAST reads.
fn choices(sql_type: &str) -> &'static [&'static str] {
    match sql_type {
        "TINYINT" => &["0", "1", "-1", "127", "-128", "7"],
        "INT" => &["0", "1", "-1", "2", "3", "10", "2147483647", "-2147483648", "1000"],
        "BIGINT" => {
            &["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "1704067200", "1704067200000", "5"]
        }
        "DECIMAL(10, 2)" => &["0.00", "0.01", "-0.01", "99999999.99", "-99999999.99", "1.50", "12.34"],
        "DECIMAL(38, 10)" => &[
            "0",
            "9999999999999999999999999999.9999999999",
            "-9999999999999999999999999999.9999999999",
            "0.0000000001",
            "2.5",
        ],
        "FLOAT" => &["0", "1.5", "-1.5", "3.4028235E38", "1.4E-45", "NaN", "Infinity", "0.1"],
        "DOUBLE" => &[
            "0",
            "-0.0",
            "1.5",
            "-2.5",
            "1.7976931348623157E308",
            "4.9E-324",
            "NaN",
            "Infinity",
            "-Infinity",
            "0.1",
            "1E7",
            "9.2233720368547758E18",
        ],
        "CHAR(3)" => &["abc", "a", "", "中文字", "12"],
        "BOOLEAN" => &["true", "false"],
        "DATE" => &["1970-01-01", "2024-02-29", "0001-01-01", "9999-12-31", "1969-12-31", "2023-12-31"],
        "TIME(0)" => &["00:00:00", "23:59:59", "12:34:56"],
        "TIMESTAMP(3)" => &[
            "1970-01-01 00:00:00.000",
            "2024-02-29 23:59:59.999",
            "0001-01-01 00:00:00",
            "9999-12-31 23:59:59.999",
            "1969-12-31 23:59:59.999",
            "1988-07-01 12:00:00",
        ],
        "TIMESTAMP(6)" => &[
            "2024-01-02 03:04:05.123456",
            "0001-01-01 00:00:00",
            "9999-12-31 23:59:59.999999",
            "1969-12-31 23:59:59.999999",
        ],
        "TIMESTAMP_LTZ(3)" => &[
            "1970-01-01 08:00:00.000",
            "2024-02-29 23:59:59.999",
            "0001-01-03 00:00:00",
            "9999-12-31 23:59:59.999",
            "1988-07-01 12:00:00",
        ],
        _ => STRINGS,
    }
}

/// The statement that defines the table `t`.
pub fn definition(connector: &str) -> String {
    let columns: Vec<String> = COLUMNS.iter().map(|(name, sql_type, _)| format!("{name} {sql_type}")).collect();
    format!("CREATE TABLE t ({}) WITH ('connector' = '{connector}')", columns.join(", "))
}

/// Rows of the table, with a literal for each cell.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<ArrayRef>,
    /// By column and row; `None` where no literal says the value.
    literals: Vec<Vec<Option<String>>>,
}

impl Rows {
    /// `count` rows.
    pub fn random(random: &mut Random, count: usize, context: &FunctionContext) -> Rows {
        let mut rows = Rows { columns: Vec::new(), literals: Vec::new() };
        for (_, sql_type, _) in COLUMNS {
            let (array, literals) = column(random, sql_type, count, context);
            rows.columns.push(array);
            rows.literals.push(literals);
        }
        rows
    }

    /// The columns of `row`, by name.
    pub fn batch(&self, row: &RowType) -> Option<RecordBatch> {
        let place = |name: &str| COLUMNS.iter().position(|(known, ..)| *known == name);
        let columns: Option<Vec<ArrayRef>> =
            row.fields().iter().map(|field| Some(self.columns[place(&field.name)?].clone())).collect();
        let options = RecordBatchOptions::new().with_row_count(self.columns.first().map(|column| column.len()));
        RecordBatch::try_new_with_options(row.arrow().clone(), columns?, &options).ok()
    }

    /// `expression` with literals instead of columns.
    pub fn constant(&self, expression: &str, row: usize) -> Option<String> {
        let mut out = String::new();
        for token in super::mutate::tokens(expression) {
            match COLUMNS.iter().position(|(name, ..)| *name == token) {
                Some(column) => out.push_str(&format!("({})", self.literals[column][row].as_ref()?)),
                None => out.push_str(&token),
            }
        }
        Some(out)
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn maybe<'a>(random: &mut Random, choices: &[&'a str]) -> Option<&'a str> {
    (!random.once_in(5)).then(|| *random.pick(choices))
}

fn column(
    random: &mut Random,
    sql_type: &str,
    count: usize,
    context: &FunctionContext,
) -> (ArrayRef, Vec<Option<String>>) {
    match sql_type {
        "ARRAY<INT>" | "ARRAY<STRING>" | "MAP<STRING, INT>" | "ROW<a INT, b STRING>" => {
            nested(random, sql_type, count, context)
        }
        _ => {
            let texts: Vec<Option<&str>> = (0..count).map(|_| maybe(random, choices(sql_type))).collect();
            let literal = |text: &Option<&str>| match text {
                None => Some(format!("CAST(NULL AS {sql_type})")),
                Some(text) if sql_type == "BYTES" => Some(format!("CAST(CAST({} AS STRING) AS BYTES)", quoted(text))),
                Some(text) => Some(format!("CAST({} AS {sql_type})", quoted(text))),
            };
            (primitive(&texts, sql_type, context), texts.iter().map(literal).collect())
        }
    }
}

fn logical(sql_type: &str) -> LogicalType {
    match sql_type {
        "TINYINT" => LogicalType::TinyInt,
        "INT" => LogicalType::Int,
        "BIGINT" => LogicalType::BigInt,
        "DECIMAL(10, 2)" => LogicalType::Decimal { precision: 10, scale: 2 },
        "DECIMAL(38, 10)" => LogicalType::Decimal { precision: 38, scale: 10 },
        "FLOAT" => LogicalType::Float,
        "DOUBLE" => LogicalType::Double,
        "CHAR(3)" => LogicalType::Char(3),
        "BOOLEAN" => LogicalType::Boolean,
        "DATE" => LogicalType::Date,
        "TIME(0)" => LogicalType::Time(0),
        "TIMESTAMP(3)" => LogicalType::Timestamp(3),
        "TIMESTAMP(6)" => LogicalType::Timestamp(6),
        "TIMESTAMP_LTZ(3)" => LogicalType::TimestampLtz(3),
        "BYTES" => LogicalType::BYTES,
        _ => LogicalType::STRING,
    }
}

fn primitive(texts: &[Option<&str>], sql_type: &str, context: &FunctionContext) -> ArrayRef {
    let array: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let to = logical(sql_type).nullable();
    functions::cast(&array, &LogicalType::STRING.nullable(), &to, false, context).expect("values of the type")
}

/// Arrays and maps of up to three entries, and rows.
fn nested(
    random: &mut Random,
    sql_type: &str,
    count: usize,
    context: &FunctionContext,
) -> (ArrayRef, Vec<Option<String>>) {
    let is_row = sql_type.starts_with("ROW");
    let present: Vec<bool> = (0..count).map(|_| !random.once_in(5)).collect();
    let lengths: Vec<usize> = present
        .iter()
        .map(|present| match (is_row, present) {
            (true, _) => 1,
            (false, true) => random.below(4),
            (false, false) => 0,
        })
        .collect();
    let total: usize = lengths.iter().sum();
    let integers: Vec<Option<&str>> = (0..total).map(|_| maybe(random, choices("INT"))).collect();
    let mut strings: Vec<Option<&str>> = (0..total).map(|_| maybe(random, STRINGS)).collect();
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths.iter().copied());
    if sql_type.starts_with("MAP") {
        // Keys of one map differ and are not NULL.
        for window in offsets.windows(2) {
            for (place, key) in (window[0]..window[1]).zip(["a", "b", ""]) {
                strings[place as usize] = Some(key);
            }
        }
    }
    let literals = (0..count)
        .map(|row| {
            let range = offsets[row] as usize..offsets[row + 1] as usize;
            if !present[row] {
                return Some(format!("CAST(NULL AS {sql_type})"));
            }
            let integer =
                |at: usize| integers[at].map_or("CAST(NULL AS INT)".into(), |text| format!("CAST('{text}' AS INT)"));
            let string = |at: usize| match strings[at] {
                None => "CAST(NULL AS STRING)".into(),
                Some(text) => format!("CAST({} AS STRING)", quoted(text)),
            };
            let list = |items: Vec<String>| (!items.is_empty()).then(|| items.join(", "));
            let body = match sql_type {
                "ARRAY<INT>" => format!("ARRAY[{}]", list(range.map(integer).collect())?),
                "ARRAY<STRING>" => format!("ARRAY[{}]", list(range.map(string).collect())?),
                "MAP<STRING, INT>" => {
                    format!("MAP[{}]", list(range.flat_map(|at| [string(at), integer(at)]).collect())?)
                }
                _ => format!("ROW({}, {})", integer(range.start), string(range.start)),
            };
            Some(format!("CAST({body} AS {sql_type})"))
        })
        .collect();
    let integers = primitive(&integers, "INT", context);
    let strings = primitive(&strings, "STRING", context);
    (assemble(sql_type, integers, strings, offsets, NullBuffer::from(present)), literals)
}

fn assemble(
    sql_type: &str,
    integers: ArrayRef,
    strings: ArrayRef,
    offsets: OffsetBuffer<i32>,
    nulls: NullBuffer,
) -> ArrayRef {
    debug_assert!(integers.as_any().is::<Int32Array>());
    let integer = || LogicalType::Int.nullable();
    let string = || LogicalType::STRING.nullable();
    let logical = match sql_type {
        "ARRAY<INT>" => LogicalType::Array(Box::new(integer())),
        "ARRAY<STRING>" => LogicalType::Array(Box::new(string())),
        "MAP<STRING, INT>" => LogicalType::Map(Box::new(string()), Box::new(integer())),
        _ => LogicalType::Row(vec![("a".into(), integer()), ("b".into(), string())]),
    };
    match logical.arrow() {
        DataType::List(field) => {
            let values = if sql_type == "ARRAY<INT>" { integers } else { strings };
            Arc::new(ListArray::new(field, offsets, values, Some(nulls)))
        }
        DataType::Map(entries, ordered) => {
            let DataType::Struct(fields) = entries.data_type() else { unreachable!("entries are rows") };
            let pairs = StructArray::new(fields.clone(), vec![strings, integers], None);
            Arc::new(MapArray::new(entries, offsets, pairs, Some(nulls), ordered))
        }
        DataType::Struct(fields) => Arc::new(StructArray::new(fields, vec![integers, strings], Some(nulls))),
        other => unreachable!("{other} is not nested"),
    }
}
