//! Options of connector `filesystem`, parsed once.

use super::OWNER;
use crate::codes;
use crate::declared::{self, FormatSlot, SCAN_PARALLELISM, SINK_PARALLELISM, TableFormat, option, required};
use base::connector::ConnectorContext;
use base::{Error, OptionKind, OptionSpec, Result, TableDefinition};
use regex::Regex;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

pub(super) const PATH: OptionSpec = required(
    "path",
    OptionKind::Text,
    "a file or folder, or a file:// URL; a relative path starts where highwater was started. A sink always writes a \
     folder of part files, also if the path ends in .jsonl or .csv",
    "文件或目录，也可以是 file:// URL；相对路径从启动 highwater 的目录算起。sink 总是写出包含多个 part 文件的目录，\
     即使路径以 .jsonl 或 .csv 结尾",
);
pub(super) const FORMAT: OptionSpec = required(
    "format",
    OptionKind::Text,
    "the format of each line, for example 'json' or 'csv'",
    "每一行的格式，例如 'json' 或 'csv'",
);
const MONITOR_INTERVAL: OptionSpec = option(
    "source.monitor-interval",
    OptionKind::Duration,
    None,
    "how often to look for new files and for lines added to known files; the source never ends then. Not set: the \
     files that are there at the start are read once",
    "检查新文件和已有文件新增行的间隔；设置后数据源不会结束。不设置：只读取启动时已有的文件一次",
);
const PATTERN: OptionSpec = option(
    "source.path.regex-pattern",
    OptionKind::Text,
    None,
    "only files whose absolute path matches this regular expression as a whole are read",
    "只读取绝对路径整体匹配该正则表达式的文件",
);
const STATISTICS: OptionSpec = option(
    "source.report-statistics",
    OptionKind::OneOf(&["ALL", "NONE"]),
    Some("ALL"),
    "accepted so that scripts run unchanged; has no effect",
    "为兼容脚本而接受；没有作用",
);
const PARTITION_DEFAULT: OptionSpec = option(
    "partition.default-name",
    OptionKind::Text,
    Some("__DEFAULT_PARTITION__"),
    "the folder value that stands for a NULL partition value",
    "表示分区值为 NULL 的目录值",
);
const ROLL_SIZE: OptionSpec = option(
    "sink.rolling-policy.file-size",
    OptionKind::Memory,
    Some("128 mb"),
    "a part file is closed when it has this size; every checkpoint closes it as well",
    "part 文件达到该大小时关闭；每个检查点也会关闭它",
);
const ROLL_INTERVAL: OptionSpec = option(
    "sink.rolling-policy.rollover-interval",
    OptionKind::Duration,
    Some("30 min"),
    "a part file is closed when it has been open this long; every checkpoint closes it as well",
    "part 文件打开超过该时长时关闭；每个检查点也会关闭它",
);
const ROLL_CHECK: OptionSpec = option(
    "sink.rolling-policy.check-interval",
    OptionKind::Duration,
    Some("1 min"),
    "accepted so that scripts run unchanged: the age of a part file is checked with every batch",
    "为兼容脚本而接受：每个批次都会检查 part 文件的打开时长",
);
const AUTO_COMPACTION: OptionSpec = option(
    "auto-compaction",
    OptionKind::Boolean,
    Some("false"),
    "merging small files; only 'false' works in this version",
    "合并小文件；当前版本只支持 'false'",
);
const PARTITION_COMMIT: OptionSpec = option(
    "sink.partition-commit.*",
    OptionKind::Text,
    None,
    "committing partitions of a sink; partitioned sinks do not work in this version",
    "sink 的分区提交；当前版本不支持分区 sink",
);
const PARTITION_TIME: OptionSpec = option(
    "partition.time-extractor.*",
    OptionKind::Text,
    None,
    "the time of a partition, for committing partitions; partitioned sinks do not work in this version",
    "用于分区提交的分区时间；当前版本不支持分区 sink",
);

/// All options.
pub(super) static OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| {
    declared::of_source(&[
        PATH,
        FORMAT,
        MONITOR_INTERVAL,
        PATTERN,
        STATISTICS,
        PARTITION_DEFAULT,
        ROLL_SIZE,
        ROLL_INTERVAL,
        ROLL_CHECK,
        AUTO_COMPACTION,
        PARTITION_COMMIT,
        PARTITION_TIME,
        SCAN_PARALLELISM,
        SINK_PARALLELISM,
    ])
});

/// The options of one table.
#[derive(Debug, Clone)]
pub(super) struct FilesystemOptions {
    /// File or folder, without a scheme.
    pub path: PathBuf,
    pub format: TableFormat,
    /// Set for a growing folder or file.
    pub monitor_interval: Option<Duration>,
    /// Matches the whole absolute path.
    pub pattern: Option<Regex>,
    pub partition_default: String,
    pub roll_bytes: u64,
    pub roll_interval: Duration,
    pub scan_parallelism: Option<usize>,
    pub sink_parallelism: Option<usize>,
}

impl FilesystemOptions {
    pub(super) fn read(table: &TableDefinition, context: &ConnectorContext) -> Result<FilesystemOptions> {
        let slot = FormatSlot { key: FORMAT.key, prefix: "" };
        let format = declared::check(table, &OPTIONS, &[slot], OWNER, context)?.into_iter().flatten().next();
        let options = &table.options;
        if options.boolean(&AUTO_COMPACTION)? {
            return Err(Error::unsupported("'auto-compaction' of the filesystem sink"));
        }
        let monitor_interval = options.duration(&MONITOR_INTERVAL)?;
        if monitor_interval.is_some_and(|interval| interval.is_zero()) {
            return Err(declared::bad_value(MONITOR_INTERVAL.key, "0", "a time span longer than nothing"));
        }
        Ok(FilesystemOptions {
            path: local_path(options.require(&PATH, OWNER)?)?,
            format: format.ok_or_else(|| Error::internal("a required format passed the check unset"))?,
            monitor_interval,
            pattern: options.get(PATTERN.key).map(pattern).transpose()?,
            partition_default: options.text(&PARTITION_DEFAULT).unwrap_or_default().to_string(),
            roll_bytes: options.memory(&ROLL_SIZE)?.unwrap_or(u64::MAX).max(1),
            roll_interval: options.duration(&ROLL_INTERVAL)?.unwrap_or(Duration::MAX),
            scan_parallelism: declared::positive(options, &SCAN_PARALLELISM)?,
            sink_parallelism: declared::positive(options, &SINK_PARALLELISM)?,
        })
    }
}

fn pattern(text: &str) -> Result<Regex> {
    Regex::new(&format!("^(?:{text})$"))
        .map_err(|cause| Error::new(&codes::BAD_PATTERN, &[("key", &PATTERN.key), ("value", &text), ("cause", &cause)]))
}

/// The path without `file:`; other schemes are refused by name.
fn local_path(text: &str) -> Result<PathBuf> {
    if text.is_empty() {
        return Err(declared::bad_value(PATH.key, text, "a file or folder"));
    }
    if let Some(rest) = text.strip_prefix("file:") {
        // file:/a, file:///a and file://localhost/a are the same file.
        let rest = match rest.strip_prefix("//") {
            Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
            None => rest,
        };
        return Ok(PathBuf::from(rest));
    }
    match text.split_once("://") {
        Some((scheme, _)) if !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric()) => {
            Err(Error::unsupported(format!("the file system '{scheme}://' of the filesystem connector")))
        }
        _ => Ok(PathBuf::from(text)),
    }
}
