//! Batch mode: final results, printed and written once.

use crate::program::{Program, rows};

const ORDERS: &str = "{\"id\":1,\"region\":\"north\",\"amount\":10}\n{\"id\":2,\"region\":\"south\",\"amount\":5}\n\
    {\"id\":3,\"region\":\"north\",\"amount\":7}\n{\"id\":4,\"region\":null,\"amount\":1}\n";

const TABLE: &str = "SET 'execution.runtime-mode' = 'batch';
    CREATE TABLE orders (id INT, region STRING, amount INT, doubled AS amount * 2)
        WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');";

fn program() -> Program {
    let program = Program::new();
    program.write("orders.jsonl", ORDERS);
    program
}

#[test]
fn a_select_prints_its_final_table_in_order() {
    let sql = format!("{TABLE} SELECT region, SUM(doubled) AS total FROM orders GROUP BY region ORDER BY total DESC;");
    let ran = program().run_script(&sql).exits(0).says(&["rows_read=4"]);
    let table = "\
+--------+-------+
| region | total |
+--------+-------+
|  north |    34 |
|  south |    10 |
| <NULL> |     2 |
+--------+-------+
3 rows in set
";
    assert_eq!(ran.out, table);
}

#[test]
fn a_sink_gets_each_row_once() {
    let program = program();
    let sql = format!(
        "{TABLE} CREATE TABLE totals (region STRING, total INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
        CREATE TABLE big (id INT) WITH ('connector' = 'filesystem', 'path' = 'big', 'format' = 'csv');
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO totals SELECT region, SUM(amount) FROM orders WHERE region IS NOT NULL GROUP BY region;
            INSERT INTO big SELECT id FROM orders WHERE amount > (SELECT AVG(amount) FROM orders);
        END;"
    );
    program.run_script(&sql).exits(0);
    assert_eq!(program.lines_below("out"), ["north,17", "south,5"]);
    assert_eq!(program.lines_below("big"), ["1", "3"]);
}

#[test]
fn changes_are_applied_before_the_query() {
    let program = Program::new();
    let change =
        |before: &str, after: &str, op: &str| format!("{{\"before\":{before},\"after\":{after},\"op\":\"{op}\"}}\n");
    let row = |id: u32, owner: &str| format!("{{\"id\":{id},\"owner\":\"{owner}\"}}");
    let (zhang, li, wang) = (row(1, "Zhang San"), row(1, "Li Si"), row(2, "Wang Wu"));
    program.write(
        "changes.jsonl",
        &[
            change("null", &zhang, "c"),
            change("null", &wang, "c"),
            change(&zhang, &li, "u"),
            change(&wang, "null", "d"),
        ]
        .concat(),
    );
    let sql = "SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE accounts (id INT, owner STRING, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'filesystem', 'path' = 'changes.jsonl', 'format' = 'debezium-json');
        SELECT owner, COUNT(*) AS n FROM accounts GROUP BY owner;";
    let ran = program.run_script(sql).exits(0);
    assert!(ran.out.contains("| Li Si | 1 |") && ran.out.ends_with("1 row in set\n"), "{}", ran.out);
}

#[test]
fn tables_without_an_end_are_refused_by_name() {
    let endless = "CREATE TABLE g (id INT) WITH ('connector' = 'datagen');";
    let batch = format!("SET 'execution.runtime-mode' = 'batch'; {endless} SELECT * FROM g;");
    program().run_script(&batch).exits(2).says(&["HW-P054", "table g", "datagen"]);
}

#[test]
fn automatic_is_batch_where_every_table_ends() {
    let sql = "SET 'execution.runtime-mode' = 'automatic';
        CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '5', 'fields.id.kind' = 'sequence',
            'fields.id.start' = '1', 'fields.id.end' = '5', 'rows-per-second' = '100000');
        CREATE TABLE endless (id BIGINT) WITH ('connector' = 'datagen');
        SELECT SUM(id) AS total FROM g;
        EXPLAIN SELECT * FROM g; EXPLAIN SELECT * FROM endless;";
    let ran = program().run_script(sql).exits(0);
    assert!(ran.out.contains("|    15 |") && ran.out.contains("1 row in set"), "{}", ran.out);
    assert_eq!(ran.out.matches("mode=[batch]").count(), 1, "{}", ran.out);
}

#[test]
fn explain_shows_what_runs() {
    let program = program();
    program.write("script.sql", &format!("{TABLE} SELECT region FROM orders ORDER BY amount LIMIT 2;"));
    let ran = program.run(&["explain", "script.sql"]).exits(0);
    for part in ["SortExec", "TableExec: table=orders, columns=[region, amount]"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let json: serde_json::Value =
        serde_json::from_str(&program.run(&["explain", "--json", "script.sql"]).exits(0).out).expect("JSON");
    assert!(json["jobs"][0]["batch"][0].as_str().is_some_and(|plan| plan.contains("SortExec")), "{json}");
}

#[test]
fn what_fails_names_the_value_and_leaves_nothing() {
    let program = program();
    let sql = format!(
        "{TABLE} CREATE TABLE s (x INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
        INSERT INTO s SELECT 10 / (amount - 5) FROM orders;"
    );
    program.run_script(&sql).exits(1).says(&["zero"]);
    assert!(program.lines_below("out").is_empty());
}

#[test]
fn a_query_that_is_stopped_writes_nothing() {
    let program = Program::new();
    let sql = "SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '1000000', 'rows-per-second' = '50');
        CREATE TABLE s (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
        INSERT INTO s SELECT id FROM g;";
    program.write("script.sql", sql);
    let mut running = program.start(&["run", "script.sql"]);
    running.wait_until("rows are read", |job| rows(job, "source", "rows_in") > 0);
    running.signal("INT");
    running.end().exits(1).says(&["HW-R062"]);
    assert!(program.lines_below("out").is_empty());
}
