//! `hw-testkit fuzz`: random scripts and expressions, which may be refused but must never panic, and must mean the same
//! however they are evaluated.
//!
//! An input is made from a number, so that the number is enough to see a problem again. A problem is made smaller before it
//! is reported. What was found once stays in the folder `corpus`, which a test runs again.

mod check_expression;
mod check_script;
mod expressions;
mod mutate;
mod random;
mod statements;
mod table;
mod texts;

use expressions::Node;
pub(crate) use random::Random;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Scripts, to the parser and the planner.
    Scripts,
    /// Expressions, to the planner and the evaluator.
    Expressions,
}

/// How long and from where.
#[derive(Debug, Clone)]
pub struct FuzzOptions {
    /// What is fed.
    pub target: Target,
    /// The number of the first input; the following inputs have the following numbers.
    pub seed: u64,
    /// Stop after this many inputs.
    pub inputs: Option<u64>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// An input that takes longer is a problem.
    pub slow: Option<Duration>,
    /// Write the input here before it is fed, to see what ended the process.
    pub trace: Option<PathBuf>,
}

/// One kind of problem.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The number of the first input that has it.
    pub seed: u64,
    /// The input, made smaller.
    pub input: String,
    /// What is wrong.
    pub problem: String,
    /// How many inputs had it.
    pub times: usize,
}

/// What a run gave.
#[derive(Debug, Default)]
pub struct FuzzReport {
    /// Inputs fed.
    pub inputs: u64,
    /// Inputs that were accepted to the end.
    pub accepted: u64,
    /// Problems by what is wrong.
    pub findings: BTreeMap<String, Finding>,
}

/// What became of one input.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fed {
    Accepted,
    Refused,
    /// What is wrong: the same text for the same cause, as far as that can be seen, then details.
    Wrong(String, String),
}

impl FuzzReport {
    /// The findings of one kind.
    fn of(&mut self, what: &str) -> impl Iterator<Item = &mut Finding> {
        self.findings.iter_mut().filter(move |(key, _)| key.starts_with(what)).map(|(_, finding)| finding)
    }
}

/// The functions and operators of an expression: what tells findings of one kind apart.
fn shape(expression: &str) -> String {
    let tokens = mutate::tokens(expression).into_iter();
    let named =
        tokens.filter(|token| token.chars().all(|c| c.is_ascii_uppercase() || c == '_' || "+-*/%=<>|".contains(c)));
    named.collect::<Vec<_>>().join(" ")
}

/// Inputs of one kind of problem that are made smaller.
const SHRUNK_MAX: usize = 60;
/// As much stack as the thread of the program that plans has.
const STACK_BYTES: usize = 64 << 20;
/// Tries to make an input smaller.
const SHRINK_TRIES: usize = 600;
/// How deep random expressions are.
const DEPTH: usize = 4;

/// The name of the thread that feeds; the parser reads deep statements in a thread of its own.
const THREADS: [&str; 2] = ["fuzzer", "sql parser"];

static PANIC: Mutex<Option<String>> = Mutex::new(None);

fn take_panic() -> Option<String> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Feeds random inputs until the options say stop.
///
/// # Errors
/// A thread that cannot be started.
pub fn run(options: &FuzzOptions, root: &Path) -> Result<FuzzReport, String> {
    let (options, root) = (options.clone(), root.to_path_buf());
    on_big_stack(move || {
        let fuzzer = Fuzzer::new(&root);
        let start = Instant::now();
        let mut report = FuzzReport::default();
        while options.inputs.is_none_or(|inputs| report.inputs < inputs)
            && options.time.is_none_or(|time| start.elapsed() < time)
        {
            fuzzer.step(&options, options.seed.wrapping_add(report.inputs), &mut report);
        }
        report
    })
}

/// Feeds every file of a corpus folder again: `scripts/*.sql` whole, `expressions/*.sql` a line at a time.
///
/// # Errors
/// All problems, with the file.
pub fn replay(corpus: &Path, root: &Path) -> Result<usize, String> {
    let (corpus, root) = (corpus.to_path_buf(), root.to_path_buf());
    on_big_stack(move || {
        let fuzzer = Fuzzer::new(&root);
        let (mut problems, mut count) = (Vec::new(), 0);
        for path in texts::files(&corpus, "sql") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let is_script = path.parent().is_some_and(|folder| folder.ends_with("scripts"));
            let inputs: Vec<&str> = if is_script {
                vec![&text]
            } else {
                text.lines().filter(|line| !line.is_empty() && !line.starts_with("--")).collect()
            };
            for input in inputs {
                count += 1;
                let target = if is_script { Target::Scripts } else { Target::Expressions };
                if let Fed::Wrong(what, details) = fuzzer.feed(target, input) {
                    problems.push(format!("{}: {input}\n  {what}\n  {details}", path.display()));
                }
            }
        }
        if problems.is_empty() { Ok(count) } else { Err(problems.join("\n")) }
    })?
}

