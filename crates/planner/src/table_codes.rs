//! What can be wrong with the definition of a table.

use base::{Domain, ErrorCode, Text};

/// A table without a connector.
pub const MISSING_CONNECTOR: ErrorCode = ErrorCode {
    code: "HW-P013",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} names no connector",
        why: "the WITH clause has no 'connector' option",
        fix: "add 'connector' = '...', one of: {known}",
    },
    zh: Text {
        what: "表 {table} 没有指定连接器",
        why: "WITH 子句中没有 'connector' 选项",
        fix: "请加上 'connector' = '...'，可选：{known}",
    },
};

/// A connector of Flink that reads the log of a database.
pub const CDC_CONNECTOR: ErrorCode = ErrorCode {
    code: "HW-P062",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "this version does not support connector '{connector}' yet",
        why: "it has the connectors: {known}",
        fix: "let Debezium, Canal or Maxwell write the changes to Kafka and read them there: 'connector' = 'kafka', \
              'format' = 'debezium-json' ('canal-json', 'maxwell-json')",
    },
    zh: Text {
        what: "当前版本尚不支持连接器 '{connector}'",
        why: "当前版本的连接器有：{known}",
        fix: "请用 Debezium、Canal 或 Maxwell 将变更写入 Kafka 后读取：'connector' = 'kafka'，\
              'format' = 'debezium-json'（或 'canal-json'、'maxwell-json'）",
    },
};

/// Another connector of Flink.
pub const FLINK_CONNECTOR: ErrorCode = ErrorCode {
    code: "HW-P063",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "this version does not support connector '{connector}' yet",
        why: "it has the connectors: {known}",
        fix: "use one of them: what is written to Kafka or to files can be loaded from there",
    },
    zh: Text {
        what: "当前版本尚不支持连接器 '{connector}'",
        why: "当前版本的连接器有：{known}",
        fix: "请使用其中之一：写入 Kafka 或文件的数据可再由该系统导入",
    },
};

/// An unknown connector.
pub const UNKNOWN_CONNECTOR: ErrorCode = ErrorCode {
    code: "HW-P014",
    domain: Domain::User,
    retry: false,
    en: Text { what: "unknown connector '{connector}'", why: "this build has the connectors: {known}", fix: "{hint}" },
    zh: Text {
        what: "未知的连接器 '{connector}'", why: "当前版本支持的连接器：{known}", fix: "{hint}"
    },
};

/// An option value that is still a placeholder.
pub const PLACEHOLDER_OPTION: ErrorCode = ErrorCode {
    code: "HW-P015",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' of table {table} is still a placeholder: '{value}'",
        why: "a template was pasted without its real values",
        fix: "put the real value in, or a variable that -D sets",
    },
    zh: Text {
        what: "表 {table} 的选项 '{key}' 仍是占位符：'{value}'",
        why: "粘贴模板后没有填入真实值",
        fix: "请填入真实值，或使用由 -D 设置的变量",
    },
};

/// A metadata key that the connector does not have.
pub const UNKNOWN_METADATA: ErrorCode = ErrorCode {
    code: "HW-P016",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} has no metadata '{key}'",
        why: "connector '{connector}' offers: {known}",
        fix: "{hint}",
    },
    zh: Text {
        what: "表 {table} 没有元数据 '{key}'", why: "连接器 '{connector}' 提供：{known}", fix: "{hint}"
    },
};

/// A metadata column whose type does not fit.
pub const METADATA_TYPE: ErrorCode = ErrorCode {
    code: "HW-P017",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "metadata column {column} cannot be {declared}",
        why: "'{key}' is {actual}",
        fix: "declare it as {actual}",
    },
    zh: Text {
        what: "元数据列 {column} 的类型不能是 {declared}",
        why: "'{key}' 的类型是 {actual}",
        fix: "请声明为 {actual}",
    },
};

/// A metadata column that cannot be written.
pub const METADATA_READ_ONLY: ErrorCode = ErrorCode {
    code: "HW-P018",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "metadata column {column} cannot be written",
        why: "'{key}' of connector '{connector}' is read-only",
        fix: "add VIRTUAL: {column} {declared} METADATA FROM '{key}' VIRTUAL",
    },
    zh: Text {
        what: "元数据列 {column} 不可写",
        why: "连接器 '{connector}' 的 '{key}' 是只读的",
        fix: "请加上 VIRTUAL：{column} {declared} METADATA FROM '{key}' VIRTUAL",
    },
};

/// Two metadata columns of one key.
pub const DUPLICATE_METADATA: ErrorCode = ErrorCode {
    code: "HW-P056",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "columns {first} and {second} both read metadata '{key}'",
        why: "a metadata key belongs to one column",
        fix: "make one of them a computed column: {second} AS CAST({first} AS ...)",
    },
    zh: Text {
        what: "列 {first} 和 {second} 都读取元数据 '{key}'",
        why: "一个元数据 key 只能对应一列",
        fix: "请将其中一列改为计算列：{second} AS CAST({first} AS ...)",
    },
};

