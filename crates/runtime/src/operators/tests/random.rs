//! Random changelogs: whatever the batching and the restarts, the result is that of a computation over the final rows.

use super::harness::{Case, Random, case, stream};
use super::stand_ins::call;
use base::ChangelogMode;
use base::plan::{ChangelogNormalize, GroupAggregate, NodeKind, Window, WindowAggregate, WindowEmit, WindowKind};
use std::collections::BTreeMap;

/// Inserts, updates and deletes of existing rows `key value minute`, as lines, and the rows that are left.
fn changelog(numbers: &mut Random, steps: usize) -> (Vec<String>, Vec<(u64, u64, u64)>) {
    let mut rows: Vec<(u64, u64, u64)> = Vec::new();
    let mut lines = Vec::new();
    for _ in 0..steps {
        let new = (numbers.below(5), numbers.below(4), numbers.below(3));
        let line = |kind: &str, row: &(u64, u64, u64)| format!("{kind} {} {} 00:{:02}:30", row.0, row.1, row.2);
        let remove = if rows.is_empty() { 0 } else { numbers.below(3) };
        if remove > 0 {
            let index = numbers.below(rows.len() as u64) as usize;
            let old = rows.swap_remove(index);
            lines.push(line(if remove == 1 { "-D" } else { "-U" }, &old));
        }
        if remove != 1 {
            lines.push(line(if remove == 0 { "+I" } else { "+U" }, &new));
            rows.push(new);
        }
    }
    (lines, rows)
}

fn check(case: &Case, script: &str, expected: &[String], seed: u64) {
    for (rows, restore) in [(1, false), (3, true), (7, false), (4096, true)] {
        let actual = case.table(&case.run(script, rows, restore));
        assert_eq!(actual, expected, "seed {seed}, batches of {rows} rows, restore {restore}");
    }
}

#[test]
fn groups() {
    let calls = vec![call("COUNT", None), call("SUM", Some(1))];
    let node = GroupAggregate { keys: vec![0], calls, merges: None, state_ttl: None };
    let input = stream("k:int v:int ts:rowtime", ChangelogMode::ALL);
    let grouped = case(NodeKind::GroupAggregate(node), input, stream("k:int c:int s:int", ChangelogMode::ALL), &[0]);
    for seed in 0..100 {
        let (lines, rows) = changelog(&mut Random(seed), 40);
        let mut groups: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (key, value, _) in rows {
            let group = groups.entry(key).or_default();
            (group.0, group.1) = (group.0 + 1, group.1 + value);
        }
        let expected: Vec<_> = groups.into_iter().map(|(key, (n, sum))| format!("1 x {key} {n} {sum}")).collect();
        check(&grouped, &lines.join("\n"), &expected, seed);
    }
}

#[test]
fn windows() {
    let window = Window {
        kind: WindowKind::Tumble { size_ms: 60_000 },
        offset_ms: 0,
        time_column: 2,
        time_zone: None,
        is_processing_time: false,
    };
    let properties = vec![base::plan::WindowProperty::Start];
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![0],
        calls: vec![call("SUM", Some(1))],
        properties,
        emit: WindowEmit::default(),
    };
    let input = stream("k:int v:int ts:rowtime", ChangelogMode::ALL);
    let output = stream("k:int s:int ws:time", ChangelogMode::APPEND);
    let windows = case(NodeKind::WindowAggregate(node), input, output, &[0]);
    for seed in 0..100 {
        let (mut lines, rows) = changelog(&mut Random(seed), 40);
        let mut groups: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for (key, value, minute) in rows {
            *groups.entry((key, minute)).or_default() += value;
        }
        lines.push("wm max".into());
        let line = |((key, minute), sum)| format!("1 x {key} {sum} 00:{minute:02}:00");
        let mut expected: Vec<String> = groups.into_iter().map(line).collect();
        expected.sort();
        check(&windows, &lines.join("\n"), &expected, seed);
    }
}

#[test]
fn normalised_rows() {
    let node = ChangelogNormalize { keys: vec![0], drops_repeats: false, condition: None, state_ttl: None };
    let input = stream("k:int v:int ts:rowtime", ChangelogMode::UPSERT);
    let output = stream("k:int v:int ts:rowtime", ChangelogMode::ALL);
    let normalized = case(NodeKind::ChangelogNormalize(node), input, output, &[0]);
    for seed in 0..100 {
        let mut numbers = Random(seed);
        let mut rows: BTreeMap<u64, String> = BTreeMap::new();
        let mut lines = Vec::new();
        for _ in 0..60 {
            let (key, value) = (numbers.below(6), numbers.below(3));
            let row = format!("{key} {value} 00:00:01");
            match numbers.below(3) {
                0 => {
                    lines.push(format!("-D {row}"));
                    rows.remove(&key);
                }
                n => {
                    lines.push(format!("{} {row}", if n == 1 { "+I" } else { "+U" }));
                    rows.insert(key, row);
                }
            }
        }
        let expected: Vec<String> = rows.into_values().map(|row| format!("1 x {row}")).collect();
        check(&normalized, &lines.join("\n"), &expected, seed);
    }
}

/// Sessions against a computation that sorts: any arrival order and batching gives the same sessions.
#[test]
fn sessions() {
    use base::plan::WindowProperty;
    let kind = WindowKind::Session { gap_ms: 3_000 };
    let window = Window { kind, offset_ms: 0, time_column: 2, time_zone: None, is_processing_time: false };
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![0],
        calls: vec![call("SUM", Some(1))],
        properties: vec![WindowProperty::Start, WindowProperty::End],
        emit: WindowEmit::default(),
    };
    let input = stream("k:int v:int ts:rowtime", ChangelogMode::APPEND);
    let output = stream("k:int s:int ws:time we:time", ChangelogMode::APPEND);
    let sessions = case(NodeKind::WindowAggregate(node), input, output, &[0]);
    for seed in 0..200 {
        let mut numbers = Random(seed);
        let mut rows: Vec<(u64, u64, u64)> = Vec::new();
        let mut lines = Vec::new();
        // A watermark that no row is behind, nor next to: that would touch a session which has fired.
        let (mut base, mut watermark) = (0, 0);
        for _ in 0..40 {
            let row = (numbers.below(3), numbers.below(100), base + numbers.below(20));
            lines.push(format!("+I {} {} 00:00:{:02}", row.0, row.1, row.2));
            rows.push(row);
            if numbers.below(4) == 0 {
                base = (base + numbers.below(8)).min(39);
                if base > watermark {
                    watermark = base;
                    lines.push(format!("wm 00:00:{:02}", base - 1));
                }
            }
        }
        lines.push("wm max".into());
        rows.sort_by_key(|&(key, _, time)| (key, time));
        let mut expected: Vec<(u64, u64, u64, u64)> = Vec::new();
        for (key, value, time) in rows {
            match expected.last_mut() {
                Some((last, sum, _, end)) if *last == key && time <= *end => {
                    *sum += value;
                    *end = (*end).max(time + 3);
                }
                _ => expected.push((key, value, time, time + 3)),
            }
        }
        let clock = |seconds: u64| format!("00:{:02}:{:02}", seconds / 60, seconds % 60);
        let line = |(key, sum, start, end)| format!("1 x {key} {sum} {} {}", clock(start), clock(end));
        let mut expected: Vec<String> = expected.into_iter().map(line).collect();
        expected.sort();
        check(&sessions, &lines.join("\n"), &expected, seed);
    }
}
