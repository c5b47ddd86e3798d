//! Options of connectors `datagen` and `faker`: those of the table, parsed, and the declared ones of a field.

use super::OWNER;
use crate::codes;
use crate::declared::{SCAN_PARALLELISM, bad_value, option};
use base::nearest::nearest;
use base::{Error, OptionKind, OptionSpec, Options, Result, TableDefinition, watermark_options};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const ROWS_PER_SECOND: OptionSpec = option(
    "rows-per-second",
    OptionKind::Number,
    Some("10000"),
    "how many rows are delivered in a second, over all readers; may be a fraction such as '0.5'",
    "每秒产生的行数（所有读取实例合计）；可以是小数，例如 '0.5'",
);
pub(super) const NUMBER_OF_ROWS: OptionSpec = option(
    "number-of-rows",
    OptionKind::Integer,
    None,
    "how many rows there are (with 'changelog': how many are inserted); not set: the source never ends",
    "总行数（启用 'changelog' 时为插入的行数）；不设置则永不结束",
);
pub(super) const SEED: OptionSpec = option(
    "seed",
    OptionKind::Integer,
    None,
    "the same seed and options give the same rows at any parallelism; not set: a new one at \
     every start, which is logged",
    "相同的种子和选项在任意并行度下产生相同的行；不设置则每次启动取新种子并写入日志",
);
pub(super) const EVENT_START: OptionSpec = option(
    "event-time.start",
    OptionKind::Text,
    None,
    "event time of the first row, such as '2024-11-20 15:00:00'; default: when the job starts",
    "第一行的事件时间，例如 '2024-11-20 15:00:00'；默认为作业启动时间",
);
pub(super) const EVENT_STEP: OptionSpec = option(
    "event-time.step",
    OptionKind::Duration,
    None,
    "event time from one row to the next; default: one second divided by 'rows-per-second'",
    "相邻两行的事件时间间隔；默认为 1 秒除以 'rows-per-second'",
);
pub(super) const DISORDER_MAX: OptionSpec = option(
    "disorder.max",
    OptionKind::Duration,
    Some("0 s"),
    "every row is delayed by a random span up to this, in event time; rows come in the order of their delivery",
    "每一行在事件时间上随机延迟，最长为该时长；行按送达顺序输出",
);
pub(super) const LATE_RATIO: OptionSpec = option(
    "late.ratio",
    OptionKind::Number,
    Some("0"),
    "the share of rows that are delayed by 'late.by' on top, 0 to 1",
    "额外延迟 'late.by' 的行所占比例，0 到 1",
);
pub(super) const LATE_BY: OptionSpec =
    option("late.by", OptionKind::Duration, Some("0 s"), "the delay of late rows", "迟到行的延迟时长");
pub(super) const CHANGELOG: OptionSpec = option(
    "changelog",
    OptionKind::Boolean,
    Some("false"),
    "whether rows are updated and deleted later on; needs a primary key",
    "之后是否更新和删除已有的行；需要主键",
);
pub(super) const UPDATE_RATIO: OptionSpec = option(
    "changelog.update-ratio",
    OptionKind::Number,
    Some("0.2"),
    "updates per inserted row",
    "每插入一行对应的更新数",
);
pub(super) const DELETE_RATIO: OptionSpec = option(
    "changelog.delete-ratio",
    OptionKind::Number,
    Some("0.05"),
    "deletes per inserted row, 0 to 1",
    "每插入一行对应的删除数，0 到 1",
);
pub(super) const UPDATE_FIELDS: OptionSpec = option(
    "changelog.update-fields",
    OptionKind::Text,
    None,
    "columns that an update draws again, with commas between them; default: all that are not in the primary key",
    "更新时重新取值的列，用逗号分隔；默认为主键之外的所有列",
);

/// Options of the table.
const TABLE: [OptionSpec; 13] = [
    ROWS_PER_SECOND,
    NUMBER_OF_ROWS,
    SEED,
    EVENT_START,
    EVENT_STEP,
    DISORDER_MAX,
    LATE_RATIO,
    LATE_BY,
    CHANGELOG,
    UPDATE_RATIO,
    DELETE_RATIO,
    UPDATE_FIELDS,
    SCAN_PARALLELISM,
];

