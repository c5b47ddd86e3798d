//! Lookups: tables that are asked for the rows of keys while a job runs.
//!
//! A connector that can be asked answers [`crate::connector::ConnectorFactory::lookup`]; the runtime drives its readers, keeps
//! rows for a while if the table's options say so, and asks again where a hint says so.

use crate::BoxFuture;
use crate::connector::Instance;
use crate::error::{Error, Result};
use crate::options::{OptionKind, OptionSpec, Options};
use crate::types::RowType;
use arrow::array::RecordBatch;
use std::fmt::Debug;
use std::time::Duration;

/// What a job asks a table for.
#[derive(Debug, Clone, PartialEq)]
pub struct LookupSpec {
    /// The physical columns that are compared, with the types of the values that they are compared with.
    pub keys: RowType,
    /// The physical columns that are wanted, in this order.
    pub output: RowType,
}

/// A table of one job that is asked for rows.
pub trait LookupProvider: Send + Sync + Debug {
    /// Why no job can ask it in this version, although it can be declared and planned; `None`: jobs can.
    fn refusal(&self) -> Option<Error> {
        None
    }

    /// Opens whatever is shared and checks that asking is possible. Called once, before any reader is made. Returns warnings.
    ///
    /// # Errors
    /// What makes asking impossible, with a fix; within 15 seconds.
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The reader of one instance.
    fn reader(&self, instance: Instance) -> Result<Box<dyn LookupReader>>;

    /// Whether and how long rows are kept.
    fn cache(&self) -> Option<LookupCache> {
        None
    }
}

/// The rows that were found.
#[derive(Debug, Clone)]
pub struct LookupRows {
    /// The rows, of [`LookupSpec::output`].
    pub rows: RecordBatch,
    /// For every row, which of the keys it belongs to; ascending.
    pub keys: Vec<u32>,
}

/// Asks for rows, on behalf of one instance.
pub trait LookupReader: Send {
    /// The rows of every one of these keys: rows of [`LookupSpec::keys`], without NULL and each one once. Failures that may
    /// pass are tried again by the reader, as often as its options say.
    fn lookup<'a>(&'a mut self, keys: &'a RecordBatch) -> BoxFuture<'a, Result<LookupRows>>;
}

/// How long the rows of a key are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupCache {
    /// The most rows.
    pub rows_max: Option<u64>,
    /// How long after they were found.
    pub after_write: Option<Duration>,
    /// How long after they were last used.
    pub after_access: Option<Duration>,
    /// Whether keys without a row are kept too.
    pub keeps_missing: bool,
}

/// The options that every connector with lookups takes.
pub const OPTIONS: [OptionSpec; 6] = [
    option(
        "lookup.cache",
        OptionKind::OneOf(&["NONE", "PARTIAL"]),
        Some("NONE"),
        "whether looked-up rows are kept",
        "是否缓存查到的行",
    ),
    option(
        "lookup.partial-cache.max-rows",
        OptionKind::Integer,
        None,
        "the most rows kept by the lookup cache",
        "维表缓存的最大行数",
    ),
    option(
        "lookup.partial-cache.expire-after-write",
        OptionKind::Duration,
        None,
        "how long the lookup cache keeps a row after it was found",
        "行写入缓存后的保留时间",
    ),
    option(
        "lookup.partial-cache.expire-after-access",
        OptionKind::Duration,
        None,
        "how long the lookup cache keeps a row after it was last used",
        "行最后一次被使用后的保留时间",
    ),
    option(
        "lookup.partial-cache.cache-missing-key",
        OptionKind::Boolean,
        Some("true"),
        "whether keys without a row are kept",
        "是否缓存查不到的键",
    ),
    option(
        "lookup.max-retries",
        OptionKind::Integer,
        Some("3"),
        "how often a failed lookup is tried again",
        "查询失败的重试次数",
    ),
];

const fn option(
    key: &'static str,
    kind: OptionKind,
    default: Option<&'static str>,
    en: &'static str,
    zh: &'static str,
) -> OptionSpec {
    OptionSpec { key, kind, default, required: false, en, zh }
}

impl LookupCache {
    /// What the options of a table say; `None` if no row is kept.
    ///
    /// # Errors
    /// Values that the options do not take.
    pub fn from_options(options: &Options) -> Result<Option<LookupCache>> {
        let [cache, rows, write, access, missing, _] = &OPTIONS;
        if options.word(cache)? != Some("PARTIAL") {
            return Ok(None);
        }
        Ok(Some(LookupCache {
            rows_max: options.integer(rows)?.and_then(|rows| u64::try_from(rows).ok()),
            after_write: options.duration(write)?,
            after_access: options.duration(access)?,
            keeps_missing: options.boolean(missing)?,
        }))
    }
}
