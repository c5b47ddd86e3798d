//! The options of the format.

use crate::formats::codes::OPTIONS_CONFLICT;
use crate::formats::value::TimestampStandard;
use base::{Error, OptionKind, OptionSpec, Options, Result};

/// An option that is true or false.
pub const fn flag(key: &'static str, default: &'static str, en: &'static str, zh: &'static str) -> OptionSpec {
    OptionSpec { key, kind: OptionKind::Boolean, default: Some(default), required: false, en, zh }
}

/// `json.fail-on-missing-field`.
pub const FAIL_ON_MISSING: OptionSpec = flag(
    "json.fail-on-missing-field",
    "false",
    "whether a record without one of the columns fails the job; otherwise the column is NULL",
    "记录缺少某列时是否使作业失败；否则该列为 NULL",
);
/// `json.decode.json-parser.enabled`.
pub const JSON_PARSER: OptionSpec = flag(
    "json.decode.json-parser.enabled",
    "true",
    "accepted and without an effect: there is one parser",
    "可以设置但没有作用：只有一种解析器",
);

/// The options that every format made of JSON has, under the name of the format.
#[derive(Debug)]
pub struct Shared {
    /// `ignore-parse-errors`.
    pub ignore_errors: OptionSpec,
    /// `timestamp-format.standard`.
    pub standard: OptionSpec,
    /// `map-null-key.mode`.
    pub null_key_mode: OptionSpec,
    /// `map-null-key.literal`.
    pub null_key_literal: OptionSpec,
    /// `encode.decimal-as-plain-number`.
    pub plain_decimals: OptionSpec,
    /// `encode.ignore-null-fields`.
    pub skip_nulls: OptionSpec,
}

impl Shared {
    /// With these keys, in the order of the fields.
    pub const fn new(keys: [&'static str; 6]) -> Shared {
        Shared {
            ignore_errors: flag(
                keys[0],
                "false",
                "whether a bad field becomes NULL and a bad record is left out and counted, instead of failing the job",
                "是否将错误字段置为 NULL、跳过并计数错误记录，而不是使作业失败",
            ),
            standard: OptionSpec {
                key: keys[1],
                kind: OptionKind::OneOf(&["SQL", "ISO-8601"]),
                default: None,
                required: false,
                en: "how timestamps are written: SQL is '2024-11-20 15:01:00.123', ISO-8601 is '2024-11-20T15:01:00.123'; without the option both are read and SQL is written",
                zh: "时间戳的写法：SQL 为 '2024-11-20 15:01:00.123'，ISO-8601 为 '2024-11-20T15:01:00.123'；不设置时两种都可读，写出用 SQL",
            },
            null_key_mode: OptionSpec {
                key: keys[2],
                kind: OptionKind::OneOf(&["FAIL", "DROP", "LITERAL"]),
                default: Some("FAIL"),
                required: false,
                en: "what happens to a map entry whose key is NULL when it is written",
                zh: "写出 MAP 时对 NULL 键的处理",
            },
            null_key_literal: OptionSpec {
                key: keys[3],
                kind: OptionKind::Text,
                default: Some("null"),
                required: false,
                en: "the key written for NULL with 'map-null-key.mode' = 'LITERAL'",
                zh: "'map-null-key.mode' = 'LITERAL' 时 NULL 键的写法",
            },
            plain_decimals: flag(
                keys[4],
                "false",
                "whether DECIMAL 100 is written as 100.00 instead of 1E+2",
                "是否将 DECIMAL 100 写作 100.00 而不是 1E+2",
            ),
            skip_nulls: flag(
                keys[5],
                "false",
                "whether fields that are NULL are left out of the written object",
                "写出时是否省略值为 NULL 的字段",
            ),
        }
    }
}

/// The shared options of `json`.
pub const SHARED: Shared = Shared::new([
    "json.ignore-parse-errors",
    "json.timestamp-format.standard",
    "json.map-null-key.mode",
    "json.map-null-key.literal",
    "json.encode.decimal-as-plain-number",
    "json.encode.ignore-null-fields",
]);

/// Every option.
pub const OPTIONS: &[OptionSpec] = &[
    FAIL_ON_MISSING,
    SHARED.ignore_errors,
    SHARED.standard,
    SHARED.null_key_mode,
    SHARED.null_key_literal,
    SHARED.plain_decimals,
    SHARED.skip_nulls,
    JSON_PARSER,
];

/// What happens to a NULL key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NullKey {
    /// It is an error.
    Fail,
    /// The entry is left out.
    Drop,
    /// It is written as this.
    Literal(String),
}

/// The options, parsed.
#[derive(Debug, Clone)]
pub struct JsonOptions {
    /// A missing field is an error.
    pub fail_on_missing: bool,
    /// A bad field is NULL.
    pub ignore_errors: bool,
    /// What timestamps are read.
    pub standard: TimestampStandard,
    /// What happens to a NULL key.
    pub null_key: NullKey,
    /// Decimals have all the digits of their scale.
    pub plain_decimals: bool,
    /// NULL is not written.
    pub skip_nulls: bool,
}

impl JsonOptions {
    /// Reads the options of `json`.
    pub fn new(options: &Options) -> Result<JsonOptions> {
        let mut read = JsonOptions::shared(options, &SHARED)?;
        read.fail_on_missing = options.boolean(&FAIL_ON_MISSING)?;
        if read.fail_on_missing && read.ignore_errors {
            return Err(Error::new(
                &OPTIONS_CONFLICT,
                &[("first", &FAIL_ON_MISSING.key), ("second", &SHARED.ignore_errors.key)],
            ));
        }
        options.boolean(&JSON_PARSER)?;
        Ok(read)
    }

    /// Reads the options that formats share.
    pub fn shared(options: &Options, specs: &Shared) -> Result<JsonOptions> {
        Ok(JsonOptions {
            fail_on_missing: false,
            ignore_errors: options.boolean(&specs.ignore_errors)?,
            standard: match options.word(&specs.standard)? {
                None => TimestampStandard::Either,
                Some("SQL") => TimestampStandard::Sql,
                Some(_) => TimestampStandard::Iso,
            },
            null_key: match options.word(&specs.null_key_mode)? {
                Some("DROP") => NullKey::Drop,
                Some("LITERAL") => {
                    NullKey::Literal(options.text(&specs.null_key_literal).unwrap_or_default().to_string())
                }
                _ => NullKey::Fail,
            },
            plain_decimals: options.boolean(&specs.plain_decimals)?,
            skip_nulls: options.boolean(&specs.skip_nulls)?,
        })
    }
}
