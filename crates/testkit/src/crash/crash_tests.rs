//! The crash tests themselves: nothing wrong passes them.

use super::job::{CrashJob, Query};
use super::outcome::compare;
use super::*;
use serde_json::json;

#[test]
fn every_point_is_tested_with_every_sink_that_passes_it() {
    let cases = cases();
    for (index, point) in POINTS.iter().enumerate() {
        for sink in SINKS.into_iter().filter(|sink| applies(*point, *sink)) {
            let tests = cases.iter().filter(|(at, case)| *at == index && case.sink == sink).count();
            assert!(tests >= QUERIES.len(), "{} with {sink}", point.name());
        }
    }
}

#[test]
fn lost_and_doubled_rows_are_seen() {
    let rows = [json!({ "id": 1 }), json!({ "id": 2 })];
    assert_eq!(compare(&rows, &[rows[1].clone(), rows[0].clone()]), Ok(()));
    let problem = compare(&rows, &[rows[0].clone(), rows[0].clone()]).expect_err("one lost, one doubled");
    assert!(problem.starts_with("2 rows for 2: 1 lost, 1 too many"), "{problem}");
    assert!(problem.contains("1 x {\"id\":2}"), "{problem}");
}

#[test]
fn expected_rows_are_complete() {
    let job = |query, sink| CrashJob { query, sink, rows: 8_000 };
    let orders: i64 = job(Query::Window, Sink::Kafka).expected().iter().filter_map(|row| row["orders"].as_i64()).sum();
    assert_eq!(orders, 8_000);
    assert_eq!(job(Query::Join, Sink::Kafka).expected().len(), 8_000);
    assert_eq!(job(Query::Top, Sink::UpsertKafka).expected().len(), 39);
}
