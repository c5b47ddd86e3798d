//! The options of the formats.

use crate::formats::codes::BAD_PATTERN;
use crate::formats::json::options::{Shared, flag};
use base::{Error, OptionKind, OptionSpec, Options, Result};
use regex::Regex;

/// `debezium-json.schema-include`.
pub const SCHEMA_INCLUDE: OptionSpec = flag(
    "debezium-json.schema-include",
    "false",
    "whether records have the form {\"schema\": ..., \"payload\": ...} that Kafka Connect writes with 'value.converter.schemas.enable' = 'true'",
    "记录是否为 {\"schema\": ..., \"payload\": ...} 形式（Kafka Connect 设置 'value.converter.schemas.enable' = 'true' 时）",
);
/// `canal-json.database.include`.
pub const DATABASE: OptionSpec = OptionSpec {
    key: "canal-json.database.include",
    kind: OptionKind::Text,
    default: None,
    required: false,
    en: "regular expression for the whole name of the database; records of others are skipped",
    zh: "匹配整个数据库名的正则表达式；其他数据库的记录会被跳过",
};
/// `canal-json.table.include`.
pub const TABLE: OptionSpec = OptionSpec {
    key: "canal-json.table.include",
    kind: OptionKind::Text,
    default: None,
    required: false,
    en: "regular expression for the whole name of the table; records of others are skipped",
    zh: "匹配整个表名的正则表达式；其他表的记录会被跳过",
};

/// The options of `debezium-json` that all formats have.
pub const DEBEZIUM_SHARED: Shared = Shared::new([
    "debezium-json.ignore-parse-errors",
    "debezium-json.timestamp-format.standard",
    "debezium-json.map-null-key.mode",
    "debezium-json.map-null-key.literal",
    "debezium-json.encode.decimal-as-plain-number",
    "debezium-json.encode.ignore-null-fields",
]);
/// The options of `canal-json` that all formats have.
pub const CANAL_SHARED: Shared = Shared::new([
    "canal-json.ignore-parse-errors",
    "canal-json.timestamp-format.standard",
    "canal-json.map-null-key.mode",
    "canal-json.map-null-key.literal",
    "canal-json.encode.decimal-as-plain-number",
    "canal-json.encode.ignore-null-fields",
]);
/// The options of `maxwell-json` that all formats have.
pub const MAXWELL_SHARED: Shared = Shared::new([
    "maxwell-json.ignore-parse-errors",
    "maxwell-json.timestamp-format.standard",
    "maxwell-json.map-null-key.mode",
    "maxwell-json.map-null-key.literal",
    "maxwell-json.encode.decimal-as-plain-number",
    "maxwell-json.encode.ignore-null-fields",
]);
/// The options of `ogg-json` that all formats have.
pub const OGG_SHARED: Shared = Shared::new([
    "ogg-json.ignore-parse-errors",
    "ogg-json.timestamp-format.standard",
    "ogg-json.map-null-key.mode",
    "ogg-json.map-null-key.literal",
    "ogg-json.encode.decimal-as-plain-number",
    "ogg-json.encode.ignore-null-fields",
]);

/// Every option of `debezium-json`.
pub const DEBEZIUM_OPTIONS: &[OptionSpec] = &[
    SCHEMA_INCLUDE,
    DEBEZIUM_SHARED.ignore_errors,
    DEBEZIUM_SHARED.standard,
    DEBEZIUM_SHARED.null_key_mode,
    DEBEZIUM_SHARED.null_key_literal,
    DEBEZIUM_SHARED.plain_decimals,
    DEBEZIUM_SHARED.skip_nulls,
];
/// Every option of `canal-json`.
pub const CANAL_OPTIONS: &[OptionSpec] = &[
    DATABASE,
    TABLE,
    CANAL_SHARED.ignore_errors,
    CANAL_SHARED.standard,
    CANAL_SHARED.null_key_mode,
    CANAL_SHARED.null_key_literal,
    CANAL_SHARED.plain_decimals,
    CANAL_SHARED.skip_nulls,
];
/// Every option of `maxwell-json`.
pub const MAXWELL_OPTIONS: &[OptionSpec] = &[
    MAXWELL_SHARED.ignore_errors,
    MAXWELL_SHARED.standard,
    MAXWELL_SHARED.null_key_mode,
    MAXWELL_SHARED.null_key_literal,
    MAXWELL_SHARED.plain_decimals,
    MAXWELL_SHARED.skip_nulls,
];
/// Every option of `ogg-json`.
pub const OGG_OPTIONS: &[OptionSpec] = &[
    OGG_SHARED.ignore_errors,
    OGG_SHARED.standard,
    OGG_SHARED.null_key_mode,
    OGG_SHARED.null_key_literal,
    OGG_SHARED.plain_decimals,
    OGG_SHARED.skip_nulls,
];

/// The pattern of an option, which must match the whole name.
pub fn pattern(options: &Options, spec: &OptionSpec) -> Result<Option<Regex>> {
    let Some(text) = options.text(spec) else { return Ok(None) };
    // The text alone first: an error then shows what the user wrote.
    match Regex::new(text).and_then(|_| Regex::new(&format!(r"\A(?:{text})\z"))) {
        Ok(regex) => Ok(Some(regex)),
        Err(cause) => Err(Error::new(&BAD_PATTERN, &[("key", &spec.key), ("value", &text), ("cause", &cause)])),
    }
}
