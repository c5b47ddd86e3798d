//! Top-N over inserts, rising updates and any changelog. Expected sequences are Flink's.

use super::harness::{Case, case, stream};
use base::plan::{NodeKind, Rank, RankEnd, RankStrategy, SortKey};
use base::{ChangelogMode, RowKind};
use std::collections::BTreeMap;
use std::time::Duration;

/// Top-N of `k:text id:int v:int` by v, largest first.
pub fn rank(strategy: RankStrategy, ranks: (u64, u64), with_rank: bool) -> Rank {
    Rank {
        partition: vec![0],
        order: vec![SortKey { column: 2, descending: true, nulls_first: false }],
        start: ranks.0,
        end: RankEnd::Constant(ranks.1),
        with_rank,
        strategy,
        state_ttl: None,
    }
}

pub fn ranked(node: Rank, output: ChangelogMode) -> Case {
    let input = match node.strategy {
        RankStrategy::Append => ChangelogMode::APPEND,
        RankStrategy::Update(_) => ChangelogMode::UPSERT.without(RowKind::Delete),
        RankStrategy::Retract => ChangelogMode::ALL,
    };
    let columns = if node.with_rank { "k:text id:int v:int rn:int" } else { "k:text id:int v:int" };
    let keys = node.partition.clone();
    case(NodeKind::Rank(node), stream("k:text id:int v:int", input), stream(columns, output), &keys)
}

fn all(strategy: RankStrategy, ranks: (u64, u64), with_rank: bool) -> Case {
    ranked(rank(strategy, ranks, with_rank), ChangelogMode::ALL)
}

const ROWS: &str = "
    +I x 1 10
    +I x 2 20
    +I x 3 15
    +I x 4 5
    +I x 5 20
    +I y 6 null
    +I y 7 1
    +I y 8 null";

#[test]
fn inserts_shift_the_ranks_behind_them() {
    all(RankStrategy::Append, (1, 2), true).check(
        ROWS,
        "+I x 1 10 1
         -U x 1 10 1
         +U x 2 20 1
         +I x 1 10 2
         -U x 1 10 2
         +U x 3 15 2
         -U x 3 15 2
         +U x 5 20 2
         +I y 6 null 1
         -U y 6 null 1
         +U y 7 1 1
         +I y 6 null 2",
    );
}

#[test]
fn without_the_rank_the_last_row_goes_before_the_new_one_comes() {
    all(RankStrategy::Append, (1, 2), false).check(
        ROWS,
        "+I x 1 10
         +I x 2 20
         -D x 1 10
         +I x 3 15
         -D x 3 15
         +I x 5 20
         +I y 6 null
         +I y 7 1",
    );
}

#[test]
fn the_one_best_row_is_replaced() {
    let best = "+I x 1 10 \n -U x 1 10 \n +U x 2 20 \n +I y 6 null \n -U y 6 null \n +U y 7 1";
    all(RankStrategy::Append, (1, 1), false).check(ROWS, best);
    let upserts = ranked(rank(RankStrategy::Append, (1, 1), false), ChangelogMode::UPSERT);
    upserts.check(ROWS, "+I x 1 10 \n +U x 2 20 \n +I y 6 null \n +U y 7 1");
}

#[test]
fn ranks_from_the_second_on_shift_even_without_their_number() {
    all(RankStrategy::Append, (2, 3), false).check(
        "+I x 1 10 \n +I x 2 20 \n +I x 3 10 \n +I x 4 5 \n +I x 5 20 \n +I x 5 20",
        "+I x 1 10
         +I x 3 10
         -U x 1 10
         +U x 5 20
         -U x 3 10
         +U x 1 10
         -U x 1 10
         +U x 5 20",
    );
}

#[test]
fn a_row_that_rises_gives_both_old_contents_first() {
    let rows = "
        +I s a 1 \n +I s b 1 \n +I s c 1 \n +U s c 2 \n +U s b 2 \n +U s b 3 \n +U s a 2 \n +U s a 3 \n +U s a 4
        +U s c 3 \n +I s d 1";
    let rows = rows.replace(" a ", " 1 ").replace(" b ", " 2 ").replace(" c ", " 3 ").replace(" d ", " 4 ");
    let update = || RankStrategy::Update(vec![0, 1]);
    all(update(), (1, 4), true).check(
        &rows,
        "+I s 1 1 1
         +I s 2 1 2
         +I s 3 1 3
         -U s 1 1 1
         -U s 3 1 3
         +U s 3 2 1
         -U s 2 1 2
         +U s 1 1 2
         +U s 2 1 3
         -U s 1 1 2
         -U s 2 1 3
         +U s 2 2 2
         +U s 1 1 3
         -U s 3 2 1
         -U s 2 2 2
         +U s 2 3 1
         +U s 3 2 2
         -U s 1 1 3
         +U s 1 2 3
         -U s 3 2 2
         -U s 1 2 3
         +U s 1 3 2
         +U s 3 2 3
         -U s 2 3 1
         -U s 1 3 2
         +U s 1 4 1
         +U s 2 3 2
         -U s 3 2 3
         +U s 3 3 3
         +I s 4 1 4",
    );
    all(update(), (1, 2), false).check(
        &rows,
        "+I s 1 1
         +I s 2 1
         -D s 2 1
         +I s 3 2
         -D s 1 1
         +I s 2 2
         -U s 2 2
         +U s 2 3
         -D s 3 2
         +I s 1 3
         -U s 1 3
         +U s 1 4",
    );
}

