//! Telling the user when the brokers of a table are away, once, and when they are back.

use super::codes;
use super::table::KafkaTable;
use base::Error;
use std::sync::Arc;
use tokio::time::Instant;

/// Whether the brokers of a table answer one of its clients.
#[derive(Debug)]
pub(super) struct Outage {
    table: Arc<KafkaTable>,
    since: Option<Instant>,
}

impl Outage {
    /// The brokers answer.
    pub fn new(table: Arc<KafkaTable>) -> Outage {
        Outage { table, since: None }
    }

    /// They do not answer; said once.
    pub fn begin(&mut self, cause: impl FnOnce() -> String) {
        if self.since.is_some() {
            return;
        }
        self.since = Some(Instant::now());
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("table", &self.table.name), ("servers", &self.table.settings.servers), ("cause", &cause())];
        self.table.warnings.send(Error::new(&codes::BROKER_AWAY, &arguments));
    }

    /// They answer.
    pub fn end(&mut self) {
        let Some(since) = self.since.take() else { return };
        let seconds = since.elapsed().as_secs();
        let arguments: [(&'static str, &dyn std::fmt::Display); 2] =
            [("table", &self.table.name), ("seconds", &seconds)];
        self.table.warnings.send(Error::new(&codes::BROKER_BACK, &arguments));
    }
}
