//! Joins. A script line is a side and a change of it: `l +I a 1`, `r -D a 2`, or a processing time `now 1000`.

use super::changes::{self, Histories, assert_shape};
use super::harness::{batch_of_lines, print, stream};
use super::parted;
use super::stand_ins::Closure;
use crate::operator::{Operator, OperatorContext};
use arrow::array::*;
use arrow::compute::kernels::cmp::lt;
use arrow::datatypes::Int64Type;
use base::config::JobConfig;
use base::connector::Instance;
use base::key::{hash_columns, instance_of_group, key_group};
use base::plan::*;
use base::types::LogicalType;
use base::{ChangelogMode, Expression, RowKind};
use state::OperatorSnapshot;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub struct Joined {
    pub node: Node,
    pub inputs: [Output; 2],
    keys: Vec<JoinKey>,
}

/// `k:text v:int` on both sides, joined on `k`.
pub fn join(kind: JoinKind) -> Joined {
    join_of(kind, JoinRows::Any, JoinRows::Any)
}

fn join_of(kind: JoinKind, left: JoinRows, right: JoinRows) -> Joined {
    let keys = vec![JoinKey { left: 0, right: 0, null_safe: false }];
    let side = |rows| JoinSide { rows, state_ttl: None };
    let node = Join { kind, keys: keys.clone(), condition: None, left: side(left), right: side(right) };
    let output = match kind {
        JoinKind::Semi | JoinKind::Anti => "k:text v:int",
        _ => "k:text v:int k2:text w:int",
    };
    let inputs = ["k:text v:int", "k:text w:int"].map(|columns| stream(columns, ChangelogMode::ALL));
    let edge = |node| Edge { node, distribution: Distribution::Hash(vec![0]) };
    let node = Node {
        operator_id: "join".into(),
        digest: "join".into(),
        kind: NodeKind::Join(node),
        inputs: vec![edge(0), edge(1)],
        output: stream(output, ChangelogMode::ALL),
    };
    Joined { node, inputs, keys }
}

impl Joined {
    pub fn change(mut self, change: impl FnOnce(&mut Join)) -> Joined {
        if let NodeKind::Join(join) = &mut self.node.kind {
            change(join);
            self.keys = join.keys.clone();
        }
        self
    }

    /// With the condition `v < w`.
    fn smaller(self) -> Joined {
        let condition: Arc<dyn Expression> = Arc::new(Closure {
            columns: vec![1, 3],
            sql_type: LogicalType::Boolean.nullable(),
            function: |batch: &RecordBatch| {
                let column = |index: usize| batch.column(index).as_primitive::<Int64Type>();
                Arc::new(lt(column(1), column(3)).expect("lt")) as ArrayRef
            },
        });
        self.change(|join| join.condition = Some(condition))
    }

    fn start(&self, parallelism: usize, snapshots: &[OperatorSnapshot]) -> Vec<Box<dyn Operator>> {
        let start = |index| {
            let inputs = [&self.inputs[0], &self.inputs[1]];
            let instance = Instance { index, parallelism };
            let mut operator = parted::create(&self.node, &inputs, instance, &JobConfig::default()).expect("operator");
            operator.open(snapshots).expect("open");
            operator
        };
        (0..parallelism).map(start).collect()
    }

