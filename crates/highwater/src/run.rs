//! `highwater run`: plans the whole script, starts its jobs, shows them, and stops them cleanly.

use crate::cli::RunArgs;
use crate::codes::NOTHING_TO_RUN;
use crate::control::{self, Control};
use crate::jobs::{Jobs, NamedJob, has_ended};
use crate::kept::{KeepArgs, Kept, KeptJob, Owner};
use crate::results::{ResultMode, ResultSinks, lock};
use crate::savepoints::{RunJob, SavedRun};
use crate::script::{self, PlannedScript, ScriptJob};
use crate::view::{REFRESH, Screen};
use crate::{EXIT_INTERRUPTED, EXIT_OK, exit_code, fail, language, mask, output, refuse, registries, summary};
use base::error::Label;
use base::plan::{NodeKind, StreamPlan};
use base::recovery::RestartStrategy;
use base::{Error, Language, Result, Warnings};
use planner::JobKind;
use runtime::{JobHandle, RuntimeOptions, StopMode};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Time between two lines of progress when standard error is no terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// How long a run that is stopped at once may take to clear up.
const END_TIME: Duration = Duration::from_secs(3);

/// What the command line sets for all jobs of a run; stronger than the script.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Parallel instances.
    pub parallelism: Option<usize>,
    /// Rows per batch.
    pub batch_rows: Option<usize>,
    /// The folder of job state.
    pub state_dir: Option<PathBuf>,
    /// What happens to saved state; `None`: nothing is kept.
    pub keep: Option<KeepArgs>,
}

/// Warnings of jobs and of what they read and write, waiting to be shown.
#[derive(Debug)]
pub struct Warned {
    /// Where they are sent.
    pub warnings: Warnings,
    queue: tokio::sync::mpsc::UnboundedReceiver<Error>,
}

impl Default for Warned {
    fn default() -> Warned {
        let (sender, queue) = tokio::sync::mpsc::unbounded_channel();
        // Whoever has stopped listening has seen enough.
        Warned { warnings: Warnings::new(move |warning| drop(sender.send(warning))), queue }
    }
}

/// Runs a script file; gives the exit code.
pub fn run(args: &RunArgs) -> u8 {
    let language = language::from_environment();
    let overrides = Overrides {
        parallelism: args.parallelism.map(usize::from),
        batch_rows: args.batch_rows.map(|rows| rows as usize),
        state_dir: args.state_dir.state_dir.clone(),
        keep: None,
    };
    let script = match script::load(&args.script) {
        Ok(script) => script,
        Err(error) => return refuse(&error, language),
    };
    let keep = KeepArgs {
        // Of what cannot be found (a pipe), the next run would not be another one.
        script: std::fs::canonicalize(args.script.path()).ok().filter(|path| path.is_file()),
        script_text: script.text().to_string(),
        from: args.from.clone(),
        fresh: args.fresh,
        may_lose_state: args.allow_non_restored_state,
        checkpoint: args.checkpoint,
    };
    let overrides = Overrides { keep: Some(keep), ..overrides };
    let results = Arc::new(ResultSinks::default());
    let warned = Warned::default();
    let mut session = registries::session(results.clone(), warned.warnings.clone());
    let planned = script::plan(&script, &mut session, language);
    let language = session.config().ok().and_then(|config| config.language).unwrap_or(language);
    let planned = match planned {
        Ok(planned) => planned,
        Err(error) => return refuse(&error, language),
    };
    if session.options().get(base::config::RESULT_MODE.spec.key) == Some("table") {
        results.set_mode(ResultMode::Table);
    }
    if planned.jobs.is_empty() {
        if !planned.has_output {
            let note = Error::new(&NOTHING_TO_RUN, &[("script", &script.name())]);
            eprintln!("{}", note.render(language, Label::Note));
        }
        return EXIT_OK;
    }
    start(planned, &results, &overrides, warned)
}

/// Runs planned jobs to their end on an async runtime; gives the exit code.
pub fn start(planned: PlannedScript, results: &Arc<ResultSinks>, overrides: &Overrides, warned: Warned) -> u8 {
    let language = planned.language;
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(cause) => return fail(&Error::io("start", "the async runtime", &cause), language),
    };
    let code = runtime.block_on(supervise(planned, results.clone(), overrides.clone(), warned));
    // Tasks that still wait for input have nothing to say any more.
    runtime.shutdown_background();
    code
}