#[test]
fn content_beside_the_order_is_updated_in_place() {
    let node = Rank {
        order: vec![SortKey { column: 1, descending: true, nulls_first: false }],
        ..rank(RankStrategy::Update(vec![0, 1]), (1, 2), true)
    };
    ranked(node, ChangelogMode::ALL).check(
        "+I s 1 1 \n +I s 2 1 \n +U s 1 7 \n +U s 2 8 \n +I s 3 1 \n +U s 1 8",
        "+I s 1 1 1
         -U s 1 1 1
         +U s 2 1 1
         +I s 1 1 2
         -U s 1 1 2
         +U s 1 7 2
         -U s 2 1 1
         +U s 2 8 1
         -U s 2 8 1
         +U s 3 1 1
         -U s 1 7 2
         +U s 2 8 2",
    );
}

const CHANGES: &str = "
    +I x 1 10
    +I x 2 20
    +I x 3 15
    -D x 2 20
    -U x 1 10
    +U x 1 30
    -D x 9 9
    -D x 3 15
    -D x 1 30";

#[test]
fn retractions_bring_rows_back() {
    all(RankStrategy::Retract, (1, 2), true).check(
        CHANGES,
        "+I x 1 10 1
         -U x 1 10 1
         +U x 2 20 1
         +I x 1 10 2
         -U x 1 10 2
         +U x 3 15 2
         -U x 2 20 1
         +U x 3 15 1
         -U x 3 15 2
         +U x 1 10 2
         -D x 1 10 2
         -U x 3 15 1
         +U x 1 30 1
         +I x 3 15 2
         -D x 3 15 2
         -D x 1 30 1",
    );
    all(RankStrategy::Retract, (1, 2), false).check(
        CHANGES,
        "+I x 1 10
         +I x 2 20
         -D x 1 10
         +I x 3 15
         -D x 2 20
         +I x 1 10
         -D x 1 10
         +I x 1 30
         -D x 3 15
         -D x 1 30",
    );
}

#[test]
fn limit_counts_and_limit_zero_gives_nothing() {
    let limit = |strategy, ranks| Rank { partition: vec![], order: vec![], ..rank(strategy, ranks, false) };
    let first = ranked(limit(RankStrategy::Append, (2, 4)), ChangelogMode::APPEND);
    first.check(ROWS, "+I x 2 20 \n +I x 3 15 \n +I x 4 5");
    assert_eq!(first.statistics(ROWS).state_entries, 1);
    ranked(limit(RankStrategy::Append, (1, 0)), ChangelogMode::APPEND).check(ROWS, "");
    all(RankStrategy::Append, (1, 0), true).check(ROWS, "");
    all(RankStrategy::Retract, (1, 0), true).check(CHANGES, "");
    let any = ranked(limit(RankStrategy::Retract, (1, 2)), ChangelogMode::ALL);
    any.check(
        "+I x 1 1 \n +I x 2 1 \n +I x 3 1 \n -D x 1 1 \n -D x 3 1 \n +I x 4 9",
        "+I x 1 1 \n +I x 2 1 \n -D x 1 1 \n +I x 3 1 \n -D x 3 1 \n +I x 4 9",
    );
}

#[test]
fn the_last_rank_can_be_a_column() {
    let node = Rank { end: RankEnd::Column(1), ..rank(RankStrategy::Append, (1, 0), true) };
    ranked(node, ChangelogMode::ALL).check(
        "+I x 2 10 \n +I x 2 20 \n +I x 3 30 \n +I y 0 1 \n +I z null 1 \n +I y 9 2",
        "+I x 2 10 1
         -U x 2 10 1
         +U x 2 20 1
         +I x 2 10 2
         -U x 2 20 1
         +U x 3 30 1
         -U x 2 10 2
         +U x 2 20 2",
    );
}