    /// The output with batches of at most `rows`; restarted after every batch with the next of `parallelisms`, if any.
    fn run(&self, script: &str, rows: usize, rows_max: usize, parallelisms: &[usize]) -> Vec<String> {
        let mut context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max };
        let mut output = Vec::new();
        let mut operators = self.start(parallelisms.first().copied().unwrap_or(1), &[]);
        let mut restarts = parallelisms.iter().cycle();
        let mut histories = Histories::default();
        for (side, lines) in batches(script, rows) {
            if side == "now" {
                context.processing_time_ms = lines.parse().expect("milliseconds");
                operators.iter_mut().for_each(|operator| operator.on_processing_time(&context).expect("time"));
                continue;
            }
            let input = usize::from(side == "r");
            let batch = batch_of_lines(&self.inputs[input].row, &lines);
            let key = |key: &JoinKey| batch.records().column(if input == 0 { key.left } else { key.right }).clone();
            let keys: Vec<_> = self.keys.iter().map(key).collect();
            let hashes = hash_columns(&keys, batch.num_rows()).expect("hash");
            let parallelism = operators.len();
            for (index, operator) in operators.iter_mut().enumerate() {
                let is_mine = |row: &u32| instance_of_group(key_group(hashes[*row as usize]), parallelism) == index;
                let mine: Vec<u32> = (0..batch.num_rows() as u32).filter(is_mine).collect();
                operator.on_batch(input, batch.take(&mine.into()).expect("take"), &context).expect("batch");
                while let Some(batch) = operator.next_output(&context).expect("output") {
                    assert!(!batch.is_empty() && batch.num_rows() <= rows_max);
                    output.extend(print(&batch));
                }
            }
            if let Some(&parallelism) = restarts.next() {
                let Some(snapshots) = histories.chance(&mut operators) else { continue };
                assert_shape(&snapshots, self.start(1, &[])[0].as_mut());
                operators = self.start(parallelism, &snapshots);
            }
        }
        output
    }

    /// Every batching gives the very same rows, also with restores.
    fn check(&self, script: &str, expected: &str) {
        let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        for (rows, rows_max, parallelisms) in
            [(1, 4096, &[][..]), (1, 1, &[]), (1, 4096, &[1]), (3, 2, &[]), (1000, 4096, &[]), (1000, 3, &[1])]
        {
            let actual = self.run(script, rows, rows_max, parallelisms);
            assert_eq!(actual, expected, "batches of {rows} rows, outputs of {rows_max}, {parallelisms:?}");
        }
        for parallelisms in [&[1, 2][..], &[3, 4, 1]] {
            let actual = self.run(script, 1, 4096, parallelisms);
            assert_eq!(table(&actual), table(&expected), "parallelism {parallelisms:?}: {actual:#?}");
        }
        for every in [2, 3, 5] {
            changes::restarting_every(every, || {
                let actual = self.run(script, 1, 4096, &[1]);
                assert_eq!(actual, expected, "restarts from changes, every {every} batches");
                let actual = self.run(script, 1, 4096, &[3, 4, 1]);
                assert_eq!(table(&actual), table(&expected), "restarts from changes, every {every} batches");
            });
        }
        parted::once_more(|| {
            for (rows, parallelisms) in [(1, &[][..]), (1000, &[]), (1, &[1]), (3, &[3, 4, 1])] {
                let actual = self.run(script, rows, 4096, parallelisms);
                assert_eq!(table(&actual), table(&expected), "budget, parallelism {parallelisms:?}: {actual:#?}");
            }
        });
    }
}

/// Neighbouring lines of one side together.
fn batches(script: &str, rows: usize) -> Vec<(&str, String)> {
    let mut batches: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (side, change) = line.split_once(' ').expect("side and change");
        match batches.last_mut() {
            Some((last, lines)) if *last == side && side != "now" && lines.len() < rows => lines.push(change),
            _ => batches.push((side, vec![change])),
        }
    }
    batches.into_iter().map(|(side, lines)| (side, lines.join("\n"))).collect()
}

fn table<T: AsRef<str>>(changelog: &[T]) -> Vec<String> {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for line in changelog {
        let (kind, row) = line.as_ref().split_once(' ').expect("kind and row");
        *counts.entry(row).or_default() += RowKind::parse(kind).expect("kind").sign();
    }
    counts.into_iter().filter(|(_, count)| *count != 0).map(|(row, count)| format!("{count} x {row}")).collect()
}

