//! What a store says, as an error for people. The store itself is met in the program's tests.

use super::*;

fn said(status: u16, body: &str) -> Error {
    let source = format!(
        "Error performing PUT http://store/bucket/key in 1ms - Server returned non-2xx status code: {status} Xyz: {body}"
    );
    told("write", "s3://bucket/key", &object_store::Error::Generic { store: "S3", source: source.into() })
}

fn bucket(access: S3Access) -> Bucket {
    Bucket { name: "bucket".into(), prefix: "a/b".into(), access }
}

#[test]
fn answers_tell_what_can_pass_from_what_cannot() {
    let body = |code: &str| format!("<Error><Code>{code}</Code><Message>some words</Message></Error>");
    for (status, code, expected, passes) in [
        (403, "SignatureDoesNotMatch", "HW-X107", false),
        (400, "InvalidRequest", "HW-X107", false),
        (404, "NoSuchBucket", "HW-X108", false),
        (404, "NoSuchKey", "HW-I010", false),
        (503, "SlowDown", "HW-X106", true),
        (500, "InternalError", "HW-X106", true),
        (501, "NotImplemented", "HW-X107", false),
        (409, "ConditionalRequestConflict", "HW-X106", true),
    ] {
        let error = said(status, &body(code));
        assert_eq!((error.code(), error.is_retryable()), (expected, passes), "{status} {code}");
        if status != 404 {
            assert_eq!(error.argument("cause"), Some(format!("{code}: some words").as_str()));
        }
    }
    assert_eq!(said(502, "<html>").argument("cause"), Some("it answered with status 502"));
}

#[test]
fn a_place_has_an_address_for_people() {
    let storage = ObjectStorage::connect(&bucket(S3Access::default())).expect("nothing is asked");
    assert_eq!(storage.address(""), "s3://bucket/a/b");
    assert_eq!(storage.below("作业").address("x"), "s3://bucket/a/b/作业/x");
}

#[test]
fn half_of_the_keys_is_refused() {
    let access = S3Access { access_key: Some("key".into()), ..S3Access::default() };
    let error = ObjectStorage::connect(&bucket(access)).expect_err("one key");
    assert_eq!(error.code(), "HW-X107");
    assert!(error.argument("cause").is_some_and(|cause| cause.contains("s3.secret-key")), "{error}");
}

#[test]
fn the_bucket_is_in_the_path_or_in_the_host_name() {
    let endpoint = |endpoint: &str, path_style| {
        let access = S3Access { endpoint: Some(endpoint.into()), path_style, ..S3Access::default() };
        builder(&bucket(access))
            .expect("a builder")
            .get_config_value(&AmazonS3ConfigKey::S3Endpoint)
            .expect("an endpoint")
    };
    assert_eq!(endpoint("http://store:9000/", None), "http://store:9000");
    assert_eq!(endpoint("store.example", Some(true)), "https://store.example");
    assert_eq!(endpoint("https://oss.example", Some(false)), "https://bucket.oss.example");
}
