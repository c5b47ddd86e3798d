//! Tests of the CSV format. Expected texts and values come from Flink.

use super::*;
use crate::formats::json::Json;
use crate::formats::support::{self, *};
use base::format::Records;
use rand::RngExt;

/// Rows written as JSON.
fn rows(fields: &str, lines: &[&str]) -> base::ChangelogBatch {
    support::decode(&Json, fields, &[], lines).expect("JSON").batch
}

fn written(fields: &str, pairs: &[(&str, &str)], lines: &[&str]) -> Vec<String> {
    support::encode(&Csv, &row_type(fields), pairs, &rows(fields, lines))
}

fn read(fields: &str, pairs: &[(&str, &str)], lines: &[&str]) -> Vec<String> {
    let decoded = support::decode(&Csv, fields, pairs, lines).expect("decoded");
    support::encode(&Json, &row_type(fields), &[], &decoded.batch)
}

const O1: &str = "id INT, s STRING, d DECIMAL(10, 2), b BOOLEAN, t3 TIMESTAMP(3), z3 TIMESTAMP_LTZ(3), dt DATE, f DOUBLE, \
    by1 BYTES, arr ARRAY<INT>";

const O1_ROWS: [&str; 5] = [
    r#"{"id":1,"s":"plain","d":1.5,"b":true,"t3":"2024-01-02 03:04:05.12","z3":"2024-01-02 03:04:05.12Z","dt":"2024-01-02","f":0.1,"by1":"YWI=","arr":[1,2]}"#,
    r#"{"id":2,"s":"a,b \"q\" é","d":1E+2,"b":false,"t3":"2024-01-02 03:04:05","z3":"1970-01-01 00:00:00Z","dt":"2024-01-02","f":1.0E7,"by1":"","arr":[3]}"#,
    r#"{"id":null,"s":null,"d":null,"b":null,"t3":null,"z3":null,"dt":null,"f":null,"by1":null,"arr":null}"#,
    r#"{"id":4,"s":"","d":0,"b":false,"t3":"2024-01-02 03:04:05","z3":"1970-01-01 00:00:00Z","dt":"2024-01-02","f":0.0,"by1":"AA==","arr":[1]}"#,
    r#"{"id":5,"s":" sp ","d":0,"b":false,"t3":"2024-01-02 03:04:05","z3":"1970-01-01 00:00:00Z","dt":"2024-01-02","f":0.0,"by1":"AA==","arr":[1]}"#,
];

#[test]
fn every_type_is_written_as_by_flink() {
    let expected = [
        r#"1,plain,1.5,true,"2024-01-02 03:04:05.12","2024-01-02 03:04:05.12Z",2024-01-02,0.1,YWI=,1;2"#,
        r#"2,"a,b ""q"" é",1E+2,false,"2024-01-02 03:04:05","1970-01-01 00:00:00Z",2024-01-02,1.0E7,,3"#,
        ",,,,,,,,,",
        r#"4,,0,false,"2024-01-02 03:04:05","1970-01-01 00:00:00Z",2024-01-02,0.0,AA==,1"#,
        r#"5," sp ",0,false,"2024-01-02 03:04:05","1970-01-01 00:00:00Z",2024-01-02,0.0,AA==,1"#,
    ];
    assert_eq!(written(O1, &[], &O1_ROWS), expected);
    // All but the row of NULLs come back.
    let back = read(O1, &[], &[expected[0], expected[1], expected[3], expected[4]]);
    assert_eq!(back, [O1_ROWS[0], O1_ROWS[1], O1_ROWS[3], O1_ROWS[4]]);
}

