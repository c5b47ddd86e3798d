//! GROUP BY a session: what touches becomes one, and what is late only after that.

use super::changes;
use super::harness::{Case, Random, case, run_bounded, stream};
use super::stand_ins::call;
use base::ChangelogMode;
use base::plan::{NodeKind, Window, WindowAggregate, WindowEmit, WindowKind, WindowProperty};

const GAP: WindowKind = WindowKind::Session { gap_ms: 10_000 };

fn sessions(input: ChangelogMode) -> Case {
    let window = Window { kind: GAP, offset_ms: 0, time_column: 2, time_zone: None, is_processing_time: false };
    sessions_over(window, input, "rowtime")
}

/// Rows of some keys that open sessions, make them longer, join them and see them end.
pub fn random_sessions(seed: u64) -> String {
    let mut random = Random(seed);
    let (mut script, mut time) = (String::new(), 60);
    for value in 0..120 {
        time += random.below(5);
        let late = random.below(40);
        let kind = ["+I", "+I", "+U", "-U"][random.below(4) as usize];
        let row = |seconds: u64| format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        script.push_str(&format!("{kind} k{} {value} {}\n", random.below(6), row(time - late)));
        if random.below(4) == 0 {
            script.push_str(&format!("wm {}\n", row(time - 30)));
        }
    }
    script
}

#[test]
fn changes_are_the_sessions_that_rows_came_to() {
    (0..12).for_each(|seed| changes::check(&sessions(ChangelogMode::ALL), &random_sessions(seed)));
    let second = |user: u32| if user < 50 { 0 } else { 30 };
    let users: String = (0..500).map(|user| format!("+I u{user} 1 00:00:{:02}\n", second(user))).collect();
    let before = format!("{users}+I u7 1 00:00:30");
    let changed = |change: &str| changes::changed_rows(&sessions(ChangelogMode::ALL), &before, change);
    assert_eq!(changed("+I u7 1 00:00:05"), 1, "the session with its new end");
    assert_eq!(changed("+I u7 1 00:01:00"), 1, "a new session");
    assert_eq!(changed("+I u7 1 00:00:10 \n +I u7 1 00:00:20"), 3, "one that is longer; two that are one");
    assert_eq!(changed("wm 00:00:10"), 50, "those that have fired");
}

fn sessions_over(window: Window, input: ChangelogMode, time: &str) -> Case {
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![0],
        calls: vec![call("SUM", Some(1)), call("COUNT", None)],
        properties: vec![WindowProperty::Start, WindowProperty::End],
        emit: WindowEmit::default(),
    };
    let output = stream("user:text s:int c:int ws:time we:time", ChangelogMode::APPEND);
    let input = stream(&format!("user:text v:int ts:{time}"), input);
    Case { exact: true, ..case(NodeKind::WindowAggregate(node), input, output, &[0]) }
}

#[test]
fn rows_that_touch_are_one_session() {
    sessions(ChangelogMode::APPEND).check(
        "+I a 1 00:00:00
         +I a 2 00:00:20
         +I b 4 00:00:05
         +I null 5 00:00:05
         +I a 8 00:00:10
         +I a 16 00:00:50.001
         +I a 32 00:00:40
         +I null 6 00:00:15.001
         wm 00:00:29.998
         wm 00:00:49.999
         wm max",
        "+I b 4 1 00:00:05 00:00:15
         +I null 5 1 00:00:05 00:00:15
         +I null 6 1 00:00:15.001 00:00:25.001
         +I a 11 3 00:00:00 00:00:30
         +I a 32 1 00:00:40 00:00:50
         +I a 16 1 00:00:50.001 00:01:00.001",
    );
}

#[test]
fn a_row_can_join_several_sessions() {
    // The earlier ones, the later ones, and those on both sides of it; each with rows in the same batch.
    sessions(ChangelogMode::APPEND).check(
        "+I a 1 00:01:00
         +I a 2 00:01:15
         +I a 4 00:01:30
         +I a 8 00:02:00
         +I a 16 00:00:45
         +I a 32 00:01:22
         +I a 64 00:00:53
         +I a 128 00:01:07
         +I a 256 00:01:59
         wm max",
        "+I a 247 7 00:00:45 00:01:40 \n +I a 264 2 00:01:59 00:02:10",
    );
}

