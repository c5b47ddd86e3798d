//! `hw-testkit bench --kafka`: what reading a topic costs a job, against the client's own loop plus the same job on a file.

use crate::bench::run_tumble;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// The topic of the benchmark; its records lie in one partition.
pub const TOPIC: &str = "bench_bids";
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends every line of a file as a record.
///
/// # Errors
/// A file that cannot be read, a broker that does not take the records.
pub fn produce_lines(path: &Path, address: &str) -> Result<u64, String> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", address).set("linger.ms", "50").set("batch.size", "1000000");
    let producer: BaseProducer = config.create().map_err(|error| error.to_string())?;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut records = 0;
    for line in BufReader::with_capacity(1 << 20, file).lines() {
        let line = line.map_err(|error| error.to_string())?;
        let mut record = BaseRecord::<(), str>::to(TOPIC).partition(0).payload(&line);
        while let Err((error, refused)) = producer.send(record) {
            if error != KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull) {
                return Err(error.to_string());
            }
            producer.poll(Duration::from_millis(10));
            record = refused;
        }
        records += 1;
    }
    producer.flush(ANSWER_TIMEOUT).map_err(|error| error.to_string())?;
    Ok(records)
}

/// Reads the topic with nothing but the client's own loop, looking at the length of each record.
///
/// # Errors
/// What the client reports.
pub fn consume_alone(address: &str) -> Result<u64, String> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", address).set("group.id", "bench").set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().map_err(|error| error.to_string())?;
    let (first, end) = consumer.fetch_watermarks(TOPIC, 0, ANSWER_TIMEOUT).map_err(|error| error.to_string())?;
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(TOPIC, 0, Offset::Offset(first)).map_err(|error| error.to_string())?;
    consumer.assign(&list).map_err(|error| error.to_string())?;
    let (mut records, mut bytes) = (0, 0);
    while records < (end - first) as u64 {
        let message = consumer.poll(ANSWER_TIMEOUT).ok_or("the topic ends too early")?;
        bytes += message.map_err(|error| error.to_string())?.payload_len();
        records += 1;
    }
    if bytes == 0 { Err("the records are empty".into()) } else { Ok(records) }
}

/// Runs topic -> one-minute tumble -> blackhole.
///
/// # Errors
/// Whatever the job failed with.
pub fn run_topic_tumble(address: &str, parallelism: usize) -> Result<u64, String> {
    let source = format!(
        "'connector' = 'kafka', 'topic' = '{TOPIC}', 'properties.bootstrap.servers' = '{address}', \
         'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'"
    );
    run_tumble(&source, parallelism)
}