/// Options of a field, `#` standing for its name.
const FIELD: &[OptionSpec] = &[
    option(
        "fields.#.kind",
        OptionKind::OneOf(&["random", "sequence", "event-time", "reference", "expression"]),
        None,
        "how values are made: random (default), sequence, event-time, reference (not in this version) or expression",
        "取值方式：random（默认）、sequence、event-time、reference（当前版本不支持）或 expression",
    ),
    option(
        "fields.#.start",
        OptionKind::Integer,
        None,
        "first value of a sequence; default 1",
        "序列的第一个值；默认 1",
    ),
    option(
        "fields.#.end",
        OptionKind::Integer,
        None,
        "last value of a sequence, after which the source ends; default: none",
        "序列的最后一个值，之后数据源结束；默认没有",
    ),
    option(
        "fields.#.min",
        OptionKind::Number,
        None,
        "smallest value; default: the smallest of the type",
        "最小值；默认为类型的最小值",
    ),
    option(
        "fields.#.max",
        OptionKind::Number,
        None,
        "largest value; default: the largest of the type",
        "最大值；默认为类型的最大值",
    ),
    option(
        "fields.#.length",
        OptionKind::Integer,
        None,
        "characters, bytes or elements; default: the length of the type, else 100, for collections 3",
        "字符、字节或元素个数；默认为类型的长度，否则为 100，集合为 3",
    ),
    option(
        "fields.#.max-past",
        OptionKind::Duration,
        None,
        "a random timestamp lies up to this before the row's event time",
        "随机时间戳比该行事件时间最多早这么久",
    ),
    option(
        "fields.#.var-len",
        OptionKind::Boolean,
        None,
        "whether the length is random, from 1 up to 'length'",
        "长度是否随机，从 1 到 'length'",
    ),
    option("fields.#.null-rate", OptionKind::Number, None, "the share of NULLs, 0 to 1", "NULL 的比例，0 到 1"),
    option(
        "fields.#.distribution",
        OptionKind::OneOf(&["uniform", "normal", "lognormal", "exponential", "zipf", "hot-keys", "choice"]),
        None,
        "how random values are spread; default uniform",
        "随机值的分布；默认 uniform",
    ),
    option(
        "fields.#.mu",
        OptionKind::Number,
        None,
        "mean of normal, or of the logarithm of lognormal; default 0",
        "normal 的均值，或 lognormal 对数的均值；默认 0",
    ),
    option(
        "fields.#.sigma",
        OptionKind::Number,
        None,
        "standard deviation, as 'mu'; default 1",
        "标准差，同 'mu'；默认 1",
    ),
    option(
        "fields.#.rate",
        OptionKind::Number,
        None,
        "rate of exponential: 1 divided by the mean; default 1",
        "exponential 的速率，即均值的倒数；默认 1",
    ),
    option(
        "fields.#.exponent",
        OptionKind::Number,
        None,
        "exponent of zipf over 'min' to 'max'; default 1",
        "zipf 在 'min' 到 'max' 上的指数；默认 1",
    ),
    option(
        "fields.#.hot.count",
        OptionKind::Integer,
        None,
        "how many keys are hot: the first ones from 'min' on; default 10",
        "热点键的个数，从 'min' 开始；默认 10",
    ),
    option(
        "fields.#.hot.share",
        OptionKind::Number,
        None,
        "the share of rows that fall on hot keys; default 0.2",
        "落在热点键上的行所占比例；默认 0.2",
    ),
    option(
        "fields.#.values",
        OptionKind::Text,
        None,
        "the values of choice, with commas between them",
        "choice 的候选值，用逗号分隔",
    ),
    option(
        "fields.#.weights",
        OptionKind::Text,
        None,
        "a weight for each of 'values'; default: all the same",
        "'values' 中每个值的权重；默认相同",
    ),
    option(
        "fields.#.format",
        OptionKind::Text,
        None,
        "printf pattern that makes text from a number: 'ORD%08d'",
        "把数字转成文本的 printf 模式：'ORD%08d'",
    ),
    option(
        "fields.#.scale",
        OptionKind::Integer,
        None,
        "digits after the point; default: the scale of the DECIMAL",
        "小数位数；默认为 DECIMAL 的小数位数",
    ),
    option(
        "fields.#.reference",
        OptionKind::Text,
        None,
        "table.field to draw from; not in this version",
        "取值来源 table.field；当前版本不支持",
    ),
    option(
        "fields.#.ratio",
        OptionKind::Number,
        None,
        "the share of referenced rows; not in this version",
        "被引用的行所占比例；当前版本不支持",
    ),
    option(
        "fields.#.reference.delay.*",
        OptionKind::Text,
        None,
        "seconds from the referenced row to this one, as a distribution; not in this version",
        "与被引用行相隔的秒数（分布）；当前版本不支持",
    ),
    option(
        "fields.#.expression",
        OptionKind::Text,
        None,
        "text with faker expressions: '#{Name.fullName}'",
        "带 faker 表达式的文本：'#{Name.fullName}'",
    ),
];

