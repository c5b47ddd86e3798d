//! The options of the format.

use crate::formats::codes::OPTIONS_CONFLICT;
use base::options::bad;
use base::{Error, OptionKind, OptionSpec, Options, Result};

const fn option(
    key: &'static str,
    kind: OptionKind,
    default: Option<&'static str>,
    en: &'static str,
    zh: &'static str,
) -> OptionSpec {
    OptionSpec { key, kind, default, required: false, en, zh }
}

/// `csv.field-delimiter`.
pub const DELIMITER: OptionSpec = option(
    "csv.field-delimiter",
    OptionKind::Text,
    Some(","),
    "the character between fields; \\t is a tab, \\u0001 the character with that number",
    "字段分隔符；\\t 表示制表符，\\u0001 表示该编号的字符",
);
/// `csv.disable-quote-character`.
pub const NO_QUOTES: OptionSpec = option(
    "csv.disable-quote-character",
    OptionKind::Boolean,
    Some("false"),
    "whether fields are never quoted",
    "是否不使用引号",
);
/// `csv.quote-character`.
pub const QUOTE: OptionSpec = option(
    "csv.quote-character",
    OptionKind::Text,
    Some("\""),
    "the character around fields; inside it is doubled",
    "字段的引号字符；字段内部需要双写",
);
/// `csv.allow-comments`.
pub const COMMENTS: OptionSpec = option(
    "csv.allow-comments",
    OptionKind::Boolean,
    Some("false"),
    "whether lines that begin with # are skipped",
    "是否跳过以 # 开头的行",
);
/// `csv.ignore-parse-errors`.
pub const IGNORE_ERRORS: OptionSpec = option(
    "csv.ignore-parse-errors",
    OptionKind::Boolean,
    Some("false"),
    "whether a bad field becomes NULL and a bad record is left out and counted, instead of failing the job",
    "是否将错误字段置为 NULL、跳过并计数错误记录，而不是使作业失败",
);
/// `csv.array-element-delimiter`.
pub const ELEMENT_DELIMITER: OptionSpec = option(
    "csv.array-element-delimiter",
    OptionKind::Text,
    Some(";"),
    "the text between the elements of an ARRAY or ROW",
    "ARRAY 与 ROW 元素之间的分隔文本",
);
/// `csv.escape-character`.
pub const ESCAPE: OptionSpec = option(
    "csv.escape-character",
    OptionKind::Text,
    None,
    "the character that takes the next one literally; off by default",
    "转义字符，使其后的字符按字面读取；默认关闭",
);
/// `csv.null-literal`.
pub const NULL_LITERAL: OptionSpec = option(
    "csv.null-literal",
    OptionKind::Text,
    None,
    "the text that stands for NULL; without it NULL is written as nothing and never read",
    "表示 NULL 的文本；不设置时 NULL 写为空，读取时不产生 NULL",
);
/// `csv.write-bigdecimal-in-scientific-notation`.
pub const SCIENTIFIC: OptionSpec = option(
    "csv.write-bigdecimal-in-scientific-notation",
    OptionKind::Boolean,
    Some("true"),
    "whether DECIMAL 100 is written as 1E+2 instead of 100",
    "是否将 DECIMAL 100 写作 1E+2 而不是 100",
);

/// Every option.
pub const OPTIONS: &[OptionSpec] =
    &[DELIMITER, NO_QUOTES, QUOTE, COMMENTS, IGNORE_ERRORS, ELEMENT_DELIMITER, ESCAPE, NULL_LITERAL, SCIENTIFIC];

/// The options, parsed.
#[derive(Debug, Clone)]
pub struct CsvOptions {
    /// Between fields.
    pub delimiter: u8,
    /// Around fields.
    pub quote: Option<u8>,
    /// Takes the next character literally.
    pub escape: Option<u8>,
    /// Lines beginning with `#` are skipped.
    pub comments: bool,
    /// A bad field is NULL.
    pub ignore_errors: bool,
    /// Between elements.
    pub element_delimiter: String,
    /// Stands for NULL.
    pub null_literal: Option<String>,
    /// Decimals may have an exponent.
    pub scientific: bool,
}

impl CsvOptions {
    /// Reads the options.
    pub fn new(options: &Options) -> Result<CsvOptions> {
        let no_quotes = options.boolean(&NO_QUOTES)?;
        if no_quotes && options.get(QUOTE.key).is_some() {
            return Err(Error::new(&OPTIONS_CONFLICT, &[("first", &NO_QUOTES.key), ("second", &QUOTE.key)]));
        }
        let delimiter = character(options, &DELIMITER)?.unwrap_or(b',');
        let quote = if no_quotes { None } else { character(options, &QUOTE)? };
        let element_delimiter = options.text(&ELEMENT_DELIMITER).unwrap_or(";").to_string();
        if element_delimiter.is_empty() {
            return Err(bad(&ELEMENT_DELIMITER, ELEMENT_DELIMITER.key, ""));
        }
        Ok(CsvOptions {
            delimiter,
            quote,
            escape: character(options, &ESCAPE)?,
            comments: options.boolean(&COMMENTS)?,
            ignore_errors: options.boolean(&IGNORE_ERRORS)?,
            element_delimiter,
            null_literal: options.text(&NULL_LITERAL).map(str::to_string),
            scientific: options.boolean(&SCIENTIFIC)?,
        })
    }
}

/// A single ASCII character, also as Java's escape.
fn character(options: &Options, spec: &OptionSpec) -> Result<Option<u8>> {
    let Some(text) = options.text(spec) else { return Ok(None) };
    let byte = match text.as_bytes() {
        [byte] if byte.is_ascii() => Some(*byte),
        b"\\t" => Some(b'\t'),
        b"\\\\" => Some(b'\\'),
        [b'\\', b'u', digits @ ..] if digits.len() == 4 => {
            std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii)
        }
        _ => None,
    };
    // A line break can never be inside a record.
    let byte = byte.filter(|byte| !matches!(byte, b'\n' | b'\r'));
    byte.map(Some).ok_or_else(|| {
        let expected = "a single ASCII character other than a line break, for example ';' or '\\t'";
        Error::new(&base::options::BAD_OPTION, &[("key", &spec.key), ("value", &text), ("expected", &expected)])
    })
}
