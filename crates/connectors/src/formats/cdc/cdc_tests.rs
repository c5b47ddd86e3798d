//! Tests of the formats of change records. Expected rows and texts come from Flink where it reads or writes such
//! records.

use super::*;
use crate::formats::json::Json;
use crate::formats::json::reader::DEPTH_MAX;
use crate::formats::support::*;
use base::format::{DecodeError, Decoded, Records};
use base::{ChangelogBatch, Error, Field, RowKind};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Rows as `+I {"id":1}`.
fn shown(batch: &ChangelogBatch) -> Vec<String> {
    let schema = batch.records().schema();
    let fields = schema.fields().iter().map(|field| Field::from_arrow(field).expect("a field"));
    let texts = encode(&Json, &RowType::new(fields.collect()), &[], batch);
    texts.iter().enumerate().map(|(row, text)| format!("{} {text}", batch.kind(row))).collect()
}

fn read(format: &Cdc, fields: &str, pairs: &[(&str, &str)], lines: &[&str]) -> Vec<String> {
    shown(&decode(format, fields, pairs, lines).expect("decoded").batch)
}

fn failure(format: &Cdc, fields: &str, pairs: &[(&str, &str)], line: &str) -> Error {
    decode(format, fields, pairs, &[line]).expect_err("a failure").error
}

/// Decodes with metadata columns named like their keys.
fn read_metadata(format: &Cdc, pairs: &[(&str, &str)], keys: &[&str], lines: &[&str]) -> Result<Decoded, DecodeError> {
    let described = format.describe(&options(pairs)).expect("described").metadata;
    let table = row_type("id INT");
    let mut columns = table.fields().to_vec();
    for key in keys {
        let (_, sql_type) = described.iter().find(|(name, _)| name == key).expect("a key");
        columns.push(Field::new(*key, sql_type.clone()));
    }
    let metadata = keys.iter().map(ToString::to_string).collect();
    let spec = DecodeSpec { columns: RowType::new(columns), metadata, table, time_zone: chrono_tz::Tz::UTC };
    format.decoder(&options(pairs), &spec).expect("decoder").decode(&records(lines))
}

const PERSON: &str = "id INT, name STRING, w DECIMAL(10, 2)";

