//! Options of checkpoints and restarts.

use super::*;

fn options(pairs: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    pairs.iter().for_each(|(key, value)| drop(options.set(*key, *value)));
    options
}

#[test]
fn what_is_not_set_is_as_documented() {
    let config = CheckpointConfig::from_options(&Options::default()).expect("defaults");
    assert_eq!(config, CheckpointConfig::default());
    let strategy = RestartStrategy::from_options(&Options::default(), true).expect("a default");
    let RestartStrategy::ExponentialDelay { initial, longest, multiplier, reset_after, attempts } = strategy else {
        panic!("{strategy:?}")
    };
    assert_eq!(
        (initial, longest, reset_after),
        (Duration::from_secs(1), Duration::from_secs(60), Duration::from_secs(3600))
    );
    assert_eq!((multiplier, attempts), (1.5, 10));
    assert_eq!(RestartStrategy::from_options(&Options::default(), false).expect("none"), RestartStrategy::None);
}

#[test]
fn both_spellings_are_read() {
    for (dir, retained) in [
        ("state.checkpoints.dir", "state.checkpoints.num-retained"),
        ("execution.checkpointing.dir", "execution.checkpointing.num-retained"),
    ] {
        let config = CheckpointConfig::from_options(&options(&[(dir, "file:///data/ck"), (retained, "3")]));
        let config = config.expect("both are known");
        assert_eq!((config.dir, config.retained), (Some(CheckpointDir::Local("/data/ck".into())), 3));
    }
    let strategy = |key| RestartStrategy::from_options(&options(&[(key, "fixed-delay")]), false).expect("known");
    let expected = RestartStrategy::FixedDelay { attempts: 1, delay: Duration::from_secs(1) };
    assert_eq!((strategy("restart-strategy"), strategy("restart-strategy.type")), (expected, expected));
}

#[test]
fn what_cannot_be_done_is_refused() {
    let code = |pair| CheckpointConfig::from_options(&options(&[pair])).expect_err("refused").code();
    assert_eq!(code(("state.checkpoints.dir", "oss://bucket/ck")), "HW-X105");
    assert_eq!(code(("state.checkpoints.num-retained", "0")), "HW-C003");
    assert_eq!(code(("execution.checkpointing.tolerable-failed-checkpoints", "-1")), "HW-C003");
    let rate = options(&[("restart-strategy.type", "failure-rate")]);
    assert_eq!(RestartStrategy::from_options(&rate, true).expect_err("refused").code(), "HW-C003");
}
