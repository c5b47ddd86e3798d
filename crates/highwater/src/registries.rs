//! Which connectors, formats and engines this program has: the only place that wires them.

use base::Warnings;
use base::clock::{Clock, SystemClock};
use base::connector::ConnectorRegistry;
use base::format::FormatRegistry;
use planner::{Environment, ResultSinkFactory, Session};
use std::sync::Arc;

/// What a session needs to know of the outside, with `results` for the changelogs of SELECT statements.
fn environment(results: Arc<dyn ResultSinkFactory>, warnings: Warnings) -> Environment {
    let mut connectors = ConnectorRegistry::default();
    connectors::register(&mut connectors);
    let mut formats = FormatRegistry::default();
    connectors::formats::register(&mut formats);
    Environment { connectors: Arc::new(connectors), formats: Arc::new(formats), clock: clock(), warnings, results }
}

/// A session of this program.
pub fn session(results: Arc<dyn ResultSinkFactory>, warnings: Warnings) -> Session {
    Session::new(environment(results, warnings)).with_batch(Arc::new(batch::DataFusionEngine))
}

/// The clock of this program.
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}
