//! What can be wrong with a join in time.

use base::{Domain, ErrorCode, Text};

/// A join in time of rows that change.
pub const TIME_JOIN_CHANGES: ErrorCode = ErrorCode {
    code: "HW-P550",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{join} cannot read updates, but its {side} side is updated",
        why: "rows are forgotten when the watermark has passed them, so a later update could not take back what was joined",
        fix: "join before you aggregate, deduplicate or rank, or cast a time attribute of the condition (CAST(ts AS TIMESTAMP(3))): \
              that is a regular join, which keeps all rows",
    },
    zh: Text {
        what: "{join} 不能读取更新，但它的 {side} 侧会更新",
        why: "watermark 越过之后行即被遗忘，之后的更新无法撤回已关联的结果",
        fix: "请先关联再聚合、去重或排名，或对条件中的时间属性做转换（CAST(ts AS TIMESTAMP(3))）：这样是普通关联，会保留所有行",
    },
};

/// FOR SYSTEM_TIME AS OF in a join that is neither inner nor left.
pub const AS_OF_KIND: ErrorCode = ErrorCode {
    code: "HW-P551",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{kind} JOIN ... FOR SYSTEM_TIME AS OF is not possible",
        why: "every left row asks for the right row of its time: only JOIN ... ON and LEFT JOIN ... ON say what to do with it",
        fix: "write LEFT JOIN table FOR SYSTEM_TIME AS OF time ON table.key = ...",
    },
    zh: Text {
        what: "不支持 {kind} JOIN ... FOR SYSTEM_TIME AS OF",
        why: "左侧每一行查询该时刻的右侧行：只有 JOIN ... ON 与 LEFT JOIN ... ON 有意义",
        fix: "请写 LEFT JOIN 表 FOR SYSTEM_TIME AS OF 时间 ON 表.key = ...",
    },
};

/// A versioned table without a key.
pub const VERSIONS_KEY: ErrorCode = ErrorCode {
    code: "HW-P552",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the right side of FOR SYSTEM_TIME AS OF has no primary key",
        why: "a row replaces the version with the same key: without a key there are no versions",
        fix: "declare PRIMARY KEY (...) NOT ENFORCED on the table, or read a view that keeps the last row per key: \
              ROW_NUMBER() OVER (PARTITION BY key ORDER BY time DESC) = 1",
    },
    zh: Text {
        what: "FOR SYSTEM_TIME AS OF 的右侧没有主键",
        why: "相同 key 的行替换旧版本：没有 key 就没有版本",
        fix: "请在表上声明 PRIMARY KEY (...) NOT ENFORCED，或读取每个 key 只保留最后一行的视图：\
              ROW_NUMBER() OVER (PARTITION BY key ORDER BY time DESC) = 1",
    },
};

/// A condition that does not have the key of the versioned table.
pub const VERSIONS_CONDITION: ErrorCode = ErrorCode {
    code: "HW-P553",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the condition of FOR SYSTEM_TIME AS OF does not compare the primary key ({keys}) of the right side",
        why: "which version is valid is known per key: ON must have an equality for every column of it",
        fix: "add to ON: {example}",
    },
    zh: Text {
        what: "FOR SYSTEM_TIME AS OF 的条件没有比较右侧的主键 ({keys})",
        why: "有效版本按 key 确定：ON 必须对主键的每一列给出等值条件",
        fix: "请在 ON 中加上：{example}",
    },
};

/// A versioned side without a rowtime.
pub const VERSIONS_TIME: ErrorCode = ErrorCode {
    code: "HW-P554",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the {side} side of FOR SYSTEM_TIME AS OF has no rowtime",
        why: "rows are compared with versions by the event time of both sides",
        fix: "declare a WATERMARK on its table, and pass that column through as it is",
    },
    zh: Text {
        what: "FOR SYSTEM_TIME AS OF 的 {side} 侧没有 rowtime",
        why: "行与版本按两侧的事件时间比较",
        fix: "请在其表上声明 WATERMARK，并原样传递该列",
    },
};

/// A lookup without an equality.
pub const LOOKUP_KEY: ErrorCode = ErrorCode {
    code: "HW-P555",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the lookup in table {table} has no key",
        why: "rows are asked for by value: ON must have an equality with a column of {table}",
        fix: "add to ON: {table}.column = value",
    },
    zh: Text {
        what: "对表 {table} 的查找没有 key",
        why: "行按值查找：ON 必须与 {table} 的某列有等值条件",
        fix: "请在 ON 中加上：{table}.列 = 值",
    },
};

/// The rows of now, of a table that cannot be asked.
pub const LOOKUP_TABLE: ErrorCode = ErrorCode {
    code: "HW-P556",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the rows of table {table} as of now cannot be looked up",
        why: "{connector} gives a stream of changes: it cannot be asked for the row of a key",
        fix: "join by event time (FOR SYSTEM_TIME AS OF a rowtime, with a WATERMARK on {table}), or write a regular JOIN",
    },
    zh: Text {
        what: "无法查找表 {table} 当前的行",
        why: "{connector} 提供的是变更流，不能按 key 查询",
        fix: "请按事件时间关联（FOR SYSTEM_TIME AS OF rowtime，并为 {table} 声明 WATERMARK），或写普通 JOIN",
    },
};

/// Rows that change, joined with the rows of now.
pub const NOW_CHANGES: ErrorCode = ErrorCode {
    code: "HW-P557",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the left side of FOR SYSTEM_TIME AS OF now takes rows back: {operator}",
        why: "a row that is taken back would be joined with another right row than when it was given, and would stay for ever",
        fix: "join before that, write a regular JOIN, or join by event time (FOR SYSTEM_TIME AS OF a rowtime)",
    },
    zh: Text {
        what: "FOR SYSTEM_TIME AS OF 当前时间的左侧会撤回行：{operator}",
        why: "撤回的行会与当时不同的右侧行关联，原结果将永远留下",
        fix: "请在此之前关联，或写普通 JOIN，或按事件时间关联（FOR SYSTEM_TIME AS OF rowtime）",
    },
};

/// All of them.
pub const CODES: &[&ErrorCode] = &[
    &TIME_JOIN_CHANGES,
    &AS_OF_KIND,
    &VERSIONS_KEY,
    &VERSIONS_CONDITION,
    &VERSIONS_TIME,
    &LOOKUP_KEY,
    &LOOKUP_TABLE,
    &NOW_CHANGES,
];
