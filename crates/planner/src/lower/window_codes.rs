//! What can be wrong with windows that fire early or late, and with rankings of windows.

use base::{Domain, ErrorCode, Text};

/// Early or late firing of sessions.
pub const EMIT_SESSION: ErrorCode = ErrorCode {
    code: "HW-P570",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "a SESSION window gives its result once: '{option}' does not go with it",
        why: "a later row can join two sessions that have been given already; Flink refuses it, too",
        fix: "switch '{option}' off for this query with SET '{option}' = 'false', or use TUMBLE, HOP or CUMULATE",
    },
    zh: Text {
        what: "SESSION 窗口只输出一次结果，不能与 '{option}' 同用",
        why: "后到的行可能把两个已经输出的会话合并；Flink 同样拒绝",
        fix: "请对该查询 SET '{option}' = 'false'，或改用 TUMBLE、HOP、CUMULATE",
    },
};

/// Early or late firing without a delay.
pub const EMIT_DELAY: ErrorCode = ErrorCode {
    code: "HW-P571",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{option}' needs '{delay}'",
        why: "the delay decides whether every row gives a result, or how long rows are gathered for one",
        fix: "SET '{delay}' = '0 s' for a result per row, or a longer time for fewer results",
    },
    zh: Text {
        what: "'{option}' 需要同时设置 '{delay}'",
        why: "延迟决定是每行都输出，还是累积多久输出一次",
        fix: "每行输出请 SET '{delay}' = '0 s'；希望输出更少时请设更长的时间",
    },
};

/// Late firing without lateness.
pub const EMIT_LATENESS: ErrorCode = ErrorCode {
    code: "HW-P572",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'table.exec.emit.late-fire.enabled' needs 'table.exec.emit.allow-lateness'",
        why: "without it a window is dropped at its end, and no late row can correct its result",
        fix: "SET 'table.exec.emit.allow-lateness' = '1 min', or as long as rows may be late; 'table.exec.state.ttl' counts \
              where it is not set",
    },
    zh: Text {
        what: "'table.exec.emit.late-fire.enabled' 需要同时设置 'table.exec.emit.allow-lateness'",
        why: "否则窗口在结束时即被清除，迟到的行无法更新其结果",
        fix: "请 SET 'table.exec.emit.allow-lateness' = '1 min'（按允许的迟到时长）；未设置时取 'table.exec.state.ttl'",
    },
};

/// Late firing that is later than the lateness.
pub const EMIT_LATENESS_DELAY: ErrorCode = ErrorCode {
    code: "HW-P573",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'table.exec.emit.late-fire.delay' ({delay}) is longer than 'table.exec.emit.allow-lateness' ({lateness})",
        why: "windows would be dropped before their late results are due",
        fix: "make the delay shorter or the lateness longer",
    },
    zh: Text {
        what: "'table.exec.emit.late-fire.delay'（{delay}）大于 'table.exec.emit.allow-lateness'（{lateness}）",
        why: "窗口会在迟到结果输出之前就被清除",
        fix: "请缩短延迟，或增大允许的迟到时长",
    },
};

/// A ranking of window rows that are taken back.
pub const WINDOW_RANK_UPDATES: ErrorCode = ErrorCode {
    code: "HW-P574",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "ROW_NUMBER() per window over rows that are updated or deleted",
        why: "it gives the rows of a window once, when the window is over, and only takes rows that are added; Flink refuses \
              it, too",
        fix: "rank the results of an aggregate over the window, or leave window_end out of PARTITION BY for a ranking that \
              is corrected",
    },
    zh: Text {
        what: "按窗口的 ROW_NUMBER() 不能用于会更新或删除的行",
        why: "它在窗口结束时一次性输出，只接受新增的行；Flink 同样拒绝",
        fix: "请对窗口聚合的结果排名，或从 PARTITION BY 中去掉 window_end 以使用会更新的排名",
    },
};

/// A ranking of window rows up to a column.
pub const WINDOW_RANK_END: ErrorCode = ErrorCode {
    code: "HW-P575",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "ROW_NUMBER() per window with a column as its upper bound",
        why: "how many rows of a window are kept must be known before they come; Flink refuses it, too",
        fix: "compare {column} with a constant",
    },
    zh: Text {
        what: "按窗口的 ROW_NUMBER() 不能以列作为上界",
        why: "每个窗口保留多少行必须事先确定；Flink 同样拒绝",
        fix: "请将 {column} 与常量比较",
    },
};

