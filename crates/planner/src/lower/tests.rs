//! Plans from hand-made logical plans, compared as EXPLAIN text.

use super::fixtures::{agg, call, count_star, lower, scan, scan_columns, table};
use crate::explain::explain;
use crate::nodes::WindowTableNode;
use base::plan::{NodeKind, WindowKind};
use base::{ChangelogMode, RowKind};
use datafusion_common::Column;
use datafusion_expr::{LogicalPlan, LogicalPlanBuilder, col, lit};
use std::sync::Arc;

fn text(queries: Vec<(LogicalPlan, Option<&Arc<crate::catalog::CatalogTable>>)>) -> String {
    let (plan, warnings) = lower(queries).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    explain(&plan, &[])
}

fn orders() -> Arc<crate::catalog::CatalogTable> {
    table("orders", &["id INT", "k STRING", "v INT", "ts TIMESTAMP(3)"], &[], Some("ts"), &[])
}

fn tumble(input: LogicalPlan, time: &str) -> LogicalPlan {
    let time = Column::new(Some("orders"), time);
    WindowTableNode::try_new(input, WindowKind::Tumble { size_ms: 60_000 }, 0, time, vec![], false).unwrap().into_plan()
}

#[test]
fn filters_and_projections_become_one_calc() {
    let plan = scan(&orders())
        .project(vec![col("k"), col("v"), col("id")])
        .unwrap()
        .filter(call(">", vec![col("v"), lit(5)]))
        .unwrap()
        .project(vec![col("id"), col("k").alias("key")])
        .unwrap()
        .build()
        .unwrap();
    let expected = "\
Sink(table=[result], fields=[id, key], changelogMode=[I])
   . delivery: at-least-once; rows are shown as they come
+- Exchange(distribution=[single])
   +- Calc(select=[id, k AS key], where=[v > 5], changelogMode=[I])
      +- Scan(table=[orders], fields=[id, k, v, ts], watermark=[ts AS ts - INTERVAL '5' SECOND], bounded=[true], \
changelogMode=[I])
            . a silent split holds the watermark back (setting: table.exec.source.idle-timeout)
";
    assert_eq!(text(vec![(plan, None)]), expected);
}

#[test]
fn an_upsert_sink_with_the_same_key_needs_no_old_content() {
    let source = table("t", &["k STRING", "v INT"], &[], None, &[]);
    let sink = table("snk", &["k STRING", "s INT"], &["k"], None, &[("sink", "upsert")]);
    let plan = scan(&source).aggregate(vec![col("k")], vec![agg("SUM", vec![col("v")])]).unwrap().build().unwrap();
    let expected = "\
Sink(table=[snk], fields=[k, s], primaryKey=[k], changelogMode=[I,UA])
   . delivery: at-least-once; set 'sink.delivery-guarantee' to change it
   . exactly-once needs: replayable source: yes (t); consistent state: yes (checkpoints); \
transactional or idempotent sink: idempotent, by its key
   . key: (k) is a key of the query; nothing is kept to tell rows apart
+- Calc(select=[k, SUM(v) AS s], changelogMode=[I,UA], upsertKeys=[(k)])
   +- GroupAggregate(groupBy=[k], select=[k, SUM(v)], changelogMode=[I,UA], upsertKeys=[(k)])
         . state: one row of results per (k); kept for ever (setting: table.exec.state.ttl)
      +- Exchange(distribution=[hash[k]])
         +- Scan(table=[t], fields=[k, v], bounded=[true], changelogMode=[I])
";
    assert_eq!(text(vec![(plan, Some(&sink))]), expected);
}

#[test]
fn a_filter_behind_an_aggregate_needs_the_old_content() {
    let source = table("t", &["k STRING", "v INT"], &[], None, &[("changelog", "all")]);
    let sink = table("snk", &["k STRING", "s INT"], &["k"], None, &[("sink", "upsert")]);
    let aggregate = scan(&source).aggregate(vec![col("k")], vec![agg("SUM", vec![col("v")])]).unwrap();
    let sum = aggregate.schema().columns()[1].clone();
    let plan = aggregate.filter(call(">", vec![datafusion_expr::Expr::Column(sum), lit(10)])).unwrap().build().unwrap();
    let (plan, _) = lower(vec![(plan, Some(&sink))]).unwrap();
    let group = plan.nodes.iter().find(|node| matches!(node.kind, NodeKind::GroupAggregate(_))).unwrap();
    assert_eq!(group.output.changelog, ChangelogMode::ALL);
    let NodeKind::GroupAggregate(kind) = &group.kind else { unreachable!() };
    assert!(kind.calls[0].options.retract);
    // A row that leaves the filter reaches the sink as its old content alone.
    assert!(plan.nodes.last().unwrap().output.changelog.contains(RowKind::UpdateBefore));
}

