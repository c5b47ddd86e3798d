//! Addresses of checkpoints, and options of stores.

use super::*;

fn dir(pairs: &[(&str, &str)]) -> Result<Option<CheckpointDir>> {
    CheckpointDir::from_options(&pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect())
}

fn at(address: &str) -> Result<String> {
    CheckpointDir::parse(address, S3Access::default()).map(|dir| dir.to_string())
}

#[test]
fn addresses_are_read_as_flink_spells_them() {
    for (address, meant) in [
        ("/data/ck", "/data/ck"),
        ("file:///data/ck", "/data/ck"),
        ("file:/data/ck", "/data/ck"),
        ("s3://bucket/ck", "s3://bucket/ck"),
        ("s3a://bucket/a//b/", "s3://bucket/a/b"),
        ("S3P://my.bucket", "s3://my.bucket"),
        ("s3://bucket/作业/ck", "s3://bucket/作业/ck"),
    ] {
        assert_eq!(at(address).expect(address), meant);
    }
}

#[test]
fn other_addresses_are_refused() {
    for address in
        ["oss://bucket/ck", "hdfs:///ck", "s3:///ck", "s3://host:9000/bucket", "s3://bucket/../ck", "gs://b/c"]
    {
        let error = at(address).expect_err(address);
        assert_eq!((error.code(), error.argument("address")), ("HW-X105", Some(address)));
    }
    let error = at("s3://key:geheim@bucket/ck").expect_err("no credentials in an address");
    assert_eq!(error.argument("address"), Some("s3://***"));
}

#[test]
fn options_of_a_store_are_read_and_its_secret_is_never_shown() {
    let pairs = [
        ("state.checkpoints.dir", "s3://bucket/ck"),
        ("s3.endpoint", "http://127.0.0.1:9000"),
        ("s3.access-key", "key"),
        ("s3.secret-key", "geheim"),
        ("s3.endpoint.region", "eu-central-1"),
        ("s3.path-style-access", "false"),
    ];
    let dir = dir(&pairs).expect("read").expect("a place");
    let CheckpointDir::Bucket(bucket) = &dir else { panic!("{dir:?}") };
    let access = &bucket.access;
    assert_eq!(access.endpoint.as_deref(), Some("http://127.0.0.1:9000"));
    assert_eq!((access.access_key.as_deref(), access.secret_key.as_deref()), (Some("key"), Some("geheim")));
    assert_eq!((access.region.as_deref(), access.path_style), (Some("eu-central-1"), Some(false)));
    assert!(!format!("{dir:?} {dir}").contains("geheim"));
}
