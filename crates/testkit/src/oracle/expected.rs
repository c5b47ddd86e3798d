//! Reads what Flink answered: `expected.changelog`, `expected.table`, `expected.error`.

use super::compare::Change;
use base::RowKind;
use std::collections::BTreeMap;

/// One expected result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedResult {
    /// The statement's number.
    pub statement: usize,
    /// The sink's name; `None` for a SELECT, SHOW or DESCRIBE.
    pub sink: Option<String>,
    /// Columns with types, and for a sink its mode: `k STRING, c BIGINT [upsert]`; `None` for SHOW and DESCRIBE.
    pub schema: Option<String>,
    /// Changes in order.
    pub changes: Vec<Change>,
    /// The final table, sorted; `None` where the case has none.
    pub table: Option<Vec<Vec<Option<String>>>>,
}

/// All answers of a case.
#[derive(Debug, Default)]
pub struct Expected {
    /// Results in order.
    pub results: Vec<ExpectedResult>,
    /// Contents of files written by sinks, by normalised path.
    pub files: BTreeMap<String, String>,
    /// Statements that failed, and whether while the job ran.
    pub errors: BTreeMap<usize, ErrorPhase>,
}

/// When a statement failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorPhase {
    /// Before the job started.
    Planning,
    /// While the job ran.
    Running,
}

/// A JSON array of strings and nulls.
fn cells(json: &str) -> Result<Vec<Option<String>>, String> {
    serde_json::from_str(json).map_err(|error| format!("expected row {json}: {error}"))
}

/// `# [4] sink s1: k STRING [upsert]`, `# [2] k STRING`, `# [3] SHOW TABLES => ...`.
fn header(line: &str) -> Option<(usize, Option<String>, Option<String>)> {
    let rest = line.strip_prefix("# [")?;
    let (number, rest) = rest.split_once(']')?;
    let statement = number.parse().ok()?;
    let rest = rest.trim_start();
    if let Some((name, schema)) = rest.strip_prefix("sink ").and_then(|rest| rest.split_once(": ")) {
        return Some((statement, Some(name.to_string()), Some(schema.to_string())));
    }
    if rest.contains(" => ") {
        return Some((statement, None, None));
    }
    Some((statement, None, Some(rest.to_string())))
}

/// Reads the three files' texts; missing files are empty.
///
/// # Errors
/// A line that does not fit the layout.
pub fn parse(changelog: &str, table: &str, error: &str) -> Result<Expected, String> {
    let mut expected = Expected::default();
    let mut file: Option<String> = None;
    for line in changelog.lines() {
        if let Some(path) = line.strip_prefix("# file ") {
            file = Some(path.to_string());
            expected.files.insert(path.to_string(), String::new());
        } else if let Some(path) = &file {
            let body = expected.files.entry(path.clone()).or_default();
            body.push_str(line);
            body.push('\n');
        } else if let Some((statement, sink, schema)) = header(line) {
            expected.results.push(ExpectedResult { statement, sink, schema, changes: Vec::new(), table: None });
        } else if !line.is_empty() {
            let (kind, row) = line.split_once('\t').ok_or_else(|| format!("expected.changelog: {line}"))?;
            let kind = RowKind::parse(kind).ok_or_else(|| format!("expected.changelog: {line}"))?;
            let result = expected.results.last_mut().ok_or("expected.changelog: a row before the first header")?;
            result.changes.push(Change { kind, cells: cells(row)?, step: 0 });
        }
    }
    let mut current: Option<usize> = None;
    for line in table.lines() {
        if let Some((statement, sink, _)) = header(line) {
            current = expected.results.iter().position(|result| result.statement == statement && result.sink == sink);
            if let Some(index) = current {
                expected.results[index].table = Some(Vec::new());
            }
        } else if let (Some(index), false) = (current, line.is_empty()) {
            expected.results[index].table.get_or_insert_default().push(cells(line)?);
        }
    }
    expected.errors = errors(error);
    Ok(expected)
}

/// Flink wraps what fails while a job runs; everything else failed while the statement was planned.
fn errors(text: &str) -> BTreeMap<usize, ErrorPhase> {
    let mut errors = BTreeMap::new();
    let mut statement = 0;
    for line in text.lines() {
        if let Some((number, _)) = line.strip_prefix("# [").and_then(|rest| rest.split_once(']')) {
            statement = number.parse().unwrap_or(0);
            errors.insert(statement, ErrorPhase::Planning);
        } else if line.contains("Failed to fetch next result")
            || line.contains("Failed to wait job finish")
            || line.contains("JobExecutionException")
            || line.contains("Job execution failed")
            || line.contains("JobClient")
        {
            errors.insert(statement, ErrorPhase::Running);
        }
    }
    errors
}