async fn supervise(planned: PlannedScript, results: Arc<ResultSinks>, overrides: Overrides, warned: Warned) -> u8 {
    let language = planned.language;
    let jobs = Arc::new(Jobs::default());
    let state_dir = control::state_dir(overrides.state_dir.as_deref());
    let owner = Owner::of(&planned, overrides.keep.as_ref());
    let mut control = match Control::open(&state_dir, &planned.name, &owner, jobs.clone()) {
        Ok(control) => control,
        Err(error) => return refuse(&error, language),
    };
    let keep = overrides.keep.clone().unwrap_or_default();
    let mut kept = match Kept::open(&planned, &control.folder, &owner, &keep) {
        Ok(kept) => kept,
        Err(error) => return refuse(&error, language),
    };
    jobs.keep(saved_run(&planned, &kept, &keep, &control.folder));
    kept.notes.iter().for_each(|note| eprintln!("{}", mask::render(note, language, Label::Note)));
    let interrupted = Arc::new(tokio::sync::Notify::new());
    let screen = Arc::new(Screen::default());
    let signals = Signals { jobs: jobs.clone(), interrupted: interrupted.clone(), screen: screen.clone(), language };
    if let Err(error) = signals.listen() {
        return self::fail(&error, language);
    }
    let prints = planned.jobs.iter().any(|job| prints(&job.job.plan));
    let done = Arc::new(tokio::sync::Notify::new());
    let display = tokio::spawn(display(jobs.clone(), results.clone(), prints, done.clone(), screen.clone()));
    let name = control.name.clone();
    let fail = |error: &Error| {
        screen.say(&mask::render(error, language, Label::Error));
        exit_code(error)
    };
    let Warned { warnings, mut queue } = warned;
    let said = Arc::new(tokio::sync::Notify::new());
    let listener = {
        let (screen, said) = (screen.clone(), said.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    // What has been sent is shown before the end.
                    biased;
                    Some(warning) = queue.recv() => screen.say(&mask::render(&warning, language, Label::Warning)),
                    () = said.notified() => return,
                }
            }
        })
    };
    let work = run_jobs(planned.jobs, &name, &jobs, &overrides, &mut kept, warnings, &fail);
    let mut code = tokio::select! {
        code = work => code,
        () = interrupted.notified() => {
            jobs.cancel();
            EXIT_INTERRUPTED
        }
    };
    done.notify_one();
    let _ = display.await;
    said.notify_one();
    let _ = listener.await;
    print_final_table(&results);
    for job in jobs.list() {
        let metrics = job.handle.metrics();
        eprintln!("{}", summary::summary(&job.name, &metrics));
        for warning in summary::warnings(&metrics) {
            eprintln!("{}", mask::render(&warning, language, Label::Warning));
        }
    }
    // Before the state of jobs that have come to their end goes.
    if let Err(error) = jobs.write_wanted_savepoint() {
        code = fail(&error);
    }
    if code == EXIT_OK
        && let Err(error) = kept.ended()
    {
        code = fail(&error);
    }
    control.keeps_state = kept.keeps_something();
    jobs.set_ended();
    jobs.answered().await;
    // The folders of checkpoints go before the folder of the run.
    jobs.release();
    drop(kept);
    code
}

/// Starts the jobs in script order, waiting where the script says so, then for all.
async fn run_jobs(
    planned: Vec<ScriptJob>,
    run_name: &str,
    jobs: &Jobs,
    overrides: &Overrides,
    kept: &mut Kept,
    warnings: Warnings,
    fail: &impl Fn(&Error) -> u8,
) -> u8 {
    let mut code = EXIT_OK;
    let mut running = Vec::new();
    let mut names = BTreeMap::new();
    for (index, ScriptJob { job, wait, .. }) in planned.into_iter().enumerate() {
        if jobs.is_stopping() {
            break;
        }
        let mut options = RuntimeOptions::from_config(&job.plan.config);
        options.parallelism = overrides.parallelism.unwrap_or(options.parallelism);
        options.batch_rows = overrides.batch_rows.unwrap_or(options.batch_rows);
        options.clock = registries::clock();
        options.warnings = warnings.clone();
        options.job = unlike(&job.sinks.join("+"), &mut names);
        if job.kind == JobKind::Query || job.is_batch() {
            // What a terminal has shown cannot be taken back, and a batch job has no checkpoints.
            options.restart = RestartStrategy::None;
        }
        if let Some(kept) = kept.jobs.get_mut(index).and_then(Option::as_mut) {
            options.store = Some(kept.store.clone());
            if let Some(memory) = &mut options.memory {
                memory.cache = Some(kept.cache.clone());
            }
            options.may_lose_state = overrides.keep.as_ref().is_some_and(|keep| keep.may_lose_state);
            options.restore = kept.stored.take().map(|stored| stored.checkpoint);
            if let Some(finished) = options.restore.as_ref().filter(|restore| restore.is_finished) {
                if let Err(error) = runtime::commit_again(&job.plan, &options, finished).await {
                    code = fail(&error);
                }
                continue;
            }
        }
        let name = job.plan.config.name.clone().unwrap_or_else(|| match job.sinks.as_slice() {
            [] => run_name.to_string(),
            sinks => sinks.join("+"),
        });
        let started = tokio::select! {
            started = runtime::start(job.plan, options) => started,
            // Nobody has to wait for a broker that does not answer.
            () = jobs.stopping() => break,
        };
        let handle = match started {
            Ok(handle) => handle,
            Err(error) => {
                code = fail(&error);
                continue;
            }
        };
        let key = kept.jobs.get(index).and_then(|job| job.as_ref().map(|job| job.key.clone()));
        jobs.add(NamedJob { name: name.clone(), key, handle: handle.clone() });
        if wait {
            code = code.max(wait_for(&handle, fail).await);
        } else {
            running.push(handle);
        }
    }
    for handle in running {
        code = code.max(wait_for(&handle, fail).await);
    }
    code
}

