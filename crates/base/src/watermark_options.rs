//! The options `scan.watermark.*` that every source table takes: how its watermarks follow silence and other sources.

use crate::error::Result;
use crate::options::{BAD_OPTION, MISSING_OPTION, OptionKind, OptionSpec, Options};
use std::time::Duration;

/// `scan.watermark.emit.strategy`.
pub const EMIT_STRATEGY: OptionSpec = OptionSpec {
    key: "scan.watermark.emit.strategy",
    kind: OptionKind::OneOf(&["on-periodic", "on-event"]),
    default: Some("on-periodic"),
    required: false,
    en: "accepted for Flink's sake: watermarks go out with every batch, which is as fine as both",
    zh: "为兼容 Flink 而接受：水位线随每个批次发出，不比两种策略粗",
};

/// `scan.watermark.idle-timeout`.
pub const IDLE_TIMEOUT: OptionSpec = OptionSpec {
    key: "scan.watermark.idle-timeout",
    kind: OptionKind::Duration,
    default: None,
    required: false,
    en: "how long a split may be silent before it holds no watermark back; default: 'table.exec.source.idle-timeout'",
    zh: "分片静默多久后不再拖住水位线；默认取 'table.exec.source.idle-timeout'",
};

/// `scan.watermark.alignment.group`.
pub const ALIGNMENT_GROUP: OptionSpec = OptionSpec {
    key: "scan.watermark.alignment.group",
    kind: OptionKind::Text,
    default: None,
    required: false,
    en: "sources of one job with the same group wait for each other",
    zh: "同一作业中组名相同的数据源互相等待",
};

/// `scan.watermark.alignment.max-drift`.
pub const ALIGNMENT_MAX_DRIFT: OptionSpec = OptionSpec {
    key: "scan.watermark.alignment.max-drift",
    kind: OptionKind::Duration,
    default: None,
    required: false,
    en: "how far a source of the group may be ahead of the slowest one, in event time",
    zh: "组内数据源最多可领先最慢者多少（事件时间）",
};

/// `scan.watermark.alignment.update-interval`.
pub const ALIGNMENT_UPDATE_INTERVAL: OptionSpec = OptionSpec {
    key: "scan.watermark.alignment.update-interval",
    kind: OptionKind::Duration,
    default: Some("1 s"),
    required: false,
    en: "accepted for Flink's sake: a waiting source goes on as soon as the others have caught up",
    zh: "为兼容 Flink 而接受：其他数据源追上后，等待中的数据源立即继续",
};

/// All of them.
pub const OPTIONS: &[OptionSpec] =
    &[EMIT_STRATEGY, IDLE_TIMEOUT, ALIGNMENT_GROUP, ALIGNMENT_MAX_DRIFT, ALIGNMENT_UPDATE_INTERVAL];

/// Sources that wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// The name of the group.
    pub group: String,
    /// How far a member may be ahead of the slowest one, in event time.
    pub max_drift: Duration,
}

/// What a source table says about its watermarks besides the WATERMARK clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatermarkOptions {
    /// How long a split may be silent before it holds no watermark back.
    pub idle_timeout: Option<Duration>,
    /// The group to wait for.
    pub alignment: Option<Alignment>,
}

impl WatermarkOptions {
    /// Reads the options of a table.
    ///
    /// # Errors
    /// Values that the options do not take; a group without a drift, or the reverse.
    pub fn from_options(options: &Options) -> Result<WatermarkOptions> {
        options.word(&EMIT_STRATEGY)?;
        let max_drift = options.duration(&ALIGNMENT_MAX_DRIFT)?;
        if options.duration(&ALIGNMENT_UPDATE_INTERVAL)?.is_some_and(|interval| interval.is_zero()) {
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("key", &ALIGNMENT_UPDATE_INTERVAL.key), ("value", &"0"), ("expected", &"a time span above 0")];
            return Err(crate::Error::new(&BAD_OPTION, &arguments));
        }
        let missing = |spec: &OptionSpec| {
            let owner = "the watermark alignment of this table";
            crate::Error::new(&MISSING_OPTION, &[("key", &spec.key), ("owner", &owner), ("purpose", &spec.en)])
        };
        let alignment = match (options.get(ALIGNMENT_GROUP.key), max_drift) {
            (Some(group), Some(max_drift)) => Some(Alignment { group: group.to_string(), max_drift }),
            (Some(_), None) => return Err(missing(&ALIGNMENT_MAX_DRIFT)),
            (None, Some(_)) => return Err(missing(&ALIGNMENT_GROUP)),
            (None, None) => None,
        };
        Ok(WatermarkOptions { idle_timeout: options.duration(&IDLE_TIMEOUT)?, alignment })
    }
}
