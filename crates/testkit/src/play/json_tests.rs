//! What the comparison calls equal, and what it does not.

use super::*;

fn canonical(text: &str) -> String {
    Json::parse(text).expect("JSON").canonical()
}

#[test]
fn numbers_are_exact_decimals() {
    for (text, expected) in [
        ("12.5", "12.5"),
        ("12.50", "12.5"),
        ("1.25E1", "12.5"),
        ("125e-1", "12.5"),
        ("-0.0", "0"),
        ("0", "0"),
        ("100", "100"),
        ("1e2", "100"),
        ("0.001", "0.001"),
        ("-1e-3", "-0.001"),
        ("250240.64", "250240.64"),
        ("12345678901234567890.123456789", "12345678901234567890.123456789"),
        ("1e300", "1E300"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
    assert_ne!(canonical("0.1"), canonical("0.10000000000000000001"));
    assert_ne!(canonical("1"), canonical("\"1\""));
}

#[test]
fn timestamps_have_one_form() {
    for text in ["2024-11-20 15:01:00", "2024-11-20T15:01:00.000", "2024-11-20T15:01", "2024-11-20 15:01:00.0"] {
        assert_eq!(canonical(&format!("\"{text}\"")), "@2024-11-20 15:01:00");
    }
    assert_eq!(canonical("\"2024-11-20 15:01:00.50\""), "@2024-11-20 15:01:00.5");
    assert_eq!(canonical("\"2024-11-20\""), "\"2024-11-20\"");
}

#[test]
fn the_order_of_fields_is_free_and_kept_in_compact_form() {
    let value = Json::parse(r#" {"b": [1.50, null, true], "a": {"ü\n\"": "x"}} "#).expect("JSON");
    assert_eq!(value.compact(), r#"{"b":[1.50,null,true],"a":{"ü\n\"":"x"}}"#);
    assert_eq!(value.canonical(), r#"{"a":{"ü\n\"":"x"},"b":[1.5,null,true]}"#);
    assert_eq!(value.without(&["a".into()]).compact(), r#"{"b":[1.50,null,true]}"#);
}

#[test]
fn what_is_no_json_is_refused() {
    for text in ["", "{", "[1,]", "{\"a\" 1}", "\"open", "\"open\\", "1 2", "01", "nul", "{not json", "1e", "ü"] {
        assert!(Json::parse(text).is_err(), "{text}");
    }
    assert!(Json::parse(&"[".repeat(100_000)).is_err());
}
