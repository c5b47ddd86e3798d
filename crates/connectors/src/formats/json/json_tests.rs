//! Tests of the JSON format. Expected texts and values come from Flink.

use super::*;
use crate::formats::support::{self, *};
use base::format::Records;
use rand::RngExt;
use rand::seq::SliceRandom;

const O1: &str = "id INT, b BOOLEAN, ti TINYINT, l BIGINT, f FLOAT, d DOUBLE, dec1 DECIMAL(20, 4), s STRING, by1 BYTES, \
    dt DATE, tm TIME, t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), z3 TIMESTAMP_LTZ(3), arr ARRAY<INT>, \
    m MAP<STRING, DOUBLE>, r ROW<a INT, b STRING>";

fn decoded(fields: &str, pairs: &[(&str, &str)], lines: &[&str]) -> base::format::Decoded {
    support::decode(&Json, fields, pairs, lines).expect("decoded")
}

/// The rows of `lines` as the encoder writes them.
fn reencoded(fields: &str, pairs: &[(&str, &str)], lines: &[&str]) -> Vec<String> {
    let batch = decoded(fields, pairs, lines).batch;
    support::encode(&Json, &row_type(fields), pairs, &batch)
}

fn error(fields: &str, pairs: &[(&str, &str)], line: &str) -> Error {
    support::decode(&Json, fields, pairs, &[line]).expect_err("a failure").error
}

#[test]
fn every_type_is_written_as_by_flink() {
    let lines = [
        r#"{"id":1,"b":true,"ti":1,"l":9007199254740993,"f":0.1,"d":1.0E7,"dec1":12.34,"s":"a\"b\\é/","by1":"YWI=","dt":"2024-01-02","tm":"03:04:05","t0":"2024-01-02 03:04:05","t3":"2024-01-02 03:04:05.12","t6":"2024-01-02 03:04:05.123456","z3":"2024-01-02 03:04:05.12Z","arr":[1,2],"m":{"k":1.0},"r":{"a":1,"b":"x"}}"#,
        r#"{"id":null,"b":null,"ti":null,"l":null,"f":null,"d":null,"dec1":null,"s":null,"by1":null,"dt":null,"tm":null,"t0":null,"t3":null,"t6":null,"z3":null,"arr":null,"m":null,"r":null}"#,
        r#"{"id":2,"b":false,"ti":-1,"l":-1,"f":1.0E10,"d":0.1,"dec1":1E+2,"s":"","by1":"","dt":"1969-12-31","tm":"00:00:00","t0":"2024-01-02 00:00:00","t3":"2024-01-02 00:00:00","t6":"2024-01-02 00:00:00.1","z3":"1970-01-01 00:00:00Z","arr":[3],"m":{"z":0.5},"r":{"a":2,"b":"y"}}"#,
    ];
    assert_eq!(reencoded(O1, &[], &lines), lines);
}

#[test]
fn decimals_and_doubles_are_written_as_by_flink() {
    let fields = "d1 DECIMAL(30, 10), d2 DECIMAL(38, 18), d3 DECIMAL(10, 0), dd DOUBLE";
    let lines = [
        r#"{"d1":0.0000001,"d2":100,"d3":100000,"dd":1e-7}"#,
        r#"{"d1":1.5,"d2":0.000000000000000001,"d3":1200,"dd":123456789.0}"#,
        r#"{"d1":0,"d2":0,"d3":0,"dd":0}"#,
        r#"{"d1":-12.5,"d2":123.450,"d3":7,"dd":100}"#,
    ];
    let expected = [
        r#"{"d1":1E-7,"d2":1E+2,"d3":1E+5,"dd":1.0E-7}"#,
        r#"{"d1":1.5,"d2":1E-18,"d3":1.2E+3,"dd":1.23456789E8}"#,
        r#"{"d1":0,"d2":0,"d3":0,"dd":0.0}"#,
        r#"{"d1":-12.5,"d2":123.45,"d3":7,"dd":100.0}"#,
    ];
    assert_eq!(reencoded(fields, &[], &lines), expected);
}