/// What savepoints of a run are made of.
fn saved_run(planned: &PlannedScript, kept: &Kept, keep: &KeepArgs, folder: &Path) -> SavedRun {
    let with_state = planned.jobs.iter().zip(&kept.jobs);
    let jobs = with_state.filter_map(|(job, kept)| {
        let KeptJob { key, store, .. } = kept.as_ref()?;
        Some(RunJob { key: key.clone(), plan: job.job.explain(&[]), store: store.clone() })
    });
    SavedRun {
        script: keep.script.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
        script_text: mask::script(&keep.script_text),
        folder: SavedRun::default_folder(folder),
        jobs: jobs.collect(),
    }
}

/// A name, with a number behind it if it was given before.
fn unlike(name: &str, given: &mut BTreeMap<String, usize>) -> String {
    let count = given.entry(name.to_string()).or_default();
    *count += 1;
    if *count == 1 { name.to_string() } else { format!("{name}-{count}") }
}

async fn wait_for(handle: &JobHandle, fail: &impl Fn(&Error) -> u8) -> u8 {
    match handle.wait().await {
        Ok(_) => EXIT_OK,
        Err(error) => fail(&error),
    }
}

/// Whether rows go to standard output or error.
fn prints(plan: &StreamPlan) -> bool {
    plan.nodes.iter().any(|node| matches!(&node.kind, NodeKind::Sink(sink) if sink.provider.prints()))
}

/// What Ctrl-C and SIGTERM act upon.
struct Signals {
    jobs: Arc<Jobs>,
    interrupted: Arc<tokio::sync::Notify>,
    screen: Arc<Screen>,
    language: Language,
}

impl Signals {
    /// Listens on a thread of its own: the others may be busy with rows for long.
    fn listen(self) -> Result<()> {
        let failed = |cause: std::io::Error| Error::io("listen to", "signals", &cause);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (mut interrupt, mut terminate) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?)
        };
        let work = async move {
            let mut next = async || {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            };
            next().await;
            self.screen.say(match self.language {
                Language::English => "stopping after a final checkpoint; Ctrl-C or SIGTERM once more stops at once",
                Language::Chinese => {
                    "正在停止：完成最后一次检查点后退出；再按一次 Ctrl-C（或再发送 SIGTERM）则立即退出"
                }
            });
            self.jobs.stop(StopMode::Plain);
            next().await;
            self.screen.say(match self.language {
                Language::English => "stopping at once, without a final checkpoint",
                Language::Chinese => "立即退出，不再做最后一次检查点",
            });
            self.interrupted.notify_one();
            tokio::time::sleep(END_TIME).await;
            // A task in the middle of its rows notices nothing.
            std::process::exit(EXIT_INTERRUPTED.into());
        };
        let thread = std::thread::Builder::new().name("signals".into());
        thread.spawn(move || runtime.block_on(work)).map_err(failed)?;
        Ok(())
    }
}

/// Shows progress until `done`: a live view on a terminal, lines in a pipe.
async fn display(
    jobs: Arc<Jobs>,
    results: Arc<ResultSinks>,
    prints: bool,
    done: Arc<tokio::sync::Notify>,
    screen: Arc<Screen>,
) {
    let terminal = std::io::stderr().is_terminal();
    // Rows scroll by on the same terminal: a view between them would destroy them.
    if terminal && prints {
        return done.notified().await;
    }
    let mut timer = tokio::time::interval(if terminal { REFRESH } else { PROGRESS_INTERVAL });
    timer.tick().await;
    loop {
        tokio::select! {
            _ = timer.tick() => {}
            () = done.notified() => return screen.clear(),
        }
        if terminal {
            draw(&screen, &jobs, &results);
            continue;
        }
        for job in jobs.list() {
            let metrics = job.handle.metrics();
            if !has_ended(metrics.state) {
                eprintln!("{}", summary::progress(&job.name, &metrics));
            }
        }
    }
}

fn draw(screen: &Screen, jobs: &Jobs, results: &ResultSinks) {
    let live = lock(&results.live);
    let table = (results.mode() == ResultMode::Table && !live.columns.is_empty()).then_some(&*live);
    screen.draw(&jobs.list(), table);
}

/// The final result table goes to standard output, where a pipe can read it.
fn print_final_table(results: &ResultSinks) {
    if results.mode() == ResultMode::Table {
        let live = lock(&results.live);
        // The jobs have ended; a reader that has left has seen enough.
        let _ = output::write(&live.final_text());
    }
}