/// All options, for documentation.
pub(super) fn all() -> &'static [OptionSpec] {
    static ALL: std::sync::LazyLock<Vec<OptionSpec>> =
        std::sync::LazyLock::new(|| TABLE.iter().chain(FIELD).chain(watermark_options::OPTIONS).copied().collect());
    &ALL
}

/// The options of a table that are not of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableOptions {
    pub rows_per_second: f64,
    pub number_of_rows: Option<u64>,
    pub seed: Option<u64>,
    /// Milliseconds on the wall clock.
    pub event_start_ms: Option<i64>,
    pub event_step_ns: u64,
    pub order: Ordering,
    pub update_fields: Vec<String>,
}

/// In which order rows are delivered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ordering {
    /// As they are numbered.
    Plain,
    /// By event time plus a delay.
    Disorder { max_ns: u64, late_ratio: f64, late_by_ns: u64 },
    /// Updates and deletes follow the inserts at some distance.
    Changelog { update_ratio: f64, delete_ratio: f64 },
}

/// Options of each field path (`amount`, `address.city`), without the `fields.<path>.` before them.
pub(super) type FieldOptions = BTreeMap<String, Options>;

/// Parses and checks everything that can be checked without looking at column types.
pub(super) fn read(table: &TableDefinition, paths: &[String]) -> Result<(TableOptions, FieldOptions)> {
    let mut errors = Vec::new();
    let mut own = Options::default();
    let mut fields = FieldOptions::new();
    for (key, value) in table.options.iter().filter(|(key, _)| *key != "connector") {
        let Some(rest) = key.strip_prefix("fields.") else {
            own.set(key, value);
            continue;
        };
        match field_option(table, key, rest, value, paths) {
            Ok((path, suffix)) => drop(fields.entry(path.to_string()).or_default().set(suffix, value)),
            Err(error) => errors.push(error),
        }
    }
    let known: Vec<&OptionSpec> = all().iter().collect();
    errors.extend(own.validate(&known, OWNER).err());
    if let Some(error) = Error::all(errors) {
        return Err(error);
    }
    table_options(&own, table).map(|options| (options, fields))
}

/// Splits `amount.hot.count` into a known path and a known option.
fn field_option<'a>(
    table: &TableDefinition,
    key: &str,
    rest: &'a str,
    value: &str,
    paths: &[String],
) -> Result<(&'a str, &'a str)> {
    // The longest path wins: a column may be called like the begin of another.
    let path = paths.iter().filter(|path| rest.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('.')));
    let Some(path) = path.max_by_key(|path| path.len()) else {
        return Err(crate::declared::unknown_column(table, key, rest.split('.').next().unwrap_or(rest)));
    };
    let (path, suffix) = (&rest[..path.len()], &rest[path.len() + 1..]);
    let generic = format!("fields.#.{suffix}");
    let spec = FIELD.iter().find(|spec| match spec.key.strip_suffix('*') {
        Some(prefix) => generic.starts_with(prefix),
        None => spec.key == generic,
    });
    let Some(spec) = spec else {
        let names: Vec<String> = FIELD.iter().map(|spec| spec.key.replace('#', path)).collect();
        let near = nearest(key, names.iter().map(String::as_str));
        let near = if near.is_empty() { names.iter().map(String::as_str).collect() } else { near };
        return Err(Error::new(
            &base::options::UNKNOWN_OPTION,
            &[
                ("key", &key),
                ("owner", &OWNER),
                ("known", &crate::declared::quoted(&names)),
                ("nearest", &crate::declared::quoted(&near)),
            ],
        ));
    };
    // The declared option checks the value under its own name.
    let probe: Options = [(spec.key.to_string(), value.to_string())].into_iter().collect();
    match probe.validate(&[spec], OWNER) {
        Ok(()) => Ok((path, suffix)),
        Err(_) => Err(base::options::bad(spec, key, value)),
    }
}