#[test]
fn the_iso_form_is_written_as_by_flink() {
    let fields = "t3 TIMESTAMP(3), z3 TIMESTAMP_LTZ(3), dec1 DECIMAL(30, 10), n STRING";
    let pairs = [
        ("json.timestamp-format.standard", "ISO-8601"),
        ("json.encode.decimal-as-plain-number", "true"),
        ("json.encode.ignore-null-fields", "true"),
    ];
    let lines = [
        r#"{"t3":"2024-01-02T03:04:05.12","z3":"2024-01-02T03:04:05.12Z","dec1":0.0000001000}"#,
        r#"{"t3":"2024-01-02T03:04:00","z3":"2024-01-02T03:04:00Z","dec1":100.0000000000,"n":"x"}"#,
    ];
    assert_eq!(reencoded(fields, &pairs, &lines), lines);
}

#[test]
fn reading_is_as_lenient_as_flink() {
    let fields = "i INT, s STRING, d DECIMAL(10, 2), b BOOLEAN, ts TIMESTAMP(3), l BIGINT, f DOUBLE";
    let lines = [
        r#"{"i":1,"s":"x","d":1.239,"b":true,"ts":"2024-01-02 03:04:05.1234","l":1,"f":1}"#,
        r#"{"i":"2","s":5,"d":"7.5","b":"true","ts":"2024-01-02 03:04:05","l":"12","f":"1e3"}"#,
        r#"{"i":3.9,"s":{"a":[1, 2]},"d":123456789.99,"b":"yes","ts":null,"l":2.5,"f":"NaN"}"#,
        r#"{"i":null,"s":true,"extra":1}"#,
        "{}",
    ];
    let expected = [
        r#"{"i":1,"s":"x","d":1.24,"b":true,"ts":"2024-01-02 03:04:05.123","l":1,"f":1.0}"#,
        r#"{"i":2,"s":"5","d":7.5,"b":true,"ts":"2024-01-02 03:04:05","l":12,"f":1000.0}"#,
        r#"{"i":3,"s":"{\"a\":[1,2]}","d":null,"b":false,"ts":null,"l":2,"f":"NaN"}"#,
        r#"{"i":null,"s":"true","d":null,"b":null,"ts":null,"l":null,"f":null}"#,
        r#"{"i":null,"s":null,"d":null,"b":null,"ts":null,"l":null,"f":null}"#,
    ];
    assert_eq!(reencoded(fields, &[], &lines), expected);
}

