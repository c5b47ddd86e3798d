//! Random scripts by a grammar: most statements are nearly right, so that they get far into the planner.

use super::expressions::Grammar;
use super::random::Random;
use super::table;

/// Fragments by name; `{name}` is replaced by one of the name's fragments, `{x:CODE}` by an expression.
const RULES: &[(&str, &[&str])] = &[
    (
        "statement",
        &[
            "{query}",
            "{query}",
            "{query}",
            "{query}",
            "EXPLAIN {query}",
            "EXPLAIN CHANGELOG_MODE, ESTIMATED_COST {query}",
            "CREATE TEMPORARY VIEW v{n} AS {query}",
            "CREATE VIEW v{n} (a, b) AS {query}",
            "{create}",
            "{create}",
            "INSERT INTO {table} {query}",
            "INSERT INTO {table} ({column}, {column}) {query}",
            "CREATE TABLE ctas{n} {with} AS {query}",
            "DESCRIBE {table}",
            "SHOW CREATE TABLE {table}",
            "SHOW {shown}",
            "SHOW {shown} LIKE '%a%'",
            "DROP {dropped} {table}",
            "DROP TABLE IF EXISTS {table}",
            "ALTER TABLE {table} {alteration}",
            "SET '{option}' = '{value}'",
            "RESET '{option}'",
            "USE CATALOG default_catalog",
            "CREATE DATABASE IF NOT EXISTS d{n}",
            "USE d{n}",
            "EXECUTE STATEMENT SET BEGIN INSERT INTO {table} {query}; INSERT INTO {table} {query}; END",
            "BEGIN STATEMENT SET; INSERT INTO {table} {query}; END",
            "CREATE FUNCTION f{n} AS 'a.b.C'",
            "{query} ON CONFLICT DO NOTHING",
        ],
    ),
    ("n", &["0", "1", "2"]),
    (
        "shown",
        &[
            "TABLES",
            "VIEWS",
            "FUNCTIONS",
            "CATALOGS",
            "DATABASES",
            "COLUMNS FROM t",
            "PARTITIONS t",
            "JARS",
            "MODULES",
            "CURRENT DATABASE",
        ],
    ),
    ("dropped", &["TABLE", "VIEW", "TEMPORARY VIEW", "DATABASE", "CATALOG", "FUNCTION"]),
    ("table", &["t", "t", "t", "w", "k", "v0", "v1", "nowhere", "default_catalog.default_database.t", "`t`"]),
    (
        "column",
        &[
            "c_int",
            "c_str",
            "c_ts",
            "c_dec",
            "c_row.a",
            "c_map['a']",
            "c_arr[1]",
            "t.c_int",
            "nothing",
            "ts",
            "v",
            "*",
            "window_start",
        ],
    ),
    (
        "option",
        &[
            "table.local-time-zone",
            "parallelism.default",
            "table.exec.state.ttl",
            "execution.runtime-mode",
            "no.such.option",
        ],
    ),
    ("value", &["Asia/Shanghai", "UTC", "GMT+08:00", "1", "-1", "1 d", "batch", "streaming", "", "错"]),
    (
        "alteration",
        &[
            "RENAME TO t9",
            "ADD (x INT)",
            "ADD x INT FIRST",
            "DROP c_int",
            "MODIFY c_int BIGINT",
            "SET ('a' = 'b')",
            "RESET ('a')",
            "ADD PRIMARY KEY (c_int) NOT ENFORCED",
            "DROP WATERMARK",
            "ADD WATERMARK FOR c_ts AS c_ts",
            "RENAME c_int TO c",
            "DROP PARTITION (a = 1)",
        ],
    ),
    (
        "with",
        &[
            "WITH ('connector' = 'blackhole')",
            "WITH ('connector' = 'print')",
            "WITH ('connector' = 'oracle')",
            "WITH ()",
            "",
            "PARTITIONED BY (a) WITH ('connector' = 'print')",
        ],
    ),
    (
        "create",
        &[
            "CREATE TABLE x{n} ({definition}, {definition}) {with}",
            "CREATE OR REPLACE TABLE x{n} ({definition}) COMMENT 'c' {with}",
            "CREATE TABLE x{n} ({definition}, {definition}, {definition}, {definition}) {with}",
            "CREATE TABLE y{n} LIKE {table} (INCLUDING ALL EXCLUDING OPTIONS)",
            "CREATE TEMPORARY TABLE x{n} ({definition}) {with} LIKE {table}",
        ],
    ),
    (
        "definition",
        &[
            "a {type}",
            "b {type} NOT NULL",
            "c {type} COMMENT 'x'",
            "d AS {x:?}",
            "e {type} METADATA FROM 'timestamp' VIRTUAL",
            "PRIMARY KEY (a) NOT ENFORCED",
            "ts TIMESTAMP(3)",
            "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
            "WATERMARK FOR ts AS {x:p}",
            "f {type} PRIMARY KEY NOT ENFORCED",
            "pt AS PROCTIME()",
            "a INT",
        ],
    ),
    (
        "type",
        &[
            "INT",
            "BIGINT",
            "STRING",
            "BOOLEAN",
            "DECIMAL(10, 2)",
            "DECIMAL(38, 38)",
            "DECIMAL(39, 2)",
            "CHAR(0)",
            "CHAR(3)",
            "VARCHAR(2147483647)",
            "VARCHAR(99999999999)",
            "BYTES",
            "BINARY(4)",
            "DATE",
            "TIME(3)",
            "TIMESTAMP(9)",
            "TIMESTAMP(10)",
            "TIMESTAMP_LTZ(3)",
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "ARRAY<{type}>",
            "{type} ARRAY",
            "MAP<{type}, {type}>",
            "MULTISET<{type}>",
            "ROW<a {type}, b {type} NOT NULL 'c'>",
            "ROW(a {type})",
            "ROW<>",
            "INTERVAL YEAR TO MONTH",
            "INTERVAL DAY(3) TO SECOND(6)",
            "DOUBLE PRECISION",
            "NULL",
            "RAW('a', 'b')",
            "VARIANT",
            "BITMAP",
            "nothing",
        ],
    ),
    (
        "query",
        &[
            "SELECT {items} FROM {from}",
            "SELECT {items} FROM {from} WHERE {x:b}",
            "SELECT {x:?} AS a, {aggregate} AS b FROM {from} GROUP BY {x:?}",
            "SELECT {key}, {aggregate}, {aggregate} FROM {from} GROUP BY {key} HAVING {x:b}",
            "SELECT {aggregate} FROM {from}",
            "SELECT DISTINCT {items} FROM {from}",
            "SELECT window_start, window_end, {aggregate} FROM {window} GROUP BY window_start, window_end",
            "SELECT {key}, window_start, {aggregate} FROM {window} GROUP BY window_start, window_end, {key}",
            "SELECT {legacy}_START(ts, {interval}), {aggregate} FROM w GROUP BY {legacy}(ts, {interval}), k",
            "{query} UNION ALL {query}",
            "{query} UNION {query}",
            "({query}) EXCEPT ({query})",
            "WITH q AS ({query}) SELECT * FROM q",
            "SELECT * FROM ({query}) AS s",
            "SELECT * FROM ({query}) AS s (a, b)",
            "VALUES ({x:?}, {x:?}), ({x:?}, {x:?})",
            "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS q (x, y) WHERE x > 1",
            "SELECT {x:?}",
            "SELECT {over} FROM {from}",
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS rn FROM w) WHERE rn = 1",
            "SELECT {items} FROM {from} ORDER BY {column} LIMIT 3",
            "SELECT {key}, {aggregate} FROM {from} GROUP BY GROUPING SETS (({key}), ())",
            "SELECT COUNT(*) FROM {window} GROUP BY {legacy}(window_time, {interval})",
        ],
    ),
    ("key", &["k", "k", "c_int", "c_str", "c_row", "{x:?}", "1", "window_start"]),
    (
        "items",
        &[
            "*",
            "{x:?}",
            "{x:?} AS a, {x:?} AS b",
            "t.*, {x:?} AS z",
            "{column}",
            "{column}, {column}",
            "k, v, ts",
            "CASE WHEN {x:b} THEN {x:?} ELSE {x:?} END",
        ],
    ),
    (
        "from",
        &[
            "t",
            "t",
            "t",
            "w",
            "w",
            "k",
            "v0",
            "v1",
            "t AS a",
            "(SELECT * FROM w) AS q",
            "t JOIN w ON c_int = v",
            "t LEFT JOIN w ON {x:b}",
            "t, w",
            "{window}",
            "t /*+ OPTIONS('path' = '/x') */",
            "t CROSS JOIN UNNEST(c_arr) AS u (x)",
        ],
    ),
    (
        "window",
        &[
            "TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), {interval}))",
            "TABLE(HOP(TABLE w, DESCRIPTOR(ts), {interval}, {interval}))",
            "TABLE(CUMULATE(TABLE w, DESCRIPTOR(ts), {interval}, {interval}))",
            "TABLE(TUMBLE(DATA => TABLE w, TIMECOL => DESCRIPTOR(ts), SIZE => {interval}))",
            "TABLE(SESSION(TABLE w PARTITION BY k, DESCRIPTOR(ts), {interval}))",
            "TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), {interval}, {interval}))",
            "TABLE(TUMBLE(TABLE t, DESCRIPTOR(c_ts), {interval}))",
        ],
    ),
    (
        "interval",
        &[
            "INTERVAL '1' MINUTE",
            "INTERVAL '1' HOUR",
            "INTERVAL '10' SECONDS",
            "INTERVAL '1' DAY",
            "INTERVAL '0' SECOND",
            "INTERVAL '-1' MINUTE",
            "INTERVAL '1' YEAR",
            "INTERVAL 5 MINUTE",
            "INTERVAL '1:30' HOUR TO MINUTE",
            "{x:I}",
        ],
    ),
    ("legacy", &["TUMBLE", "HOP", "SESSION"]),
    (
        "aggregate",
        &[
            "COUNT(*)",
            "COUNT({x:?})",
            "COUNT(DISTINCT {x:?})",
            "SUM({x:n})",
            "SUM(v)",
            "AVG({x:n})",
            "MIN({x:?})",
            "MAX({x:?})",
            "MAX(ts)",
            "LISTAGG({x:s})",
            "LISTAGG(DISTINCT {x:s}, ',')",
            "COLLECT({x:?})",
            "ARRAY_AGG({x:?})",
            "FIRST_VALUE({x:?})",
            "LAST_VALUE(v)",
            "STDDEV_POP({x:n})",
            "VAR_SAMP(v)",
            "SUM(v) FILTER (WHERE {x:b})",
            "SUM({x:n}) + COUNT(*)",
            "JSON_OBJECTAGG(KEY {x:s} VALUE {x:?})",
            "COUNT({x:?}, {x:?})",
            "SUM(SUM(v))",
            "APPROX_COUNT_DISTINCT(v)",
            "JSON_ARRAYAGG({x:?})",
        ],
    ),
    (
        "over",
        &[
            "SUM(v) OVER (PARTITION BY k ORDER BY ts)",
            "{aggregate} OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "LAG({x:?}, 1) OVER (ORDER BY ts)",
            "{aggregate} OVER w",
        ],
    ),
];

