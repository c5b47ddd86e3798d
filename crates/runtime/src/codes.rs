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
        fix: "drop and count such rows: SET 'highwater.null-rowtime' = 'drop'; or declare a computed column that replaces \
              NULL, for example: event_time AS COALESCE({column}, ...), WATERMARK FOR event_time AS ...",
    },
    zh: Text {
        what: "表 {table} 的列 {column} 为 NULL，而它是该表的事件时间",
        why: "该表声明了 WATERMARK FOR {column} AS {expression}：没有事件时间的行不属于任何窗口",
        fix: "丢弃并计数这类行：SET 'highwater.null-rowtime' = 'drop'；或声明一个替换 NULL 的计算列，\
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

/// Splits that hold results back (warning).
pub const SILENT_SPLIT: ErrorCode = ErrorCode {
    code: "HW-R005",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "results of {operator} wait for {split} of table {table}, which gives no rows",
        why: "event time is that of the input furthest behind: other input is at {ahead}, but the watermark stands at \
              {watermark} since {since} ({seconds} s)",
        fix: "let input that is silent hold nothing back: SET 'table.exec.source.idle-timeout' = '10 s'; or for this table \
              alone: 'scan.watermark.idle-timeout' = '10 s' in its WITH clause",
    },
    zh: Text {
        what: "{operator} 的结果在等待表 {table} 的 {split}，而它没有数据",
        why: "事件时间取决于最慢的输入：其他输入已到 {ahead}，但水位线自 {since} 起停在 {watermark}（已 {seconds} 秒）",
        fix: "让没有数据的输入不再拖住水位线：SET 'table.exec.source.idle-timeout' = '10 s'；\
              或只针对该表：在 WITH 子句中设置 'scan.watermark.idle-timeout' = '10 s'",
    },
};

/// No input at all (warning).
pub const NO_ROWS: ErrorCode = ErrorCode {
    code: "HW-R011",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "results of {operator} wait for later rows of table {table}, which gives none",
        why: "event time advances with rows only: the watermark stands at {watermark} since {since} ({seconds} s); \
              splits without rows: {split}",
        fix: "nothing is wrong if the table has no new data; to get the results of what was read, end the job with: \
              highwater stop --drain",
    },
    zh: Text {
        what: "{operator} 的结果在等待表 {table} 的后续数据，而它没有新数据",
        why: "事件时间只随数据推进：水位线自 {since} 起停在 {watermark}（已 {seconds} 秒）；没有数据的分片：{split}",
        fix: "如果该表确实没有新数据，则一切正常；如需得到已读数据的结果，请用 highwater stop --drain 结束作业",
    },
};

/// Rows whose times do not advance (warning).
pub const TIME_STANDS: ErrorCode = ErrorCode {
    code: "HW-R012",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "results of {operator} wait for {split} of table {table}, whose rows do not move event time",
        why: "rows come, but none has a watermark above {watermark}, where it stands since {since} ({seconds} s)",
        fix: "look at the time column of these rows, and at the WATERMARK clause: it may give NULL, or the clock of a \
              producer may be wrong",
    },
    zh: Text {
        what: "{operator} 的结果在等待表 {table} 的 {split}，而它的数据没有推进事件时间",
        why: "有数据到达，但没有一行的水位线高于 {watermark}，自 {since} 起停在那里（已 {seconds} 秒）",
        fix: "请检查这些数据的时间列和 WATERMARK 子句：它可能得到 NULL，或生产者的时钟有误",
    },
};

/// Saved state that the script does not use any more.
pub const STATE_DIFFERS: ErrorCode = ErrorCode {
    code: "HW-R006",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{count} saved state(s) do not fit the script any more",
        why: "the last checkpoint holds state of operators that compute something else now or are gone:\n{list}",
        fix: "run the script as it was, and what is new in a script of its own with another sink; or lose these states: \
              highwater run ... --allow-non-restored-state; or begin anew: highwater run ... --fresh",
    },
    zh: Text {
        what: "{count} 个已保存的状态与当前脚本不符",
        why: "最近的检查点中，有些算子的计算已改变（changed）或已不存在（dropped）；其余为新增（new）、按列迁移（migrated）或保留（kept）：\n{list}",
        fix: "请运行原来的脚本，并把新的查询放在另一个脚本中、写入另一个表；或放弃这些状态：\
              highwater run ... --allow-non-restored-state；或从头开始：highwater run ... --fresh",
    },
};

/// A checkpoint that came to nothing.
pub const CHECKPOINT_FAILED: ErrorCode = ErrorCode {
    code: "HW-R007",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "checkpoint {epoch} failed",
        why: "{cause}",
        fix: "what it held is part of the next one; failures in a row are allowed with: \
              SET 'execution.checkpointing.tolerable-failed-checkpoints' = '3';",
    },
    zh: Text {
        what: "检查点 {epoch} 失败",
        why: "{cause}",
        fix: "其内容会并入下一个检查点；如允许连续失败：\
              SET 'execution.checkpointing.tolerable-failed-checkpoints' = '3';",
    },
};

