//! What the front end reads, what it refuses, and how it says so.

use syntax::ast::{BinaryOperator, Expr, Query, SetExpr, TableFactor};
use syntax::dialect::{self, marker_arguments};
use syntax::statement::*;
use syntax::{Hint, Script, Statement, SyntaxErrorKind, parse, parse_statement, substitute};

fn read(sql: &str) -> Statement {
    parse_statement(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// `line:column: what (fix)`
fn refusal(sql: &str) -> String {
    match parse_statement(sql) {
        Ok(statement) => panic!("{sql} was read as {statement:?}"),
        Err(error) => error.to_string(),
    }
}

fn query(sql: &str) -> Box<Query> {
    match read(sql) {
        Statement::Query(query) => query,
        other => panic!("{other:?}"),
    }
}

/// The first column of a SELECT, as text.
fn expression(sql: &str) -> String {
    first_expression(&format!("SELECT {sql}")).to_string()
}

fn first_expression(sql: &str) -> Expr {
    let query = query(sql);
    let SetExpr::Select(select) = *query.body else { panic!("{sql}") };
    match select.projection.into_iter().next() {
        Some(syntax::ast::SelectItem::UnnamedExpr(expression)) => expression,
        other => panic!("{other:?}"),
    }
}

fn table(sql: &str) -> CreateTable {
    match read(sql) {
        Statement::CreateTable(table) => *table,
        other => panic!("{other:?}"),
    }
}

const ORDERS: &str = "CREATE TABLE IF NOT EXISTS shop.orders ( -- the stream
    order_id   STRING COMMENT 'business key',
    amount     DECIMAL(10,2) NOT NULL,
    order_time TIMESTAMP(3),
    op         STRING METADATA FROM 'value.op' VIRTUAL,
    cents      AS CAST(amount * 100 AS BIGINT),
    tags       ARRAY<ROW<`a b` INT, m MAP<STRING, ARRAY<INT>>>>,
    CONSTRAINT pk PRIMARY KEY (order_id) NOT ENFORCED,
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND,
) COMMENT 'orders' PARTITIONED BY (order_id) WITH (
    'connector' = 'kafka', -- trailing comma below
    'topic' = 'it''s',
)";

#[test]
fn create_table_keeps_types_texts_and_places() {
    let table = table(ORDERS);
    let definition = &table.definition;
    assert_eq!(table.name.to_string(), "shop.orders");
    assert!(table.if_not_exists && !table.temporary);
    let kinds: Vec<String> = definition
        .columns
        .iter()
        .map(|column| match &column.kind {
            ColumnKind::Physical(type_name) => type_name.to_string(),
            ColumnKind::Computed(computed) => format!("AS {}", computed.text),
            ColumnKind::Metadata { type_name, key, is_virtual } => format!("{type_name} {key:?} {is_virtual}"),
            ColumnKind::Named => String::new(),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "STRING",
            "DECIMAL(10, 2) NOT NULL",
            "TIMESTAMP(3)",
            "STRING Some(\"value.op\") true",
            "AS CAST(amount * 100 AS BIGINT)",
            "ARRAY<ROW<`a b` INT, `m` MAP<STRING, ARRAY<INT>>>>",
        ]
    );
    assert_eq!(definition.columns[0].comment.as_deref(), Some("business key"));
    assert_eq!((definition.columns[4].span.start.line, definition.columns[4].span.start.column), (6, 5));
    let key = definition.primary_key.as_ref().expect("key");
    assert!(key.not_enforced && key.columns[0].value == "order_id");
    let watermark = definition.watermark.as_ref().expect("watermark");
    assert_eq!(watermark.expression.text, "order_time - INTERVAL '5' SECOND");
    assert_eq!(definition.options[1].value, "it's");
    assert_eq!(definition.options[1].key_span.start.line, 12);
}

#[test]
fn create_table_has_inline_keys_transforms_like_and_as() {
    let inline = table("CREATE TEMPORARY TABLE t (id BIGINT NOT NULL PRIMARY KEY NOT ENFORCED, v INT)");
    assert_eq!(inline.definition.primary_key.expect("key").columns[0].value, "id");
    assert!(inline.temporary);
    let spark = table(
        "CREATE TABLE t (ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts), bucket(16, id), c) TBLPROPERTIES ('a'='b')",
    );
    let fields = &spark.definition.partitioned_by;
    assert!(matches!(&fields[0], PartitionField::Transform { name, argument: None, .. } if name == "days"));
    assert!(matches!(&fields[1], PartitionField::Transform { argument: Some(16), column, .. } if column.value == "id"));
    assert!(matches!(&fields[2], PartitionField::Column(column) if column.value == "c"));
    assert_eq!(spark.definition.options.len(), 1);
    let like = table("CREATE TABLE t (a INT) LIKE s (INCLUDING ALL EXCLUDING OPTIONS)").like.expect("like");
    assert_eq!(like.options[1].strategy, LikeStrategy::Excluding);
    let created = table("CREATE OR REPLACE TABLE t WITH ('a' = 'b') AS SELECT a FROM s");
    assert!(created.or_replace);
    assert_eq!(created.query.expect("query").text, "SELECT a FROM s");
    let spread = table("CREATE TABLE t (a INT) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS").definition.distribution;
    assert_eq!(spread.and_then(|spread| spread.buckets), Some(4));
}

#[test]
fn statements_of_a_session_are_read() {
    for sql in [
        "CREATE CATALOG ice WITH ('type' = 'iceberg')",
        "CREATE DATABASE IF NOT EXISTS ice.db COMMENT 'x' WITH ('a' = 'b')",
        "CREATE TEMPORARY VIEW v (a, b COMMENT 'c') COMMENT 'd' AS SELECT 1, 2",
        "CREATE VIEW v AS WITH x AS (SELECT 1) SELECT * FROM x",
        "CREATE TEMPORARY SYSTEM FUNCTION f AS 'com.x.F' LANGUAGE JAVA USING JAR 'a.jar'",
        "CREATE FUNCTION f AS 'x'",
        "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MINUTE AS SELECT 1",
        "CREATE MODEL m INPUT (a INT) WITH ('a' = 'b')",
        "DROP TABLE IF EXISTS a.b.c",
        "DROP TEMPORARY VIEW v",
        "DROP DATABASE d CASCADE",
        "DROP CATALOG c",
        "DROP FUNCTION f",
        "ALTER TABLE t RENAME TO u",
        "ALTER TABLE t RENAME a TO b",
        "ALTER TABLE t SET ('a' = 'b')",
        "ALTER TABLE t RESET ('a')",
        "ALTER TABLE t ADD (a INT FIRST, b INT AFTER a, WATERMARK FOR a AS a)",
        "ALTER TABLE t ADD c STRING COMMENT 'x' AFTER b",
        "ALTER TABLE t MODIFY a BIGINT NOT NULL",
        "ALTER TABLE t DROP (a, b)",
        "ALTER TABLE t DROP PRIMARY KEY",
        "ALTER TABLE t DROP WATERMARK",
        "ALTER TABLE t SET PARTITION SPEC (days(ts))",
        "ALTER TABLE t ADD PARTITION (dt = '1')",
        "ALTER VIEW v RENAME TO w",
        "USE CATALOG c",
        "USE c.d",
        "USE MODULES a, b",
        "SHOW TABLES",
        "SHOW TABLES FROM c.d NOT LIKE 'x%'",
        "SHOW CREATE TABLE t",
        "SHOW CURRENT CATALOG",
        "SHOW COLUMNS IN t LIKE 'a'",
        "SHOW FULL MODULES",
        "SHOW USER FUNCTIONS",
        "SHOW PARTITIONS t",
        "SHOW JOBS",
        "DESCRIBE t",
        "DESC EXTENDED a.b",
        "DESCRIBE CATALOG EXTENDED c",
        "DESCRIBE DATABASE d",
        "DESCRIBE JOB 'x'",
        "EXPLAIN SELECT 1",
        "EXPLAIN PLAN FOR INSERT INTO a SELECT 1",
        "EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN SELECT 1",
        "EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
        "EXPLAIN EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
        "SET",
        "RESET",
        "RESET 'a.b'",
        "RESET a.b-c",
        "LOAD MODULE hive WITH ('a' = 'b')",
        "UNLOAD MODULE core",
        "TRUNCATE TABLE t",
        "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS",
        "ADD JAR 'x'",
        "STOP JOB 'x' WITH SAVEPOINT",
        "COMPILE PLAN 'f' FOR INSERT INTO a SELECT 1",
        "CALL ice.system.rewrite_data_files(table => 'a', options => map('b', 'c'))",
        "CALL p()",
        "UPDATE t SET a = 1 WHERE b = 2",
        "DELETE FROM t WHERE a = 1",
        "TABLE t",
        "VALUES (1, 'a'), (2, 'b')",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ] {
        read(sql);
    }
    let Statement::Set { key, value, .. } = read("SET table.local-time-zone = Asia/Shanghai") else { panic!() };
    assert_eq!((key.as_str(), value.as_str()), ("table.local-time-zone", "Asia/Shanghai"));
    let Statement::Set { key, value, key_span, .. } = read("SET 'a.b' = '10 s'") else { panic!() };
    assert_eq!((key.as_str(), value.as_str(), key_span.start.column), ("a.b", "10 s", 5));
    let Statement::Explain(explain) = read("EXPLAIN CHANGELOG_MODE, PLAN_ADVICE SELECT 1") else { panic!() };
    assert_eq!(explain.details, [ExplainDetail::ChangelogMode, ExplainDetail::PlanAdvice]);
    let Statement::Show(show) = read("SHOW CREATE TABLE a.b") else { panic!() };
    assert_eq!((show.subject.as_str(), show.name.expect("name").to_string().as_str()), ("CREATE TABLE", "a.b"));
    assert!(
        matches!(read("STOP JOB 'x'"), Statement::Other { keyword, text } if keyword == "STOP" && text == "JOB 'x'")
    );
}

#[test]
fn insert_keeps_its_parts() {
    let sql = "INSERT INTO a.b /*+ OPTIONS('sink.parallelism' = '2') */ PARTITION (dt = '1', hr) (x, y) SELECT 1, 2 ON CONFLICT DO NOTHING";
    let Statement::Insert(insert) = read(sql) else { panic!() };
    assert_eq!(insert.table.to_string(), "a.b");
    assert_eq!(insert.hints[0].options, [("sink.parallelism".to_string(), "2".to_string())]);
    assert_eq!((insert.columns.len(), insert.partition.len(), insert.overwrite), (2, 2, false));
    assert!(insert.partition[1].1.is_none());
    assert_eq!(insert.on_conflict, Some(OnConflict::Nothing));
    assert_eq!(insert.text, sql);
    for sql in [
        "INSERT INTO t (SELECT 1)",
        "INSERT OVERWRITE t ((SELECT 1) UNION (SELECT 2))",
        "EXECUTE INSERT INTO t VALUES (1)",
    ] {
        assert!(matches!(read(sql), Statement::Insert(insert) if insert.columns.is_empty()));
    }
    let sets = [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT CASE WHEN c THEN 1 END FROM s; END",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
    ];
    for sql in sets {
        assert!(matches!(read(sql), Statement::StatementSet(inserts) if inserts.len() == 2));
    }
}

#[test]
fn expressions_have_flink_forms() {
    for (sql, tree) in [
        ("CAST(a AS ROW<x INT, y ARRAY<STRING>>)", "CAST(a AS $FLINK(ROW<`x` INT, `y` ARRAY<STRING>>))"),
        ("TRY_CAST('1' AS TIMESTAMP(3) WITH LOCAL TIME ZONE)", "TRY_CAST('1' AS $FLINK(TIMESTAMP_LTZ(3)))"),
        ("MAP['a', 1]['a']", "MAP('a', 1)['a']"),
        (
            "JSON_VALUE(j, '$.a' RETURNING INT DEFAULT 0 ON EMPTY ERROR ON ERROR)",
            "JSON_VALUE(j, '$.a', $RETURNING('INT'), $ON_EMPTY('DEFAULT', 0), $ON_ERROR('ERROR'))",
        ),
        (
            "JSON_QUERY(j, '$' WITH CONDITIONAL ARRAY WRAPPER EMPTY ARRAY ON ERROR)",
            "JSON_QUERY(j, '$', $WRAPPER('CONDITIONAL'), $ON_ERROR('EMPTY ARRAY'))",
        ),
        ("JSON_EXISTS(j, '$.a' TRUE ON ERROR)", "JSON_EXISTS(j, '$.a', $ON_ERROR('TRUE'))"),
        (
            "JSON_OBJECT(KEY 'a' VALUE 1, 'b' VALUE NULL ABSENT ON NULL)",
            "JSON_OBJECT('a', 1, 'b', NULL, $ON_NULL('ABSENT'))",
        ),
        ("JSON_OBJECT()", "JSON_OBJECT()"),
        ("JSON_ARRAY(1, 'a' NULL ON NULL)", "JSON_ARRAY(1, 'a', $ON_NULL('NULL'))"),
        ("JSON_OBJECTAGG(KEY k VALUE v) FILTER (WHERE c)", "JSON_OBJECTAGG(k, v) FILTER (WHERE c)"),
        ("a IS NOT JSON OBJECT", "NOT IS_JSON_OBJECT(a)"),
        ("a BETWEEN SYMMETRIC 3 AND 1", "(a BETWEEN 3 AND 1 OR a BETWEEN 1 AND 3)"),
        ("a NOT BETWEEN ASYMMETRIC 1 AND 3", "a NOT BETWEEN 1 AND 3"),
        ("INTERVAL '1' MINUTE", "INTERVAL '1' MINUTE"),
        ("INTERVAL 1 MINUTE", "INTERVAL 1 MINUTE"),
        ("INTERVAL '1 02:03:04.5' DAY TO SECOND(3)", "INTERVAL '1 02:03:04.5' DAY TO SECOND (3)"),
        ("(a - b) DAY TO SECOND", "$MINUS(a, b, 'DAY TO SECOND')"),
        ("'it''s \\n'", "'it''s \\n'"),
        ("U&'\\4f60'", "U&'\\4F60'"),
        ("ROW(1, 'a').f", "ROW(1, 'a').f"),
        ("FLOOR(ts TO HOUR)", "FLOOR(ts TO HOUR)"),
        ("a IS DISTINCT FROM b", "a IS DISTINCT FROM b"),
        ("UNKNOWN", "CAST(NULL AS $FLINK(BOOLEAN))"),
        ("a IS UNKNOWN", "a IS UNKNOWN"),
        ("POSITION('a' IN b FROM 2)", "LOCATE('a', b, 2)"),
        ("POSITION('a' IN b)", "POSITION('a' IN b)"),
        ("CASE a WHEN 1 THEN 2 END", "CASE a WHEN 1 THEN 2 END"),
        ("CASE a WHEN 1, 2 THEN 3 WHEN 4 THEN 5 END", "CASE WHEN a IN (1, 2) THEN 3 WHEN a = 4 THEN 5 END"),
        ("_UTF8'中'", "'中'"),
        ("E'it\\'s; ' || e'a''b\\'' || 'c'", "E'it\\'s; ' || E'a\\'b\\'' || 'c'"),
        ("COUNT(DISTINCT a) FILTER (WHERE b)", "COUNT(DISTINCT a) FILTER (WHERE b)"),
        ("f(x => 1)", "f(x => 1)"),
    ] {
        assert_eq!(expression(sql), tree);
    }
    assert!(matches!(first_expression("SELECT '￥“x”；'"), Expr::Value(_)), "full-width text in a string stays");
}

#[test]
fn is_distinct_from_binds_like_a_comparison() {
    let Expr::BinaryOp { left, op: BinaryOperator::And, .. } = first_expression("SELECT a IS DISTINCT FROM 1 AND b")
    else {
        panic!("AND comes last");
    };
    assert_eq!(left.to_string(), "a IS DISTINCT FROM 1");
    let Expr::BinaryOp { left, op: BinaryOperator::Or, .. } =
        first_expression("SELECT a IS NOT DISTINCT FROM b + 1 OR c")
    else {
        panic!("OR comes last");
    };
    assert_eq!(left.to_string(), "a IS NOT DISTINCT FROM b + 1");
}

#[test]
fn a_string_goes_on_in_the_next_line() {
    assert_eq!(expression("'a' -- and\n  'b'\n'c'"), "'abc'");
}

#[test]
fn queries_have_flink_forms() {
    for sql in [
        "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
        "SELECT * FROM TABLE(HOP(DATA => TABLE t PARTITION BY (a, b) ORDER BY c DESC, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL 1 MINUTE, SIZE => INTERVAL 5 MINUTES))",
        "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR), COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR), a",
        "SELECT * FROM o JOIN d FOR SYSTEM_TIME AS OF o.proctime AS u ON o.id = u.id",
        "SELECT * FROM t VERSION AS OF 123",
        "SELECT * FROM t FOR VERSION AS OF 123",
        "SELECT * FROM t TIMESTAMP AS OF '2020-01-01'",
        "SELECT * FROM t, LATERAL TABLE(f(a)) AS x(b) LEFT JOIN UNNEST(t.c) WITH ORDINALITY AS u (d, n) ON TRUE",
        "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts DESC) AS rn FROM t",
        "SELECT SUM(a) OVER w FROM t WINDOW w AS (ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)",
        "SELECT a, COUNT(*) FROM t GROUP BY GROUPING SETS ((a), ()), CUBE(b), ROLLUP(c) HAVING COUNT(*) > 1 ORDER BY a LIMIT 3",
        "SELECT a FROM (VALUES (1), (2)) AS t (a) WHERE a NOT IN (SELECT b FROM s) AND EXISTS (SELECT 1 FROM r)",
        "WITH x AS (SELECT 1 AS a) SELECT * FROM x EXCEPT SELECT 2",
        "SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY a) FROM t",
    ] {
        query(sql);
    }
    let pattern = query(
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY ts MEASURES LAST(B.x) AS x ONE ROW PER MATCH
         AFTER MATCH SKIP PAST LAST ROW PATTERN (A B{2,3}? C*) WITHIN INTERVAL '1' HOUR DEFINE A AS A.x > 1)",
    );
    assert!(pattern.to_string().contains("DEFINE $WITHIN AS INTERVAL '1' HOUR, A AS"), "{pattern}");
    let marker = first_expression("SELECT f(TABLE a.b /*+ OPTIONS('k' = 'v') */ PARTITION BY c)");
    let Expr::Function(function) = marker else { panic!() };
    assert_eq!(
        function.args.to_string(),
        "(TABLE)".replace("TABLE", "$TABLE(a.b, $PARTITION_BY(c), $HINT(' OPTIONS(''k'' = ''v'') '))")
    );
    let syntax::ast::FunctionArguments::List(list) = function.args else { panic!() };
    let syntax::ast::FunctionArg::Unnamed(syntax::ast::FunctionArgExpr::Expr(argument)) = &list.args[0] else {
        panic!()
    };
    assert_eq!(marker_arguments(argument, dialect::TABLE).expect("marker").len(), 3);
    assert!(
        marker_arguments(&first_expression("SELECT `$TABLE`(a)"), dialect::TABLE).is_none(),
        "users cannot write markers"
    );
}