#[test]
fn an_inner_join_forwards_kinds_and_counts_copies() {
    join(JoinKind::Inner).check(
        "l +I a 1
         l +I null 1
         r +I a 10
         r +I a 10
         r +I null 5
         l -U a 1
         l +U a 2
         r -D a 10
         l +I a 2
         r -U a 10
         r +U b 11
         l -D a 2",
        "+I a 1 a 10
         +I a 1 a 10
         -U a 1 a 10
         -U a 1 a 10
         +U a 2 a 10
         +U a 2 a 10
         -D a 2 a 10
         +I a 2 a 10
         -U a 2 a 10
         -U a 2 a 10",
    );
}

#[test]
fn a_left_join_pads() {
    join(JoinKind::Left).check(
        "l +I a 1
         l +I a 1
         l +I null 7
         r +I a 10
         r +I a 11
         r -U a 10
         r +U a 12
         r -D a 11
         r -U a 12
         l -D null 7
         l -U a 1
         l +U b 1",
        "+I a 1 null null
         +I a 1 null null
         +I null 7 null null
         -D a 1 null null
         +I a 1 a 10
         -D a 1 null null
         +I a 1 a 10
         +I a 1 a 11
         +I a 1 a 11
         -U a 1 a 10
         -U a 1 a 10
         +I a 1 a 12
         +I a 1 a 12
         -D a 1 a 11
         -D a 1 a 11
         -U a 1 a 12
         +I a 1 null null
         -U a 1 a 12
         +I a 1 null null
         -D null 7 null null
         -D a 1 null null
         +I b 1 null null",
    );
}

#[test]
fn a_right_join_pads() {
    join(JoinKind::Right).check(
        "r +I a 1
         l +I a 5
         l -U a 5
         l +U a 6
         r -U a 1
         r +U a 2
         l -D a 6",
        "+I null null a 1
         -D null null a 1
         +I a 5 a 1
         -U a 5 a 1
         +I null null a 1
         -D null null a 1
         +I a 6 a 1
         -D a 6 a 1
         +I a 6 a 2
         -D a 6 a 2
         +I null null a 2",
    );
}

/// Recorded from Flink.
#[test]
fn a_full_join_with_a_condition() {
    join(JoinKind::Full).smaller().check(
        "l +I a 1
         r +I a 1
         r +I a 5
         l +I a 3
         l -U a 1
         l +U a 6
         r -U a 5
         r +U a 7
         l +I null 1
         r +I null 2
         r +I a 7
         r -D a 7
         l -D a 3
         l -D null 1
         r -D a 7
         r -D null 2",
        "+I a 1 null null
         +I null null a 1
         -D a 1 null null
         +I a 1 a 5
         +I a 3 a 5
         -D a 1 a 5
         +I a 6 null null
         -D a 3 a 5
         +I a 3 null null
         -D a 3 null null
         +I a 3 a 7
         -D a 6 null null
         +I a 6 a 7
         +I null 1 null null
         +I null null null 2
         +I a 3 a 7
         +I a 6 a 7
         -D a 3 a 7
         -D a 6 a 7
         -D a 3 a 7
         -D null 1 null null
         -D a 6 a 7
         +I a 6 null null
         -D null null null 2",
    );
}

const SEMI: &str = "l +I a 1
     l +I a 1
     r +I a 1
     r +I a 2
     r -U a 2
     r +U b 9
     r -D a 1
     l +I b 3
     l -U b 3
     l +U c 3
     l +I null 4
     r +I null 4
     r +I a 3
     l -D a 1";

#[test]
fn a_semi_join_gives_rows_with_their_first_partner() {
    join(JoinKind::Semi).check(
        SEMI,
        "+I a 1
         +I a 1
         -D a 1
         -D a 1
         +I b 3
         -U b 3
         +I a 1
         +I a 1
         -D a 1",
    );
    join(JoinKind::Semi).smaller().check(
        SEMI,
        "+I a 1
         +I a 1
         -U a 1
         -U a 1
         +I b 3
         -U b 3
         +I a 1
         +I a 1
         -D a 1",
    );
}

