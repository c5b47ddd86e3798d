//! The session options that `SET` knows, and the typed configuration of a job made from them.

use crate::checkpoint_dir;
use crate::error::{Language, Result};
use crate::options::{OptionKind, OptionSpec, Options};
use crate::recovery::{self, CheckpointConfig, RestartStrategy};
use std::time::Duration;

/// What an option does in this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It works as described.
    Used,
    /// It is accepted so that scripts run unchanged, without an effect, for the given reason.
    NoEffect {
        /// Reason in English.
        en: &'static str,
        /// Reason in Chinese.
        zh: &'static str,
    },
}

/// A session option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOption {
    /// Key, kind, default, description.
    pub spec: OptionSpec,
    /// What it does here.
    pub effect: Effect,
}

pub(crate) const fn used(
    key: &'static str,
    kind: OptionKind,
    default: Option<&'static str>,
    en: &'static str,
    zh: &'static str,
) -> SessionOption {
    SessionOption { spec: OptionSpec { key, kind, default, required: false, en, zh }, effect: Effect::Used }
}

const fn inert(key: &'static str, en: &'static str, zh: &'static str) -> SessionOption {
    SessionOption {
        spec: OptionSpec { key, kind: OptionKind::Text, default: None, required: false, en: "", zh: "" },
        effect: Effect::NoEffect { en, zh },
    }
}

