//! Declaring jdbc tables.

use crate::testing::{connector, context, message, table};
use base::connector::SinkInput;

#[test]
fn the_primary_key_makes_an_upsert_sink() {
    let options = [("connector", "jdbc"), ("url", "jdbc:mysql://h:3306/rt_dw"), ("table-name", "dim_user")];
    let mut users = table("user_id BIGINT | user_name STRING", &options);
    let input =
        |users: &base::TableDefinition| connector("jdbc").describe(users, &context()).unwrap().sink.unwrap().input;
    assert_eq!(input(&users), SinkInput::Append);
    users.primary_key = vec!["user_id".into()];
    assert_eq!(input(&users), SinkInput::Upsert);
}

#[test]
fn wrong_options_are_named() {
    let wrong = table(
        "user_id BIGINT",
        &[("connector", "jdbc"), ("url", "mysql://h/d"), ("table-name", "t"), ("username", "u")],
    );
    let error = message(connector("jdbc").describe(&wrong, &context()));
    assert!(error.contains("jdbc:mysql://host:port/database") && error.contains("'password'"), "{error}");
    let typo = table(
        "user_id BIGINT",
        &[
            ("connector", "jdbc"),
            ("url", "jdbc:mysql://h/d"),
            ("table-name", "t"),
            ("sink.buffer-flush.interval-ms", "5000"),
        ],
    );
    let error = message(connector("jdbc").describe(&typo, &context()));
    assert!(error.contains("'sink.buffer-flush.interval'"), "{error}");
}
