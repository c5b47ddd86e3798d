//! Who waits for whom.

use super::*;

fn members<const N: usize>(max_drift_ms: u64) -> [Member; N] {
    let group = Arc::new(SourceGroup::default());
    std::array::from_fn(|index| group.join(["a", "b", "c"][index % 3], Duration::from_millis(max_drift_ms)))
}

#[test]
fn only_who_is_further_ahead_than_the_drift_waits() {
    let [mut fast, mut slow] = members(10);
    fast.tell(Some(110));
    slow.tell(Some(100));
    assert!(!fast.is_ahead(), "exactly the drift is allowed");
    fast.tell(Some(111));
    assert!(fast.is_ahead());
    assert_eq!(fast.waits_for().as_deref(), Some("b"));
    assert!(!slow.is_ahead() && slow.waits_for().is_none());
    slow.tell(Some(101));
    assert!(!fast.is_ahead());
}

#[test]
fn who_has_no_watermark_does_not_count() {
    let [mut fast, mut other] = members(0);
    fast.tell(Some(1_000));
    assert!(!fast.is_ahead(), "before the first row of the other");
    other.tell(Some(1));
    assert!(fast.is_ahead());
    other.tell(None);
    assert!(!fast.is_ahead(), "idle or ended");
}

#[test]
fn one_member_never_waits() {
    let [mut only] = members(0);
    only.tell(Some(i64::MAX));
    assert!(!only.is_ahead());
}

#[tokio::test]
async fn a_waiting_member_wakes_when_the_slowest_has_caught_up() {
    let [mut fast, mut slow] = members(10);
    fast.tell(Some(100));
    slow.tell(Some(0));
    let waiting = tokio::spawn(async move {
        fast.caught_up().await;
        fast
    });
    tokio::task::yield_now().await;
    slow.tell(Some(89));
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "not far enough");
    slow.tell(Some(90));
    assert!(!waiting.await.expect("no panic").is_ahead());
}
