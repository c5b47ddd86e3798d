//! Runs `exprs.sql`: one scalar expression a line, with Flink's type and value.

use super::case::{CaseSession, Unset};
use super::connector::QUERY;
use super::expected::ErrorPhase;
use super::{Failure, OracleOptions, Standing, Verdict};
use planner::Outcome;
use std::path::Path;

/// What an expression gave.
#[derive(Debug, PartialEq, Eq)]
enum Given {
    /// Type, and the value as a JSON string or null.
    Value(String, Option<String>),
    /// Rejected while planning, or failed while running.
    Failed(Failure),
    /// Neither.
    Nothing(&'static str),
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
    let mut unset = Unset::default();
    for line in expressions.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--")) {
        let answer = answers.next().ok_or("expected.exprs has too few lines")?;
        if let Some(setting) = line.strip_prefix("@SET ") {
            let (key, value) = setting.split_once('=').ok_or_else(|| format!("bad line {line}"))?;
            let sql = format!("SET '{}' = '{}'", key.trim(), value.trim());
            let script = syntax::Script::new("exprs.sql", &sql);
            for statement in script.statements() {
                if let Err(error) = case.session.execute(&script, &statement) {
                    let failure = Failure::new(ErrorPhase::Planning, &error);
                    verdicts.push(unset.blame(Verdict::error(line, "runs", &failure), &sql));
                }
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
        let mut verdict = unset.blame(judge(line, sql_type, value, &given), line);
        verdict.expression = true;
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

async fn evaluate(case: &mut CaseSession, expression: &str, options: &OracleOptions) -> Given {
    let script = syntax::Script::new("exprs.sql", format!("SELECT {expression}"));
    let Some(statement) = script.statements().next() else { return Given::Nothing("no statement") };
    let job = match case.session.execute(&script, &statement) {
        Err(error) => return Given::Failed(Failure::new(ErrorPhase::Planning, &error)),
        Ok(executed) => match executed.outcome {
            Outcome::Job(job) => job,
            _ => return Given::Nothing("not a query"),
        },
    };
    let sql_type = job.row.as_ref().and_then(|row| row.fields().first()).map(|field| field.sql_type.to_string());
    if let Err(failure) = case.run_job(*job, options).await {
        case.captured.take();
        return Given::Failed(failure);
    }
    let value = case.captured.take().remove(QUERY).and_then(|result| result.changes.into_iter().next());
    match value.and_then(|change| change.cells.into_iter().next()) {
        Some(cell) => Given::Value(sql_type.unwrap_or_default(), cell),
        None => Given::Nothing("no row"),
    }
}

fn judge(line: &str, sql_type: &str, value: &str, given: &Given) -> Verdict {
    let wanted_phase = match (sql_type, value) {
        ("!VALIDATION", _) => Some(ErrorPhase::Planning),
        (_, value) if value.starts_with("!RUNTIME") => Some(ErrorPhase::Running),
        _ => None,
    };
    match given {
        Given::Failed(failure) if wanted_phase == Some(failure.phase) => Verdict::pass(line, "error"),
        Given::Failed(failure) => {
            let mut verdict = Verdict::error(line, "value", failure);
            if let Standing::Failed(why) = &mut verdict.standing {
                *why = format!("expected {sql_type} {value}: {why}");
            }
            verdict
        }
        Given::Nothing(why) => Verdict::fail(line, "value", format!("expected {sql_type} {value}: {why}")),
        Given::Value(found_type, found) => {
            let found = serde_json::to_string(found).unwrap_or_default();
            if sql_type == found_type && value == found {
                return Verdict::pass(line, "value");
            }
            let found = format!("{found_type} {found}");
            Verdict::fail(line, "value", format!("expected {sql_type} {value}; found {found}")).found(found)
        }
    }
}
