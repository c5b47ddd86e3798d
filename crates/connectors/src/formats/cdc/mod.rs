//! The formats `debezium-json`, `canal-json`, `maxwell-json` and `ogg-json`: records that say how a row of a database
//! changed.
//!
//! A record is an envelope around the new and the old content of a row (Canal: of several rows) and the operation. An update
//! gives two rows, `-U` and `+U`. Canal and Maxwell write only the old values that changed, so the old row is the new one
//! with those values put over it. Values follow the rules of `json`.
//!
//! Writing keeps a single row per record, as Flink does: `+I` and `+U` become an insert, `-U` and `-D` a delete.
//!
//! Wider than Flink: statements that change tables and Maxwell's bootstrap records are understood, an old row of several is
//! completed by its own new row, and Debezium's operation can be read as metadata.

mod decode;
mod envelope;
mod options;

use super::json;
use super::json::encode::JsonEncoder;
use super::json::options::JsonOptions;
use base::format::{DecodeSpec, Decoder, Encoder, FormatDescription, FormatFactory};
use base::{ChangelogMode, LogicalType, OptionSpec, Options, Result, RowType, SqlType};
use envelope::Dialect;
use options::{DATABASE, SCHEMA_INCLUDE, TABLE};
use regex::Regex;

/// One of the formats.
#[derive(Debug)]
pub struct Cdc {
    dialect: &'static Dialect,
    options: &'static [OptionSpec],
    shared: &'static json::options::Shared,
}

/// `debezium-json`.
pub const DEBEZIUM: Cdc =
    Cdc { dialect: &envelope::DEBEZIUM, options: options::DEBEZIUM_OPTIONS, shared: &options::DEBEZIUM_SHARED };
/// `canal-json`.
pub const CANAL: Cdc =
    Cdc { dialect: &envelope::CANAL, options: options::CANAL_OPTIONS, shared: &options::CANAL_SHARED };
/// `maxwell-json`.
pub const MAXWELL: Cdc =
    Cdc { dialect: &envelope::MAXWELL, options: options::MAXWELL_OPTIONS, shared: &options::MAXWELL_SHARED };
/// `ogg-json`.
pub const OGG: Cdc = Cdc { dialect: &envelope::OGG, options: options::OGG_OPTIONS, shared: &options::OGG_SHARED };

/// The options, parsed. Those that a format does not have keep their defaults.
#[derive(Debug)]
struct CdcOptions {
    json: JsonOptions,
    schema_include: bool,
    database: Option<Regex>,
    table: Option<Regex>,
}

impl Cdc {
    fn read(&self, options: &Options) -> Result<CdcOptions> {
        Ok(CdcOptions {
            json: JsonOptions::shared(options, self.shared)?,
            schema_include: options.boolean(&SCHEMA_INCLUDE)?,
            database: options::pattern(options, &DATABASE)?,
            table: options::pattern(options, &TABLE)?,
        })
    }
}

impl FormatFactory for Cdc {
    fn name(&self) -> &'static str {
        self.dialect.name
    }

    fn options(&self) -> &'static [OptionSpec] {
        self.options
    }

    fn describe(&self, options: &Options) -> Result<FormatDescription> {
        self.read(options)?;
        let metadata = self.dialect.metadata.iter().map(|metadata| (metadata.key, metadata.sql_type())).collect();
        Ok(FormatDescription { decodes: ChangelogMode::ALL, encodes: ChangelogMode::ALL, metadata })
    }

    fn decoder(&self, options: &Options, spec: &DecodeSpec) -> Result<Box<dyn Decoder>> {
        let options = self.read(options)?;
        json::check(self.name(), &spec.columns)?;
        Ok(Box::new(decode::CdcDecoder::new(self.dialect, options, spec)?))
    }

    fn encoder(&self, options: &Options, columns: &RowType, _time_zone: chrono_tz::Tz) -> Result<Box<dyn Encoder>> {
        let json = self.read(options)?.json;
        json::check(self.name(), columns)?;
        let [addition, removal] = if json.skip_nulls { self.dialect.frames_without_nulls } else { self.dialect.frames };
        Ok(Box::new(JsonEncoder::framed(self.name(), json, columns, addition, removal)))
    }
}

impl envelope::Metadata {
    /// The type of the column. Any part may be missing in a record.
    fn sql_type(&self) -> SqlType {
        let text = || Box::new(LogicalType::STRING.nullable());
        match self.form {
            envelope::Form::Text => LogicalType::STRING,
            envelope::Form::Texts => LogicalType::Array(text()),
            envelope::Form::TextByName => LogicalType::Map(text(), text()),
            envelope::Form::NumberByName => LogicalType::Map(text(), Box::new(LogicalType::Int.nullable())),
            envelope::Form::Seconds | envelope::Form::Milliseconds => LogicalType::TimestampLtz(3),
            envelope::Form::DateTime => LogicalType::TimestampLtz(6),
        }
        .nullable()
    }
}

#[cfg(test)]
#[path = "cdc_tests.rs"]
mod tests;
