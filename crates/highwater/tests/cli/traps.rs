//! The traps of published scripts that need no broker: what must be accepted, and with which words something is refused.

use crate::program::{Program, Ran};

const VARIABLES: [&str; 6] = ["-D", "KAFKA=127.0.0.1:9092", "-D", "MYSQL_HOST=127.0.0.1", "-D", "MYSQL_PORT=3306"];

fn with_variables<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &VARIABLES].concat()
}

#[test]
fn t1_a_rowtime_may_have_any_precision() {
    let program = Program::new();
    program.write("t1.sql", &format!("{}\nDESCRIBE t1;", include_str!("../data/traps/T1.sql")));
    let ran = program.run(&with_variables(&["run", "t1.sql"])).exits(0);
    assert!(ran.out.contains("TIMESTAMP(6) *ROWTIME*"), "{}", ran.out);

    // The watermark of 10:00:00.123456 is 09:59:55.123.
    program.write("in/a.jsonl", "{\"access_time\":\"2024-11-20 10:00:00.123456\"}\n");
    program.write(
        "wm.sql",
        "CREATE TABLE t (access_time TIMESTAMP, WATERMARK FOR access_time AS access_time - INTERVAL '5' SECOND)
         WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '20 ms');
         CREATE TABLE s (access_time TIMESTAMP) WITH ('connector' = 'blackhole');
         INSERT INTO s SELECT access_time FROM t;",
    );
    let mut running = program.start(&["run", "wm.sql"]);
    let job = running.wait_until("the row is read", |job| job["nodes"][0]["watermark_ms"].is_i64());
    assert_eq!(job["nodes"][0]["watermark"], "2024-11-20 09:59:55.123");
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
}

const ORDERS: &str = "CREATE TABLE order_topic (order_id STRING, order_time TIMESTAMP(3))
    WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json' EXTRA);";
