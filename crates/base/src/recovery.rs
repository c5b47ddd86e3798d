//! How a job survives a failure: the session's options of checkpoints and restarts, read once.

use crate::checkpoint_dir::CheckpointDir;
use crate::config::{SessionOption, used};
use crate::error::{Error, Result};
use crate::options::{BAD_OPTION, OptionKind, Options};
use std::time::Duration;

/// `execution.checkpointing.timeout`.
pub const TIMEOUT: SessionOption = used(
    "execution.checkpointing.timeout",
    OptionKind::Duration,
    Some("10 min"),
    "a checkpoint that is not complete after this time is given up",
    "检查点超过该时长未完成则放弃",
);
/// `execution.checkpointing.min-pause`.
pub const MIN_PAUSE: SessionOption = used(
    "execution.checkpointing.min-pause",
    OptionKind::Duration,
    Some("0 ms"),
    "the least time between the end of a checkpoint and the beginning of the next one",
    "上一个检查点结束到下一个开始之间的最短时间",
);
/// `execution.checkpointing.tolerable-failed-checkpoints`.
pub const TOLERABLE_FAILURES: SessionOption = used(
    "execution.checkpointing.tolerable-failed-checkpoints",
    OptionKind::Integer,
    Some("0"),
    "how many checkpoints in a row may fail before the job does",
    "连续失败的检查点超过该数量时作业失败",
);
/// `state.checkpoints.dir`.
pub const DIR: SessionOption = used(
    "state.checkpoints.dir",
    OptionKind::Text,
    None,
    "where checkpoints are kept: a path, a file:// address, or s3://BUCKET/PREFIX; default: the state folder of the program",
    "检查点位置：路径、file:// 地址或 s3://BUCKET/PREFIX；默认为程序的状态目录",
);
/// `execution.checkpointing.dir`.
pub const EXECUTION_DIR: SessionOption = used(
    "execution.checkpointing.dir",
    OptionKind::Text,
    None,
    "same as 'state.checkpoints.dir'",
    "同 'state.checkpoints.dir'",
);
/// `state.checkpoints.num-retained`.
pub const RETAINED: SessionOption = used(
    "state.checkpoints.num-retained",
    OptionKind::Integer,
    Some("1"),
    "how many checkpoints are kept, the newest ones",
    "保留的最近检查点数量",
);
/// `execution.checkpointing.num-retained`.
pub const EXECUTION_RETAINED: SessionOption = used(
    "execution.checkpointing.num-retained",
    OptionKind::Integer,
    None,
    "same as 'state.checkpoints.num-retained'",
    "同 'state.checkpoints.num-retained'",
);

const STRATEGIES: OptionKind = OptionKind::OneOf(&[
    "none",
    "off",
    "disable",
    "fixed-delay",
    "fixeddelay",
    "exponential-delay",
    "exponentialdelay",
]);

/// `restart-strategy.type`.
pub const RESTART: SessionOption = used(
    "restart-strategy.type",
    STRATEGIES,
    None,
    "whether and when a job that failed because of something outside goes on from its last checkpoint; \
     default: exponential-delay with checkpoints by time, none without",
    "作业因外部原因失败后是否以及何时从最近的检查点继续；有周期检查点时默认 exponential-delay，否则为 none",
);
/// `restart-strategy`.
pub const RESTART_OLD: SessionOption =
    used("restart-strategy", STRATEGIES, None, "same as 'restart-strategy.type'", "同 'restart-strategy.type'");
/// `restart-strategy.fixed-delay.attempts`.
pub const FIXED_ATTEMPTS: SessionOption = used(
    "restart-strategy.fixed-delay.attempts",
    OptionKind::Integer,
    Some("1"),
    "how often the job is started again",
    "重启次数上限",
);
/// `restart-strategy.fixed-delay.delay`.
pub const FIXED_DELAY: SessionOption = used(
    "restart-strategy.fixed-delay.delay",
    OptionKind::Duration,
    Some("1 s"),
    "time before each new start",
    "每次重启前的等待时间",
);
/// `restart-strategy.exponential-delay.initial-backoff`.
pub const INITIAL_BACKOFF: SessionOption = used(
    "restart-strategy.exponential-delay.initial-backoff",
    OptionKind::Duration,
    Some("1 s"),
    "time before the first new start",
    "首次重启前的等待时间",
);
/// `restart-strategy.exponential-delay.max-backoff`.
pub const MAX_BACKOFF: SessionOption = used(
    "restart-strategy.exponential-delay.max-backoff",
    OptionKind::Duration,
    Some("1 min"),
    "the longest time before a new start",
    "重启等待时间上限",
);
/// `restart-strategy.exponential-delay.backoff-multiplier`.
pub const BACKOFF_MULTIPLIER: SessionOption = used(
    "restart-strategy.exponential-delay.backoff-multiplier",
    OptionKind::Number,
    Some("1.5"),
    "how much longer each time is than the one before",
    "每次等待时间相对上一次的倍数",
);
/// `restart-strategy.exponential-delay.reset-backoff-threshold`.
pub const BACKOFF_RESET: SessionOption = used(
    "restart-strategy.exponential-delay.reset-backoff-threshold",
    OptionKind::Duration,
    Some("1 h"),
    "after this long without a failure the next time is the first one again",
    "无故障运行超过该时长后等待时间重新从初始值开始",
);
/// `restart-strategy.exponential-delay.attempts-before-reset-backoff`.
pub const EXPONENTIAL_ATTEMPTS: SessionOption = used(
    "restart-strategy.exponential-delay.attempts-before-reset-backoff",
    OptionKind::Integer,
    Some("10"),
    "how often the job is started again within the time of 'reset-backoff-threshold'",
    "在 'reset-backoff-threshold' 时长内的重启次数上限",
);

