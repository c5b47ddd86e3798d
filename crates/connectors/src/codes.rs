//! The problems that connectors report: code, who must act, and texts in English and Chinese.

use base::{Domain, ErrorCode, Text};

/// A format that this build does not have.
pub const UNKNOWN_FORMAT: ErrorCode = ErrorCode {
    code: "HW-C010",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' names the unknown format '{format}'",
        why: "this build has these formats: {known}",
        fix: "use one of {nearest}",
    },
    zh: Text {
        what: "选项 '{key}' 指定了未知的格式 '{format}'",
        why: "当前版本支持的格式：{known}",
        fix: "请改用 {nearest}",
    },
};

/// A connector that only declares tables.
pub const NOT_RUNNABLE: ErrorCode = ErrorCode {
    code: "HW-C030",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "this version does not read or write tables of connector '{connector}' yet",
        why: "they can be declared and planned: highwater explain shows the plan",
        fix: "to run the job, declare the table with connector 'filesystem', 'kafka' or 'upsert-kafka'",
    },
    zh: Text {
        what: "当前版本还不能读写连接器 '{connector}' 的表",
        why: "此类表可以声明和生成执行计划：用 highwater explain 查看",
        fix: "若要运行作业，请改用 'filesystem'、'kafka' 或 'upsert-kafka' 连接器声明该表",
    },
};

/// A regular expression that does not parse.
pub const BAD_PATTERN: ErrorCode = ErrorCode {
    code: "HW-C011",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' holds a regular expression that cannot be read: '{value}'",
        why: "{cause}",
        fix: "correct the expression; a literal . ( [ { * + ? | is written with a backslash before it",
    },
    zh: Text {
        what: "选项 '{key}' 中的正则表达式无法解析：'{value}'",
        why: "{cause}",
        fix: "请修正表达式；字面的 . ( [ { * + ? | 之前要加反斜杠",
    },
};

/// A file that lost bytes which had been read.
pub const FILE_SHRANK: ErrorCode = ErrorCode {
    code: "HW-C012",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "file {path} has become shorter",
        why: "{position} bytes of it were read already, now it has {size}: it was truncated or replaced",
        fix: "write new data to a new file, or start the job anew",
    },
    zh: Text {
        what: "文件 {path} 变短了",
        why: "已读取 {position} 字节，而现在只有 {size} 字节：文件被截断或替换",
        fix: "请把新数据写入新文件，或重新开始作业",
    },
};

/// A file in the place of one that was read.
pub const FILE_REPLACED: ErrorCode = ErrorCode {
    code: "HW-C060",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "file {path} was replaced while it was read",
        why: "another file has its name now; which of its lines are new cannot be known",
        fix: "append to the file, or write new data to a file with a new name",
    },
    zh: Text {
        what: "文件 {path} 在读取过程中被替换",
        why: "现在同名的是另一个文件，无法判断其中哪些行是新的",
        fix: "请向原文件追加，或把新数据写入新文件名的文件",
    },
};

/// A line that never ends.
pub const LINE_TOO_LONG: ErrorCode = ErrorCode {
    code: "HW-C013",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a line is longer than {limit} bytes",
        why: "one line is one record, and a record must fit into memory",
        fix: "check that the file has line ends (LF or CRLF) and holds text",
    },
    zh: Text {
        what: "一行超过 {limit} 字节",
        why: "一行就是一条记录，记录必须能放入内存",
        fix: "请确认文件有换行符（LF 或 CRLF）且为文本",
    },
};

/// A sink path that is taken by a file.
pub const SINK_PATH_IS_FILE: ErrorCode = ErrorCode {
    code: "HW-C014",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the sink path {path} is a file",
        why: "a filesystem sink writes a folder of part files, whatever the path ends with, as Flink does",
        fix: "choose another path, or move the file away",
    },
    zh: Text {
        what: "sink 路径 {path} 是一个文件",
        why: "与 Flink 一样，filesystem sink 写出的是包含多个 part 文件的目录，与路径后缀无关",
        fix: "请换一个路径，或移走该文件",
    },
};

