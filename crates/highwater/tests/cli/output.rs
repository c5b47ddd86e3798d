//! What is printed where.

use crate::program::Program;

#[test]
fn a_select_prints_its_changelog_to_standard_output() {
    let program = Program::new();
    program.write("in.jsonl", "{\"k\":\"a\"}\n{\"k\":\"b\"}\n{\"k\":\"a\"}\n");
    let sql = "SET 'highwater.batch-rows' = '1'; SET 'parallelism.default' = '1';
        CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
        SELECT k, COUNT(*) AS c FROM t GROUP BY k;";
    let ran = program.run_script(sql).exits(0);
    let rows: Vec<String> = ran
        .out
        .lines()
        .filter(|line| line.starts_with("| +") || line.starts_with("| -"))
        .map(|line| line.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(rows, ["+I a 1", "+I b 1", "-U a 1", "+U a 2"]);
    assert!(ran.out.ends_with("Received a total of 4 rows\n"), "{}", ran.out);
}

#[test]
fn the_readme_script_prints_what_the_readme_says() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let program = Program::new();
    let data = format!("DATA={root}/examples/orders.jsonl");
    let ran =
        program.run(&["run", &format!("{root}/examples/minute_gmv.sql"), "-D", &data, "--parallelism", "1"]).exits(0);
    assert_eq!(ran.out, "+I[2024-11-20T15:01, 3, 37.75]\n+I[2024-11-20T15:02, 2, 101.00]\n");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).expect("README");
    for line in ran.out.lines() {
        assert!(readme.contains(line), "{line}");
    }
}

#[test]
fn show_describe_and_explain_need_no_job() {
    let sql =
        "CREATE TABLE t (k STRING, v INT NOT NULL, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'blackhole');
        SHOW TABLES; DESCRIBE t; SET 'table.local-time-zone' = 'Asia/Shanghai'; SET;";
    let ran = Program::new().run_script(sql).exits(0);
    for part in [" t |", "INT | FALSE | PRI(v)", "Asia/Shanghai"] {
        assert!(ran.out.contains(part), "no {part} in {}", ran.out);
    }
}

#[test]
fn a_reader_that_leaves_early_ends_a_listing_quietly() {
    let program = Program::new();
    program.write("script.sql", "SHOW FUNCTIONS;");
    let (reader, writer) = std::io::pipe().expect("pipe");
    drop(reader);
    let output = program.command(&["run", "script.sql"]).stdout(writer).output().expect("run");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_demo_ends_with_the_table_and_counts_late_orders() {
    let program = Program::new();
    let ran = program.run(&["demo", "--orders", "3000", "--rate", "100000"]).exits(0).says(&["late_rows_dropped="]);
    assert!(ran.out.contains("window_start") && ran.out.contains("2024-11-20 15:00:00.000"), "{}", ran.out);
    assert!(ran.out.contains("order_count"), "{}", ran.out);
}

#[test]
fn a_saved_demo_runs_again_with_the_same_result() {
    let program = Program::new();
    let first = program.run(&["demo", "--orders", "3000", "--rate", "100000", "--save", "play"]).exits(0);
    let again = program.command(&["run", "minute_gmv.sql"]).current_dir(program.path("play")).output().expect("run");
    assert_eq!(String::from_utf8_lossy(&again.stdout), first.out);
}

#[test]
fn datagen_gives_the_same_rows_at_any_parallelism() {
    let sql = "CREATE TABLE g (id BIGINT, amount DECIMAL(10, 2)) WITH ('connector' = 'datagen', 'number-of-rows' = '500',
        'rows-per-second' = '1000000', 'seed' = '7', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '500',
        'fields.amount.distribution' = 'lognormal', 'fields.amount.mu' = '3', 'fields.amount.sigma' = '0.8');
        CREATE TABLE s (id BIGINT, amount DECIMAL(10, 2)) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
        INSERT INTO s SELECT id, amount FROM g;";
    let rows = |parallelism: &str| {
        let program = Program::new();
        program.write("script.sql", sql);
        program.run(&["run", "script.sql", "--parallelism", parallelism]).exits(0);
        program.lines_below("out")
    };
    let one = rows("1");
    assert_eq!(one.len(), 500);
    assert_eq!(one, rows("4"));
}

#[test]
fn two_queries_in_table_mode_give_two_tables() {
    let program = Program::new();
    program.write("in.jsonl", "{\"k\":\"a\"}\n");
    let sql = "SET 'sql-client.execution.result-mode' = 'table';
        CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
        SELECT k, 1 AS n FROM t; SELECT k AS other FROM t;";
    let ran = program.run_script(sql).exits(0);
    assert_eq!(ran.out.matches("1 row in set").count(), 2, "{}", ran.out);
    assert!(ran.out.contains("| k | n |") && ran.out.contains("| other |"), "{}", ran.out);
}

#[test]
fn show_create_table_can_be_copied() {
    let sql = "CREATE TABLE t (k STRING) WITH ('connector' = 'blackhole'); SHOW CREATE TABLE t;";
    let ran = Program::new().run_script(sql).exits(0);
    assert!(ran.out.starts_with("CREATE TABLE") && !ran.out.contains("+--"), "{}", ran.out);
}