#[test]
fn a_batch_gives_what_is_different_after_it() {
    let all_rows = |case: Case, rows: &str| case.run(rows, 1000, false);
    let ranks = all(RankStrategy::Append, (1, 2), true);
    assert_eq!(all_rows(ranks, ROWS), ["+I x 2 20 1", "+I x 5 20 2", "+I y 7 1 1", "+I y 6 null 2"]);
    let rows = all(RankStrategy::Append, (1, 2), false);
    assert_eq!(all_rows(rows, ROWS), ["+I x 2 20", "+I x 5 20", "+I y 6 null", "+I y 7 1"]);
    let retract = all(RankStrategy::Retract, (1, 2), true);
    assert_eq!(all_rows(retract, CHANGES), Vec::<String>::new());
    let again = "+I x 1 10 \n +I x 2 5 \n wm 0:00 \n -U x 1 10 \n +U x 1 10 \n wm 0:00 \n -D x 2 5 \n +I x 3 5";
    let retract = all(RankStrategy::Retract, (1, 2), true);
    assert_eq!(all_rows(retract, again), ["+I x 1 10 1", "+I x 2 5 2", "-U x 2 5 2", "+U x 3 5 2"]);
}

#[test]
fn expired_rankings_are_new_ones() {
    let ttl = Some(Duration::from_millis(100));
    let expiring = ranked(Rank { state_ttl: ttl, ..rank(RankStrategy::Append, (1, 2), true) }, ChangelogMode::ALL);
    let script =
        "now 1000 \n +I x 1 1 \n now 1050 \n +I x 2 2 \n now 1140 \n +I x 3 0 \n now 1160 \n +I x 4 0 \n +I x 5 9";
    for restore in [false, true] {
        let expected = [
            "+I x 1 1 1",
            "-U x 1 1 1",
            "+U x 2 2 1",
            "+I x 1 1 2",
            "+I x 4 0 1",
            "-U x 4 0 1",
            "+U x 5 9 1",
            "+I x 4 0 2",
        ];
        assert_eq!(expiring.run(script, 1, restore), expected, "restore {restore}");
    }
}

/// A row of [`ranked`].
type Row = (String, i64, Option<i64>);

/// Rows by rank as a plain list says.
fn expected(rows: &[Row], ranks: (u64, u64), with_rank: bool) -> BTreeMap<String, i64> {
    let mut by_key: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| by_key.entry(&row.0).or_default().push(row));
    let mut table = BTreeMap::new();
    for rows in by_key.values_mut() {
        rows.sort_by_key(|row| std::cmp::Reverse(row.2));
        for (rank, row) in (1u64..).zip(rows.iter()).filter(|(rank, _)| (ranks.0..=ranks.1).contains(rank)) {
            let value = row.2.map_or("null".to_string(), |v| v.to_string());
            let rank = if with_rank { format!(" {rank}") } else { String::new() };
            *table.entry(format!("{} {} {value}{rank}", row.0, row.1)).or_insert(0) += 1;
        }
    }
    table
}

#[test]
fn any_interleaving_gives_the_ranking_of_what_is_there() {
    let mut seed = 11u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    for round in 0..24usize {
        let (mut rows, mut script): (Vec<Row>, String) = (Vec::new(), String::new());
        for _ in 0..400 {
            let kinds = ["+I", "+U", "-U", "-D"];
            let kind = kinds[random(4)];
            if kind.starts_with('+') || rows.is_empty() {
                let value = (random(6) > 0).then(|| random(8) as i64);
                let row = (format!("k{}", random(3)), random(5) as i64, value);
                let text = row.2.map_or("null".to_string(), |v| v.to_string());
                script.push_str(&format!("+I {} {} {text}\n", row.0, row.1));
                rows.push(row);
            } else {
                let row = rows[random(rows.len())].clone();
                let text = row.2.map_or("null".to_string(), |v| v.to_string());
                script.push_str(&format!("{kind} {} {} {text}\n", row.0, row.1));
                // The first of equal rows goes.
                let first = rows.iter().position(|other| *other == row).expect("a row");
                rows.remove(first);
            }
        }
        let ranks = [(1, 1), (1, 3), (2, 4), (1, 1000)][round % 4];
        let with_rank = round % 8 < 4;
        let case = all(RankStrategy::Retract, ranks, with_rank);
        for (batch, restore) in [(1, false), (7, false), (64, true), (1000, false)] {
            let expected: Vec<String> =
                expected(&rows, ranks, with_rank).into_iter().map(|(row, count)| format!("{count} x {row}")).collect();
            let actual = case.table(&case.run(&script, batch, restore));
            assert_eq!(actual, expected, "ranks {ranks:?}, with rank {with_rank}, batches of {batch}");
        }
    }
}
