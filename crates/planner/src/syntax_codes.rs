//! What the parser finds, as coded errors in both languages.

use crate::binder::positions::Positions;
use base::{Domain, Error, ErrorCode, Text};
use std::fmt::Display;
use syntax::{SyntaxError, SyntaxErrorKind};

/// The error for a statement that cannot be read, with its place.
pub fn translate(error: &SyntaxError, positions: &Positions<'_>) -> Error {
    use SyntaxErrorKind::*;
    let translated = match &error.kind {
        Unexpected { expected, found } => new(&UNEXPECTED, &[("expected", expected), ("found", found)]),
        UnterminatedString => new(&UNTERMINATED_STRING, &[]),
        UnterminatedIdentifier => new(&UNTERMINATED_IDENTIFIER, &[]),
        UnterminatedComment => new(&UNTERMINATED_COMMENT, &[]),
        InvalidCharacter { found, replacement } => {
            let fix = match replacement {
                Some(replacement) => format!("type {replacement}"),
                None => "remove it".to_string(),
            };
            new(&INVALID_CHARACTER, &[("found", found), ("fix", &fix)])
        }
        DoubleQuoted { text } => new(&DOUBLE_QUOTED, &[("text", text)]),
        InvalidLiteral { reason } => new(&INVALID_LITERAL, &[("reason", reason)]),
        StringAsName { text } => new(&STRING_AS_NAME, &[("text", text)]),
        ReservedWord { word } => new(&RESERVED_WORD, &[("word", word)]),
        UnquotedOption { corrected } => new(&UNQUOTED_OPTION, &[("corrected", corrected)]),
        Placeholder => new(&PLACEHOLDER, &[]),
        UnknownType { name, suggestion } => {
            let fix = match suggestion {
                Some(suggestion) => format!("use {suggestion}"),
                None => "DESCRIBE of a working table shows how types are written".to_string(),
            };
            new(&UNKNOWN_TYPE, &[("name", name), ("fix", &fix)])
        }
        UnknownStatement { word } => new(&UNKNOWN_STATEMENT, &[("word", word)]),
        Misspelled { word, keyword } => new(&MISSPELLED, &[("word", word), ("keyword", keyword)]),
        UnclosedCase { found } => new(&UNCLOSED_CASE, &[("found", found)]),
        Unsupported { feature, instead } => new(&UNSUPPORTED, &[("feature", feature), ("instead", instead)]),
        Duplicate { what } => new(&DUPLICATE, &[("what", what)]),
        MisplacedHint { hint } => new(&MISPLACED_HINT, &[("hint", hint)]),
        InvalidHint { hint } => new(&INVALID_HINT, &[("hint", hint)]),
        MissingEnd => new(&MISSING_END, &[]),
        NotAnInsert { found } => new(&NOT_AN_INSERT, &[("found", found)]),
        TooComplex { limit } => new(&TOO_COMPLEX, &[("limit", limit)]),
        other => new(&INVALID_LITERAL, &[("reason", &other.what())]),
    };
    translated.at(positions.at(error.line, error.column))
}

fn new(code: &'static ErrorCode, arguments: &[(&'static str, &dyn Display)]) -> Error {
    Error::new(code, arguments)
}

/// Something else was expected.
pub const UNEXPECTED: ErrorCode = ErrorCode {
    code: "HW-S001",
    domain: Domain::User,
    retry: false,
    en: Text { what: "expected {expected}, found {found}", why: "", fix: "" },
    zh: Text { what: "此处应为 {expected}，实际为 {found}", why: "", fix: "" },
};

/// A string without its closing quote.
pub const UNTERMINATED_STRING: ErrorCode = ErrorCode {
    code: "HW-S002",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the string that starts here has no closing quote",
        why: "",
        fix: "add ' at its end; a quote inside a string is written twice: 'it''s'",
    },
    zh: Text {
        what: "此处开始的字符串没有结束引号", why: "", fix: "请在末尾补上 '；字符串内的引号要写两次：'it''s'"
    },
};

/// An identifier without its closing backtick.
pub const UNTERMINATED_IDENTIFIER: ErrorCode = ErrorCode {
    code: "HW-S003",
    domain: Domain::User,
    retry: false,
    en: Text { what: "the identifier that starts here has no closing backtick", why: "", fix: "add ` at its end" },
    zh: Text { what: "此处开始的标识符没有结束的反引号", why: "", fix: "请在末尾补上 `" },
};

/// A comment without its end.
pub const UNTERMINATED_COMMENT: ErrorCode = ErrorCode {
    code: "HW-S004",
    domain: Domain::User,
    retry: false,
    en: Text { what: "the comment that starts here has no closing */", why: "", fix: "add */ at its end" },
    zh: Text { what: "此处开始的注释没有结束的 */", why: "", fix: "请在末尾补上 */" },
};

