//! A store that speaks S3: S3Proxy in a JVM, with its objects in a folder. It looks at signatures as S3 does.

use super::java::{S3PROXY, ServiceProcess};
use super::{Service, free_port};
use std::path::PathBuf;

const HEAP_MB: u32 = 256;
const LOOPBACK: &str = "127.0.0.1";
/// Another program may take a free port before the store does.
const PORT_ATTEMPTS: usize = 3;

/// Who may use a store.
pub const ACCESS_KEY: &str = "highwater";
/// The secret that belongs to [`ACCESS_KEY`].
pub const SECRET_KEY: &str = "highwater-secret";
/// The bucket that is there from the beginning.
pub const BUCKET: &str = "checkpoints";

/// A store with its folder and port. Dropped: killed, folder removed.
#[derive(Debug)]
pub struct S3 {
    port: u16,
    // Before the folder: what is dropped first stops writing into it.
    process: ServiceProcess,
    folder: tempfile::TempDir,
}

impl S3 {
    /// Starts a store with one empty bucket and waits until it serves.
    ///
    /// # Errors
    /// Jars that cannot be fetched, or a store that does not start; with what it said.
    pub fn launch() -> Result<S3, String> {
        let mut attempt = 1;
        loop {
            let folder = tempfile::tempdir().map_err(|cause| format!("no temporary folder: {cause}"))?;
            let store = S3 { port: free_port(LOOPBACK)?, process: ServiceProcess::default(), folder };
            std::fs::create_dir_all(store.objects()).map_err(|cause| format!("cannot make a bucket: {cause}"))?;
            match store.start() {
                Ok(()) => return Ok(store),
                Err(problem) if attempt < PORT_ATTEMPTS && problem.contains("Address already in use") => attempt += 1,
                Err(problem) => return Err(problem),
            }
        }
    }

    /// Its address for the program under test.
    pub fn address(&self) -> String {
        format!("http://{LOOPBACK}:{}", self.port)
    }

    /// The folder with the objects of the bucket: an object is the file that its key names.
    pub fn objects(&self) -> PathBuf {
        self.folder.path().join("objects").join(BUCKET)
    }

    /// The keys of all objects, sorted.
    pub fn keys(&self) -> Vec<String> {
        fn collect(path: PathBuf, found: &mut Vec<PathBuf>) {
            let Ok(entries) = std::fs::read_dir(&path) else { return found.push(path) };
            entries.flatten().for_each(|entry| collect(entry.path(), found));
        }
        let (bucket, mut found) = (self.objects(), Vec::new());
        collect(bucket.clone(), &mut found);
        let key = |path: &PathBuf| Some(path.strip_prefix(&bucket).ok()?.to_string_lossy().into_owned());
        let mut keys: Vec<String> = found.iter().filter_map(key).collect();
        keys.sort();
        keys
    }

    /// Starts a stopped store again: same folder, same port.
    ///
    /// # Errors
    /// A store that does not start.
    pub fn start(&self) -> Result<(), String> {
        self.process.start("s3", "store is ready", || {
            let mut command = S3PROXY.prepare()?.command("S3Store", HEAP_MB);
            command.arg(self.folder.path().join("objects")).args([&self.address(), ACCESS_KEY, SECRET_KEY]);
            Ok(command)
        })
    }

    /// Ends it with SIGTERM; objects stay.
    ///
    /// # Errors
    /// A store that does not end.
    pub fn stop(&self) -> Result<(), String> {
        self.process.stop()
    }
}

impl Service for S3 {
    fn name(&self) -> &'static str {
        "s3"
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![("S3", self.address())]
    }

    fn stop(&mut self) -> Result<(), String> {
        S3::stop(self)
    }
}