/// `pipeline.name`.
pub const PIPELINE_NAME: SessionOption = used(
    "pipeline.name",
    OptionKind::Text,
    None,
    "name of the job; default: the script's name",
    "作业名；默认为脚本名",
);
/// `parallelism.default`.
pub const PARALLELISM: SessionOption = used(
    "parallelism.default",
    OptionKind::Integer,
    None,
    "parallel instances of every operator, 1 to 128; default: the number of cores",
    "每个算子的并行实例数，1 到 128；默认为 CPU 核数",
);
/// `table.exec.resource.default-parallelism`.
pub const TABLE_PARALLELISM: SessionOption = used(
    "table.exec.resource.default-parallelism",
    OptionKind::Integer,
    None,
    "same as 'parallelism.default', and stronger",
    "同 'parallelism.default'，优先级更高",
);
/// `table.local-time-zone`.
pub const TIME_ZONE: SessionOption = used(
    "table.local-time-zone",
    OptionKind::Text,
    Some("UTC"),
    "the session's time zone: how TIMESTAMP_LTZ values are shown and cast; TIMESTAMP values never change",
    "会话时区：决定 TIMESTAMP_LTZ 的显示与转换；TIMESTAMP 的值不受影响",
);
/// `table.exec.source.idle-timeout`.
pub const IDLE_TIMEOUT: SessionOption = used(
    "table.exec.source.idle-timeout",
    OptionKind::Duration,
    Some("0 ms"),
    "a source split without data for this long stops holding back the watermark; 0 turns it off",
    "数据源分片静默超过该时长后不再拖住 watermark；0 表示关闭",
);
/// `execution.checkpointing.interval`.
pub const CHECKPOINT_INTERVAL: SessionOption = used(
    "execution.checkpointing.interval",
    OptionKind::Duration,
    Some("10 s"),
    "time between checkpoints; sinks such as filesystem commit at each one; 0 turns periodic checkpoints off",
    "检查点间隔；filesystem 等 sink 在每个检查点提交；0 表示关闭周期检查点",
);
/// `table.exec.state.ttl`.
pub const STATE_TTL: SessionOption = used(
    "table.exec.state.ttl",
    OptionKind::Duration,
    Some("0 ms"),
    "state that was not written for this long is dropped; 0 keeps it for ever",
    "超过该时长未更新的状态会被清除；0 表示永久保留",
);
/// `state.memory.budget`.
pub const MEMORY_BUDGET: SessionOption = used(
    "state.memory.budget",
    OptionKind::Memory,
    None,
    "memory for the state of each job; keys that are not used go to the disk and come back when they are; default: no bound",
    "每个作业的状态可用内存；不活跃的键换出到磁盘，需要时再读回；默认不限制",
);
/// `table.dml-sync`.
pub const DML_SYNC: SessionOption = used(
    "table.dml-sync",
    OptionKind::Boolean,
    Some("false"),
    "whether an INSERT must end before the next statement starts",
    "是否等待一条 INSERT 结束后再启动下一条语句",
);
/// `execution.runtime-mode`.
pub const RUNTIME_MODE: SessionOption = used(
    "execution.runtime-mode",
    OptionKind::OneOf(&["streaming", "batch", "automatic"]),
    Some("streaming"),
    "batch reads bounded tables to their end and gives the final result once; automatic: batch if all tables end",
    "batch 读完有界表后一次性给出最终结果；automatic：所有表都有终点时为 batch",
);
/// `table.exec.sink.not-null-enforcer`.
pub const NOT_NULL_ENFORCER: SessionOption = used(
    "table.exec.sink.not-null-enforcer",
    OptionKind::OneOf(&["ERROR", "DROP"]),
    Some("ERROR"),
    "what happens to a row with NULL in a NOT NULL column of the sink",
    "sink 的 NOT NULL 列出现 NULL 时的处理方式",
);
/// `table.exec.source.cdc-events-duplicate`.
pub const CDC_EVENTS_DUPLICATE: SessionOption = used(
    "table.exec.source.cdc-events-duplicate",
    OptionKind::Boolean,
    Some("false"),
    "whether change data may come twice: tables with a PRIMARY KEY then keep the last row per key, and repeats give nothing",
    "变更数据是否可能重复到达：若是，则声明了 PRIMARY KEY 的表保留每个键的最后一行，重复的变更不产生结果",
);
/// `table.exec.sink.upsert-materialize`.
pub const UPSERT_MATERIALIZE: SessionOption = used(
    "table.exec.sink.upsert-materialize",
    OptionKind::OneOf(&["AUTO", "NONE", "FORCE"]),
    Some("AUTO"),
    "whether all rows of a sink key are kept, so that the one before returns when the last one goes; AUTO: where the key of \
     the query is no part of it",
    "是否保留同一 sink 主键的全部行，以便最后一行被撤回时恢复前一行；AUTO：仅当查询的键不在 sink 主键之内",
);
/// `table.optimizer.non-deterministic-update.strategy`.
pub const NON_DETERMINISTIC_UPDATES: SessionOption = used(
    "table.optimizer.non-deterministic-update.strategy",
    OptionKind::OneOf(&["IGNORE", "TRY_RESOLVE"]),
    Some("IGNORE"),
    "whether a value that changes when an old row is computed again is an error (TRY_RESOLVE) or a warning",
    "旧行重算会变化的值：TRY_RESOLVE 报错，IGNORE 只警告",
);
/// `table.optimizer.agg-phase-strategy`.
pub const AGGREGATE_PHASES: SessionOption = used(
    "table.optimizer.agg-phase-strategy",
    OptionKind::OneOf(&["AUTO", "ONE_PHASE", "TWO_PHASE"]),
    Some("AUTO"),
    "whether GROUP BY aggregates a batch before rows are spread by key; AUTO: where it is cheap. Results are the same",
    "GROUP BY 是否在按 key 分发之前先在批内聚合；AUTO：在代价低时启用。结果相同",
);
/// `table.optimizer.distinct-agg.split.enabled`.
pub const SPLIT_DISTINCT: SessionOption = used(
    "table.optimizer.distinct-agg.split.enabled",
    OptionKind::Boolean,
    Some("false"),
    "whether COUNT(DISTINCT x) is counted in parts by a hash of x first, so that one large group uses all instances",
    "COUNT(DISTINCT x) 是否先按 x 的哈希分桶计数，使单个大分组也能用到所有实例",
);
/// `table.optimizer.distinct-agg.split.bucket-num`.
pub const SPLIT_DISTINCT_BUCKETS: SessionOption = used(
    "table.optimizer.distinct-agg.split.bucket-num",
    OptionKind::Integer,
    Some("1024"),
    "the number of those parts per group",
    "每个分组的分桶数",
);
/// `table.exec.emit.early-fire.enabled`.
pub const EARLY_FIRE: SessionOption = used(
    "table.exec.emit.early-fire.enabled",
    OptionKind::Boolean,
    Some("false"),
    "whether window aggregates give results before the window ends; needs 'table.exec.emit.early-fire.delay'",
    "窗口聚合是否在窗口结束前提前输出；需同时设置 'table.exec.emit.early-fire.delay'",
);
/// `table.exec.emit.early-fire.delay`.
pub const EARLY_FIRE_DELAY: SessionOption = used(
    "table.exec.emit.early-fire.delay",
    OptionKind::Duration,
    None,
    "how long after a row an early result follows, by the clock; 0 gives one per row",
    "提前输出的延迟（处理时间）；0 表示每行触发",
);
/// `table.exec.emit.late-fire.enabled`.
pub const LATE_FIRE: SessionOption = used(
    "table.exec.emit.late-fire.enabled",
    OptionKind::Boolean,
    Some("false"),
    "whether window aggregates take late rows and correct their results; needs 'table.exec.emit.late-fire.delay' and \
     'table.exec.emit.allow-lateness'",
    "窗口聚合是否接收迟到数据并更新结果；需同时设置 'table.exec.emit.late-fire.delay' 与 \
     'table.exec.emit.allow-lateness'",
);
/// `table.exec.emit.late-fire.delay`.
pub const LATE_FIRE_DELAY: SessionOption = used(
    "table.exec.emit.late-fire.delay",
    OptionKind::Duration,
    None,
    "how long after a late row the corrected result follows, by the clock; 0 gives one per row",
    "迟到数据触发更新的延迟（处理时间）；0 表示每行触发",
);
/// `table.exec.emit.allow-lateness`.
pub const ALLOW_LATENESS: SessionOption = used(
    "table.exec.emit.allow-lateness",
    OptionKind::Duration,
    None,
    "how long after its end a window takes late rows, in event time; only with 'table.exec.emit.late-fire.enabled', \
     where it defaults to 'table.exec.state.ttl'",
    "窗口结束后继续接收迟到数据的时长（事件时间）；仅在开启 'table.exec.emit.late-fire.enabled' 时有效，\
     此时默认取 'table.exec.state.ttl'",
);
/// `highwater.null-rowtime`.
pub const NULL_ROWTIME: SessionOption = used(
    "highwater.null-rowtime",
    OptionKind::OneOf(&["fail", "drop"]),
    Some("fail"),
    "what happens to a row whose event time is NULL: the job fails, or the row is dropped and counted",
    "事件时间为 NULL 的行：作业失败（fail），或丢弃并计数（drop）",
);
/// `highwater.late-table`.
pub const LATE_TABLE: SessionOption = used(
    "highwater.late-table",
    OptionKind::Text,
    None,
    "the table that takes the rows which are too late for the windows of the queries that follow; the hint LATE_TABLE('t') says \
     it for one query",
    "后续查询中对窗口而言过迟的行写入该表；单个查询可用提示 LATE_TABLE('t') 指定",
);
/// `highwater.explain-waiting-after`.
pub const EXPLAIN_WAITING: SessionOption = used(
    "highwater.explain-waiting-after",
    OptionKind::Duration,
    Some("30 s"),
    "after how long without progress of event time the job says which operator waits, for what, and what to set; 0: never",
    "事件时间停滞多久后，作业说明哪个算子在等待什么、应如何设置；0 表示从不",
);
/// `table.exec.legacy-cast-behaviour`.
pub const LEGACY_CAST: SessionOption = used(
    "table.exec.legacy-cast-behaviour",
    OptionKind::OneOf(&["enabled", "disabled"]),
    Some("disabled"),
    "enabled: a CAST that fails gives NULL, and CHAR(n) and VARCHAR(n) are neither cut nor padded",
    "enabled：转换失败时返回 NULL，CHAR(n) 与 VARCHAR(n) 不截断也不补齐",
);
/// `highwater.language`.
pub const LANGUAGE: SessionOption = used(
    "highwater.language",
    OptionKind::OneOf(&["en", "zh"]),
    None,
    "language of messages; default: the locale",
    "提示信息的语言；默认取系统区域设置",
);
/// `highwater.batch-rows`.
pub const BATCH_ROWS: SessionOption = used(
    "highwater.batch-rows",
    OptionKind::Integer,
    Some("4096"),
    "the most rows that an operator gets at once; 1 gives Flink's record-by-record changelog",
    "算子一次处理的最大行数；设为 1 时与 Flink 逐条输出的 changelog 一致",
);
/// `sql-client.execution.result-mode`.
pub const RESULT_MODE: SessionOption = used(
    "sql-client.execution.result-mode",
    OptionKind::OneOf(&["table", "changelog", "tableau"]),
    Some("tableau"),
    "how the result of a SELECT is shown on a terminal",
    "SELECT 结果在终端上的显示方式",
);

