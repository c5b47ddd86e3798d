//! Options of connectors `kafka` and `upsert-kafka`: Flink's names and values.

use crate::declared::{self, SCAN_PARALLELISM, SINK_PARALLELISM, option, required};
use base::{OptionKind, OptionSpec};
use std::sync::LazyLock;

/// What the options of the client begin with.
pub(crate) const PROPERTIES_PREFIX: &str = "properties.";

pub(crate) const TOPIC: OptionSpec = option(
    "topic",
    OptionKind::Text,
    None,
    "the topic, or several with ; between them (sources only)",
    "主题；数据源可写多个，用 ; 分隔",
);
pub(crate) const TOPIC_PATTERN: OptionSpec = option(
    "topic-pattern",
    OptionKind::Text,
    None,
    "a regular expression for the names of the topics to read",
    "要读取的主题名的正则表达式",
);
pub(crate) const SERVERS: OptionSpec = required(
    "properties.bootstrap.servers",
    OptionKind::Text,
    "where the brokers are: host:port, several with commas",
    "broker 地址：host:port，多个用逗号分隔",
);
pub(crate) const GROUP_ID: OptionSpec = option(
    "properties.group.id",
    OptionKind::Text,
    None,
    "the consumer group; needed for 'group-offsets'",
    "消费组；'group-offsets' 需要它",
);
pub(crate) const PROPERTIES: OptionSpec =
    option("properties.*", OptionKind::Text, None, "any setting of the Kafka client", "Kafka 客户端的任意配置");
pub(crate) const FORMAT: OptionSpec = option(
    "format",
    OptionKind::Text,
    None,
    "the format of the values, as 'value.format'",
    "消息值的格式，同 'value.format'",
);
pub(crate) const VALUE_FORMAT: OptionSpec = option(
    "value.format",
    OptionKind::Text,
    None,
    "the format of the values; its options begin with 'value.', for example 'value.json.ignore-parse-errors'",
    "消息值的格式；其选项以 'value.' 开头，例如 'value.json.ignore-parse-errors'",
);
pub(crate) const KEY_FORMAT: OptionSpec = option(
    "key.format",
    OptionKind::Text,
    None,
    "the format of the keys; its options begin with 'key.'",
    "消息键的格式；其选项以 'key.' 开头",
);
pub(crate) const KEY_FIELDS: OptionSpec = option(
    "key.fields",
    OptionKind::Text,
    None,
    "the columns that the keys hold, with ; between them",
    "消息键包含的列，用 ; 分隔",
);
pub(crate) const KEY_PREFIX: OptionSpec = option(
    "key.fields-prefix",
    OptionKind::Text,
    Some(""),
    "what the names of key columns begin with in the table, and do not in the messages",
    "键列在表中的名称前缀，消息中没有该前缀",
);
pub(crate) const FIELDS_INCLUDE: OptionSpec = option(
    "value.fields-include",
    OptionKind::OneOf(&["ALL", "EXCEPT_KEY"]),
    Some("ALL"),
    "whether the values hold the key columns as well",
    "消息值是否也包含键列",
);
pub(crate) const STARTUP_MODE: OptionSpec = option(
    "scan.startup.mode",
    OptionKind::OneOf(&["earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"]),
    Some("group-offsets"),
    "where reading begins when there is no checkpoint",
    "没有检查点时从何处开始读取",
);
pub(crate) const STARTUP_OFFSETS: OptionSpec = option(
    "scan.startup.specific-offsets",
    OptionKind::Text,
    None,
    "offsets to begin at: partition:0,offset:42;partition:1,offset:300",
    "起始位点：partition:0,offset:42;partition:1,offset:300",
);
pub(crate) const STARTUP_TIMESTAMP: OptionSpec = option(
    "scan.startup.timestamp-millis",
    OptionKind::Integer,
    None,
    "milliseconds since 1970 (UTC) to begin at",
    "起始时间，1970 年以来的毫秒数（UTC）",
);
pub(crate) const BOUNDED_MODE: OptionSpec = option(
    "scan.bounded.mode",
    OptionKind::OneOf(&["unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"]),
    Some("unbounded"),
    "where reading ends",
    "读取到何处结束",
);
pub(crate) const BOUNDED_OFFSETS: OptionSpec = option(
    "scan.bounded.specific-offsets",
    OptionKind::Text,
    None,
    "offsets to end at: partition:0,offset:42;partition:1,offset:300",
    "结束位点：partition:0,offset:42;partition:1,offset:300",
);
pub(crate) const BOUNDED_TIMESTAMP: OptionSpec = option(
    "scan.bounded.timestamp-millis",
    OptionKind::Integer,
    None,
    "milliseconds since 1970 (UTC) to end at",
    "结束时间，1970 年以来的毫秒数（UTC）",
);
pub(crate) const DISCOVERY: OptionSpec = option(
    "scan.topic-partition-discovery.interval",
    OptionKind::Duration,
    Some("5 min"),
    "how often to look for new partitions; 0 never looks",
    "检查新分区的间隔；0 表示不检查",
);
pub(crate) const PARTITIONER: OptionSpec = option(
    "sink.partitioner",
    OptionKind::OneOf(&["default", "fixed", "round-robin"]),
    Some("default"),
    "how rows are spread over partitions: default, fixed or round-robin",
    "行如何分布到分区：default、fixed 或 round-robin",
);
pub(crate) const DELIVERY_GUARANTEE: OptionSpec = option(
    "sink.delivery-guarantee",
    OptionKind::OneOf(&["at-least-once", "exactly-once", "none"]),
    Some("at-least-once"),
    "what the sink promises when a job fails and recovers",
    "作业失败恢复时 sink 的保证",
);
pub(crate) const TRANSACTION_PREFIX: OptionSpec = option(
    "sink.transactional-id-prefix",
    OptionKind::Text,
    None,
    "what the sink's transactional ids begin with; needed for 'exactly-once', another one for every job",
    "sink 事务 id 的前缀；'exactly-once' 需要它，每个作业不同",
);
pub(crate) const EXACTLY_ONCE_BYTES: OptionSpec = option(
    "sink.exactly-once.max-bytes",
    OptionKind::Memory,
    Some("1 gb"),
    "how many bytes of rows may wait in memory for the commit of their checkpoint ('exactly-once' only)",
    "内存中最多可有多少字节的行等待其检查点提交（仅 'exactly-once'）",
);
pub(crate) const FLUSH_ROWS: OptionSpec = option(
    "sink.buffer-flush.max-rows",
    OptionKind::Integer,
    Some("0"),
    "changes gathered before they are sent; 0 sends at once",
    "发送前缓存的变更数；0 表示立即发送",
);
pub(crate) const FLUSH_INTERVAL: OptionSpec = option(
    "sink.buffer-flush.interval",
    OptionKind::Duration,
    Some("0 ms"),
    "how long changes are gathered before they are sent; 0 sends at once",
    "发送前缓存变更的最长时间；0 表示立即发送",
);