#[test]
fn debezium_is_read_as_by_flink() {
    let lines = [
        r#"{"before":null,"after":{"id":1,"name":"a","w":1.5},"op":"c","ts_ms":1}"#,
        r#"{"before":null,"after":{"id":2,"name":"b","w":"2.50"},"op":"r","ts_ms":1}"#,
        r#"{"before":{"id":1,"name":"a","w":1.5},"after":{"id":1,"name":"z","w":1.5},"op":"u","ts_ms":2}"#,
        "",
        " \t",
        r#"{"before":{"id":2,"name":"b","w":2.5},"after":null,"op":"d","ts_ms":3}"#,
    ];
    let decoded = decode(&DEBEZIUM, PERSON, &[], &lines).expect("decoded");
    let expected = [
        r#"+I {"id":1,"name":"a","w":1.5}"#,
        r#"+I {"id":2,"name":"b","w":2.5}"#,
        r#"-U {"id":1,"name":"a","w":1.5}"#,
        r#"+U {"id":1,"name":"z","w":1.5}"#,
        r#"-D {"id":2,"name":"b","w":2.5}"#,
    ];
    assert_eq!(shown(&decoded.batch), expected);
    assert_eq!(decoded.records, Some(vec![0, 1, 2, 2, 5]));

    let pairs = [("debezium-json.schema-include", "true")];
    let wrapped: Vec<String> =
        lines
            .iter()
            .map(|line| {
                if line.trim().is_empty() { line.to_string() } else { format!(r#"{{"schema":{{}},"payload":{line}}}"#) }
            })
            .collect();
    let wrapped: Vec<&str> = wrapped.iter().map(String::as_str).collect();
    assert_eq!(read(&DEBEZIUM, PERSON, &pairs, &wrapped), expected);
}

#[test]
fn canal_is_read_as_by_flink() {
    let lines = [
        r#"{"data":[{"id":"1","name":"a"},{"id":"2","name":"b"}],"database":"d","table":"t","type":"INSERT","ts":1,"es":1,"isDdl":false,"old":null,"pkNames":["id"]}"#,
        r#"{"data":null,"database":"d","table":"t","type":"ALTER","sql":"ALTER TABLE t ADD x INT","isDdl":true,"old":null}"#,
        r#"{"data":[{"id":"1","name":"z"}],"database":"d","table":"t","type":"UPDATE","ts":1,"es":1,"isDdl":false,"old":[{"name":"a"}],"pkNames":["id"]}"#,
        r#"{"data":[{"id":"2","name":"b"}],"database":"d","table":"t","type":"DELETE","ts":1,"es":1,"isDdl":false,"old":null,"pkNames":["id"]}"#,
        r#"{"data":[],"old":null,"type":"INSERT"}"#,
    ];
    let decoded = decode(&CANAL, "id INT, name STRING", &[], &lines).expect("decoded");
    let expected = [
        r#"+I {"id":1,"name":"a"}"#,
        r#"+I {"id":2,"name":"b"}"#,
        r#"-U {"id":1,"name":"a"}"#,
        r#"+U {"id":1,"name":"z"}"#,
        r#"-D {"id":2,"name":"b"}"#,
    ];
    assert_eq!(shown(&decoded.batch), expected);
    assert_eq!(decoded.records, Some(vec![0, 0, 2, 2, 3]));
}

#[test]
fn maxwell_is_read_as_by_flink() {
    let lines = [
        r#"{"database":"d","table":"t","type":"insert","ts":1,"data":{"id":1,"name":"a"}}"#,
        r#"{"database":"d","table":"t","type":"update","ts":1,"data":{"id":1,"name":"z"},"old":{"name":"a"}}"#,
        r#"{"database":"d","table":"t","type":"delete","ts":1,"data":{"id":1,"name":"z"}}"#,
        r#"{"database":"d","table":"t","type":"bootstrap-start","ts":1,"data":{}}"#,
        r#"{"data":{"id":2,"name":"b"},"ts":1,"type":"bootstrap-insert","table":"t","database":"d"}"#,
        r#"{"data":{},"database":"d","table":"t","type":"bootstrap-complete","ts":1}"#,
        r#"{"type":"table-create","database":"d","table":"t","def":{"columns":[]}}"#,
    ];
    let expected = [
        r#"+I {"id":1,"name":"a"}"#,
        r#"-U {"id":1,"name":"a"}"#,
        r#"+U {"id":1,"name":"z"}"#,
        r#"-D {"id":1,"name":"z"}"#,
        r#"+I {"id":2,"name":"b"}"#,
    ];
    assert_eq!(read(&MAXWELL, "id INT, name STRING", &[], &lines), expected);
    // A record without rows does not fail because of what it has instead of rows.
    assert_eq!(read(&MAXWELL, "id INT NOT NULL, name STRING", &[], &lines), expected);
}

#[test]
fn ogg_is_read_as_by_flink() {
    let lines = [
        r#"{"table":"d.t","op_type":"I","op_ts":"2020-05-13 15:40:06.000000","current_ts":"2020-05-13T15:40:07.000000","pos":"00000000000000000000143","primary_keys":["id"],"after":{"id":1,"name":"a","w":1.5}}"#,
        r#"{"before":null,"after":{"id":2,"name":"b","w":"2.50"},"op_type":"I"}"#,
        r#"{"before":{"id":1,"name":"a","w":1.5},"after":{"id":1,"name":"z","w":1.5},"op_type":"U","tokens":{"R":"x"}}"#,
        "",
        r#"{"table":"d.t","op_type":"D","before":{"id":2,"name":"b","w":2.5}}"#,
    ];
    let decoded = decode(&OGG, PERSON, &[], &lines).expect("decoded");
    let expected = [
        r#"+I {"id":1,"name":"a","w":1.5}"#,
        r#"+I {"id":2,"name":"b","w":2.5}"#,
        r#"-U {"id":1,"name":"a","w":1.5}"#,
        r#"+U {"id":1,"name":"z","w":1.5}"#,
        r#"-D {"id":2,"name":"b","w":2.5}"#,
    ];
    assert_eq!(shown(&decoded.batch), expected);
    assert_eq!(decoded.records, Some(vec![0, 1, 2, 2, 4]));
}

#[test]
fn a_missing_old_value_is_kept_and_a_null_one_is_null() {
    let fields = "id INT, name STRING, r ROW<a INT, b INT>";
    let expected = [
        r#"-U {"id":1,"name":null,"r":{"a":1,"b":2}}"#,
        r#"+U {"id":1,"name":"z","r":{"a":1,"b":2}}"#,
        r#"-U {"id":2,"name":"y","r":{"a":5,"b":null}}"#,
        r#"+U {"id":2,"name":"y","r":{"a":3,"b":4}}"#,
        r#"-U {"id":3,"name":"x","r":null}"#,
        r#"+U {"id":3,"name":"x","r":null}"#,
    ];
    let new = [
        r#"{"id":1,"name":"z","r":{"a":1,"b":2}}"#,
        r#"{"id":2,"name":"y","r":{"a":3,"b":4}}"#,
        r#"{"id":3,"name":"x","r":null}"#,
    ];
    let old = [r#"{"name":null,"unknown":1}"#, r#"{"r":{"a":5}}"#, "{}"];
    let maxwell: Vec<String> =
        new.iter().zip(old).map(|(new, old)| format!(r#"{{"type":"update","data":{new},"old":{old}}}"#)).collect();
    let maxwell: Vec<&str> = maxwell.iter().map(String::as_str).collect();
    assert_eq!(read(&MAXWELL, fields, &[], &maxwell), expected);
    for (data_first, type_first) in [(true, true), (true, false), (false, true), (false, false)] {
        let (data, olds) = (format!(r#""data":[{}]"#, new.join(" , ")), format!(r#""old":[{}]"#, old.join(",")));
        let halves = if data_first { [data, olds] } else { [olds, data] }.join(",");
        let kind = r#""type":"UPDATE""#;
        let line = if type_first { format!("{{{kind},{halves}}}") } else { format!("{{{halves},{kind}}}") };
        assert_eq!(read(&CANAL, fields, &[], &[&line, &line]), [expected, expected].concat());
    }
    let uneven = failure(&CANAL, "id INT", &[], r#"{"data":[{"id":1},{"id":2}],"old":[{}],"type":"UPDATE"}"#);
    assert!(uneven.to_string().contains("as many elements as in 'data'"), "{uneven}");
}

/// The members of an object in every order, with blanks, an unknown member, and each member once more in front with a value
/// that does not count.
fn spellings(members: &[&str]) -> Vec<String> {
    let mut rng = rng();
    let mut order = members.to_vec();
    let mut lines = vec![];
    for _ in 0..24 {
        order.shuffle(&mut rng);
        lines.push(format!("{{{}}}", order.join(",")));
        lines.push(format!(" {{ {} , \"x\" : [{{\"op\":\"u\"}}] }} ", order.join(" , ")));
        let repeated: Vec<String> =
            order.iter().map(|member| format!("{}:null", member.split(':').next().expect("a key"))).collect();
        lines.push(format!("{{{},{}}}", repeated.join(","), order.join(",")));
        lines.push(format!("{{{},{}}}", order.join(","), order.join(",")));
    }
    lines
}

#[test]
fn the_order_of_the_envelope_does_not_matter() {
    let before = r#""before":{"id":1,"name":"a"}"#;
    let after = r#""after":{"name":"b","id":2}"#;
    let fields = "id INT NOT NULL, name STRING";
    let (old, new) = (r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":"b"}"#);
    let unfit = r#""before":{"id":"bad"}"#;
    let cases: [(&Cdc, &[&str], Vec<String>); 12] = [
        (&DEBEZIUM, &[before, after, r#""op":"u""#], vec![format!("-U {old}"), format!("+U {new}")]),
        (&DEBEZIUM, &[before, after, r#""\u006fp":"\u0063""#], vec![format!("+I {new}")]),
        (&DEBEZIUM, &[unfit, after, r#""op":"r""#], vec![format!("+I {new}")]),
        (&DEBEZIUM, &[before, r#""op":"d""#], vec![format!("-D {old}")]),
        (&DEBEZIUM, &[before, after, r#""op":"d""#], vec![format!("-D {old}")]),
        (&OGG, &[before, after, r#""op_type":"U""#], vec![format!("-U {old}"), format!("+U {new}")]),
        (&OGG, &[unfit, after, r#""op_type":"\u0049""#], vec![format!("+I {new}")]),
        (&OGG, &[before, after, r#""op_type":"D""#], vec![format!("-D {old}")]),
        (&MAXWELL, &[r#""data":{"id":2,"name":"b"}"#, r#""type":"delete""#], vec![format!("-D {new}")]),
        (
            &MAXWELL,
            &[r#""data":{"id":2,"name":"b"}"#, r#""old":{"id":1,"name":"a"}"#, r#""type":"update""#],
            vec![format!("-U {old}"), format!("+U {new}")],
        ),
        (&CANAL, &[r#""data":[{"id":"2","name":"b"}]"#, r#""type":"DELETE""#], vec![format!("-D {new}")]),
        (&CANAL, &[r#""data":[{"id":"bad"}]"#, r#""old":5"#, r#""type":"CREATE""#], vec![]),
    ];
    for (format, members, expected) in cases {
        for line in spellings(members) {
            assert_eq!(read(format, fields, &[], &[&line]), expected, "{line}");
        }
    }
}

#[test]
fn a_missing_half_fails_with_its_remedy() {
    let (postgres, goldengate) = ("ALTER TABLE ... REPLICA IDENTITY FULL", "ADD TRANDATA owner.table, ALLCOLS");
    for (format, line, operation, command) in [
        (&DEBEZIUM, r#"{"before":null,"after":{"id":1},"op":"u"}"#, "op 'u'", postgres),
        (&DEBEZIUM, r#"{"after":{"id":1},"op":"u"}"#, "op 'u'", postgres),
        (&DEBEZIUM, r#"{"before":null,"after":null,"op":"d"}"#, "op 'd'", postgres),
        (&OGG, r#"{"after":{"id":1},"op_type":"U"}"#, "op_type 'U'", goldengate),
        (&OGG, r#"{"before":null,"op_type":"D"}"#, "op_type 'D'", goldengate),
    ] {
        let error = failure(format, "id INT", &[], line);
        assert_eq!(error.code(), "HW-F011");
        let text = error.to_string();
        let ignore = format!("'{}.ignore-parse-errors'", format.name());
        for part in ["'before'", operation, command, &ignore] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    for (format, line, field) in [
        (&DEBEZIUM, r#"{"before":{"id":1},"op":"c"}"#, "after"),
        (&DEBEZIUM, r#"{"before":{"id":1},"after":null,"op":"u"}"#, "after"),
        (&DEBEZIUM, r#"{"after":{"id":1}}"#, "op"),
        (&DEBEZIUM, r#"{"after":{"id":1},"op":null}"#, "op"),
        (&CANAL, r#"{"data":null,"type":"INSERT"}"#, "data"),
        (&CANAL, r#"{"data":[{"id":1}],"old":null,"type":"UPDATE"}"#, "old"),
        (&CANAL, r#"{"data":[{"id":1}]}"#, "type"),
        (&MAXWELL, r#"{"type":"delete"}"#, "data"),
        (&MAXWELL, r#"{"type":"update","data":{"id":1}}"#, "old"),
        (&MAXWELL, "{}", "type"),
        (&OGG, r#"{"before":{"id":1},"op_type":"I"}"#, "after"),
        (&OGG, r#"{"before":{"id":1},"after":null,"op_type":"U"}"#, "after"),
        (&OGG, r#"{"after":{"id":1},"op":"c"}"#, "op_type"),
    ] {
        let error = failure(format, "id INT", &[], line);
        assert_eq!((error.code(), error.argument("field")), ("HW-F012", Some(field)), "{line}");
    }
}

#[test]
fn unknown_operations_are_named() {
    for (format, line, operation) in [
        (&DEBEZIUM, r#"{"before":null,"after":{"id":3},"op":"x"}"#, "\"x\""),
        (&DEBEZIUM, r#"{"op":"t"}"#, "\"t\""),
        (&DEBEZIUM, r#"{"op":7}"#, "7"),
        (&CANAL, r#"{"type":"TRUNCATE","isDdl":true}"#, "\"TRUNCATE\""),
        (&CANAL, r#"{"data":[{"id":1}],"type":"insert"}"#, "\"insert\""),
        (&MAXWELL, r#"{"data":{"id":1},"type":"INSERT"}"#, "\"INSERT\""),
        (&OGG, r#"{"after":{"id":1},"op_type":"T"}"#, "\"T\""),
        (&OGG, r#"{"after":{"id":1},"op_type":"i"}"#, "\"i\""),
    ] {
        let error = failure(format, "id INT", &[], line);
        assert_eq!((error.code(), error.argument("operation")), ("HW-F013", Some(operation)), "{line}");
    }
}

#[test]
fn the_wrong_schema_include_is_explained() {
    let (bare, wrapped) = (r#"{"after":{"id":1},"op":"c"}"#, r#"{"schema":{},"payload":{"after":{"id":1},"op":"c"}}"#);
    let include = [("debezium-json.schema-include", "true")];
    for (pairs, line, other) in [(&include[..], bare, "true"), (&[], wrapped, "false")] {
        let error = failure(&DEBEZIUM, "id INT", pairs, line);
        assert_eq!((error.code(), error.argument("value")), ("HW-F014", Some(other)));
    }
    for (line, field) in
        [(r#"{"schema":{}}"#, "payload"), (r#"{"payload":null}"#, "payload"), (r#"{"payload":{}}"#, "op")]
    {
        let error = failure(&DEBEZIUM, "id INT", &include, line);
        assert_eq!((error.code(), error.argument("field")), ("HW-F012", Some(field)), "{line}");
    }
    let twice = r#"{"payload":{"after":{"id":9},"op":"c"},"payload":{"before":{"id":1},"op":"d"},"schema":1}"#;
    assert_eq!(read(&DEBEZIUM, "id INT", &include, &[twice]), [r#"-D {"id":1}"#]);
    let deep = format!("{}{}", r#"{"payload":"#.repeat(100_000), "}".repeat(100_000));
    assert_eq!(failure(&DEBEZIUM, "id INT", &include, &deep).code(), "HW-F001");
}

#[test]
fn bad_records_fail_like_json_or_are_rejected_whole() {
    let bad = [
        "not json",
        "null",
        "[]",
        "\"c\"",
        r#"{"before":null,"after":{"id":1},"op":"c"} x"#,
        r#"{"before":null,"after":{"id":1},"op":"c""#,
        r#"{"before":null,"after":{"id":1,"op":"c"}"#,
        r#"{"before":null,"after":[1],"op":"c"}"#,
        r#"{"before":{"id":1},"after":{"id":2"#,
        r#"{"before":{"id":1},"after":"x","op":"u"}"#,
        r#"{"before":{"id":1},"after":{},"op":"u"}"#,
        r#"{"before":{"id":1},"after":{"id":null},"op":"u"}"#,
        r#"{"before":{"id":1},"after":{"id":[]},"op":"u"}"#,
        r#"{"before":{"id":1},"after":null,"op":"u"}"#,
        r#"{"before":null,"after":{"id":1},"op":"u"}"#,
        r#"{"before":{"id":1},"after":{"id":2},"op":"x"}"#,
    ];
    let good = r#"{"before":{"id":1},"after":{"id":2},"op":"u"}"#;
    let fields = "id INT NOT NULL";
    for line in bad {
        let failed = decode(&DEBEZIUM, fields, &[], &[good, "", line, good]).expect_err(line);
        assert_eq!(failed.record, 2);
        assert_eq!(shown(&failed.before.batch), [r#"-U {"id":1}"#, r#"+U {"id":2}"#], "{line}");
        assert_eq!(failed.before.records, Some(vec![0, 0]));
    }
    let lines: Vec<&str> = bad.iter().flat_map(|line| [*line, good]).collect();
    let decoded = decode(&DEBEZIUM, fields, &[("debezium-json.ignore-parse-errors", "true")], &lines).expect("decoded");
    assert_eq!(shown(&decoded.batch), [r#"-U {"id":1}"#, r#"+U {"id":2}"#].repeat(bad.len()));
    let rejected: Vec<u32> = decoded.rejected.iter().map(|(record, _)| *record).collect();
    assert_eq!(rejected, (0..bad.len() as u32).map(|index| index * 2).collect::<Vec<_>>());

    let error = failure(&DEBEZIUM, "o ROW<i INT>", &[], r#"{"after":{"o":{"i":"abc"}},"op":"c"}"#);
    assert_eq!(
        (error.code(), error.argument("column"), error.argument("value")),
        ("HW-F002", Some("o.i"), Some("\"abc\""))
    );
    assert!(error.to_string().contains("'debezium-json.ignore-parse-errors'"), "{error}");
    let iso = [("canal-json.timestamp-format.standard", "SQL")];
    let error = failure(&CANAL, "t TIMESTAMP(3)", &iso, r#"{"data":[{"t":"2024-01-02T03:04:05"}],"type":"INSERT"}"#);
    assert!(error.to_string().contains("'canal-json.timestamp-format.standard' = 'ISO-8601'"), "{error}");
}

#[test]
fn a_later_bad_row_takes_back_the_earlier_ones() {
    let lines = [
        r#"{"data":[{"id":"1"},{"id":"2"},{"id":null}],"type":"INSERT"}"#,
        r#"{"data":[{"id":"1"},{"id":"2"}],"old":[{},{"id":null}],"type":"UPDATE"}"#,
        r#"{"data":[{"id":"1"},{"id":"2"}],"old":[{},5],"type":"UPDATE"}"#,
        r#"{"data":[{"id":"3"}],"old":[{"id":"4"}],"type":"UPDATE"}"#,
        r#"{"type":"DELETE","data":[{"id":"1"},7]}"#,
    ];
    let pairs = [("canal-json.ignore-parse-errors", "true")];
    let decoded = decode(&CANAL, "id INT NOT NULL", &pairs, &lines).expect("decoded");
    assert_eq!(shown(&decoded.batch), [r#"-U {"id":4}"#, r#"+U {"id":3}"#]);
    assert_eq!(decoded.records, Some(vec![3, 3]));
    assert_eq!(decoded.rejected.iter().map(|(record, _)| *record).collect::<Vec<_>>(), [0, 1, 2, 4]);
    // A bad value that can be NULL is NULL.
    let soft = [r#"{"data":[{"id":"x"}],"old":[{"id":"y"}],"type":"UPDATE"}"#];
    assert_eq!(read(&CANAL, "id INT", &pairs, &soft), [r#"-U {"id":null}"#, r#"+U {"id":null}"#]);
}

#[test]
fn broken_bytes_and_deep_values_are_no_panic() {
    let invalid = [b"{\"after\":{\"id\":1},\"op\":\"c\",\"x\":\"".as_slice(), b"\xff", b"\"}"].concat();
    let deep =
        format!(r#"{{"after":{{"id":1,"x":{}{}}},"op":"c"}}"#, "[".repeat(DEPTH_MAX + 5), "]".repeat(DEPTH_MAX + 5));
    for line in [invalid.as_slice(), deep.as_bytes(), b"\xf0", b"{\"op\":\"\\ud83d\"}"] {
        let decoded = decoder(&DEBEZIUM, &row_type("id INT"), &[]).expect("decoder").decode(&records(&[line]));
        decoded.expect_err("a failure");
    }
    let line =
        r#"{"before":{"id":1,"name":"\u00e9"},"after":{"id":2,"name":"\"b"},"source":{"db":"d"},"op":"u","ts_ms":5}"#;
    for end in 0..line.len() {
        if line.is_char_boundary(end) && end > 0 {
            failure(&DEBEZIUM, "id INT, name STRING", &[], &line[..end]);
        }
    }
}

#[test]
fn damaged_records_leave_the_others_alone() {
    let mut rng = rng();
    let cases = [
        (
            &DEBEZIUM,
            "debezium-json.ignore-parse-errors",
            r#"{"before":{"id":1,"name":"a"},"after":{"id":2,"name":"b"},"op":"u"}"#,
        ),
        (
            &CANAL,
            "canal-json.ignore-parse-errors",
            r#"{"data":[{"id":"2","name":"b"}],"old":[{"id":"1","name":"a"}],"type":"UPDATE"}"#,
        ),
        (
            &MAXWELL,
            "maxwell-json.ignore-parse-errors",
            r#"{"type":"update","data":{"id":2,"name":"b"},"old":{"id":1,"name":"a"}}"#,
        ),
        (
            &OGG,
            "ogg-json.ignore-parse-errors",
            r#"{"op_type":"U","before":{"id":1,"name":"a"},"after":{"id":2,"name":"b"}}"#,
        ),
    ];
    let expected = [r#"-U {"id":1,"name":"a"}"#, r#"+U {"id":2,"name":"b"}"#].map(str::to_string);
    for (format, ignore, line) in cases {
        let columns = row_type("id INT NOT NULL, name STRING");
        let mut decoder = decoder(format, &columns, &[(ignore, "true")]).expect("decoder");
        for _ in 0..1000 {
            let mut damaged = line.as_bytes().to_vec();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..damaged.len());
                match rng.random_range(0..3) {
                    0 => damaged[at] = b"{}[]\",:\\0n\xff\x00"[rng.random_range(0..12)],
                    1 => drop(damaged.remove(at)),
                    _ => damaged.insert(at, line.as_bytes()[rng.random_range(0..line.len())]),
                }
            }
            let all = records(&[line.as_bytes(), &damaged, line.as_bytes()]);
            let decoded = decoder.decode(&all).expect("decoded");
            let rows = shown(&decoded.batch);
            assert_eq!((&rows[..2], &rows[rows.len() - 2..]), (expected.as_slice(), expected.as_slice()));
            let from: Vec<u32> = decoded.records.unwrap_or_default();
            assert_eq!(from.len(), rows.len());
            let is_rejected = decoded.rejected.iter().any(|(record, _)| *record == 1);
            assert!(!is_rejected || !from.contains(&1), "{}", String::from_utf8_lossy(&damaged));
        }
    }
}

#[test]
fn null_records_give_no_row() {
    let mut records = Records::default();
    records.push_null();
    records.push(br#"{"after":{"id":1},"op":"c"}"#);
    let decoded = decoder(&DEBEZIUM, &row_type("id INT"), &[]).expect("decoder").decode(&records).expect("decoded");
    assert_eq!((decoded.batch.num_rows(), decoded.records), (1, Some(vec![1])));
}

#[test]
fn debezium_metadata_is_read() {
    let source = r#"{"version":"2.7","connector":"mysql","ts_ms":1714558199995,"snapshot":true,"db":"shop","schema":null,"table":"t\"x"}"#;
    let payload =
        format!(r#"{{"op":"u","ts_ms":1714558200000,"source":{source},"before":{{"id":1}},"after":{{"id":2}}}}"#);
    let keys = [
        "op",
        "source.properties",
        "source.timestamp",
        "source.table",
        "source.schema",
        "source.database",
        "schema",
        "ingestion-timestamp",
    ];
    let expected = |kind: &str, id: i32, schema: &str| {
        let properties = source.replace("1714558199995", "\"1714558199995\"").replace("true", "\"true\"");
        format!(
            r#"{kind} {{"id":{id},"op":"u","source.properties":{properties},"source.timestamp":"2024-05-01 10:09:59.995Z","source.table":"t\"x","source.schema":null,"source.database":"shop","schema":{schema},"ingestion-timestamp":"2024-05-01 10:10:00Z"}}"#
        )
    };
    let decoded = read_metadata(&DEBEZIUM, &[], &keys, &[&payload]).expect("decoded");
    assert_eq!(shown(&decoded.batch), [expected("-U", 1, "null"), expected("+U", 2, "null")]);
    let wrapped = format!(r#"{{"payload":{payload},"schema":{{"type":"struct", "fields":[]}}}}"#);
    let decoded =
        read_metadata(&DEBEZIUM, &[("debezium-json.schema-include", "true")], &keys, &[&wrapped]).expect("decoded");
    let schema = r#""{\"type\":\"struct\",\"fields\":[]}""#;
    assert_eq!(shown(&decoded.batch), [expected("-U", 1, schema), expected("+U", 2, schema)]);

    let lines = [
        r#"{"after":{"id":1},"op":"r","source":null}"#,
        r#"{"after":{"id":2},"op":"c","source":"none"}"#,
        r#"{"before":{"id":3},"op":"d","source":{"db":"old"},"source":{"table":"t"}}"#,
    ];
    let decoded = read_metadata(&DEBEZIUM, &[], &["op", "source.database", "source.table"], &lines).expect("decoded");
    let expected = [
        r#"+I {"id":1,"op":"r","source.database":null,"source.table":null}"#,
        r#"+I {"id":2,"op":"c","source.database":null,"source.table":null}"#,
        r#"-D {"id":3,"op":"d","source.database":null,"source.table":"t"}"#,
    ];
    assert_eq!(shown(&decoded.batch), expected);
}

#[test]
fn bad_metadata_takes_its_rows_back() {
    let good = r#"{"before":{"id":1},"after":{"id":2},"op":"u","ts_ms":1}"#;
    let bad = r#"{"before":{"id":1},"after":{"id":2},"op":"u","ts_ms":"soon"}"#;
    let failed = read_metadata(&DEBEZIUM, &[], &["op", "ingestion-timestamp"], &[good, bad]).expect_err("a failure");
    assert_eq!(
        (failed.record, failed.error.code(), failed.error.argument("column")),
        (1, "HW-F002", Some("ingestion-timestamp"))
    );
    assert_eq!(failed.before.batch.num_rows(), 2);
    let ignore = [("debezium-json.ignore-parse-errors", "true")];
    let decoded = read_metadata(&DEBEZIUM, &ignore, &["ingestion-timestamp"], &[bad, good]).expect("decoded");
    assert_eq!(shown(&decoded.batch)[0], r#"-U {"id":1,"ingestion-timestamp":null}"#);
    assert_eq!(shown(&decoded.batch)[3], r#"+U {"id":2,"ingestion-timestamp":"1970-01-01 00:00:00.001Z"}"#);
}

#[test]
fn canal_and_maxwell_metadata_is_read() {
    let line = r#"{"data":[{"id":"1"},{"id":"2"}],"database":"d","es":1589373515000,"pkNames":["id","k"],"sqlType":{"id":4,"name":12},"table":"t","ts":1589373515477,"type":"INSERT"}"#;
    let keys = ["pk-names", "sql-type", "event-timestamp", "ingestion-timestamp", "table", "database"];
    let decoded = read_metadata(&CANAL, &[], &keys, &[line]).expect("decoded");
    let rest = r#""pk-names":["id","k"],"sql-type":{"id":4,"name":12},"event-timestamp":"2020-05-13 12:38:35Z","ingestion-timestamp":"2020-05-13 12:38:35.477Z","table":"t","database":"d"}"#;
    assert_eq!(shown(&decoded.batch), [format!(r#"+I {{"id":1,{rest}"#), format!(r#"+I {{"id":2,{rest}"#)]);

    let line =
        r#"{"database":"d","table":"t","type":"delete","ts":1596684904,"primary_key_columns":["id"],"data":{"id":1}}"#;
    let keys = ["ingestion-timestamp", "primary-key-columns", "database", "table"];
    let decoded = read_metadata(&MAXWELL, &[], &keys, &[line]).expect("decoded");
    let expected = r#"-D {"id":1,"ingestion-timestamp":"2020-08-06 03:35:04Z","primary-key-columns":["id"],"database":"d","table":"t"}"#;
    assert_eq!(shown(&decoded.batch), [expected]);
}

#[test]
fn ogg_metadata_is_read() {
    let keys = ["event-timestamp", "ingestion-timestamp", "primary-keys", "table"];
    let lines = [
        r#"{"table":"D.T","op_type":"U","op_ts":"2020-05-13 15:40:06.000001","current_ts":"2020-05-13T15:40:07.123000","primary_keys":["id","k"],"before":{"id":1},"after":{"id":2}}"#,
        r#"{"op_type":"D","before":{"id":3},"current_ts":null}"#,
    ];
    let rest = r#""event-timestamp":"2020-05-13 15:40:06.000001Z","ingestion-timestamp":"2020-05-13 15:40:07.123Z","primary-keys":["id","k"],"table":"D.T"}"#;
    let none = r#""event-timestamp":null,"ingestion-timestamp":null,"primary-keys":null,"table":null}"#;
    let expected =
        [format!(r#"-U {{"id":1,{rest}"#), format!(r#"+U {{"id":2,{rest}"#), format!(r#"-D {{"id":3,{none}"#)];
    for standard in ["SQL", "ISO-8601"] {
        let pairs = [("ogg-json.timestamp-format.standard", standard)];
        let decoded = read_metadata(&OGG, &pairs, &keys, &lines).expect("decoded");
        assert_eq!(shown(&decoded.batch), expected);
    }
    let types: Vec<String> =
        OGG.describe(&options(&[])).expect("described").metadata.iter().map(|(k, t)| format!("{k} {t}")).collect();
    let expected = [
        "table STRING",
        "primary-keys ARRAY<STRING>",
        "ingestion-timestamp TIMESTAMP_LTZ(6)",
        "event-timestamp TIMESTAMP_LTZ(6)",
    ];
    assert_eq!(types, expected);
    let bad = r#"{"op_type":"I","after":{"id":1},"op_ts":"yesterday"}"#;
    let error = read_metadata(&OGG, &[], &keys, &[bad]).expect_err("a failure").error;
    assert_eq!((error.code(), error.argument("column")), ("HW-F002", Some("event-timestamp")));
}

#[test]
fn canal_leaves_out_other_tables() {
    let lines = [
        r#"{"data":[{"id":"1"}],"database":"shop","table":"orders_1","type":"INSERT"}"#,
        r#"{"data":[{"id":"not a number"}],"database":"shop","table":"items","type":"INSERT"}"#,
        r#"{"data":[{"id":"2"}],"database":"workshop","table":"orders_1","type":"INSERT"}"#,
        r#"{"data":[{"id":"3"}],"table":"orders_2","type":"INSERT"}"#,
        r#"{"data":[{"id":"4"}],"database":"shop","table":"orders_10","type":"WHATEVER"}"#,
        r#"{"database":"shop","table":"order\u0073_2","type":"UPDATE","old":[{"id":"5"}],"data":[{"id":"6"}]}"#,
    ];
    let pairs = [("canal-json.database.include", "shop|x"), ("canal-json.table.include", "orders_[0-9]")];
    let decoded = decode(&CANAL, "id INT", &pairs, &lines).expect("decoded");
    assert_eq!(shown(&decoded.batch), [r#"+I {"id":1}"#, r#"-U {"id":5}"#, r#"+U {"id":6}"#]);
    assert_eq!(decoded.records, Some(vec![0, 5, 5]));
    assert!(decoded.rejected.is_empty());
    let error = CANAL.describe(&options(&[("canal-json.table.include", "(")])).expect_err("refused");
    assert_eq!((error.code(), error.argument("key")), ("HW-F015", Some("canal-json.table.include")));
}

#[test]
fn only_wanted_columns_are_read() {
    let line = r#"{"before":{"a":1,"b":{}},"after":{"a":2,"b":[]},"op":"u"}"#;
    let table = row_type("a INT, b INT");
    for (columns, expected) in [(vec![0], [r#"-U {"a":1}"#, r#"+U {"a":2}"#]), (vec![], ["-U {}", "+U {}"])] {
        let spec = DecodeSpec {
            columns: table.project(&columns),
            metadata: Vec::new(),
            table: table.clone(),
            time_zone: chrono_tz::Tz::UTC,
        };
        let mut decoder = DEBEZIUM.decoder(&options(&[]), &spec).expect("decoder");
        assert_eq!(shown(&decoder.decode(&records(&[line])).expect("decoded").batch), expected);
    }
}

/// Batch with a kind for each row.
fn with_kinds(batch: ChangelogBatch, kinds: Vec<RowKind>) -> ChangelogBatch {
    ChangelogBatch::new(batch.records().clone(), kinds)
}

#[test]
fn changes_are_written_as_by_flink() {
    let fields = "k STRING, c BIGINT, d DECIMAL(10, 2), ts TIMESTAMP(3), n INT";
    let line = r#"{"k":"a","c":1,"d":1.5,"ts":"2024-01-02 03:04:05.12","n":null}"#;
    let rows = decode(&Json, fields, &[], &[line; 4]).expect("decoded").batch;
    let batch = with_kinds(rows, RowKind::ALL.to_vec());
    let object = |text: &str| text.replace('@', line);
    let written = |format: &Cdc| encode(format, &row_type(fields), &[], &batch);
    let (add, remove) = (r#"{"before":null,"after":@,"op":"c"}"#, r#"{"before":@,"after":null,"op":"d"}"#);
    assert_eq!(written(&DEBEZIUM), [add, remove, add, remove].map(object));
    let (add, remove) = (r#"{"data":[@],"type":"INSERT"}"#, r#"{"data":[@],"type":"DELETE"}"#);
    assert_eq!(written(&CANAL), [add, remove, add, remove].map(object));
    let (add, remove) = (r#"{"data":@,"type":"insert"}"#, r#"{"data":@,"type":"delete"}"#);
    assert_eq!(written(&MAXWELL), [add, remove, add, remove].map(object));
    let (add, remove) = (r#"{"before":null,"after":@,"op_type":"I"}"#, r#"{"before":@,"after":null,"op_type":"D"}"#);
    assert_eq!(written(&OGG), [add, remove, add, remove].map(object));

    let pairs = [
        ("debezium-json.timestamp-format.standard", "ISO-8601"),
        ("debezium-json.encode.decimal-as-plain-number", "true"),
        ("debezium-json.encode.ignore-null-fields", "true"),
    ];
    let row = r#"{"k":"a","c":1,"d":1.50,"ts":"2024-01-02T03:04:05.12"}"#;
    let written = encode(&DEBEZIUM, &row_type(fields), &pairs, &batch);
    assert_eq!(written[0], format!(r#"{{"after":{row},"op":"c"}}"#));
    assert_eq!(written[1], format!(r#"{{"before":{row},"op":"d"}}"#));
    let pairs = pairs.map(|(key, value)| (key.replace("debezium", "ogg"), value));
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let written = encode(&OGG, &row_type(fields), &pairs, &batch);
    assert_eq!(written[0], format!(r#"{{"after":{row},"op_type":"I"}}"#));
    assert_eq!(written[1], format!(r#"{{"before":{row},"op_type":"D"}}"#));
}

#[test]
fn keys_of_maps_must_be_text() {
    let columns = row_type("m MAP<INT, INT>");
    let error = MAXWELL.encoder(&options(&[]), &columns, chrono_tz::Tz::UTC).expect_err("refused");
    assert_eq!((error.code(), error.argument("format")), ("HW-F007", Some("maxwell-json")));
}

#[test]
fn what_is_written_is_read_back() {
    let mut rng = rng();
    let columns = row_type(ALL_TYPES);
    for format in [&DEBEZIUM, &CANAL, &MAXWELL, &OGG] {
        let mut decoder = decoder(format, &columns, &[]).expect("decoder");
        for _ in 0..20 {
            let rows = random_batch(&columns, rng.random_range(0..40), &mut rng);
            let kinds = (0..rows.num_rows()).map(|_| RowKind::ALL[rng.random_range(0..4)]).collect();
            let batch = with_kinds(rows, kinds);
            let mut out = Records::default();
            encoder(format, &columns, &[]).encode(&batch, &mut out).expect("encoded");
            let decoded = decoder.decode(&out).expect("decoded");
            let expected: Vec<RowKind> = (0..batch.num_rows())
                .map(|row| if batch.kind(row).is_addition() { RowKind::Insert } else { RowKind::Delete })
                .collect();
            let expected = with_kinds(batch, expected);
            assert_eq!(shown(&decoded.batch), shown(&expected));
            assert_eq!(decoded.batch, expected);
            assert_eq!(decoded.records, None);
        }
    }
}

/// Updates, which are not written but read: the same changes as records of each format, and as rows.
#[test]
fn random_changes_are_the_same_in_every_dialect() {
    let mut rng = rng();
    let fields = "id INT, `odd \"name\"` STRING, m MAP<STRING, INT>, r ROW<a INT, b STRING>";
    let columns = row_type(fields);
    let keys = ["\"id\"", "\"odd \\\"name\\\"\"", "\"m\"", "\"r\""];
    for _ in 0..200 {
        let rows = random_batch(&columns, 2, &mut rng);
        let (old, new) = (rows.slice(0, 1), rows.slice(1, 1));
        let text = |batch: &ChangelogBatch, column: usize| {
            let one = encode(&Json, &columns.project(&[column]), &[], &project(batch, column));
            one[0][keys[column].len() + 2..one[0].len() - 1].to_string()
        };
        let object = |values: &[(usize, String)]| {
            let members: Vec<String> =
                values.iter().map(|(index, value)| format!("{}:{value}", keys[*index])).collect();
            format!("{{{}}}", members.join(","))
        };
        let mut whole_old: Vec<(usize, String)> = (0..4).map(|index| (index, text(&old, index))).collect();
        let mut whole_new: Vec<(usize, String)> = (0..4).map(|index| (index, text(&new, index))).collect();
        // Some columns do not change.
        let same: Vec<bool> = (0..4).map(|_| rng.random_bool(0.5)).collect();
        for index in (0..4).filter(|index| same[*index]) {
            whole_old[index].1 = whole_new[index].1.clone();
        }
        let mut changed: Vec<(usize, String)> = whole_old.iter().filter(|(index, _)| !same[*index]).cloned().collect();
        let expected = [format!("-U {}", object(&whole_old)), format!("+U {}", object(&whole_new))];
        whole_old.shuffle(&mut rng);
        whole_new.shuffle(&mut rng);
        changed.shuffle(&mut rng);
        let (before, after, old) = (object(&whole_old), object(&whole_new), object(&changed));
        let debezium = format!(r#"{{"op":"u","after":{after},"before":{before}}}"#);
        let ogg = format!(r#"{{"before":{before},"op_type":"U","after":{after}}}"#);
        let canal = format!(r#"{{"data":[{after}],"old":[{old}],"type":"UPDATE"}}"#);
        let maxwell = format!(r#"{{"type":"update","old":{old},"data":{after}}}"#);
        assert_eq!(read(&DEBEZIUM, fields, &[], &[&debezium]), expected);
        assert_eq!(read(&CANAL, fields, &[], &[&canal]), expected, "{canal}");
        assert_eq!(read(&MAXWELL, fields, &[], &[&maxwell]), expected);
        assert_eq!(read(&OGG, fields, &[], &[&ogg]), expected);
    }
}

fn project(batch: &ChangelogBatch, column: usize) -> ChangelogBatch {
    batch.with_records(batch.records().project(&[column]).expect("a column"))
}