const NATURAL_BATCHES_EN: &str = "batches form from what has arrived, and changes of one key are folded inside a batch";
const NATURAL_BATCHES_ZH: &str = "引擎按到达的数据自然成批，并在批内合并同一 key 的变更";
const ONE_PROCESS_EN: &str = "there is one process and no JVM";
const ONE_PROCESS_ZH: &str = "单进程运行，没有 JVM";
const NO_CONFLICT_EN: &str = "ON CONFLICT is accepted and never required";
const NO_CONFLICT_ZH: &str = "ON CONFLICT 子句可写可不写";

/// Every option that `SET` accepts. A final `*` stands for any rest.
pub const SESSION_OPTIONS: &[SessionOption] = &[
    PIPELINE_NAME,
    PARALLELISM,
    TABLE_PARALLELISM,
    TIME_ZONE,
    IDLE_TIMEOUT,
    CHECKPOINT_INTERVAL,
    recovery::TIMEOUT,
    recovery::MIN_PAUSE,
    recovery::TOLERABLE_FAILURES,
    recovery::DIR,
    recovery::EXECUTION_DIR,
    recovery::RETAINED,
    recovery::EXECUTION_RETAINED,
    checkpoint_dir::ENDPOINT,
    checkpoint_dir::ACCESS_KEY,
    checkpoint_dir::SECRET_KEY,
    checkpoint_dir::REGION,
    checkpoint_dir::ENDPOINT_REGION,
    checkpoint_dir::PATH_STYLE,
    checkpoint_dir::PATH_STYLE_OLD,
    recovery::RESTART,
    recovery::RESTART_OLD,
    recovery::FIXED_ATTEMPTS,
    recovery::FIXED_DELAY,
    recovery::INITIAL_BACKOFF,
    recovery::MAX_BACKOFF,
    recovery::BACKOFF_MULTIPLIER,
    recovery::BACKOFF_RESET,
    recovery::EXPONENTIAL_ATTEMPTS,
    STATE_TTL,
    MEMORY_BUDGET,
    DML_SYNC,
    RUNTIME_MODE,
    NOT_NULL_ENFORCER,
    UPSERT_MATERIALIZE,
    CDC_EVENTS_DUPLICATE,
    NON_DETERMINISTIC_UPDATES,
    AGGREGATE_PHASES,
    SPLIT_DISTINCT,
    SPLIT_DISTINCT_BUCKETS,
    EARLY_FIRE,
    EARLY_FIRE_DELAY,
    LATE_FIRE,
    LATE_FIRE_DELAY,
    ALLOW_LATENESS,
    NULL_ROWTIME,
    LATE_TABLE,
    EXPLAIN_WAITING,
    LEGACY_CAST,
    LANGUAGE,
    BATCH_ROWS,
    RESULT_MODE,
    inert(
        "table.exec.sink.type-length-enforcer",
        "CHAR and VARCHAR are cut and padded by casts",
        "CHAR 与 VARCHAR 由转换负责截断和补齐",
    ),
    inert("table.exec.sink.keyed-shuffle", "rows of one key always meet in one writer", "同一主键的行总在同一个写入端"),
    inert(
        "execution.checkpointing.*",
        "checkpoints are aligned, exactly-once and kept until the job ends; one is under way at a time",
        "检查点为对齐的精确一次方式，保留到作业结束，同一时间只进行一个",
    ),
    inert(
        "state.*",
        "state is in memory while the job runs and in the folder of its checkpoints",
        "运行时状态在内存中，并保存在检查点目录",
    ),
    inert(
        "s3.*",
        "checkpoints are all that goes there, and the options above are all they need",
        "只有检查点写入该存储，上述选项即已足够",
    ),
    inert(
        "restart-strategy*",
        "there is one process: the times are those of the options above",
        "单进程运行，以上述选项为准",
    ),
    inert(
        "table.exec.deduplicate.*",
        "the first row of a key is an insert, a later one an update; a batch gives one change per key",
        "每个 key 的第一行为插入，之后为更新；每批每个 key 至多一次变更",
    ),
    inert("table.exec.mini-batch.*", NATURAL_BATCHES_EN, NATURAL_BATCHES_ZH),
    inert("table.optimizer.*", "the planner has no such switch", "优化器没有该开关"),
    inert("table.exec.sink.require-on-conflict", NO_CONFLICT_EN, NO_CONFLICT_ZH),
    inert("pipeline.object-reuse", ONE_PROCESS_EN, ONE_PROCESS_ZH),
    inert(
        "pipeline.auto-watermark-interval",
        "a watermark follows the row that moved it",
        "watermark 紧跟推动它的行发出",
    ),
    inert("execution.buffer-timeout*", NATURAL_BATCHES_EN, NATURAL_BATCHES_ZH),
    inert("execution.target", ONE_PROCESS_EN, ONE_PROCESS_ZH),
    inert("execution.attached", ONE_PROCESS_EN, ONE_PROCESS_ZH),
    inert("jobmanager.*", ONE_PROCESS_EN, ONE_PROCESS_ZH),
    inert("taskmanager.*", ONE_PROCESS_EN, ONE_PROCESS_ZH),
    inert("rest.*", ONE_PROCESS_EN, ONE_PROCESS_ZH),
    inert("sql-client.*", "display options of Flink's client", "Flink 客户端的显示选项"),
    inert("table.display.*", "display options of Flink's client", "Flink 客户端的显示选项"),
];