#[test]
fn hints_reach_select_and_table() {
    let query = query(
        "SELECT /*+ LOOKUP('table' = 'd'), BROADCAST(a, b.c) */ * FROM x.t /* note */ /*+ OPTIONS('a' = 'b') */ AS u",
    );
    let SetExpr::Select(select) = *query.body else { panic!() };
    let hints = syntax::select_hints(&select);
    assert_eq!(hints[0].options[0], ("table".to_string(), "d".to_string()));
    assert_eq!(hints[1], Hint { name: "BROADCAST".into(), options: vec![], arguments: vec!["a".into(), "b.c".into()] });
    let factor: &TableFactor = &select.from[0].relation;
    assert_eq!(syntax::table_hints(factor)[0].name, "OPTIONS");
    assert!(refusal("SELECT a /*+ X(b) */ + 1 FROM t").starts_with("1:10: no hint is read at this place"));
    assert!(refusal("SELECT * FROM t /*+ OPTIONS('a' = ) */").starts_with("1:17: the hint cannot be read"));
}

#[test]
fn scripts_are_split_lazily() {
    let text = "\u{feff}-- first; comment\r\nSELECT ';' AS `a;b` /* ; */;;\r\n
EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT CASE WHEN x THEN 1 END FROM t;\nINSERT INTO b SELECT 2;\nEND; SELECT 3；SELECT 'open";
    let script = Script::new("s.sql", text);
    let raw: Vec<_> = script.statements().collect();
    let places: Vec<_> =
        raw.iter().map(|raw| (raw.line, raw.column, raw.text.split_whitespace().next().unwrap_or(""))).collect();
    assert_eq!(places, [(2, 1, "SELECT"), (4, 1, "EXECUTE"), (7, 6, "SELECT"), (7, 15, "SELECT")]);
    for raw in &raw[..3] {
        parse(raw).expect("the last statement does not matter to those before it");
    }
    let error = parse(&raw[3]).expect_err("unterminated");
    assert_eq!((error.kind, error.line, error.column), (SyntaxErrorKind::UnterminatedString, 7, 22));
    assert_eq!(script.line(2), Some("SELECT ';' AS `a;b` /* ; */;;"));
    assert_eq!(script.line(99), None);
}