/// Options of `kafka`.
pub(crate) static OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| {
    declared::of_source(&[
        TOPIC,
        TOPIC_PATTERN,
        SERVERS,
        GROUP_ID,
        PROPERTIES,
        FORMAT,
        VALUE_FORMAT,
        KEY_FORMAT,
        KEY_FIELDS,
        KEY_PREFIX,
        FIELDS_INCLUDE,
        STARTUP_MODE,
        STARTUP_OFFSETS,
        STARTUP_TIMESTAMP,
        BOUNDED_MODE,
        BOUNDED_OFFSETS,
        BOUNDED_TIMESTAMP,
        DISCOVERY,
        SCAN_PARALLELISM,
        PARTITIONER,
        DELIVERY_GUARANTEE,
        TRANSACTION_PREFIX,
        EXACTLY_ONCE_BYTES,
        SINK_PARALLELISM,
    ])
});

/// Options of `upsert-kafka`.
pub(crate) static UPSERT_OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| {
    declared::of_source(&[
        OptionSpec { required: true, ..TOPIC },
        SERVERS,
        GROUP_ID,
        PROPERTIES,
        OptionSpec { required: true, ..VALUE_FORMAT },
        OptionSpec { required: true, ..KEY_FORMAT },
        KEY_PREFIX,
        FIELDS_INCLUDE,
        BOUNDED_MODE,
        BOUNDED_OFFSETS,
        BOUNDED_TIMESTAMP,
        SCAN_PARALLELISM,
        FLUSH_ROWS,
        FLUSH_INTERVAL,
        DELIVERY_GUARANTEE,
        TRANSACTION_PREFIX,
        EXACTLY_ONCE_BYTES,
        SINK_PARALLELISM,
    ])
});