/// A file that a checkpoint promises and nobody finds.
pub const COMMIT_LOST: ErrorCode = ErrorCode {
    code: "HW-C015",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "could not commit {path}: its rows are gone",
        why: "the checkpoint says that {temporary} holds {size} bytes, but {found}",
        fix: "restore the file, or start the job anew; do not delete hidden files of a running sink",
    },
    zh: Text {
        what: "无法提交 {path}：数据已丢失",
        why: "检查点记录 {temporary} 有 {size} 字节，但{found}",
        fix: "请恢复该文件，或重新开始作业；不要删除运行中 sink 的隐藏文件",
    },
};

/// A partition column whose value the path does not give.
pub const PARTITION_VALUE: ErrorCode = ErrorCode {
    code: "HW-C016",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "the path of {path} gives no value for the partition column '{column}'",
        why: "expected a folder '{column}=<value>' with a value of type {type}, found {found}",
        fix: "move the file into such a folder, or drop '{column}' from PARTITIONED BY",
    },
    zh: Text {
        what: "{path} 的路径中没有分区列 '{column}' 的值",
        why: "需要名为 '{column}=<值>' 的目录，值的类型为 {type}，实际为 {found}",
        fix: "请把文件移入这样的目录，或从 PARTITIONED BY 中去掉 '{column}'",
    },
};

/// A position in a checkpoint that this version cannot read.
pub const BAD_POSITION: ErrorCode = ErrorCode {
    code: "HW-C017",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "the checkpoint holds an unreadable position for '{split}'",
        why: "it was written by another version, or it is damaged",
        fix: "run the version that wrote it, or start the job anew",
    },
    zh: Text {
        what: "检查点中 '{split}' 的位置无法读取",
        why: "它由另一个版本写入，或已损坏",
        fix: "请使用写入它的版本，或重新开始作业",
    },
};

/// A file that was read in part and is gone.
pub const SPLIT_GONE: ErrorCode = ErrorCode {
    code: "HW-C018",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "file {path} is gone",
        why: "the last checkpoint was taken while it was being read, at byte {position}",
        fix: "put the file back, or start the job anew",
    },
    zh: Text {
        what: "文件 {path} 不见了",
        why: "上一个检查点时正在读取它，位置为第 {position} 字节",
        fix: "请放回该文件，或重新开始作业",
    },
};

/// A connector that cannot do without a primary key.
pub const NEEDS_PRIMARY_KEY: ErrorCode = ErrorCode {
    code: "HW-C020",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{owner} needs a primary key",
        why: "{reason}",
        fix: "add PRIMARY KEY (...) NOT ENFORCED to the columns of {table}",
    },
    zh: Text {
        what: "{owner} 需要主键",
        why: "{reason}",
        fix: "请在 {table} 的列定义中加上 PRIMARY KEY (...) NOT ENFORCED",
    },
};

/// An option that only makes sense with another one.
pub const NEEDS_OPTION: ErrorCode = ErrorCode {
    code: "HW-C021",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{key}' needs '{other}' as well",
        why: "'{other}' is not set: {purpose}",
        fix: "add '{other}' = '...' to the WITH clause",
    },
    zh: Text {
        what: "'{key}' 还需要 '{other}'",
        why: "没有设置 '{other}'：{purpose}",
        fix: "请在 WITH 子句中加上 '{other}' = '...'",
    },
};

/// Two options that exclude each other.
pub const OPTIONS_CLASH: ErrorCode = ErrorCode {
    code: "HW-C022",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{key}' and '{other}' cannot be used together",
        why: "{reason}",
        fix: "remove one of them from the WITH clause",
    },
    zh: Text {
        what: "'{key}' 与 '{other}' 不能同时使用", why: "{reason}", fix: "请从 WITH 子句中去掉其中一个"
    },
};

/// An option that names a column which the table does not have.
pub const UNKNOWN_COLUMN: ErrorCode = ErrorCode {
    code: "HW-C023",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' names the unknown column '{column}'",
        why: "the table has these physical columns: {known}",
        fix: "did you mean {nearest}?",
    },
    zh: Text {
        what: "选项 '{key}' 指定了不存在的列 '{column}'",
        why: "表的物理列有：{known}",
        fix: "是否想写 {nearest}？",
    },
};