const BOTH_FORMS: &str = "{\"order_id\":\"a\",\"order_time\":\"2024-11-20T15:01:00.123\"}
{\"order_id\":\"b\",\"order_time\":\"2024-11-20 15:01:00.123\"}
";

#[test]
fn t4a_both_timestamp_forms_are_read_and_the_sql_form_is_written() {
    let program = Program::new();
    program.write("orders.jsonl", BOTH_FORMS);
    let sink = "CREATE TABLE s (order_id STRING, order_time TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
        INSERT INTO s SELECT * FROM order_topic;";
    program.run_script(&format!("{}{sink}", ORDERS.replace("EXTRA", ""))).exits(0);
    assert_eq!(
        program.lines_below("out"),
        ["a", "b"].map(|id| format!("{{\"order_id\":\"{id}\",\"order_time\":\"2024-11-20 15:01:00.123\"}}"))
    );
}

#[test]
fn t4b_a_pinned_form_refuses_the_other_at_the_record() {
    let program = Program::new();
    program.write("orders.jsonl", BOTH_FORMS);
    let pinned = ORDERS.replace("EXTRA", ", 'json.timestamp-format.standard' = 'SQL'");
    program.run_script(&format!("{pinned}SELECT order_time FROM order_topic;")).exits(1).says(&[
        "orders.jsonl",
        "line 1",
        "order_time",
        "2024-11-20T15:01:00",
        "json.timestamp-format.standard",
        "ISO-8601",
    ]);
}

#[test]
fn t8_an_inline_primary_key_is_accepted() {
    let program = Program::new();
    program.write("t8.sql", &format!("{}\nDESCRIBE d;", include_str!("../data/traps/T8.sql")));
    let ran = program.run(&with_variables(&["run", "t8.sql"])).exits(0);
    assert!(ran.out.contains("PRI(user_id)"), "{}", ran.out);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn t10a_an_interval_without_quotes_gives_the_same_plan() {
    let program = Program::new();
    let sql = include_str!("../data/traps/T10a.sql");
    program.write("bare.sql", sql);
    program.write("quoted.sql", &sql.replace("INTERVAL 1 MINUTE", "INTERVAL '1' MINUTE"));
    let bare = program.run(&with_variables(&["explain", "bare.sql"])).exits(0);
    let quoted = program.run(&with_variables(&["explain", "quoted.sql"])).exits(0);
    assert!(bare.out.contains("item_id"), "{}", bare.out);
    assert_eq!(bare.out, quoted.out);
}

#[test]
fn t10b_unquoted_options_are_refused_with_the_corrected_line() {
    let program = Program::new();
    program.write("t10b.sql", include_str!("../data/traps/T10b.sql"));
    program.run(&["run", "t10b.sql"]).exits(2).says(&["quotes", "'connector' = 'upsert-kafka'", "t10b.sql:2:"]);
}

/// Writes and explains a script of the traps.
fn explain(sql: &str) -> Ran {
    let program = Program::new();
    program.write("trap.sql", sql);
    program.run(&with_variables(&["explain", "trap.sql"]))
}

/// What a script is refused or warned with, in Chinese.
fn explain_in_chinese(sql: &str) -> String {
    let program = Program::new();
    program.write("trap.sql", sql);
    let mut command = program.command(&with_variables(&["explain", "trap.sql"]));
    let output = command.env("HIGHWATER_LANGUAGE", "zh").output().expect("run highwater");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn every_scenario_over_kafka_is_planned_without_a_connection() {
    for (name, sql, warnings) in [
        ("binlog_to_ods", include_str!("../../../testkit/scenarios/s0_ods_binlog/job.sql"), vec!["HW-P505"]),
        ("changelog_to_upsert", include_str!("../../../testkit/scenarios/s0_upsert_kafka_bytes/job.sql"), vec![]),
        ("pvuv_per_day", include_str!("../../../testkit/scenarios/s4_pvuv_upsert_kafka/job.sql"), vec!["HW-P522"]),
        ("pvuv_per_minute", include_str!("../../../testkit/scenarios/s4_pvuv_upsert_kafka/job_per_minute.sql"), vec![]),
        ("minute_gmv", include_str!("../../../testkit/scenarios/s3a_order_minute_gmv/job.sql"), vec![]),
    ] {
        let ran = explain(sql).exits(0);
        let said: Vec<&str> =
            ran.err.lines().filter_map(|line| line.strip_prefix("warning[")?.split(']').next()).collect();
        assert_eq!(said, warnings, "{name}: {}", ran.err);
    }
}

#[test]
fn changes_reach_a_keyed_sink_without_old_rows() {
    let ran = explain(include_str!("../../../testkit/scenarios/s0_upsert_kafka_bytes/job.sql")).exits(0);
    let sink =
        "Sink(table=[user_score_sink], fields=[user_id, name, score], primaryKey=[user_id], changelogMode=[I,UA,D])";
    assert!(ran.out.contains(sink), "{}", ran.out);
    assert!(ran.out.contains("delivery: at-least-once"), "{}", ran.out);
}

#[test]
fn an_upsert_table_without_a_key_is_refused() {
    let sql = "CREATE TABLE user_score_sink (user_id INT, score INT) WITH ('connector' = 'upsert-kafka', 'topic' = 't',
        'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json');";
    explain(sql).exits(2).says(&["user_score_sink", "PRIMARY KEY (", "NOT ENFORCED"]);
}

#[test]
fn t2_and_n25_earlier_keys_that_will_be_deleted_are_announced() {
    let words = [
        "warning[",
        "result_total_pvuv_min",
        "(do_date, do_min)",
        "dt",
        "earlier",
        "tombstone",
        "GROUP BY dt, DATE_FORMAT(access_time, 'HH:mm')",
    ];
    let sql = include_str!("../data/traps/T2.sql");
    explain(sql).exits(0).says(&words);
    assert!(explain_in_chinese(sql).contains("旧键的行会被删除"));
    let (source, _) = sql.split_once("WITH ('connector' = 'upsert-kafka'").expect("an upsert table");
    let (_, insert) = sql.split_once("INSERT INTO").expect("an INSERT");
    let jdbc = format!(
        "{source} WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://${{MYSQL_HOST}}:${{MYSQL_PORT}}/bi', \
         'table-name' = 'r'); INSERT INTO{insert}"
    );
    explain(&jdbc).exits(0).says(&words);
}

#[test]
fn t3_types_that_do_not_fit_give_the_whole_corrected_list() {
    let sql = include_str!("../data/traps/T3.sql").replace("TIDB", "MYSQL");
    explain(&sql).exits(2).says(&[
        "user_id",
        "STRING",
        "INT",
        "pagecode",
        "page_code",
        "SELECT CAST(user_id AS INT), client_ip, pagecode AS page_code",
    ]);
    assert!(explain_in_chinese(&sql).contains("HW-P035"));
}

#[test]
fn t5_explain_names_the_settings_of_lateness() {
    let ran = explain(include_str!("../data/traps/T5a.sql")).exits(0);
    for part in ["allowed lateness 0", "table.exec.emit.allow-lateness", "table.exec.emit.late-fire.enabled"] {
        assert!(ran.out.contains(part), "no {part:?} in: {}", ran.out);
    }
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn t11_an_unknown_metadata_key_lists_all_keys_even_if_options_are_missing() {
    let words = [
        "value.source.op",
        "did you mean METADATA FROM 'value.op'",
        "value.ingestion-timestamp",
        "value.source.timestamp",
        "value.source.database",
        "value.source.schema",
        "value.source.table",
        "value.source.properties",
    ];
    let sql = include_str!("../data/traps/T11.sql");
    explain(sql).exits(2).says(&words);
    assert!(explain_in_chinese(sql).contains("没有元数据 'value.source.op'"));
    let incomplete = sql.replace("'properties.bootstrap.servers' = '${KAFKA}', ", "");
    let ran = explain(&incomplete).exits(2).says(&words);
    assert!(ran.err.contains("'properties.bootstrap.servers' of connector 'kafka' is missing"), "{}", ran.err);
    // The statement as it was printed first: both problems at once.
    explain(include_str!("../../../testkit/scenarios/s0_ods_binlog/as_in_seed.sql")).exits(2).says(&words);
    explain(&sql.replace("value.source.op", "value.op")).exits(0);
}

#[test]
fn t12_a_json_value_needs_its_type() {
    let sql = include_str!("../data/traps/T12a.sql");
    explain(sql).exits(2).says(&[
        "item_id",
        "STRING",
        "BIGINT",
        "CAST(JSON_VALUE(data, '$.itemId') AS BIGINT)",
        "RETURNING BIGINT",
    ]);
    let ran = explain(include_str!("../data/traps/T12b.sql")).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn t14_the_value_of_a_message_is_no_column() {
    let sql = include_str!("../data/traps/T14.sql");
    for sql in
        [sql.to_string(), sql.replace("WHERE value", "WHERE `value`"), sql.replace("WHERE value", "WHERE d.VALUE")]
    {
        explain(&sql).exits(2).says(&[
            "value",
            "user_id, user_name",
            "tombstone",
            "DELETE",
            "'connector' = 'kafka', 'topic' = 'dim_user'",
            "'format' = 'raw'",
            "trap.sql:",
        ]);
    }
    assert!(explain_in_chinese(sql).contains("Kafka 消息的 value 不是列"));
    let plain =
        "CREATE TABLE d (user_id BIGINT) WITH ('connector' = 'datagen'); SELECT * FROM d WHERE value IS NOT NULL;";
    let ran = explain(plain).exits(2).says(&["value", "user_id"]);
    assert!(!ran.err.contains("tombstone"), "{}", ran.err);
}

#[test]
fn t25_explain_says_what_the_sink_promises() {
    let ran = explain(include_str!("../data/traps/T25.sql")).exits(0);
    for part in ["at-least-once", "sink.delivery-guarantee"] {
        assert!(ran.out.contains(part), "no {part:?} in: {}", ran.out);
    }
}

#[test]
fn n1_a_missing_column_is_answered_with_a_column_list() {
    let sql = include_str!("../data/traps/N1.sql");
    explain(sql).exits(2).says(&["4", "3", "user_name", "INSERT INTO w (order_id, user_id, amount)"]);
    assert!(explain_in_chinese(sql).contains("HW-P034"));
}

#[test]
fn n2_a_changelog_without_a_key_is_accepted_and_explained() {
    let sql = include_str!("../../../testkit/scenarios/s0_ods_binlog/job.sql");
    let lines = sql.lines().filter(|line| !line.trim_start().starts_with("PRIMARY KEY (id)"));
    let unkeyed = lines.collect::<Vec<_>>().join("\n").replacen("VIRTUAL,", "VIRTUAL", 1);
    assert_ne!(unkeyed.lines().count(), sql.lines().count());
    let ran = explain(&unkeyed.replace("('c', 'u', 'd')", "('c', 'u', 'd', 'r')")).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    for part in ["the key of the query is unknown", "PRIMARY KEY", "state: all rows of a ("] {
        assert!(ran.out.contains(part), "no {part:?} in: {}", ran.out);
    }
}

#[test]
fn n3_dots_in_a_with_clause_are_answered_with_the_options_that_belong_there() {
    let printed = include_str!("../../../testkit/scenarios/s0_ods_binlog/as_in_seed.sql");
    let (_, second) = printed.split_once(";\n").expect("two statements");
    let (create, _) = second.split_once("INSERT INTO").expect("an INSERT");
    explain(create).exits(2).says(&[
        "`...` is a placeholder",
        "connector 'upsert-kafka' requires",
        "'key.format', 'properties.bootstrap.servers', 'topic', 'value.format'",
        "ods_user_behavior still misses: 'key.format' = '...', 'properties.bootstrap.servers' = '...', 'value.format' = '...'",
        "trap.sql:11:5",
    ]);
    assert!(explain_in_chinese(create).contains("连接器 'upsert-kafka' 的必填选项"));
    for with in ["..., 'connector' = 'kafka'", "'connector' = 'kafka', …", "'connector' = 'kafka',\n ...,\n ..."] {
        explain(&format!("CREATE TABLE t (a INT) WITH ({with});")).exits(2).says(&[
            "`...` is a placeholder",
            "'properties.bootstrap.servers' = '...'",
            "'topic'",
            "'format'",
        ]);
    }
    explain("SELECT ... FROM t;").exits(2).says(&["`...` is a placeholder"]);
}

#[test]
fn n4_a_filter_that_loses_the_snapshot_is_a_warning() {
    let sql = include_str!("../data/traps/N4.sql");
    explain(sql).exits(0).says(&["warning[", "op", "'r'", "snapshot"]);
    assert!(explain_in_chinese(sql).contains("丢掉了表 b 的初始快照"));
    let ran = explain(&sql.replace("('c', 'u', 'd')", "('c', 'u', 'd', 'r')")).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn watermark_options_need_a_watermark() {
    let table = |watermark: &str| {
        format!(
            "CREATE TABLE t (ts TIMESTAMP(3){watermark}) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',
             'properties.bootstrap.servers' = '${{KAFKA}}', 'scan.watermark.alignment.group' = 'g',
             'scan.watermark.alignment.max-drift' = '30 s', 'scan.watermark.idle-timeout' = '5 s');
             SELECT ts FROM t;"
        )
    };
    let ran = explain(&table(", WATERMARK FOR ts AS ts - INTERVAL '5' SECOND")).exits(0);
    for part in ["silent for 5 s", "more than 30 s ahead of the slowest source of group g"] {
        assert!(ran.out.contains(part), "no {part:?} in: {}", ran.out);
    }
    let words = ["scan.watermark.alignment.group", "table t", "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"];
    explain(&table("")).exits(2).says(&words);
    assert!(explain_in_chinese(&table("")).contains("没有 WATERMARK 子句"));
}

#[test]
fn t16b_a_window_over_an_ordinary_column_names_the_line_to_add() {
    explain(include_str!("../data/traps/T16b.sql")).exits(2).says(&[
        "create_time",
        "add to CREATE TABLE kafka_ods_orders: WATERMARK FOR create_time AS create_time - INTERVAL '5' SECOND",
    ]);
}

/// Accepted, and without a word about it.
#[track_caller]
fn accepted(sql: &str) -> Ran {
    let ran = explain(sql).exits(0);
    assert!(!ran.err.contains("warning["), "{}", ran.err);
    ran
}

#[test]
fn t13_both_missing_watermarks_are_told_at_once() {
    let sql = include_str!("../data/traps/T13.sql");
    let ran = explain(sql).exits(2).says(&[
        "fact_orders",
        "dim_user",
        "add to CREATE TABLE fact_orders: WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND",
        "add to CREATE TABLE dim_user: WATERMARK FOR update_time AS update_time - INTERVAL '5' SECOND",
        "trap.sql:",
    ]);
    assert_eq!(ran.err.matches("error[").count(), 1, "{}", ran.err);
    assert!(explain_in_chinese(sql).contains("无法以 FOR SYSTEM_TIME AS OF o.order_time 关联表 dim_user"));
    let unkeyed = sql.replace("'upsert-kafka'", "'kafka'").replace(", PRIMARY KEY (user_id) NOT ENFORCED", "");
    let unkeyed = unkeyed.replace("'key.format' = 'json', 'value.format'", "'format'");
    explain(&unkeyed).exits(2).says(&["table dim_user has no PRIMARY KEY", "has no WATERMARK for update_time"]);
}

#[test]
fn t15_t17_and_n19_a_window_tells_its_end_and_no_conflict_clause_is_needed() {
    for (sql, key) in [
        (include_str!("../data/traps/T15.sql"), "key: (item_id, window_start) is a key of the query"),
        (include_str!("../data/traps/N19.sql"), "key: (window_start, window_end) is a key of the query"),
    ] {
        let ran = explain(sql).exits(0);
        assert!(ran.out.contains(key), "no {key:?} in: {}", ran.out);
    }
    let sql = include_str!("../data/traps/N19.sql");
    let without = sql.replace(" ON CONFLICT DO DEDUPLICATE", "");
    assert_ne!(sql, without);
    assert_eq!(explain(sql).exits(0).out, accepted(&without).out);
    let strict = format!("SET 'table.exec.sink.require-on-conflict' = 'false';\n{without}");
    assert_eq!(explain(&strict).exits(0).out, accepted(&without).out);
    let ran = explain(include_str!("../data/traps/T17.sql")).exits(0);
    assert!(!ran.out.contains("Materialize"), "{}", ran.out);
}

#[test]
fn t21a_a_date_that_is_no_column_is_answered_with_its_expression() {
    let sql = include_str!("../data/traps/T21a.sql");
    let ran = explain(sql).exits(2).says(&[
        "column dt does not exist",
        "dws_city_gmv",
        "CAST(window_start AS DATE)",
        "window_start, window_end, city, order_cnt, gmv, uv",
    ]);
    assert_eq!(ran.err.matches("error[").count(), 1, "{}", ran.err);
    assert!(explain_in_chinese(sql).contains("列 dt 不存在"));
}

#[test]
fn n5_n6_n11_tables_that_nobody_defined_are_answered_with_their_definition() {
    let sql = "SELECT o.item_id, i.category, SUM(o.amount) FROM ods_orders AS o
        JOIN ice.lakehouse.dim_item AS i ON o.item_id = i.item_id WHERE o.order_status = 'PAID' GROUP BY o.item_id, i.category;";
    explain(sql).exits(2).says(&[
        "table or view ods_orders does not exist",
        "CREATE TABLE ods_orders (\n",
        "item_id BIGINT",
        "amount DECIMAL(10, 2)",
        "order_status STRING",
        ") WITH ('connector' = '...');",
        "catalog ice of table ice.lakehouse.dim_item does not exist",
        "CREATE CATALOG ice WITH ('type' = '...');",
        "CREATE TABLE ice.lakehouse.dim_item (",
        "category STRING",
    ]);
    assert!(explain_in_chinese(sql).contains("表 ice.lakehouse.dim_item 的 catalog ice 不存在"));
    explain(
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(click_time), INTERVAL '1' MINUTE))
         GROUP BY window_start, window_end;",
    )
    .exits(2)
    .says(&["click_time TIMESTAMP(3)", "WATERMARK FOR click_time AS click_time - INTERVAL '5' SECOND"]);
    let tables = "CREATE TABLE ods_order (id BIGINT) WITH ('connector' = 'datagen');";
    explain(&format!("{tables} SELECT id FROM ods_orders;")).exits(2).says(&["did you mean ods_order?", "id BIGINT"]);
    explain(&format!("{tables} SELECT id FROM nodb.t;"))
        .exits(2)
        .says(&["database nodb of table nodb.t", "CREATE DATABASE IF NOT EXISTS default_catalog.nodb"]);
}

#[test]
fn n8_a_table_in_a_database_that_is_missing_is_answered_with_the_statement_to_add() {
    let sql = "CREATE CATALOG ice WITH ('type' = 'generic_in_memory');
        CREATE TABLE ice.nodb.t (id BIGINT) WITH ('connector' = 'datagen');";
    explain(sql).exits(2).says(&["database nodb", "CREATE DATABASE IF NOT EXISTS ice.nodb;", "trap.sql:2"]);
    assert!(explain_in_chinese(sql).contains("所在的数据库 nodb 不存在"));
}

#[test]
fn a_sink_that_nobody_defined_is_answered_with_its_definition() {
    explain(
        "CREATE TABLE orders (id BIGINT, name STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'datagen');
         INSERT INTO totals SELECT name, SUM(amount) AS total FROM orders GROUP BY name;",
    )
    .exits(2)
    .says(&["CREATE TABLE totals (\n", "name STRING", "total DECIMAL(38, 2)"]);
}

#[test]
fn mistakes_of_a_statement_set_are_told_at_once_each_at_its_place() {
    let ran = explain(
        "CREATE TABLE a (id BIGINT, name STRING) WITH ('connector' = 'datagen');
CREATE TABLE p (id INT, name STRING) WITH ('connector' = 'print');
EXECUTE STATEMENT SET BEGIN
INSERT INTO p SELECT id, nmae FROM a;
INSERT INTO p SELECT id FROM a;
INSERT INTO p SELECT id, name FROM a;
INSERT INTO p SELECT CAST(id AS INT), UPPER(id) FROM a WHERE name;
END;",
    )
    .exits(2)
    .says(&[
        "trap.sql:4:26",
        "trap.sql:5:1",
        "trap.sql:6:1",
        "CAST(id AS INT), name",
        "trap.sql:7:39",
        "trap.sql:7:62",
    ]);
    assert_eq!(ran.err.matches("error[").count(), 5, "{}", ran.err);
}

#[test]
fn n20_only_instants_are_shown_in_the_session_time_zone() {
    let program = Program::new();
    let sql = include_str!("../data/traps/N20.sql");
    let shown = |sql: &str| program.run_script(sql).exits(0).out;
    let shanghai = shown(sql);
    assert!(shanghai.contains("2024-11-20 15:00:00,") || shanghai.contains("2024-11-20 15:00:00 "), "{shanghai}");
    assert!(shanghai.contains("2024-11-20 15:00:00.000"), "{shanghai}");
    assert!(shown(&sql.replace("Asia/Shanghai", "UTC")).contains("2024-11-20 07:00:00.000"));
}

#[test]
fn n23_null_for_a_key_is_refused_before_anything_runs() {
    let sql = include_str!("../data/traps/N23.sql");
    explain(sql).exits(2).says(&["city", "PRIMARY KEY", "NULL", "table.exec.sink.not-null-enforcer", "COALESCE(city,"]);
    assert!(explain_in_chinese(sql).contains("每一行都会写入 NULL"));
    accepted(&format!("SET 'table.exec.sink.not-null-enforcer' = 'DROP';\n{sql}"));
}

#[test]
fn n24_date_of_a_timestamp_is_a_cast() {
    let ran = accepted(include_str!("../data/traps/N24.sql"));
    assert!(ran.out.contains("groupBy=[DATE(order_time)]"), "{}", ran.out);
}

#[test]
fn all_names_that_are_wrong_are_told_at_once() {
    let tables = "CREATE TABLE a (id INT, name STRING, price DECIMAL(10, 2)) WITH ('connector' = 'datagen');
        CREATE TABLE b (id INT, label STRING) WITH ('connector' = 'datagen');\n";
    let told = |sql: &str, words: &[&str], errors: usize| {
        let ran = explain(&format!("{tables}{sql}")).exits(2).says(words);
        assert_eq!(ran.err.matches("error[").count(), errors, "{}", ran.err);
    };
    told(
        "SELECT nmae, prise + 1, UPER(name) FROM a WHERE labl = 'x';",
        &["column nmae", "did you mean name?", "column prise", "did you mean price?", "UPER", "UPPER", "column labl"],
        4,
    );
    told("SELECT id FROM a JOIN b ON a.id = b.id;", &["column id is ambiguous", "a.id, b.id"], 1);
    told("SELECT x.id, bb.label FROM a AS x JOIN b ON x.id = b.id;", &["bb in bb.label", "x, b"], 1);
    told("SELECT name + 1, UPPER(name, name) FROM a WHERE price;", &["UPPER", "WHERE"], 3);
    told("SELECT Name FROM A;", &["table or view A", "did you mean a"], 1);
    told("SELECT name, COUNT(*) FROM a GROUP BY 1;", &["GROUP BY name"], 1);
    told(
        "SELECT UPPER(name) AS n, COUNT(*) AS c FROM a GROUP BY n HAVING c > 1;",
        &["GROUP BY UPPER(name)", "HAVING COUNT(*)"],
        2,
    );
    told("SELECT id, name FROM a UNION ALL SELECT id FROM b;", &["2 and 1 columns"], 1);
}

#[test]
fn values_that_change_when_computed_again_are_told() {
    let sql = "CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'datagen');
        CREATE TABLE s (c BIGINT, day_of DATE) WITH ('connector' = 'print');
        INSERT INTO s SELECT SUM(n), d FROM (SELECT COUNT(*) AS n, CURRENT_DATE AS d, k FROM t GROUP BY k) GROUP BY d;";
    explain(sql).exits(0).says(&["warning[HW-P524]", "an aggregate", "TRY_RESOLVE"]);
    let strict = format!("SET 'table.optimizer.non-deterministic-update.strategy' = 'TRY_RESOLVE';\n{sql}");
    explain(&strict).exits(2).says(&["HW-P524"]);
    accepted(
        "CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'datagen');
        CREATE TABLE s (k STRING, c BIGINT, u STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'jdbc',
            'url' = 'jdbc:mysql://${MYSQL_HOST}:${MYSQL_PORT}/bi', 'table-name' = 'r');
        INSERT INTO s SELECT k, COUNT(*), UUID() FROM t GROUP BY k;",
    );
}

#[test]
fn plans_as_json_cost_and_advice() {
    let program = Program::new();
    program.write("trap.sql", include_str!("../data/traps/T25.sql"));
    let ran = program.run(&with_variables(&["explain", "trap.sql", "--json"])).exits(0);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("one JSON document");
    assert!(document["jobs"].is_array(), "{document}");
    program.write("plain.sql", include_str!("../../../testkit/scenarios/s3a_order_minute_gmv/job.sql"));
    let ran = program.run(&with_variables(&["explain", "plain.sql", "--json"])).exits(0);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let nodes = document["jobs"][0]["plan"]["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().any(|node| node["pact"] == "Data Sink"), "{document}");
    let ran = program.run(&with_variables(&["explain", "plain.sql", "--cost", "--advice"])).exits(0);
    for part in ["cost: rows=[", "== advice =="] {
        assert!(ran.out.contains(part), "no {part:?} in: {}", ran.out);
    }
}