#[test]
fn positions_are_those_of_the_script() {
    let script = Script::new("s", "SET 'a' = 'b'; SELECT 1;\n  SELECT a,\n 中文 + b FROM t");
    let raw = script.statements().last().expect("statement");
    let Ok(Statement::Query(query)) = parse(&raw) else { panic!() };
    let SetExpr::Select(select) = *query.body else { panic!() };
    let spans: Vec<_> = select.projection.iter().map(|item| syntax::ast::Spanned::span(item).start).collect();
    assert_eq!((spans[0].line, spans[0].column, spans[1].line, spans[1].column), (2, 10, 3, 2));
}

#[test]
fn full_width_punctuation_is_read() {
    let table = table("CREATE TABLE t （a INT，b STRING）　WITH （'a' ＝ '（，）'）");
    assert_eq!(table.definition.columns.len(), 2);
    assert_eq!(table.definition.options[0].value, "（，）");
    assert_eq!(refusal("SELECT ‘a’"), "1:8: unexpected character ‘ (U+2018) (type ' instead)");
    assert_eq!(refusal("SELECT a、b"), "1:9: unexpected character 、 (U+3001) (type , instead)");
}

#[test]
fn mistakes_are_explained() {
    for (sql, text) in [
        (
            "CREATE TABLE s (a INT) WITH ( connector upsert-kafka, topic t, 'x' = 3 )",
            "1:31: option keys and values need single quotes (WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'x' = '3'))",
        ),
        (
            "CREATE TABLE s (a INT) WITH ('connector' = 'kafka', ...)",
            "1:53: ... is a placeholder (write what it stands for, or remove it)",
        ),
        ("CREATE TABLE t (value INT)", "1:17: value is a reserved word (write `value`)"),
        ("SELECT a AS order FROM t", "1:13: order is a reserved word (write `order`)"),
        ("SELECT a FROM t AS user", "1:20: user is a reserved word (write `user`)"),
        (
            "SELECT 'a' 'b'",
            "1:12: 'b' is a string, but a name is expected here \
             (write `b`; if two strings belong together, write || between them)",
        ),
        (
            "SELECT a = 'x' AS 'x' FROM t",
            "1:19: 'x' is a string, but a name is expected here \
             (write `x`; if two strings belong together, write || between them)",
        ),
        (
            "SELECT a FROM 't'",
            "1:15: 't' is a string, but a name is expected here \
             (write `t`; if two strings belong together, write || between them)",
        ),
        ("SELECT \"a\" FROM t", "1:8: double quotes around a (write 'a' for a string, `a` for a name)"),
        ("SELECT 'a FROM t", "1:8: the string that starts here has no closing quote"),
        ("SELECT `a FROM t", "1:8: the identifier that starts here has no closing backtick"),
        ("SELECT a /* FROM t", "1:10: the comment that starts here has no closing */"),
        ("CREATE TABLE t (a INT, b TEXT)", "1:26: unknown type TEXT (use STRING)"),
        ("SELECT a FROM (SELECT CAST(b AS DATETIME) FROM t) x", "1:33: unknown type DATETIME (use TIMESTAMP(3))"),
        ("SELECT a FROM (SELECT b FROM t WHERE ) x", "1:38: expected an expression, found )"),
        (
            "SELECT CASE WHEN a THEN 1 FROM t",
            "1:8: the CASE that starts here has no END before FROM (close it: CASE WHEN ... THEN ... END)",
        ),
        (
            "SELECT CASE WHEN CASE a WHEN 1 THEN b END THEN 1 END, (CASE b WHEN 2 THEN 3",
            "1:56: the CASE that starts here has no END before end of statement (close it: CASE WHEN ... THEN ... END)",
        ),
        ("SELECT a FORM t", "1:10: FORM is no keyword: FROM is (write FROM)"),
        ("SELECT a FROM t WEHRE a > 1", "1:17: WEHRE is no keyword: WHERE is (write WHERE)"),
        ("SELECT a FROM t gruop by a", "1:17: gruop is no keyword: GROUP is (write GROUP)"),
        ("CREATE TABLE t (a INT) WIHT ('a' = 'b')", "1:24: WIHT is no keyword: WITH is (write WITH)"),
        (
            "SELECT 0x1F",
            "1:8: the hexadecimal number 0x1F is not supported (write the number in decimal, or X'...' for bytes)",
        ),
        ("SELECT a, FROM t", "1:11: expected an expression, found FROM"),
        ("SELECT SUM(a FROM t", "1:14: expected ), found FROM"),
        ("SELECT a FROM t WHERE", "1:22: expected an expression, found end of statement"),
        ("SELCT 1", "1:1: no statement starts with SELCT"),
        ("CREATE TEMPORARY SYSTEM TABLE t (a INT)", "1:25: expected FUNCTION, found TABLE"),
        ("CREATE OR REPLACE DATABASE d", "1:19: expected TABLE, VIEW or FUNCTION, found DATABASE"),
        ("CREATE TEMPORARY CATALOG c", "1:18: expected TABLE, VIEW or FUNCTION, found CATALOG"),
        ("CREATE TABEL t (a INT)", "1:8: TABEL is no keyword: TABLE is (write TABLE)"),
        ("CREATE NONSENSE t (a INT)", "1:1: no statement starts with CREATE NONSENSE"),
        ("CREATE TABLE t (a INT b INT)", "1:23: expected , or ), found b"),
        ("CREATE TABLE t (a INT) WITH ('a' = 'b'\n'c' = 'd')", "2:1: expected , or ), found 'c'"),
        ("CREATE TABLE t (a INT) WITH ('a' = 'b' 'c' = 'd')", "1:40: expected , or ), found 'c'"),
        ("CREATE TABLE t (a INT) WITH ('a' = 'b', 'a' = 'c')", "1:41: option 'a' is given twice"),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED)",
            "1:40: an ENFORCED primary key is not supported (write NOT ENFORCED)",
        ),
        ("CREATE TABLE t (a INT, WATERMARK FOR a AS a, WATERMARK FOR a AS a)", "1:46: WATERMARK is given twice"),
        ("INSERT INTO t", "1:14: expected SELECT, VALUES or another query, found end of statement"),
        ("INSERT INTO t SELECT 1 ON CONFLICT DO UPDATE", "1:39: expected DEDUPLICATE, ERROR or NOTHING, found UPDATE"),
        (
            "EXECUTE STATEMENT SET BEGIN SELECT 1; END",
            "1:29: a statement set holds INSERT statements only, found SELECT",
        ),
        (
            "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;",
            "1:52: the statement set has no END (close it with END;)",
        ),
        ("SELECT 1; SELECT 2", "1:11: expected one statement, found SELECT"),
        ("", "1:1: expected a statement, found end of statement"),
        ("SELECT 1 AS a b", "1:15: expected end of statement, found b"),
    ] {
        assert_eq!(refusal(sql), text, "{sql}");
    }
    // The planner knows the columns and says more about this one.
    read("SELECT * FROM d WHERE value IS NOT NULL");
}