/// The option that `key` belongs to. An exact key is preferred to a pattern.
pub fn session_option(key: &str) -> Option<&'static SessionOption> {
    SESSION_OPTIONS
        .iter()
        .find(|option| option.spec.key == key)
        .or_else(|| SESSION_OPTIONS.iter().find(|option| option.spec.matches(key)))
}

/// A hint of a query that the planner keeps: `STATE_TTL('orders' = '1 d')`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanHint {
    /// Its name in upper case.
    pub name: String,
    /// Its `'key' = 'value'` pairs.
    pub options: Vec<(String, String)>,
    /// Its other arguments.
    pub arguments: Vec<String>,
}

impl std::fmt::Display for PlanHint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let options = self.options.iter().map(|(key, value)| format!("'{key}' = '{value}'"));
        let all: Vec<String> = options.chain(self.arguments.iter().cloned()).collect();
        write!(f, "{}({})", self.name, all.join(", "))
    }
}

/// The options `table.exec.emit.*` as they are set; what they mean together is told where a window is planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmitOptions {
    /// Early firing.
    pub early_fire: bool,
    /// Its delay.
    pub early_delay: Option<Duration>,
    /// Late firing.
    pub late_fire: bool,
    /// Its delay.
    pub late_delay: Option<Duration>,
    /// How long late rows are taken.
    pub allow_lateness: Option<Duration>,
}

