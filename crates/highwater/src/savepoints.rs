//! `highwater savepoint` and the savepoints of `highwater stop`: the client's side, and what a run does for them.
//!
//! A savepoint is made from checkpoints that are on the disk and committed. While one is made, the checkpoints of the run are
//! held: none is removed, and a job that comes to its end keeps its state.

use crate::cli::SavepointArgs;
use crate::codes::{NOTHING_SAVED, SAVEPOINT_FAILED, SAVEPOINT_WRITTEN};
use crate::control::{self, Request};
use crate::jobs::Jobs;
use crate::{EXIT_OK, fail, language, output, refuse};
use base::error::Label;
use base::{Error, Language, Result};
use runtime::metrics::JobState;
use runtime::{CheckpointStore, StoredCheckpoint};
use savepoint::{SavedJob, Savepoint};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of savepoints within that of a run.
const FOLDER: &str = "savepoints";

/// What a run needs to write savepoints of its jobs.
#[derive(Debug)]
pub struct SavedRun {
    /// Where the script is.
    pub script: String,
    /// Its text.
    pub script_text: String,
    /// Where savepoints go that have no place of their own.
    pub folder: PathBuf,
    /// The jobs that keep state, in the order of the script.
    pub jobs: Vec<RunJob>,
}

/// A job that keeps state.
#[derive(Debug)]
pub struct RunJob {
    /// By what its state is known.
    pub key: String,
    /// Its plan, as EXPLAIN prints it.
    pub plan: String,
    /// Its checkpoints.
    pub store: Arc<CheckpointStore>,
}

impl SavedRun {
    /// Where savepoints of a run go by default.
    pub fn default_folder(run: &Path) -> PathBuf {
        // A client may have another working folder.
        let folder = run.join(FOLDER);
        std::path::absolute(&folder).unwrap_or(folder)
    }

    /// Writes what `checkpoint` gives for each job; gives the folder of the savepoint.
    fn write(
        &self,
        path: Option<PathBuf>,
        checkpoint: impl Fn(&RunJob) -> Result<Option<StoredCheckpoint>>,
    ) -> Result<PathBuf> {
        let mut jobs = Vec::new();
        let mut written_ms = 0;
        for job in &self.jobs {
            if let Some(stored) = checkpoint(job)? {
                written_ms = stored.written_ms.max(written_ms);
                jobs.push(SavedJob { key: job.key.clone(), plan: job.plan.clone(), checkpoint: stored.checkpoint });
            }
        }
        if jobs.is_empty() {
            return Err(Error::new(&NOTHING_SAVED, &[]));
        }
        let epoch = jobs.iter().map(|job| job.checkpoint.epoch.0).max().unwrap_or_default();
        let path = path.unwrap_or_else(|| self.free_folder(epoch));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|cause| Error::io("create", parent.display(), &cause))?;
        }
        let (script, script_text) = (self.script.clone(), self.script_text.clone());
        savepoint::write(&path, &Savepoint { script, script_text, written_ms, jobs })?;
        Ok(path)
    }

    /// A name that is free: a run that began anew counts from one again.
    fn free_folder(&self, epoch: u64) -> PathBuf {
        let name = |number: u32| match number {
            1 => self.folder.join(format!("savepoint-{epoch}")),
            _ => self.folder.join(format!("savepoint-{epoch}-{number}")),
        };
        (1..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(1))
    }
}

/// Takes a savepoint of a running script.
///
/// # Errors
/// A job that fails or ends meanwhile, and what the file system refuses.
pub async fn take(jobs: &Jobs, path: Option<PathBuf>) -> Result<PathBuf> {
    let run = jobs.saved_run().ok_or_else(|| Error::new(&NOTHING_SAVED, &[]))?;
    let _held: Vec<_> = run.jobs.iter().map(|job| job.store.hold()).collect();
    let mut epochs = Vec::new();
    for named in jobs.list() {
        let Some(key) = named.key else { continue };
        // A job that has come to its end has its last checkpoint.
        match named.handle.checkpoint().await {
            Ok(checkpoint) => epochs.push((key, checkpoint.epoch.0)),
            Err(error) if named.handle.metrics().state != JobState::Finished => return Err(error),
            Err(_) => {}
        }
    }
    let write = move || {
        run.write(path, |job| {
            let taken = epochs.iter().find(|(key, _)| *key == job.key);
            match taken {
                Some((_, epoch)) => job.store.stored(*epoch).map(Some),
                None => job.store.last_stored(),
            }
        })
    };
    tokio::task::spawn_blocking(write).await.map_err(Error::internal)?
}

/// Writes the savepoint of a run whose jobs have stopped.
///
/// # Errors
/// What the file system refuses.
pub fn take_at_end(jobs: &Jobs, path: Option<PathBuf>) -> Result<PathBuf> {
    let run = jobs.saved_run().ok_or_else(|| Error::new(&NOTHING_SAVED, &[]))?;
    let finished: Vec<String> = jobs
        .list()
        .into_iter()
        .filter(|job| job.handle.metrics().state == JobState::Finished)
        .filter_map(|job| job.key)
        .collect();
    run.write(path, |job| {
        let mut stored = job.store.last_stored()?;
        if let Some(stored) = &mut stored {
            // One whose input was cut off goes on where it was.
            stored.checkpoint.is_finished &= finished.contains(&job.key);
        }
        Ok(stored)
    })
}

/// `highwater savepoint`; gives the exit code.
pub fn savepoint(args: &SavepointArgs) -> u8 {
    let language = language::from_environment();
    let state_dir = control::state_dir(args.state_dir.state_dir.as_deref());
    let name = match control::choose(&state_dir, args.job.as_deref()) {
        Ok(name) => name,
        Err(error) => return refuse(&error, language),
    };
    let path = match absolute(args.path.as_deref()) {
        Ok(path) => path,
        Err(error) => return refuse(&error, language),
    };
    match control::ask(&state_dir, &name, &Request::Savepoint { path }) {
        Ok(answer) => report(&answer, &name, language),
        Err(error) => fail(&error, language),
    }
}

/// A path as the running program needs it: it may have another working folder.
pub fn absolute(path: Option<&Path>) -> Result<Option<PathBuf>> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|cause| Error::io("use", path.display(), &cause));
    path.map(absolute).transpose()
}

/// Says where a savepoint is: the path on standard output, so that a script can use it.
pub fn report(answer: &Value, run: &str, language: Language) -> u8 {
    match (answer["savepoint"].as_str(), answer["error"].as_str()) {
        (Some(path), _) => {
            let note = Error::new(&SAVEPOINT_WRITTEN, &[("run", &run), ("path", &path)]);
            eprintln!("{}", note.render(language, Label::Note));
            output::line(path);
            EXIT_OK
        }
        (None, cause) => {
            let cause = cause.unwrap_or("the run has ended");
            fail(&Error::new(&SAVEPOINT_FAILED, &[("run", &run), ("cause", &cause)]), language)
        }
    }
}