#[test]
fn names_match_exactly() {
    let lines = [r#"{"i":1,"I":2,"name":"lower","Name":"exact"}"#];
    assert_eq!(reencoded("I INT, `Name` STRING", &[], &lines), [r#"{"I":2,"Name":"exact"}"#]);
}

#[test]
fn bad_values_fail_with_column_value_and_type() {
    let error = error("o ROW<i INT>", &[], r#"{"o":{"i":"abc"}}"#);
    assert_eq!(error.code(), "HW-F002");
    assert_eq!(error.argument("column"), Some("o.i"));
    assert_eq!(error.argument("value"), Some("\"abc\""));
    assert_eq!(error.argument("type"), Some("INT"));
    for (fields, line) in [
        ("i INT", r#"{"i":true}"#),
        ("i INT", r#"{"i":[1]}"#),
        ("i INT", r#"{"i":3000000000}"#),
        ("i TINYINT", r#"{"i":300}"#),
        ("i TINYINT", r#"{"i":3.9}"#),
        ("i ARRAY<INT>", r#"{"i":{}}"#),
        ("i ROW<a INT>", r#"{"i":[]}"#),
        ("i MAP<STRING, INT>", r#"{"i":"x"}"#),
        ("i DATE", r#"{"i":"2024-02-30"}"#),
        ("i BYTES", r#"{"i":"*"}"#),
        ("i TIMESTAMP(3)", r#"{"i":1704164645120}"#),
        ("i TIMESTAMP_LTZ(3)", r#"{"i":"2024-01-02 03:04:05"}"#),
    ] {
        assert_eq!(self::error(fields, &[], line).code(), "HW-F002", "{line}");
    }
}

#[test]
fn rows_before_a_bad_record_are_kept() {
    let failure = support::decode(&Json, "i INT", &[], &["{\"i\":1}", "", "{\"i\":2}", "{\"i\":\"x\"}", "{\"i\":4}"])
        .expect_err("a failure");
    assert_eq!(failure.record, 3);
    assert_eq!(failure.before.batch.num_rows(), 2);
    assert_eq!(failure.before.records, Some(vec![0, 2]));
}

#[test]
fn ignored_errors_are_null_or_rejected() {
    let pairs = [("json.ignore-parse-errors", "true")];
    let lines = [r#"{"i":"abc"}"#, "not json", r#"{"i":5}"#, "", "  ", r#"{"i":6}x"#, "\"i\"", "null"];
    let decoded = decoded("i INT", &pairs, &lines);
    assert_eq!(support::encode(&Json, &row_type("i INT"), &[], &decoded.batch), [r#"{"i":null}"#, r#"{"i":5}"#]);
    assert_eq!(decoded.records, Some(vec![0, 2]));
    assert_eq!(decoded.rejected.iter().map(|(record, _)| *record).collect::<Vec<_>>(), [1, 5, 6, 7]);
    // A bad part of a nested value is NULL by itself, unless it may not be.
    let nested = "r ROW<a INT, b INT NOT NULL>, a ARRAY<INT>";
    let lines = [r#"{"r":{"a":"x","b":1},"a":[1,"y",3]}"#, r#"{"r":{"a":1,"b":"x"},"a":{}}"#];
    let expected = [r#"{"r":{"a":null,"b":1},"a":[1,null,3]}"#, r#"{"r":null,"a":null}"#];
    assert_eq!(reencoded(nested, &pairs, &lines), expected);
    let rejected = self::decoded("k INT NOT NULL", &pairs, &[r#"{"k":"x"}"#]).rejected;
    assert_eq!(rejected[0].1.argument("column"), Some("k"));
}

#[test]
fn missing_fields_fail_when_asked_to() {
    let error = error("i INT, miss INT", &[("json.fail-on-missing-field", "true")], r#"{"i":1}"#);
    assert_eq!((error.code(), error.argument("column")), ("HW-F004", Some("miss")));
    let both = [("json.fail-on-missing-field", "true"), ("json.ignore-parse-errors", "true")];
    assert_eq!(Json.describe(&options(&both)).expect_err("refused").code(), "HW-F006");
    assert_eq!(self::error("i INT NOT NULL", &[], "{}").code(), "HW-F005");
    assert_eq!(self::error("i INT NOT NULL", &[], r#"{"i":null}"#).code(), "HW-F005");
}

#[test]
fn both_timestamp_forms_are_read_unless_one_is_chosen() {
    let lines = [r#"{"order_time":"2024-11-20T15:01:00.123"}"#, r#"{"order_time":"2024-11-20 15:01:00.123"}"#];
    let written = reencoded("order_time TIMESTAMP(3)", &[], &lines);
    assert_eq!(written, [r#"{"order_time":"2024-11-20 15:01:00.123"}"#; 2]);

    for (standard, line, other) in [
        ("SQL", r#"{"order_time":"2024-11-20T15:01:00"}"#, "ISO-8601"),
        ("ISO-8601", r#"{"order_time":"2024-11-20 15:01:00"}"#, "SQL"),
    ] {
        let error = error("order_time TIMESTAMP(3)", &[("json.timestamp-format.standard", standard)], line);
        assert_eq!(error.code(), "HW-F003");
        let text = error.to_string();
        for part in ["order_time", &line[15..34], "json.timestamp-format.standard", other] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[test]
fn order_blanks_escapes_and_repetitions_do_not_matter() {
    let fields = "a INT, b STRING, m MAP<STRING, INT>";
    let lines = [
        r#"{"a":1,"b":"x","m":{}}"#,
        " \t{ \"b\" : \"x\" , \"m\" : { } , \"a\" : 1 } ",
        r#"{"a":9,"b":"x","a":1,"m":{}}"#,
        r#"{"\u0061":1,"b":"\u0078","m":{}}"#,
        r#"{"x":{"a":[{"}":"]\"\\"}]},"b":"x","a":1,"m":{},"y":[[],{},"",-0.5e+7,true,null]}"#,
    ];
    assert_eq!(reencoded(fields, &[], &lines), [lines[0]; 5]);
    let repeated = [r#"{"m":{"k":1,"l":2,"\u006b":3}}"#];
    assert_eq!(reencoded("m MAP<STRING, INT>", &[], &repeated), [r#"{"m":{"l":2,"k":3}}"#]);
    let escapes = [r#"{"s":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\ud800x\u0001"}"#];
    assert_eq!(reencoded("s STRING", &[], &escapes), ["{\"s\":\"\\\"\\\\/\\b\\f\\n\\r\\té😀?x\\u0001\"}"]);
}

#[test]
fn only_wanted_columns_are_read() {
    let lines = records(&[r#"{"a":1,"b":"not a number","c":3}"#, r#"{"b":{},"c":4,"a":0}"#]);
    let table = row_type("a INT, b INT, c INT");
    for (columns, expected) in [(vec![2, 0], 2), (vec![], 0)] {
        let spec = base::format::DecodeSpec {
            columns: table.project(&columns),
            metadata: Vec::new(),
            table: table.clone(),
            time_zone: chrono_tz::Tz::UTC,
        };
        let decoded = Json.decoder(&Options::default(), &spec).expect("decoder").decode(&lines).expect("decoded");
        assert_eq!((decoded.batch.num_rows(), decoded.batch.records().num_columns()), (2, expected));
        assert!(decoded.records.is_none());
    }
}

#[test]
fn malformed_records_are_named() {
    for line in [
        "not json",
        "[1]",
        "5",
        "{",
        "{\"i\"",
        "{\"i\":",
        "{\"i\":1",
        "{\"i\":1,",
        "{\"i\":1,}",
        "{i:1}",
        "{\"i\":01}",
        "{\"i\":1.}",
        "{\"i\":-}",
        "{\"i\":1e}",
        "{\"i\":+1}",
        "{\"i\":.5}",
        "{\"i\":tru}",
        "{\"i\":nul}",
        "{\"i\":1} 2",
        "{\"i\":1}{\"i\":2}",
        "{\"s\":\"\\x\"}",
        "{\"s\":\"\\u12g4\"}",
        "{\"s\":\"a}",
        "{\"x\":[1,]}",
        "{\"x\":{1:2}}",
        "{\"x\":[1 2]}",
        "{\"i\" 1}",
        "{,}",
        "{\"i\":1 \"s\":2}",
    ] {
        let error = error("i INT, s STRING", &[], line);
        assert_eq!(error.code(), "HW-F001", "{line}");
        assert_eq!(error.argument("record"), Some(line));
    }
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(error("i INT", &[], &deep).code(), "HW-F001");
    let failure = decoder(&Json, &row_type("s STRING"), &[])
        .expect("decoder")
        .decode(&records(&[b"{\"s\":\"ok\"}".as_slice(), b"{\"s\":\"\xff\"}"]));
    let failure = failure.expect_err("not UTF-8");
    assert_eq!((failure.record, failure.error.argument("position")), (1, Some("6")));
}

#[test]
fn keys_of_maps_must_be_text() {
    let columns = row_type("a ARRAY<MAP<INT, INT>>");
    assert_eq!(decoder(&Json, &columns, &[]).expect_err("refused").code(), "HW-F007");
}

#[test]
fn random_rows_come_back() {
    let columns = row_type(ALL_TYPES);
    let mut rng = rng();
    for pairs in [
        vec![],
        vec![("json.timestamp-format.standard", "ISO-8601"), ("json.encode.decimal-as-plain-number", "true")],
        vec![("json.encode.ignore-null-fields", "true"), ("json.timestamp-format.standard", "SQL")],
    ] {
        let mut encoder = encoder(&Json, &columns, &pairs);
        let mut decoder = decoder(&Json, &columns, &pairs).expect("decoder");
        for rows in [0, 1, 300, 40] {
            let batch = random_batch(&columns, rows, &mut rng);
            let mut written = Records::default();
            encoder.encode(&batch, &mut written).expect("encoded");
            for record in written.iter() {
                serde_json::from_slice::<serde_json::Value>(record).expect("JSON");
            }
            let decoded = decoder.decode(&written).expect("decoded");
            assert_eq!(decoded.batch, batch);
            assert!(decoded.records.is_none() && decoded.rejected.is_empty());
        }
    }
}

/// The same object with other blanks, another order, unknown and repeated keys.
fn disguised(object: &serde_json::Value, rng: &mut rand_chacha::ChaCha8Rng, out: &mut String) {
    fn blank(rng: &mut rand_chacha::ChaCha8Rng, out: &mut String) {
        if rng.random_bool(0.1) {
            out.push_str([" ", "\t", "  ", "\r\n"][rng.random_range(0..4)]);
        }
    }
    blank(rng, out);
    match object {
        serde_json::Value::Object(fields) => {
            let mut entries: Vec<(String, serde_json::Value)> =
                fields.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            if rng.random_bool(0.3) {
                entries.shuffle(rng);
            }
            if rng.random_bool(0.2) {
                entries.insert(0, ("unknown\n\u{1F600}".into(), serde_json::json!({"a": [1, {"b": "}"}]})));
            }
            if rng.random_bool(0.2) && !entries.is_empty() {
                // The first is of no account because the last one counts.
                entries.insert(0, (entries[entries.len() - 1].0.clone(), serde_json::Value::Null));
            }
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                blank(rng, out);
                let key = serde_json::to_string(key).expect("key");
                out.push_str(&if rng.random_bool(0.05) { key.replace('a', "\\u0061") } else { key });
                blank(rng, out);
                out.push(':');
                disguised(value, rng, out);
                blank(rng, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
    blank(rng, out);
}

#[test]
fn guessing_never_changes_the_result() {
    // Only values that the text of another library leaves as they are, and no maps, whose order shows.
    let columns = row_type(
        "id BIGINT, name STRING, ts TIMESTAMP(3), ok BOOLEAN, r ROW<a INT, b STRING, c ROW<a STRING, d DATE>>, \
         list ARRAY<ROW<a INT, x STRING>>, amount INT",
    );
    let mut rng = rng();
    let mut guessing = decoder(&Json, &columns, &[]).expect("decoder");
    for _ in 0..20 {
        let batch = random_batch(&columns, 200, &mut rng);
        let mut disguises = Records::default();
        for line in support::encode(&Json, &columns, &[], &batch) {
            let mut out = String::new();
            disguised(&serde_json::from_str(&line).expect("JSON"), &mut rng, &mut out);
            disguises.push(out.as_bytes());
        }
        assert_eq!(guessing.decode(&disguises).expect("decoded").batch, batch);
        for (row, record) in disguises.iter().enumerate() {
            let alone = decoder(&Json, &columns, &[]).expect("decoder").decode(&records(&[record])).expect("decoded");
            assert_eq!(alone.batch, batch.slice(row, 1));
        }
    }
}

#[test]
fn broken_records_never_panic_and_are_told_from_whole_ones() {
    let columns = row_type(ALL_TYPES.replace("ns STRING NOT NULL, ", "").replace("a INT NOT NULL", "a INT").as_str());
    let mut rng = rng();
    let lines = support::encode(&Json, &columns, &[], &random_batch(&columns, 60, &mut rng));
    let mut lenient = decoder(&Json, &columns, &[("json.ignore-parse-errors", "true")]).expect("decoder");
    let mut strict = decoder(&Json, &columns, &[]).expect("decoder");
    for _ in 0..20_000 {
        let mut record = lines[rng.random_range(0..lines.len())].clone().into_bytes();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..record.len().max(1));
            match rng.random_range(0..5) {
                0 => record.truncate(at),
                1 if at < record.len() => {
                    record.remove(at);
                }
                2 if at < record.len() => record[at] = rng.random(),
                3 => record.insert(at.min(record.len()), b"{}[]\",:\\0-.eE tnu\x80"[rng.random_range(0..18)]),
                _ => record.extend_from_slice(&lines[0].as_bytes()[..at.min(lines[0].len())]),
            }
        }
        let batch = records(&[lines[0].as_bytes(), &record, lines[1].as_bytes()]);
        let decoded = lenient.decode(&batch).expect("nothing fails");
        let rows = decoded.batch.num_rows();
        assert_eq!(rows + decoded.rejected.len() + usize::from(record.trim_ascii().is_empty()), 3);
        // Control characters in strings and halves of surrogate pairs are taken here and not there.
        let plain: Vec<u8> = record.iter().map(|byte| if *byte < b' ' { b' ' } else { *byte }).collect();
        let whole = serde_json::from_slice::<serde_json::Value>(&plain);
        let shown = String::from_utf8_lossy(&record);
        if whole.as_ref().is_ok_and(serde_json::Value::is_object) {
            assert!(rows == 3 || plain != record, "{}: {shown}", decoded.rejected[0].1);
        } else if rows == 3 {
            let reason = whole.err().map_or_else(|| "no object".into(), |error| error.to_string());
            let taken = ["surrogate", "hex escape", "out of range"].iter().any(|known| reason.contains(known));
            assert!(taken, "{reason}: {shown}");
        }
        let _ = strict.decode(&batch);
    }
}

#[test]
fn null_records_give_no_row() {
    let mut nulls = Records::default();
    nulls.push_null();
    nulls.push(b"{}");
    let decoded = decoder(&Json, &row_type("i INT"), &[]).expect("decoder").decode(&nulls).expect("decoded");
    assert_eq!((decoded.batch.num_rows(), decoded.records), (1, Some(vec![1])));
}
