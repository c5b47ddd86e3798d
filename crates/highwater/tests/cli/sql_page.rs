//! The examples of the reference of statements.

use crate::program::Program;

/// The SQL blocks of a page, each a script of its own.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in page.lines() {
        match (&mut block, line) {
            (None, "```sql") => block = Some(String::new()),
            (Some(_), "```") => blocks.extend(block.take()),
            (Some(text), line) => {
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn the_examples_of_the_page_are_planned() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sql.md");
    let blocks = blocks(&std::fs::read_to_string(page).expect("docs/sql.md"));
    assert!(blocks.len() >= 7, "{} blocks", blocks.len());
    for (index, block) in blocks.iter().enumerate() {
        let program = Program::new();
        let name = format!("block-{index}.sql");
        program.write(&name, block);
        let ran = program.run(&["explain", &name]);
        assert_eq!(ran.code, 0, "{block}\n{}", ran.err);
        assert!(!ran.out.is_empty(), "{block}");
    }
}

#[test]
fn partitions_and_passwords_of_real_connectors() {
    let program = Program::new();
    program.write(
        "kafka.sql",
        "CREATE TABLE t (a INT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'kafka', 'topic' = 't', \
         'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');",
    );
    program.run(&["explain", "kafka.sql"]).exits(2).says(&["HW-P124", "PARTITIONED BY", "kafka"]);
    program.write(
        "jdbc.sql",
        "CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://h:1/d', \
         'table-name' = 't', 'username' = 'me', 'password' = 'geheim');\nSHOW CREATE TABLE t;",
    );
    let ran = program.run(&["explain", "jdbc.sql"]).exits(0);
    assert!(ran.out.contains("'password' = '***'") && !ran.out.contains("geheim"), "{}", ran.out);
}
