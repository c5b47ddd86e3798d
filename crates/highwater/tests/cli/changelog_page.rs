//! The story of the page about changes, run as it stands there.

use crate::program::Program;

/// The fenced blocks of a language.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn amounts_follow_their_orders() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/changelog.md");
    let page = std::fs::read_to_string(page).expect("docs/changelog.md");
    let ([records], [script], [changes]) =
        (&blocks(&page, "json")[..], &blocks(&page, "sql")[..], &blocks(&page, "text")[..])
    else {
        panic!("one block of records, one script, one result");
    };
    let program = Program::new();
    program.write("orders.jsonl", records);
    program.write("story.sql", script);
    let ran = program.run(&["run", "story.sql"]).exits(0);
    let rows: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("| +") || line.starts_with("| -")).collect();
    assert_eq!(rows, changes.lines().collect::<Vec<_>>());
}