#[test]
fn updates_into_an_append_sink_are_refused() {
    let source = table("t", &["k STRING", "v INT"], &[], None, &[]);
    let sink = table("files", &["k STRING", "c BIGINT"], &[], None, &[("sink", "append")]);
    let plan = scan(&source).aggregate(vec![col("k")], vec![count_star()]).unwrap().build().unwrap();
    let error = lower(vec![(plan, Some(&sink))]).unwrap_err();
    assert_eq!(error.code(), "HW-P520");
    assert_eq!(error.argument("operator"), Some("GROUP BY k"));
    let sink = table("files", &["k STRING", "c BIGINT"], &[], None, &[("sink", "upsert")]);
    let plan = scan(&source).aggregate(vec![col("k")], vec![count_star()]).unwrap().build().unwrap();
    let error = lower(vec![(plan, Some(&sink))]).unwrap_err();
    assert_eq!((error.code(), error.argument("columns")), ("HW-P521", Some("k")));
}

#[test]
fn a_wider_sink_key_is_a_warning_and_keeps_the_old_content() {
    let source = table("src", &["dt STRING", "ip STRING", "at INT"], &[], None, &[]);
    let sink = table("pvuv", &["d STRING", "m INT", "pv BIGINT"], &["d", "m"], None, &[("sink", "upsert")]);
    let aggregate = scan(&source).aggregate(vec![col("dt")], vec![count_star(), agg("MAX", vec![col("at")])]).unwrap();
    let columns = aggregate.schema().columns();
    let plan = aggregate
        .project(vec![
            datafusion_expr::Expr::Column(columns[0].clone()),
            call("INVERSE", vec![datafusion_expr::Expr::Column(columns[2].clone())]),
            datafusion_expr::Expr::Column(columns[1].clone()),
        ])
        .unwrap()
        .build()
        .unwrap();
    let (plan, warnings) = lower(vec![(plan, Some(&sink))]).unwrap();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert_eq!(warning.code(), "HW-P522");
    assert_eq!(warning.argument("sink_key"), Some("d, m"));
    assert_eq!(warning.argument("suggestion"), Some("GROUP BY dt, INVERSE(at)"));
    assert!(plan.nodes.last().unwrap().output.changelog.contains(RowKind::UpdateBefore));
}

#[test]
fn keyed_changes_are_normalised_unless_they_go_to_the_same_key() {
    let source = table("t", &["id INT", "k STRING"], &["id"], None, &[("changelog", "upsert")]);
    let sink = table("snk", &["id INT", "k STRING"], &["id"], None, &[("sink", "upsert")]);
    let plan = || scan(&source).build().unwrap();
    let expected = "\
Sink(table=[result], fields=[id, k], changelogMode=[I,UB,UA,D])
   . delivery: at-least-once; rows are shown as they come
+- Exchange(distribution=[single])
   +- ChangelogNormalize(key=[id], changelogMode=[I,UB,UA,D], upsertKeys=[(id)])
         . state: the last row per (id); kept for ever (setting: table.exec.state.ttl)
      +- Exchange(distribution=[hash[id]])
         +- Scan(table=[t], fields=[id, k], bounded=[true], changelogMode=[I,UA,D], upsertKeys=[(id)])
";
    assert_eq!(text(vec![(plan(), None)]), expected);
    let expected = "\
Sink(table=[snk], fields=[id, k], primaryKey=[id], changelogMode=[I,UA,D])
   . delivery: at-least-once; set 'sink.delivery-guarantee' to change it
   . exactly-once needs: replayable source: yes (t); consistent state: yes (checkpoints); \
transactional or idempotent sink: idempotent, by its key
   . key: (id) is a key of the query; nothing is kept to tell rows apart
+- Exchange(distribution=[hash[id]])
   +- Scan(table=[t], fields=[id, k], bounded=[true], changelogMode=[I,UA,D], upsertKeys=[(id)])
";
    assert_eq!(text(vec![(plan(), Some(&sink))]), expected);
}

