//! Errors of a running job.

use base::{Domain, ErrorCode, Text};

/// A row without event time in a table with a watermark.
pub const NULL_ROWTIME: ErrorCode = ErrorCode {
    code: "HW-R001",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "column {column} of table {table} is NULL, but it is the table's event time",
        why: "the table declares WATERMARK FOR {column} AS {expression}: a row without event time belongs to no window",
        fix: "filter such records before they reach the table, or declare a computed column that replaces NULL, \
              for example: event_time AS COALESCE({column}, ...), WATERMARK FOR event_time AS ...",
    },
    zh: Text {
        what: "表 {table} 的列 {column} 为 NULL，而它是该表的事件时间",
        why: "该表声明了 WATERMARK FOR {column} AS {expression}：没有事件时间的行不属于任何窗口",
        fix: "请在数据进入 topic 或文件之前过滤这类记录，或声明一个替换 NULL 的计算列，\
              例如：event_time AS COALESCE({column}, ...), WATERMARK FOR event_time AS ...",
    },
};

/// NULL in a NOT NULL column of a sink.
pub const NOT_NULL_VIOLATION: ErrorCode = ErrorCode {
    code: "HW-R002",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "NULL was written to column {column} of table {table}, which is NOT NULL",
        why: "'table.exec.sink.not-null-enforcer' is {enforcer}; primary key columns are NOT NULL too",
        fix: "replace NULL in the query with COALESCE({column}, ...), or leave such rows out: \
              SET 'table.exec.sink.not-null-enforcer' = 'DROP';",
    },
    zh: Text {
        what: "向表 {table} 的 NOT NULL 列 {column} 写入了 NULL",
        why: "'table.exec.sink.not-null-enforcer' 为 {enforcer}；主键列同样是 NOT NULL",
        fix: "请在查询中用 COALESCE({column}, ...) 替换 NULL，或丢弃这类行：\
              SET 'table.exec.sink.not-null-enforcer' = 'DROP';",
    },
};

/// A request to a job that has ended.
pub const JOB_ENDED: ErrorCode = ErrorCode {
    code: "HW-R003",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "could not {action}: the job has ended",
        why: "its state is {state}",
        fix: "start the job again with: highwater run",
    },
    zh: Text {
        what: "无法{action}：作业已结束", why: "作业状态为 {state}", fix: "请用 highwater run 重新启动作业"
    },
};

/// A task that panicked.
pub const TASK_PANICKED: ErrorCode = ErrorCode {
    code: "HW-R004",
    domain: Domain::Internal,
    retry: false,
    en: Text {
        what: "a task of the job stopped unexpectedly",
        why: "{cause}; this is a bug in Highwater, not in your script",
        fix: "report it with the script and this message; nothing after the last checkpoint was committed",
    },
    zh: Text {
        what: "作业的一个任务意外终止",
        why: "{cause}；这是 Highwater 自身的缺陷，不是脚本的问题",
        fix: "请附上脚本和这条消息报告该问题；最近一次检查点之后的数据没有提交",
    },
};

/// A split that holds back windows (warning).
pub const SILENT_SPLIT: ErrorCode = ErrorCode {
    code: "HW-R005",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "windows wait for {split} of table {table}, which has no data",
        why: "the watermark of a table is the smallest over its splits: it has not advanced for {seconds} s although other \
              splits gave rows, and stands at {watermark}",
        fix: "let splits without data hold nothing back: SET 'table.exec.source.idle-timeout' = '10 s';",
    },
    zh: Text {
        what: "窗口在等待表 {table} 的 {split}，而它没有数据",
        why: "表的水位线取所有分片中的最小值：其他分片有数据，但水位线已 {seconds} 秒没有推进，停在 {watermark}",
        fix: "让没有数据的分片不再拖住水位线：SET 'table.exec.source.idle-timeout' = '10 s';",
    },
};

/// Every code of this crate.
pub const CODES: &[&ErrorCode] = &[&NULL_ROWTIME, &NOT_NULL_VIOLATION, &JOB_ENDED, &TASK_PANICKED, &SILENT_SPLIT];
