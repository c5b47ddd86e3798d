//! A broker inside this process that speaks Kafka's protocol: for demonstrations, gone with the process.

use base::{Error, Result};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;

/// A single broker on a free loopback port, without storage, groups' permissions or compaction.
pub struct LocalBroker(MockCluster<'static, DefaultProducerContext>);

impl std::fmt::Debug for LocalBroker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LocalBroker({})", self.address())
    }
}

impl LocalBroker {
    /// Starts a broker.
    ///
    /// # Errors
    /// No port or thread is to be had.
    pub fn start() -> Result<LocalBroker> {
        let cluster = MockCluster::new(1).map_err(|error| refused("start", &error))?;
        Ok(LocalBroker(cluster))
    }

    /// Where it listens: `127.0.0.1:port`.
    pub fn address(&self) -> String {
        self.0.bootstrap_servers()
    }

    /// Makes a topic.
    ///
    /// # Errors
    /// A name or number that the broker refuses.
    pub fn create_topic(&self, name: &str, partitions: i32) -> Result<()> {
        self.0.create_topic(name, partitions, 1).map_err(|error| refused("make a topic in", &error))
    }
}

fn refused(action: &str, error: &rdkafka::error::KafkaError) -> Error {
    Error::io(action, "the broker inside this process", &std::io::Error::other(error.to_string()))
}
