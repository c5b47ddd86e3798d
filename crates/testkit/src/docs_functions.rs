//! The page of functions: what is there, by topic, with examples; and what Flink has besides.
//!
//! Descriptions and examples stand beside the functions; a test computes every example.

use crate::docs::cell;
use crate::oracle::CaseSession;
use functions::{Category, FunctionDoc};
use std::collections::BTreeMap;

/// What Flink's SHOW FUNCTIONS answers, and where it is here.
const FLINK_FUNCTIONS: &str = include_str!("../flink_functions.tsv");

/// Functions that other names are bound to.
const INTERNAL: &[&str] = &["JSON TEXT"];

/// A function or operator of this build.
#[derive(Debug, Clone)]
pub struct Documented {
    /// Its name.
    pub name: &'static str,
    /// The calls that it takes.
    pub forms: &'static str,
    /// Its description, if it has one.
    pub doc: Option<FunctionDoc>,
}

/// Every scalar and aggregate function and every form with a syntax of its own, in the order of the page; those for
/// internal use are left out.
pub fn documented() -> Vec<Documented> {
    let form = |name: &str| functions::scalar_forms(name).unwrap_or_default();
    let described = functions::scalar_docs().map(|(name, doc)| Documented { name, forms: form(name), doc: Some(*doc) });
    let lacking = functions::scalar_names().into_iter().filter(|name| functions::scalar_doc(name).is_none());
    let lacking = lacking.map(|name| Documented { name, forms: form(name), doc: None });
    let aggregates = functions::aggregate_names().into_iter();
    let aggregates = aggregates.map(|name| Documented { name, forms: "", doc: functions::aggregate_doc(name) });
    let all = described.chain(lacking).chain(aggregates);
    all.filter(|function| !function.name.starts_with('$') && !INTERNAL.contains(&function.name)).collect()
}

/// The expressions of all examples of scalar functions.
pub fn examples() -> Vec<&'static str> {
    let scalars = documented().into_iter().filter_map(|function| function.doc);
    let scalars = scalars.filter(|doc| doc.category != Category::Aggregate);
    scalars.flat_map(|doc| doc.examples).map(|(expression, _)| *expression).collect()
}

/// One line of the list of Flink's functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// A function of this name.
    Function(&'static str),
    /// An expression with a syntax of its own.
    Syntax(&'static str),
    /// Not built yet.
    Later(&'static str),
    /// No function of scripts.
    None(&'static str),
}

/// Flink's names with what they are here.
pub fn flink_functions() -> Vec<(&'static str, Status)> {
    let lines = FLINK_FUNCTIONS.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.filter_map(|line| {
        let mut parts = line.split('\t');
        Some((parts.next()?, parts.next()?, parts.next()?))
    });
    parts
        .map(|(name, kind, value)| match kind {
            "f" => (name, Status::Function(value)),
            "syntax" => (name, Status::Syntax(value)),
            "later" => (name, Status::Later(value)),
            _ => (name, Status::None(value)),
        })
        .collect()
}

/// Whether this build has a function.
pub fn is_there(name: &str) -> bool {
    let known = [functions::scalar(name).is_some(), functions::aggregate(name).is_some()];
    known.contains(&true) || functions::scalar_doc(name).is_some()
}

/// The generated part of the page.
pub fn page() -> String {
    let mut topics: BTreeMap<Category, Vec<Documented>> = BTreeMap::new();
    for function in documented() {
        let Some(doc) = function.doc else { continue };
        topics.entry(doc.category).or_default().push(function);
    }
    let mut out = String::new();
    for category in Category::ALL {
        let Some(members) = topics.get(&category) else { continue };
        let (en, zh) = category.title();
        let heading = if en == zh { en.to_string() } else { format!("{en} {zh}") };
        out.push_str(&format!("\n## {heading}\n\n| function | what it gives | 说明 | examples |\n|---|---|---|---|\n"));
        for function in members {
            out.push_str(&line(function));
        }
    }
    out.push_str(&remaining());
    out
}

fn line(function: &Documented) -> String {
    let Some(doc) = function.doc else { return String::new() };
    let forms = match function.forms {
        "" => format!("`{}`", cell(function.name)),
        // The forms of an operator do not always show its sign.
        forms if forms.contains(function.name) => code(forms),
        forms => format!("{}: {}", code(function.name), cell(forms)),
    };
    let examples: Vec<String> =
        doc.examples.iter().map(|(expression, value)| format!("{} = {}", code(expression), code(value))).collect();
    format!("| {forms} | {} | {} | {} |\n", cell(doc.en), cell(doc.zh), examples.join("<br>"))
}

/// Text as code inside a table cell.
fn code(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".into();
    }
    let fence = if text.contains('`') { "`` " } else { "`" };
    let end = if text.contains('`') { " ``" } else { "`" };
    format!("{fence}{}{end}", cell(text))
}

/// Expressions that are no calls of a registered function, and what is missing.
fn remaining() -> String {
    let mut out = String::from("\n## With a syntax of their own 特殊语法\n\n| Flink's name | written |\n|---|---|\n");
    let all = flink_functions();
    for (name, status) in &all {
        if let Status::Syntax(expression) = status {
            out.push_str(&format!("| {name} | {} |\n", code(expression)));
        }
    }
    out.push_str("\n## Not in this version 尚未支持\n\nA call is refused by name. What Flink lists and no SQL script calls is here too.\n\n");
    out.push_str("| Flink's name | status |\n|---|---|\n");
    for (name, status) in &all {
        let text = match status {
            Status::Function(function) if !is_there(function) => "not built yet".to_string(),
            Status::Later(feature) => format!("comes with: {feature}"),
            Status::None(reason) => format!("not for scripts: {reason}"),
            _ => continue,
        };
        out.push_str(&format!("| {name} | {} |\n", cell(&text)));
    }
    out
}

/// Computes every example; gives those that are not as they say.
///
/// # Errors
/// A session that does not take its settings.
pub fn wrong_examples() -> Result<Vec<String>, String> {
    let mut case = CaseSession::planning();
    case.define("SET 'table.local-time-zone' = 'UTC'")?;
    let mut wrong = Vec::new();
    for function in documented() {
        for (expression, value) in function.doc.map_or(&[] as &[_], |doc| doc.examples) {
            let from = match function.doc.map(|doc| doc.category) {
                Some(Category::Aggregate) => " FROM (VALUES (1), (2), (3)) AS v (x)",
                _ => "",
            };
            match case.value(&format!("SELECT {expression}{from}")) {
                Ok(found) if found.as_deref().unwrap_or("NULL") == *value => {}
                Ok(found) => wrong.push(format!("{}: {expression} = {found:?}, not {value}", function.name)),
                Err(why) => wrong.push(format!("{}: {expression}: {why}", function.name)),
            }
        }
    }
    Ok(wrong)
}

/// Plans every expression that the page names without a value; gives those that are refused.
///
/// # Errors
/// A session that does not take its table.
pub fn refused_expressions() -> Result<Vec<String>, String> {
    let mut case = CaseSession::planning();
    case.define("CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'oracle')")?;
    let mut refused = Vec::new();
    for (name, status) in flink_functions() {
        if let Status::Syntax(expression) = status
            && let Err(why) = case.define(&format!("CREATE TEMPORARY VIEW `{name}` AS SELECT {expression} AS x FROM t"))
        {
            refused.push(format!("{name}: {why}"));
        }
    }
    Ok(refused)
}
