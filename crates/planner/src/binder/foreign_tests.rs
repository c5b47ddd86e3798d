//! Names of other systems: every suggestion plans.

use super::super::rewrite::is_callable;
use super::{FOREIGN, unknown_function};
use crate::test_support::{execute, session};

const TABLE: &str = "CREATE TABLE t (s STRING, j STRING, n INT, d DATE, ts TIMESTAMP(3), a ARRAY<STRING>, m MAP<STRING, INT>) \
                     WITH ('connector' = 'test')";

#[test]
fn what_is_written_instead_of_a_foreign_function_can_be_planned() {
    let mut problems = Vec::new();
    for (name, instead) in FOREIGN {
        let query = match instead.starts_with("ROW_NUMBER") {
            true => format!("SELECT s, n FROM (SELECT *, {instead} AS r FROM t) WHERE r = 1"),
            false => format!("SELECT {instead} FROM t"),
        };
        let result = execute(&mut session(), &format!("{TABLE}; {query}"));
        problems.extend(result.err().map(|error| format!("{name}: {query}\n{error}")));
        assert!(!is_callable(name), "{name} is known");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(FOREIGN.windows(2).all(|pair| pair[0].0 < pair[1].0), "not in order, or twice");
}

#[test]
fn unknown_functions_are_told_with_what_comes_near() {
    for (name, wanted) in [
        ("GROUP_CONCAT", "write LISTAGG(s, ',')"),
        ("COLLECT_LIST", "write ARRAY_AGG(n)"),
        ("DATE_SUB", "write d - INTERVAL '1' DAY"),
        ("LISTAG", "did you mean LISTAGG?"),
        ("QQQQQQ", "SHOW FUNCTIONS"),
    ] {
        let message = unknown_function(name).to_string();
        assert!(message.contains(wanted), "{name}: {message}");
    }
}
