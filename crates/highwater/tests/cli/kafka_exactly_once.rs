//! Kafka sinks with `'sink.delivery-guarantee' = 'exactly-once'` on a real broker: killed in every step and started
//! again, read by a client that sees committed records only.

use crate::program::{Program, Ran, rows};
use base::fault;
use std::collections::BTreeMap;
use testkit::services::{Isolation, Kafka, KafkaClient, KafkaOptions, Record};

fn broker() -> (String, &'static KafkaClient) {
    let kafka = Kafka::shared().expect("a broker");
    (kafka.address(), kafka.client().expect("a client"))
}

/// The options of a sink that writes each row once.
fn once(address: &str, topic: &str, prefix: &str) -> String {
    format!(
        "'topic' = '{topic}', 'properties.bootstrap.servers' = '{address}', \
         'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{prefix}'"
    )
}

/// Numbered rows up to `last`, which a topic gets.
fn numbers(address: &str, topic: &str, rate: u32, last: u32) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '100 ms';
         CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{rate}',
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{last}');
         CREATE TABLE s (id BIGINT) WITH ('connector' = 'kafka', 'format' = 'json', {});
         INSERT INTO s SELECT id FROM g;",
        once(address, topic, topic)
    )
}

fn id(record: &Record) -> u64 {
    let value: serde_json::Value = serde_json::from_slice(record.value.as_ref().expect("a value")).expect("json");
    value["id"].as_u64().expect("an id")
}

/// The ids that a topic holds, sorted.
fn ids(client: &KafkaClient, topic: &str) -> Vec<u64> {
    let mut ids: Vec<u64> = client.read(topic).expect("records").iter().map(id).collect();
    ids.sort_unstable();
    ids
}

#[track_caller]
fn assert_once(client: &KafkaClient, topic: &str, last: u64) {
    let ids = ids(client, topic);
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    ids.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
    let missing: Vec<u64> = (1..=last).filter(|id| !counts.contains_key(id)).collect();
    let twice: Vec<u64> = counts.iter().filter(|(_, count)| **count > 1).map(|(id, _)| *id).collect();
    let beyond: Vec<u64> = counts.keys().copied().filter(|id| *id > last).collect();
    assert!(
        ids.len() as u64 == last && missing.is_empty(),
        "{topic}: missing {missing:?}, twice {twice:?}, beyond {beyond:?}"
    );
}

fn faulty(program: &Program, fault: &str, arguments: &[&str]) -> Ran {
    program.run_with(&[(fault::VARIABLE, fault)], arguments)
}

/// The process dies at a point, and another one goes on at another parallelism.
fn killed_at(points: &[(fault::Point, u32)]) {
    let (address, client) = broker();
    for (point, pass) in points {
        let topic = format!("killed_{}_{pass}", point.name().replace('.', "_"));
        client.create_topic(&topic, 3, &[]).expect("topic");
        let program = Program::new();
        program.write("numbers.sql", &numbers(&address, &topic, 4_000, 3_000));
        let fault = format!("{}@{pass}=kill", point.name());
        let ran = faulty(&program, &fault, &["run", "numbers.sql", "--parallelism", "2"]);
        assert_eq!(ran.code, -1, "{fault} never happened: {}", ran.err);
        program.run(&["run", "numbers.sql", "--parallelism", "1"]).exits(0);
        assert_once(client, &topic, 3_000);
        let all = client.read_with(&topic, Isolation::ReadUncommitted).expect("records").len();
        if [fault::KAFKA_COMMIT].contains(point) {
            assert!(all > 3_000, "{fault}: the transaction that was open had rows, which nobody sees; {all}");
        }
    }
}

#[test]
fn a_kill_within_a_commit_loses_and_doubles_nothing() {
    killed_at(&[
        (fault::CHECKPOINT_COMMIT, 2),
        (fault::KAFKA_BEGIN, 1),
        (fault::KAFKA_BEGIN, 3),
        (fault::KAFKA_PRODUCE, 500),
        (fault::KAFKA_PROGRESS, 2),
        (fault::KAFKA_COMMIT, 2),
        (fault::KAFKA_COMMITTED, 2),
        (fault::CHECKPOINT_DONE, 2),
    ]);
}

#[test]
fn a_kill_around_a_checkpoint_loses_and_doubles_nothing() {
    killed_at(&[(fault::CHECKPOINT_WRITE, 2), (fault::MANIFEST_RENAME, 2), (fault::MANIFEST_FOLDER_SYNC, 2)]);
}

