//! Runs a case in several ways and judges what comes out.

use super::case::{Case, TextRows, Way};
use super::compare::{check, difference, doubled, materialise_by_key};
use super::reference;
use super::run::{Ran, Script, Stopped, run};
use super::value::Type;
use crate::oracle::{LogEvent, QUERY};
use std::collections::BTreeSet;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The kind of problem; stays the same while a case is made smaller.
    pub kind: String,
    /// How it was run.
    pub way: Way,
    /// What was found.
    pub text: String,
}

/// What was compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The operators of the plan.
    pub operators: BTreeSet<&'static str>,
    /// Whether the result also went through a keyed sink.
    pub sunk: bool,
    /// Whether batch mode was compared too.
    pub asked: bool,
    /// Rows of the result.
    pub rows: usize,
}

/// What a case gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Same(Compared),
    /// It needs what is not built.
    Unsupported(String),
    /// It was refused: code and text.
    Refused(&'static str, String),
    /// Its result cannot be computed here.
    Beyond,
    /// Wrong.
    Wrong(Box<Wrong>),
}

/// Runs a case in each of the ways.
pub async fn judge(case: &Case, ways: &[Way]) -> Verdict {
    let Ok(rows) = case.expected(case.steps.len(), false).map(|rows| rows.len()) else { return Verdict::Beyond };
    let script = Script::new(case.definitions(), case.sql());
    let events = case.events();
    let expected = |steps: usize| case.expected(steps, false).ok();
    let mut operators = BTreeSet::new();
    let mut sunk = false;
    for (index, way) in ways.iter().enumerate() {
        let ran = match run(&script, &events, way).await {
            Ok(ran) => ran,
            Err(stopped) => return stopped_verdict(stopped, way),
        };
        if let Err(text) = check(&ran, QUERY, &ran.upsert_keys, &expected) {
            let kind = if text.contains("upsert key") { "key" } else { "result" };
            return wrong(kind, way, text);
        }
        operators.extend(ran.operators.iter().copied());
        if index == 0 {
            match sink(case, &ran, &events, way, &expected).await {
                Ok(done) => sunk = done,
                Err(verdict) => return verdict,
            }
        }
    }
    match second_opinion(case, ways).await {
        Ok(asked) => Verdict::Same(Compared { operators, sunk, asked, rows }),
        Err(verdict) => verdict,
    }
}

/// Compares batch mode with what the query means; false if batch mode does not take the query.
async fn second_opinion(case: &Case, ways: &[Way]) -> Result<bool, Verdict> {
    // In a batch all rows come at the same time.
    if case.minds_arrival() {
        return Ok(false);
    }
    let mut looks: Vec<usize> = ways.iter().flat_map(|way| way.looks.clone()).collect();
    looks.truncate(1);
    looks.push(case.steps.len());
    let tables = match reference::run(case, &looks).await {
        Ok(tables) => tables,
        Err(Stopped::Unsupported(_)) => return Ok(false),
        Err(Stopped::Refused(code, text) | Stopped::Failed(code, text)) => {
            return Err(wrong(&format!("batch failed {code}"), &Way::plain(), text));
        }
    };
    for (steps, found) in looks.into_iter().zip(tables) {
        if let Ok(wanted) = case.expected(steps, true)
            && wanted != found
        {
            let way = Way { looks: vec![steps], ..Way::plain() };
            let text = format!("batch mode, after {steps} steps: {}", difference(&wanted, &found));
            return Err(wrong("batch", &way, text));
        }
    }
    Ok(true)
}

/// Refusals that are meant.
const REFUSALS: &[&str] = &["HW-P540", "HW-P542", "HW-P611", "HW-P612"];

fn wrong(kind: &str, way: &Way, text: String) -> Verdict {
    Verdict::Wrong(Box::new(Wrong { kind: kind.into(), way: way.clone(), text }))
}

fn stopped_verdict(stopped: Stopped, way: &Way) -> Verdict {
    match stopped {
        Stopped::Unsupported(feature) => Verdict::Unsupported(feature),
        Stopped::Refused(code, text) if REFUSALS.contains(&code) => Verdict::Refused(code, text),
        Stopped::Refused(code, text) => wrong(&format!("refused {code}"), way, text),
        Stopped::Failed(code, text) => wrong(&format!("failed {code}"), way, text),
    }
}

/// Runs the case into a table with a primary key: a key that the planner has derived, or columns that are one.
async fn sink(
    case: &Case,
    ran: &Ran,
    events: &[(LogEvent, Option<usize>)],
    way: &Way,
    expected: &dyn Fn(usize) -> Option<TextRows>,
) -> Result<bool, Verdict> {
    let types = case.types();
    let tables: Vec<TextRows> = ran.looks.iter().filter_map(|&steps| expected(steps)).collect();
    let fits = |key: &Vec<usize>| {
        let null = |row: &Vec<Option<String>>| key.iter().any(|&column| row[column].is_none());
        !key.is_empty() && tables.iter().all(|rows| !rows.iter().any(null) && doubled(rows, key).is_none())
    };
    let single = (0..types.len()).map(|column| vec![column]);
    let all = std::iter::once((0..types.len()).collect());
    let Some(key) = ran.upsert_keys.iter().cloned().chain(single).chain(all).find(fits) else { return Ok(false) };
    let script = into_tables(case, &types, &key);
    let ran = match run(&script, events, way).await {
        Ok(ran) => ran,
        // A row on the way may have NULL in the key although no final one has.
        Err(Stopped::Failed(code, _)) if code == runtime::codes::NOT_NULL_VIOLATION.code => return Ok(false),
        Err(stopped) => return Err(stopped_verdict(stopped, way)),
    };
    check(&ran, "plain", &[], expected).map_err(|text| wrong("sink beside", way, text))?;
    for (steps, changes) in ran.looks_at("kept") {
        let found = materialise_by_key(changes, &key);
        if let Some(wanted) = expected(steps)
            && wanted != found
        {
            let text = format!("sink with key {key:?}, after {steps} steps: {}", difference(&wanted, &found));
            return Err(wrong("sink", way, text));
        }
    }
    Ok(true)
}

/// The case as an INSERT into a table with this key, and into one without.
fn into_tables(case: &Case, types: &[Type], key: &[usize]) -> Script {
    let columns: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(index, of)| format!("c{index} {}{}", of.sql(), if key.contains(&index) { " NOT NULL" } else { "" }))
        .collect();
    let key: Vec<String> = key.iter().map(|column| format!("c{column}")).collect();
    let mut definitions = case.definitions();
    definitions.push(format!(
        "CREATE TABLE kept ({}, PRIMARY KEY ({}) NOT ENFORCED) WITH ('connector' = 'oracle', 'sink-mode' = 'upsert')",
        columns.join(", "),
        key.join(", ")
    ));
    let columns: Vec<String> = types.iter().enumerate().map(|(index, of)| format!("c{index} {}", of.sql())).collect();
    let columns = columns.join(", ");
    definitions.push(format!("CREATE TABLE plain ({columns}) WITH ('connector' = 'oracle', 'sink-mode' = 'retract')"));
    let query = case.sql();
    let inserts = format!("INSERT INTO kept {query}; INSERT INTO plain {query};");
    Script::new(definitions, format!("EXECUTE STATEMENT SET BEGIN {inserts} END"))
}
