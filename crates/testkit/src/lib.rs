//! What the tests of Highwater need: the oracle runner with its replay connector, real services, scenarios, and `tidy`.
//!
//! Only tests use this crate; it may see every other one.

pub mod bench;
pub mod bench_checkpoints;
pub mod bench_kafka;
pub mod bench_memory;
pub mod bench_planning;
pub mod bench_state;
pub mod bench_windows;
pub mod child;
pub mod crash;
pub mod diff;
pub mod docs;
pub mod docs_functions;
pub mod fuzz;
pub mod oracle;
pub mod play;
pub mod services;
pub mod tidy;
pub mod time;

/// Every error code of the libraries, for the catalogue's test.
pub fn codes() -> Vec<&'static base::ErrorCode> {
    let mut codes = [
        base::CODES,
        functions::CODES,
        state::codes::CODES,
        connectors::codes::CODES,
        connectors::formats::codes::CODES,
        connectors::kafka::codes::CODES,
        runtime::codes::CODES,
        savepoint::codes::CODES,
        runtime::operators::codes::CODES,
        batch::codes::CODES,
    ]
    .concat();
    codes.extend(planner::error_codes());
    codes
}

/// The connectors and formats of the program.
pub fn registries() -> (base::connector::ConnectorRegistry, base::format::FormatRegistry) {
    let mut connectors = base::connector::ConnectorRegistry::default();
    connectors::register(&mut connectors);
    let mut formats = base::format::FormatRegistry::default();
    connectors::formats::register(&mut formats);
    (connectors, formats)
}
