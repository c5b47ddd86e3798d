//! The `json` format: one object per record.
//!
//! Reading is lenient as in Flink: numbers from strings, 3.9 for INT is 3, any text but `true` for BOOLEAN is false, objects
//! for STRING are their compact text, decimals are rounded half up and NULL beyond their precision. Names match exactly;
//! unknown fields are skipped, missing ones are NULL, of repeated ones the last counts. Blank records are skipped. Text
//! behind the object is an error, which Flink does not notice.

pub(super) mod decode;
pub(super) mod encode;
pub(super) mod object;
pub(super) mod options;
pub(super) mod reader;

use crate::formats::codes::BAD_TYPE;
use base::format::{DecodeSpec, Decoder, Encoder, FormatDescription, FormatFactory};
use base::{ChangelogMode, Error, LogicalType, OptionSpec, Options, Result, RowType, SqlType};
use options::{JsonOptions, OPTIONS};

/// The format.
#[derive(Debug)]
pub struct Json;

impl FormatFactory for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn describe(&self, options: &Options) -> Result<FormatDescription> {
        JsonOptions::new(options)?;
        Ok(FormatDescription { decodes: ChangelogMode::APPEND, encodes: ChangelogMode::APPEND, metadata: Vec::new() })
    }

    fn decoder(&self, options: &Options, spec: &DecodeSpec) -> Result<Box<dyn Decoder>> {
        let options = JsonOptions::new(options)?;
        check("json", &spec.columns)?;
        Ok(Box::new(decode::JsonDecoder::new(&options, &spec.columns)))
    }

    fn encoder(&self, options: &Options, columns: &RowType, _time_zone: chrono_tz::Tz) -> Result<Box<dyn Encoder>> {
        let options = JsonOptions::new(options)?;
        check("json", columns)?;
        Ok(Box::new(encode::JsonEncoder::new(options, columns)))
    }
}

/// Keys of objects are strings, so keys of maps must be. VARIANT and BITMAP have no form in JSON.
pub(super) fn check(format: &'static str, columns: &RowType) -> Result<()> {
    fn has_only_text_keys(sql_type: &SqlType) -> bool {
        match &sql_type.logical {
            LogicalType::Map(key, value) => key.logical.is_string() && has_only_text_keys(value),
            LogicalType::Multiset(element) => element.logical.is_string(),
            LogicalType::Array(element) => has_only_text_keys(element),
            LogicalType::Row(fields) | LogicalType::Structured(_, fields) => {
                fields.iter().all(|(_, t)| has_only_text_keys(t))
            }
            LogicalType::Variant | LogicalType::Bitmap => false,
            _ => true,
        }
    }
    let Some(field) = columns.fields().iter().find(|field| !has_only_text_keys(&field.sql_type)) else {
        return Ok(());
    };
    let why = "the keys of a MAP or MULTISET must be strings, and VARIANT or BITMAP goes through JSON_STRING or BITMAP_TO_BYTES";
    let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
        [("format", &format), ("column", &field.name), ("type", &field.sql_type), ("why", &why)];
    Err(Error::new(&BAD_TYPE, &arguments))
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