#[test]
fn variables_are_replaced() {
    let lookup = |name: &str| (name == "A").then(|| "it".to_string());
    assert_eq!(
        substitute("-- ${A} ${B}\n'${A}' /* ${C} */ ${A} ${ } $A", lookup).expect("text"),
        "-- it ${B}\n'it' /* ${C} */ it ${ } $A"
    );
    assert_eq!(substitute("${A:-x} '${B:-a b}' ${C:-} ${:-x}", lookup).expect("text"), "it 'a b'  ${:-x}");
    let missing = substitute("SELECT\n  '中 ${dt}'", lookup).expect_err("dt");
    assert_eq!((missing.name.as_str(), missing.line, missing.column), ("dt", 2, 6));
}

#[test]
fn hostile_statements_end_quickly() {
    let depth = 20_000;
    for sql in [
        format!("SELECT {}1", "(".repeat(depth)),
        format!("SELECT {}1", "- ".repeat(depth)),
        format!("SELECT {}", "CASE WHEN ".repeat(depth)),
        format!("SELECT {}x", "INTERVAL ".repeat(depth)),
        format!("SELECT {}x", "NOT (".repeat(90)),
        format!("SELECT {}x", "INTERVAL (".repeat(90)),
        format!("SELECT 1{}", " + 1".repeat(depth)),
        format!("SELECT a{}", " AT TIME ZONE 'x'".repeat(depth)),
        format!("SELECT a, b {}", "UNION ALL SELECT a, b ".repeat(depth)),
        format!("SELECT * FROM {}", "((SELECT * FROM ".repeat(45)),
        format!("SELECT a{}", ".a".repeat(depth)),
        format!("SELECT {}a{}", "(".repeat(50), " BETWEEN SYMMETRIC 1 AND 2)".repeat(50)),
        format!("CREATE TABLE t (a {}INT)", "ARRAY<".repeat(depth)),
        format!("CREATE TABLE t (a INT {})", "ARRAY ".repeat(depth)),
        format!("SELECT * FROM t {}", "PIVOT (SUM(a) FOR b IN (1)) ".repeat(depth)),
        "EXPLAIN ".repeat(depth),
    ] {
        assert!(parse_statement(&sql).is_err(), "{}", &sql[..60]);
    }
    read(&format!("SELECT {}1{}", "(".repeat(40), ")".repeat(40)));
    read(&format!("SELECT * FROM t WHERE a = 0{}", " OR a = 1".repeat(150)));
}

