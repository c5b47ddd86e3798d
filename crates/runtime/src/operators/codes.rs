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

/// AFTER MATCH SKIP TO a variable that the match has no row of.
pub const SKIP_NO_ROW: ErrorCode = ErrorCode {
    code: "HW-R110",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a match has no row of {variable}, the variable of AFTER MATCH SKIP TO",
        why: "{variable} is optional in the pattern, and rows matched without it: there is no row to go on at",
        fix: "skip to a variable that every match has, or use AFTER MATCH SKIP PAST LAST ROW",
    },
    zh: Text {
        what: "某个匹配中没有变量 {variable} 的行，而 AFTER MATCH SKIP TO 要跳到它",
        why: "{variable} 在模式中可以不出现，这次匹配中就没有，因此没有可以继续的行",
        fix: "请跳到每个匹配都有的变量，或改用 AFTER MATCH SKIP PAST LAST ROW",
    },
};

/// AFTER MATCH SKIP TO the first row of the match.
pub const SKIP_TO_START: ErrorCode = ErrorCode {
    code: "HW-R111",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "AFTER MATCH SKIP TO {variable} goes to the first row of the match",
        why: "matching would go on where it began, and find the same match for ever",
        fix: "skip to a variable behind the first one, or use AFTER MATCH SKIP TO NEXT ROW",
    },
    zh: Text {
        what: "AFTER MATCH SKIP TO {variable} 跳到了匹配的第一行",
        why: "匹配会从原来的位置重新开始，永远找到同一个匹配",
        fix: "请跳到第一个变量之后的变量，或改用 AFTER MATCH SKIP TO NEXT ROW",
    },
};

/// Every code of the operators.
pub const CODES: &[&ErrorCode] = &[&ROWTIME_NULL, &SKIP_NO_ROW, &SKIP_TO_START];
