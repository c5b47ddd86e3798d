//! Kafka tables on a real broker: what is read, what is written, and what happens while a job runs. Topics are made and
//! read by a client that is not librdkafka.

use crate::program::{Program, Ran, rows};
use std::collections::{BTreeMap, BTreeSet};
use testkit::services::{Kafka, KafkaClient, KafkaOptions, Record};

/// The broker that tests of this file share; their topics have names of their own.
fn broker() -> (String, &'static KafkaClient) {
    let kafka = Kafka::shared().expect("a broker");
    (kafka.address(), kafka.client().expect("a client"))
}

/// The options that every table here has.
fn with(address: &str, topic: &str, more: &str) -> String {
    format!("WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{address}', {more})")
}

const EARLIEST: &str = "'scan.startup.mode' = 'earliest-offset'";
const ALL: &str = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'";

/// Prints a query, rows sorted.
fn query(program: &Program, ddl: &str, query: &str) -> Vec<String> {
    let ran = print(program, ddl, query).exits(0);
    let mut lines: Vec<String> = ran.out.lines().map(str::to_string).collect();
    lines.sort();
    lines
}

/// Runs `query` into a print table of its columns.
fn print(program: &Program, ddl: &str, query: &str) -> Ran {
    let (columns, query) = query.split_once(" <- ").expect("columns <- query");
    program.run_script(&format!(
        "SET 'parallelism.default' = '1';{ddl}\nCREATE TABLE printed ({columns}) WITH ('connector' = 'print');\nINSERT INTO printed {query};"
    ))
}

/// Reads a topic until it holds `count` records.
fn read_until(client: &KafkaClient, topic: &str, count: usize) -> Vec<Record> {
    const READS_MAX: usize = 300;
    let mut records = Vec::new();
    for _ in 0..READS_MAX {
        records = client.read(topic).expect("records");
        if records.len() >= count {
            return records;
        }
    }
    panic!("topic {topic} holds only {records:?}");
}

fn texts(records: &[Record]) -> Vec<(String, String)> {
    let text = |bytes: Option<String>| bytes.unwrap_or_else(|| "null".into());
    records.iter().map(|record| (text(record.key_text()), text(record.value_text()))).collect()
}