/// The second start dies as well: before, within and after the commit that it repeats.
#[test]
fn a_start_that_dies_is_started_again() {
    let (address, client) = broker();
    for second in [fault::RESTORE_COMMIT, fault::KAFKA_COMMIT, fault::KAFKA_COMMITTED] {
        let topic = format!("twice_{}", second.name().replace('.', "_"));
        client.create_topic(&topic, 2, &[]).expect("topic");
        let program = Program::new();
        program.write("numbers.sql", &numbers(&address, &topic, 4_000, 2_000));
        assert_eq!(faulty(&program, "kafka.progress@2=kill", &["run", "numbers.sql"]).code, -1);
        assert_eq!(faulty(&program, &format!("{}=kill", second.name()), &["run", "numbers.sql"]).code, -1);
        program.run(&["run", "numbers.sql"]).exits(0);
        assert_once(client, &topic, 2_000);
    }
}

#[test]
fn a_step_that_fails_is_taken_again_by_the_same_process() {
    let (address, client) = broker();
    for point in [fault::KAFKA_PRODUCE, fault::KAFKA_COMMIT, fault::KAFKA_COMMITTED, fault::CHECKPOINT_DONE] {
        let topic = format!("failed_{}", point.name().replace('.', "_"));
        client.create_topic(&topic, 2, &[]).expect("topic");
        let program = Program::new();
        let retry = "SET 'restart-strategy.exponential-delay.initial-backoff' = '10 ms';";
        program.write("numbers.sql", &format!("{retry}{}", numbers(&address, &topic, 4_000, 2_000)));
        let ran = faulty(&program, &format!("{}@2=fail", point.name()), &["run", "numbers.sql"]).exits(0);
        ran.says(&["HW-R008"]);
        assert_once(client, &topic, 2_000);
    }
}

#[test]
fn rows_are_seen_at_checkpoints_and_the_counts_go_on() {
    let (address, client) = broker();
    client.create_topic("seen", 1, &[]).expect("topic");
    let program = Program::new();
    program.write("numbers.sql", &numbers(&address, "seen", 500, 1_000_000));
    // One reader: of two, one may have come further, and the numbers have a gap.
    let run = ["run", "numbers.sql", "--parallelism", "1"];
    let mut running = program.start(&run);
    running.wait_until("checkpoints are taken", |job| job["checkpoints"].as_u64() >= Some(3));
    assert!(!client.read("seen").expect("records").is_empty());
    running.kill();
    let mut running = program.start(&run);
    let job = running.wait_until("it goes on", |job| job["checkpoints"].as_u64() >= Some(2));
    assert!(job["resumed_from"].as_u64() >= Some(3), "{job}");
    // A stop in order commits everything that was counted.
    program.run(&["stop"]).exits(0);
    let ran = running.end().exits(0);
    let written = ran.err.split("rows_written=").nth(1).and_then(|rest| rest.split_whitespace().next());
    let written: u64 = written.and_then(|count| count.parse().ok()).expect("a count");
    assert_once(client, "seen", written);
    let progress = client.read("seen-s-progress").expect("a progress topic");
    let last = progress.last().and_then(Record::value_text).expect("a record");
    assert!(last.contains("\"ended\":true") && last.contains("\"job\":\"s\""), "{last}");
    let configs = client.topic_configs("seen-s-progress").expect("configs");
    assert_eq!(configs["cleanup.policy"], "compact");
}

