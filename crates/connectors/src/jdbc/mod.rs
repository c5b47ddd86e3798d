//! Connector `jdbc`: tables of a database. Declared, checked and planned; it does not run in this version.

use crate::codes;
use crate::declared::{self, SINK_PARALLELISM, option, required};
use crate::not_runnable::NotRunnable;
use base::connector::*;
use base::lookup::{LookupProvider, LookupSpec};
use base::{ChangelogMode, Error, OptionKind, OptionSpec, Result, RowType, TableDefinition};
use std::sync::Arc;

const OWNER: &str = "connector 'jdbc'";

const URL: OptionSpec = required(
    "url",
    OptionKind::Text,
    "the database: jdbc:mysql://host:port/database or jdbc:postgresql://host:port/database",
    "数据库地址：jdbc:mysql://主机:端口/库名 或 jdbc:postgresql://主机:端口/库名",
);
const TABLE_NAME: OptionSpec = required("table-name", OptionKind::Text, "the table", "表名");
const DRIVER: OptionSpec = option(
    "driver",
    OptionKind::Text,
    None,
    "accepted so that scripts run unchanged; the url says which database it is",
    "为兼容脚本而接受；数据库类型由 url 决定",
);
const USERNAME: OptionSpec = option("username", OptionKind::Text, None, "the user", "用户名");
const PASSWORD: OptionSpec = option("password", OptionKind::Text, None, "the user's password", "密码");
const COMPATIBLE_MODE: OptionSpec = option(
    "compatible-mode",
    OptionKind::Text,
    None,
    "the database that another one behaves like",
    "兼容模式所模拟的数据库",
);
const CONNECTION_TIMEOUT: OptionSpec = option(
    "connection.max-retry-timeout",
    OptionKind::Duration,
    Some("60 s"),
    "how long connecting is tried",
    "尝试连接的最长时间",
);
const PARTITION_COLUMN: OptionSpec = option(
    "scan.partition.column",
    OptionKind::Text,
    None,
    "the column by which a scan is divided; needs the other scan.partition options",
    "划分扫描的列；需要其他 scan.partition 选项",
);
const PARTITION_NUM: OptionSpec =
    option("scan.partition.num", OptionKind::Integer, None, "the number of parts", "分片数");
const PARTITION_LOWER: OptionSpec = option(
    "scan.partition.lower-bound",
    OptionKind::Integer,
    None,
    "the smallest value of the first part",
    "第一个分片的最小值",
);
const PARTITION_UPPER: OptionSpec = option(
    "scan.partition.upper-bound",
    OptionKind::Integer,
    None,
    "the largest value of the last part",
    "最后一个分片的最大值",
);
const FETCH_SIZE: OptionSpec = option(
    "scan.fetch-size",
    OptionKind::Integer,
    Some("0"),
    "rows fetched at once; 0 leaves it to the database",
    "一次取回的行数；0 表示由数据库决定",
);
const AUTO_COMMIT: OptionSpec = option(
    "scan.auto-commit",
    OptionKind::Boolean,
    Some("true"),
    "whether a scan runs without a transaction",
    "扫描是否在事务之外执行",
);
const LOOKUP_CACHE: OptionSpec = option(
    "lookup.cache",
    OptionKind::OneOf(&["NONE", "PARTIAL"]),
    Some("NONE"),
    "whether looked-up rows are kept",
    "是否缓存查到的行",
);
const CACHE_ROWS: OptionSpec = option(
    "lookup.cache.max-rows",
    OptionKind::Integer,
    None,
    "the most rows kept by the lookup cache (older name of 'lookup.partial-cache.max-rows')",
    "维表缓存的最大行数（'lookup.partial-cache.max-rows' 的旧名）",
);
const CACHE_TTL: OptionSpec = option(
    "lookup.cache.ttl",
    OptionKind::Duration,
    None,
    "how long the lookup cache keeps a row (older name of 'lookup.partial-cache.expire-after-write')",
    "维表缓存的保留时间（'lookup.partial-cache.expire-after-write' 的旧名）",
);
const CACHE_MISSING: OptionSpec = option(
    "lookup.cache.caching-missing-key",
    OptionKind::Boolean,
    Some("true"),
    "whether keys without a row are kept (older name of 'lookup.partial-cache.cache-missing-key')",
    "是否缓存查不到的键（'lookup.partial-cache.cache-missing-key' 的旧名）",
);
const PARTIAL_ROWS: OptionSpec = option(
    "lookup.partial-cache.max-rows",
    OptionKind::Integer,
    None,
    "the most rows kept by the lookup cache",
    "维表缓存的最大行数",
);
const PARTIAL_WRITE: OptionSpec = option(
    "lookup.partial-cache.expire-after-write",
    OptionKind::Duration,
    None,
    "how long the lookup cache keeps a row after it was read from the database",
    "行写入缓存后的保留时间",
);
const PARTIAL_ACCESS: OptionSpec = option(
    "lookup.partial-cache.expire-after-access",
    OptionKind::Duration,
    None,
    "how long the lookup cache keeps a row after it was last used",
    "行最后一次被使用后的保留时间",
);
const PARTIAL_MISSING: OptionSpec = option(
    "lookup.partial-cache.cache-missing-key",
    OptionKind::Boolean,
    Some("true"),
    "whether keys without a row are kept",
    "是否缓存查不到的键",
);
const LOOKUP_RETRIES: OptionSpec = option(
    "lookup.max-retries",
    OptionKind::Integer,
    Some("3"),
    "how often a failed lookup is tried again",
    "查询失败的重试次数",
);
const FLUSH_ROWS: OptionSpec = option(
    "sink.buffer-flush.max-rows",
    OptionKind::Integer,
    Some("100"),
    "changes gathered before they are written",
    "写出前缓存的变更数",
);
const FLUSH_INTERVAL: OptionSpec = option(
    "sink.buffer-flush.interval",
    OptionKind::Duration,
    Some("1 s"),
    "how long changes are gathered before they are written",
    "写出前缓存变更的最长时间",
);
const SINK_RETRIES: OptionSpec = option(
    "sink.max-retries",
    OptionKind::Integer,
    Some("3"),
    "how often a failed write is tried again",
    "写出失败的重试次数",
);
const PROPERTIES: OptionSpec =
    option("properties.*", OptionKind::Text, None, "further settings of the connection", "连接的其他配置");
