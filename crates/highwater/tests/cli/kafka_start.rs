//! What the look at the cluster before a job finds: every message names the problem and its fix.

use crate::program::{Program, Ran};
use testkit::services::{Kafka, KafkaOptions, free_port};

fn select(address: &str, topic: &str, more: &str) -> Ran {
    let program = Program::new();
    program.run_script(&format!(
        "CREATE TABLE order_topic (id INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', \
         'properties.bootstrap.servers' = '{address}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset', \
         'scan.bounded.mode' = 'latest-offset' {more}); SELECT * FROM order_topic;"
    ))
}

#[test]
fn a_broker_that_does_not_answer_is_named() {
    let address = format!("127.0.0.1:{}", free_port("127.0.0.1").expect("a port"));
    select(&address, "order_topic", "").exits(1).says(&[&address, "order_topic", "refused", "bootstrap.servers"]);
    select("no-such-host.invalid:9092", "order_topic", "").exits(1).says(&["no-such-host.invalid:9092", "resolve"]);
}

#[test]
fn an_unknown_topic_is_named_with_its_neighbours() {
    let kafka = Kafka::shared().expect("a broker");
    kafka.client().expect("a client").create_topic("unknown_orders", 1, &[]).expect("topic");
    let address = kafka.address();
    let message =
        ["topic 'unknown_order'", "does not exist", "unknown_orders", "--create --topic unknown_order", &address];
    select(&address, "unknown_order", "").exits(1).says(&message);
}

/// Trap T9: the broker answers, and sends its clients where nothing listens.
#[test]
fn an_advertised_address_that_cannot_be_reached_is_named() {
    let nowhere = format!("127.0.0.3:{}", free_port("127.0.0.3").expect("a port"));
    let options =
        KafkaOptions { listen: "127.0.0.2".into(), advertised: Some(nowhere.clone()), ..KafkaOptions::default() };
    let kafka = Kafka::launch(options).expect("a broker");
    kafka.client().expect("a client").create_topic("order_topic", 1, &[]).expect("topic");
    let begun = std::time::Instant::now();
    let message = [kafka.address(), nowhere, "advertised.listeners".into(), "order_topic".into()];
    select(&kafka.address(), "order_topic", "").exits(1).says(&message.each_ref().map(String::as_str));
    // The promise of the trap, not a measurement: without the look at the cluster this would wait for ever.
    assert!(begun.elapsed().as_secs() < 15);
}

#[test]
fn logins_and_permissions_are_named() {
    let kafka = Kafka::launch(KafkaOptions { authorization: true, ..KafkaOptions::default() }).expect("a broker");
    let client = kafka.client().expect("a client");
    client.create_topic("secret_orders", 1, &[]).expect("topic");
    let login = |user: &str, password: &str| {
        format!(
            ", 'properties.security.protocol' = 'SASL_PLAINTEXT', 'properties.sasl.mechanism' = 'PLAIN', \
             'properties.sasl.jaas.config' = 'org.apache.kafka.common.security.plain.PlainLoginModule required \
             username=\"{user}\" password=\"{password}\";'"
        )
    };
    let read = |user: &str, password: &str| select(&kafka.address(), "secret_orders", &login(user, password));
    read("admin", "admin-secret").exits(0);
    let ran = read("alice", "wrong-one").exits(1).says(&["login", "alice", "sasl.jaas.config"]);
    assert!(!ran.err.contains("wrong-one"), "a password is never shown: {}", ran.err);
    read("alice", "alice-secret").exits(1).says(&["alice", "secret_orders", "kafka-acls.sh", "--operation Read"]);
    for operation in ["DESCRIBE", "READ"] {
        client.allow("alice", "TOPIC", "secret_orders", operation).expect("allowed");
    }
    client.allow("alice", "GROUP", "highwater-order_topic", "READ").expect("allowed");
    read("alice", "alice-secret").exits(0);
    let program = Program::new();
    let script = format!(
        "CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = 'secret_orders', 'format' = 'json', \
         'properties.bootstrap.servers' = '{}' {}); INSERT INTO t VALUES (1);",
        kafka.address(),
        login("alice", "alice-secret")
    );
    program.run_script(&script).exits(1).says(&["alice", "write", "secret_orders", "--operation Write"]);
    // Exactly once needs a topic and a name of its own.
    client.allow("alice", "TOPIC", "secret_orders", "WRITE").expect("allowed");
    let once = "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'vault', 'topic'";
    let script = script.replacen("'topic'", once, 1);
    program.run_script(&script).exits(1).says(&["HW-C100", "vault-t-progress", "--config cleanup.policy=compact"]);
    client.create_topic("vault-t-progress", 1, &[("cleanup.policy", "compact")]).expect("topic");
    for operation in ["DESCRIBE", "READ", "WRITE"] {
        client.allow("alice", "TOPIC", "vault-t-progress", operation).expect("allowed");
    }
    program.run_script(&script).exits(1).says(&["HW-C103", "vault-t", "--transactional-id vault-t"]);
    for operation in ["DESCRIBE", "WRITE"] {
        client.allow("alice", "TRANSACTIONAL_ID", "vault-t", operation).expect("allowed");
    }
    program.run_script(&script).exits(0);
    assert_eq!(client.read("secret_orders").expect("records").len(), 1);
}

#[test]
fn client_properties_are_checked_before_anything_starts() {
    let program = Program::new();
    let explain = |property: &str| {
        program.write(
            "script.sql",
            &format!(
                "CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json', \
                 'properties.bootstrap.servers' = 'b:1', {property}); INSERT INTO t VALUES (1);"
            ),
        );
        program.run(&["explain", "script.sql"])
    };
    explain("'properties.acks' = 'perhaps'").exits(2).says(&["properties.acks", "perhaps"]);
    explain("'properties.linger.mss' = '5'").exits(2).says(&["properties.linger.mss"]);
    explain("'properties.security.protocol' = 'SSL'").exits(2).says(&["security.protocol"]);
    explain("'properties.max.poll.records' = '5'").exits(0);
    explain("'properties.compression.type' = 'lz4', 'properties.max.request.size' = '2000000'").exits(0);
}
