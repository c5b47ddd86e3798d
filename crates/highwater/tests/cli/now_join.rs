//! `FOR SYSTEM_TIME AS OF` processing time with a table of changes.

use crate::program::{Program, rows};
use testkit::services::{Kafka, Record};

const USERS: usize = 3000;

fn tables(address: &str, prefix: &str) -> String {
    format!(
        "SET 'execution.checkpointing.interval' = '200 ms'; SET 'parallelism.default' = '2';
         CREATE TABLE orders (id INT, user_id INT, ts TIMESTAMP(3), proc_time AS PROCTIME(), WATERMARK FOR ts AS ts)
             WITH ('connector' = 'kafka', 'topic' = '{prefix}_orders', 'properties.bootstrap.servers' = '{address}',
                   'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
         CREATE TABLE users (user_id INT, city STRING, PRIMARY KEY (user_id) NOT ENFORCED)
             WITH ('connector' = 'upsert-kafka', 'topic' = '{prefix}_users', 'properties.bootstrap.servers' = '{address}',
                   'key.format' = 'json', 'value.format' = 'json');
         "
    )
}

fn order(id: usize, user: usize, time: &str) -> Record {
    Record::new(format!(r#"{{"id":{id},"user_id":{user},"ts":"2024-01-01 {time}"}}"#)).partition(0)
}

fn user(id: usize, city: &str) -> Record {
    let value = format!(r#"{{"user_id":{id},"city":"{city}"}}"#);
    Record::new(value).key(format!(r#"{{"user_id":{id}}}"#)).partition((id % 3) as i32)
}

#[test]
fn rows_wait_for_the_first_snapshot_of_a_table_of_changes() {
    let kafka = Kafka::shared().expect("a broker");
    let client = kafka.client().expect("a client");
    client.create_topic("now_orders", 1, &[]).expect("topic");
    client.create_topic("now_users", 3, &[("cleanup.policy", "compact")]).expect("topic");
    let send = |topic: &str, records: &[Record]| {
        client.produce(topic, records).expect("produced");
    };
    send("now_orders", &[order(1, 0, "00:00:01"), order(2, USERS - 1, "00:00:02"), order(3, USERS, "00:00:03")]);
    // Every user has moved: the last city is the one of now.
    for city in ["old", "first"] {
        send("now_users", &(0..USERS).map(|id| user(id, city)).collect::<Vec<_>>());
    }
    let program = Program::new();
    let select = "SELECT o.id, u.city FROM orders AS o LEFT JOIN users FOR SYSTEM_TIME AS OF o.proc_time AS u
                  ON o.user_id = u.user_id";
    program.write(
        "job.sql",
        &format!(
            "{} CREATE TABLE joined (id INT, city STRING) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
             INSERT INTO joined {select};",
            tables(&kafka.address(), "now")
        ),
    );
    let plan = program.run(&["explain", "job.sql"]).exits(0).out;
    assert!(plan.contains("TemporalJoin(joinType=[LeftOuterJoin]") && plan.contains("AS OF PROCTIME()"), "{plan}");
    assert!(plan.contains("left rows wait until the right side has read what its tables hold"), "{plan}");
    let mut running = program.start(&["run", "job.sql"]);
    running.wait_until("the first orders are joined", |job| rows(job, "sink", "rows_out") == 3);
    send("now_users", &[user(0, "second"), Record::tombstone(format!(r#"{{"user_id":{}}}"#, USERS - 1)).partition(2)]);
    let all = 2 * USERS as u64 + 2 + 3;
    running.wait_until("the changes are read", |job| rows(job, "source", "rows_in") == all);
    running.wait_until("they are joined with", |job| {
        job["nodes"]
            .as_array()
            .is_some_and(|nodes| nodes.iter().any(|node| node["name"] == "temporal join" && node["rows_in"] == all))
    });
    send("now_orders", &[order(4, 0, "00:00:04"), order(5, USERS - 1, "00:00:05")]);
    running.wait_until("later orders see the changes", |job| rows(job, "sink", "rows_out") == 5);
    let before = running.wait_until("a status", |_| true)["checkpoints"].as_u64();
    running.wait_until("a checkpoint has it", |job| job["checkpoints"].as_u64() > before.map(|count| count + 1));
    running.kill();
    let mut running = program.start(&["run", "job.sql"]);
    send("now_orders", &[order(6, 0, "00:00:06"), order(7, 1, "00:00:07")]);
    running.wait_until("the state is still there", |job| rows(job, "sink", "rows_out") == 7);
    program.run(&["stop"]).exits(0);
    running.end().exits(0);
    assert_eq!(program.lines_below("out"), ["1,first", "2,first", "3,", "4,second", "5,", "6,second", "7,first"]);
}

#[test]
fn windows_behind_it_follow_the_event_time_of_the_left_side() {
    let kafka = Kafka::shared().expect("a broker");
    let client = kafka.client().expect("a client");
    client.create_topic("nowwin_orders", 1, &[]).expect("topic");
    client.create_topic("nowwin_users", 3, &[("cleanup.policy", "compact")]).expect("topic");
    client.produce("nowwin_users", &(0..10).map(|id| user(id, "x")).collect::<Vec<_>>()).expect("produced");
    let orders: Vec<Record> = (0..20).map(|id| order(id, id, &format!("00:00:{:02}", id * 3))).collect();
    client.produce("nowwin_orders", &orders).expect("produced");
    let program = Program::new();
    program.write(
        "job.sql",
        &format!(
            "{} CREATE TABLE counts (s TIMESTAMP(3), n BIGINT, c BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
             CREATE VIEW wide AS SELECT o.id, o.ts, u.city FROM orders AS o
                 LEFT JOIN users FOR SYSTEM_TIME AS OF o.proc_time AS u ON o.user_id = u.user_id;
             INSERT INTO counts SELECT window_start, COUNT(*), COUNT(city) FROM TABLE(TUMBLE(TABLE wide, DESCRIPTOR(ts), INTERVAL '30' SECOND))
                 GROUP BY window_start, window_end;",
            tables(&kafka.address(), "nowwin")
        ),
    );
    let mut running = program.start(&["run", "job.sql"]);
    running.wait_until("the first window fires", |job| rows(job, "sink", "rows_out") == 1);
    program.run(&["stop", "--drain"]).exits(0);
    let ran = running.end().exits(0);
    let expected = ["\"2024-01-01 00:00:00\",10,10", "\"2024-01-01 00:00:30\",10,0"];
    assert_eq!(program.lines_below("out"), expected, "{}", ran.err);
    assert!(!ran.err.contains("late row"), "{}", ran.err);
}
