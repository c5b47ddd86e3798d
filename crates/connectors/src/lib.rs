//! Connectors and formats: what tables read from and write to.
//!
//! One folder a connector; each is a [`base::connector::ConnectorFactory`] plus the sources and sinks behind it.
//! Formats live in `formats/`. Adding a connector means adding a folder and a line in [`register`].
//!
//! Invariants: connectors know neither planner nor runtime; readers are cancel safe; nothing is opened before `start`.

pub mod codes;
pub mod formats;

mod blackhole;
mod datagen;
mod declared;
mod filesystem;
mod jdbc;
pub mod kafka;
mod not_runnable;
mod print;
mod upsert_kafka;

use base::connector::ConnectorRegistry;
use std::sync::Arc;

/// Adds every connector of this build.
pub fn register(registry: &mut ConnectorRegistry) {
    registry.register(Arc::new(filesystem::Filesystem));
    registry.register(Arc::new(datagen::Datagen::generator()));
    registry.register(Arc::new(datagen::Datagen::faker()));
    registry.register(Arc::new(print::Print));
    registry.register(Arc::new(blackhole::Blackhole));
    registry.register(Arc::new(kafka::Kafka));
    registry.register(Arc::new(upsert_kafka::UpsertKafka));
    registry.register(Arc::new(jdbc::Jdbc));
}

#[cfg(test)]
mod testing;

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
