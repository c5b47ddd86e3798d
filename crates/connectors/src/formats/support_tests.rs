//! What the tests of all formats share: decoders and encoders made from text, and random rows.

use super::column::{Column, Data};
use super::value::TimestampStandard;
use arrow::array::RecordBatch;
use base::format::{DecodeError, DecodeSpec, Decoded, Decoder, Encoder, FormatFactory, Records};
use base::{ChangelogBatch, Field, LogicalType, Options, Result, RowType, SqlType};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The seed of every random test.
pub const SEED: u64 = 20_240_102;

pub fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(SEED)
}

/// Columns written as the fields of a ROW type.
pub fn row_type(fields: &str) -> RowType {
    let parsed: SqlType = format!("ROW<{fields}>").parse().expect("fields");
    let LogicalType::Row(fields) = parsed.logical else { panic!("no row") };
    RowType::new(fields.into_iter().map(|(name, t)| Field::new(name, t)).collect())
}

pub fn options(pairs: &[(&str, &str)]) -> Options {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// A decoder of all the columns.
pub fn decoder(format: &dyn FormatFactory, columns: &RowType, pairs: &[(&str, &str)]) -> Result<Box<dyn Decoder>> {
    let spec = DecodeSpec {
        columns: columns.clone(),
        metadata: Vec::new(),
        table: columns.clone(),
        time_zone: chrono_tz::Tz::UTC,
    };
    format.decoder(&options(pairs), &spec)
}

pub fn encoder(format: &dyn FormatFactory, columns: &RowType, pairs: &[(&str, &str)]) -> Box<dyn Encoder> {
    format.encoder(&options(pairs), columns, chrono_tz::Tz::Asia__Shanghai).expect("encoder")
}

pub fn records<T: AsRef<[u8]>>(lines: &[T]) -> Records {
    let mut records = Records::default();
    lines.iter().for_each(|line| records.push(line.as_ref()));
    records
}

/// Decodes with a new decoder.
pub fn decode(
    format: &dyn FormatFactory,
    fields: &str,
    pairs: &[(&str, &str)],
    lines: &[&str],
) -> Result<Decoded, DecodeError> {
    decoder(format, &row_type(fields), pairs).expect("decoder").decode(&records(lines))
}

/// Encodes with a new encoder.
pub fn encode(
    format: &dyn FormatFactory,
    columns: &RowType,
    pairs: &[(&str, &str)],
    batch: &ChangelogBatch,
) -> Vec<String> {
    let mut out = Records::default();
    encoder(format, columns, pairs).encode(batch, &mut out).expect("encoded");
    out.iter().map(|record| String::from_utf8(record.to_vec()).expect("text")).collect()
}

/// Every type with and without parts.
pub const ALL_TYPES: &str = "b BOOLEAN, ti TINYINT, si SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, dec1 DECIMAL(10, 2), \
    dec2 DECIMAL(38, 18), dec3 DECIMAL(5, 0), c CHAR(3), s STRING, ns STRING NOT NULL, by1 BYTES, dt DATE, tm TIME(0), \
    tm3 TIME(3), t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), t9 TIMESTAMP(9), z3 TIMESTAMP_LTZ(3), \
    z6 TIMESTAMP_LTZ(6), ym INTERVAL YEAR TO MONTH, ds INTERVAL DAY TO SECOND, `odd \"name\" é` INT, arr ARRAY<INT>, \
    m MAP<STRING, DOUBLE>, ms MULTISET<STRING>, r ROW<a INT NOT NULL, b STRING, c ROW<d DECIMAL(6, 3)>>, \
    deep ARRAY<MAP<STRING, ARRAY<ROW<x TIMESTAMP(3), y BYTES>>>>";

/// Random rows.
pub fn random_batch(columns: &RowType, rows: usize, rng: &mut ChaCha8Rng) -> ChangelogBatch {
    let arrays = columns
        .fields()
        .iter()
        .map(|field| {
            let mut column = Column::new(&field.sql_type, TimestampStandard::Either);
            (0..rows).for_each(|_| append_random(&mut column, rng));
            column.finish().expect("column")
        })
        .collect();
    ChangelogBatch::inserts(RecordBatch::try_new(columns.arrow().clone(), arrays).expect("batch"))
}

/// Texts with everything that needs care.
pub fn random_text(rng: &mut ChaCha8Rng) -> String {
    const PIECES: &[&str] = &[
        "a", "Z", " ", "\"", "\\", "/", "\n", "\t", "\u{1}", "\u{7f}", "é", "中文", "😀", ",", ";", "'", "1", "null",
        "|",
    ];
    let count = rng.random_range(0..8);
    (0..count).map(|_| PIECES[rng.random_range(0..PIECES.len())]).collect()
}

/// A number of any size with a preference for small ones.
fn random_number(rng: &mut ChaCha8Rng) -> i128 {
    let number: i128 = rng.random();
    number >> rng.random_range(0..127)
}

fn append_random(column: &mut Column, rng: &mut ChaCha8Rng) {
    if column.sql_type().nullable && rng.random_bool(0.2) {
        column.append_null().expect("nullable");
        return;
    }
    match column.data() {
        Data::Null => unreachable!("a column of type NULL"),
        Data::Boolean(values) => values.append(rng.random()),
        Data::Int8(values) => values.push(rng.random()),
        Data::Int16(values) => values.push(rng.random()),
        Data::Int32(values) | Data::Months(values) => values.push(random_number(rng) as i32),
        Data::Int64(values) | Data::Milliseconds(values) => values.push(random_number(rng) as i64),
        Data::Float32(values) => {
            let value = f32::from_bits(rng.random());
            values.push(if value.is_nan() { f32::INFINITY } else { value });
        }
        Data::Float64(values) => {
            let value = f64::from_bits(rng.random());
            values.push(if value.is_nan() { -0.0 } else { value });
        }
        Data::Decimal { values, precision, .. } => values.push(random_number(rng) % 10i128.pow(u32::from(*precision))),
        Data::Text(values) => values.push(random_text(rng).as_bytes()).expect("room"),
        Data::Binary(values) => {
            let bytes: Vec<u8> = (0..rng.random_range(0..9)).map(|_| rng.random()).collect();
            values.push(&bytes).expect("room");
        }
        Data::Date(values) => values.push(rng.random_range(-700_000..2_900_000)),
        Data::Time { values, precision } => {
            let step = 10i32.pow(3 - u32::from(*precision));
            values.push(rng.random_range(0..86_400_000) / step * step);
        }
        Data::Timestamp { values, shape, .. } => {
            let per_second = base::text::units_per_second(shape.unit);
            let years = if shape.precision > 6 { 200 } else { 1900 };
            let step = (per_second / 10i64.pow(u32::from(shape.precision))).max(1);
            let value = rng.random_range(-years * 31_000_000 * per_second..years * 31_000_000 * per_second);
            values.push(value.div_euclid(step) * step);
        }
        Data::Array { offsets, element } => {
            (0..rng.random_range(0..4)).for_each(|_| append_random(element, rng));
            offsets.push(element.len() as i32);
        }
        Data::Map { offsets, key, value } => {
            for index in 0..rng.random_range(0..12) {
                let Data::Text(keys) = key.data() else { panic!("map keys are text") };
                keys.push(format!("{}#{index}", random_text(rng)).as_bytes()).expect("room");
                key.appended();
                append_random(value, rng);
            }
            offsets.push(key.len() as i32);
        }
        Data::Row(fields) => fields.iter_mut().for_each(|field| append_random(field, rng)),
    }
    column.appended();
}