#[test]
fn options_are_written_as_by_flink() {
    let pairs = [("csv.field-delimiter", "|"), ("csv.null-literal", "NULL"), ("csv.quote-character", "'")];
    let fields = "id INT, s STRING, n STRING";
    let rows = [r#"{"id":1,"s":"a|b","n":null}"#, r#"{"id":2,"s":"it's","n":"x"}"#];
    let lines = ["1|'a|b'|NULL", "2|'it''s'|'x'"];
    assert_eq!(written(fields, &pairs, &rows), lines);
    assert_eq!(read(fields, &pairs, &lines), rows);
    let plain = [("csv.write-bigdecimal-in-scientific-notation", "false")];
    assert_eq!(written("d DECIMAL(10, 2)", &plain, &[r#"{"d":100}"#, r#"{"d":1.50}"#]), ["100", "1.5"]);
    let long = "0123456789012345678901234";
    let row = format!("{{\"s\":\"{long}\"}}");
    assert_eq!(written("s STRING", &[], &[&row]), [format!("\"{long}\"")]);
}

const IN_CSV: [&str; 5] = ["1,plain,1.5", "2,\"quoted, \"\"x\"\"\",2", "3,,", "4, spaced ,4", "5,\"\",5"];

#[test]
fn an_empty_field_is_an_empty_string_and_no_number() {
    let fields = "id INT, s STRING, d DOUBLE";
    let failure = support::decode(&Csv, fields, &[], &IN_CSV).expect_err("a failure");
    assert_eq!((failure.record, failure.before.batch.num_rows()), (2, 2));
    assert_eq!((failure.error.code(), failure.error.argument("column")), ("HW-F002", Some("d")));
    let ignore = [("csv.ignore-parse-errors", "true"), ("csv.allow-comments", "true")];
    let expected = [
        r#"{"id":1,"s":"plain","d":1.5}"#,
        r#"{"id":2,"s":"quoted, \"x\"","d":2.0}"#,
        r#"{"id":3,"s":"","d":null}"#,
        r#"{"id":4,"s":" spaced ","d":4.0}"#,
        r#"{"id":5,"s":"","d":5.0}"#,
    ];
    assert_eq!(read(fields, &ignore, &IN_CSV), expected);
    assert_eq!(read(fields, &ignore, &["#1,x,1", "", "1,plain,1.5"]), expected[..1]);
    let literal = [("csv.null-literal", "n/a")];
    let expected = [r#"{"id":1,"s":null}"#, r#"{"id":2,"s":"x"}"#, r#"{"id":3,"s":""}"#];
    assert_eq!(read("id INT, s STRING", &literal, &["1,n/a", "2,x", "3,\"\""]), expected);
}

#[test]
fn fields_must_be_as_many_as_columns() {
    for line in ["1", "1,2,3"] {
        let failure = support::decode(&Csv, "a INT, b INT", &[], &[line]).expect_err("a failure");
        assert_eq!(failure.error.code(), "HW-F008");
    }
    let ignore = [("csv.ignore-parse-errors", "true")];
    let decoded = support::decode(&Csv, "a INT, b INT", &ignore, &["1", "1,2,3", "4,5"]).expect("decoded");
    assert_eq!(decoded.batch.num_rows(), 2);
    assert_eq!(decoded.rejected.len(), 1);
    assert_eq!(decoded.records, Some(vec![0, 2]));
}

#[test]
fn quotes_and_escapes() {
    let fields = "a STRING, b STRING";
    let expected = [r#"{"a":"x\"y","b":"z"}"#];
    assert_eq!(read(fields, &[], &["\"x\"\"y\"  ,z"]), expected);
    assert_eq!(read(fields, &[("csv.escape-character", "\\")], &["\"x\\\"y\",\\z"]), expected);
    assert_eq!(read(fields, &[("csv.disable-quote-character", "true")], &["x\"y,z"]), expected);
    assert_eq!(read(fields, &[("csv.field-delimiter", "\\t")], &["x\"y\tz"]), expected);
    assert_eq!(read(fields, &[], &["x\"y,z\r"]), expected);
    for line in ["\"x,y", "\"x\"y,z"] {
        let failure = support::decode(&Csv, fields, &[], &[line]).expect_err("a failure");
        assert_eq!(failure.error.code(), "HW-F001", "{line}");
    }
    for pair in [("csv.field-delimiter", ",,"), ("csv.field-delimiter", "\n"), ("csv.quote-character", "é")] {
        assert_eq!(Csv.describe(&options(&[pair])).expect_err("refused").code(), "HW-C003");
    }
}

#[test]
fn nested_values_and_projection() {
    let fields = "r ROW<a INT, b STRING>, l ARRAY<STRING>";
    let rows = [r#"{"r":{"a":1,"b":"x"},"l":["p","q"]}"#];
    assert_eq!(written(fields, &[("csv.array-element-delimiter", "::")], &rows), ["1::x,p::q"]);
    assert_eq!(read(fields, &[("csv.array-element-delimiter", "::")], &["1::x,p::q"]), rows);
    assert_eq!(decoder(&Csv, &row_type("m MAP<STRING, INT>"), &[]).expect_err("refused").code(), "HW-F007");

    let table = row_type("a INT, b INT, c STRING");
    let spec = base::format::DecodeSpec {
        columns: table.project(&[2, 0]),
        metadata: Vec::new(),
        table: table.clone(),
        time_zone: chrono_tz::Tz::UTC,
    };
    let mut decoder = Csv.decoder(&Options::default(), &spec).expect("decoder");
    let decoded = decoder.decode(&records(&["1,no number,x"])).expect("decoded");
    assert_eq!(support::encode(&Json, &spec.columns, &[], &decoded.batch), [r#"{"c":"x","a":1}"#]);
}

#[test]
fn random_rows_come_back() {
    let fields = "b BOOLEAN, ti TINYINT, l BIGINT, f FLOAT, d DOUBLE, dec1 DECIMAL(10, 2), dec2 DECIMAL(38, 18), s STRING, \
        by1 BYTES, dt DATE, tm TIME(3), t3 TIMESTAMP(3), t9 TIMESTAMP(9), z6 TIMESTAMP_LTZ(6)";
    let columns = row_type(fields);
    let mut rng = rng();
    for pairs in [
        vec![("csv.null-literal", "\u{1}N")],
        vec![("csv.null-literal", "NULL"), ("csv.field-delimiter", "|"), ("csv.escape-character", "\\")],
        vec![("csv.null-literal", "NULL"), ("csv.quote-character", "'"), ("csv.field-delimiter", "\\t")],
    ] {
        let batch = random_batch(&columns, 300, &mut rng);
        let mut lines = Records::default();
        encoder(&Csv, &columns, &pairs).encode(&batch, &mut lines).expect("encoded");
        let decoded = decoder(&Csv, &columns, &pairs).expect("decoder").decode(&lines).expect("decoded");
        assert_eq!(decoded.batch, batch);
    }
}

#[test]
fn broken_records_never_panic() {
    let columns = row_type(O1);
    let mut rng = rng();
    let lines = written(O1, &[], &O1_ROWS);
    let pairs = [("csv.ignore-parse-errors", "true"), ("csv.escape-character", "\\")];
    let mut lenient = decoder(&Csv, &columns, &pairs).expect("decoder");
    let mut strict = decoder(&Csv, &columns, &[]).expect("decoder");
    for _ in 0..5_000 {
        let mut record = lines[rng.random_range(0..lines.len())].clone().into_bytes();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..record.len().max(1));
            match rng.random_range(0..3) {
                0 => record.truncate(at),
                1 if at < record.len() => record[at] = rng.random(),
                _ => record.insert(at.min(record.len()), b"\",\\;\x80 "[rng.random_range(0..6)]),
            }
        }
        let batch = records(&[lines[0].as_bytes(), &record, lines[1].as_bytes()]);
        let decoded = lenient.decode(&batch).expect("nothing fails");
        assert!(decoded.batch.num_rows() >= 2);
        let _ = strict.decode(&batch);
    }
}
