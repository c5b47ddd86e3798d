//! The problems that formats report: code, who must act, and texts in English and Chinese.

use base::{Domain, ErrorCode, Text};

/// A record without the structure of its format.
pub const BAD_RECORD: ErrorCode = ErrorCode {
    code: "HW-F001",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "the record is not valid {format}: {why} at byte {position}",
        why: "the record is: {record}",
        fix: "correct the data, or set '{format}.ignore-parse-errors' = 'true' to leave such records out (they are counted)",
    },
    zh: Text {
        what: "记录不是合法的 {format}：第 {position} 字节处 {why}",
        why: "该记录为：{record}",
        fix: "请修正数据，或设置 '{format}.ignore-parse-errors' = 'true' 跳过此类记录（会计数）",
    },
};

/// A value that does not fit its column.
pub const BAD_VALUE: ErrorCode = ErrorCode {
    code: "HW-F002",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "column '{column}' of type {type} cannot take the value {value}",
        why: "the record is: {record}",
        fix: "correct the data or the column's type, or set '{format}.ignore-parse-errors' = 'true' to read such values as NULL",
    },
    zh: Text {
        what: "类型为 {type} 的列 '{column}' 无法接受值 {value}",
        why: "该记录为：{record}",
        fix: "请修正数据或列类型，或设置 '{format}.ignore-parse-errors' = 'true' 将此类值读作 NULL",
    },
};

/// A timestamp in the other standard than the one that the option names.
pub const OTHER_TIMESTAMP_STANDARD: ErrorCode = ErrorCode {
    code: "HW-F003",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "column '{column}' of type {type} cannot take the timestamp {value}",
        why: "'{format}.timestamp-format.standard' = '{standard}' reads the form {expected}, and this value is in the form of '{other}'; the record is: {record}",
        fix: "set '{format}.timestamp-format.standard' = '{other}', or leave the option out to read both forms",
    },
    zh: Text {
        what: "类型为 {type} 的列 '{column}' 无法接受时间戳 {value}",
        why: "'{format}.timestamp-format.standard' = '{standard}' 只读取 {expected} 形式，而该值是 '{other}' 形式；该记录为：{record}",
        fix: "请设置 '{format}.timestamp-format.standard' = '{other}'，或去掉该选项以同时读取两种形式",
    },
};

/// A missing field, with `json.fail-on-missing-field`.
pub const MISSING_FIELD: ErrorCode = ErrorCode {
    code: "HW-F004",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "the record has no field '{column}'",
        why: "'json.fail-on-missing-field' is 'true'; the record is: {record}",
        fix: "correct the data, or set 'json.fail-on-missing-field' = 'false' to read missing fields as NULL",
    },
    zh: Text {
        what: "记录中没有字段 '{column}'",
        why: "'json.fail-on-missing-field' 为 'true'；该记录为：{record}",
        fix: "请修正数据，或设置 'json.fail-on-missing-field' = 'false' 将缺失字段读作 NULL",
    },
};

/// NULL for a column that is NOT NULL.
pub const NULL_VALUE: ErrorCode = ErrorCode {
    code: "HW-F005",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "column '{column}' is NOT NULL and the record has no value for it",
        why: "the column has the type {type}; the record is: {record}",
        fix: "correct the data, declare the column without NOT NULL, or set '{format}.ignore-parse-errors' = 'true' to leave such records out",
    },
    zh: Text {
        what: "列 '{column}' 为 NOT NULL，但记录中没有它的值",
        why: "该列类型为 {type}；该记录为：{record}",
        fix: "请修正数据、去掉列的 NOT NULL，或设置 '{format}.ignore-parse-errors' = 'true' 跳过此类记录",
    },
};

/// Two options that exclude each other.
pub const OPTIONS_CONFLICT: ErrorCode = ErrorCode {
    code: "HW-F006",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{first}' = 'true' and '{second}' = 'true' exclude each other",
        why: "one asks to fail, the other to go on",
        fix: "remove one of them",
    },
    zh: Text {
        what: "'{first}' = 'true' 与 '{second}' = 'true' 互相矛盾",
        why: "前者要求失败，后者要求继续",
        fix: "请去掉其中一个",
    },
};

/// A column type that the format has no text for.
pub const BAD_TYPE: ErrorCode = ErrorCode {
    code: "HW-F007",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "format '{format}' cannot hold column '{column}' of type {type}",
        why: "{why}",
        fix: "use another type or another format",
    },
    zh: Text {
        what: "格式 '{format}' 无法承载类型为 {type} 的列 '{column}'",
        why: "{why}",
        fix: "请换用其他类型或其他格式",
    },
};

/// A record of another number of fields than the table.
pub const FIELD_COUNT: ErrorCode = ErrorCode {
    code: "HW-F008",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "the record has {found} fields and the table has {expected} columns",
        why: "CSV has no names, so fields are matched by position; the record is: {record}",
        fix: "declare as many columns as the data has, check 'csv.field-delimiter', or set 'csv.ignore-parse-errors' = 'true'",
    },
    zh: Text {
        what: "记录有 {found} 个字段，而表有 {expected} 列",
        why: "CSV 没有字段名，按位置对应；该记录为：{record}",
        fix: "请使列数与数据一致，检查 'csv.field-delimiter'，或设置 'csv.ignore-parse-errors' = 'true'",
    },
};

