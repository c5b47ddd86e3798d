//! Common types and types of comparison, as tables.

use super::*;

fn sql(text: &str) -> SqlType {
    text.parse().unwrap()
}

#[test]
fn common_types() {
    for (types, expected) in [
        ("TINYINT NOT NULL; SMALLINT NOT NULL", Some("SMALLINT NOT NULL")),
        ("INT; BIGINT NOT NULL", Some("BIGINT")),
        ("BIGINT; FLOAT", Some("FLOAT")),
        ("DECIMAL(5, 2); FLOAT", Some("DOUBLE")),
        ("DECIMAL(5, 2); BIGINT", Some("DECIMAL(21, 2)")),
        ("DECIMAL(10, 2); DECIMAL(5, 4)", Some("DECIMAL(12, 4)")),
        ("DECIMAL(38, 0); DECIMAL(38, 10)", Some("DECIMAL(38, 0)")),
        ("DECIMAL(38, 30); INT", Some("DECIMAL(38, 28)")),
        ("CHAR(1) NOT NULL; CHAR(3) NOT NULL", Some("VARCHAR(3) NOT NULL")),
        ("CHAR(3); CHAR(3)", Some("CHAR(3)")),
        ("CHAR(3); STRING", Some("STRING")),
        ("BINARY(1); BYTES", Some("BYTES")),
        ("DATE; TIMESTAMP(3)", Some("TIMESTAMP(3)")),
        ("TIMESTAMP(0); TIMESTAMP(6)", Some("TIMESTAMP(6)")),
        ("TIME(0); TIME(3)", Some("TIME(3)")),
        ("ARRAY<INT NOT NULL>; ARRAY<DOUBLE>", Some("ARRAY<DOUBLE>")),
        ("MAP<CHAR(1), INT>; MAP<CHAR(2), BIGINT>", Some("MAP<VARCHAR(2), BIGINT>")),
        ("ROW<`a` INT>; ROW<`b` BIGINT>", Some("ROW<`a` BIGINT>")),
        ("INT; STRING", None),
        ("BOOLEAN; INT", None),
        ("DATE; TIME(0)", None),
        ("INTERVAL MONTH; INTERVAL SECOND(3)", None),
        ("ARRAY<INT>; ARRAY<STRING>", None),
        ("ROW<`a` INT>; ROW<`a` INT, `b` INT>", None),
    ] {
        let list: Vec<SqlType> = types.split("; ").map(sql).collect();
        let found = common_type(&list).map(|found| found.to_string());
        assert_eq!(found.as_deref(), expected, "{types}");
        let turned: Vec<SqlType> = list.into_iter().rev().collect();
        // Fields of rows keep the names of the first.
        if !types.starts_with("ROW") {
            assert_eq!(common_type(&turned).map(|found| found.to_string()).as_deref(), expected, "{types}, turned");
        }
    }
}

#[test]
fn the_place_decides_where_neither_type_is_wider() {
    for (types, by_place, widest) in [
        ("FLOAT; DOUBLE", "FLOAT", "DOUBLE"),
        ("DOUBLE; FLOAT", "DOUBLE", "DOUBLE"),
        ("ARRAY<FLOAT>; ARRAY<DOUBLE>", "ARRAY<FLOAT>", "ARRAY<DOUBLE>"),
        ("TIMESTAMP(3); TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP_LTZ(3); TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"),
    ] {
        let list: Vec<SqlType> = types.split("; ").map(sql).collect();
        assert_eq!(common_type(&list).map(|found| found.to_string()).as_deref(), Some(by_place), "{types}");
        assert_eq!(widest_type(&list).map(|found| found.to_string()).as_deref(), Some(widest), "{types}");
    }
}

#[test]
fn comparisons() {
    for (left, right, expected) in [
        ("INT NOT NULL", "BIGINT NOT NULL", Some("BIGINT NOT NULL")),
        ("CHAR(2)", "VARCHAR(5)", Some("STRING")),
        ("DATE", "STRING", Some("DATE")),
        ("STRING", "TIMESTAMP(3)", Some("TIMESTAMP(3)")),
        ("DATE", "TIMESTAMP(0)", Some("TIMESTAMP(0)")),
        ("BINARY(1)", "BYTES", Some("BYTES")),
        ("INT", "STRING", None),
        ("FLOAT", "DOUBLE", Some("DOUBLE")),
        ("BOOLEAN", "STRING", None),
        ("BOOLEAN", "INT", None),
        ("DATE", "INT", None),
    ] {
        let found = comparison_type(&sql(left), &sql(right)).map(|found| found.to_string());
        assert_eq!(found.as_deref(), expected, "{left} with {right}");
    }
}
