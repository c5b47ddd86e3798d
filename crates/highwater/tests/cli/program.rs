//! Runs the program in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A temporary folder with the program in reach.
pub struct Program {
    /// The folder.
    pub folder: tempfile::TempDir,
}

/// What a run gave.
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Checks the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }

    /// Checks that standard error holds all of these, whatever their letter case.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Ran {
        let text = self.err.to_lowercase();
        for part in parts {
            assert!(text.contains(&part.to_lowercase()), "no {part:?} in: {}", self.err);
        }
        self
    }
}

impl Program {
    pub fn new() -> Program {
        Program { folder: tempfile::tempdir().expect("temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folder");
        std::fs::write(&path, text).expect("file");
        path
    }

    /// The program with the given arguments, in English, with its state in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("HIGHWATER_LANGUAGE", "en").env("XDG_STATE_HOME", self.path("state")).env_remove("HIGHWATER_LOG");
        command
    }

    /// Runs to the end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().expect("run highwater"))
    }

    /// Runs to the end with more variables in the environment.
    pub fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        Ran::from(command.output().expect("run highwater"))
    }

    /// Runs a script text to the end.
    pub fn run_script(&self, sql: &str) -> Ran {
        self.write("script.sql", sql);
        self.run(&["run", "script.sql"])
    }

    /// Starts a script that does not end by itself.
    pub fn start(&self, arguments: &[&str]) -> Running<'_> {
        let child =
            self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start highwater");
        Running { program: self, child: Some(child) }
    }

    /// The same with standard output in a file: a pipe that nobody reads takes little.
    pub fn start_into(&self, arguments: &[&str], out: &str) -> Running<'_> {
        let out = std::fs::File::create(self.path(out)).expect("a file");
        let child = self.command(arguments).stdout(out).stderr(Stdio::piped()).spawn().expect("start highwater");
        Running { program: self, child: Some(child) }
    }

    /// Files below the state folder whose name begins like this.
    pub fn state_files(&self, prefix: &str) -> Vec<PathBuf> {
        fn collect(path: PathBuf, prefix: &str, found: &mut Vec<PathBuf>) {
            let Ok(entries) = std::fs::read_dir(path) else { return };
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)) {
                    found.push(path.clone());
                }
                collect(path, prefix, found);
            }
        }
        let mut found = Vec::new();
        collect(self.path("state"), prefix, &mut found);
        found.sort();
        found
    }

    /// The lines of all files below a folder, sorted.
    pub fn lines_below(&self, name: &str) -> Vec<String> {
        let mut lines = Vec::new();
        collect(&self.path(name), &mut lines);
        lines.sort();
        lines
    }

    /// The numbers in the field `id` of all JSON lines below a folder, sorted.
    pub fn ids_below(&self, name: &str) -> Vec<u64> {
        let id = |line: &String| {
            serde_json::from_str::<serde_json::Value>(line).expect("a row")["id"].as_u64().expect("an id")
        };
        let mut ids: Vec<u64> = self.lines_below(name).iter().map(id).collect();
        ids.sort_unstable();
        ids
    }
}

fn collect(path: &Path, lines: &mut Vec<String>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("folder").flatten() {
            collect(&entry.path(), lines);
        }
    } else if path.exists() && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
        lines.extend(std::fs::read_to_string(path).expect("file").lines().map(str::to_string));
    }
}

/// A running program; killed when the test ends early.
pub struct Running<'a> {
    program: &'a Program,
    child: Option<Child>,
}

impl Running<'_> {
    /// Asks for the status of the first job until `reached` says so. Asking is the wait: each answer comes from the job
    /// itself.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, reached: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        self.wait_until_job(0, what, reached)
    }

    /// Asks for the status of the first job until `reached` says so, or until the program has ended by itself.
    pub fn reached_or_ended(&mut self, reached: impl Fn(&serde_json::Value) -> bool) -> bool {
        while self.is_running() {
            let status = self.program.run(&["status", "--json"]);
            let json: serde_json::Value = serde_json::from_str(&status.out).unwrap_or_default();
            if reached(&json["runs"][0]["jobs"][0]) {
                return true;
            }
        }
        false
    }

    /// Ends it by another command, which ends well, and waits for its end.
    #[track_caller]
    pub fn end_of_job(&mut self, arguments: &[&str]) -> Ran {
        self.program.run(arguments).exits(0);
        self.end().exits(0)
    }

    /// Asks for the status of a job, by its place in the script, until `reached` says so.
    #[track_caller]
    pub fn wait_until_job(
        &mut self,
        index: usize,
        what: &str,
        reached: impl Fn(&serde_json::Value) -> bool,
    ) -> serde_json::Value {
        const ASKED_MAX: usize = 3_000;
        let mut last = serde_json::Value::Null;
        for _ in 0..ASKED_MAX {
            if let Some(child) = &mut self.child
                && child.try_wait().expect("state of the program").is_some()
            {
                let ran = self.end();
                panic!("ended before {what}: {}{}", ran.out, ran.err);
            }
            let status = self.program.run(&["status", "--json"]);
            if let Ok(json) = serde_json::from_str::<serde_json::Value>(&status.out) {
                let job = json["runs"][0]["jobs"][index].clone();
                if job.is_object() && reached(&job) {
                    return job;
                }
                last = job;
            }
        }
        panic!("never {what}; last status {last}");
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().expect("state of the program").is_none())
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("running").id()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: &str) {
        let id = self.child.as_ref().expect("running").id().to_string();
        let status = Command::new("kill").args([&format!("-{signal}"), &id]).status().expect("kill");
        assert!(status.success());
    }

    /// Ends it with SIGKILL.
    pub fn kill(&mut self) -> Ran {
        self.signal("KILL");
        self.end()
    }

    /// Waits for the end.
    pub fn end(&mut self) -> Ran {
        let child = self.child.take().expect("running");
        Ran::from(child.wait_with_output().expect("end of the program"))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Rows of a node by role.
pub fn rows(job: &serde_json::Value, role: &str, count: &str) -> u64 {
    let nodes = job["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    nodes.iter().filter(|node| node["role"] == role).map(|node| node[count].as_u64().unwrap_or(0)).sum()
}
