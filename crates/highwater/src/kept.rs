//! What a run keeps: whose it is, and for each job the place of its checkpoints and the one to go on from.
//!
//! A run keeps its state under its name. The name is `pipeline.name`, or else that of the script's file, and then it
//! belongs to that very file: another script of the same file name gets a number behind it. Results of SELECT, batch jobs
//! and scripts from standard input without a `pipeline.name` keep nothing.

use crate::codes::{FINISHED_BEFORE, JOBS_GONE, NO_CHECKPOINT, RESUMED, STATE_OF_ITS_OWN};
use crate::control::file_name;
use crate::places;
use crate::script::{PlannedScript, ScriptJob};
use base::checkpoint_dir::CheckpointDir;
use base::plan::NodeKind;
use base::{Error, Result};
use planner::JobKind;
use runtime::{CheckpointStore, JobCheckpoint, JobLabel, RestoreReport, StoredCheckpoint};
use state::{CheckpointFolder, CheckpointPlace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folders in that of a run for state that does not fit into memory, with the job's key behind it.
const CACHE_PREFIX: &str = "cache-";

/// What the command line says about saved state.
#[derive(Debug, Clone, Default)]
pub struct KeepArgs {
    /// The script's file; `None` for standard input.
    pub script: Option<PathBuf>,
    /// The script's text.
    pub script_text: String,
    /// The savepoint to begin with.
    pub from: Option<PathBuf>,
    /// Whether saved state is given up first.
    pub fresh: bool,
    /// Whether saved state that the script has no use for may be lost.
    pub may_lose_state: bool,
    /// The checkpoint to go on from instead of the newest.
    pub checkpoint: Option<u64>,
}

/// Whom the state of a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// There is none: the run keeps nothing.
    Nobody,
    /// Whoever uses this `pipeline.name`.
    Name,
    /// A script file.
    Script(PathBuf),
}

impl Owner {
    /// The owner of a script's state.
    pub fn of(planned: &PlannedScript, args: Option<&KeepArgs>) -> Owner {
        match args {
            Some(args) if planned.jobs.iter().any(keeps_state) => match &args.script {
                _ if planned.is_named => Owner::Name,
                Some(path) => Owner::Script(path.clone()),
                None => Owner::Nobody,
            },
            _ => Owner::Nobody,
        }
    }

    /// The text in files.
    pub fn text(&self) -> String {
        match self {
            Owner::Nobody | Owner::Name => String::new(),
            Owner::Script(path) => path.display().to_string(),
        }
    }
}

/// Results of queries go to a terminal, and batch jobs begin anew.
fn keeps_state(job: &ScriptJob) -> bool {
    job.job.kind == JobKind::Insert && !job.job.is_batch()
}

/// The saved state of one job.
#[derive(Debug)]
pub struct KeptJob {
    /// By what it is known.
    pub key: String,
    /// Its checkpoints.
    pub store: Arc<CheckpointStore>,
    /// The one to go on from.
    pub stored: Option<StoredCheckpoint>,
    /// Where state goes that does not fit into memory.
    pub cache: PathBuf,
}

/// The saved state of a run, in the order of its jobs; `None` for a job that keeps nothing.
#[derive(Debug, Default)]
pub struct Kept {
    /// The jobs.
    pub jobs: Vec<Option<KeptJob>>,
    /// What is said about them.
    pub notes: Vec<Error>,
    stores: Vec<Arc<CheckpointStore>>,
}

impl Kept {
    /// Takes the checkpoints of all jobs of a run, before any of them starts.
    ///
    /// # Errors
    /// Checkpoints that are damaged, in use, or do not fit the script.
    pub fn open(planned: &PlannedScript, run: &Path, owner: &Owner, args: &KeepArgs) -> Result<Kept> {
        let mut kept = Kept::default();
        if *owner == Owner::Nobody {
            kept.jobs.extend(planned.jobs.iter().map(|_| None));
            return Ok(kept);
        }
        let (places, folders) = where_to(planned, run)?;
        let mut savepoint = args.from.as_deref().map(Begin::read).transpose()?;
        if let Some(begin) = &mut savepoint {
            begin.rename(planned, &places);
        }
        if args.from.is_some() && !args.fresh {
            for place in places.iter().flatten() {
                if CheckpointStore::is_in(&place.checkpoints)? {
                    return Err(Error::new(&STATE_OF_ITS_OWN, &[("path", &place.checkpoints)]));
                }
            }
        }
        if let Some(begin) = savepoint.as_ref().filter(|_| !args.may_lose_state) {
            // Before anything of the script's own is given up.
            begin.check(planned, &places)?;
        }
        let gone = jobs_besides(&folders)?;
        if args.fresh {
            for place in places.iter().flatten().map(|place| &place.checkpoints) {
                let folder = CheckpointFolder::open(place)?;
                folder.claim()?;
                folder.clear()?;
            }
            for place in &gone {
                let folder = CheckpointFolder::open(place)?;
                folder.clear()?;
                folder.release()?;
            }
        } else if !gone.is_empty() && !args.may_lose_state {
            return Err(jobs_gone(gone.iter().map(CheckpointPlace::to_string).collect()));
        }
        remove_caches(run);
        for (job, place) in planned.jobs.iter().zip(places) {
            let job = place.map(|place| kept.open_job(job, place, owner, args, savepoint.as_mut())).transpose()?;
            kept.jobs.push(job);
        }
        if savepoint.is_some() {
            // From here on it is the run's own state: whatever happens, the next start goes on from it.
            for job in kept.jobs.iter().flatten() {
                if let Some(stored) = &job.stored {
                    job.store.save(&stored.checkpoint)?;
                }
            }
        }
        if let Some(epoch) = args.checkpoint
            && kept.jobs.iter().flatten().all(|job| job.stored.is_none())
        {
            return Err(Error::new(&NO_CHECKPOINT, &[("epoch", &epoch), ("path", &run.display())]));
        }
        Ok(kept)
    }

