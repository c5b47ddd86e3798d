//! The `highwater` program.
//!
//! This crate wires what the others offer: registries, the command line, the terminal, the control socket.

mod batch_results;
mod cli;
mod codes;
mod control;
mod demo;
mod explain;
mod jobs;
mod kept;
mod language;
mod mask;
mod output;
mod places;
mod registries;
mod results;
mod run;
mod saved_state;
mod savepoints;
mod script;
mod status;
mod summary;
mod table_text;
mod view;

use base::error::Label;
use base::{Domain, Error};
use clap::Parser;
use std::process::ExitCode;

/// Everything ended well.
const EXIT_OK: u8 = 0;
/// A job failed while it ran.
const EXIT_FAILED: u8 = 1;
/// Refused before any row was written.
const EXIT_REFUSED: u8 = 2;
/// A bug.
const EXIT_BUG: u8 = 3;
/// Stopped at once by a second Ctrl-C.
const EXIT_INTERRUPTED: u8 = 130;

/// Stack of the thread that plans.
const STACK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("HIGHWATER_LOG"))
        .with_writer(std::io::stderr)
        .init();
    let cli = cli::Cli::parse();
    // Deeply nested expressions are walked recursively while a statement is planned.
    let work = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || dispatch(cli));
    let code = match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => EXIT_BUG,
        Err(cause) => fail(&Error::io("start", "the main thread", &cause), language::from_environment()),
    };
    ExitCode::from(code)
}

fn dispatch(cli: cli::Cli) -> u8 {
    match cli.command {
        cli::Command::Run(args) => run::run(&args),
        cli::Command::Explain(args) => explain::explain(&args),
        cli::Command::Status(args) => status::status(&args),
        cli::Command::Stop(args) => status::stop(&args),
        cli::Command::Savepoint(args) => savepoints::savepoint(&args),
        cli::Command::State(args) => saved_state::state(&args),
        cli::Command::Demo(args) => demo::demo(&args),
    }
}

/// Prints an error and gives the exit code for one that comes before any row.
fn refuse(error: &Error, language: base::Language) -> u8 {
    eprintln!("{}", mask::render(error, language, Label::Error));
    if error.domain() == Domain::Internal && error.code() == "HW-I001" { EXIT_BUG } else { EXIT_REFUSED }
}

/// Prints an error that ended a running job and gives the exit code.
fn fail(error: &Error, language: base::Language) -> u8 {
    eprintln!("{}", mask::render(error, language, Label::Error));
    exit_code(error)
}

/// The exit code for an error of a running job.
fn exit_code(error: &Error) -> u8 {
    if error.code() == "HW-I001" { EXIT_BUG } else { EXIT_FAILED }
}