#[test]
fn a_row_is_late_only_if_it_touches_no_open_session() {
    let sessions = sessions(ChangelogMode::APPEND);
    let script = "
        +I a 1 00:00:20
        +I b 1 00:00:20
        wm 00:00:25
        +I a 2 00:00:10
        +I a 4 00:00:09.999
        +I b 8 00:00:12
        +I c 16 00:00:15
        wm 00:00:29.999
        +I a 32 00:00:30
        +I a 64 00:00:19
        +I a 128 00:00:21
        wm max";
    sessions.check(
        script,
        "+I a 7 3 00:00:09.999 00:00:30
         +I b 9 2 00:00:12 00:00:30
         +I a 160 2 00:00:21 00:00:40",
    );
    let statistics = sessions.statistics(script);
    assert_eq!((statistics.late_rows, statistics.state_entries), (2, 0));
    let sample = "ts 1970-01-01 00:00:15 is behind watermark 1970-01-01 00:00:25";
    assert_eq!(statistics.late_sample.as_deref(), Some(sample));
}

#[test]
fn retractions_stay_in_their_session() {
    sessions(ChangelogMode::ALL).check(
        "+I a 10 00:00:01
         +I a 5 00:00:05
         -U a 10 00:00:01
         +U a 11 00:00:12
         -D a 5 00:00:05
         +I b 5 00:00:15
         -D b 5 00:00:15
         wm 00:00:25
         +I c 1 00:00:40
         +I c 1 00:00:41
         -U c 1 00:00:41
         +U c 2 00:00:50
         wm max",
        "+I a 11 1 00:00:01 00:00:22 \n +I c 3 2 00:00:40 00:01:00",
    );
}

#[test]
fn sessions_of_a_time_zone_are_readings_of_its_clock() {
    let zone = base::config::parse_time_zone("Asia/Shanghai").expect("zone");
    let window = Window { kind: GAP, offset_ms: 0, time_column: 2, time_zone: Some(zone), is_processing_time: false };
    sessions_over(window, ChangelogMode::APPEND, "instant").check(
        "+I a 1 00:00:00
         +I a 2 00:00:10
         wm 00:00:19.998
         +I a 4 00:00:05
         wm 00:00:19.999
         +I a 8 00:00:09
         wm max",
        "+I a 7 3 08:00:00 08:00:20",
    );
}

#[test]
fn processing_time_sessions_end_by_the_clock() {
    let window = Window { kind: GAP, offset_ms: 0, time_column: 2, time_zone: None, is_processing_time: true };
    let case = sessions_over(window, ChangelogMode::APPEND, "time");
    case.check(
        "now 1000
         +I a 1 null
         now 5000
         +I a 2 null
         +I b 4 null
         wm max
         now 14999
         +I a 8 null
         now 15000
         now 24998
         now 24999
         +I a 16 null
         wm max",
        "+I b 4 1 00:00:05 00:00:15 \n +I a 11 3 00:00:01 00:00:24.999",
    );
}

#[test]
fn sessions_fire_in_bounded_batches_and_give_their_slots_back() {
    let case = sessions(ChangelogMode::APPEND);
    let rows: String = (0..50).map(|n| format!("+I u{} {n} 00:{:02}:{:02}\n", n % 7, n / 10, n % 60)).collect();
    let script = format!("{rows}{}wm max\n{}", rows.replace("+I u", "+I v"), "");
    let run = run_bounded(&case, &script, 3);
    assert!(run.largest_batch <= 3);
    assert_eq!(run.operators[0].statistics().state_entries, 0);
    assert_eq!(run.output.len(), case.run(&script, 1, true).len());
}

#[test]
fn a_million_open_sessions_fit_in_400_mb() {
    let sessions = sessions(ChangelogMode::APPEND);
    let rows = 50_000;
    let lines: String = (0..rows).map(|n| format!("+I user-{n} 1 00:{:02}:{:02}\n", n / 60 % 60, n % 60)).collect();
    let run = run_bounded(&sessions, &lines, 4096);
    let statistics = run.operators[0].statistics();
    assert_eq!(statistics.state_entries, rows);
    assert!(statistics.state_bytes < rows * 400, "{} bytes per session", statistics.state_bytes / rows);
}