/// A character that SQL does not have.
pub const INVALID_CHARACTER: ErrorCode = ErrorCode {
    code: "HW-S005",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "unexpected character {found}",
        why: "it is often put in by an input method or a word processor",
        fix: "{fix}",
    },
    zh: Text { what: "意外的字符 {found}", why: "常由输入法或文字处理软件带入", fix: "{fix}" },
};

/// Text in double quotes.
pub const DOUBLE_QUOTED: ErrorCode = ErrorCode {
    code: "HW-S006",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "double quotes around {text}",
        why: "Flink SQL has no double quotes",
        fix: "write '{text}' for a string, `{text}` for a name",
    },
    zh: Text {
        what: "{text} 使用了双引号",
        why: "Flink SQL 不使用双引号",
        fix: "字符串请写 '{text}'，名称请写 `{text}`",
    },
};

/// A literal that is not well formed.
pub const INVALID_LITERAL: ErrorCode = ErrorCode {
    code: "HW-S007",
    domain: Domain::User,
    retry: false,
    en: Text { what: "invalid literal: {reason}", why: "", fix: "" },
    zh: Text { what: "字面量无效：{reason}", why: "", fix: "" },
};

/// A reserved word as a name.
pub const RESERVED_WORD: ErrorCode = ErrorCode {
    code: "HW-S008",
    domain: Domain::User,
    retry: false,
    en: Text { what: "{word} is a reserved word", why: "it cannot be a name without backticks", fix: "write `{word}`" },
    zh: Text { what: "{word} 是保留字", why: "不加反引号不能用作名称", fix: "请写成 `{word}`" },
};

/// Options without quotes.
pub const UNQUOTED_OPTION: ErrorCode = ErrorCode {
    code: "HW-S009",
    domain: Domain::User,
    retry: false,
    en: Text { what: "option keys and values need single quotes", why: "", fix: "write WITH ({corrected})" },
    zh: Text { what: "选项的键和值需要单引号", why: "", fix: "请写成 WITH ({corrected})" },
};

/// `...` was left in.
pub const PLACEHOLDER: ErrorCode = ErrorCode {
    code: "HW-S010",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "`...` is a placeholder",
        why: "a template was pasted without its real content",
        fix: "put the real content in its place; for a WITH clause: 'connector' = '...' and the options that the connector requires",
    },
    zh: Text {
        what: "`...` 是占位符",
        why: "粘贴模板后没有填入真实内容",
        fix: "请填入真实内容；WITH 子句需要 'connector' = '...' 以及该连接器的必填选项",
    },
};

/// `...` was left in a WITH clause.
pub const PLACEHOLDER_WITH: ErrorCode = ErrorCode {
    code: "HW-S020",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "`...` is a placeholder",
        why: "a template was pasted without its real content; connector '{connector}' requires these options: {required}",
        fix: "write in its place what table {table} still misses: {missing}",
    },
    zh: Text {
        what: "`...` 是占位符",
        why: "粘贴模板后没有填入真实内容；连接器 '{connector}' 的必填选项：{required}",
        fix: "请在此处填入表 {table} 还缺少的选项：{missing}",
    },
};

/// A type that does not exist.
pub const UNKNOWN_TYPE: ErrorCode = ErrorCode {
    code: "HW-S011",
    domain: Domain::User,
    retry: false,
    en: Text { what: "unknown type {name}", why: "Flink SQL has no such type", fix: "{fix}" },
    zh: Text { what: "未知的类型 {name}", why: "Flink SQL 没有该类型", fix: "{fix}" },
};

/// A first word that starts no statement.
pub const UNKNOWN_STATEMENT: ErrorCode = ErrorCode {
    code: "HW-S012",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "no statement starts with {word}",
        why: "",
        fix: "statements start with CREATE, DROP, INSERT, SELECT, SET, SHOW, DESCRIBE, EXPLAIN, EXECUTE, USE",
    },
    zh: Text {
        what: "没有以 {word} 开头的语句",
        why: "",
        fix: "语句以 CREATE、DROP、INSERT、SELECT、SET、SHOW、DESCRIBE、EXPLAIN、EXECUTE、USE 开头",
    },
};

/// A word that misses a keyword by one letter.
pub const MISSPELLED: ErrorCode = ErrorCode {
    code: "HW-S022",
    domain: Domain::User,
    retry: false,
    en: Text { what: "{word} is not understood here", why: "it is no keyword", fix: "did you mean {keyword}?" },
    zh: Text { what: "无法理解此处的 {word}", why: "它不是关键字", fix: "是否想写 {keyword}？" },
};