fn table_options(options: &Options, table: &TableDefinition) -> Result<TableOptions> {
    let mut errors = Vec::new();
    let mut number = |spec: &OptionSpec, expected: &str, fits: &dyn Fn(f64) -> bool| match options.number(spec) {
        Ok(value) => {
            let value = value.unwrap_or(0.0);
            if !fits(value) {
                errors.push(bad_value(spec.key, &value.to_string(), expected));
            }
            value
        }
        Err(error) => {
            errors.push(error);
            0.0
        }
    };
    let rows_per_second = number(&ROWS_PER_SECOND, "a number above 0", &|rate| rate > 0.0);
    let late_ratio = number(&LATE_RATIO, "a number from 0 to 1", &|share| (0.0..=1.0).contains(&share));
    let update_ratio = number(&UPDATE_RATIO, "a number from 0 to 100", &|ratio| (0.0..=100.0).contains(&ratio));
    let delete_ratio = number(&DELETE_RATIO, "a number from 0 to 1", &|share| (0.0..=1.0).contains(&share));
    let number_of_rows = options.integer(&NUMBER_OF_ROWS)?;
    if number_of_rows.is_some_and(|rows| rows < 0) {
        errors.push(bad_value(NUMBER_OF_ROWS.key, &number_of_rows.unwrap_or(0).to_string(), "a whole number from 0"));
    }
    let step = options.duration(&EVENT_STEP)?;
    let event_step_ns = step.map_or((1e9 / rows_per_second).min(1e18) as u64, nanos).max(1);
    if step.is_some_and(|step| step.is_zero()) {
        errors.push(bad_value(EVENT_STEP.key, "0", "a time span longer than nothing"));
    }
    let max_ns = nanos(options.duration(&DISORDER_MAX)?.unwrap_or_default());
    let late_by_ns = nanos(options.duration(&LATE_BY)?.unwrap_or_default());
    let delayed = max_ns > 0 || (late_ratio > 0.0 && late_by_ns > 0);
    let changelog = options.boolean(&CHANGELOG)?;
    if changelog && delayed {
        let reason = "the changes of a row must come in their order";
        let key = if max_ns > 0 { DISORDER_MAX.key } else { LATE_RATIO.key };
        errors
            .push(Error::new(&codes::OPTIONS_CLASH, &[("key", &CHANGELOG.key), ("other", &key), ("reason", &reason)]));
    }
    let update_fields: Vec<String> = match options.get(UPDATE_FIELDS.key) {
        Some(list) => list.split(',').map(|name| name.trim().to_string()).collect(),
        None => table.physical().map(|c| c.name.clone()).filter(|name| !table.primary_key.contains(name)).collect(),
    };
    for name in &update_fields {
        if !table.physical().any(|column| column.name == *name) {
            errors.push(crate::declared::unknown_column(table, UPDATE_FIELDS.key, name));
        } else if table.primary_key.contains(name) {
            errors.push(bad_value(UPDATE_FIELDS.key, name, "columns that are not in the primary key"));
        }
    }
    let order = match (changelog, delayed) {
        (true, _) => Ordering::Changelog { update_ratio, delete_ratio },
        (false, true) => Ordering::Disorder { max_ns, late_ratio, late_by_ns },
        (false, false) => Ordering::Plain,
    };
    let event_start_ms = match options.get(EVENT_START.key) {
        None => None,
        Some(text) => match parse_wall_ms(text) {
            Some(ms) => Some(ms),
            None => {
                errors.push(Error::new(&codes::BAD_START, &[("key", &EVENT_START.key), ("value", &text)]));
                None
            }
        },
    };
    let read = TableOptions {
        rows_per_second,
        number_of_rows: number_of_rows.map(|rows| rows.max(0) as u64),
        seed: options.integer(&SEED)?.map(|seed| seed as u64),
        event_start_ms,
        event_step_ns,
        order,
        update_fields,
    };
    Error::all(errors).map_or(Ok(read), Err)
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}

/// Milliseconds of `2024-11-20 15:00:00.123` or its T form, read as a wall clock.
fn parse_wall_ms(text: &str) -> Option<i64> {
    let text = text.trim().replacen('T', " ", 1);
    let time = chrono::NaiveDateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S%.f").ok().or_else(|| {
        chrono::NaiveDate::parse_from_str(&text, "%Y-%m-%d").ok().and_then(|date| date.and_hms_opt(0, 0, 0))
    })?;
    Some(time.and_utc().timestamp_millis())
}