#[test]
fn an_anti_join_is_the_reverse() {
    join(JoinKind::Anti).check(
        SEMI,
        "+I a 1
         +I a 1
         -D a 1
         -D a 1
         +I a 1
         +I a 1
         +U c 3
         +I null 4
         -D a 1
         -D a 1",
    );
}

#[test]
fn nulls_can_be_equal() {
    let null_safe = || join(JoinKind::Left).change(|join| join.keys[0].null_safe = true);
    null_safe().check(
        "l +I null 1
         r +I null 2
         r -D null 2",
        "+I null 1 null null
         -D null 1 null null
         +I null 1 null 2
         -D null 1 null 2
         +I null 1 null null",
    );
}

#[test]
fn without_keys_everything_meets() {
    let cross = join(JoinKind::Inner).change(|join| join.keys.clear());
    cross.check(
        "l +I a 1 \n r +I b 2 \n r +I null 3 \n l -D a 1",
        "+I a 1 b 2 \n +I a 1 null 3 \n -D a 1 b 2 \n -D a 1 null 3",
    );
}

#[test]
fn updates_without_their_old_content_replace_it() {
    let one = join_of(JoinKind::Left, JoinRows::One, JoinRows::One);
    one.check(
        "l +I a 1
         r +I a 1
         r +U a 2
         l +U a 2
         r -D a 2
         r +I a 3
         l -D a 2",
        "+I a 1 null null
         -D a 1 null null
         +I a 1 a 1
         +I a 1 a 2
         +I a 2 a 2
         -D a 2 a 2
         +I a 2 null null
         -D a 2 null null
         +I a 2 a 3
         -D a 2 a 3",
    );
    let keyed = join_of(JoinKind::Full, JoinRows::ByKey(vec![1]), JoinRows::One);
    keyed.check(
        "l +I a 1
         l +I a 2
         l +U a 1
         r +U a 5
         r +U a 6
         l -D a 1
         l -D a 2",
        "+I a 1 null null
         +I a 2 null null
         +I a 1 null null
         -D a 1 null null
         +I a 1 a 5
         -D a 2 null null
         +I a 2 a 5
         +I a 1 a 6
         +I a 2 a 6
         -D a 1 a 6
         -D a 2 a 6
         +I null null a 6",
    );
}

#[test]
fn retractions_of_rows_that_never_were_are_dropped() {
    for kind in [JoinKind::Inner, JoinKind::Semi] {
        let kept = if kind == JoinKind::Inner { "+I a 1 a 1" } else { "+I a 1" };
        join(kind).check("l -D a 9 \n r -U a 9 \n r +I a 1 \n l +I a 1 \n l -U a 2 \n r -D a 7", kept);
    }
    let keyed = join_of(JoinKind::Left, JoinRows::One, JoinRows::One);
    keyed.check("l +I a 1 \n r -D a null \n l -D b null", "+I a 1 null null");
}

#[test]
fn a_hot_key_leaves_in_bounded_batches() {
    let rows: Vec<String> = (0..3000).map(|v| format!("r +I a {v}")).collect();
    let script = format!("{}\nl +I a 1\nl -D a 1\nr -D a 7", rows.join("\n"));
    let output = join(JoinKind::Inner).run(&script, 5000, 100, &[]);
    assert_eq!(output.len(), 6000);
    assert_eq!((output[0].as_str(), output[2999].as_str()), ("+I a 1 a 0", "+I a 1 a 2999"));
    assert_eq!((output[3000].as_str(), output[5999].as_str()), ("-D a 1 a 0", "-D a 1 a 2999"));
}

