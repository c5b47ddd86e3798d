//! Window table functions against Flink's recorded rows.

use super::harness::{Case, case, run_bounded, stream};
use base::ChangelogMode;
use base::plan::{NodeKind, Window, WindowKind, WindowTable};

fn table(kind: WindowKind) -> Case {
    let window = Window { kind, offset_ms: 0, time_column: 1, time_zone: None, is_processing_time: false };
    let input = stream("v:int ts:rowtime", ChangelogMode::ALL);
    let output = stream("v:int ts:rowtime window_start:time window_end:time window_time:rowtime", ChangelogMode::ALL);
    Case {
        exact: true,
        ..case(NodeKind::WindowTable(WindowTable { window, partition: Vec::new() }), input, output, &[])
    }
}

#[test]
fn tumble_appends_one_window() {
    table(WindowKind::Tumble { size_ms: 60_000 }).check(
        "+I 1 00:00:01
         +I 2 00:00:59.999
         wm 00:05
         -U 2 00:00:59.999
         +U 3 00:01",
        "+I 1 00:00:01     00:00:00 00:01:00 00:00:59.999
         +I 2 00:00:59.999 00:00:00 00:01:00 00:00:59.999
         -U 2 00:00:59.999 00:00:00 00:01:00 00:00:59.999
         +U 3 00:01:00     00:01:00 00:02:00 00:01:59.999",
    );
}

#[test]
fn hop_gives_the_latest_window_first() {
    let hop = table(WindowKind::Hop { slide_ms: 30_000, size_ms: 60_000 });
    hop.check(
        "+I 1 00:00:10
         +I 2 00:00:40",
        "+I 1 00:00:10 00:00:00  00:01:00 00:00:59.999
         +I 1 00:00:10 -00:00:30 00:00:30 00:00:29.999
         +I 2 00:00:40 00:00:30  00:01:30 00:01:29.999
         +I 2 00:00:40 00:00:00  00:01:00 00:00:59.999",
    );
    let script: String = (0..50).map(|v| format!("+I {v} 00:00:{v:02}\n")).collect();
    let run = run_bounded(&hop, &script, 8);
    assert_eq!((run.output.len(), run.largest_batch), (100, 8));
}

#[test]
fn cumulate_gives_the_shortest_window_first() {
    table(WindowKind::Cumulate { step_ms: 30_000, size_ms: 60_000 }).check(
        "+I 1 00:00:10
         +I 2 00:00:40",
        "+I 1 00:00:10 00:00:00 00:00:30 00:00:29.999
         +I 1 00:00:10 00:00:00 00:01:00 00:00:59.999
         +I 2 00:00:40 00:00:00 00:01:00 00:00:59.999",
    );
}
