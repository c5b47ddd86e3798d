//! What can be wrong with a query that is well-formed.

use base::{Domain, ErrorCode, Text};

/// A window over a timestamp without a watermark.
pub const WINDOW_TIME: ErrorCode = ErrorCode {
    code: "HW-P500",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} needs a time attribute, but {column} of table {table} is an ordinary {type} column",
        why: "a window is complete when the watermark has passed its end, and table {table} has no WATERMARK for {column}",
        fix: "add this line to CREATE TABLE {table}: WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND",
    },
    zh: Text {
        what: "{function} 需要时间属性列，但表 {table} 的 {column} 是普通的 {type} 列",
        why: "watermark 越过窗口终点时窗口才算完整，而表 {table} 没有为 {column} 声明 WATERMARK",
        fix: "请在 CREATE TABLE {table} 中加上这一行：WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND",
    },
};

/// A window over a column that is no timestamp.
pub const WINDOW_TIME_TYPE: ErrorCode = ErrorCode {
    code: "HW-P501",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} needs a time attribute, but {column} of table {table} is {type}",
        why: "only a TIMESTAMP or TIMESTAMP_LTZ column with a WATERMARK can cut windows",
        fix: "add to CREATE TABLE {table} a computed column and its watermark, for example:\n\
              event_time AS TO_TIMESTAMP({column}),\n\
              WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND",
    },
    zh: Text {
        what: "{function} 需要时间属性列，但表 {table} 的 {column} 类型是 {type}",
        why: "只有声明了 WATERMARK 的 TIMESTAMP 或 TIMESTAMP_LTZ 列才能划分窗口",
        fix: "请在 CREATE TABLE {table} 中加上计算列及其 watermark，例如：\n\
              event_time AS TO_TIMESTAMP({column}),\n\
              WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND",
    },
};

/// A window over a column that was a time attribute once.
pub const WINDOW_TIME_LOST: ErrorCode = ErrorCode {
    code: "HW-P502",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{function} needs a time attribute, but {column} is an ordinary {type} column of a subquery",
        why: "a time attribute is lost in expressions, casts, aggregates, and where the sides of a UNION differ",
        fix: "pass the WATERMARK column of the table through as it is, or window_time of an inner window",
    },
    zh: Text {
        what: "{function} 需要时间属性列，但 {column} 是子查询中普通的 {type} 列",
        why: "表达式、类型转换、聚合，以及两侧不一致的 UNION 都会丢失时间属性",
        fix: "请原样传递表的 WATERMARK 列，或使用内层窗口的 window_time",
    },
};

/// A source of keyed changes without a key.
pub const UPSERT_SOURCE_KEY: ErrorCode = ErrorCode {
    code: "HW-P503",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} gives keyed changes, but has no primary key",
        why: "an update comes without its old content: only a key tells which row it replaces",
        fix: "add to CREATE TABLE {table}: PRIMARY KEY (...) NOT ENFORCED",
    },
    zh: Text {
        what: "表 {table} 输出按主键的变更，但没有声明主键",
        why: "更新不带旧值，只有主键能说明它替换哪一行",
        fix: "请在 CREATE TABLE {table} 中加上：PRIMARY KEY (...) NOT ENFORCED",
    },
};

/// A query whose columns are not those of the sink: the binder should have said so.
pub const SINK_WIDTH: ErrorCode = ErrorCode {
    code: "HW-P504",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the query gives {given} columns, but table {table} takes {wanted}",
        why: "",
        fix: "select one value per column of {table}, or list the columns: INSERT INTO {table} (...)",
    },
    zh: Text {
        what: "查询给出 {given} 列，而表 {table} 需要 {wanted} 列",
        why: "",
        fix: "请为 {table} 的每一列给出一个值，或写明列名：INSERT INTO {table} (...)",
    },
};

/// A sink that promises more than its sources allow (warning).
pub const NOT_REPLAYABLE: ErrorCode = ErrorCode {
    code: "HW-P508",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot be written exactly once",
        why: "its rows come from {sources}, which cannot be read again from a remembered position: after a failure rows \
              can be lost or come twice",
        fix: "read from a source that can be read again, such as Kafka; or declare the sink as at-least-once",
    },
    zh: Text {
        what: "表 {table} 无法做到精确一次写入",
        why: "它的行来自 {sources}，而这些数据源不能从记住的位置重新读取：失败后可能丢行或重复",
        fix: "请使用可重新读取的数据源，例如 Kafka；或把 sink 声明为 at-least-once",
    },
};

/// A filter over the operation that loses the snapshot (warning).
pub const SNAPSHOT_FILTER: ErrorCode = ErrorCode {
    code: "HW-P505",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the condition on {column} leaves out the initial snapshot of table {table}",
        why: "rows that a snapshot has read have {column} = 'r', and {condition} does not take them: what was there before \
              the first change never reaches the sink",
        fix: "take them as well: {column} IN ('c', 'u', 'd', 'r'); or leave the condition out",
    },
    zh: Text {
        what: "{column} 上的条件丢掉了表 {table} 的初始快照",
        why: "快照（snapshot）读到的行 {column} = 'r'，而 {condition} 不包含它：第一次变更之前就存在的数据不会到达 sink",
        fix: "请一并包含：{column} IN ('c', 'u', 'd', 'r')；或去掉该条件",
    },
};

/// NULL in every row for a column that must not be NULL.
pub const NULL_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P506",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "column {column} of table {table} gets NULL in every row, but it is {constraint}",
        why: "the job would stop at its first row: 'table.exec.sink.not-null-enforcer' is ERROR",
        fix: "put a value in its place, for example COALESCE({column}, {example}), or leave such rows out: SET 'table.exec.sink.not-null-enforcer' = 'DROP';",
    },
    zh: Text {
        what: "表 {table} 的列 {column} 每一行都会写入 NULL，但它是 {constraint}",
        why: "作业会在第一行停止：'table.exec.sink.not-null-enforcer' 为 ERROR",
        fix: "请换成一个值，例如 COALESCE({column}, {example})，或丢弃这样的行：SET 'table.exec.sink.not-null-enforcer' = 'DROP';",
    },
};

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &WINDOW_TIME,
    &WINDOW_TIME_TYPE,
    &WINDOW_TIME_LOST,
    &UPSERT_SOURCE_KEY,
    &SINK_WIDTH,
    &NOT_REPLAYABLE,
    &SNAPSHOT_FILTER,
    &NULL_COLUMN,
];