    fn open_job(
        &mut self,
        job: &ScriptJob,
        place: JobPlace,
        owner: &Owner,
        args: &KeepArgs,
        savepoint: Option<&mut Begin>,
    ) -> Result<KeptJob> {
        let JobPlace { checkpoints, key, cache } = place;
        let script_digest = state::digest(args.script_text.as_bytes());
        let label = JobLabel { job: key.clone(), script: owner.text(), script_digest };
        let store = CheckpointStore::open(&checkpoints, label, job.job.plan.config.checkpoints.retained)?;
        let saved = savepoint.map(|begin| begin.take(&key));
        let fitting = || -> Result<_> {
            let stored = match (&saved, args.checkpoint) {
                (Some(saved), _) => saved.clone(),
                (None, Some(epoch)) => Some(store.go_back_to(epoch)?),
                (None, None) => store.newest()?,
            };
            let Some(stored) = stored else { return Ok(None) };
            let report = RestoreReport::new(&job.job.plan, &stored.checkpoint)?;
            match report.is_lossy() && !args.may_lose_state {
                true => Err(report.loss()),
                false => Ok(Some((stored, report))),
            }
        };
        // Whoever cannot go on takes nothing from a run on another machine; whoever can begins where that one is by then.
        let mut found = fitting()?;
        if store.claim()? {
            found = fitting()?;
        }
        if let Some((stored, report)) = &found {
            self.notes.extend(report.is_lossy().then(|| report.loss()));
            self.notes.push(note(&key, stored, report));
        }
        let stored = found.map(|(stored, _)| stored);
        let store = Arc::new(store);
        self.stores.push(store.clone());
        Ok(KeptJob { key, store, stored, cache })
    }

    /// The run has ended well: if every job has come to its end, nothing is kept.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn ended(&self) -> Result<()> {
        if self.stores.iter().all(|store| store.is_finished()) {
            self.stores.iter().try_for_each(|store| store.clear())?;
        }
        Ok(())
    }

    /// Whether there is something to go on from.
    pub fn keeps_something(&self) -> bool {
        self.stores.iter().any(|store| store.has_checkpoints())
    }
}

/// Where the state of a job goes.
struct JobPlace {
    /// Its checkpoints.
    checkpoints: CheckpointPlace,
    /// What does not fit into memory.
    cache: PathBuf,
    /// By what the job is known.
    key: String,
}

/// A place that holds a folder of checkpoints for each job, with the keys of the jobs that the script has there.
type Folders = Vec<(CheckpointPlace, BTreeSet<String>)>;

/// Where the state of each job goes, and all places that may hold some. Whoever looks later finds them without the script.
fn where_to(planned: &PlannedScript, run: &Path) -> Result<(Vec<Option<JobPlace>>, Folders)> {
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    let own = run.join("checkpoints");
    let mut folders = vec![(CheckpointPlace::from(own.as_path()), BTreeSet::new())];
    let mut elsewhere: Vec<&CheckpointDir> = Vec::new();
    let mut seen = BTreeMap::new();
    let mut places = Vec::new();
    for job in &planned.jobs {
        if !keeps_state(job) {
            places.push(None);
            continue;
        }
        let index = match &job.job.plan.config.checkpoints.dir {
            None => 0,
            Some(dir) => match elsewhere.iter().position(|known| *known == dir) {
                Some(index) => index + 1,
                None => {
                    elsewhere.push(dir);
                    folders.push((CheckpointPlace::new(dir)?.join(&name), BTreeSet::new()));
                    elsewhere.len()
                }
            },
        };
        let key = job_key(job, &mut seen);
        let (folder, keys) = &mut folders[index];
        keys.insert(key.clone());
        let cache = run.join(format!("{CACHE_PREFIX}{key}"));
        places.push(Some(JobPlace { checkpoints: folder.join(&key), cache, key }));
    }
    places::remember(run, &elsewhere)?;
    Ok((places, folders))
}

