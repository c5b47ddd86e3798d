//! Queries over given tables, and what changes leave of a table.

use crate::table::materialise;
use crate::{DataFusionEngine, run};
use arrow::array::{Array, ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, TimestampMillisecondArray};
use base::clock::ManualClock;
use base::connector::{ConnectorRegistry, Instance, SinkProvider, SinkWriter};
use base::format::FormatRegistry;
use base::{BoxFuture, ChangelogBatch, ChangelogMode, Error, Result, RowKind, RowType};
use planner::{Environment, Outcome, PlannedJob, ResultSinkFactory, Session};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
struct Nothing;

impl SinkProvider for Nothing {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, _instance: Instance, _restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Err(Error::internal("nothing is written"))
    }
}

impl ResultSinkFactory for Nothing {
    fn result_sink(&self, _row: &RowType, _mode: ChangelogMode, _zone: chrono_tz::Tz) -> Arc<dyn SinkProvider> {
        Arc::new(Nothing)
    }
}

const TABLES: &str = "
    SET 'execution.runtime-mode' = 'batch';
    CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), twice AS v * 2, WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
    CREATE TABLE u (k STRING, w INT) WITH ('connector' = 'filesystem', 'path' = 'u', 'format' = 'json');
    CREATE TABLE d (id INT, x DOUBLE) WITH ('connector' = 'filesystem', 'path' = 'd', 'format' = 'json');
    CREATE TABLE maps (id INT, m MAP<STRING, INT>, r ROW<a INT, m MAP<STRING, INT>>, l ARRAY<MAP<STRING, INT>>)
        WITH ('connector' = 'filesystem', 'path' = 'maps', 'format' = 'json');
    CREATE TABLE endless (k STRING) WITH ('connector' = 'datagen');
    CREATE TABLE sums (k STRING, s INT, PRIMARY KEY (k) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = 'sums', 'properties.bootstrap.servers' = 'localhost:1',
              'key.format' = 'json', 'value.format' = 'json');";

fn session() -> Session {
    let mut connectors = ConnectorRegistry::default();
    connectors::register(&mut connectors);
    let mut formats = FormatRegistry::default();
    connectors::formats::register(&mut formats);
    Session::new(Environment {
        connectors: Arc::new(connectors),
        formats: Arc::new(formats),
        clock: Arc::new(ManualClock::new(1_700_000_000_000)),
        warnings: Default::default(),
        results: Arc::new(Nothing),
    })
    .with_batch(Arc::new(DataFusionEngine))
}

/// The last statement of a script, after [`TABLES`].
fn planned(sql: &str) -> Result<Outcome> {
    let mut session = session();
    let script = syntax::Script::new("test.sql", format!("{TABLES}{sql}"));
    let mut last = Err(Error::internal("no statement"));
    for statement in script.statements() {
        last = session.execute(&script, &statement).map(|executed| executed.outcome);
        last.as_ref().map_err(Clone::clone)?;
    }
    last
}

fn job(sql: &str) -> Result<PlannedJob> {
    match planned(sql)? {
        Outcome::Job(job) => Ok(*job),
        other => panic!("{sql} gave {other:?}"),
    }
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, values)| (name, values, true))).unwrap()
}

/// t: five rows, one without a key and one without a value; times 0 s, 10 s .. 40 s. u: four rows.
fn tables() -> BTreeMap<String, RecordBatch> {
    let t = batch(vec![
        ("k", Arc::new(StringArray::from(vec![Some("a"), Some("b"), Some("a"), None, Some("b")]))),
        ("v", Arc::new(Int32Array::from(vec![Some(1), Some(2), Some(5), Some(7), None]))),
        ("ts", Arc::new(TimestampMillisecondArray::from(vec![0, 10_000, 20_000, 30_000, 40_000]))),
    ]);
    let u = batch(vec![
        ("k", Arc::new(StringArray::from(vec![Some("a"), Some("a"), Some("c"), None]))),
        ("w", Arc::new(Int32Array::from(vec![Some(10), Some(20), Some(30), Some(40)]))),
    ]);
    let d = batch(vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5]))),
        ("x", Arc::new(Float64Array::from(vec![Some(0.0), Some(-0.0), Some(f64::NAN), Some(1.0), None]))),
    ]);
    [("t".to_string(), t), ("u".to_string(), u), ("d".to_string(), d)].into()
}

