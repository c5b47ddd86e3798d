//! The options of the format.

use crate::formats::codes::OPTIONS_CONFLICT;
use crate::formats::value::TimestampStandard;
use base::Error;
use base::{OptionKind, OptionSpec, Options, Result};

const fn flag(key: &'static str, default: &'static str, en: &'static str, zh: &'static str) -> OptionSpec {
    OptionSpec { key, kind: OptionKind::Boolean, default: Some(default), required: false, en, zh }
}

/// `json.fail-on-missing-field`.
pub const FAIL_ON_MISSING: OptionSpec = flag(
    "json.fail-on-missing-field",
    "false",
    "whether a record without one of the columns fails the job; otherwise the column is NULL",
    "记录缺少某列时是否使作业失败；否则该列为 NULL",
);
/// `json.ignore-parse-errors`.
pub const IGNORE_ERRORS: OptionSpec = flag(
    "json.ignore-parse-errors",
    "false",
    "whether a bad field becomes NULL and a bad record is left out and counted, instead of failing the job",
    "是否将错误字段置为 NULL、跳过并计数错误记录，而不是使作业失败",
);
/// `json.timestamp-format.standard`.
pub const STANDARD: OptionSpec = OptionSpec {
    key: "json.timestamp-format.standard",
    kind: OptionKind::OneOf(&["SQL", "ISO-8601"]),
    default: None,
    required: false,
    en: "how timestamps are written: SQL is '2024-11-20 15:01:00.123', ISO-8601 is '2024-11-20T15:01:00.123'; without the option both are read and SQL is written",
    zh: "时间戳的写法：SQL 为 '2024-11-20 15:01:00.123'，ISO-8601 为 '2024-11-20T15:01:00.123'；不设置时两种都可读，写出用 SQL",
};
/// `json.map-null-key.mode`.
pub const NULL_KEY_MODE: OptionSpec = OptionSpec {
    key: "json.map-null-key.mode",
    kind: OptionKind::OneOf(&["FAIL", "DROP", "LITERAL"]),
    default: Some("FAIL"),
    required: false,
    en: "what happens to a map entry whose key is NULL when it is written",
    zh: "写出 MAP 时对 NULL 键的处理",
};
/// `json.map-null-key.literal`.
pub const NULL_KEY_LITERAL: OptionSpec = OptionSpec {
    key: "json.map-null-key.literal",
    kind: OptionKind::Text,
    default: Some("null"),
    required: false,
    en: "the key written for NULL with 'json.map-null-key.mode' = 'LITERAL'",
    zh: "'json.map-null-key.mode' = 'LITERAL' 时 NULL 键的写法",
};
/// `json.encode.decimal-as-plain-number`.
pub const PLAIN_DECIMALS: OptionSpec = flag(
    "json.encode.decimal-as-plain-number",
    "false",
    "whether DECIMAL 100 is written as 100.00 instead of 1E+2",
    "是否将 DECIMAL 100 写作 100.00 而不是 1E+2",
);
/// `json.encode.ignore-null-fields`.
pub const SKIP_NULLS: OptionSpec = flag(
    "json.encode.ignore-null-fields",
    "false",
    "whether fields that are NULL are left out of the written object",
    "写出时是否省略值为 NULL 的字段",
);
/// `json.decode.json-parser.enabled`.
pub const JSON_PARSER: OptionSpec = flag(
    "json.decode.json-parser.enabled",
    "true",
    "accepted and without an effect: there is one parser",
    "可以设置但没有作用：只有一种解析器",
);

/// Every option.
pub const OPTIONS: &[OptionSpec] = &[
    FAIL_ON_MISSING,
    IGNORE_ERRORS,
    STANDARD,
    NULL_KEY_MODE,
    NULL_KEY_LITERAL,
    PLAIN_DECIMALS,
    SKIP_NULLS,
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
    /// Reads the options.
    pub fn new(options: &Options) -> Result<JsonOptions> {
        let fail_on_missing = options.boolean(&FAIL_ON_MISSING)?;
        let ignore_errors = options.boolean(&IGNORE_ERRORS)?;
        if fail_on_missing && ignore_errors {
            return Err(Error::new(
                &OPTIONS_CONFLICT,
                &[("first", &FAIL_ON_MISSING.key), ("second", &IGNORE_ERRORS.key)],
            ));
        }
        options.boolean(&JSON_PARSER)?;
        Ok(JsonOptions {
            fail_on_missing,
            ignore_errors,
            standard: match options.word(&STANDARD)? {
                None => TimestampStandard::Either,
                Some("SQL") => TimestampStandard::Sql,
                Some(_) => TimestampStandard::Iso,
            },
            null_key: match options.word(&NULL_KEY_MODE)? {
                Some("DROP") => NullKey::Drop,
                Some("LITERAL") => NullKey::Literal(options.text(&NULL_KEY_LITERAL).unwrap_or_default().to_string()),
                _ => NullKey::Fail,
            },
            plain_decimals: options.boolean(&PLAIN_DECIMALS)?,
            skip_nulls: options.boolean(&SKIP_NULLS)?,
        })
    }
}