#[test]
fn what_is_written_is_what_the_rows_say() {
    let (address, client) = broker();
    client.create_topic("whole_a", 4, &[]).expect("topic");
    client.create_topic("whole_b", 1, &[]).expect("topic");
    let program = Program::new();
    let script = format!(
        "SET 'table.local-time-zone' = 'UTC';
         CREATE TABLE s (id STRING, n INT, topic STRING METADATA, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
             h MAP<STRING, BYTES> METADATA FROM 'headers')
             WITH ('connector' = 'kafka', 'key.format' = 'raw', 'key.fields' = 'id', 'value.format' = 'json', {});
         INSERT INTO s VALUES
             ('a', 1, 'whole_a', TO_TIMESTAMP_LTZ(1000, 3), MAP['x', CAST('y' AS BYTES)]),
             ('b', 2, 'whole_b', TO_TIMESTAMP_LTZ(2000, 3), CAST(NULL AS MAP<STRING, BYTES>));",
        once(&address, "whole_a;whole_b", "whole")
    );
    program.run_script(&script).exits(0);
    let record = |topic: &str| {
        let mut records = client.read(topic).expect("records");
        assert_eq!(records.len(), 1, "{records:?}");
        let record = records.remove(0);
        (record.key_text(), record.value_text(), record.timestamp, record.headers)
    };
    let text = |text: &str| Some(text.to_string());
    let header = vec![("x".to_string(), Some(b"y".to_vec()))];
    assert_eq!(record("whole_a"), (text("a"), text(r#"{"id":"a","n":1}"#), Some(1000), header));
    assert_eq!(record("whole_b"), (text("b"), text(r#"{"id":"b","n":2}"#), Some(2000), Vec::new()));
    // The same key goes where any other writer puts it.
    client.produce("whole_a", &[Record::new("{}").key("a")]).expect("produced");
    let partitions: Vec<_> = client.read("whole_a").expect("records").iter().map(|one| one.partition).collect();
    assert_eq!(partitions[0], partitions[1]);
}

#[test]
fn upserts_and_tombstones_are_written_once() {
    let (address, client) = broker();
    client.create_topic("upserts", 2, &[("cleanup.policy", "compact")]).expect("topic");
    client.create_topic("changes", 1, &[]).expect("topic");
    let event = |before: &str, after: &str, op: &str| {
        Record::new(format!(r#"{{"before":{before},"after":{after},"op":"{op}"}}"#))
    };
    let events: Vec<Record> = (0..300)
        .flat_map(|id| {
            let row = |n: i32| format!(r#"{{"id":{id},"n":{n}}}"#);
            [event("null", &row(1), "c"), event(&row(1), &row(2), "u"), event(&row(2), "null", "d")]
        })
        .collect();
    client.produce("changes", &events).expect("produced");
    let program = Program::new();
    let script = format!(
        "SET 'execution.checkpointing.interval' = '50 ms'; SET 'highwater.batch-rows' = '1';
         CREATE TABLE c (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'changes',
             'properties.bootstrap.servers' = '{address}', 'format' = 'debezium-json',
             'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
         CREATE TABLE u (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
             'key.format' = 'json', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY', {});
         INSERT INTO u SELECT id, n FROM c;",
        once(&address, "upserts", "upserts")
    );
    program.write("changes.sql", &script);
    assert_eq!(faulty(&program, "kafka.commit@1=kill", &["run", "changes.sql"]).code, -1);
    program.run(&["run", "changes.sql"]).exits(0);
    let mut by_key: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in client.read("upserts").expect("records") {
        let value = record.value_text().unwrap_or_else(|| "null".to_string());
        by_key.entry(record.key_text().expect("a key")).or_default().push(value);
    }
    assert_eq!(by_key.len(), 300);
    for (key, values) in by_key {
        assert_eq!(values, [r#"{"n":1}"#, r#"{"n":2}"#, "null"], "{key}");
    }
}

#[test]
fn the_newest_instance_writes_and_the_other_one_learns_who() {
    let (address, client) = broker();
    client.create_topic("zombie", 1, &[]).expect("topic");
    let (first, second) = (Program::new(), Program::new());
    for program in [&first, &second] {
        program.write("numbers.sql", &numbers(&address, "zombie", 200, 1_000_000));
    }
    let mut zombie = first.start(&["run", "numbers.sql"]);
    zombie.wait_until("it commits", |job| job["checkpoints"].as_u64() >= Some(2));
    let mut newest = second.start(&["run", "numbers.sql"]);
    let ran = zombie.end().exits(1);
    let id = newest.id().to_string();
    ran.says(&["HW-C095", "zombie-s", "job s", &format!("process {id}"), "sink.transactional-id-prefix"]);
    newest.wait_until("the newest one goes on", |job| job["checkpoints"].as_u64() >= Some(3));
    newest.signal("INT");
    let ran = newest.end().exits(0);
    ran.says(&["HW-C096", "zombie-s"]);
}

#[test]
fn explain_says_which_conditions_of_exactly_once_hold() {
    let program = Program::new();
    let script = |source: &str, sink: &str| {
        format!(
            "CREATE TABLE a (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({source});
             CREATE TABLE b (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
                 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'b',
                 'properties.bootstrap.servers' = 'nowhere:1' {sink});
             INSERT INTO b SELECT id FROM a;"
        )
    };
    let once = ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'p'";
    let datagen = "'connector' = 'datagen'";
    let explained = |script: &str, arguments: &[&str]| {
        program.write("explain.sql", script);
        program.run(&[&["explain", "explain.sql"], arguments].concat())
    };
    for arguments in [&[][..], &["--json"]] {
        let ran = explained(&script(datagen, once), arguments).exits(0);
        for part in [
            "delivery: exactly-once; transactions",
            "replayable source: yes (a); consistent state: yes (checkpoints); transactional or idempotent sink: yes",
        ] {
            assert!(ran.out.contains(part), "no {part:?} in: {}", ran.out);
        }
        assert!(!ran.err.contains("HW-P508"), "{}", ran.err);
    }
    let ran = explained(&script(datagen, ""), &[]).exits(0);
    assert!(ran.out.contains("delivery: at-least-once"), "{}", ran.out);
    assert!(ran.out.contains("sink: idempotent, by its key"), "{}", ran.out);
    let jdbc = "'connector' = 'jdbc', 'url' = 'jdbc:mysql://h:1/d', 'table-name' = 'a'";
    let ran = explained(&script(jdbc, once), &[]).exits(0).says(&["HW-P508", "table b", "come from a"]);
    assert!(ran.out.contains("replayable source: no (a)"), "{}", ran.out);
    // The prefix is needed, as in Flink.
    explained(&script(datagen, ", 'sink.delivery-guarantee' = 'exactly-once'"), &[])
        .exits(2)
        .says(&["sink.transactional-id-prefix"]);
    let weak = format!("{once}, 'properties.acks' = '1'");
    explained(&script(datagen, &weak), &[]).exits(2).says(&["properties.acks", "sink.delivery-guarantee"]);
}

/// Trap T24: a timeout that the broker does not allow.
#[test]
fn t24_a_transaction_timeout_above_the_broker_s_is_shortened_and_said() {
    let (address, client) = broker();
    for topic in ["t24", "t24_orders"] {
        client.create_topic(topic, 1, &[]).expect("topic");
    }
    client.produce("t24_orders", &[Record::new(r#"{"order_id":"o","amount":1.5}"#)]).expect("produced");
    let program = Program::new();
    let script = |timeout: &str, prefix: &str| {
        format!(
            "CREATE TABLE order_topic (order_id STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'kafka',
                 'topic' = 't24_orders', 'properties.bootstrap.servers' = '{address}', 'format' = 'json',
                 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
             CREATE TABLE eo (order_id STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'kafka', 'format' = 'json',
                 {} {timeout});
             INSERT INTO eo SELECT order_id, amount FROM order_topic;",
            once(&address, "t24", prefix)
        )
    };
    let long = script(", 'properties.transaction.timeout.ms' = '3600000'", "job1");
    let ran = program.run_script(&long).exits(0);
    ran.says(&["warning", "transaction.timeout.ms", "3600000", "900000", "transaction.max.timeout.ms"]);
    assert_eq!(client.read("t24").expect("records").len(), 1);
    let ran = program.run_script(&script("", "job2")).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn an_older_checkpoint_is_refused_unless_the_sink_gets_another_id() {
    let (address, client) = broker();
    client.create_topic("went_back", 1, &[]).expect("topic");
    let program = Program::new();
    let script =
        format!("SET 'state.checkpoints.num-retained' = '5'; {}", numbers(&address, "went_back", 500, 1_000_000));
    program.write("numbers.sql", &script);
    let mut running = program.start(&["run", "numbers.sql"]);
    let job = running.wait_until("checkpoints are taken", |job| job["checkpoints"].as_u64() >= Some(4));
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
    let before = ids(client, "went_back").len();
    let older = job["checkpoints"].as_u64().expect("a number").to_string();
    let ran = program.run(&["run", "numbers.sql", "--checkpoint", &older]).exits(1);
    ran.says(&["HW-C097", &format!("checkpoint {older}"), "--fresh", "went_back-s-progress"]);
    assert_eq!(ids(client, "went_back").len(), before, "nothing is written twice");
    program.write("numbers.sql", &script.replace("-prefix' = 'went_back'", "-prefix' = 'went_back2'"));
    let mut running = program.start(&["run", "numbers.sql"]);
    running.wait_until("it goes on", |job| job["checkpoints"].as_u64() >= Some(2));
    running.signal("INT");
    running.end().exits(0).says(&["HW-C099", "twice", "went_back-s", "went_back2-s"]);
}

#[test]
fn another_prefix_goes_on_where_the_first_one_was() {
    let (address, client) = broker();
    client.create_topic("moved", 1, &[]).expect("topic");
    let program = Program::new();
    let script = numbers(&address, "moved", 4_000, 2_000);
    for (fault, prefix) in [("kafka.commit@2=kill", "moved"), ("kafka.committed@1=kill", "moved2")] {
        program.write("numbers.sql", &script.replace("-prefix' = 'moved'", &format!("-prefix' = '{prefix}'")));
        assert_eq!(faulty(&program, fault, &["run", "numbers.sql"]).code, -1);
    }
    program.write("numbers.sql", &script.replace("-prefix' = 'moved'", "-prefix' = 'moved3'"));
    let ran = program.run(&["run", "numbers.sql"]).exits(0);
    assert!(!ran.err.contains("HW-C099"), "{}", ran.err);
    assert_once(client, "moved", 2_000);
}

#[test]
fn a_lost_progress_topic_is_noticed() {
    let (address, client) = broker();
    client.create_topic("lost", 1, &[]).expect("topic");
    let program = Program::new();
    program.write("numbers.sql", &numbers(&address, "lost", 500, 1_000_000));
    let mut running = program.start(&["run", "numbers.sql"]);
    running.wait_until("checkpoints are taken", |job| job["checkpoints"].as_u64() >= Some(2));
    running.kill();
    client.delete_topic("lost-s-progress").expect("deleted");
    program.run(&["run", "numbers.sql"]).exits(1).says(&["HW-C098", "lost-s-progress", "--fresh"]);
    // Anew, nothing of the earlier run is asked for.
    let mut running = program.start(&["run", "numbers.sql", "--fresh"]);
    running.wait_until("it begins anew", |job| job["checkpoints"].as_u64() >= Some(2));
    running.signal("INT");
    running.end().exits(0);
    // A topic that forgets is not taken.
    client.create_topic("forgets-s-progress", 1, &[("cleanup.policy", "delete")]).expect("topic");
    program.write("forgets.sql", &numbers(&address, "lost", 500, 10).replace("'lost'", "'forgets'"));
    program.run(&["run", "forgets.sql"]).exits(1).says(&["HW-C100", "forgets-s-progress", "cleanup.policy=compact"]);
}

#[test]
fn sinks_with_one_prefix_do_not_get_into_each_other_s_way() {
    let (address, client) = broker();
    for topic in ["shared_a", "shared_b"] {
        client.create_topic(topic, 1, &[]).expect("topic");
    }
    let program = Program::new();
    let table = |name: &str, topic: &str| {
        format!(
            "CREATE TABLE {name} (id BIGINT) WITH ('connector' = 'kafka', 'format' = 'json', {});",
            once(&address, topic, "one_prefix")
        )
    };
    let source = |name: &str, first: u32, last: u32| {
        format!(
            "CREATE TABLE {name} (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '2000',
                 'fields.id.kind' = 'sequence', 'fields.id.start' = '{first}', 'fields.id.end' = '{last}');"
        )
    };
    // Three jobs: two write one table, the third writes it as well, twice, and another one into the same topic.
    let script = format!(
        "SET 'execution.checkpointing.interval' = '100 ms'; {}{}{}{}{}{}{}
         INSERT INTO a SELECT id FROM g1;
         INSERT INTO a SELECT id FROM g2;
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO a SELECT id FROM g3; INSERT INTO a SELECT id FROM g4; INSERT INTO b SELECT id FROM g5;
         END;",
        table("a", "shared_a"),
        table("b", "shared_a"),
        source("g1", 1, 500),
        source("g2", 501, 1_000),
        source("g3", 1_001, 1_500),
        source("g4", 1_501, 2_000),
        source("g5", 2_001, 2_500)
    );
    program.write("jobs.sql", &script);
    assert_eq!(faulty(&program, "kafka.commit@7=kill", &["run", "jobs.sql"]).code, -1);
    program.run(&["run", "jobs.sql"]).exits(0);
    assert_once(client, "shared_a", 2_500);
}

#[test]
fn a_sink_that_gives_up_exactly_once_delivers_what_waits() {
    let (address, client) = broker();
    client.create_topic("given_up", 1, &[]).expect("topic");
    let program = Program::new();
    let script = numbers(&address, "given_up", 4_000, 2_000);
    program.write("numbers.sql", &script);
    assert_eq!(faulty(&program, "kafka.begin@2=kill", &["run", "numbers.sql"]).code, -1);
    program.write("numbers.sql", &script.replace("exactly-once", "at-least-once"));
    program.run(&["run", "numbers.sql"]).exits(0);
    assert_once(client, "given_up", 2_000);
}

#[test]
fn without_checkpoints_the_end_commits_and_it_is_said() {
    let (address, client) = broker();
    client.create_topic("at_the_end", 1, &[]).expect("topic");
    let program = Program::new();
    let script = numbers(&address, "at_the_end", 100_000, 50_000).replace("'100 ms'", "'0'");
    program.run_script(&script).exits(0).says(&["HW-C104", "execution.checkpointing.interval"]);
    assert_once(client, "at_the_end", 50_000);
}

#[test]
fn rows_that_could_never_be_committed_are_refused_before_their_checkpoint() {
    let (address, client) = broker();
    client.create_topic("small", 1, &[("max.message.bytes", "600000")]).expect("topic");
    let program = Program::new();
    let script = |length: u32| {
        format!(
            "CREATE TABLE s (t STRING) WITH ('connector' = 'kafka', 'format' = 'raw', {});
             INSERT INTO s VALUES (REPEAT('x', {length}));",
            once(&address, "small", "small")
        )
    };
    program.run_script(&script(700_000)).exits(1).says(&["HW-C082", "700000", "max.message.bytes"]);
    program.run_script(&script(500_000)).exits(0);
    assert_eq!(client.read("small").expect("records").len(), 1);
    // Many that fit one by one: they are not sent in one batch that the broker refuses.
    let many = format!(
        "CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000',
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100');
         CREATE TABLE s (t STRING) WITH ('connector' = 'kafka', 'format' = 'raw', {});
         INSERT INTO s SELECT REPEAT('x', 50000) FROM g;",
        once(&address, "small", "small_many")
    );
    program.run_script(&many).exits(0);
    assert_eq!(client.read("small").expect("records").len(), 101);
}

#[test]
fn many_bytes_bring_a_checkpoint_by_themselves() {
    let (address, client) = broker();
    client.create_topic("many", 1, &[]).expect("topic");
    let program = Program::new();
    let script = |limit: &str| {
        format!(
        "SET 'execution.checkpointing.interval' = '1 h'; SET 'parallelism.default' = '1';
         SET 'highwater.batch-rows' = '100';
         CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000',
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '2000');
         CREATE TABLE s (t STRING) WITH ('connector' = 'kafka', 'format' = 'raw', 'sink.exactly-once.max-bytes' = '{limit}', {});
         INSERT INTO s SELECT REPEAT('x', 10000) FROM g;",
        once(&address, "many", "many")
    )
    };
    program.run_script(&script("500 kb")).exits(1).says(&["HW-C105", "512000", "sink.exactly-once.max-bytes"]);
    let ran = program.run_script(&format!("SET 'pipeline.name' = 'many'; {}", script("16 mb"))).exits(0);
    assert_eq!(client.read("many").expect("records").len(), 2_000);
    assert!(!ran.err.contains("1 checkpoint\n"), "{}", ran.err);
}

#[test]
fn a_broker_that_restarts_within_a_commit_loses_and_doubles_nothing() {
    let kafka = Kafka::launch(KafkaOptions::default()).expect("a broker");
    let (address, client) = (kafka.address(), kafka.client().expect("a client"));
    client.create_topic("restarts", 2, &[]).expect("topic");
    let program = Program::new();
    program.write("numbers.sql", &numbers(&address, "restarts", 500, 1_000_000));
    // One reader, so that the numbers have no gap.
    let mut running = program.start(&["run", "numbers.sql", "--parallelism", "1"]);
    for _ in 0..2 {
        let before = rows(&running.wait_until("status", |_| true), "sink", "rows_out");
        kafka.kill();
        kafka.start().expect("started again");
        running.wait_until("it goes on", |job| {
            job["state"] == "running" && rows(job, "sink", "rows_out") > before + 2_000
        });
    }
    program.run(&["stop"]).exits(0);
    let ran = running.end().exits(0);
    let written = ran.err.split("rows_written=").nth(1).and_then(|rest| rest.split_whitespace().next());
    assert_once(client, "restarts", written.and_then(|count| count.parse().ok()).expect("a count"));
}
