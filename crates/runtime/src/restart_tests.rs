//! Times between restarts.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_fixed_delay_is_given_as_often_as_allowed() {
    let mut restarts = Restarts::new(RestartStrategy::FixedDelay { attempts: 2, delay: SECOND });
    let delays: Vec<_> = (0..3).map(|_| restarts.next(Duration::ZERO)).collect();
    assert_eq!(delays, [Some(SECOND), Some(SECOND), None]);
    assert_eq!(Restarts::new(RestartStrategy::None).next(Duration::MAX), None);
}

#[test]
fn an_exponential_delay_grows_to_its_limit_and_begins_anew_after_a_long_run() {
    let mut restarts = Restarts::new(RestartStrategy::ExponentialDelay {
        initial: SECOND,
        longest: SECOND * 3,
        multiplier: 2.0,
        reset_after: SECOND * 100,
        attempts: 4,
    });
    let mut next = |ran: u32| restarts.next(SECOND * ran).map(|delay| delay.as_secs());
    assert_eq!([next(500), next(1), next(99)], [Some(1), Some(2), Some(3)]);
    assert_eq!([next(100), next(1)], [Some(1), Some(2)]);
    assert_eq!([next(1), next(1), next(1)], [Some(3), Some(3), None]);
}
