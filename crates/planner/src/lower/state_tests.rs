//! What an operator is known by when the script has changed: its id and its digest, without the columns that it keeps.

use crate::session::Outcome;
use crate::test_support::{execute, session};
use base::types::COLUMN_ID_KEY;

const TABLES: &str = "
CREATE TABLE o (id INT, u INT, amount INT, note STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector'='test');
CREATE TABLE c (id INT, u INT, amount INT, note STRING, PRIMARY KEY (id) NOT ENFORCED)
    WITH ('connector'='test', 'changelog'='upsert');
CREATE TABLE unkeyed (id INT, u INT, amount INT) WITH ('connector'='test', 'changelog'='all');
CREATE TABLE two (u INT, a INT, PRIMARY KEY (u) NOT ENFORCED) WITH ('connector'='test');
CREATE TABLE three (u INT, a INT, b BIGINT, PRIMARY KEY (u) NOT ENFORCED) WITH ('connector'='test');
";

/// The id and the digest of the operator of this name, and what the columns of its first input hold.
fn operator(tables: &str, sql: &str, name: &str) -> (String, String, Vec<String>) {
    let executed = execute(&mut session(), &format!("{tables} {sql}")).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let Outcome::Job(job) = executed.outcome else { panic!("{sql}") };
    let nodes = &job.plan.nodes;
    let node = nodes.iter().find(|node| node.kind.name() == name).unwrap_or_else(|| panic!("no {name} in {sql}"));
    let id = |field: &arrow::datatypes::FieldRef| field.metadata().get(COLUMN_ID_KEY).cloned().unwrap_or_default();
    let input = node.inputs.first().map(|edge| &nodes[edge.node]).unwrap_or(node);
    let ids = input.output.row.arrow().fields().iter().map(id).collect();
    (node.operator_id.clone(), node.digest.clone(), ids)
}

#[test]
fn fewer_columns_and_calls_are_the_same_operator() {
    for (name, before, after) in [
        ("group aggregate", "SELECT u, COUNT(*), SUM(amount) FROM o GROUP BY u", "SELECT MAX(id), u FROM o GROUP BY u"),
        (
            "join",
            "SELECT o.id, o.amount, c.note, c.amount FROM o JOIN c ON o.u = c.u",
            "SELECT c.note, o.id FROM o JOIN c ON o.u = c.u",
        ),
        (
            "changelog normalize",
            "SELECT o.id, c.note FROM o JOIN c ON o.u = c.u",
            "SELECT o.id, c.u, c.amount FROM o JOIN c ON o.u = c.u",
        ),
        (
            "upsert materialize",
            "INSERT INTO three SELECT u, id, COUNT(*) FROM o GROUP BY u, id",
            "INSERT INTO two SELECT u, id FROM o GROUP BY u, id",
        ),
        ("source", "SELECT id FROM o", "SELECT note, u FROM o"),
        (
            "join",
            "SELECT a.id, b.note FROM (SELECT * FROM o UNION ALL SELECT * FROM o WHERE u > 1) a JOIN o b ON a.u = b.u",
            "SELECT b.note FROM (SELECT id, u FROM o UNION ALL SELECT id, u FROM o WHERE u > 1) a JOIN o b ON a.u = b.u",
        ),
    ] {
        let (one, other) = (operator(TABLES, before, name), operator(TABLES, after, name));
        assert_eq!((&one.0, &one.1), (&other.0, &other.1), "{before}\n{after}");
        assert!(one.2.iter().all(|id| !id.is_empty()) && !one.2.is_empty(), "{:?}", one.2);
    }
}

#[test]
fn a_watermark_is_no_part_of_what_is_read() {
    let later = TABLES.replace("FOR ts AS ts", "FOR ts AS ts - INTERVAL '5' SECOND");
    let sql = "SELECT u, COUNT(*) FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '5' SECOND))
               GROUP BY u, window_start, window_end";
    for name in ["source", "window aggregate"] {
        assert_eq!(operator(TABLES, sql, name), operator(&later, sql, name));
    }
}

#[test]
fn other_rows_and_what_tells_rows_apart_are_another_state() {
    for (name, before, after) in [
        (
            "group aggregate",
            "SELECT u, COUNT(*) FROM o GROUP BY u",
            "SELECT u, COUNT(*) FROM o WHERE id > 1 GROUP BY u",
        ),
        // Which of the rows is the last one can follow from a column that goes.
        (
            "upsert materialize",
            "INSERT INTO three SELECT u, id, amount FROM unkeyed",
            "INSERT INTO two SELECT u, id FROM unkeyed",
        ),
        (
            "over aggregate",
            "SELECT LAG(amount, 1) OVER (PARTITION BY u ORDER BY ts) FROM o",
            "SELECT LAG(amount, 2) OVER (PARTITION BY u ORDER BY ts) FROM o",
        ),
        (
            "join",
            "SELECT o.id FROM o JOIN c ON o.u = c.u AND o.id > c.id",
            "SELECT o.id FROM o JOIN c ON o.u = c.u AND o.id < c.id",
        ),
    ] {
        let (one, other) = (operator(TABLES, before, name), operator(TABLES, after, name));
        assert_eq!(one.0, other.0, "{before}\n{after}");
        assert_ne!(one.1, other.1, "{before}\n{after}");
    }
}