/// Checkpoints of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointConfig {
    /// A checkpoint that takes longer is given up.
    pub timeout: Duration,
    /// The least time from the end of one to the beginning of the next.
    pub min_pause: Duration,
    /// How many in a row may fail.
    pub tolerable_failures: usize,
    /// How many are kept.
    pub retained: usize,
    /// Where they are kept, if the script says so.
    pub dir: Option<CheckpointDir>,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        CheckpointConfig {
            timeout: Duration::from_secs(600),
            min_pause: Duration::ZERO,
            tolerable_failures: 0,
            retained: 1,
            dir: None,
        }
    }
}

/// When a job that has failed is started again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RestartStrategy {
    /// Never.
    #[default]
    None,
    /// After the same time each time.
    FixedDelay {
        /// How often.
        attempts: u64,
        /// The time.
        delay: Duration,
    },
    /// After a longer time each time.
    ExponentialDelay {
        /// The first time.
        initial: Duration,
        /// The longest time.
        longest: Duration,
        /// How much longer each one is.
        multiplier: f64,
        /// After this long without a failure it begins anew.
        reset_after: Duration,
        /// How often, until then.
        attempts: u64,
    },
}

impl CheckpointConfig {
    /// Reads the session's options.
    ///
    /// # Errors
    /// A value that its option does not take, or an address where no checkpoint can be kept.
    pub fn from_options(options: &Options) -> Result<CheckpointConfig> {
        let defaults = CheckpointConfig::default();
        let retained = match options.get(EXECUTION_RETAINED.spec.key) {
            Some(_) => count(options, &EXECUTION_RETAINED, 1)?,
            None => count(options, &RETAINED, 1)?,
        };
        Ok(CheckpointConfig {
            timeout: options.duration(&TIMEOUT.spec)?.unwrap_or(defaults.timeout),
            min_pause: options.duration(&MIN_PAUSE.spec)?.unwrap_or_default(),
            tolerable_failures: count(options, &TOLERABLE_FAILURES, 0)?.unwrap_or_default() as usize,
            retained: retained.unwrap_or(1) as usize,
            dir: CheckpointDir::from_options(options)?,
        })
    }
}

impl RestartStrategy {
    /// Reads the session's options; a job without checkpoints by time is not started again unless the script says so.
    ///
    /// # Errors
    /// A value that its option does not take.
    pub fn from_options(options: &Options, has_interval: bool) -> Result<RestartStrategy> {
        let named = match options.word(&RESTART.spec)? {
            Some(name) => Some(name),
            None => options.word(&RESTART_OLD.spec)?,
        };
        let duration = |option: &SessionOption| options.duration(&option.spec).map(Option::unwrap_or_default);
        Ok(match named {
            Some("fixed-delay" | "fixeddelay") => RestartStrategy::FixedDelay {
                attempts: count(options, &FIXED_ATTEMPTS, 0)?.unwrap_or(1),
                delay: duration(&FIXED_DELAY)?,
            },
            Some("none" | "off" | "disable") => RestartStrategy::None,
            None if !has_interval => RestartStrategy::None,
            _ => RestartStrategy::ExponentialDelay {
                initial: duration(&INITIAL_BACKOFF)?,
                longest: duration(&MAX_BACKOFF)?,
                multiplier: options.number(&BACKOFF_MULTIPLIER.spec)?.unwrap_or(1.5).max(1.0),
                reset_after: duration(&BACKOFF_RESET)?,
                attempts: count(options, &EXPONENTIAL_ATTEMPTS, 0)?.unwrap_or(10),
            },
        })
    }
}

fn count(options: &Options, option: &SessionOption, least: i64) -> Result<Option<u64>> {
    match options.integer(&option.spec)? {
        None => Ok(None),
        Some(number) if number >= least => Ok(Some(number as u64)),
        Some(number) => {
            let expected = format!("a whole number from {least}");
            Err(Error::new(&BAD_OPTION, &[("key", &option.spec.key), ("value", &number), ("expected", &expected)]))
        }
    }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