/// Cuts and changes correct statements. Nothing may panic, whatever comes out.
#[test]
fn broken_statements_do_not_panic() {
    let corpus = [
        ORDERS,
        "SELECT /*+ A('b'='c') */ CAST(a AS ROW<x INT>), MAP['k', 1], JSON_VALUE(j, '$.a' RETURNING INT NULL ON EMPTY) FROM t /*+ O('a'='b') */",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a PARTITION (d='1') SELECT CASE WHEN x THEN 1 END FROM t; END;",
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A (B | C)*) WITHIN INTERVAL '1' HOUR DEFINE A AS a > 1)",
        "SELECT a FROM ((SELECT b FROM s) x JOIN (u) ON x.a = u.a) WHERE a BETWEEN SYMMETRIC 1 AND 2 AND 中 = U&'\\4f60'",
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ];
    let pieces = [
        "'",
        "`",
        "(",
        ")",
        ",",
        ";",
        "--",
        "/*",
        "*/",
        "/*+",
        "<",
        ">>",
        "...",
        "“",
        "，",
        " SELECT ",
        " FROM ",
        " AS ",
        " END ",
        "\u{0}",
        "${",
        "\\",
        "U&'",
        "$",
        "INTERVAL ",
    ];
    let mut state = 20_241_120_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let check = |text: &str| {
        let _ = substitute(text, |_| None);
        for raw in Script::new("", text).statements() {
            if let Err(error) = parse(&raw) {
                assert!(error.line >= 1 && error.column >= 1, "{text}: {error}");
            }
        }
    };
    for sql in corpus {
        let places: Vec<usize> = sql.char_indices().map(|(index, _)| index).collect();
        for end in &places {
            check(&sql[..*end]);
        }
        for _ in 0..300 {
            let mut text = sql.to_string();
            for _ in 0..=random(3) {
                let places: Vec<usize> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
                let start = places[random(places.len())];
                let end = places[random(places.len())].clamp(start, (start + 8).min(text.len()));
                let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(start);
                text.replace_range(start..end, pieces[random(pieces.len())]);
            }
            check(&text);
        }
    }
}

