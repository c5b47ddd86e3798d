//! The machinery of scenarios against a real broker: records, offsets, restarts, listeners, authorisation.

use std::path::Path;
use std::time::Duration;
use testkit::play::{PlayOptions, play};
use testkit::services::kafka_client::Offsets;
use testkit::services::{Isolation, Kafka, KafkaClient, KafkaOptions, Record, free_port};

fn client() -> &'static KafkaClient {
    Kafka::shared().expect("a broker").client().expect("a client")
}

#[test]
fn records_come_back_as_they_were_sent() {
    let client = client();
    client.create_topic("sent", 2, &[("cleanup.policy", "compact")]).expect("topic");
    let first = Record::new("välue").key(vec![0, 255, 10]).partition(1).timestamp(1_610_105_544_040);
    let sent = [first.header("h", "x"), Record::tombstone("k").partition(0).timestamp(5)];
    assert_eq!(client.produce("sent", &sent), Ok(vec![(1, 0), (0, 0)]));
    let mut expected = sent.to_vec();
    expected.iter_mut().for_each(|record| record.offset = Some(0));
    expected.reverse();
    assert_eq!(client.read("sent"), Ok(expected.clone()));
    assert_eq!(client.read_with("sent", Isolation::ReadUncommitted), Ok(expected));
    assert_eq!(client.end_offsets("sent"), Ok(Offsets::from([(0, 1), (1, 1)])));
    assert_eq!(client.topic_configs("sent").expect("configs")["cleanup.policy"], "compact");
    client.add_partitions("sent", 3).expect("more partitions");
    assert_eq!(client.end_offsets("sent").expect("offsets").len(), 3);
    assert_eq!(client.group_offsets("nobody"), Ok(Vec::new()));
}

#[test]
fn reading_on_gives_every_record_once() {
    let client = client();
    client.create_topic("on", 1, &[]).expect("topic");
    let mut positions = Offsets::new();
    assert_eq!(client.read_on("on", &mut positions, Duration::ZERO), Ok(Vec::new()));
    client.produce("on", &[Record::new("1")]).expect("produced");
    let read = |positions: &mut Offsets| -> Vec<String> {
        let records = client.read_on("on", positions, Duration::from_secs(20)).expect("records");
        records.iter().filter_map(Record::value_text).collect()
    };
    assert_eq!(read(&mut positions), ["1"]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| read(&mut positions));
        client.produce("on", &[Record::new("2")]).expect("produced");
        assert_eq!(waiting.join().expect("read"), ["2"]);
    });
}

#[test]
fn a_topic_can_be_deleted_and_made_again() {
    let client = client();
    client.create_topic("again", 1, &[]).expect("topic");
    client.produce("again", &[Record::new("old")]).expect("produced");
    assert!(client.create_topic("again", 1, &[]).expect_err("twice").contains("TopicExistsException"));
    client.delete_topic("again").expect("deleted");
    assert!(client.read("again").expect_err("gone").contains("no topic again"));
    client.create_topic("again", 2, &[]).expect("topic");
    assert_eq!(client.read("again"), Ok(Vec::new()));
    assert!(client.topics().expect("topics").contains(&"again".to_string()));
}

#[test]
fn a_broker_comes_back_with_its_records() {
    let options = KafkaOptions { auto_create_topics: false, ..KafkaOptions::default() };
    let kafka = Kafka::launch(options).expect("a broker");
    let address = kafka.address();
    kafka.client().expect("client").create_topic("kept", 1, &[]).expect("topic");
    kafka.client().expect("client").produce("kept", &[Record::new("1")]).expect("produced");
    kafka.stop().expect("stopped");
    assert!(std::net::TcpStream::connect(&address).is_err(), "still listening");
    kafka.start().expect("started again");
    assert_eq!(kafka.address(), address);
    kafka.client().expect("client").produce("kept", &[Record::new("2")]).expect("produced");
    kafka.kill();
    assert!(std::net::TcpStream::connect(&address).is_err(), "still listening");
    kafka.start().expect("started again");
    let values: Vec<_> = kafka.client().expect("client").read("kept").expect("read");
    assert_eq!(values.iter().filter_map(Record::value_text).collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn a_broker_may_send_clients_to_another_address() {
    let nowhere = format!("127.0.0.3:{}", free_port("127.0.0.3").expect("port"));
    let options = KafkaOptions {
        listen: "127.0.0.2".into(),
        advertised: Some(nowhere.clone()),
        authorization: true,
        ..KafkaOptions::default()
    };
    let kafka = Kafka::launch(options).expect("a broker");
    assert!(kafka.address().starts_with("127.0.0.2:"));
    std::net::TcpStream::connect(kafka.address()).expect("listening");
    assert!(std::net::TcpStream::connect(&nowhere).is_err());
    let client = kafka.client().expect("client");
    client.create_topic("reachable", 1, &[]).expect("topic");
    client.produce("reachable", &[Record::new("1")]).expect("produced");
    client.allow("alice", "topic", "reachable", "read").expect("allowed");
    assert_eq!(client.read("reachable").expect("read").len(), 1);
}

#[test]
fn a_broker_that_cannot_start_says_why() {
    let options = KafkaOptions { properties: vec![("node.id".into(), "x".into())], ..KafkaOptions::default() };
    let problem = Kafka::launch(options).expect_err("no broker");
    assert!(problem.contains("Invalid value x"), "{problem}");
}

#[test]
fn a_play_tells_what_went_wrong() {
    let kafka = Kafka::launch(KafkaOptions::default()).expect("a broker");
    let (address, client) = (kafka.address(), kafka.client().expect("client"));
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/s0_ods_binlog");
    let refusing = PlayOptions::new(&scenario, "false");
    let nothing = PlayOptions { expected: "expected/typo".into(), ..refusing.clone() };
    let problem = play(&nothing, &address, client).expect_err("nothing to compare with");
    assert!(problem.contains("expected/typo has no result"), "{problem}");
    let problem = play(&refusing, &address, client).expect_err("a job that ends at once");
    assert!(problem.contains("step 5/11, settle 3s") && problem.contains("exit status: 1"), "{problem}");
    assert_eq!(client.read("mysql_binlog_topic").expect("records of step 1").len(), 5);
    let problem = play(&refusing, &address, client).expect_err("a topic in the way");
    assert!(problem.contains("step 1/11") && problem.contains("there is a topic mysql_binlog_topic"), "{problem}");
    let replacing = PlayOptions { replace_topics: true, ..PlayOptions::new(&scenario, "no such program") };
    let problem = play(&replacing, &address, client).expect_err("a job that cannot start");
    assert!(problem.contains("step 3/11, start job.sql") && problem.contains("no such program"), "{problem}");
}
