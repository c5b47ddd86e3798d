//! Cases that were wrong once, run again.

use super::case::{TextRows, Way};
use super::compare::check;
use super::run::{Script, run};
use crate::oracle::{LogEvent, QUERY, parse_log};
use std::path::{Path, PathBuf};

/// Runs every case of the folder in several ways; how many there are.
///
/// # Errors
/// What is wrong, a line per case and way.
pub fn replay(folder: &Path) -> Result<usize, String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    let mut problems = Vec::new();
    for case in &cases {
        if let Err(problem) = runtime.block_on(replay_case(case)) {
            problems.push(format!("{}: {problem}", case.display()));
        }
    }
    if problems.is_empty() { Ok(cases.len()) } else { Err(problems.join("\n")) }
}

async fn replay_case(folder: &Path) -> Result<(), String> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let sql = read("case.sql")?;
    let source = syntax::Script::new("case.sql", &sql);
    let mut statements: Vec<String> = source.statements().map(|statement| statement.text.to_string()).collect();
    let statement = statements.pop().ok_or("case.sql: no statement")?;
    let script = Script::new(statements, statement);
    let log = parse_log(&read("input.log")?)?;
    let mut expected: TextRows = read("expected.table")?
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("expected.table: {error}")))
        .collect::<Result<_, String>>()?;
    expected.sort();
    let count = log.len();
    let events: Vec<(LogEvent, Option<usize>)> =
        log.into_iter().enumerate().map(|(index, event)| (event, Some(index + 1))).collect();
    for way in ways(count) {
        let ran = run(&script, &events, &way).await.map_err(|stopped| format!("{way:?}: {stopped:?}"))?;
        let at_end = |steps: usize| (steps == count).then(|| expected.clone());
        check(&ran, QUERY, &ran.upsert_keys, &at_end).map_err(|problem| format!("{way:?}: {problem}"))?;
    }
    Ok(())
}

fn ways(events: usize) -> Vec<Way> {
    let way = |batch, parallelism, rest_every, restarts: Vec<usize>| Way {
        batch,
        parallelism,
        rest_every,
        restarts,
        looks: Vec::new(),
    };
    vec![
        way(1, 1, 1, Vec::new()),
        way(4096, 1, 0, Vec::new()),
        way(1, 3, 0, Vec::new()),
        way(2, 2, 1, (1..=events).filter(|event| event % 2 == 0).collect()),
    ]
}