/// The rowtime of a window by processing time.
pub const PROCTIME_WINDOW_ROWTIME: ErrorCode = ErrorCode {
    code: "HW-P576",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} of a window by processing time",
        why: "{column} is a PROCTIME(): its windows follow the clock and have no event time",
        fix: "use {window}_PROCTIME, {window}_START or {window}_END",
    },
    zh: Text {
        what: "{function} 不能用于处理时间窗口",
        why: "{column} 是 PROCTIME()，窗口按时钟划分，没有事件时间",
        fix: "请使用 {window}_PROCTIME、{window}_START 或 {window}_END",
    },
};

/// A late table whose columns are not those of the window's rows.
pub const LATE_TABLE_COLUMNS: ErrorCode = ErrorCode {
    code: "HW-P577",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot take the late rows of a window: {problems}",
        why: "late rows go there as they come to the window, each column under its name; columns here: {columns}",
        fix: "make a table with some of these columns, or select what is missing below the window",
    },
    zh: Text {
        what: "表 {table} 无法接收窗口的迟到行：{problems}",
        why: "迟到行按进入窗口时的样子、按列名写入；此处的列：{columns}",
        fix: "请建一张只含其中若干列的表，或在窗口之下选出缺少的列",
    },
};

/// A late table for windows whose rows another operator drops.
pub const LATE_TABLE_PLACE: ErrorCode = ErrorCode {
    code: "HW-P578",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot take late rows of {what}",
        why: "it is window aggregates, and SESSION windows, that can hand out rows that are too late",
        fix: "leave the late table out for this query (hint LATE_TABLE, option 'highwater.late-table'): late rows are dropped and \
              counted then",
    },
    zh: Text {
        what: "{what} 的迟到行无法写入表 {table}",
        why: "只有窗口聚合和 SESSION 窗口能够交出过迟的行",
        fix: "请对该查询去掉迟到表（提示 LATE_TABLE 或选项 'highwater.late-table'）：迟到行将被丢弃并计数",
    },
};

/// A late table in a query without a window.
pub const LATE_TABLE_UNUSED: ErrorCode = ErrorCode {
    code: "HW-P579",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "LATE_TABLE('{table}') has no window whose late rows it could take",
        why: "the query has no TUMBLE, HOP, CUMULATE or SESSION by event time; by the clock no row is late",
        fix: "leave the hint out, or put it into the query that has the window",
    },
    zh: Text {
        what: "LATE_TABLE('{table}') 没有可用的窗口",
        why: "该查询没有按事件时间的 TUMBLE、HOP、CUMULATE 或 SESSION；按处理时间不存在迟到",
        fix: "请去掉该提示，或写到含有窗口的查询上",
    },
};

/// Two late tables for one query.
pub const LATE_TABLES: ErrorCode = ErrorCode {
    code: "HW-P580",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "a query has one table for late rows, not several: {tables}",
        why: "LATE_TABLE counts for all windows of the query, those of its views included",
        fix: "keep one of the hints",
    },
    zh: Text {
        what: "一个查询只能有一张迟到表，而不是多张：{tables}",
        why: "LATE_TABLE 对查询的所有窗口（包括视图中的）生效",
        fix: "请只保留一个提示",
    },
};

/// Operators whose late rows go nowhere although there is a late table.
pub const LATE_TABLE_OTHERS: ErrorCode = ErrorCode {
    code: "HW-P581",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} takes the late rows of windows only: those of {operator} are dropped and counted",
        why: "an operator of this kind hands out no late rows",
        fix: "",
    },
    zh: Text {
        what: "表 {table} 只接收窗口的迟到行：{operator} 的迟到行会被丢弃并计数",
        why: "这类算子不会交出迟到行",
        fix: "",
    },
};

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &EMIT_SESSION,
    &EMIT_DELAY,
    &EMIT_LATENESS,
    &EMIT_LATENESS_DELAY,
    &WINDOW_RANK_UPDATES,
    &WINDOW_RANK_END,
    &PROCTIME_WINDOW_ROWTIME,
    &LATE_TABLE_COLUMNS,
    &LATE_TABLE_PLACE,
    &LATE_TABLE_UNUSED,
    &LATE_TABLES,
    &LATE_TABLE_OTHERS,
];