/// The rows of a result: cells with blanks between, `-` for NULL.
fn rows(sql: &str) -> Result<Vec<String>> {
    let query = job(sql)?.batch.remove(0).query;
    let result = run(&query, &tables())?;
    let columns: Vec<StringArray> = (result.columns().iter().zip(query.row.fields()))
        .map(|(column, field)| functions::to_text(column, &field.sql_type, chrono_tz::UTC))
        .collect::<Result<_>>()?;
    let cell = |column: &StringArray, row: usize| match column.is_valid(row) {
        true => column.value(row).to_string(),
        false => "-".to_string(),
    };
    Ok((0..result.num_rows())
        .map(|row| columns.iter().map(|column| cell(column, row)).collect::<Vec<_>>().join(" "))
        .collect())
}

#[track_caller]
fn gives(sql: &str, expected: &[&str]) {
    match rows(sql) {
        Ok(rows) => assert_eq!(rows, expected, "{sql}"),
        Err(error) => panic!("{sql}: {error:?}"),
    }
}

/// The same for results without an order.
#[track_caller]
fn gives_any_order(sql: &str, expected: &[&str]) {
    let mut given = rows(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    given.sort();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(given, expected, "{sql}");
}

#[test]
fn floating_point_keys_of_joins_go_by_their_bits() {
    let own = &["1 1", "2 2", "3 3", "4 4"];
    gives_any_order("SELECT a.id, b.id FROM d a JOIN d b ON a.x = b.x", own);
    gives_any_order("SELECT a.id, b.id FROM d a JOIN d b ON CAST(a.x AS FLOAT) = b.x", own);
    gives_any_order("SELECT a.id, b.id FROM d a JOIN d b ON a.x = b.x AND a.id <= b.id", own);
    gives_any_order(
        "SELECT a.id, b.id FROM d a JOIN d b ON a.x IS NOT DISTINCT FROM b.x",
        &["1 1", "2 2", "3 3", "4 4", "5 5"],
    );
    gives_any_order("SELECT a.id, b.id FROM d a LEFT JOIN d b ON a.x = b.x", &["1 1", "2 2", "3 3", "4 4", "5 -"]);
    gives_any_order("SELECT a.id, t.v FROM d a JOIN t ON a.x = t.v", &["4 1"]);
    gives_any_order("SELECT id FROM d WHERE x IN (SELECT x FROM d WHERE id <> 2)", &["1", "3", "4"]);
    gives_any_order("SELECT x FROM d INTERSECT SELECT x FROM d WHERE id <> 2", &["-", "0.0", "1.0", "NaN"]);
    // These compare values.
    gives_any_order("SELECT id FROM d WHERE x = 0.0", &["1", "2"]);
    gives_any_order("SELECT id FROM d WHERE x NOT IN (SELECT x FROM d WHERE id IN (1, 3))", &["3", "4"]);
}

#[test]
fn a_map_is_no_key() {
    for sql in [
        "SELECT m, COUNT(*) FROM maps GROUP BY m",
        "SELECT DISTINCT r FROM maps",
        "SELECT l FROM maps UNION SELECT l FROM maps",
        "SELECT m FROM maps INTERSECT SELECT m FROM maps",
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY m ORDER BY id) FROM maps",
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY r) FROM maps",
        "SELECT id FROM maps ORDER BY l",
    ] {
        let error = planned(sql).expect_err(sql);
        let text = error.render(base::Language::English, base::error::Label::Error);
        assert!(text.contains("HW-I002") && text.contains("MAP") && text.contains("as a key"), "{sql}: {text}");
    }
}

#[test]
fn arrays_of_all_rows() {
    gives("SELECT ARRAY_JOIN(ARRAY_SORT(ARRAY_AGG(k)), ',', '~') FROM t", &["~,a,a,b,b"]);
    gives("SELECT ARRAY_AGG(k) FROM t WHERE v = 2", &["[b]"]);
    gives("SELECT CARDINALITY(ARRAY_AGG(k)) FROM t WHERE v > 100", &["-"]);
}

