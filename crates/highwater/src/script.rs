//! From a script file to planned jobs: everything is planned before anything starts, so that a script with an error
//! writes no row.

use crate::cli::ScriptArgs;
use crate::codes::{MISSING_VARIABLE, NOT_TEXT};
use crate::{mask, output, table_text};
use base::config::DML_SYNC;
use base::error::Label;
use base::{Error, Language, Location, Result};
use planner::{Outcome, PlannedJob, Session};
use std::io::Read;
use std::path::Path;
use syntax::Script;

/// A job of the script, in script order.
#[derive(Debug)]
pub struct ScriptJob {
    /// The plan.
    pub job: PlannedJob,
    /// Whether the next one waits for its end.
    pub wait: bool,
    /// Its statement.
    pub place: Location,
}

/// What a script asks for, planned.
#[derive(Debug)]
pub struct PlannedScript {
    /// Name of the run: `pipeline.name`, else the file's name without extension.
    pub name: String,
    /// Whether the script sets that name.
    pub is_named: bool,
    /// The jobs.
    pub jobs: Vec<ScriptJob>,
    /// Language of messages.
    pub language: Language,
    /// Whether a statement has printed something: a script of SHOW and EXPLAIN needs no job.
    pub has_output: bool,
}

/// Reads a script and puts its variables in.
///
/// # Errors
/// A file that cannot be read, is not UTF-8, or uses a variable without a value.
pub fn load(args: &ScriptArgs) -> Result<Script> {
    let path = args.path();
    let name = path.display().to_string();
    let text = decode(read(&path)?, &name)?;
    let lookup =
        |wanted: &str| args.variables.iter().rev().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let text = syntax::substitute(&text, lookup).map_err(|missing| {
        let reference = format!("${{{}}}", missing.name);
        Error::new(&MISSING_VARIABLE, &[("name", &missing.name), ("reference", &reference), ("script", &name)]).at(
            Location::Sql {
                script: name.clone(),
                line: missing.line,
                column: missing.column,
                source_line: text.lines().nth(missing.line.saturating_sub(1) as usize).map(str::to_string),
            },
        )
    })?;
    Ok(Script::new(&name, &text))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|cause| Error::io("read", "standard input", &cause))?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|cause| Error::io("read", path.display(), &cause))
}

fn decode(bytes: Vec<u8>, name: &str) -> Result<String> {
    String::from_utf8(bytes)
        .map_err(|error| Error::new(&NOT_TEXT, &[("script", &name), ("offset", &error.utf8_error().valid_up_to())]))
}

/// Executes every statement against the session's catalog and plans every job. Results of SHOW, DESCRIBE and EXPLAIN go to
/// standard output, warnings to standard error.
///
/// # Errors
/// The first statement that is refused, or a job that can be planned and not run.
pub fn plan(script: &Script, session: &mut Session, language: Language) -> Result<PlannedScript> {
    let planned = plan_showing(script, session, language, output::print)?;
    match planned.jobs.iter().find_map(|planned| Some((planned.job.refusal()?, planned.place.clone()))) {
        Some((error, place)) => Err(error.at(place)),
        None => Ok(planned),
    }
}

/// The same, with results of statements going to `show`.
///
/// # Errors
/// The first statement that is refused.
pub fn plan_showing(
    script: &Script,
    session: &mut Session,
    language: Language,
    show: fn(&str),
) -> Result<PlannedScript> {
    let mut jobs = Vec::new();
    let mut language = language;
    let mut has_output = false;
    for statement in script.statements() {
        let executed = session.execute(script, &statement)?;
        language = session.config()?.language.unwrap_or(language);
        for warning in &executed.warnings {
            eprintln!("{}", mask::render(warning, language, Label::Warning));
        }
        match executed.outcome {
            Outcome::Done => {}
            Outcome::Text(text) => {
                has_output = true;
                show(&format!("{}\n", text.trim_end()));
            }
            Outcome::Table { columns, rows } => {
                has_output = true;
                match rows.as_slice() {
                    // The text of SHOW CREATE TABLE, ready to be copied.
                    [row] if matches!(row.as_slice(), [Some(text)] if text.contains('\n')) => {
                        show(&format!("{}\n", row.iter().flatten().map(|text| text.trim_end()).collect::<String>()));
                    }
                    _ => show(&table_text::table(&columns, &rows)),
                }
            }
            Outcome::Job(job) => {
                let is_query = job.kind == planner::JobKind::Query;
                let wait = is_query || session.options().boolean(&DML_SYNC.spec)?;
                let place = Location::Sql {
                    script: script.name().to_string(),
                    line: statement.line,
                    column: statement.column,
                    source_line: script.line(statement.line).map(str::to_string),
                };
                jobs.push(ScriptJob { job: *job, wait, place });
            }
        }
    }
    let named = session.config()?.name;
    let is_named = named.is_some();
    let name = named.unwrap_or_else(|| default_name(script.name()));
    Ok(PlannedScript { name, is_named, jobs, language, has_output })
}

/// The file's name without its extension.
fn default_name(script: &str) -> String {
    match Path::new(script).file_stem().and_then(|stem| stem.to_str()) {
        Some("-") | None => "stdin".into(),
        Some(stem) => stem.into(),
    }
}