/// A way of generating that does not fit a column's type.
pub const DOES_NOT_FIT: ErrorCode = ErrorCode {
    code: "HW-C024",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{key}' = '{value}' does not fit column '{column}' of type {type}",
        why: "it fits {fits}",
        fix: "change the type of the column, or the option",
    },
    zh: Text {
        what: "'{key}' = '{value}' 不适用于类型为 {type} 的列 '{column}'",
        why: "它适用于 {fits}",
        fix: "请修改列的类型或该选项",
    },
};

/// A faker expression that nobody knows.
pub const UNKNOWN_EXPRESSION: ErrorCode = ErrorCode {
    code: "HW-C025",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' holds an expression that cannot be used: {expression}",
        why: "{cause}",
        fix: "did you mean {nearest}?",
    },
    zh: Text {
        what: "选项 '{key}' 中的表达式不可用：{expression}", why: "{cause}", fix: "是否想写 {nearest}？"
    },
};

/// A generated changelog whose keys can repeat.
pub const KEY_NOT_UNIQUE: ErrorCode = ErrorCode {
    code: "HW-C026",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the primary key of {table} can repeat",
        why: "a changelog inserts every key once, so at least one key column must be a sequence",
        fix: "add 'fields.{column}.kind' = 'sequence' and 'fields.{column}.start' = '1'",
    },
    zh: Text {
        what: "{table} 的主键可能重复",
        why: "变更日志中每个主键只插入一次，因此至少一个主键列必须是序列",
        fix: "请加上 'fields.{column}.kind' = 'sequence' 和 'fields.{column}.start' = '1'",
    },
};

/// More rows held back than fit into memory.
pub const TOO_MUCH_DISORDER: ErrorCode = ErrorCode {
    code: "HW-C027",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'disorder.max' and 'late.by' hold back too many rows",
        why: "with one row every {step} they hold back {rows} rows; the limit is {limit}",
        fix: "make the delays shorter, or 'event-time.step' longer",
    },
    zh: Text {
        what: "'disorder.max' 与 'late.by' 扣留的行太多",
        why: "每 {step} 一行时会扣留 {rows} 行；上限为 {limit}",
        fix: "请缩短延迟，或增大 'event-time.step'",
    },
};

/// A start time that cannot be read.
pub const BAD_START: ErrorCode = ErrorCode {
    code: "HW-C028",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' does not take '{value}'",
        why: "it takes a point in time",
        fix: "write it as '2024-11-20 15:00:00' or '2024-11-20 15:00:00.123'",
    },
    zh: Text {
        what: "选项 '{key}' 不接受 '{value}'",
        why: "它接受一个时间点",
        fix: "请写成 '2024-11-20 15:00:00' 或 '2024-11-20 15:00:00.123'",
    },
};

/// A table that can only be read, or only be written.
pub const WRONG_DIRECTION: ErrorCode = ErrorCode {
    code: "HW-C029",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{owner} cannot be used as a {direction}",
        why: "table {table} is declared with it",
        fix: "use another connector for this table",
    },
    zh: Text {
        what: "{owner} 不能用作 {direction}", why: "表 {table} 使用了它", fix: "请为该表换用其他连接器"
    },
};

/// Every code of the connectors, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[
    &UNKNOWN_FORMAT,
    &NOT_RUNNABLE,
    &BAD_PATTERN,
    &FILE_SHRANK,
    &FILE_REPLACED,
    &LINE_TOO_LONG,
    &SINK_PATH_IS_FILE,
    &COMMIT_LOST,
    &PARTITION_VALUE,
    &BAD_POSITION,
    &SPLIT_GONE,
    &NEEDS_PRIMARY_KEY,
    &NEEDS_OPTION,
    &OPTIONS_CLASH,
    &UNKNOWN_COLUMN,
    &DOES_NOT_FIT,
    &UNKNOWN_EXPRESSION,
    &KEY_NOT_UNIQUE,
    &TOO_MUCH_DISORDER,
    &BAD_START,
    &WRONG_DIRECTION,
];
