//! `hw-testkit bench --planning`: what parsing and planning a long script costs, without running anything.

use crate::bench;
use planner::Outcome;
use std::time::{Duration, Instant};

/// What one pass over the script took.
#[derive(Debug, Clone, Copy)]
pub struct PlanningTime {
    /// Statements.
    pub statements: usize,
    /// Jobs among them.
    pub jobs: usize,
    /// Parsing alone.
    pub parse: Duration,
    /// Parsing and planning.
    pub total: Duration,
}

/// A warehouse of `statements` statements: settings, per subject a source, a clean view, sinks, and jobs that filter, group
/// and cut windows.
pub fn script(statements: usize) -> String {
    let mut parts = vec![
        "SET 'table.local-time-zone' = 'Asia/Shanghai'".to_string(),
        "SET 'table.exec.state.ttl' = '36 h'".to_string(),
        "CREATE DATABASE IF NOT EXISTS dw".to_string(),
        "USE dw".to_string(),
    ];
    for subject in 0.. {
        if parts.len() >= statements {
            break;
        }
        parts.extend(SUBJECT.iter().map(|statement| statement.replace("${N}", &subject.to_string())));
    }
    parts.truncate(statements);
    parts.join(";\n\n") + ";\n"
}

const SUBJECT: [&str; 7] = [
    "-- ODS: the orders of shop ${N}
CREATE TABLE ods_orders_${N} (
    order_id STRING COMMENT 'business key',
    user_id BIGINT, item_id BIGINT, city STRING, status STRING,
    amount DECIMAL(10, 2), discount DECIMAL(10, 2), quantity INT,
    payload STRING, tags ARRAY<STRING>, address ROW<province STRING, street STRING>,
    order_ms BIGINT,
    order_time AS TO_TIMESTAMP_LTZ(order_ms, 3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'orders_${N}', 'properties.bootstrap.servers' = 'localhost:9092',
    'properties.group.id' = 'dw_${N}', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json',
    'json.ignore-parse-errors' = 'true')",
    "CREATE VIEW dwd_orders_${N} AS
SELECT order_id, user_id, item_id, UPPER(TRIM(city)) AS city, amount - COALESCE(discount, 0) AS paid, quantity, order_time,
    CASE WHEN status IN ('PAID', 'DONE') THEN 1 WHEN status = 'CANCELLED' THEN -1 ELSE 0 END AS sign,
    DATE_FORMAT(order_time, 'yyyy-MM-dd') AS dt, JSON_VALUE(payload, '$.channel') AS channel, address.province AS province
FROM ods_orders_${N} WHERE order_id IS NOT NULL AND amount > 0 AND status <> 'TEST'",
    "CREATE TABLE dws_city_minute_${N} (
    window_start TIMESTAMP(3), window_end TIMESTAMP(3), city STRING, orders BIGINT, users BIGINT, gmv DECIMAL(38, 2),
    PRIMARY KEY (window_start, window_end, city) NOT ENFORCED
) WITH ('connector' = 'upsert-kafka', 'topic' = 'dws_city_minute_${N}',
    'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json')",
    "CREATE TABLE dws_user_day_${N} (
    dt STRING, user_id BIGINT, orders BIGINT, gmv DECIMAL(38, 2), items BIGINT, last_order TIMESTAMP_LTZ(3),
    PRIMARY KEY (dt, user_id) NOT ENFORCED
) WITH ('connector' = 'blackhole')",
    "INSERT INTO dws_city_minute_${N}
SELECT window_start, window_end, city, COUNT(*), COUNT(DISTINCT user_id), SUM(paid)
FROM TABLE(TUMBLE(TABLE dwd_orders_${N}, DESCRIPTOR(order_time), INTERVAL '1' MINUTE))
WHERE sign >= 0 GROUP BY window_start, window_end, city",
    "INSERT INTO dws_user_day_${N}
SELECT dt, user_id, COUNT(*), SUM(paid), COUNT(DISTINCT item_id), MAX(order_time)
FROM dwd_orders_${N} GROUP BY dt, user_id HAVING SUM(paid) > 10",
    "EXECUTE STATEMENT SET BEGIN
INSERT INTO dws_user_day_${N}
SELECT dt, user_id, COUNT(*), SUM(paid) FILTER (WHERE sign = 1), COUNT(DISTINCT item_id) FILTER (WHERE sign = 1), MAX(order_time)
FROM (SELECT * FROM dwd_orders_${N} UNION ALL SELECT * FROM dwd_orders_${N} WHERE sign = -1) GROUP BY dt, user_id;
INSERT INTO dws_city_minute_${N}
SELECT window_start, window_end, province, COUNT(*), COUNT(DISTINCT user_id), SUM(paid)
FROM TABLE(HOP(TABLE dwd_orders_${N}, DESCRIPTOR(order_time), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
GROUP BY window_start, window_end, province;
END",
];

/// Parses and plans the script in a new session.
///
/// # Errors
/// A statement that is refused.
pub fn measure(script: &str) -> Result<PlanningTime, String> {
    let mut session = bench::session();
    let script = syntax::Script::new("planning.sql", script);
    let start = Instant::now();
    for statement in script.statements() {
        syntax::parse(&statement).map_err(|error| error.to_string())?;
    }
    let parse = start.elapsed();
    let start = Instant::now();
    let (mut statements, mut jobs) = (0, 0);
    for statement in script.statements() {
        let executed = session.execute(&script, &statement).map_err(|error| error.to_string())?;
        statements += 1;
        jobs += usize::from(matches!(executed.outcome, Outcome::Job(_)));
    }
    Ok(PlanningTime { statements, jobs, parse, total: start.elapsed() })
}

#[cfg(test)]
#[path = "bench_planning_tests.rs"]
mod tests;
