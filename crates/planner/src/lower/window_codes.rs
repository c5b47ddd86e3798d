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

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &EMIT_SESSION,
    &EMIT_DELAY,
    &EMIT_LATENESS,
    &EMIT_LATENESS_DELAY,
    &WINDOW_RANK_UPDATES,
    &WINDOW_RANK_END,
    &PROCTIME_WINDOW_ROWTIME,
];
