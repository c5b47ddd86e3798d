//! A reader against a broker inside this process: what a checkpoint holds is what has been given.

use super::*;
use crate::kafka::LocalBroker;
use crate::testing::{connector, context, next, scan, table};
use base::TableDefinition;
use rdkafka::config::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::time::Duration;

const ONE: Instance = Instance { index: 0, parallelism: 1 };

fn produce(broker: &LocalBroker, topic: &str, partition: i32, values: std::ops::Range<i32>) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", broker.address()).create().expect("a producer");
    for value in values {
        let value = value.to_string();
        let record = BaseRecord::<(), str>::to(topic).partition(partition).payload(&value);
        producer.send(record).map_err(|(error, _)| error).expect("sent");
    }
    producer.flush(Duration::from_secs(10)).expect("delivered");
}

fn lines(broker: &LocalBroker, topic: &str, more: &[(&str, &str)]) -> TableDefinition {
    let address = broker.address();
    let mut options = vec![
        ("connector", "kafka"),
        ("topic", topic),
        ("properties.bootstrap.servers", address.as_str()),
        ("format", "line"),
        ("scan.startup.mode", "earliest-offset"),
    ];
    options.extend(more);
    table("line STRING", &options)
}

async fn source(definition: &TableDefinition, restored: &[SplitState]) -> Arc<dyn SourceProvider> {
    let source = connector("kafka").source(definition, &scan(definition, &[]), &context()).expect("a source");
    source.start(restored).await.expect("started");
    source
}

/// The sum of the offsets that a checkpoint holds.
fn progress(states: &[SplitState]) -> i64 {
    states.iter().map(|state| Position::decode(state).expect("a position").next).sum()
}

/// The rows of all events up to the end.
async fn count(reader: &mut dyn SourceReader) -> i64 {
    let mut rows = 0;
    loop {
        match next(reader, 4096).await.expect("an event") {
            SourceEvent::Batch { batch, .. } => rows += batch.num_rows() as i64,
            SourceEvent::End => return rows,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_between_two_batches_holds_what_was_given() {
    let broker = LocalBroker::start().expect("a broker");
    broker.create_topic("lines", 4).expect("a topic");
    for partition in 0..4 {
        produce(&broker, "lines", partition, 0..100);
    }
    let definition = lines(&broker, "lines", &[("scan.bounded.mode", "latest-offset")]);
    let source = source(&definition, &[]).await;
    let mut reader = source.reader(ONE, &[]).expect("a reader");
    let mut given = 0;
    let mut checkpoints = Vec::new();
    loop {
        match next(reader.as_mut(), 4096).await.expect("an event") {
            SourceEvent::Batch { batch, .. } => given += batch.num_rows() as i64,
            SourceEvent::End => break,
            _ => {}
        }
        let states = reader.snapshot().expect("a snapshot");
        assert_eq!(progress(&states), given, "what waits to be given is not in a checkpoint");
        checkpoints.push((given, states));
    }
    assert_eq!(given, 400);
    // From each of them, the rest is read: nothing is lost, nothing comes twice.
    for (given, states) in checkpoints {
        let restored = self::source(&definition, &states).await;
        let mut reader = restored.reader(ONE, &states).expect("a reader");
        assert_eq!(given + count(reader.as_mut()).await, 400);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_share_the_partitions_at_any_parallelism() {
    let broker = LocalBroker::start().expect("a broker");
    for topic in ["a", "b"] {
        broker.create_topic(topic, 3).expect("a topic");
        for partition in 0..3 {
            produce(&broker, topic, partition, 0..10);
        }
    }
    let definition = lines(&broker, "a;b", &[("scan.bounded.mode", "latest-offset")]);
    for parallelism in [1, 2, 5, 9] {
        let source = source(&definition, &[]).await;
        let mut rows = 0;
        for index in 0..parallelism {
            let mut reader = source.reader(Instance { index, parallelism }, &[]).expect("a reader");
            rows += count(reader.as_mut()).await;
        }
        assert_eq!(rows, 60, "{parallelism} readers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_is_not_written_yet_is_waited_for() {
    let broker = LocalBroker::start().expect("a broker");
    broker.create_topic("lines", 1).expect("a topic");
    produce(&broker, "lines", 0, 0..5);
    let stop = [("scan.bounded.mode", "specific-offsets"), ("scan.bounded.specific-offsets", "partition:0,offset:8")];
    let definition = lines(&broker, "lines", &stop);
    let source = source(&definition, &[]).await;
    let mut reader = source.reader(ONE, &[]).expect("a reader");
    let mut rows = 0;
    while rows < 5 {
        if let SourceEvent::Batch { batch, .. } = next(reader.as_mut(), 4096).await.expect("an event") {
            rows += batch.num_rows();
        }
    }
    produce(&broker, "lines", 0, 5..20);
    assert_eq!(count(reader.as_mut()).await, 3, "offsets 5, 6 and 7");
}
