//! Where the checkpoints of a run are, for those who do not read its script: its own folder, and the places that
//! `state.checkpoints.dir` names. `places.json` in the folder of the run has the latter, without keys to them.

use base::checkpoint_dir::{Bucket, CheckpointDir, S3Access};
use base::{Error, Result};
use serde::{Deserialize, Serialize};
use state::CheckpointPlace;
use std::path::Path;

const FILE: &str = "places.json";

/// A place beside the folder of the run.
#[derive(Debug, Serialize, Deserialize)]
struct PlaceEntry {
    /// A path or an address.
    address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_style: Option<bool>,
}

/// Writes down where checkpoints of a run go besides its own folder.
///
/// # Errors
/// What the file system refuses.
pub fn remember(run: &Path, dirs: &[&CheckpointDir]) -> Result<()> {
    if dirs.is_empty() {
        forget(run);
        return Ok(());
    }
    let entry = |dir: &&CheckpointDir| match dir {
        CheckpointDir::Local(path) => PlaceEntry {
            // Whoever looks may have another working folder.
            address: std::path::absolute(path).as_ref().unwrap_or(path).display().to_string(),
            endpoint: None,
            region: None,
            path_style: None,
        },
        CheckpointDir::Bucket(Bucket { access, .. }) => PlaceEntry {
            address: dir.to_string(),
            endpoint: access.endpoint.clone(),
            region: access.region.clone(),
            path_style: access.path_style,
        },
    };
    let path = run.join(FILE);
    let json = serde_json::to_vec(&dirs.iter().map(entry).collect::<Vec<_>>()).map_err(Error::internal)?;
    std::fs::write(&path, json).map_err(|cause| Error::io("write", path.display(), &cause))
}

/// The run keeps nothing any more.
pub fn forget(run: &Path) {
    // Without it there is nothing to be found, which is so.
    let _ = std::fs::remove_file(run.join(FILE));
}

/// Whether checkpoints of a run may be somewhere else.
pub fn has_others(run: &Path) -> bool {
    run.join(FILE).is_file()
}

/// The places that hold a folder of checkpoints for each job of a run. Keys to them come from the environment.
///
/// # Errors
/// A place that cannot be used.
pub fn of_run(run: &Path) -> Result<Vec<CheckpointPlace>> {
    let mut places = vec![CheckpointPlace::from(run.join("checkpoints").as_path())];
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    let entries = std::fs::read(run.join(FILE)).unwrap_or_default();
    // One that was torn by a crash is written anew by the next start.
    for entry in serde_json::from_slice::<Vec<PlaceEntry>>(&entries).unwrap_or_default() {
        let PlaceEntry { address, endpoint, region, path_style } = entry;
        let access = S3Access { endpoint, region, path_style, ..S3Access::default() };
        places.push(CheckpointPlace::new(&CheckpointDir::parse(&address, access)?)?.join(&name));
    }
    Ok(places)
}

/// The place that a user names: a folder or an address.
///
/// # Errors
/// An address where no checkpoints can be.
pub fn named(text: &str) -> Result<CheckpointPlace> {
    CheckpointPlace::new(&CheckpointDir::parse(text, S3Access::default())?)
}