#[test]
fn keys_values_and_metadata_are_read() {
    let (address, client) = broker();
    client.create_topic("read_all", 2, &[]).expect("topic");
    let records = [
        Record::new(r#"{"v":1}"#).key(r#"{"id":"a"}"#).partition(0).timestamp(1_000).header("h", "x"),
        Record::new(r#"{"v":2}"#).partition(1).timestamp(2_000),
        Record {
            key: Some(br#"{"id":"c"}"#.to_vec()),
            partition: Some(1),
            timestamp: Some(3_000),
            ..Record::default()
        },
    ];
    client.produce("read_all", &records).expect("produced");
    let ddl = format!(
        "CREATE TABLE t (k_id STRING, v INT, topic STRING METADATA VIRTUAL, p INT METADATA FROM 'partition' VIRTUAL, \
         o BIGINT METADATA FROM 'offset' VIRTUAL, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, \
         tt STRING METADATA FROM 'timestamp-type' VIRTUAL, h MAP<STRING, BYTES> METADATA FROM 'headers' VIRTUAL, \
         e INT METADATA FROM 'leader-epoch' VIRTUAL) {};",
        with(
            &address,
            "read_all",
            &format!(
                "'key.format' = 'json', 'key.fields' = 'k_id', 'key.fields-prefix' = 'k_', 'value.format' = 'json', \
                 'value.fields-include' = 'EXCEPT_KEY', {ALL}"
            )
        )
    );
    let lines = query(
        &Program::new(),
        &format!("SET 'table.local-time-zone' = 'UTC';{ddl}"),
        "a STRING, b INT, c STRING, d INT, e BIGINT, f TIMESTAMP_LTZ(3), g STRING, h STRING, i INT <- \
         SELECT k_id, v, topic, p, o, ts, tt, CAST(h['h'] AS STRING), e FROM t",
    );
    assert_eq!(
        lines,
        [
            "+I[a, 1, read_all, 0, 0, 1970-01-01T00:00:01Z, CreateTime, x, 0]",
            "+I[null, 2, read_all, 1, 0, 1970-01-01T00:00:02Z, CreateTime, null, 0]",
        ],
        "a record without a key keeps its row, one without a value has none"
    );
}

#[test]
fn reading_begins_and_ends_where_the_options_say() {
    let (address, client) = broker();
    client.create_topic("modes", 1, &[]).expect("topic");
    let records: Vec<Record> =
        (0..6).map(|n| Record::new(format!(r#"{{"n":{n}}}"#)).partition(0).timestamp(1_000 * (n + 1))).collect();
    client.produce("modes", &records).expect("produced");
    let program = Program::new();
    let read = |options: &str| -> String {
        let ddl =
            format!("CREATE TABLE t (n INT) {};", with(&address, "modes", &format!("'format' = 'json', {options}")));
        let lines = query(&program, &ddl, "n INT <- SELECT n FROM t");
        lines.iter().map(|line| line.trim_start_matches("+I[").trim_end_matches(']')).collect()
    };
    let latest = "'scan.bounded.mode' = 'latest-offset'";
    assert_eq!(read(&format!("'scan.startup.mode' = 'earliest-offset', {latest}")), "012345");
    assert_eq!(read(&format!("'scan.startup.mode' = 'latest-offset', {latest}")), "");
    let offsets = "'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:4'";
    assert_eq!(read(&format!("{offsets}, {latest}")), "45");
    let time = "'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '2500'";
    assert_eq!(read(&format!("{time}, {latest}")), "2345");
    let stop = "'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '4000'";
    assert_eq!(read(&format!("{time}, {stop}")), "2");
    let stop = "'scan.bounded.mode' = 'specific-offsets', 'scan.bounded.specific-offsets' = 'partition:0,offset:2'";
    assert_eq!(read(&format!("'scan.startup.mode' = 'earliest-offset', {stop}")), "01");
    // A group without offsets: an error that says what to write, unless the client property says where to begin.
    let group = format!("'properties.group.id' = 'modes_group', {latest}");
    let ddl = format!("CREATE TABLE t (n INT) {};", with(&address, "modes", &format!("'format' = 'json', {group}")));
    print(&program, &ddl, "n INT <- SELECT n FROM t").exits(1).says(&[
        "modes_group",
        "modes",
        "partition 0",
        "'scan.startup.mode' = 'earliest-offset'",
    ]);
    assert_eq!(read(&format!("{group}, 'properties.auto.offset.reset' = 'earliest'")), "012345");
    // The last run has committed its offsets, so the group goes on behind them.
    client.produce("modes", &[Record::new(r#"{"n":6}"#).partition(0)]).expect("produced");
    assert_eq!(client.group_offsets("modes_group").expect("offsets"), [("modes".to_string(), 0, 6)]);
    assert_eq!(read(&group), "6");
    print(
        &program,
        &format!(
            "CREATE TABLE t (n INT) {};",
            with(&address, "modes", &format!("'format' = 'json', {}", offsets.replace("offset:4", "offset:400")))
        ),
        "n INT <- SELECT n FROM t",
    )
    .exits(1)
    .says(&["offset 400", "modes", "0 to 7"]);
}

#[test]
fn keys_choose_the_partition_as_kafkas_own_client_does() {
    let (address, client) = broker();
    client.create_topic("hash_theirs", 5, &[]).expect("topic");
    client.create_topic("hash_ours", 5, &[]).expect("topic");
    let keys: Vec<String> = (0..60).map(|n| format!(r#"{{"id":"用户 {n}"}}"#)).collect();
    let records: Vec<Record> = keys.iter().map(|key| Record::new("{}").key(key.as_str())).collect();
    client.produce("hash_theirs", &records).expect("produced");
    let program = Program::new();
    let ids: Vec<String> = (0..60).map(|n| format!("('用户 {n}', {n})")).collect();
    let ddl = format!(
        "CREATE TABLE t (id STRING, v INT) {};",
        with(&address, "hash_ours", "'key.format' = 'json', 'key.fields' = 'id', 'value.format' = 'json'")
    );
    program.run_script(&format!("{ddl} INSERT INTO t VALUES {};", ids.join(", "))).exits(0);
    let partitions = |topic: &str| -> BTreeMap<String, Option<i32>> {
        client.read(topic).expect("records").into_iter().map(|r| (r.key_text().expect("key"), r.partition)).collect()
    };
    let ours = partitions("hash_ours");
    assert_eq!(ours, partitions("hash_theirs"));
    assert_eq!(ours.values().collect::<BTreeSet<_>>().len(), 5, "all partitions are used");
}

#[test]
fn partitioners_topics_timestamps_and_headers_are_written() {
    let (address, client) = broker();
    for topic in ["parts", "to_a", "to_b"] {
        client.create_topic(topic, 3, &[]).expect("topic");
    }
    let program = Program::new();
    let ddl = format!(
        "CREATE TABLE t (v INT) {};",
        with(&address, "parts", "'format' = 'raw', 'sink.partitioner' = 'round-robin'")
    );
    program.run_script(&format!("{ddl} INSERT INTO t VALUES (1), (2), (3), (4), (5), (6);")).exits(0);
    let counted = client.read("parts").expect("records").iter().fold([0; 3], |mut counts, record| {
        counts[record.partition.expect("partition") as usize] += 1;
        counts
    });
    assert_eq!(counted, [2, 2, 2]);
    let ddl = format!(
        "CREATE TABLE t (v STRING, topic STRING METADATA, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', \
         h MAP<STRING, BYTES> METADATA FROM 'headers') {};",
        with(&address, "to_a;to_b", "'format' = 'raw'")
    );
    let row = |topic: &str| {
        format!("('{topic}!', {topic:?}, TO_TIMESTAMP_LTZ(5000, 3), MAP['k', x'6162'])").replace('"', "'")
    };
    program.run_script(&format!("{ddl} INSERT INTO t VALUES {}, {};", row("to_b"), row("to_a"))).exits(0);
    let records = client.read("to_b").expect("records");
    assert_eq!(texts(&records), [("null".to_string(), "to_b!".to_string())]);
    assert_eq!(records[0].timestamp, Some(5_000));
    assert_eq!(records[0].headers, [("k".to_string(), Some(b"ab".to_vec()))]);
    assert_eq!(texts(&client.read("to_a").expect("records"))[0].1, "to_a!");
    program
        .run_script(&format!("{ddl} INSERT INTO t VALUES {};", row("elsewhere")))
        .exits(1)
        .says(&["elsewhere", "'to_a', 'to_b'"]);
}

#[test]
fn a_bad_record_is_named_by_topic_partition_and_offset() {
    let (address, client) = broker();
    client.create_topic("order_topic", 2, &[]).expect("topic");
    let records = [
        Record::new(r#"{"order_time":"2024-11-20 15:00:59"}"#).partition(1),
        Record::new(r#"{"order_time":"2024-11-20T15:01:00.123"}"#).partition(1),
    ];
    client.produce("order_topic", &records).expect("produced");
    let program = Program::new();
    let options = format!("'format' = 'json', 'json.timestamp-format.standard' = 'SQL', {ALL}");
    let table = |options: &str| {
        format!("CREATE TABLE pinned (order_time TIMESTAMP(3)) {};", with(&address, "order_topic", options))
    };
    let ran = print(&program, &table(&options), "t TIMESTAMP(3) <- SELECT * FROM pinned").exits(1).says(&[
        "order_topic",
        "partition 1",
        "offset 1",
        "order_time",
        "2024-11-20T15:01:00",
        "json.timestamp-format.standard",
        "ISO-8601",
    ]);
    assert_eq!(ran.out, "+I[2024-11-20T15:00:59]\n", "rows before the bad record are there");
    // Without the option both forms are read.
    let both = print(&program, &table(&format!("'format' = 'json', {ALL}")), "t TIMESTAMP(3) <- SELECT * FROM pinned");
    assert_eq!(both.exits(0).out.lines().count(), 2);
    // Told to, the job goes on and counts.
    let ignoring = table(&format!("{options}, 'json.ignore-parse-errors' = 'true'"));
    let ran = print(&program, &ignoring, "t TIMESTAMP(3) <- SELECT * FROM pinned").exits(0);
    assert_eq!(ran.out, "+I[2024-11-20T15:00:59]\n+I[null]\n", "a bad field is NULL");
}

fn upsert(address: &str, topic: &str, more: &str) -> String {
    format!(
        "CREATE TABLE u (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', \
         'topic' = '{topic}', 'properties.bootstrap.servers' = '{address}', 'key.format' = 'json', \
         'value.format' = 'json' {more});"
    )
}

#[test]
fn an_upsert_topic_is_a_table() {
    let (address, client) = broker();
    client.create_topic("users", 2, &[("cleanup.policy", "compact")]).expect("topic");
    let user =
        |id: i32, name: &str| Record::new(format!(r#"{{"id":{id},"name":"{name}"}}"#)).key(format!(r#"{{"id":{id}}}"#));
    let gone = |id: i32| Record::tombstone(format!(r#"{{"id":{id}}}"#));
    let records = [user(1, "Ann"), user(2, "Bob"), user(1, "Anna"), gone(2), gone(9), user(3, "Cid")];
    client.produce("users", &records).expect("produced");
    let program = Program::new();
    let bounded = ", 'scan.bounded.mode' = 'latest-offset'";
    let script = format!(
        "SET 'parallelism.default' = '1';{} CREATE TABLE printed (id INT, name STRING) WITH ('connector' = 'print'); INSERT INTO printed SELECT * FROM u;",
        upsert(&address, "users", bounded)
    );
    let ran = program.run_script(&script).exits(0);
    let mut table = BTreeMap::new();
    for line in ran.out.lines() {
        let (kind, row) = line.split_at(2);
        let id = row.trim_start_matches('[').split(',').next().expect("id").to_string();
        match kind {
            "+I" | "+U" => drop(table.insert(id, row.to_string())),
            _ => drop(table.remove(&id)),
        }
    }
    assert_eq!(table.into_values().collect::<Vec<_>>(), ["[1, Anna]", "[3, Cid]"]);
    assert!(!ran.out.contains("[9"), "deleting an unknown key does nothing: {}", ran.out);
    assert!(!ran.err.contains("not compacted"), "{}", ran.err);
}

#[test]
fn a_record_without_a_key_is_no_row_of_an_upsert_table() {
    let (address, client) = broker();
    client.create_topic("keyless", 1, &[]).expect("topic");
    let keyed = Record::new(r#"{"id":1,"name":"Ann"}"#).key(r#"{"id":1}"#);
    client.produce("keyless", &[Record::new(r#"{"id":2}"#), Record::default(), keyed]).expect("produced");
    for include in ["", ", 'value.fields-include' = 'EXCEPT_KEY'"] {
        let script = format!(
            "SET 'parallelism.default' = '1';{} CREATE TABLE printed (id INT) WITH ('connector' = 'print'); INSERT INTO printed SELECT id FROM u;",
            upsert(&address, "keyless", &format!(", 'scan.bounded.mode' = 'latest-offset' {include}"))
        );
        let ran = Program::new().run_script(&script).exits(0);
        let ran = ran.says(&["rows_rejected=2", "has no key", "keyless: partition 0 offset"]);
        assert_eq!(ran.out, "+I[1]\n", "{include}");
    }
}

#[test]
fn an_upsert_topic_that_is_not_compacted_draws_advice() {
    let (address, client) = broker();
    client.create_topic("keeps_all", 1, &[]).expect("topic");
    let program = Program::new();
    let script = format!("{} INSERT INTO u VALUES (1, 'Ann');", upsert(&address, "keeps_all", ""));
    program.run_script(&script).exits(0).says(&[
        "warning",
        "keeps_all",
        "cleanup.policy=delete",
        "cleanup.policy=compact",
    ]);
    let written = texts(&client.read("keeps_all").expect("records"));
    assert_eq!(written, [(r#"{"id":1}"#.to_string(), r#"{"id":1,"name":"Ann"}"#.to_string())]);
}

/// A job that works long on each batch, while the client fetches everything ahead.
#[test]
fn a_slow_job_reads_every_record_of_every_partition() {
    let (address, client) = broker();
    client.create_topic("ahead", 2, &[]).expect("topic");
    for partition in 0..2 {
        client.produce("ahead", &numbers(0..15_000, partition)).expect("produced");
    }
    let ddl = format!(
        "CREATE TABLE a (n INT, p INT METADATA FROM 'partition' VIRTUAL) {};",
        with(&address, "ahead", &format!("'format' = 'json', {ALL}"))
    );
    let slow = "CHAR_LENGTH(REGEXP_REPLACE(REPEAT(CAST(n AS STRING), 40), '[0-4](5|6)', 'xx')) > 0";
    let lines =
        query(&Program::new(), &ddl, &format!("p INT, c BIGINT <- SELECT p, COUNT(*) FROM a WHERE {slow} GROUP BY p"));
    for last in ["+U[0, 15000]", "+U[1, 15000]"] {
        assert!(lines.iter().any(|line| line == last), "no {last} in the last of {:?}", lines.last());
    }
}

#[test]
fn every_row_arrives_even_where_nothing_is_promised() {
    let (address, client) = broker();
    client.create_topic("unpromised", 1, &[]).expect("topic");
    let program = Program::new();
    let script = format!(
        "CREATE TABLE g (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000'); \
         CREATE TABLE t (n INT) {}; INSERT INTO t SELECT n FROM g;",
        with(&address, "unpromised", "'format' = 'json', 'sink.delivery-guarantee' = 'none'")
    );
    program.run_script(&script).exits(0);
    assert_eq!(client.read("unpromised").expect("records").len(), 1_000);
}

/// What an update says about its key, in a table whose key is that of the query.
#[test]
fn the_old_content_of_an_update_is_written_only_where_the_key_moves() {
    let (address, client) = broker();
    client.create_topic("cdc", 1, &[]).expect("topic");
    for topic in ["moved_a", "moved_b"] {
        client.create_topic(topic, 1, &[("cleanup.policy", "compact")]).expect("topic");
    }
    let row = |id: i32, city: &str, n: i32| format!(r#"{{"id":{id},"city":"{city}","n":{n}}}"#);
    let event = |before: String, after: String, op: &str| {
        Record::new(format!(r#"{{"before":{before},"after":{after},"op":"{op}"}}"#))
    };
    let null = || "null".to_string();
    let events = [
        event(null(), row(1, "moved_a", 1), "c"),
        event(row(1, "moved_a", 1), row(1, "moved_a", 2), "u"),
        event(row(1, "moved_a", 2), row(1, "moved_b", 2), "u"),
        event(row(1, "moved_b", 2), null(), "d"),
    ];
    client.produce("cdc", &events).expect("produced");
    let program = Program::new();
    let script = format!(
        "CREATE TABLE c (id INT, city STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) {}; \
         CREATE TABLE u (id INT, city STRING, n INT, topic STRING METADATA, PRIMARY KEY (id, city) NOT ENFORCED) WITH \
         ('connector' = 'upsert-kafka', 'topic' = 'moved_a;moved_b', 'properties.bootstrap.servers' = '{address}', \
         'key.format' = 'json', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'); \
         INSERT INTO u SELECT id, city, n, city FROM c;",
        with(&address, "cdc", &format!("'format' = 'debezium-json', {ALL}"))
    );
    program.write("script.sql", &script);
    // One row at a time separates the halves of an update, which changes nothing.
    for rows in ["1", "4096"] {
        let before: Vec<usize> = ["moved_a", "moved_b"].map(|topic| client.read(topic).expect("records").len()).into();
        program.run(&["run", "script.sql", "--batch-rows", rows]).exits(0);
        let written = |topic: &str, skip: usize| texts(&client.read(topic).expect("records")[skip..]);
        let of = |city: &str, values: &[&str]| -> Vec<(String, String)> {
            values.iter().map(|value| (format!(r#"{{"id":1,"city":"{city}"}}"#), value.to_string())).collect()
        };
        assert_eq!(written("moved_a", before[0]), of("moved_a", &[r#"{"n":1}"#, r#"{"n":2}"#, "null"]), "{rows} rows");
        assert_eq!(written("moved_b", before[1]), of("moved_b", &[r#"{"n":2}"#, "null"]), "{rows} rows");
    }
}

#[test]
fn the_demo_runs_through_a_broker_inside_the_program() {
    let program = Program::new();
    let mut demo = program.start(&["demo", "--kafka", "--orders", "3000", "--rate", "6000"]);
    // 3000 orders are five minutes: the last one stays open.
    demo.wait_until_job(2, "four minutes are shown", |job| rows(job, "sink", "rows_out") == 4);
    demo.signal("INT");
    demo.end().exits(0).says(&["broker: 127.0.0.1:", "kcat -b 127.0.0.1:", "--topic highwater_demo_minute_gmv"]);
}

#[test]
fn gathered_changes_leave_the_last_one_of_each_key() {
    let (address, client) = broker();
    client.create_topic("gathered", 1, &[("cleanup.policy", "compact")]).expect("topic");
    let program = Program::new();
    let options = ", 'sink.buffer-flush.max-rows' = '100', 'sink.buffer-flush.interval' = '1 h'";
    let script = format!(
        "{} INSERT INTO u VALUES (1, 'a'), (2, 'b'), (1, 'c'), (1, 'd');",
        upsert(&address, "gathered", options)
    );
    program.run_script(&script).exits(0);
    let values: Vec<String> = client.read("gathered").expect("records").iter().filter_map(Record::value_text).collect();
    assert_eq!(values, [r#"{"id":1,"name":"d"}"#, r#"{"id":2,"name":"b"}"#]);
    // One of the two options alone does nothing, which is said.
    let script = format!(
        "{} INSERT INTO u VALUES (3, 'e');",
        upsert(&address, "gathered", ", 'sink.buffer-flush.max-rows' = '100'")
    );
    program.run_script(&script).exits(0).says(&[
        "sink.buffer-flush.max-rows",
        "sink.buffer-flush.interval",
        "no effect",
    ]);
}

#[test]
fn aborted_transactions_are_not_read_and_markers_end_a_bounded_topic() {
    let (address, client) = broker();
    client.create_topic("transactions", 1, &[]).expect("topic");
    client.produce_in_transaction("transactions", &[Record::new(r#"{"n":1}"#)], true).expect("committed");
    client.produce_in_transaction("transactions", &[Record::new(r#"{"n":2}"#)], false).expect("aborted");
    client.produce_in_transaction("transactions", &[Record::new(r#"{"n":3}"#)], true).expect("committed");
    let read = |more: &str| {
        let options = format!("'format' = 'json', {ALL}{more}");
        let ddl = format!("CREATE TABLE t (n INT) {};", with(&address, "transactions", &options));
        query(&Program::new(), &ddl, "n INT <- SELECT n FROM t")
    };
    assert_eq!(read(""), ["+I[1]", "+I[3]"]);
    assert_eq!(read(", 'properties.isolation.level' = 'read_uncommitted'"), ["+I[1]", "+I[2]", "+I[3]"]);
}

/// A job that copies `from` to `to`.
fn copy(address: &str, from: &str, to: &str, more: &str) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '200 ms'; CREATE TABLE a (n INT) {}; CREATE TABLE b (n INT) {}; \
         INSERT INTO b SELECT n FROM a;",
        with(address, from, &format!("'format' = 'json', {EARLIEST}{more}")),
        with(address, to, "'format' = 'json'"),
    )
}

fn numbers(range: std::ops::Range<i32>, partition: i32) -> Vec<Record> {
    range.map(|n| Record::new(format!(r#"{{"n":{n}}}"#)).partition(partition)).collect()
}

fn distinct(records: &[Record]) -> BTreeSet<String> {
    records.iter().filter_map(Record::value_text).collect()
}

#[test]
fn a_partition_added_while_the_job_runs_is_read() {
    let (address, client) = broker();
    client.create_topic("grows", 1, &[]).expect("topic");
    client.create_topic("grown", 1, &[]).expect("topic");
    client.produce("grows", &numbers(0..3, 0)).expect("produced");
    let program = Program::new();
    program
        .write("copy.sql", &copy(&address, "grows", "grown", ", 'scan.topic-partition-discovery.interval' = '200 ms'"));
    let mut job = program.start(&["run", "copy.sql", "--parallelism", "2"]);
    job.wait_until("the first rows are written", |job| rows(job, "sink", "rows_out") == 3);
    client.add_partitions("grows", 3).expect("partitions");
    client.produce("grows", &numbers(3..5, 1)).expect("produced");
    client.produce("grows", &numbers(5..7, 2)).expect("produced");
    job.wait_until("the new partitions are read", |job| rows(job, "sink", "rows_out") == 7);
    job.signal("INT");
    job.end().exits(0);
    assert_eq!(distinct(&client.read("grown").expect("records")).len(), 7);
}

#[test]
fn a_broker_that_restarts_loses_nothing_and_a_deleted_topic_is_named() {
    // Topics that come back by themselves are not gone.
    let options = KafkaOptions { auto_create_topics: false, ..KafkaOptions::default() };
    let kafka = Kafka::launch(options).expect("a broker");
    let (address, client) = (kafka.address(), kafka.client().expect("a client"));
    client.create_topic("before", 2, &[]).expect("topic");
    client.create_topic("after", 1, &[]).expect("topic");
    client.produce("before", &numbers(0..500, 0)).expect("produced");
    let program = Program::new();
    program.write("copy.sql", &copy(&address, "before", "after", ""));
    let mut job = program.start(&["run", "copy.sql"]);
    job.wait_until("the first rows are written", |job| rows(job, "sink", "rows_out") == 500);
    // Stopped for longer than any client tries without a word.
    for (round, partition) in [(1, 1), (2, 0)] {
        if round == 1 {
            kafka.stop().expect("stopped")
        } else {
            kafka.kill()
        }
        kafka.start().expect("started again");
        client.produce("before", &numbers(500 * round..500 * (round + 1), partition)).expect("produced");
        let written = 500 * (round as u64 + 1);
        job.wait_until("the rows after the restart are written", |job| rows(job, "sink", "rows_out") == written);
    }
    client.delete_topic("before").expect("deleted");
    let ran = job.end().exits(1);
    ran.says(&["topic 'before'", "table a", "deleted", "create the topic again", "HW-C090", "HW-C091"]);
    let written = read_until(client, "after", 1_500);
    assert_eq!((written.len(), distinct(&written).len()), (1_500, 1_500), "nothing lost, nothing twice");
}