#[test]
fn functions_are_classes_or_expressions() {
    let sql = "CREATE OR REPLACE TEMPORARY SYSTEM FUNCTION f(a INT, b ROW<x STRING>) RETURNS STRING LANGUAGE SQL \
               RETURN b.x || CAST(a AS STRING)";
    let Statement::CreateFunction(function) = read(sql) else { panic!() };
    assert!(function.or_replace && function.temporary && function.system);
    let FunctionBody::Expression { parameters, returns, expression } = function.body else { panic!() };
    let parameters: Vec<String> = parameters.iter().map(|(name, type_name)| format!("{name} {type_name}")).collect();
    assert_eq!(parameters, ["a INT", "b ROW<`x` STRING>"]);
    assert_eq!(returns.map(|returns| returns.to_string()).as_deref(), Some("STRING"));
    assert_eq!(expression.text, "b.x || CAST(a AS STRING)");
    let Statement::CreateFunction(function) = read("CREATE FUNCTION a.b.f AS 'm.F' LANGUAGE python USING JAR 'x'")
    else {
        panic!()
    };
    let body =
        FunctionBody::Class { class: "m.F".into(), language: Some("PYTHON".into()), rest: "USING JAR 'x'".into() };
    assert_eq!(function.body, body);
    for (sql, expected) in [
        ("CREATE FUNCTION f(a INT) LANGUAGE JAVA RETURN a", "a function with parameters in JAVA is not supported"),
        ("CREATE FUNCTION f(a INT) a", "expected RETURN, found a"),
        ("CREATE FUNCTION f(a) RETURN a", "expected a type"),
    ] {
        assert!(refusal(sql).contains(expected), "{sql}: {}", refusal(sql));
    }
}