/// A column declared twice.
pub const DUPLICATE_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P019",
    domain: Domain::User,
    retry: false,
    en: Text { what: "column {name} is declared twice", why: "", fix: "rename one of them" },
    zh: Text { what: "列 {name} 重复声明", why: "", fix: "请修改其中一个的名称" },
};

/// A primary key without NOT ENFORCED.
pub const ENFORCED_KEY: ErrorCode = ErrorCode {
    code: "HW-P020",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the PRIMARY KEY of table {table} must be NOT ENFORCED",
        why: "the data is outside: nobody can enforce the key",
        fix: "write PRIMARY KEY ({columns}) NOT ENFORCED",
    },
    zh: Text {
        what: "表 {table} 的 PRIMARY KEY 必须是 NOT ENFORCED",
        why: "数据在外部系统中，无法强制主键约束",
        fix: "请写成 PRIMARY KEY ({columns}) NOT ENFORCED",
    },
};

/// A primary key column that cannot be one.
pub const KEY_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P021",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "column {name} cannot be part of the PRIMARY KEY of table {table}",
        why: "{why}",
        fix: "a key names physical columns of the table",
    },
    zh: Text {
        what: "列 {name} 不能作为表 {table} 的 PRIMARY KEY", why: "{why}", fix: "主键只能由表的物理列组成"
    },
};

/// A WATERMARK on a column that does not exist.
pub const WATERMARK_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P022",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "WATERMARK refers to column {name}, which table {table} does not have",
        why: "columns: {columns}",
        fix: "write WATERMARK FOR one of them, or add the column: {name} TIMESTAMP(3)",
    },
    zh: Text {
        what: "WATERMARK 引用的列 {name} 在表 {table} 中不存在",
        why: "可用的列：{columns}",
        fix: "请改为其中一列，或增加列：{name} TIMESTAMP(3)",
    },
};

/// A WATERMARK on a column that is no timestamp.
pub const WATERMARK_TYPE: ErrorCode = ErrorCode {
    code: "HW-P023",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "WATERMARK needs a TIMESTAMP or TIMESTAMP_LTZ column, but {name} is {type}",
        why: "a watermark is a point in time",
        fix: "{fix}",
    },
    zh: Text {
        what: "WATERMARK 需要 TIMESTAMP 或 TIMESTAMP_LTZ 列，但 {name} 是 {type}",
        why: "watermark 是一个时间点",
        fix: "{fix}",
    },
};

/// A WATERMARK expression that is no timestamp.
pub const WATERMARK_EXPRESSION: ErrorCode = ErrorCode {
    code: "HW-P024",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the WATERMARK expression of {name} is {type}, but must be a timestamp",
        why: "",
        fix: "for example WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND",
    },
    zh: Text {
        what: "{name} 的 WATERMARK 表达式类型是 {type}，但必须是时间戳",
        why: "",
        fix: "例如 WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND",
    },
};

/// A partition column that does not exist.
pub const PARTITION_COLUMN: ErrorCode = ErrorCode {
    code: "HW-P025",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "PARTITIONED BY names column {name}, which table {table} does not have",
        why: "columns: {columns}",
        fix: "",
    },
    zh: Text {
        what: "PARTITIONED BY 引用的列 {name} 在表 {table} 中不存在", why: "可用的列：{columns}", fix: ""
    },
};

/// Watermark options without a watermark.
pub const WATERMARK_OPTION: ErrorCode = ErrorCode {
    code: "HW-P058",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "option '{key}' has no effect on table {table}",
        why: "the table has no WATERMARK clause, so it has no event time",
        fix: "add to CREATE TABLE {table}: WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND",
    },
    zh: Text {
        what: "选项 '{key}' 对表 {table} 没有作用",
        why: "该表没有 WATERMARK 子句，因而没有事件时间",
        fix: "请在 CREATE TABLE {table} 中加上：WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND",
    },
};

/// Every code of this file.
pub const CODES: &[&ErrorCode] = &[
    &MISSING_CONNECTOR,
    &UNKNOWN_CONNECTOR,
    &CDC_CONNECTOR,
    &FLINK_CONNECTOR,
    &PLACEHOLDER_OPTION,
    &UNKNOWN_METADATA,
    &METADATA_TYPE,
    &METADATA_READ_ONLY,
    &DUPLICATE_METADATA,
    &DUPLICATE_COLUMN,
    &ENFORCED_KEY,
    &KEY_COLUMN,
    &WATERMARK_COLUMN,
    &WATERMARK_TYPE,
    &WATERMARK_EXPRESSION,
    &PARTITION_COLUMN,
    &WATERMARK_OPTION,
];
