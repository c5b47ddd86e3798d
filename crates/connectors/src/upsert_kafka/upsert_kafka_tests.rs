//! Declaring upsert-kafka tables.

use crate::testing::{connector, context, message, table};
use base::ChangelogMode;
use base::connector::SinkInput;

fn orders() -> base::TableDefinition {
    table(
        "order_id BIGINT | name STRING",
        &[
            ("connector", "upsert-kafka"),
            ("topic", "orders"),
            ("properties.bootstrap.servers", "b:1"),
            ("key.format", "line"),
            ("value.format", "line"),
        ],
    )
}

#[test]
fn is_an_upsert_table_with_a_key() {
    let mut orders = orders();
    let error = message(connector("upsert-kafka").describe(&orders, &context()));
    assert!(error.contains("connector 'upsert-kafka' needs a primary key"), "{error}");
    orders.primary_key = vec!["order_id".into()];
    let description = connector("upsert-kafka").describe(&orders, &context()).unwrap();
    assert_eq!(description.source.unwrap().changelog, ChangelogMode::UPSERT);
    assert_eq!(description.sink.unwrap().input, SinkInput::Upsert);
}

#[test]
fn all_problems_come_at_once() {
    let mut orders = orders();
    orders.options.remove("key.format");
    orders.options.set("scan.startup.mode", "earliest-offset");
    let error = message(connector("upsert-kafka").describe(&orders, &context()));
    for part in ["primary key", "'key.format'", "scan.startup.mode", "always reads from the beginning"] {
        assert!(error.contains(part), "{part} in {error}");
    }
}
