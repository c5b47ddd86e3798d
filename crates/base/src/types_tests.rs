//! Tests of type text and the Arrow form.

use super::*;

fn parse(text: &str) -> SqlType {
    text.parse().expect(text)
}

#[test]
fn type_text_parses_back() {
    for text in [
        "INT",
        "BIGINT NOT NULL",
        "DECIMAL(10, 2)",
        "STRING NOT NULL",
        "TIMESTAMP(3)",
        "TIMESTAMP_LTZ(9) NOT NULL",
        "INTERVAL SECOND(3)",
        "INTERVAL MONTH NOT NULL",
        "VARIANT NOT NULL",
        "BITMAP",
        "STRUCTURED<'com.example.User', `name` CHAR(3) NOT NULL, `age` INT>",
        "STRUCTURED<'it''s', >",
        "ARRAY<ROW<`a b` INT NOT NULL, `c``d` MAP<STRING NOT NULL, MULTISET<DATE>>> NOT NULL>",
    ] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn every_spelling_of_flink_is_read() {
    for (spelling, text) in [
        ("decimal", "DECIMAL(10, 0)"),
        ("NUMERIC(5)", "DECIMAL(5, 0)"),
        ("double precision", "DOUBLE"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("VARCHAR(2147483647)", "STRING"),
        ("INT NOT NULL ARRAY", "ARRAY<INT NOT NULL>"),
        ("ROW(a INT 'first', b STRING)", "ROW<`a` INT, `b` STRING>"),
        ("INTERVAL YEAR(4) TO MONTH", "INTERVAL MONTH"),
        ("INTERVAL DAY TO SECOND", "INTERVAL SECOND(3)"),
    ] {
        assert_eq!(parse(spelling).to_string(), text);
    }
    for bad in ["DECIMAL(39, 0)", "TIMESTAMP(10)", "INTT", "ARRAY<INT", "TIMESTAMP(3) WITH TIME ZONE", "INT INT"] {
        assert!(bad.parse::<SqlType>().is_err(), "{bad}");
    }
}

#[test]
fn a_field_keeps_its_sql_type_through_arrow() {
    for text in [
        "CHAR(5) NOT NULL",
        "TIMESTAMP(2)",
        "MULTISET<STRING>",
        "TIME(3)",
        "ROW<`a` VARCHAR(3)>",
        "ARRAY<VARIANT>",
        "BITMAP",
    ] {
        let mut field = Field::new("c", parse(text));
        field.time = Some(TimeAttribute::Rowtime);
        assert_eq!(Field::from_arrow(&field.arrow()).expect("field"), field);
    }
    let changed =
        ArrowField::new("c", DataType::Int64, true).with_metadata([(TYPE_KEY.to_string(), "INT".to_string())].into());
    assert_eq!(SqlType::from_arrow(&changed).expect("type"), LogicalType::BigInt.nullable());
}

#[test]
fn columns_say_what_they_hold() {
    let row = RowType::new(vec![
        Field::new("a", LogicalType::Int.nullable()),
        Field::new("b", LogicalType::BigInt.not_null()),
    ]);
    let identified = row.clone().identified(&["x + 1".to_string(), "y".to_string()]);
    let id = |row: &RowType, column: usize| row.arrow().field(column).metadata().get(COLUMN_ID_KEY).cloned();
    assert_eq!((id(&identified, 0), id(&identified, 1)), (Some("x + 1".into()), Some("y".into())));
    assert_eq!(id(&identified.project(&[1]), 0), Some("y".into()));
    assert_eq!(row, identified, "it is no part of the type");
    // Batches of a stream have its schema object: it is not made anew.
    let again = identified.clone().identified(&["x + 1".to_string(), "y".to_string()]);
    assert!(std::sync::Arc::ptr_eq(again.arrow(), identified.arrow()));
}