#[test]
fn sides_expire_on_their_own() {
    let expiring = join(JoinKind::Left).change(|join| {
        join.left.state_ttl = Some(Duration::from_millis(1000));
        join.right.state_ttl = Some(Duration::from_millis(100));
    });
    let script = "now 1000
        l +I a 1
        r +I a 1
        now 1050
        l +I a 2
        now 1150
        l +I a 3
        r +I a 2
        now 3000
        r -D a 2
        r +I a 9";
    let expected = [
        "+I a 1 null null",
        "-D a 1 null null",
        "+I a 1 a 1",
        "+I a 2 a 1",
        "+I a 3 null null",
        "+I a 1 a 2",
        "+I a 2 a 2",
        "-D a 3 null null",
        "+I a 3 a 2",
    ];
    for parallelisms in [&[][..], &[1]] {
        assert_eq!(expiring.run(script, 1, 4096, parallelisms), expected);
    }
}

/// Random changes against the join of the tables that are left.
#[test]
fn results_are_those_of_the_tables() {
    for (index, kind) in
        [JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full, JoinKind::Semi, JoinKind::Anti]
            .into_iter()
            .enumerate()
    {
        for seed in 0..8u64 {
            let mut state = seed * 31 + index as u64;
            let mut below = |limit: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % limit
            };
            let mut tables: [Vec<(String, u64)>; 2] = Default::default();
            let mut script = String::new();
            for _ in 0..60 {
                let side = below(2) as usize;
                let key = ["a", "b", "null"][below(3) as usize].to_string();
                let row = (key, below(4));
                let rows = &mut tables[side];
                let remove = if rows.is_empty() { 0 } else { below(3) };
                if remove > 0 {
                    let old = rows.swap_remove(below(rows.len() as u64) as usize);
                    script +=
                        &format!("{} {} {} {}\n", ["l", "r"][side], ["", "-D", "-U"][remove as usize], old.0, old.1);
                }
                if remove != 1 {
                    let kind = if remove == 0 { "+I" } else { "+U" };
                    script += &format!("{} {kind} {} {}\n", ["l", "r"][side], row.0, row.1);
                    rows.push(row);
                }
            }
            for with_condition in [false, true] {
                let joined = if with_condition { join(kind).smaller() } else { join(kind) };
                let expected = table(&joined_tables(kind, &tables, with_condition));
                for (rows, rows_max, parallelisms) in
                    [(1, 1, &[][..]), (7, 5, &[1]), (1000, 4096, &[]), (3, 4096, &[2, 3])]
                {
                    let actual = table(&joined.run(&script, rows, rows_max, parallelisms));
                    assert_eq!(
                        actual, expected,
                        "{kind:?}, seed {seed}, {with_condition}, batches of {rows}:\n{script}"
                    );
                }
            }
        }
    }
}

fn joined_tables(kind: JoinKind, [left, right]: &[Vec<(String, u64)>; 2], with_condition: bool) -> Vec<String> {
    let matches = |l: &(String, u64), r: &(String, u64)| l.0 == r.0 && l.0 != "null" && (!with_condition || l.1 < r.1);
    let mut rows = Vec::new();
    for l in left {
        let partners: Vec<_> = right.iter().filter(|r| matches(l, r)).collect();
        match kind {
            JoinKind::Semi if partners.is_empty() => {}
            JoinKind::Anti if !partners.is_empty() => {}
            JoinKind::Semi | JoinKind::Anti => rows.push(format!("+I {} {}", l.0, l.1)),
            JoinKind::Left | JoinKind::Full if partners.is_empty() => {
                rows.push(format!("+I {} {} null null", l.0, l.1))
            }
            _ => rows.extend(partners.iter().map(|r| format!("+I {} {} {} {}", l.0, l.1, r.0, r.1))),
        }
    }
    if matches!(kind, JoinKind::Right | JoinKind::Full) {
        let alone = right.iter().filter(|r| !left.iter().any(|l| matches(l, r)));
        rows.extend(alone.map(|r| format!("+I null null {} {}", r.0, r.1)));
    }
    rows
}