#[test]
fn a_condition_that_never_holds_stays_above_an_aggregate_of_all_rows() {
    // The aggregate has its row whatever the condition says, so the condition must not take its input away.
    let all = "(SELECT COUNT(*) AS n FROM u) AS c";
    gives(&format!("SELECT v, n FROM t LEFT JOIN {all} ON 1 = 2 WHERE v = 1"), &["1 -"]);
    gives(&format!("SELECT n FROM {all} WHERE n IS NULL"), &[]);
}

#[test]
fn projections_filters_and_computed_columns() {
    gives("SELECT v + 1, twice, UPPER(k) FROM t WHERE v > 1", &["3 4 B", "6 10 A", "8 14 -"]);
    gives("SELECT 1 + 1, CAST(NULL AS INT)", &["2 -"]);
    gives("SELECT a + 1 FROM (VALUES (1), (2)) AS x (a)", &["2", "3"]);
    gives("SELECT k FROM t WHERE v < 0", &[]);
    gives("SELECT CURRENT_TIMESTAMP FROM u WHERE w = 10", &["2023-11-14 22:13:20.000"]);
}

#[test]
fn rows_are_sorted_with_null_lowest() {
    gives("SELECT k, v FROM t ORDER BY k, v DESC", &["- 7", "a 5", "a 1", "b 2", "b -"]);
    gives("SELECT v FROM t ORDER BY v", &["-", "1", "2", "5", "7"]);
    gives("SELECT v FROM t ORDER BY v DESC LIMIT 2 OFFSET 1", &["5", "2"]);
    gives("SELECT v FROM t ORDER BY v DESC NULLS FIRST LIMIT 1", &["-"]);
}

#[test]
fn groups_are_aggregated_with_flinks_types() {
    gives(
        "SELECT k, COUNT(*), COUNT(v), SUM(v), AVG(v), MAX(v) FROM t GROUP BY k",
        &["a 2 2 6 3 5", "b 2 1 2 2 2", "- 1 1 7 7 7"],
    );
    gives("SELECT COUNT(*), SUM(v) FROM t WHERE v > 100", &["0 -"]);
    gives("SELECT k FROM t WHERE v > 100 GROUP BY k", &[]);
    gives("SELECT COUNT(DISTINCT k), COUNT(*) FILTER (WHERE v > 1), SUM(DISTINCT v / 4) FROM t", &["2 3 1"]);
    gives("SELECT k, COUNT(*) FROM t GROUP BY k HAVING COUNT(*) > 1 ORDER BY k DESC", &["b 2", "a 2"]);
    gives("SELECT DISTINCT k FROM t", &["a", "b", "-"]);
}

#[test]
fn grouping_sets_keep_their_keys() {
    gives_any_order(
        "SELECT k, SUM(w), GROUPING(k) FROM u GROUP BY ROLLUP (k)",
        &["a 30 0", "c 30 0", "- 40 0", "- 100 1"],
    );
}

#[test]
fn joins_by_key_and_by_condition() {
    gives_any_order("SELECT t.k, v, w FROM t JOIN u ON t.k = u.k", &["a 1 10", "a 1 20", "a 5 10", "a 5 20"]);
    gives_any_order(
        "SELECT t.k, v, w FROM t LEFT JOIN u ON t.k = u.k AND w > v * 3",
        &["a 1 10", "a 1 20", "a 5 20", "b 2 -", "b - -", "- 7 -"],
    );
    gives_any_order(
        "SELECT t.k, u.k FROM t FULL JOIN u ON t.k = u.k AND v = 5",
        &["a a", "a a", "a -", "b -", "b -", "- -", "- c", "- -"],
    );
    gives_any_order("SELECT v, w FROM t JOIN u ON v > w - 5 AND v < 9", &["7 10"]);
    gives_any_order("SELECT COUNT(*) FROM t CROSS JOIN u", &["20"]);
    gives_any_order("SELECT a.v, b.v FROM t a JOIN t b ON a.v = b.v + 3", &["5 2"]);
}

