//! The JSON parser, paths and clauses.

use super::clause::{Behaviour, Clause, Wrapper};
use super::path::{BadPath, Found, Path};
use super::value::Json;

#[test]
fn text_comes_out_as_it_went_in() {
    for text in [r#"{"a":[1,2.50,0,null,true],"b":{"c":"x\"y\\"}}"#, "[]", "{}", r#""é""#, "12345678901234567890"] {
        assert_eq!(Json::parse(text).unwrap().to_json(), text);
    }
    let numbers =
        [("1e3", "1E+3"), ("1.50", "1.50"), ("1E-7", "1E-7"), ("0.00", "0.00"), ("12e-1", "1.2"), ("-0.5", "-0.5")];
    for (text, expected) in numbers {
        assert_eq!(Json::parse(text).unwrap().to_json(), expected);
    }
    assert_eq!(Json::parse(r#""\u00e9\ud83d\ude00""#).unwrap(), Json::Text("é😀".into()));
    assert_eq!(Json::parse(r#"{"a":1,"a":2}"#).unwrap().to_json(), r#"{"a":2}"#);
}

#[test]
fn bad_json_is_refused() {
    let deep = "[".repeat(100_000);
    for text in
        ["", "{", "[1,]", "01", "1.", "tru", "\"a", "{a:1}", "1x", "truex", r#""\x""#, r#""\u12"#, "\"\u{1}\"", &deep]
    {
        assert!(Json::parse(text).is_err(), "{text:.20}");
    }
}

fn found(path: &str, json: &str) -> String {
    let json = Json::parse(json).unwrap();
    let path = match Path::parse(path) {
        Ok(path) => path,
        Err(BadPath::Unsupported(_)) => return "unsupported".into(),
        Err(BadPath::Invalid(why)) => return why,
    };
    match path.find(&json) {
        Ok(Found::One(json)) => json.to_json(),
        Ok(Found::Made(json)) => json.to_json(),
        Ok(Found::Many(values)) => Json::Array(values.into_iter().cloned().collect()).to_json(),
        Ok(Found::Nothing) => "nothing".into(),
        Err(_) => "error".into(),
    }
}

#[test]
fn paths() {
    let json = r#"{"a":{"b c":[10,20,{"x":1}]},"x":2}"#;
    let cases = [
        ("$.a['b c'][0]", "10"),
        ("lax $.a['b c'][-1].x", "1"),
        ("a[\"b c\"][1]", "20"),
        ("$.a.zzz", "error"),
        ("lax $.a.zzz.y", "nothing"),
        ("$.a['b c'][*]", r#"[10,20,{"x":1}]"#),
        ("$..x", "[2,1]"),
        ("$.x[0]", "error"),
        ("$.a['b c'][0,2].x", "[1]"),
        ("$.a['b c'][1:]", r#"[20,{"x":1}]"#),
        ("$.a['b c'][-2:-1]", "[20]"),
        ("$['x','a'].length()", "unsupported"),
        ("$['x']", "2"),
        ("$.a['b c'].length()", "3"),
        ("$.a['b c'][?(@.x)]", "unsupported"),
    ];
    for (path, expected) in cases {
        assert_eq!(found(path, json), expected, "{path}");
    }
    for path in ["", "$.", "$[", "$[?(@.x)]", "$x"] {
        assert!(Path::parse(path).is_err(), "{path}");
    }
}

#[test]
fn clauses() {
    let clause = Clause::parse("RETURNING DECIMAL(10, 2) DEFAULT '0''s' ON EMPTY ERROR ON ERROR").unwrap();
    assert_eq!(clause.returning.unwrap().to_string(), "DECIMAL(10, 2)");
    assert_eq!(clause.on_empty, Some(Behaviour::Default("0's".into())));
    assert_eq!(clause.on_error, Some(Behaviour::Error));
    let clause = Clause::parse("returning array<string> with conditional array wrapper empty array on empty").unwrap();
    assert_eq!(clause.returning.unwrap().to_string(), "ARRAY<STRING>");
    assert_eq!((clause.wrapper, clause.on_empty), (Wrapper::Conditional, Some(Behaviour::EmptyArray)));
    let clause = Clause::parse("ABSENT ON NULL FORMAT JSON 1 3").unwrap();
    assert_eq!((clause.absent_on_null, clause.json_arguments), (Some(true), vec![1, 3]));
    assert!(Clause::parse("RETURNING NOPE").is_err() && Clause::parse("ERROR ON MONDAY").is_err());
}

/// As Java reads: the first value counts, and a number or a word ends at a space.
#[test]
fn what_follows_a_value_is_not_read() {
    for text in ["1 2", "{\"a\":1}x", "[1]]", "true, false"] {
        assert!(Json::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn objects_are_written_by_name_and_zero_has_no_sign() {
    assert_eq!(Json::parse(r#"{"b":-0,"a":-0.0}"#).unwrap().to_json(), r#"{"a":0.0,"b":0}"#);
    assert!(Json::parse_unique(r#"{"a":1,"b":{"a":1}}"#).is_ok());
    assert!(Json::parse_unique(r#"{"a":1,"a":1}"#).is_err());
}