#[test]
fn an_aggregate_by_both_ends_takes_the_window_in() {
    let input = tumble(scan(&orders()).build().unwrap(), "ts");
    let plan = LogicalPlanBuilder::from(input)
        .aggregate(
            vec![col("window_start"), col("window_end"), col("k")],
            vec![agg("SUM", vec![col("v")]), count_star()],
        )
        .unwrap()
        .build()
        .unwrap();
    let sink = table(
        "gmv",
        &["ws TIMESTAMP(3)", "we TIMESTAMP(3)", "k STRING", "s INT", "c BIGINT"],
        &["k", "ws"],
        None,
        &[("sink", "upsert")],
    );
    let expected = "\
Sink(table=[gmv], fields=[ws, we, k, s, c], primaryKey=[k, ws], changelogMode=[I])
   . delivery: at-least-once; set 'sink.delivery-guarantee' to change it
   . exactly-once needs: replayable source: yes (orders); consistent state: yes (checkpoints); \
transactional or idempotent sink: idempotent, by its key
   . key: (k, ws) is a key of the query; nothing is kept to tell rows apart
+- Calc(select=[window_start AS ws, window_end AS we, k, SUM(v) AS s, COUNT(*) AS c], changelogMode=[I], \
upsertKeys=[(k, ws), (k, we)])
   +- WindowAggregate(groupBy=[k], window=[TUMBLE(ts, 1 min)], select=[k, SUM(v), COUNT(*), window_start, window_end], \
changelogMode=[I], upsertKeys=[(k, window_start), (k, window_end)])
         . state: one row of results per window and (k); dropped when the watermark reaches the end of the window
         . allowed lateness 0; late rows are dropped and counted (settings: table.exec.emit.allow-lateness, \
table.exec.emit.late-fire.enabled)
      +- Exchange(distribution=[hash[k]])
         +- Calc(select=[k, v, ts], changelogMode=[I])
            +- Scan(table=[orders], fields=[id, k, v, ts], watermark=[ts AS ts - INTERVAL '5' SECOND], bounded=[true], \
changelogMode=[I])
                  . a silent split holds the watermark back (setting: table.exec.source.idle-timeout)
";
    assert_eq!(text(vec![(plan, Some(&sink))]), expected);
}

#[test]
fn an_aggregate_by_one_end_updates() {
    let input = tumble(scan(&orders()).build().unwrap(), "ts");
    let plan = LogicalPlanBuilder::from(input)
        .aggregate(vec![col("window_start")], vec![agg("SUM", vec![col("v")])])
        .unwrap()
        .build()
        .unwrap();
    let (plan, _) = lower(vec![(plan, None)]).unwrap();
    assert!(plan.nodes.iter().any(|node| matches!(node.kind, NodeKind::WindowTable(_))));
    assert!(plan.nodes.iter().any(|node| matches!(node.kind, NodeKind::GroupAggregate(_))));
    assert_eq!(plan.nodes.last().unwrap().output.changelog.to_string(), "[I,UB,UA]");
}

#[test]
fn a_window_needs_a_watermark_on_its_column() {
    let plain = table("orders", &["v INT", "ts TIMESTAMP(3)"], &[], None, &[]);
    let error = lower(vec![(tumble(scan(&plain).build().unwrap(), "ts"), None)]).unwrap_err();
    assert_eq!(error.code(), "HW-P500");
    assert!(error.to_string().contains("WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"), "{error}");
}

#[test]
fn queries_share_the_scan_of_a_table() {
    let source = table("t", &["id INT", "k STRING", "v INT"], &[], None, &[]);
    let first = table("s1", &["k STRING", "c BIGINT"], &["k"], None, &[("sink", "upsert")]);
    let second = table("s2", &["id INT", "v INT"], &[], None, &[("sink", "append")]);
    let counts = scan_columns(&source, Some(vec![1])).aggregate(vec![col("k")], vec![count_star()]).unwrap();
    let rows = scan_columns(&source, Some(vec![0, 2])).filter(call(">", vec![col("v"), lit(1)])).unwrap();
    let queries =
        || vec![(counts.clone().build().unwrap(), Some(&first)), (rows.clone().build().unwrap(), Some(&second))];
    let expected = "\
Sink(table=[s1], fields=[k, c], primaryKey=[k], changelogMode=[I,UA])
   . delivery: at-least-once; set 'sink.delivery-guarantee' to change it
   . exactly-once needs: replayable source: yes (t); consistent state: yes (checkpoints); \
transactional or idempotent sink: idempotent, by its key
   . key: (k) is a key of the query; nothing is kept to tell rows apart
+- Calc(select=[k, COUNT(*) AS c], changelogMode=[I,UA], upsertKeys=[(k)])
   +- GroupAggregate(groupBy=[k], select=[k, COUNT(*)], changelogMode=[I,UA], upsertKeys=[(k)])
         . state: one row of results per (k); kept for ever (setting: table.exec.state.ttl)
      +- Exchange(distribution=[hash[k]])
         +- Calc(select=[k], changelogMode=[I])
            +- Scan(table=[t], fields=[id, k, v], bounded=[true], changelogMode=[I]) reference=[1]

Sink(table=[s2], fields=[id, v], changelogMode=[I])
   . delivery: at-least-once; set 'sink.delivery-guarantee' to change it
   . exactly-once needs: replayable source: yes (t); consistent state: yes (checkpoints); \
transactional or idempotent sink: no
+- Calc(select=[id, v], where=[v > 1], changelogMode=[I])
   +- Reused(reference=[1])
";
    assert_eq!(text(queries()), expected);

    // Identity comes from meaning: alone, with other columns read, the aggregate is still the same operator.
    let ids = |queries| -> Vec<(String, String)> {
        let (plan, _) = lower(queries).unwrap();
        let nodes = plan.nodes.into_iter();
        nodes
            .filter(|node| matches!(node.kind, NodeKind::GroupAggregate(_) | NodeKind::Scan(_)))
            .map(|node| (node.operator_id, node.digest))
            .collect()
    };
    assert_eq!(ids(queries()), ids(vec![(counts.build().unwrap(), Some(&first))]));
}