#[test]
fn subqueries_see_null_as_sql_does() {
    gives_any_order("SELECT v FROM t WHERE k IN (SELECT k FROM u)", &["1", "5"]);
    gives_any_order("SELECT v FROM t WHERE k NOT IN (SELECT k FROM u)", &[]);
    gives_any_order("SELECT v FROM t WHERE k NOT IN (SELECT k FROM u WHERE k IS NOT NULL)", &["2", "-"]);
    gives_any_order("SELECT v FROM t WHERE k NOT IN (SELECT k FROM u WHERE w > 100)", &["1", "2", "5", "7", "-"]);
    gives_any_order("SELECT v FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND w > 15)", &["1", "5"]);
    gives_any_order("SELECT v FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k)", &["2", "7", "-"]);
    gives_any_order("SELECT v FROM t WHERE v > (SELECT AVG(v) FROM t)", &["5", "7"]);
    gives_any_order("SELECT v FROM t WHERE v NOT IN (SELECT w / 10 FROM u WHERE u.k = t.k)", &["2", "5", "7", "-"]);
    gives_any_order("SELECT v FROM t WHERE k IN (SELECT k FROM u) OR v = 7", &["1", "5", "7"]);
    gives_any_order(
        "SELECT v, CASE WHEN k NOT IN (SELECT k FROM u) THEN 1 WHEN k IN (SELECT k FROM u) THEN 2 ELSE 3 END FROM t",
        &["1 2", "2 3", "5 2", "7 3", "- 3"],
    );
    gives_any_order("SELECT v, (SELECT SUM(w) FROM u WHERE u.k = t.k) FROM t", &["1 30", "2 -", "5 30", "7 -", "- -"]);
    assert!(rows("SELECT (SELECT w FROM u) FROM t").is_err());
}

#[test]
fn set_operations_count_rows() {
    gives_any_order("SELECT k FROM t INTERSECT SELECT k FROM u", &["a", "-"]);
    gives_any_order("SELECT k FROM t EXCEPT SELECT k FROM u", &["b"]);
    gives_any_order("SELECT k FROM t UNION SELECT k FROM u", &["a", "b", "c", "-"]);
    gives("SELECT k FROM u UNION ALL SELECT CAST(v AS STRING) FROM t WHERE v = 5", &["a", "a", "c", "-", "5"]);
    gives_any_order("SELECT k FROM t EXCEPT ALL SELECT k FROM u WHERE w < 15", &["a", "b", "b", "-"]);
    gives_any_order("SELECT k FROM t INTERSECT ALL SELECT k FROM u", &["a", "a", "-"]);
}

#[test]
fn functions_over_frames() {
    gives(
        "SELECT v, SUM(v) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY ts",
        &["1 1", "2 3", "5 7", "7 12", "- 7"],
    );
    gives(
        "SELECT v, COUNT(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW) FROM t
         ORDER BY ts",
        &["1 1", "2 2", "5 3", "7 3", "- 3"],
    );
    gives("SELECT k, SUM(v) OVER (PARTITION BY k) FROM t WHERE v < 6 ORDER BY k, v", &["a 6", "a 6", "b 2"]);
    gives(
        "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC), RANK() OVER (ORDER BY k),
         LAG(v, 1, 0) OVER (ORDER BY ts) FROM t ORDER BY ts",
        &["a 1 2 2 0", "b 2 1 4 1", "a 5 1 2 2", "- 7 1 1 5", "b - 2 4 7"],
    );
    gives(
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t) WHERE n = 1
         ORDER BY k",
        &["- 7", "a 5", "b 2"],
    );
}

#[test]
fn windows_of_time() {
    gives(
        "SELECT window_start, SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '20' SECOND))
         GROUP BY window_start, window_end",
        &["1970-01-01 00:00:00.000 3", "1970-01-01 00:00:20.000 12", "1970-01-01 00:00:40.000 -"],
    );
    gives_any_order(
        "SELECT window_end, COUNT(*) FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '40' SECOND))
         WHERE v < 6 GROUP BY window_start, window_end",
        &["1970-01-01 00:00:20.000 2", "1970-01-01 00:00:40.000 3", "1970-01-01 00:01:00.000 1"],
    );
    gives_any_order(
        "SELECT window_end, COUNT(*) FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '20' SECOND,
         INTERVAL '40' SECOND)) WHERE v < 6 GROUP BY window_start, window_end",
        &["1970-01-01 00:00:20.000 2", "1970-01-01 00:00:40.000 3"],
    );
    gives(
        "SELECT TUMBLE_END(ts, INTERVAL '1' MINUTE), COUNT(v) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
        &["1970-01-01 00:01:00.000 4"],
    );
    let session = "SELECT COUNT(*) FROM t GROUP BY SESSION(ts, INTERVAL '1' MINUTE)";
    assert_eq!(rows(session).unwrap_err().code(), "HW-I002");
}