/// The configuration of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobConfig {
    /// Job name.
    pub name: Option<String>,
    /// Parallel instances; `None`: as many as cores.
    pub parallelism: Option<usize>,
    /// The session's time zone.
    pub time_zone: chrono_tz::Tz,
    /// Whether casts behave as before Flink 1.15.
    pub legacy_cast: bool,
    /// Idle timeout of source splits.
    pub idle_timeout: Option<Duration>,
    /// Time between checkpoints.
    pub checkpoint_interval: Option<Duration>,
    /// Checkpoints.
    pub checkpoints: CheckpointConfig,
    /// What happens after a failure.
    pub restart: RestartStrategy,
    /// State TTL.
    pub state_ttl: Option<Duration>,
    /// Bytes of memory for state; `None`: no bound.
    pub memory_budget: Option<u64>,
    /// Early and late firing of windows.
    pub emit: EmitOptions,
    /// Whether rows without an event time are dropped and counted.
    pub drops_null_rowtime: bool,
    /// How long event time may stand still before the job says what results wait for.
    pub explain_waiting_after: Option<Duration>,
    /// The most rows per batch.
    pub batch_rows: usize,
    /// Language of messages, if set.
    pub language: Option<Language>,
    /// Hints of its queries. What is not built yet leaves them unread; EXPLAIN names them.
    pub hints: Vec<PlanHint>,
}

