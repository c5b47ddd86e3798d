//! Which connectors and formats this program has: the only place that wires them.

use base::Warnings;
use base::clock::{Clock, SystemClock};
use base::connector::ConnectorRegistry;
use base::format::FormatRegistry;
use planner::{Environment, ResultSinkFactory};
use std::sync::Arc;

/// What a session needs to know of the outside, with `results` for the changelogs of SELECT statements.
pub fn environment(results: Arc<dyn ResultSinkFactory>, warnings: Warnings) -> Environment {
    let mut connectors = ConnectorRegistry::default();
    connectors::register(&mut connectors);
    let mut formats = FormatRegistry::default();
    connectors::formats::register(&mut formats);
    Environment { connectors: Arc::new(connectors), formats: Arc::new(formats), clock: clock(), warnings, results }
}

/// The clock of this program.
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}