/// A job that goes on after a failure (warning).
pub const RESTARTING: ErrorCode = ErrorCode {
    code: "HW-R008",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "the job goes on in {delay} s from its last checkpoint (restart {count})",
        why: "{cause}",
        fix: "to end the job with the error instead: SET 'restart-strategy.type' = 'none';",
    },
    zh: Text {
        what: "作业将在 {delay} 秒后从最近的检查点继续（第 {count} 次重启）",
        why: "{cause}",
        fix: "如需直接报错结束：SET 'restart-strategy.type' = 'none';",
    },
};

/// An older checkpoint than the damaged one.
pub const OLDER_CHECKPOINT: ErrorCode = ErrorCode {
    code: "HW-R009",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "checkpoint {epoch} is older and whole",
        why: "it is not taken by itself: what was committed after it would be written again",
        fix: "highwater run ... --checkpoint {epoch}",
    },
    zh: Text {
        what: "较早的检查点 {epoch} 完好",
        why: "不会自动使用它：其后已提交的数据会被再次写出",
        fix: "highwater run ... --checkpoint {epoch}",
    },
};

/// Checkpoints that another script has left.
pub const STATE_OF_ANOTHER_SCRIPT: ErrorCode = ErrorCode {
    code: "HW-R010",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the checkpoints in {path} are those of another job",
        why: "they belong to {owner}",
        fix: "give this job a name of its own: SET 'pipeline.name' = '...'; or give up the other's state: \
              highwater run ... --fresh",
    },
    zh: Text {
        what: "{path} 中的检查点属于另一个作业",
        why: "它们属于 {owner}",
        fix: "请为该作业另起名字：SET 'pipeline.name' = '...'；或放弃对方的状态：highwater run ... --fresh",
    },
};

/// State that cannot be kept within the job's budget.
pub const STATE_ABOVE_BUDGET: ErrorCode = ErrorCode {
    code: "HW-R013",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the state of {operator} takes {bytes} MiB of memory, more than 'state.memory.budget' ({budget} MiB)",
        why: "only state that is spread over many keys can be put away in parts; this one belongs to one key, or to none",
        fix: "raise it: SET 'state.memory.budget' = '...'; or let state expire: SET 'table.exec.state.ttl' = '...'",
    },
    zh: Text {
        what: "{operator} 的状态占用 {bytes} MiB 内存，超过 'state.memory.budget'（{budget} MiB）",
        why: "只有分散在许多键上的状态才能分块换出；这里的状态属于同一个键，或没有键",
        fix: "请调大预算：SET 'state.memory.budget' = '...'；或让状态过期：SET 'table.exec.state.ttl' = '...'",
    },
};

/// A reader that waits for another table of its group (warning).
pub const ALIGNED_WAIT: ErrorCode = ErrorCode {
    code: "HW-R014",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "results of {operator} wait for table {table}, which waits for table {other} of its alignment group",
        why: "{table} is further ahead in event time than its 'scan.watermark.alignment.max-drift' allows: it reads nothing until \
              {other} has caught up; its watermark stands at {watermark} since {since} ({seconds} s)",
        fix: "let {other} go on; if it is silent, let it hold nothing back: 'scan.watermark.idle-timeout' = '10 s' in its WITH \
              clause; or allow a larger drift",
    },
    zh: Text {
        what: "{operator} 的结果在等待表 {table}，而它在等待同一对齐组的表 {other}",
        why: "{table} 的事件时间领先超过其 'scan.watermark.alignment.max-drift'：在 {other} 赶上之前不再读取；\
              其水位线自 {since} 起停在 {watermark}（已 {seconds} 秒）",
        fix: "请让 {other} 继续有数据；如果它没有数据，请在其 WITH 子句中设置 'scan.watermark.idle-timeout' = '10 s'；或允许更大的偏差",
    },
};

/// Every code of this crate.
pub const CODES: &[&ErrorCode] = &[
    &NULL_ROWTIME,
    &NOT_NULL_VIOLATION,
    &JOB_ENDED,
    &TASK_PANICKED,
    &SILENT_SPLIT,
    &NO_ROWS,
    &TIME_STANDS,
    &STATE_DIFFERS,
    &CHECKPOINT_FAILED,
    &RESTARTING,
    &OLDER_CHECKPOINT,
    &STATE_OF_ANOTHER_SCRIPT,
    &STATE_ABOVE_BUDGET,
    &ALIGNED_WAIT,
];