/// Deeper rules are answered by their first fragment.
const DEPTH_MAX: usize = 7;

/// A script over the tables `t` (columns of all types), `w` (with a watermark) and `k` (with a key).
pub fn script(random: &mut Random, grammar: &Grammar) -> String {
    let mut parts = vec![
        table::definition("oracle"),
        "CREATE TABLE w (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'oracle')"
            .into(),
        "CREATE TABLE k (k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'oracle')"
            .into(),
    ];
    for _ in 0..1 + random.below(5) {
        let mut text = String::new();
        expand(random, grammar, "{statement}", 0, &mut text);
        parts.push(text);
    }
    parts.join(";\n") + ";\n"
}

fn expand(random: &mut Random, grammar: &Grammar, fragment: &str, depth: usize, out: &mut String) {
    let mut rest = fragment;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = after.split_once('}') else { break };
        rest = after;
        if let Some(code) = name.strip_prefix("x:") {
            let levels = if depth > DEPTH_MAX { 0 } else { 1 + random.below(2) };
            let node = match code {
                "?" => grammar.any(random, levels),
                code => grammar.of(random, code.chars().next().unwrap_or('i'), levels),
            };
            out.push_str(&node.sql());
        } else if let Some((_, fragments)) = RULES.iter().find(|(known, _)| *known == name) {
            let fragment = if depth > DEPTH_MAX { fragments[0] } else { random.pick(fragments) };
            expand(random, grammar, fragment, depth + 1, out);
        }
    }
    out.push_str(rest);
}