/// A CASE without END.
pub const UNCLOSED_CASE: ErrorCode = ErrorCode {
    code: "HW-S023",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the CASE that starts here has no END",
        why: "{found} stands where WHEN, ELSE or END is expected",
        fix: "close it: CASE WHEN ... THEN ... ELSE ... END",
    },
    zh: Text {
        what: "从此处开始的 CASE 缺少 END",
        why: "应为 WHEN、ELSE 或 END 的位置出现了 {found}",
        fix: "请补全：CASE WHEN ... THEN ... ELSE ... END",
    },
};

/// Something that is known and not supported.
pub const UNSUPPORTED: ErrorCode = ErrorCode {
    code: "HW-S013",
    domain: Domain::User,
    retry: false,
    en: Text { what: "{feature} is not supported", why: "", fix: "{instead}" },
    zh: Text { what: "不支持 {feature}", why: "", fix: "{instead}" },
};

/// Something given twice.
pub const DUPLICATE: ErrorCode = ErrorCode {
    code: "HW-S014",
    domain: Domain::User,
    retry: false,
    en: Text { what: "{what} is given twice", why: "", fix: "keep one of them" },
    zh: Text { what: "{what} 重复出现", why: "", fix: "请只保留一个" },
};

/// A hint where none is read.
pub const MISPLACED_HINT: ErrorCode = ErrorCode {
    code: "HW-S015",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "no hint is read at this place: {hint}",
        why: "",
        fix: "put it after SELECT or after a table name",
    },
    zh: Text { what: "此处不读取提示：{hint}", why: "", fix: "请放在 SELECT 或表名之后" },
};

/// A hint that cannot be read.
pub const INVALID_HINT: ErrorCode = ErrorCode {
    code: "HW-S016",
    domain: Domain::User,
    retry: false,
    en: Text { what: "the hint cannot be read: {hint}", why: "", fix: "write /*+ NAME('key' = 'value') */" },
    zh: Text { what: "无法读取提示：{hint}", why: "", fix: "请写成 /*+ NAME('key' = 'value') */" },
};

/// A statement set without END.
pub const MISSING_END: ErrorCode = ErrorCode {
    code: "HW-S017",
    domain: Domain::User,
    retry: false,
    en: Text { what: "the statement set has no END", why: "", fix: "close it with END;" },
    zh: Text { what: "语句集缺少 END", why: "", fix: "请以 END; 结束" },
};

/// Something else than INSERT in a statement set.
pub const NOT_AN_INSERT: ErrorCode = ErrorCode {
    code: "HW-S018",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "a statement set holds INSERT statements only, found {found}",
        why: "",
        fix: "move it before the statement set",
    },
    zh: Text { what: "语句集中只能有 INSERT，实际为 {found}", why: "", fix: "请移到语句集之前" },
};

/// A statement that is too large.
pub const TOO_COMPLEX: ErrorCode = ErrorCode {
    code: "HW-S019",
    domain: Domain::User,
    retry: false,
    en: Text { what: "the statement is too complex: {limit}", why: "", fix: "split it into views" },
    zh: Text { what: "语句过于复杂：{limit}", why: "", fix: "请拆分为多个视图" },
};

/// A string where a name stands.
pub const STRING_AS_NAME: ErrorCode = ErrorCode {
    code: "HW-S021",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{text}' is a string, but a name is expected here",
        why: "names stand in backticks or without quotes",
        fix: "write `{text}`; if two strings belong together, write || between them",
    },
    zh: Text {
        what: "'{text}' 是字符串，而此处应为名称",
        why: "名称写在反引号中，或不加引号",
        fix: "请写 `{text}`；若要连接两个字符串，请在中间写 ||",
    },
};

/// Every code of this file, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[
    &UNEXPECTED,
    &UNTERMINATED_STRING,
    &UNTERMINATED_IDENTIFIER,
    &UNTERMINATED_COMMENT,
    &INVALID_CHARACTER,
    &DOUBLE_QUOTED,
    &INVALID_LITERAL,
    &RESERVED_WORD,
    &UNQUOTED_OPTION,
    &PLACEHOLDER,
    &PLACEHOLDER_WITH,
    &UNKNOWN_TYPE,
    &UNKNOWN_STATEMENT,
    &UNSUPPORTED,
    &DUPLICATE,
    &MISPLACED_HINT,
    &INVALID_HINT,
    &MISSING_END,
    &NOT_AN_INSERT,
    &TOO_COMPLEX,
    &STRING_AS_NAME,
    &MISSPELLED,
    &UNCLOSED_CASE,
];
