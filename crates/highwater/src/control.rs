//! The control socket of a running script: one JSON request a line, one JSON answer a line.
//!
//! A run is known by its folder `<state dir>/<run name>/` with `run.json` (process id and socket path). The socket lies in
//! that folder, or in the temporary folder when its path would be longer than a Unix socket address may be. `owner.json`
//! says whose saved state is in the folder, if there is any, and `places.json` where else it is; `lock` keeps a second run
//! out.

use crate::codes::{ALREADY_RUNNING, NO_ANSWER, NO_SUCH_JOB, NOTHING_RUNS, WHICH_JOB};
use crate::jobs::Jobs;
use crate::kept::Owner;
use crate::places;
use crate::savepoints;
use base::{Error, Result};
use runtime::StopMode;
use serde::{Deserialize, Serialize};
use state::FileLock;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

/// The longest path that fits a Unix socket address.
const SOCKET_PATH_MAX: usize = 100;
/// How long a client waits for an answer to `status`.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// What a client asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Request {
    /// Counts and watermarks of all jobs.
    Status,
    /// Stop all jobs of the run; answered when they have ended.
    Stop {
        /// Whether the input ends first, so that windows fire.
        drain: bool,
        /// The savepoint to write at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        savepoint: Option<SavepointPlace>,
    },
    /// Write a savepoint; answered when it is there.
    Savepoint {
        /// Where.
        path: Option<PathBuf>,
    },
}

/// Where a savepoint goes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SavepointPlace {
    /// The folder; `None`: the run chooses.
    pub path: Option<PathBuf>,
}

/// How a run is found.
#[derive(Debug, Serialize, Deserialize)]
struct RunFile {
    pid: u32,
    socket: PathBuf,
}

/// Whom a folder belongs to.
#[derive(Debug, Serialize, Deserialize)]
struct OwnerFile {
    /// The path of the script; empty if the name alone says it.
    script: String,
}

/// The folder of job state.
pub fn state_dir(given: Option<&Path>) -> PathBuf {
    if let Some(path) = given {
        return path.to_path_buf();
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("XDG_STATE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(std::env::temp_dir)
        .join("highwater")
}

/// The server side: removes its files when dropped.
#[derive(Debug)]
pub struct Control {
    /// The name under which the run is known: the wanted one, or with a number behind it if that is taken.
    pub name: String,
    /// The folder of the run.
    pub folder: PathBuf,
    /// Whether the folder holds state to go on from, so that it stays its owner's.
    pub keeps_state: bool,
    socket: PathBuf,
    lock: Option<FileLock>,
}

impl Control {
    /// Claims a name below `state_dir` and listens. Must be called inside the async runtime.
    ///
    /// # Errors
    /// A state folder that cannot be written, or whose owner runs already.
    pub fn open(state_dir: &Path, wanted: &str, owner: &Owner, jobs: Arc<Jobs>) -> Result<Control> {
        let wanted = file_name(wanted);
        if let Some(name) = owned(state_dir, &wanted, owner) {
            let folder = state_dir.join(&name);
            return match FileLock::acquire(&folder.join("lock"))? {
                Some(lock) => Control::listen(name, folder, lock, jobs),
                None => Err(already_running(&folder, &name)),
            };
        }
        for number in 1.. {
            let name = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
            let folder = state_dir.join(&name);
            std::fs::create_dir_all(&folder).map_err(|cause| Error::io("create", folder.display(), &cause))?;
            let Some(lock) = FileLock::acquire(&folder.join("lock"))? else { continue };
            match owner_of(&folder) {
                None => {}
                // The same script has just begun, and ended.
                Some(text) if *owner != Owner::Nobody && text == owner.text() => {}
                Some(_) => continue,
            }
            if *owner != Owner::Nobody {
                let path = folder.join(OWNER);
                let json = serde_json::to_vec(&OwnerFile { script: owner.text() }).map_err(Error::internal)?;
                std::fs::write(&path, json).map_err(|cause| Error::io("write", path.display(), &cause))?;
            }
            return Control::listen(name, folder, lock, jobs);
        }
        Err(Error::internal("no free run name"))
    }

    fn listen(name: String, folder: PathBuf, lock: FileLock, jobs: Arc<Jobs>) -> Result<Control> {
        let mut socket = folder.join("control.sock");
        if socket.as_os_str().len() > SOCKET_PATH_MAX {
            socket = std::env::temp_dir().join(format!("highwater-{}-{name}.sock", std::process::id()));
        }
        let _ = std::fs::remove_file(&socket);
        let listener = tokio::net::UnixListener::bind(&socket)
            .map_err(|cause| Error::io("listen on", socket.display(), &cause))?;
        let run = RunFile { pid: std::process::id(), socket: socket.clone() };
        let path = folder.join("run.json");
        let json = serde_json::to_vec(&run).map_err(Error::internal)?;
        std::fs::write(&path, json).map_err(|cause| Error::io("write", path.display(), &cause))?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, jobs.clone()));
            }
        });
        Ok(Control { name, folder, keeps_state: false, socket, lock: Some(lock) })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Best effort: a left-over file is harmless, the lock decides who runs.
        let _ = std::fs::remove_file(&self.socket);
        let _ = std::fs::remove_file(self.folder.join("run.json"));
        // Goes only if it is empty.
        let _ = std::fs::remove_dir(self.folder.join("checkpoints"));
        if !self.keeps_state && !self.folder.join("checkpoints").exists() {
            let _ = std::fs::remove_file(self.folder.join(OWNER));
            places::forget(&self.folder);
        }
        if let Some(lock) = self.lock.take() {
            lock.remove();
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
}

