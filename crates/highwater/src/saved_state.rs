//! `highwater state`: what is in the checkpoints of a run, or in a savepoint.
//!
//! Nothing is changed or locked: the state of a running job can be looked at, as it was at its last checkpoint.

use crate::cli::{StateArgs, StateCommand, StateLsArgs, StateOfArgs, StateReadArgs};
use crate::codes::{NO_STATE, WHICH_STATE};
use crate::control;
use crate::places;
use crate::table_text::{aligned, table};
use crate::{EXIT_OK, language, output, refuse};
use arrow::array::{Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use base::changelog::slice_bytes;
use base::{Error, Result};
use runtime::{CheckpointStore, JobCheckpoint};
use serde_json::{Value, json};
use state::CheckpointPlace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `highwater state`; gives the exit code.
pub fn state(args: &StateArgs) -> u8 {
    let result = match &args.command {
        StateCommand::Ls(args) => list(args),
        StateCommand::Read(args) => read(args),
    };
    match result {
        Ok(()) => EXIT_OK,
        Err(error) => refuse(&error, language::from_environment()),
    }
}

/// The saved state of a job.
struct SavedJob {
    /// By what it is known.
    key: String,
    checkpoint: JobCheckpoint,
    written_ms: i64,
    operators: BTreeMap<String, Vec<SavedTable>>,
}

/// One table of an operator, of all its instances.
struct SavedTable {
    name: String,
    batches: Vec<RecordBatch>,
}

impl SavedTable {
    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Bytes of the rows in memory.
    fn bytes(&self) -> usize {
        self.batches.iter().map(slice_bytes).sum()
    }
}

impl SavedJob {
    fn new(key: String, checkpoint: JobCheckpoint, written_ms: i64) -> Result<SavedJob> {
        let mut operators = BTreeMap::new();
        for (operator, instances) in &checkpoint.operators {
            let mut tables: BTreeMap<String, Vec<RecordBatch>> = BTreeMap::new();
            for part in instances.iter().flatten() {
                for table in part.load()?.tables {
                    tables.entry(table.name).or_default().push(table.rows);
                }
            }
            let tables: Vec<SavedTable> =
                tables.into_iter().map(|(name, batches)| SavedTable { name, batches }).collect();
            if !tables.is_empty() {
                operators.insert(operator.clone(), tables);
            }
        }
        Ok(SavedJob { key, checkpoint, written_ms, operators })
    }

    fn name(&self, operator: &str) -> &str {
        self.checkpoint.names.get(operator).map_or("", String::as_str)
    }
}

/// The jobs that are meant.
fn load(of: &StateOfArgs) -> Result<Vec<SavedJob>> {
    if let Some(address) = of.job.as_deref().filter(|job| job.contains("://")) {
        return jobs_in(address, &[places::named(address)?]);
    }
    let path = of.job.as_ref().map(PathBuf::from).filter(|path| path.is_dir());
    if let Some(path) = path {
        if path.join(savepoint::MANIFEST).is_file() {
            let saved = savepoint::read(&path)?;
            let jobs = saved.jobs.into_iter();
            return jobs.map(|job| SavedJob::new(job.key, job.checkpoint, saved.written_ms)).collect();
        }
        return jobs_in(&path.display().to_string(), &[path.as_path().into()]);
    }
    let state_dir = control::state_dir(of.state_dir.state_dir.as_deref());
    let mut runs = Vec::new();
    for folder in folders(&state_dir) {
        if places::has_others(&folder) || !folders(&folder.join("checkpoints")).is_empty() {
            runs.push((file_name(&folder), folder));
        }
    }
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let choices = if names.is_empty() { "-".to_string() } else { names.join(", ") };
    match (&of.job, runs.as_slice()) {
        (Some(job), _) => {
            let wanted = control::file_name(job);
            let run = runs.iter().find(|(name, _)| *name == wanted);
            let (_, path) = run.ok_or_else(|| Error::new(&NO_STATE, &[("what", job), ("choices", &choices)]))?;
            jobs_in(job, &places::of_run(path)?)
        }
        (None, [(name, path)]) => jobs_in(name, &places::of_run(path)?),
        (None, []) => Err(Error::new(&NO_STATE, &[("what", &state_dir.display()), ("choices", &choices)])),
        (None, _) => Err(which("job", &choices, "highwater state ls JOB")),
    }
}

/// The jobs whose checkpoints are in some places, or in the places within these.
fn jobs_in(what: &str, places: &[CheckpointPlace]) -> Result<Vec<SavedJob>> {
    let mut jobs = Vec::new();
    for place in places {
        let mut all = place.folders()?;
        all.push((place.name(), place.clone()));
        for (key, place) in all {
            if let Some(stored) = CheckpointStore::peek(&place)? {
                jobs.push(SavedJob::new(key, stored.checkpoint, stored.written_ms)?);
            }
        }
    }
    if jobs.is_empty() {
        return Err(Error::new(&NO_STATE, &[("what", &what), ("choices", &"-")]));
    }
    Ok(jobs)
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn which(what: &str, choices: &str, fix: &str) -> Error {
    Error::new(&WHICH_STATE, &[("what", &what), ("choices", &choices), ("fix", &fix)])
}

fn list(args: &StateLsArgs) -> Result<()> {
    let jobs = load(&args.of)?;
    if args.of.json {
        output::line(&json!({ "jobs": jobs.iter().map(job_json).collect::<Vec<_>>() }).to_string());
        return Ok(());
    }
    for job in &jobs {
        let mut time = String::new();
        let unit = arrow::datatypes::TimeUnit::Millisecond;
        base::text::push_timestamp(&mut time, job.written_ms, unit, ' ', base::text::Fraction::Fixed(0));
        let over = if job.checkpoint.is_finished { ", its input had ended" } else { "" };
        output::line(&format!("job {} at checkpoint {} ({time} UTC{over})", job.key, job.checkpoint.epoch.0));
        for (source, state) in &job.checkpoint.sources {
            let splits: Vec<&str> = state.splits.iter().map(|state| &*state.split).collect();
            output::line(&format!("  {} ({source}) reads {}", job.name(source), splits.join(", ")));
        }
        let mut lines = vec![["operator", "id", "table", "rows", "bytes"].map(str::to_string).to_vec()];
        for (operator, tables) in &job.operators {
            for table in tables {
                lines.push(vec![
                    job.name(operator).to_string(),
                    operator.clone(),
                    table.name.clone(),
                    table.rows().to_string(),
                    table.bytes().to_string(),
                ]);
            }
        }
        aligned(&lines).iter().for_each(|line| output::line(&format!("  {line}")));
    }
    Ok(())
}

fn job_json(job: &SavedJob) -> Value {
    let table = |table: &SavedTable| json!({ "table": table.name, "rows": table.rows(), "bytes": table.bytes() });
    let operators = job.operators.iter().map(|(id, tables)| {
        json!({ "id": id, "name": job.name(id), "tables": tables.iter().map(table).collect::<Vec<_>>() })
    });
    let sources = job.checkpoint.sources.iter().map(|(id, source)| {
        let splits: Vec<&str> = source.splits.iter().map(|state| &*state.split).collect();
        json!({ "id": id, "name": job.name(id), "splits": splits })
    });
    json!({
        "job": job.key,
        "checkpoint": job.checkpoint.epoch.0,
        "written_ms": job.written_ms,
        "finished": job.checkpoint.is_finished,
        "sources": sources.collect::<Vec<_>>(),
        "operators": operators.collect::<Vec<_>>(),
    })
}

fn read(args: &StateReadArgs) -> Result<()> {
    let jobs = load(&args.of)?;
    let wanted = args.operator.as_deref();
    let mut found = Vec::new();
    for job in &jobs {
        for (operator, tables) in &job.operators {
            if wanted.is_none_or(|wanted| operator.starts_with(wanted)) {
                let matching = tables.iter().filter(|table| args.table.as_ref().is_none_or(|name| table.name == *name));
                found.extend(matching.map(|table| (format!("{operator} {}", table.name), table)));
            }
        }
    }
    // One that was named in full is meant, whatever else begins like it.
    if let Some(wanted) = wanted {
        let is_exact = |(name, _): &(String, &SavedTable)| name.split(' ').next() == Some(wanted);
        if found.iter().any(is_exact) {
            found.retain(is_exact);
        }
    }
    let choices = found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    match found.as_slice() {
        [(_, table)] => print_rows(table, args),
        [] => {
            let all = jobs.iter().flat_map(|job| job.operators.keys()).map(String::as_str).collect::<Vec<_>>();
            let what = wanted.or(args.table.as_deref()).unwrap_or("an operator").to_string();
            Err(Error::new(&NO_STATE, &[("what", &what), ("choices", &all.join(", "))]))
        }
        _ => Err(which("operator or table", &choices, "highwater state read --operator ID --table NAME")),
    }
}

fn print_rows(table_: &SavedTable, args: &StateReadArgs) -> Result<()> {
    let Some(first) = table_.batches.first() else { return Ok(()) };
    let rows = concat_batches(first.schema_ref(), &table_.batches)?;
    let shown = rows.slice(0, rows.num_rows().min(args.limit));
    let options = FormatOptions::default().with_null("NULL");
    let formatters: Vec<ArrayFormatter<'_>> =
        shown.columns().iter().map(|column| ArrayFormatter::try_new(column, &options)).collect::<Result<_, _>>()?;
    let names: Vec<String> = shown.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
    let cell = |column: usize, row: usize| {
        shown.column(column).is_valid(row).then(|| formatters[column].value(row).to_string())
    };
    let cells: Vec<Vec<Option<String>>> =
        (0..shown.num_rows()).map(|row| (0..names.len()).map(|column| cell(column, row)).collect()).collect();
    if args.of.json {
        for row in cells {
            let object: serde_json::Map<String, Value> =
                names.iter().cloned().zip(row.into_iter().map(|cell| json!(cell))).collect();
            output::line(&Value::Object(object).to_string());
        }
        return Ok(());
    }
    output::print(&table(&names, &cells));
    if shown.num_rows() < rows.num_rows() {
        output::line(&format!("{} of {} rows; more with --limit", shown.num_rows(), rows.num_rows()));
    }
    Ok(())
}
