//! Tests of how windows cut time.

use super::*;
use base::config::parse_time_zone;

fn assigner(kind: WindowKind, offset_ms: i64, zone: Option<&str>) -> WindowAssigner {
    let time_zone = zone.map(|zone| parse_time_zone(zone).expect("zone"));
    WindowAssigner::new(&Window { kind, offset_ms, time_column: 0, time_zone, is_processing_time: false })
        .expect("assigner")
}

fn windows(assigner: &mut WindowAssigner, time: i64) -> Vec<(i64, i64)> {
    let mut out = Assigned::default();
    assigner.assign(&[time], &mut out);
    out.ends.iter().map(|&end| (assigner.start(end), end)).collect()
}

#[test]
fn windows_of_every_kind() {
    let mut tumble = assigner(WindowKind::Tumble { size_ms: 10 }, 0, None);
    assert_eq!(windows(&mut tumble, 10), [(10, 20)]);
    assert_eq!(windows(&mut tumble, -1), [(-10, 0)], "before 1970");
    let mut shifted = assigner(WindowKind::Tumble { size_ms: 10 }, -3, None);
    assert_eq!(windows(&mut shifted, 6), [(-3, 7)]);
    let mut hop = assigner(WindowKind::Hop { slide_ms: 5, size_ms: 10 }, 0, None);
    assert_eq!(windows(&mut hop, 10), [(10, 20), (5, 15)]);
    let mut gaps = assigner(WindowKind::Hop { slide_ms: 10, size_ms: 4 }, 0, None);
    assert_eq!(windows(&mut gaps, 3), [(0, 4)]);
    assert_eq!(windows(&mut gaps, 4), []);
    let mut cumulate = assigner(WindowKind::Cumulate { step_ms: 5, size_ms: 15 }, 0, None);
    assert_eq!(windows(&mut cumulate, 7), [(0, 10), (0, 15)]);
    assert_eq!(windows(&mut cumulate, -1), [(-15, 0)]);
    assert_eq!(windows(&mut cumulate, i64::MIN).len(), 3, "any time is taken");
}

#[test]
fn days_follow_the_time_zone() {
    // 2024-01-01T00:00 in Shanghai is 2023-12-31T16:00Z.
    let mut day = assigner(WindowKind::Tumble { size_ms: DAY_MS }, 0, Some("Asia/Shanghai"));
    let local_midnight = 1_704_067_200_000;
    assert_eq!(windows(&mut day, local_midnight - 8 * HOUR_MS), [(local_midnight, local_midnight + DAY_MS)]);
    assert_eq!(windows(&mut day, local_midnight - 8 * HOUR_MS - 1), [(local_midnight - DAY_MS, local_midnight)]);
    assert_eq!(day.fires_at(local_midnight), local_midnight - 8 * HOUR_MS - 1);
    assert_eq!(day.time(local_midnight), local_midnight - 8 * HOUR_MS - 1);
}

#[test]
fn a_window_fires_when_no_row_can_follow_at_a_change_of_the_clock() {
    let hour = assigner(WindowKind::Tumble { size_ms: HOUR_MS }, 0, Some("Europe/Berlin"));
    // 2024-10-27: at 01:00Z clocks go back from 03:00 to 02:00, so 02:00 to 03:00 lasts two hours, until 02:00Z.
    let end_local = 1_729_998_000_000; // 2024-10-27 03:00 local
    assert_eq!(hour.fires_at(end_local), 1_729_994_400_000 - 1, "2024-10-27T02:00Z");
    // 2024-03-31: at 01:00Z clocks jump from 02:00 to 03:00.
    let jump = 1_711_846_800_000; // 2024-03-31T01:00Z
    let end_local = 1_711_850_400_000; // 2024-03-31 02:00 local, not skipped yet: last reading 01:59:59.999
    assert_eq!(hour.fires_at(end_local), jump - 1);
    assert_eq!(hour.fires_at(end_local + HOUR_MS), jump - 1, "a skipped window is over at once");
    assert_eq!(hour.fires_at(end_local + 2 * HOUR_MS), jump + HOUR_MS - 1);
}

#[test]
fn the_hour_cache_gives_the_same_offsets() {
    let mut day = assigner(WindowKind::Tumble { size_ms: DAY_MS }, 0, Some("America/St_Johns"));
    let zone = parse_time_zone("America/St_Johns").expect("zone");
    for step in 0..20_000i64 {
        let time = 1_700_000_000_000 + step * 1_234_567;
        assert_eq!(day.local(time), time + zone_offset_ms(zone, time));
    }
}