const OPTIONS: &[OptionSpec] = &[
    URL,
    TABLE_NAME,
    DRIVER,
    USERNAME,
    PASSWORD,
    COMPATIBLE_MODE,
    CONNECTION_TIMEOUT,
    PARTITION_COLUMN,
    PARTITION_NUM,
    PARTITION_LOWER,
    PARTITION_UPPER,
    FETCH_SIZE,
    AUTO_COMMIT,
    LOOKUP_CACHE,
    CACHE_ROWS,
    CACHE_TTL,
    CACHE_MISSING,
    PARTIAL_ROWS,
    PARTIAL_WRITE,
    PARTIAL_ACCESS,
    PARTIAL_MISSING,
    LOOKUP_RETRIES,
    FLUSH_ROWS,
    FLUSH_INTERVAL,
    SINK_RETRIES,
    SINK_PARALLELISM,
    PROPERTIES,
];
/// Databases that a url can name.
const DATABASES: [&str; 2] = ["mysql", "postgresql"];

/// The factory.
#[derive(Debug)]
pub(crate) struct Jdbc;

impl ConnectorFactory for Jdbc {
    fn name(&self) -> &'static str {
        "jdbc"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn describe(&self, table: &TableDefinition, context: &ConnectorContext) -> Result<TableDescription> {
        check(table, context)?;
        let keyed = !table.primary_key.is_empty();
        Ok(TableDescription {
            source: Some(SourceDescription {
                changelog: ChangelogMode::APPEND,
                bounded: true,
                replayable: false,
                metadata: Vec::new(),
            }),
            sink: Some(SinkDescription {
                input: if keyed { SinkInput::Upsert } else { SinkInput::Append },
                guarantee: if keyed { Guarantee::ExactlyOnce } else { Guarantee::AtLeastOnce },
                guarantee_reason: if keyed {
                    "changes are upserts on the primary key: written twice they leave the same rows"
                } else {
                    "inserts since the last checkpoint are written again after a failure; a primary key changes that"
                },
                parallelism_max: declared::positive(&table.options, &SINK_PARALLELISM)?,
            }),
            warnings: Vec::new(),
        })
    }

    fn source(
        &self,
        table: &TableDefinition,
        _: &ScanSpec,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>> {
        check(table, context)?;
        Ok(Arc::new(NotRunnable("jdbc")))
    }

    fn sink(&self, table: &TableDefinition, _: &RowType, context: &ConnectorContext) -> Result<Arc<dyn SinkProvider>> {
        check(table, context)?;
        Ok(Arc::new(NotRunnable("jdbc")))
    }

    fn lookup(
        &self,
        table: &TableDefinition,
        _: &LookupSpec,
        context: &ConnectorContext,
    ) -> Result<Option<Arc<dyn LookupProvider>>> {
        check(table, context)?;
        Ok(Some(Arc::new(NotRunnable("jdbc"))))
    }
}

fn check(table: &TableDefinition, context: &ConnectorContext) -> Result<()> {
    let options = &table.options;
    declared::check(table, OPTIONS, &[], OWNER, context)?;
    let mut errors = Vec::new();
    let url = options.require(&URL, OWNER)?;
    let database = url.strip_prefix("jdbc:").and_then(|rest| rest.split_once("://"));
    if !database.is_some_and(|(name, rest)| DATABASES.contains(&name) && !rest.is_empty()) {
        let expected = "jdbc:mysql://host:port/database or jdbc:postgresql://host:port/database";
        errors.push(declared::bad_value(URL.key, url, expected));
    }
    let pairs = [(&USERNAME, &PASSWORD), (&PASSWORD, &USERNAME)];
    let parts = [&PARTITION_COLUMN, &PARTITION_NUM, &PARTITION_LOWER, &PARTITION_UPPER];
    let all_parts = parts.iter().flat_map(|key| parts.iter().map(move |other| (*key, *other)));
    let mut missing: Vec<&str> = Vec::new();
    for (key, other) in pairs.into_iter().chain(all_parts) {
        if options.get(key.key).is_some() && options.get(other.key).is_none() && !missing.contains(&other.key) {
            missing.push(other.key);
            errors.push(Error::new(
                &codes::NEEDS_OPTION,
                &[("key", &key.key), ("other", &other.key), ("purpose", &other.en)],
            ));
        }
    }
    if let Some(column) = options.get(PARTITION_COLUMN.key)
        && !table.physical().any(|known| known.name == column)
    {
        errors.push(declared::unknown_column(table, PARTITION_COLUMN.key, column));
    }
    Error::all(errors).map_or(Ok(()), Err)
}

#[cfg(test)]
#[path = "jdbc_tests.rs"]
mod tests;
