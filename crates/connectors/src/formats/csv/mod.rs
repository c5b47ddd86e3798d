//! The `csv` format: one line per record, fields by position, no header.
//!
//! Flink's rules, which are Jackson's: NULL and the empty string are both written as nothing unless `csv.null-literal` is
//! set; an empty field is an empty string, and an error for other types; text with characters up to the comma or quote
//! (blanks too) or of more than 24 characters is quoted. A quoted line break is written, but a file with one cannot be read
//! back, because the filesystem source takes lines as records. MAP and MULTISET have no text.

mod decode;
mod encode;
mod options;

use crate::formats::codes::BAD_TYPE;
use base::format::{DecodeSpec, Decoder, Encoder, FormatDescription, FormatFactory};
use base::{ChangelogMode, Error, LogicalType, OptionSpec, Options, Result, RowType, SqlType};
use options::{CsvOptions, OPTIONS};

/// The format.
#[derive(Debug)]
pub struct Csv;

impl FormatFactory for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn describe(&self, options: &Options) -> Result<FormatDescription> {
        CsvOptions::new(options)?;
        Ok(FormatDescription { decodes: ChangelogMode::APPEND, encodes: ChangelogMode::APPEND, metadata: Vec::new() })
    }

    fn decoder(&self, options: &Options, spec: &DecodeSpec) -> Result<Box<dyn Decoder>> {
        let options = CsvOptions::new(options)?;
        check(&spec.columns)?;
        Ok(Box::new(decode::CsvDecoder::new(options, spec)?))
    }

    fn encoder(&self, options: &Options, columns: &RowType, _time_zone: chrono_tz::Tz) -> Result<Box<dyn Encoder>> {
        let options = CsvOptions::new(options)?;
        check(columns)?;
        Ok(Box::new(encode::CsvEncoder::new(options)))
    }
}

/// A field is a value, or a list of values behind one delimiter; there is no third level.
fn check(columns: &RowType) -> Result<()> {
    fn scalar(sql_type: &SqlType) -> bool {
        use LogicalType::*;
        !matches!(sql_type.logical, Array(_) | Map(..) | Multiset(_) | Row(_) | Structured(..) | Variant | Bitmap)
    }
    for field in columns.fields() {
        let fits = match &field.sql_type.logical {
            LogicalType::Array(element) => scalar(element),
            LogicalType::Row(fields) => fields.iter().all(|(_, t)| scalar(t)),
            _ => scalar(&field.sql_type),
        };
        if !fits {
            let why = "CSV holds values, and ARRAY or ROW of values, but nothing deeper and no MAP, MULTISET, VARIANT or BITMAP";
            let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
                [("format", &"csv"), ("column", &field.name), ("type", &field.sql_type), ("why", &why)];
            return Err(Error::new(&BAD_TYPE, &arguments));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