fn on_big_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let thread = std::thread::Builder::new()
        .name(THREADS[0].into())
        .stack_size(STACK_BYTES)
        .spawn(work)
        .map_err(|error| error.to_string())?;
    thread.join().map_err(|_| "the fuzzer itself panicked".to_string())
}

struct Fuzzer {
    texts: Vec<String>,
    grammar: expressions::Grammar,
    expressions: check_expression::Checker,
}

enum Input {
    Script(String),
    Expression(Node),
}

impl Input {
    fn text(&self) -> String {
        match self {
            Input::Script(text) => text.clone(),
            Input::Expression(node) => node.sql(),
        }
    }
}

impl Fuzzer {
    fn new(root: &Path) -> Fuzzer {
        Fuzzer {
            texts: texts::sql_texts(root),
            grammar: expressions::Grammar::new(),
            expressions: check_expression::Checker::new(),
        }
    }

    fn step(&self, options: &FuzzOptions, seed: u64, report: &mut FuzzReport) {
        let input = self.input(options.target, seed);
        let text = input.text();
        if let Some(trace) = &options.trace {
            // Only a convenience: without it the number is still printed.
            let _ = std::fs::write(trace, format!("-- {seed}\n{text}\n"));
        }
        let start = Instant::now();
        let mut fed = self.feed(options.target, &text);
        let took = start.elapsed();
        report.inputs += 1;
        if options.slow.is_some_and(|slow| took > slow) && !matches!(fed, Fed::Wrong(..)) {
            fed = Fed::Wrong("slow".into(), format!("took {:.1} s", took.as_secs_f64()));
        }
        match fed {
            Fed::Accepted => report.accepted += 1,
            Fed::Refused => {}
            Fed::Wrong(what, details) => {
                let times: usize = report.of(&what).map(|finding| finding.times).sum();
                if times > SHRUNK_MAX {
                    report.of(&what).take(1).for_each(|finding| finding.times += 1);
                    return;
                }
                let input = if what == "slow" { text } else { self.smaller(options.target, input, &what) };
                let problem = match self.feed(options.target, &input) {
                    Fed::Wrong(_, details) => details,
                    _ => details,
                };
                let shape = if options.target == Target::Expressions { shape(&input) } else { String::new() };
                let finding = Finding { seed, input, problem, times: 0 };
                report.findings.entry(format!("{what} {shape}")).or_insert(finding).times += 1;
            }
        }
    }

    fn input(&self, target: Target, seed: u64) -> Input {
        let mut random = Random::new(seed);
        match target {
            Target::Expressions => Input::Expression(self.grammar.any(&mut random, DEPTH)),
            Target::Scripts if random.once_in(3) => Input::Script(statements::script(&mut random, &self.grammar)),
            Target::Scripts => {
                let text = if random.once_in(4) {
                    statements::script(&mut random, &self.grammar)
                } else {
                    random.pick(&self.texts).clone()
                };
                Input::Script(mutate::mutate(&mut random, &text, &self.texts))
            }
        }
    }

    /// Feeds one input; a panic is a result like others.
    fn feed(&self, target: Target, text: &str) -> Fed {
        install_hook();
        take_panic();
        let result = catch_unwind(AssertUnwindSafe(|| match target {
            Target::Scripts => check_script::check(text),
            Target::Expressions => self.expressions.check(text),
        }));
        result.unwrap_or_else(|_| {
            let message = take_panic().unwrap_or_default();
            let place = message.lines().next().unwrap_or_default().to_string();
            Fed::Wrong(format!("panic {place}"), message)
        })
    }

    fn smaller(&self, target: Target, input: Input, what: &str) -> String {
        let is_same = |text: &str| matches!(self.feed(target, text), Fed::Wrong(same, _) if same == what);
        match input {
            Input::Script(text) => mutate::smaller(text, SHRINK_TRIES, is_same),
            Input::Expression(node) => expressions::smaller(node, SHRINK_TRIES, |node| is_same(&node.sql())).sql(),
        }
    }
}

/// Keeps where and why a thread of the fuzzer panicked instead of printing it.
fn install_hook() {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !std::thread::current().name().is_some_and(|name| THREADS.contains(&name)) {
                return before(info);
            }
            let place = info.location().map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
            let payload = info.payload();
            let why = payload.downcast_ref::<&str>().copied();
            let why = why.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
            *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{place}\n{why}"));
        }));
    });
}

/// Whether an error says that we are wrong.
fn is_internal(error: &base::Error) -> bool {
    error.code() == base::Error::internal("").code()
}

/// The same for errors of the same cause: numbers and quoted parts are left out.
fn signature(error: &base::Error) -> String {
    let text: String = error.argument("what").unwrap_or_default().chars().filter(|c| !c.is_ascii_digit()).collect();
    let text = text.split(['"', '\'', '`']).step_by(2).collect::<Vec<_>>().join("..");
    format!("internal error {}", text.chars().take(80).collect::<String>())
}

#[cfg(test)]
#[path = "fuzz_tests.rs"]
mod tests;
