//! What can be wrong with OVER windows.

use base::{Domain, ErrorCode, Text};

const fn user(code: &'static str, en: Text, zh: Text) -> ErrorCode {
    ErrorCode { code, domain: Domain::User, retry: false, en, zh }
}

/// A window that WINDOW does not define.
pub const UNKNOWN_WINDOW: ErrorCode = user(
    "HW-P600",
    Text {
        what: "window {name} is not defined",
        why: "WINDOW defines: {known}; a window can only build on those before it",
        fix: "define it behind FROM, WHERE, GROUP BY and HAVING: WINDOW {name} AS (PARTITION BY k ORDER BY ts)",
    },
    Text {
        what: "窗口 {name} 未定义",
        why: "WINDOW 子句定义了：{known}；窗口只能基于在它之前定义的窗口",
        fix: "请在 FROM、WHERE、GROUP BY、HAVING 之后定义：WINDOW {name} AS (PARTITION BY k ORDER BY ts)",
    },
);

/// A window with a name that says again what the named one says.
pub const WINDOW_REFINEMENT: ErrorCode = user(
    "HW-P601",
    Text {
        what: "OVER ({name} ...) gives window {name} another {clause}",
        why: "a window that builds on a named one can only add what that one leaves open",
        fix: "leave {clause} out, or write the whole window instead of {name}",
    },
    Text {
        what: "OVER ({name} ...) 重复指定了窗口 {name} 的 {clause}",
        why: "基于命名窗口的窗口只能补充其未指定的部分",
        fix: "请去掉 {clause}，或不用 {name} 而写出完整窗口",
    },
);

/// OVER behind a function that is no aggregate.
pub const OVER_OF_OTHER: ErrorCode = user(
    "HW-P602",
    Text {
        what: "{name}(...) cannot have OVER",
        why: "only aggregates, ROW_NUMBER, RANK, DENSE_RANK, LAG and their likes look at other rows",
        fix: "remove OVER",
    },
    Text {
        what: "{name}(...) 不能带 OVER",
        why: "只有聚合函数以及 ROW_NUMBER、RANK、DENSE_RANK、LAG 等函数会读取其他行",
        fix: "请去掉 OVER",
    },
);

/// FILTER with OVER.
pub const OVER_WITH_FILTER: ErrorCode = user(
    "HW-P603",
    Text {
        what: "{name}(...) has FILTER and OVER",
        why: "Flink SQL has no filter of a window's rows",
        fix: "give the argument NULL where the condition is not true: {name}(CASE WHEN condition THEN x END) OVER ...",
    },
    Text {
        what: "{name}(...) 同时带有 FILTER 和 OVER",
        why: "Flink SQL 不支持过滤窗口内的行",
        fix: "请让条件不成立时参数为 NULL：{name}(CASE WHEN 条件 THEN x END) OVER ...",
    },
);

/// ROWS or RANGE with a function that has its own frame.
pub const FRAME_OF_RANK: ErrorCode = user(
    "HW-P604",
    Text {
        what: "{name} cannot have ROWS or RANGE",
        why: "its value follows from the order alone",
        fix: "remove the frame",
    },
    Text { what: "{name} 不能带 ROWS 或 RANGE", why: "它的值只由排序决定", fix: "请去掉窗口帧" },
);

/// A ranking without an order.
pub const RANK_WITHOUT_ORDER: ErrorCode = user(
    "HW-P605",
    Text {
        what: "{name} needs ORDER BY in its window",
        why: "without an order no row comes before another",
        fix: "add it: {name}(...) OVER (PARTITION BY k ORDER BY ts)",
    },
    Text {
        what: "{name} 的窗口需要 ORDER BY",
        why: "没有顺序就没有先后",
        fix: "请加上：{name}(...) OVER (PARTITION BY k ORDER BY ts)",
    },
);

/// A window function without OVER.
pub const WITHOUT_OVER: ErrorCode = user(
    "HW-P606",
    Text {
        what: "{name} needs OVER",
        why: "it looks at the rows around a row, and OVER says which those are",
        fix: "add it: {form} OVER (PARTITION BY k ORDER BY ts)",
    },
    Text {
        what: "{name} 需要 OVER",
        why: "它读取一行周围的行，由 OVER 指定是哪些行",
        fix: "请加上：{form} OVER (PARTITION BY k ORDER BY ts)",
    },
);

/// A window function where windows are not there yet.
pub const MISPLACED_WINDOW: ErrorCode = user(
    "HW-P607",
    Text {
        what: "{function}(...) OVER cannot stand in {clause}",
        why: "windows are computed after {clause}",
        fix: "compute it in an inner query and filter outside: SELECT * FROM (SELECT *, {function}(...) OVER \
              (...) AS x FROM t) WHERE x ...",
    },
    Text {
        what: "{function}(...) OVER 不能出现在 {clause} 中",
        why: "窗口在 {clause} 之后才计算",
        fix: "请在内层查询中计算，在外层过滤：SELECT * FROM (SELECT *, {function}(...) OVER (...) AS x FROM t) WHERE x ...",
    },
);

/// A bound of a frame that is no constant.
pub const FRAME_BOUND: ErrorCode = user(
    "HW-P608",
    Text {
        what: "{bound} is no bound of {units}",
        why: "ROWS counts rows; RANGE over a time takes an interval of days to seconds",
        fix: "write ROWS BETWEEN 9 PRECEDING AND CURRENT ROW, or RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING \
              AND CURRENT ROW",
    },
    Text {
        what: "{bound} 不能作为 {units} 的边界",
        why: "ROWS 按行数计；时间上的 RANGE 用天到秒的时间间隔",
        fix: "请写 ROWS BETWEEN 9 PRECEDING AND CURRENT ROW，或 RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND \
              CURRENT ROW",
    },
);

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &UNKNOWN_WINDOW,
    &WINDOW_REFINEMENT,
    &OVER_OF_OTHER,
    &OVER_WITH_FILTER,
    &FRAME_OF_RANK,
    &RANK_WITHOUT_ORDER,
    &WITHOUT_OVER,
    &MISPLACED_WINDOW,
    &FRAME_BOUND,
];
