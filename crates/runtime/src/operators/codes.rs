//! The problems that operators meet in data.

use base::{Domain, ErrorCode, Text};

/// NULL in the time column of a window.
pub const ROWTIME_NULL: ErrorCode = ErrorCode {
    code: "HW-R100",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a row has no time: column {column} is NULL",
        why: "the window needs the time of every row, and dropping the row would make results wrong without notice",
        fix: "filter such rows out before the window: WHERE {column} IS NOT NULL, or compute a time for them",
    },
    zh: Text {
        what: "有一行没有时间：列 {column} 为 NULL",
        why: "窗口需要每一行的时间，悄悄丢弃该行会使结果出错",
        fix: "请在窗口之前过滤这些行：WHERE {column} IS NOT NULL，或用计算列补上时间",
    },
};

/// Every code of the operators.
pub const CODES: &[&ErrorCode] = &[&ROWTIME_NULL];