#[test]
fn collections_are_taken_apart() {
    gives(
        "SELECT w, e FROM u CROSS JOIN UNNEST(ARRAY[w, w + 1]) AS x (e) WHERE w < 25",
        &["10 10", "10 11", "20 20", "20 21"],
    );
}

#[test]
fn a_left_join_keeps_rows_without_elements() {
    gives(
        "SELECT w, e, o FROM u LEFT JOIN UNNEST(ARRAY[w, w + 1]) WITH ORDINALITY AS x (e, o) ON e > 20 WHERE w < 35",
        &["10 - -", "20 21 2", "30 30 1", "30 31 2"],
    );
}

#[test]
fn tables_without_an_end_are_refused() {
    assert_eq!(rows("SELECT * FROM endless").unwrap_err().code(), "HW-P054");
    let automatic = "SET 'execution.runtime-mode' = 'automatic';";
    assert!(!job(&format!("{automatic} SELECT * FROM endless")).unwrap().is_batch());
    assert!(job(&format!("{automatic} SELECT * FROM t")).unwrap().is_batch());
}

#[test]
fn errors_are_those_of_the_functions() {
    let error = rows("SELECT 1 / (v - 1) FROM t").unwrap_err();
    assert!(!["HW-R060", "HW-I001"].contains(&error.code()), "{error:?}");
    let guarded = "SELECT v FROM t WHERE v <> 1 AND 10 / (v - 1) > 2";
    gives(guarded, &["2"]);
}

#[test]
fn a_keyed_sink_gets_the_last_row_of_a_key() {
    let query = job("INSERT INTO sums SELECT k, v FROM t WHERE k IS NOT NULL").unwrap().batch.remove(0).query;
    let result = run(&query, &tables()).unwrap();
    assert_eq!(query.key, [0]);
    assert_eq!(result.column(1).as_ref(), &Int32Array::from(vec![Some(5), None]) as &dyn Array);
}

#[test]
fn explain_shows_the_plan() {
    let Outcome::Text(text) = planned("EXPLAIN SELECT t.k, SUM(w) FROM t JOIN u ON t.k = u.k GROUP BY t.k").unwrap()
    else {
        panic!("no text");
    };
    for part in
        ["Sink(table=[result], mode=[batch])", "AggregateExec", "HashJoinExec", "TableExec: table=t, columns=[k]"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

/// What is left of a column of numbers behind a key.
fn left(changes: &[(RowKind, &str, i32)], key: &[usize]) -> Vec<i32> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("k", Arc::new(StringArray::from(changes.iter().map(|change| change.1).collect::<Vec<_>>()))),
        ("v", Arc::new(Int32Array::from(changes.iter().map(|change| change.2).collect::<Vec<_>>()))),
    ];
    let records = batch(columns);
    let kinds: Vec<RowKind> = changes.iter().map(|change| change.0).collect();
    let left = materialise(&records.schema(), &[ChangelogBatch::new(records.clone(), kinds)], key).unwrap();
    left.column(1).as_any().downcast_ref::<Int32Array>().unwrap().values().to_vec()
}

#[test]
fn changes_leave_a_table() {
    use RowKind::*;
    let changes = [
        (Insert, "a", 1),
        (Insert, "a", 1),
        (Insert, "b", 2),
        (UpdateBefore, "a", 1),
        (UpdateAfter, "a", 3),
        (Delete, "c", 9),
    ];
    assert_eq!(left(&changes, &[]), [1, 2, 3]);
    let keyed = [(Insert, "a", 1), (UpdateAfter, "b", 2), (UpdateAfter, "a", 3), (Delete, "b", 0), (Delete, "c", 9)];
    assert_eq!(left(&keyed, &[0]), [3]);
}
