//! Declaring kafka tables: what is accepted, what is refused and how, and that running says what is missing.

use crate::testing::{connector, context, message, table};
use base::connector::SinkInput;

const MINIMAL: [(&str, &str); 4] =
    [("connector", "kafka"), ("topic", "orders"), ("properties.bootstrap.servers", "b:1"), ("format", "line")];

fn with(more: &[(&str, &str)]) -> base::TableDefinition {
    table("user_id BIGINT | name STRING", &[&MINIMAL, more].concat())
}

#[test]
fn describes_without_a_broker() {
    let kafka = connector("kafka");
    let description = kafka
        .describe(
            &with(&[("scan.startup.mode", "earliest-offset"), ("line.upper", "true"), ("properties.acks", "all")]),
            &context(),
        )
        .unwrap();
    let source = description.source.unwrap();
    assert!(source.changelog.is_append_only() && !source.bounded && source.replayable);
    let keys: Vec<&str> = source.metadata.iter().map(|column| column.key.as_str()).collect();
    assert_eq!(
        keys,
        ["topic", "partition", "headers", "leader-epoch", "offset", "timestamp", "timestamp-type", "value.length"]
    );
    assert_eq!(description.sink.unwrap().input, SinkInput::Append);
}

#[test]
fn options_of_prefixed_formats_are_checked() {
    let mut prefixed = with(&[("value.format", "line"), ("value.line.upper", "true"), ("key.format", "line")]);
    prefixed.options.remove("format");
    prefixed.options.set("key.fields", "user_id");
    prefixed.options.set("key.line.upper", "false");
    assert!(connector("kafka").describe(&prefixed, &context()).is_ok());
    prefixed.options.set("value.line.uper", "true");
    let error = message(connector("kafka").describe(&prefixed, &context()));
    assert!(error.contains("line.uper") && error.contains("'line.upper'"), "{error}");
}

#[test]
fn refuses_what_does_not_go_together() {
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: [Case; 8] = [
        (&[("topic-pattern", "o.*")], &["'topic'", "'topic-pattern'"]),
        (&[("value.format", "line")], &["'format'", "'value.format'"]),
        (&[("key.format", "line")], &["'key.fields'"]),
        (&[("key.fields", "user")], &["'key.format'", "unknown column 'user'", "'user_id'"]),
        (&[("scan.startup.mode", "timestamp")], &["scan.startup.timestamp-millis"]),
        (&[("scan.startup.specific-offsets", "partition:0,offset:x")], &["partition:0,offset:42"]),
        (&[("sink.delivery-guarantee", "exactly-once")], &["sink.transactional-id-prefix"]),
        (&[("scan.startup.mod", "x")], &["'scan.startup.mode'"]),
    ];
    for (options, parts) in cases {
        let error = message(connector("kafka").describe(&with(options), &context()));
        for part in parts {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
    let mut bare = with(&[]);
    for key in ["topic", "format", "properties.bootstrap.servers"] {
        bare.options.remove(key);
    }
    let error = message(connector("kafka").describe(&bare, &context()));
    assert!(error.contains("'properties.bootstrap.servers' of connector 'kafka' is missing"), "{error}");
}
