//! Properties in the Java client's words become those of librdkafka.

use super::*;
use crate::testing::table;

fn settings(properties: &[(&str, &str)]) -> Result<ClientSettings> {
    let mut options = vec![("properties.bootstrap.servers", "b:1")];
    options.extend(properties);
    ClientSettings::new(&table("a INT", &options))
}

fn value(config: &ClientConfig, key: &str) -> Option<String> {
    config.get(key).map(str::to_string)
}

#[test]
fn java_names_are_translated_and_kept_from_the_other_role() {
    let settings = settings(&[
        ("properties.fetch.max.wait.ms", "7"),
        ("properties.max.request.size", "2000000"),
        ("properties.buffer.memory", "33554432"),
        ("properties.linger.ms", "20"),
        ("properties.group.id", "g"),
        ("properties.auto.offset.reset", "latest"),
        ("properties.enable.auto.commit", "true"),
    ])
    .unwrap();
    settings.check().unwrap();
    let (reads, writes) = (settings.config(Role::Consumer), settings.config(Role::Producer));
    assert_eq!(value(&reads, "fetch.wait.max.ms").as_deref(), Some("7"));
    assert_eq!(value(&writes, "message.max.bytes").as_deref(), Some("2000000"));
    assert_eq!(value(&writes, "queue.buffering.max.kbytes").as_deref(), Some("32768"));
    assert_eq!((value(&writes, "linger.ms").as_deref(), value(&reads, "linger.ms")), (Some("20"), None));
    assert_eq!((value(&reads, "group.id").as_deref(), value(&writes, "group.id")), (Some("g"), None));
    // A position is never guessed, whatever the table says.
    assert_eq!(value(&reads, "auto.offset.reset").as_deref(), Some("error"));
    assert_eq!(value(&reads, "enable.auto.commit").as_deref(), Some("false"));
    let warnings = settings.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].to_string().contains("properties.enable.auto.commit"), "{}", warnings[0]);
}

#[test]
fn writing_is_idempotent_unless_less_is_asked_for() {
    let idempotence = |properties: &[(&str, &str)]| {
        value(&settings(properties).unwrap().config(Role::Producer), "enable.idempotence")
    };
    assert_eq!(idempotence(&[]).as_deref(), Some("true"));
    assert_eq!(idempotence(&[("properties.acks", "all")]).as_deref(), Some("true"));
    assert_eq!(idempotence(&[("properties.acks", "1")]).as_deref(), Some("false"));
}

#[test]
fn a_jaas_login_becomes_user_and_password() {
    let config = "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"ann\" password='s;c\"r';";
    let settings = settings(&[("properties.sasl.jaas.config", config)]).unwrap();
    assert_eq!(settings.user, "ann");
    assert_eq!(settings.property("sasl.password"), Some("s;c\"r"));
    let error = super::tests::settings(&[("properties.sasl.jaas.config", "required username=ann secret")]).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn what_the_client_does_not_take_is_refused_by_name() {
    for (key, value) in [
        ("properties.lingr.ms", "5"),
        ("properties.acks", "perhaps"),
        ("properties.security.protocol", "SSL"),
        ("properties.sasl.mechanism", "SCRAM-SHA-256"),
    ] {
        let error = settings(&[(key, value)]).unwrap().check().unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(value), "{error}");
    }
}
