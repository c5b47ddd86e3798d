//! `highwater status` and `highwater stop`: clients of the control socket.

use crate::cli::{StatusArgs, StopArgs};
use crate::control::{self, Request, SavepointPlace};
use crate::savepoints;
use crate::table_text::aligned;
use crate::{EXIT_OK, fail, language, output, refuse, summary};
use serde_json::{Value, json};

/// Shows running jobs; gives the exit code.
pub fn status(args: &StatusArgs) -> u8 {
    let language = language::from_environment();
    let state_dir = control::state_dir(args.state_dir.state_dir.as_deref());
    let names = match &args.job {
        Some(job) => match control::choose(&state_dir, Some(job)) {
            Ok(name) => vec![name],
            Err(error) => return refuse(&error, language),
        },
        None => control::running(&state_dir),
    };
    let mut runs = Vec::new();
    for name in names {
        match control::ask(&state_dir, &name, &Request::Status) {
            Ok(mut status) => {
                status["run"] = json!(name);
                runs.push(status);
            }
            Err(error) => return fail(&error, language),
        }
    }
    if args.json {
        output::line(&json!({ "runs": runs }).to_string());
    } else if runs.is_empty() {
        output::line(&format!("no job is running (state folder {})", state_dir.display()));
    } else {
        runs.iter().for_each(print_run);
    }
    EXIT_OK
}

fn print_run(run: &Value) {
    output::line(&format!("run {} (process {})", text(&run["run"]), run["pid"]));
    for job in run["jobs"].as_array().into_iter().flatten() {
        output::line(&format!(
            "  job {}: {} {} {:.0} s, {} checkpoint{}, late_rows_dropped={}",
            text(&job["name"]),
            text(&job["state"]),
            if job["state"] == "running" { "for" } else { "after" },
            job["uptime_ms"].as_f64().unwrap_or(0.0) / 1000.0,
            job["checkpoints"],
            if job["checkpoints"] == 1 { "" } else { "s" },
            job["late_rows_dropped"],
        ));
        let columns = ["name", "rows_in", "rows_out", "late_rows_dropped", "rows_rejected", "lag", "watermark"];
        let mut rows = vec![columns.map(str::to_string).to_vec()];
        for node in job["nodes"].as_array().into_iter().flatten() {
            rows.push(columns.iter().map(|column| text(&node[*column])).collect());
        }
        aligned(&rows).iter().for_each(|line| output::line(&format!("    {line}")));
        for node in job["nodes"].as_array().into_iter().flatten() {
            for waiting in node["waiting"].as_array().into_iter().flatten() {
                output::line(&format!("    {}", waiting_line(&node["name"], waiting)));
            }
        }
    }
}

/// What the results of an operator wait for, in one line.
fn waiting_line(operator: &Value, waiting: &Value) -> String {
    let splits: Vec<String> = waiting["splits"].as_array().into_iter().flatten().map(text).collect();
    summary::waiting_line(
        &text(operator),
        &text(&waiting["table"]),
        &splits.join(", "),
        &text(&waiting["reason"]),
        &text(&waiting["since"]),
        &text(&waiting["watermark"]),
    )
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".into(),
        other => other.to_string(),
    }
}

/// Stops a run and waits for its end; gives the exit code.
pub fn stop(args: &StopArgs) -> u8 {
    let language = language::from_environment();
    let state_dir = control::state_dir(args.state_dir.state_dir.as_deref());
    let name = match control::choose(&state_dir, args.job.as_deref()) {
        Ok(name) => name,
        Err(error) => return refuse(&error, language),
    };
    let path = match savepoints::absolute(args.savepoint_path.as_deref()) {
        Ok(path) => path,
        Err(error) => return refuse(&error, language),
    };
    let savepoint = (args.savepoint || path.is_some()).then_some(SavepointPlace { path });
    let wants_savepoint = savepoint.is_some();
    match control::ask(&state_dir, &name, &Request::Stop { drain: args.drain, savepoint }) {
        Ok(mut status) => {
            status["run"] = json!(name);
            print_run(&status);
            if wants_savepoint { savepoints::report(&status, &name, language) } else { EXIT_OK }
        }
        Err(error) => fail(&error, language),
    }
}
