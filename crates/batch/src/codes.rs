//! Error codes of batch mode.

use base::{Domain, ErrorCode, Text};

/// DataFusion failed where none of our functions did.
pub const BATCH_FAILED: ErrorCode = ErrorCode {
    code: "HW-R060",
    domain: Domain::Internal,
    retry: false,
    en: Text {
        what: "the batch query failed",
        why: "{reason}",
        fix: "the same query may run with SET 'execution.runtime-mode' = 'streaming'; please report the query",
    },
    zh: Text {
        what: "批查询失败",
        why: "{reason}",
        fix: "同一查询或许能以 SET 'execution.runtime-mode' = 'streaming' 运行；请反馈该查询",
    },
};

/// A row without a time before a window.
pub const WINDOW_TIME_NULL: ErrorCode = ErrorCode {
    code: "HW-R061",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a row has no window: its time, column {column}, is NULL",
        why: "the window needs the time of every row, and dropping the row would make results wrong without notice",
        fix: "filter such rows out before the window: WHERE {column} IS NOT NULL, or compute a time for them",
    },
    zh: Text {
        what: "有一行没有窗口：它的时间列 {column} 为 NULL",
        why: "窗口需要每一行的时间，悄悄丢弃该行会使结果出错",
        fix: "请在窗口之前过滤这些行：WHERE {column} IS NOT NULL，或用计算列补上时间",
    },
};

/// A batch query was stopped on its way.
pub const BATCH_STOPPED: ErrorCode = ErrorCode {
    code: "HW-R062",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the batch query was stopped before its end, and nothing was written",
        why: "its result counts when all of it is there",
        fix: "run it again; it begins anew",
    },
    zh: Text {
        what: "批查询在结束前被停止，未写入任何数据",
        why: "批查询的结果只有完整时才有效",
        fix: "请重新运行，它会从头开始",
    },
};

/// Every code of this file, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[&BATCH_FAILED, &WINDOW_TIME_NULL, &BATCH_STOPPED];