impl Default for JobConfig {
    fn default() -> Self {
        JobConfig {
            name: None,
            parallelism: None,
            time_zone: chrono_tz::UTC,
            legacy_cast: false,
            idle_timeout: None,
            checkpoint_interval: Some(Duration::from_secs(10)),
            checkpoints: CheckpointConfig::default(),
            restart: RestartStrategy::None,
            state_ttl: None,
            memory_budget: None,
            emit: EmitOptions::default(),
            drops_null_rowtime: false,
            explain_waiting_after: Some(Duration::from_secs(30)),
            batch_rows: 4096,
            language: None,
            hints: Vec::new(),
        }
    }
}

impl JobConfig {
    /// Reads the session's options.
    ///
    /// # Errors
    /// A value that its option does not take.
    pub fn from_options(options: &Options) -> Result<JobConfig> {
        let positive = |duration: Option<Duration>| duration.filter(|duration| !duration.is_zero());
        let count = |option: &SessionOption, low: i64, high: i64| -> Result<Option<usize>> {
            match options.integer(&option.spec)? {
                None => Ok(None),
                Some(number) if (low..=high).contains(&number) => Ok(Some(number as usize)),
                Some(number) => Err(crate::Error::new(
                    &crate::options::BAD_OPTION,
                    &[
                        ("key", &option.spec.key),
                        ("value", &number),
                        ("expected", &format!("a whole number from {low} to {high}")),
                    ],
                )),
            }
        };
        let table_parallelism = count(&TABLE_PARALLELISM, -1, crate::key::KEY_GROUPS as i64)?;
        let parallelism = match table_parallelism {
            // Flink's default is -1: ask parallelism.default.
            Some(number) if (1..=crate::key::KEY_GROUPS).contains(&number) => Some(number),
            _ => count(&PARALLELISM, 1, crate::key::KEY_GROUPS as i64)?,
        };
        let checkpoint_interval = positive(options.duration(&CHECKPOINT_INTERVAL.spec)?);
        Ok(JobConfig {
            name: options.get(PIPELINE_NAME.spec.key).map(str::to_string),
            parallelism,
            time_zone: parse_time_zone(options.text(&TIME_ZONE.spec).unwrap_or("UTC"))?,
            legacy_cast: options.text(&LEGACY_CAST.spec).is_some_and(|text| text.eq_ignore_ascii_case("enabled")),
            idle_timeout: positive(options.duration(&IDLE_TIMEOUT.spec)?),
            checkpoint_interval,
            checkpoints: CheckpointConfig::from_options(options)?,
            restart: RestartStrategy::from_options(options, checkpoint_interval.is_some())?,
            state_ttl: positive(options.duration(&STATE_TTL.spec)?),
            memory_budget: options.memory(&MEMORY_BUDGET.spec)?.filter(|bytes| *bytes > 0),
            emit: EmitOptions {
                early_fire: options.boolean(&EARLY_FIRE.spec)?,
                early_delay: options.duration(&EARLY_FIRE_DELAY.spec)?,
                late_fire: options.boolean(&LATE_FIRE.spec)?,
                late_delay: options.duration(&LATE_FIRE_DELAY.spec)?,
                allow_lateness: options.duration(&ALLOW_LATENESS.spec)?,
            },
            explain_waiting_after: positive(options.duration(&EXPLAIN_WAITING.spec)?),
            drops_null_rowtime: options.word(&NULL_ROWTIME.spec)? == Some("drop"),
            batch_rows: count(&BATCH_ROWS, 1, 1 << 20)?.unwrap_or(4096),
            language: options.get(LANGUAGE.spec.key).and_then(Language::parse),
            hints: Vec::new(),
        })
    }
}

/// Reads a time zone name; `default` is UTC.
///
/// # Errors
/// An unknown name.
pub fn parse_time_zone(name: &str) -> Result<chrono_tz::Tz> {
    if name.eq_ignore_ascii_case("default") || name.eq_ignore_ascii_case("Z") {
        return Ok(chrono_tz::UTC);
    }
    name.parse().map_err(|_| {
        crate::Error::new(
            &crate::options::BAD_OPTION,
            &[
                ("key", &TIME_ZONE.spec.key),
                ("value", &name),
                ("expected", &"a region name, for example 'Asia/Shanghai' or 'UTC'"),
            ],
        )
    })
}