/// A value that cannot be written.
pub const NULL_KEY: ErrorCode = ErrorCode {
    code: "HW-F009",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "column '{column}' holds a map with a NULL key, which JSON has no text for",
        why: "'{format}.map-null-key.mode' is 'FAIL'",
        fix: "set '{format}.map-null-key.mode' = 'DROP', or 'LITERAL' together with '{format}.map-null-key.literal'",
    },
    zh: Text {
        what: "列 '{column}' 的 MAP 含有 NULL 键，JSON 无法表示",
        why: "'{format}.map-null-key.mode' 为 'FAIL'",
        fix: "请设置 '{format}.map-null-key.mode' = 'DROP'，或 'LITERAL' 并配合 '{format}.map-null-key.literal'",
    },
};

/// A format that takes another number of columns.
pub const ONE_COLUMN: ErrorCode = ErrorCode {
    code: "HW-F010",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "format '{format}' takes a table of exactly one column, and this one has {count}",
        why: "a record is the value of that column and nothing else",
        fix: "declare one column, or use format 'json' or 'csv'",
    },
    zh: Text {
        what: "格式 '{format}' 只支持恰好一列的表，而该表有 {count} 列",
        why: "每条记录就是该列的值，别无其他",
        fix: "请只声明一列，或改用格式 'json'、'csv'",
    },
};

/// A change without the old content of its row.
pub const NO_OLD_ROW: ErrorCode = ErrorCode {
    code: "HW-F011",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "the '{field}' of a record with {operation_field} '{operation}' is null, so the old content of the row is not known",
        why: "a changelog takes the old row away before it adds the new one; {sender} sends whole old rows only after {command}; the record is: {record}",
        fix: "run {command}, or set '{format}.ignore-parse-errors' = 'true' to leave such records out (they are counted)",
    },
    zh: Text {
        what: "{operation_field} 为 '{operation}' 的记录中 '{field}' 为 null，因此不知道该行的旧内容",
        why: "变更流先撤回旧行再加入新行；{sender} 只在执行 {command} 之后才发送完整的旧行；该记录为：{record}",
        fix: "请执行 {command}，或设置 '{format}.ignore-parse-errors' = 'true' 跳过此类记录（会计数）",
    },
};

/// A change record without a part that it needs.
pub const NO_PART: ErrorCode = ErrorCode {
    code: "HW-F012",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "the record has no '{field}'",
        why: "{format} cannot tell without it how the row changed; the record is: {record}",
        fix: "correct the data, use the format that the records are in, or set '{format}.ignore-parse-errors' = 'true' to leave such records out (they are counted)",
    },
    zh: Text {
        what: "记录中没有 '{field}'",
        why: "缺少它时 {format} 无法得知该行如何变化；该记录为：{record}",
        fix: "请修正数据、改用与记录相符的格式，或设置 '{format}.ignore-parse-errors' = 'true' 跳过此类记录（会计数）",
    },
};

/// An operation that the format does not know.
pub const UNKNOWN_OPERATION: ErrorCode = ErrorCode {
    code: "HW-F013",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "unknown '{field}' {operation} in a record of {format}",
        why: "{format} knows {known}; the record is: {record}",
        fix: "correct the data, or set '{format}.ignore-parse-errors' = 'true' to leave such records out (they are counted)",
    },
    zh: Text {
        what: "{format} 的记录中 '{field}' 的值 {operation} 未知",
        why: "{format} 支持 {known}；该记录为：{record}",
        fix: "请修正数据，或设置 '{format}.ignore-parse-errors' = 'true' 跳过此类记录（会计数）",
    },
};

/// Debezium records with or without their schema, against the option.
pub const SCHEMA_INCLUDE: ErrorCode = ErrorCode {
    code: "HW-F014",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "the record is not in the form that 'debezium-json.schema-include' = '{value}' stands for",
        why: "with 'true' the change is inside \"payload\", beside \"schema\"; with 'false' it is the record itself; the record is: {record}",
        fix: "set 'debezium-json.schema-include' = '{other}'",
    },
    zh: Text {
        what: "记录的形式与 'debezium-json.schema-include' = '{value}' 不符",
        why: "为 'true' 时变更位于 \"payload\" 中，与 \"schema\" 并列；为 'false' 时记录本身就是变更；该记录为：{record}",
        fix: "请设置 'debezium-json.schema-include' = '{other}'",
    },
};

/// An option that is no regular expression.
pub const BAD_PATTERN: ErrorCode = ErrorCode {
    code: "HW-F015",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' is no regular expression: '{value}'",
        why: "{cause}",
        fix: "correct it, for example 'orders_[0-9]+' or 'orders|payments'",
    },
    zh: Text {
        what: "选项 '{key}' 不是合法的正则表达式：'{value}'",
        why: "{cause}",
        fix: "请修正，例如 'orders_[0-9]+' 或 'orders|payments'",
    },
};

/// Every code of the formats, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[
    &BAD_RECORD,
    &BAD_VALUE,
    &OTHER_TIMESTAMP_STANDARD,
    &MISSING_FIELD,
    &NULL_VALUE,
    &OPTIONS_CONFLICT,
    &BAD_TYPE,
    &FIELD_COUNT,
    &NULL_KEY,
    &ONE_COLUMN,
    &NO_OLD_ROW,
    &NO_PART,
    &UNKNOWN_OPERATION,
    &SCHEMA_INCLUDE,
    &BAD_PATTERN,
];
