//! Child processes of tests: output kept, awaited by events, stopped by their own process id, never left over.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lines of output that are kept for messages.
const LOG_LINES_MAX: usize = 200;

/// Gets every line of standard output, then `None`.
pub type LineHandler = Box<dyn FnMut(Option<String>) + Send>;

/// Locks, whatever a panicking test has left behind.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running program; killed when dropped.
#[derive(Debug)]
pub struct ChildProcess {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    log: Arc<Mutex<VecDeque<String>>>,
    /// Says that the marker was seen; closed when both outputs are.
    events: Receiver<()>,
}

impl ChildProcess {
    /// Starts a program. A line with `marker` in its output means that it is ready. Standard output goes to `handler`
    /// where there is one, and into the log where there is none.
    ///
    /// # Errors
    /// A program that cannot be started.
    pub fn spawn(
        name: &str,
        command: &mut Command,
        marker: Option<&'static str>,
        handler: Option<LineHandler>,
    ) -> Result<ChildProcess, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|cause| format!("cannot start {name} ({}): {cause}", command.get_program().display()))?;
        let log = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, events) = channel();
        let keeper = |sender: Sender<()>| -> LineHandler {
            let log = log.clone();
            Box::new(move |line| {
                let Some(line) = line else { return };
                if marker.is_some_and(|marker| line.contains(marker)) {
                    // Nobody may be waiting any more.
                    let _ = sender.send(());
                }
                let mut log = lock(&log);
                if log.len() == LOG_LINES_MAX {
                    log.pop_front();
                }
                log.push_back(line);
            })
        };
        let stdout_handler = match handler {
            Some(mut handler) => {
                let open = sender.clone();
                Box::new(move |line| {
                    let _open = &open;
                    handler(line);
                })
            }
            None => keeper(sender.clone()),
        };
        read_lines(child.stdout.take(), stdout_handler);
        read_lines(child.stderr.take(), keeper(sender));
        let stdin = child.stdin.take();
        Ok(ChildProcess { name: name.into(), child, stdin, log, events })
    }

    /// Waits for the marker.
    ///
    /// # Errors
    /// The program ended or took longer; with what it said.
    pub fn wait_ready(&mut self, timeout: Duration) -> Result<(), String> {
        match self.events.recv_timeout(timeout) {
            Ok(()) => Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("{} was not ready within {timeout:?}\n{}", self.name, self.log()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map(|status| status.to_string()).unwrap_or_default();
                Err(format!("{} ended before it was ready ({status})\n{}", self.name, self.log()))
            }
        }
    }

    /// The exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Writes a line to standard input.
    ///
    /// # Errors
    /// A program that does not read any more.
    pub fn write_line(&mut self, line: &str) -> Result<(), String> {
        let Some(stdin) = &mut self.stdin else { return Err(format!("{} has no input", self.name)) };
        let result = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
        result.map_err(|cause| format!("{} does not read: {cause}\n{}", self.name, self.log()))
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// # Errors
    /// A program that has not ended in time (it is killed) or cannot be signalled.
    pub fn terminate(&mut self, timeout: Duration) -> Result<ExitStatus, String> {
        if self.ended().is_none() {
            let id = self.child.id().to_string();
            let sent = Command::new("kill").args(["-TERM", &id]).status().map_err(|cause| format!("kill: {cause}"))?;
            if !sent.success() && self.ended().is_none() {
                return Err(format!("{} could not be signalled", self.name));
            }
        }
        self.wait(timeout)
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// A program that has not ended in time; it is killed.
    pub fn wait(&mut self, timeout: Duration) -> Result<ExitStatus, String> {
        loop {
            match self.events.recv_timeout(timeout) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return self.child.wait().map_err(|cause| format!("{}: {cause}", self.name));
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    return Err(format!("{} did not end within {timeout:?}\n{}", self.name, self.log()));
                }
            }
        }
    }

    /// Ends it at once with SIGKILL.
    pub fn kill(&mut self) {
        // It may have ended already: that is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The last lines of its output.
    pub fn log(&self) -> String {
        let log = lock(&self.log);
        let lines: Vec<String> = log.iter().map(|line| format!("  {}| {line}", self.name)).collect();
        lines.join("\n")
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read_lines(stream: Option<impl Read + Send + 'static>, mut handler: LineHandler) {
    let Some(stream) = stream else { return };
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            handler(Some(String::from_utf8_lossy(&line).trim_end().to_string()));
            line.clear();
        }
        handler(None);
    });
}
