//! Tests of option parsing and validation.

use super::*;

const PATH: OptionSpec =
    OptionSpec { key: "path", kind: OptionKind::Text, default: None, required: true, en: "where", zh: "位置" };
const KIND: OptionSpec = OptionSpec {
    key: "fields.#.kind",
    kind: OptionKind::OneOf(&["random", "sequence"]),
    default: Some("random"),
    required: false,
    en: "kind",
    zh: "种类",
};
const ANY: OptionSpec =
    OptionSpec { key: "properties.*", kind: OptionKind::Text, default: None, required: false, en: "any", zh: "任意" };

fn options(pairs: &[(&str, &str)]) -> Options {
    pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

#[test]
fn patterns_match_keys() {
    assert!(KIND.matches("fields.a.kind") && !KIND.matches("fields..kind") && !KIND.matches("fields.a.king"));
    assert!(ANY.matches("properties.bootstrap.servers") && !ANY.matches("properties."));
}

#[test]
fn all_problems_are_reported_at_once() {
    let error = options(&[("pth", "x"), ("fields.a.kind", "sequenze")])
        .validate(&[&PATH, &KIND, &ANY], "connector 'x'")
        .expect_err("three problems");
    let text = error.to_string();
    for part in [
        "unknown option 'pth'",
        "did you mean 'path'",
        "does not take 'sequenze'",
        "'path' of connector 'x' is missing",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn time_spans_and_memory_have_flinks_forms() {
    assert_eq!(parse_duration("5 s"), Some(Duration::from_secs(5)));
    assert_eq!(parse_duration("1min"), Some(Duration::from_secs(60)));
    assert_eq!(parse_duration("250"), Some(Duration::from_millis(250)));
    assert_eq!(parse_duration("5 parsecs"), None);
    assert_eq!(parse_memory("64 mb"), Some(64 << 20));
    assert_eq!(parse_memory("x"), None);
}