/// A savepoint that a run begins with.
#[derive(Debug)]
struct Begin {
    written_ms: i64,
    /// What no job has taken yet.
    jobs: BTreeMap<String, JobCheckpoint>,
}

impl Begin {
    fn read(path: &Path) -> Result<Begin> {
        let saved = savepoint::read(path)?;
        let jobs = saved.jobs.into_iter().map(|job| (job.key, job.checkpoint)).collect();
        Ok(Begin { written_ms: saved.written_ms, jobs })
    }

    /// A job is known by its tables: a statement set that has gained or lost some is still the same if it shares one.
    fn rename(&mut self, planned: &PlannedScript, places: &[Option<JobPlace>]) {
        let own: BTreeSet<&str> = places.iter().flatten().map(|place| place.key.as_str()).collect();
        for (job, place) in planned.jobs.iter().zip(places) {
            let Some(JobPlace { key, .. }) = place else { continue };
            if self.jobs.contains_key(key) {
                continue;
            }
            let sinks = || job.job.plan.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Sink(_)));
            let is_alike = |saved: &JobCheckpoint| sinks().any(|sink| saved.digests.contains_key(&sink.operator_id));
            let alike = self.jobs.iter().filter(|(saved, job)| !own.contains(saved.as_str()) && is_alike(job));
            // Of two jobs that have become one, which one goes on is not for the program to say.
            let [(saved, _)] = alike.collect::<Vec<_>>()[..] else { continue };
            if let Some(checkpoint) = self.jobs.remove(&saved.clone()) {
                self.jobs.insert(key.clone(), checkpoint);
            }
        }
    }

    /// Refuses a script that has no use for a part of the savepoint.
    fn check(&self, planned: &PlannedScript, places: &[Option<JobPlace>]) -> Result<()> {
        let keys: BTreeSet<&str> = places.iter().flatten().map(|place| place.key.as_str()).collect();
        let gone: Vec<String> = self.jobs.keys().filter(|key| !keys.contains(key.as_str())).cloned().collect();
        if !gone.is_empty() {
            return Err(jobs_gone(gone));
        }
        for (job, place) in planned.jobs.iter().zip(places) {
            let saved = place.as_ref().and_then(|place| self.jobs.get(&place.key));
            let report = saved.map(|saved| RestoreReport::new(&job.job.plan, saved)).transpose()?;
            if let Some(report) = report.filter(RestoreReport::is_lossy) {
                return Err(report.loss());
            }
        }
        Ok(())
    }

    fn take(&mut self, key: &str) -> Option<StoredCheckpoint> {
        let checkpoint = self.jobs.remove(key)?;
        Some(StoredCheckpoint { checkpoint, written_ms: self.written_ms })
    }
}

fn jobs_gone(names: Vec<String>) -> Error {
    Error::new(&JOBS_GONE, &[("count", &names.len()), ("list", &names.join("\n"))])
}

/// Removes what a crash has left of state that was put away, also that of jobs which have no budget any more. What stays
/// takes room and does no other harm.
fn remove_caches(run: &Path) {
    let Ok(entries) = std::fs::read_dir(run) else { return };
    let caches = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(CACHE_PREFIX));
    caches.for_each(|entry| drop(std::fs::remove_dir_all(entry.path())));
}

fn note(key: &str, stored: &StoredCheckpoint, report: &RestoreReport) -> Error {
    if stored.checkpoint.is_finished {
        return Error::new(&FINISHED_BEFORE, &[("job", &key)]);
    }
    let mut time = String::new();
    let unit = arrow::datatypes::TimeUnit::Millisecond;
    base::text::push_timestamp(&mut time, stored.written_ms, unit, ' ', base::text::Fraction::Fixed(0));
    // What is lost has been said with all the rest.
    let is_said = report.is_lossy() || report.migrated.is_empty() && report.new.is_empty();
    let list = if is_said { String::new() } else { format!(":\n{}", report.lines().join("\n")) };
    Error::new(
        &RESUMED,
        &[
            ("job", &key),
            ("epoch", &stored.checkpoint.epoch),
            ("time", &time),
            ("kept", &(report.kept.len() + report.migrated.len())),
            ("new", &report.new.len()),
            ("list", &list),
        ],
    )
}

/// What the state of a job is kept under: the tables that it writes.
fn job_key(job: &ScriptJob, seen: &mut BTreeMap<String, usize>) -> String {
    let name = file_name(&job.job.sinks.join("+"));
    let count = seen.entry(name.clone()).or_default();
    *count += 1;
    if *count == 1 { name } else { format!("{name}-{count}") }
}

/// Places of checkpoints of jobs that the script does not have.
fn jobs_besides(folders: &Folders) -> Result<Vec<CheckpointPlace>> {
    let mut gone = Vec::new();
    for (folder, known) in folders {
        for (key, place) in folder.folders()? {
            if !known.contains(&key) && CheckpointStore::is_in(&place)? {
                gone.push(place);
            }
        }
    }
    Ok(gone)
}