#[test]
fn views_catalogs_and_databases_are_altered() {
    let Statement::AlterView(alter) = read("ALTER VIEW IF EXISTS c.d.v AS SELECT 1 AS a") else { panic!() };
    assert!(
        alter.if_exists && matches!(&alter.operation, ViewOperation::Query(query) if query.text == "SELECT 1 AS a")
    );
    let Statement::AlterSpace(alter) = read("ALTER CATALOG c RESET ('a', 'b')") else { panic!() };
    assert_eq!(
        (alter.kind, alter.operation),
        (ObjectKind::Catalog, SpaceOperation::Reset(vec!["a".into(), "b".into()]))
    );
    let Statement::AlterSpace(alter) = read("ALTER DATABASE c.d SET ('a' = 'b')") else { panic!() };
    assert!(matches!(alter.operation, SpaceOperation::Set(options) if options.len() == 1));
    let Statement::CreateTable(table) = read("REPLACE TABLE t WITH ('connector' = 'x') AS SELECT 1 AS a") else {
        panic!()
    };
    assert!(table.must_exist && table.or_replace && table.query.is_some());
    assert!(refusal("ALTER VIEW v").contains("expected RENAME TO or AS"));
}

#[test]
fn columns_are_altered_with_the_word_column_too() {
    for (with, without) in [
        ("ADD COLUMN b INT AFTER a", "ADD b INT AFTER a"),
        ("ADD COLUMNS (b INT, c INT)", "ADD (b INT, c INT)"),
        ("MODIFY COLUMN b BIGINT", "MODIFY b BIGINT"),
        ("DROP COLUMN b", "DROP b"),
        ("DROP COLUMNS (b, c)", "DROP (b, c)"),
        ("RENAME COLUMN b TO c", "RENAME b TO c"),
        ("DROP `COLUMN`", "DROP (`COLUMN`)"),
    ] {
        let read = |operation: &str| match read(&format!("ALTER TABLE t {operation}")) {
            Statement::AlterTable(alter) => alter.operation,
            other => panic!("{other:?}"),
        };
        let names = |operation: AlterOperation| match operation {
            AlterOperation::Add(table) | AlterOperation::Modify(table) => table
                .columns
                .iter()
                .map(|column| format!("{} {:?}", column.name.value, column.position.is_some()))
                .collect(),
            AlterOperation::DropColumns(names) => names.iter().map(|name| name.value.clone()).collect::<Vec<_>>(),
            AlterOperation::RenameColumn { from, to } => vec![from[0].value.clone(), to.value],
            other => panic!("{other:?}"),
        };
        assert_eq!(names(read(with)), names(read(without)), "{with}");
    }
}
