//! Outside systems for tests: each a child process with its own temporary folder and free loopback ports.
//!
//! A service is one file here and one line in [`SERVICES`]. It says that it is ready by itself, ends by its own process
//! id, and never outlives the process that started it.

pub mod java;
pub mod kafka;
pub mod kafka_client;
pub mod s3;

pub use kafka::{Kafka, KafkaOptions};
pub use kafka_client::{Isolation, KafkaClient, Record};
pub use s3::S3;

use std::net::TcpListener;

/// A running outside system.
pub trait Service {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What scripts need to reach it: values for `-D`.
    fn variables(&self) -> Vec<(&'static str, String)>;

    /// Ends it cleanly.
    ///
    /// # Errors
    /// A service that does not end; with what it said.
    fn stop(&mut self) -> Result<(), String>;
}

type Starter = fn() -> Result<Box<dyn Service>, String>;

/// Every service that can be started by name.
pub const SERVICES: &[(&str, Starter)] = &[("kafka", start_kafka), ("s3", start_s3)];

fn start_kafka() -> Result<Box<dyn Service>, String> {
    Ok(Box::new(Kafka::launch(KafkaOptions::default())?))
}

fn start_s3() -> Result<Box<dyn Service>, String> {
    Ok(Box::new(S3::launch()?))
}

/// Starts the named services, or all.
///
/// # Errors
/// An unknown name, or a service that does not start.
pub fn start(names: &[String]) -> Result<Vec<Box<dyn Service>>, String> {
    let known: Vec<&str> = SERVICES.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("no service {unknown}; there are: {}", known.join(", ")));
    }
    let wanted = SERVICES.iter().filter(|(name, _)| names.is_empty() || names.iter().any(|wanted| wanted == name));
    wanted.map(|(_, start)| start()).collect()
}

/// A port of a loopback address that nothing listens on.
///
/// # Errors
/// An address that this machine does not have.
pub fn free_port(host: &str) -> Result<u16, String> {
    let address = TcpListener::bind((host, 0)).and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|cause| format!("no free port on {host}: {cause}"))
}
