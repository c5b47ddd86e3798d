//! The real aggregate functions behind the operators: Flink's recorded changelogs with AVG, MIN and MAX.

use super::harness::{Case, case, stream};
use base::ChangelogMode;
use base::function::AggregateOptions;
use base::plan::{
    AggregateCall, GroupAggregate, NodeKind, Window, WindowAggregate, WindowEmit, WindowKind, WindowProperty,
};

fn call(name: &str, argument: Option<usize>, retract: bool) -> AggregateCall {
    AggregateCall {
        function: ::functions::aggregate(name).expect("a known function"),
        arguments: argument.into_iter().collect(),
        filter: None,
        options: AggregateOptions { distinct: false, retract },
        sql: name.to_string(),
    }
}

fn grouped(input: ChangelogMode) -> Case {
    let retract = !input.is_append_only();
    let mut calls = vec![call("COUNT", None, retract)];
    calls.extend(["SUM", "AVG", "MIN", "MAX"].map(|name| call(name, Some(1), retract)));
    let node = GroupAggregate { keys: vec![0], calls, merges: None, state_ttl: None };
    let output = stream("k:text c:int s:int a:int mi:int ma:int", ChangelogMode::ALL);
    case(NodeKind::GroupAggregate(node), stream("k:text v:int", input), output, &[0])
}

#[test]
fn appends() {
    grouped(ChangelogMode::APPEND).check(
        "+I a 1
         +I a 2
         +I a null
         +I b null
         +I null 7
         +I b 5
         +I a 2
         +I null 8",
        "+I a 1 1 1 1 1
         -U a 1 1 1 1 1
         +U a 2 3 1 1 2
         -U a 2 3 1 1 2
         +U a 3 3 1 1 2
         +I b 1 null null null null
         +I null 1 7 7 7 7
         -U b 1 null null null null
         +U b 2 5 5 5 5
         -U a 3 3 1 1 2
         +U a 4 5 1 1 2
         -U null 1 7 7 7 7
         +U null 2 15 7 7 8",
    );
}

#[test]
fn retractions() {
    grouped(ChangelogMode::ALL).check(
        "+I a 10
         +I a 20
         -U a 20
         +U a 5
         -U a 10
         +U b 10
         -D a 5
         +I a 7
         -D b 10
         -D a 7",
        "+I a 1 10 10 10 10
         -U a 1 10 10 10 10
         +U a 2 30 15 10 20
         -U a 2 30 15 10 20
         +U a 1 10 10 10 10
         -U a 1 10 10 10 10
         +U a 2 15 7 5 10
         -U a 2 15 7 5 10
         +U a 1 5 5 5 5
         +I b 1 10 10 10 10
         -D a 1 5 5 5 5
         +I a 1 7 7 7 7
         -D b 1 10 10 10 10
         -D a 1 7 7 7 7",
    );
}

#[test]
fn windows_with_retractions() {
    let window = Window {
        kind: WindowKind::Tumble { size_ms: 60_000 },
        offset_ms: 0,
        time_column: 2,
        time_zone: None,
        is_processing_time: false,
    };
    let mut distinct = call("COUNT", Some(1), true);
    distinct.options.distinct = true;
    let calls = vec![call("MAX", Some(1), true), call("MIN", Some(1), true), distinct];
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![0],
        calls,
        properties: vec![WindowProperty::End],
        emit: WindowEmit::default(),
    };
    let output = stream("k:text ma:int mi:int d:int we:time", ChangelogMode::APPEND);
    let input = stream("k:text v:int ts:rowtime", ChangelogMode::ALL);
    let windows = Case { exact: true, ..case(NodeKind::WindowAggregate(node), input, output, &[0]) };
    windows.check(
        "+I a 1 00:00:01
         +I a 9 00:00:02
         +I a 9 00:00:03
         +I a 5 00:00:04
         +I b 1 00:00:05
         -D a 9 00:00:02
         -U a 9 00:00:03
         -D b 1 00:00:05
         wm max",
        "+I a 5 1 2 00:01:00",
    );
}