#[test]
fn a_union_lines_up_its_sides() {
    let left = table("l", &["a INT NOT NULL", "ts TIMESTAMP(3)"], &[], Some("ts"), &[]);
    let right = table("r", &["b INT", "ts TIMESTAMP(3)"], &[], None, &[("changelog", "all")]);
    let plan = scan(&left).union(scan(&right).build().unwrap()).unwrap().build().unwrap();
    let (plan, _) = lower(vec![(plan, None)]).unwrap();
    let union = plan.nodes.iter().find(|node| matches!(node.kind, NodeKind::Union)).unwrap();
    assert_eq!(union.output.row.to_string(), "a INT, ts TIMESTAMP(3)");
    assert_eq!(union.output.changelog, ChangelogMode::ALL);
    for edge in &union.inputs {
        assert_eq!(plan.nodes[edge.node].output.row, union.output.row);
    }
}

#[test]
fn metadata_columns_are_read_and_cast() {
    let source = table("t", &["k STRING", "at BIGINT METADATA offset"], &[], None, &[]);
    let plan = scan(&source).build().unwrap();
    let (plan, _) = lower(vec![(plan, None)]).unwrap();
    let NodeKind::Scan(scan) = &plan.nodes[0].kind else { panic!() };
    assert_eq!(scan.read.to_string(), "k STRING, offset BIGINT NOT NULL");
    assert_eq!(plan.nodes[0].output.row.to_string(), "k STRING, at BIGINT");
}

#[test]
fn constants_become_values() {
    let plan = LogicalPlanBuilder::empty(true).project(vec![lit(1), lit("a").alias("b")]).unwrap().build().unwrap();
    let (plan, _) = lower(vec![(plan, None)]).unwrap();
    let NodeKind::Values(values) = &plan.nodes[plan.nodes.len() - 2].kind else { panic!("{plan:?}") };
    assert_eq!(values.rows.num_rows(), 1);
    let plan = LogicalPlanBuilder::values(vec![vec![lit(1)], vec![lit(2)]]).unwrap().build().unwrap();
    let (plan, _) = lower(vec![(plan, None)]).unwrap();
    assert_eq!(plan.nodes.len(), 2);
}

#[test]
fn counting_rows_reads_one_column() {
    let source = table("t", &["k STRING", "v INT"], &[], None, &[]);
    let plan = scan_columns(&source, Some(vec![]))
        .aggregate(Vec::<datafusion_expr::Expr>::new(), vec![count_star()])
        .unwrap()
        .build()
        .unwrap();
    let (plan, _) = lower(vec![(plan, None)]).unwrap();
    assert_eq!(plan.nodes[0].output.row.to_string(), "v INT");
    assert!(plan.nodes.iter().all(|node| !node.output.row.is_empty()));
}

#[test]
fn what_is_not_built_is_named() {
    let other = table("other", &["id INT"], &[], None, &[]);
    let marked = scan(&orders())
        .join_on(
            scan(&other).build().unwrap(),
            datafusion_expr::JoinType::LeftMark,
            vec![call("=", vec![col("orders.id"), col("other.id")])],
        )
        .unwrap();
    let error = lower(vec![(marked.build().unwrap(), None)]).unwrap_err();
    assert_eq!(error.argument("feature"), Some("IN or EXISTS in this place"));
}
