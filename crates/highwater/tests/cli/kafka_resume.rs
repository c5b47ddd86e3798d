//! Kafka sources that go on from a checkpoint: where the options say a first start begins, what others do to the
//! consumer group, and new partitions do not move a position.

use crate::program::{Program, Running, rows};
use serde_json::Value;
use testkit::services::{Kafka, KafkaClient, Record};

fn broker() -> (String, &'static KafkaClient) {
    let kafka = Kafka::shared().expect("a broker");
    (kafka.address(), kafka.client().expect("a client"))
}

/// A job that copies a topic into files, each row once.
fn copy(address: &str, topic: &str, more: &str) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '100 ms';
         CREATE TABLE a (n INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json',
             'properties.bootstrap.servers' = '{address}', {more});
         CREATE TABLE b (n INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
         INSERT INTO b SELECT n FROM a;"
    )
}

fn produce(client: &KafkaClient, topic: &str, partition: i32, range: std::ops::Range<i64>) {
    let record = |n: i64| Record::new(format!(r#"{{"n":{n}}}"#)).partition(partition).timestamp(1_000 * (n + 1));
    client.produce(topic, &range.map(record).collect::<Vec<_>>()).expect("produced");
}

fn numbers(program: &Program) -> Vec<i64> {
    let number = |line: &String| serde_json::from_str::<Value>(line).expect("a row")["n"].as_i64().expect("a number");
    let mut numbers: Vec<i64> = program.lines_below("out").iter().map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// Waits until so many rows are in a complete checkpoint.
#[track_caller]
fn committed(program: &Program, running: &mut Running<'_>, count: usize) {
    running.wait_until("the rows are committed", |_| numbers(program).len() >= count);
}

#[test]
fn a_restored_position_is_stronger_than_where_a_first_start_begins() {
    let (address, client) = broker();
    // A mode, and the numbers of 0 to 10 that a first start reads.
    let modes = [
        ("'scan.startup.mode' = 'earliest-offset'", 0),
        ("'scan.startup.mode' = 'latest-offset'", 10),
        ("'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '5000'", 4),
        ("'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:7'", 7),
        ("'properties.group.id' = 'resumed', 'properties.auto.offset.reset' = 'earliest'", 0),
        ("'properties.group.id' = 'resumed_late', 'properties.auto.offset.reset' = 'latest'", 10),
    ];
    for (number, (mode, first)) in modes.into_iter().enumerate() {
        let topic = format!("resumed_{number}");
        client.create_topic(&topic, 1, &[]).expect("topic");
        produce(client, &topic, 0, 0..10);
        let program = Program::new();
        program.write("copy.sql", &copy(&address, &topic, mode));
        let mut running = program.start(&["run", "copy.sql"]);
        running.wait_until("it runs", |job| job["state"] == "running");
        produce(client, &topic, 0, 10..20);
        committed(&program, &mut running, 20 - first);
        running.kill();
        produce(client, &topic, 0, 20..30);
        let mut running = program.start(&["run", "copy.sql"]);
        committed(&program, &mut running, 30 - first);
        program.run(&["stop"]).exits(0);
        running.end().exits(0).says(&["HW-L010"]);
        assert_eq!(numbers(&program), (first as i64..30).collect::<Vec<_>>(), "{mode}");
    }
}

#[test]
fn offsets_of_the_group_only_show_where_the_job_is() {
    let (address, client) = broker();
    client.create_topic("monitored", 1, &[]).expect("topic");
    produce(client, "monitored", 0, 0..10);
    let group = "'properties.group.id' = 'monitoring'";
    let options = format!("{group}, 'scan.startup.mode' = 'earliest-offset'");
    let program = Program::new();
    program.write("copy.sql", &copy(&address, "monitored", &options));
    let mut running = program.start(&["run", "copy.sql"]);
    committed(&program, &mut running, 10);
    let at = |offset: i64| vec![("monitored".to_string(), 0, offset)];
    running.wait_until("the group shows it", |_| client.group_offsets("monitoring").expect("offsets") == at(10));
    running.kill();
    // Another reader of the group goes further: the job does not follow.
    produce(client, "monitored", 0, 10..20);
    let other = Program::new();
    let bounded = format!("{group}, 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'");
    other.write("other.sql", &copy(&address, "monitored", &bounded));
    other.run(&["run", "other.sql"]).exits(0);
    assert_eq!(client.group_offsets("monitoring").expect("offsets"), at(20));
    let mut running = program.start(&["run", "copy.sql"]);
    committed(&program, &mut running, 20);
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
    assert_eq!(numbers(&program), (0..20).collect::<Vec<_>>());
}

#[test]
fn partitions_that_came_while_the_job_was_away_are_read_from_their_beginning() {
    let (address, client) = broker();
    client.create_topic("widened", 1, &[]).expect("topic");
    produce(client, "widened", 0, 0..5);
    let options = "'scan.startup.mode' = 'latest-offset', 'scan.topic-partition-discovery.interval' = '200 ms'";
    let program = Program::new();
    program.write("copy.sql", &copy(&address, "widened", options));
    let mut running = program.start(&["run", "copy.sql", "--parallelism", "2"]);
    running.wait_until("it runs", |job| job["state"] == "running");
    produce(client, "widened", 0, 5..10);
    committed(&program, &mut running, 5);
    running.kill();
    client.add_partitions("widened", 3).expect("partitions");
    produce(client, "widened", 1, 10..15);
    let mut running = program.start(&["run", "copy.sql", "--parallelism", "3"]);
    committed(&program, &mut running, 10);
    // One more while it runs, known to the next start.
    client.add_partitions("widened", 4).expect("partitions");
    produce(client, "widened", 3, 15..20);
    committed(&program, &mut running, 15);
    running.kill();
    produce(client, "widened", 3, 20..25);
    let mut running = program.start(&["run", "copy.sql", "--parallelism", "1"]);
    committed(&program, &mut running, 20);
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
    assert_eq!(numbers(&program), (5..25).collect::<Vec<_>>());
}

#[test]
fn how_a_topic_is_reached_may_change_while_what_is_read_may_not() {
    let (address, client) = broker();
    for topic in ["reached", "reached_2"] {
        client.create_topic(topic, 2, &[]).expect("topic");
    }
    produce(client, "reached", 0, 0..10);
    let program = Program::new();
    let earliest = "'scan.startup.mode' = 'earliest-offset'";
    let run = |script: &str, count: usize| {
        program.write("copy.sql", script);
        let mut running = program.start(&["run", "copy.sql"]);
        committed(&program, &mut running, count);
        let job = running.wait_until("status", |_| true);
        running.kill();
        rows(&job, "source", "rows_in")
    };
    run(&copy(&address, "reached", earliest), 10);
    produce(client, "reached", 1, 10..20);
    let tuned = format!(
        "{earliest}, 'scan.parallelism' = '2', 'properties.session.timeout.ms' = '20000', 'properties.client.id' = 'me', \
         'properties.group.id' = 'new_group', \
         'scan.topic-partition-discovery.interval' = '1 s', 'sink.partitioner' = 'fixed'"
    );
    let servers = address.replace("127.0.0.1", "localhost");
    assert_eq!(run(&copy(&format!("{address},{servers}"), "reached", &tuned), 20), 20, "counts go on");
    for changed in [
        copy(&address, "reached_2", earliest),
        copy(&address, "reached", "'scan.startup.mode' = 'latest-offset'"),
        copy(&address, "reached", &format!("{earliest}, 'json.ignore-parse-errors' = 'true'")),
    ] {
        program.write("copy.sql", &changed);
        program.run(&["run", "copy.sql"]).exits(2).says(&["HW-R006", "changed: source a"]);
    }
    assert_eq!(numbers(&program), (0..20).collect::<Vec<_>>());
}
