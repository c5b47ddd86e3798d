//! Runs `exprs.sql`: one scalar expression a line, with Flink's type and value.

use super::case::CaseSession;
use super::connector::QUERY;
use super::{OracleOptions, Verdict};
use planner::Outcome;
use std::path::Path;

/// What an expression gave.
#[derive(Debug, PartialEq, Eq)]
enum Given {
    /// Type, and the value as a JSON string or null.
    Value(String, Option<String>),
    /// Rejected while planning.
    Validation(String),
    /// Failed while running.
    Runtime(String),
}

/// Runs the expressions of `folder`.
///
/// # Errors
/// A folder that does not have the layout of an expression case.
pub async fn run(folder: &Path, options: &OracleOptions) -> Result<Vec<Verdict>, String> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let (expressions, expected) = (text("exprs.sql")?, text("expected.exprs")?);
    let mut case = CaseSession::new(Vec::new(), false);
    let mut answers = expected.lines();
    let mut verdicts = Vec::new();
    for line in expressions.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--")) {
        let answer = answers.next().ok_or("expected.exprs has too few lines")?;
        if let Some(setting) = line.strip_prefix("@SET ") {
            let (key, value) = setting.split_once('=').ok_or_else(|| format!("bad line {line}"))?;
            let sql = format!("SET '{}' = '{}'", key.trim(), value.trim());
            let script = syntax::Script::new("exprs.sql", &sql);
            for statement in script.statements() {
                case.session.execute(&script, &statement).map_err(|error| error.to_string())?;
            }
            continue;
        }
        let mut parts = answer.split('\t');
        let (expression, sql_type, value) =
            (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if expression != line {
            return Err(format!("expected.exprs answers {expression}, not {line}"));
        }
        let given = evaluate(&mut case, line, options).await;
        verdicts.push(judge(line, sql_type, value, &given));
    }
    Ok(verdicts)
}

async fn evaluate(case: &mut CaseSession, expression: &str, options: &OracleOptions) -> Given {
    let script = syntax::Script::new("exprs.sql", format!("SELECT {expression}"));
    let Some(statement) = script.statements().next() else { return Given::Validation("no statement".into()) };
    let job = match case.session.execute(&script, &statement) {
        Err(error) => return Given::Validation(error.to_string()),
        Ok(executed) => match executed.outcome {
            Outcome::Job(job) => job,
            _ => return Given::Validation("not a query".into()),
        },
    };
    let sql_type = job.row.as_ref().and_then(|row| row.fields().first()).map(|field| field.sql_type.to_string());
    if let Err(why) = case.run_job(*job, options).await {
        case.captured.take();
        return Given::Runtime(why);
    }
    let value = case.captured.take().remove(QUERY).and_then(|result| result.changes.into_iter().next());
    match value.and_then(|change| change.cells.into_iter().next()) {
        Some(cell) => Given::Value(sql_type.unwrap_or_default(), cell),
        None => Given::Runtime("no row".into()),
    }
}

fn judge(line: &str, sql_type: &str, value: &str, given: &Given) -> Verdict {
    let name = line.to_string();
    let fail = |why: String| Verdict::fail(name.clone(), "value", why);
    match given {
        Given::Validation(_) if sql_type == "!VALIDATION" => Verdict::pass(name, "error"),
        Given::Runtime(_) if value.starts_with("!RUNTIME") => Verdict::pass(name, "error"),
        Given::Validation(why) | Given::Runtime(why) => fail(format!("expected {sql_type} {value}: {why}")),
        Given::Value(found_type, found) => {
            let found = serde_json::to_string(found).unwrap_or_default();
            if sql_type == found_type && value == found {
                Verdict::pass(name, "value")
            } else {
                fail(format!("expected {sql_type} {value}; found {found_type} {found}"))
            }
        }
    }
}
