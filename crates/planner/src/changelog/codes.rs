//! What can be wrong between the changes that a query makes and the sink that takes them.

use base::{Domain, ErrorCode, Text};

/// An updating query into a sink that only appends.
pub const APPEND_ONLY_SINK: ErrorCode = ErrorCode {
    code: "HW-P520",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} only takes inserts, but the query updates its results",
        why: "{operator} gives the changes {changelog}; connector '{connector}' cannot take back a row",
        fix: "write into a connector that takes updates by key (for example 'upsert-kafka' or 'jdbc', with a PRIMARY KEY),\n\
              or aggregate over a window: its results are final",
    },
    zh: Text {
        what: "表 {table} 只接受插入，但该查询会更新结果",
        why: "{operator} 产生变更 {changelog}；连接器 '{connector}' 无法撤回已写出的行",
        fix: "请写入支持按主键更新的连接器（例如声明了 PRIMARY KEY 的 'upsert-kafka' 或 'jdbc'），\n\
              或改用窗口聚合，其结果不再变化",
    },
};

/// An upsert sink without a key.
pub const UPSERT_SINK_KEY: ErrorCode = ErrorCode {
    code: "HW-P521",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} needs a primary key to be written",
        why: "connector '{connector}' writes changes by key",
        fix: "add to CREATE TABLE {table}: PRIMARY KEY ({columns}) NOT ENFORCED",
    },
    zh: Text {
        what: "写入表 {table} 需要主键",
        why: "连接器 '{connector}' 按主键写入变更",
        fix: "请在 CREATE TABLE {table} 中加上：PRIMARY KEY ({columns}) NOT ENFORCED",
    },
};

/// A sink key that is more than the query's key (warning).
pub const WIDER_SINK_KEY: ErrorCode = ErrorCode {
    code: "HW-P522",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} has the primary key ({sink_key}), but the query has one row per {query_key}",
        why: "whenever a row of the query moves to another ({sink_key}), the row with the earlier key is deleted \
              (a tombstone in Kafka): table {table} keeps only the latest ({sink_key}) of each {query_key}",
        fix: "to keep earlier rows, group by the key of the table: {suggestion}",
    },
    zh: Text {
        what: "表 {table} 的主键是 ({sink_key})，而查询的每个 {query_key} 只有一行",
        why: "当查询的一行换到另一个 ({sink_key}) 时，旧键的行会被删除（在 Kafka 中是 tombstone）：\
              表 {table} 对每个 {query_key} 只保留最新的 ({sink_key})",
        fix: "若要保留之前的行，请按表的主键分组：{suggestion}",
    },
};

/// A query with another key than the sink's, whose rows are not kept (warning).
pub const OTHER_QUERY_KEY: ErrorCode = ErrorCode {
    code: "HW-P523",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} has the primary key ({sink_key}), but the query has the key ({query_key})",
        why: "several rows of the query may share a ({sink_key}): the last change of a key wins, and deleting one of them \
              deletes all",
        fix: "SET 'table.exec.sink.upsert-materialize' = 'AUTO' keeps them all, so that the one before returns",
    },
    zh: Text {
        what: "表 {table} 的主键是 ({sink_key})，而查询的键是 ({query_key})",
        why: "查询的多行可能具有相同的 ({sink_key})：同一键以最后一次变更为准，删除其一会全部删除",
        fix: "设置 SET 'table.exec.sink.upsert-materialize' = 'AUTO' 可保留全部行，使前一行得以恢复",
    },
};

/// A query with another key than the sink's, whose rows are kept (warning).
pub const MATERIALIZED_SINK: ErrorCode = ErrorCode {
    code: "HW-P526",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} has the primary key ({sink_key}), but the query has the key ({query_key})",
        why: "several rows of the query may share a ({sink_key}): all of them are kept as state, the last one shows, and the \
              one before returns when it goes",
        fix: "give the table the key of the query; declare PRIMARY KEY (...) NOT ENFORCED in the tables that are read if they \
              have one; or SET 'table.exec.sink.upsert-materialize' = 'NONE' if no two rows ever share a key",
    },
    zh: Text {
        what: "表 {table} 的主键是 ({sink_key})，而查询的键是 ({query_key})",
        why: "查询的多行可能具有相同的 ({sink_key})：它们全部作为状态保留，显示最后一行，该行被撤回时恢复前一行",
        fix: "请让该表使用查询的键；若读取的表有键，请声明 PRIMARY KEY (...) NOT ENFORCED；\
              若确定不会有两行共享同一键，可设置 SET 'table.exec.sink.upsert-materialize' = 'NONE'",
    },
};

/// A function without a fixed value on the way of updates (warning, or error if the session says so).
pub const NON_DETERMINISTIC: ErrorCode = ErrorCode {
    code: "HW-P524",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{expression} gives another value when an old row is computed again",
        why: "the query takes rows back, and {reader} knows a row by that value: the old row is not found, and stays",
        fix: "take the value from the source (an event time or metadata column), or compute it behind the last aggregate and outside of the key;\n\
              SET 'table.optimizer.non-deterministic-update.strategy' = 'TRY_RESOLVE' refuses such queries",
    },
    zh: Text {
        what: "{expression} 在重新计算旧行时会得到不同的值",
        why: "该查询会撤回已发出的行，而 {reader} 按该值识别行：找不到旧行，旧行会残留",
        fix: "请改用来源中的值（事件时间或元数据列），或在最后一个聚合之后、主键之外计算；\n\
              SET 'table.optimizer.non-deterministic-update.strategy' = 'TRY_RESOLVE' 会拒绝此类查询",
    },
};

/// Every code of this file.
pub const CODES: &[&ErrorCode] =
    &[&APPEND_ONLY_SINK, &UPSERT_SINK_KEY, &WIDER_SINK_KEY, &OTHER_QUERY_KEY, &MATERIALIZED_SINK, &NON_DETERMINISTIC];