const OWNER: &str = "owner.json";

/// The folder that holds the owner's state already: the wanted one, or one with a number behind it.
fn owned(state_dir: &Path, wanted: &str, owner: &Owner) -> Option<String> {
    if *owner == Owner::Nobody {
        return None;
    }
    let is_candidate = |name: &str| {
        let rest = name.strip_prefix(wanted);
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok()))
    };
    let mut names: Vec<String> = std::fs::read_dir(state_dir)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_candidate(name) && owner_of(&state_dir.join(name)) == Some(owner.text()))
        .collect();
    names.sort();
    names.into_iter().next()
}

fn owner_of(folder: &Path) -> Option<String> {
    let bytes = std::fs::read(folder.join(OWNER)).ok()?;
    // One that was torn by a crash belongs to nobody we know: it is left alone.
    Some(serde_json::from_slice::<OwnerFile>(&bytes).map_or_else(|_| "?".into(), |owner| owner.script))
}

fn already_running(folder: &Path, name: &str) -> Error {
    let run = std::fs::read(folder.join("run.json")).ok();
    let run = run.and_then(|bytes| serde_json::from_slice::<RunFile>(&bytes).ok());
    let pid = run.map_or_else(|| "?".to_string(), |run| run.pid.to_string());
    Error::new(&ALREADY_RUNNING, &[("job", &name), ("pid", &pid)])
}

/// A run name as a file name: letters, digits, `-`, `_` and `.` stay.
pub fn file_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' }).collect();
    if plain.trim_matches('.').is_empty() { "job".into() } else { plain }
}

async fn answer(stream: tokio::net::UnixStream, jobs: Arc<Jobs>) {
    let (read, mut write) = stream.into_split();
    let mut lines = tokio::io::BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let _waiting = jobs.wait_for_answer();
        let answer = match serde_json::from_str::<Request>(&line) {
            Ok(Request::Status) => jobs.status(),
            Ok(Request::Stop { drain, savepoint }) => {
                if let Some(place) = savepoint {
                    jobs.want_savepoint(place);
                }
                jobs.stop(if drain { StopMode::Drain } else { StopMode::Plain });
                jobs.ended().await;
                jobs.status()
            }
            Ok(Request::Savepoint { path }) => match savepoints::take(&jobs, path).await {
                Ok(path) => serde_json::json!({ "savepoint": path }),
                Err(error) => serde_json::json!({ "error": brief(&error) }),
            },
            Err(error) => serde_json::json!({ "error": error.to_string() }),
        };
        if write.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// An error in one line, for a client.
pub fn brief(error: &Error) -> String {
    let [what, why, _] = error.parts(base::Language::English);
    if why.is_empty() { format!("{} {what}", error.code()) } else { format!("{} {what}: {why}", error.code()) }
}

/// The names of running scripts below `state_dir`, sorted.
pub fn running(state_dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(state_dir) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| is_alive(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// A run that was killed leaves its files, but nobody answers.
fn is_alive(folder: &Path) -> bool {
    let Ok(bytes) = std::fs::read(folder.join("run.json")) else { return false };
    serde_json::from_slice::<RunFile>(&bytes).is_ok_and(|run| UnixStream::connect(run.socket).is_ok())
}

/// The run that `job` names, the run whose only job has that name, or the only run.
///
/// # Errors
/// None of that name, none at all, or several.
pub fn choose(state_dir: &Path, job: Option<&str>) -> Result<String> {
    let running = running(state_dir);
    let list = if running.is_empty() { "-".to_string() } else { running.join(", ") };
    let missing =
        |job: &str| Error::new(&NO_SUCH_JOB, &[("job", &job), ("path", &state_dir.display()), ("running", &list)]);
    match (job, running.as_slice()) {
        (Some(job), _) => {
            let name = file_name(job);
            if running.contains(&name) {
                return Ok(name);
            }
            // Most scripts have one job, and its name is what every message shows.
            let has_only = |run: &&String| {
                let status = ask(state_dir, run, &Request::Status).unwrap_or_default();
                matches!(status["jobs"].as_array().map(Vec::as_slice), Some([only]) if only["name"] == *job)
            };
            running.iter().find(has_only).cloned().ok_or_else(|| missing(job))
        }
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Error::new(&NOTHING_RUNS, &[("path", &state_dir.display())])),
        (None, _) => Err(Error::new(&WHICH_JOB, &[("running", &list)])),
    }
}

/// Sends a request to a run and waits for its answer; a `Stop` is waited for as long as it takes.
///
/// # Errors
/// A run that cannot be reached or breaks off.
pub fn ask(state_dir: &Path, name: &str, request: &Request) -> Result<serde_json::Value> {
    let folder = state_dir.join(name);
    let mut pid = 0;
    let exchange = || -> std::io::Result<serde_json::Value> {
        let run: RunFile = serde_json::from_slice(&std::fs::read(folder.join("run.json"))?)?;
        pid = run.pid;
        let mut stream = UnixStream::connect(&run.socket)?;
        if matches!(request, Request::Status) {
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        }
        stream.write_all(format!("{}\n", serde_json::to_string(request)?).as_bytes())?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    let mut exchange = exchange;
    let result = exchange();
    result.map_err(|cause| Error::new(&NO_ANSWER, &[("job", &name), ("cause", &cause), ("pid", &pid)]))
}
