//! `highwater explain`: the plan of every job of a script. Connects to nothing.

use crate::cli::ExplainArgs;
use crate::codes::NOTHING_TO_RUN;
use crate::results::ResultSinks;
use crate::{EXIT_OK, language, output, refuse, registries, script};
use base::error::Label;
use base::{Error, Warnings};
use planner::explain::explain_json;
use std::sync::Arc;
use syntax::statement::ExplainDetail;

/// Plans a script and prints its plans; gives the exit code.
pub fn explain(args: &ExplainArgs) -> u8 {
    let language = language::from_environment();
    let script = match script::load(&args.script) {
        Ok(script) => script,
        Err(error) => return refuse(&error, language),
    };
    let mut session = registries::session(Arc::new(ResultSinks::default()), Warnings::default());
    // Standard output is one document then.
    let show: fn(&str) = if args.json { |text| eprint!("{text}") } else { output::print };
    let planned = match script::plan_showing(&script, &mut session, language, show) {
        Ok(planned) => planned,
        Err(error) => {
            let language = session.config().ok().and_then(|config| config.language).unwrap_or(language);
            return refuse(&error, language);
        }
    };
    if planned.jobs.is_empty() && !planned.has_output {
        let note = Error::new(&NOTHING_TO_RUN, &[("script", &script.name())]);
        eprintln!("{}", note.render(planned.language, Label::Note));
    }
    if args.json {
        let jobs: Vec<serde_json::Value> = planned
            .jobs
            .iter()
            .map(|job| {
                let job = &job.job;
                let batch: Vec<&str> = job.batch.iter().map(|query| query.plan.as_str()).collect();
                match job.is_batch() {
                    true => serde_json::json!({ "sinks": job.sinks, "batch": batch }),
                    false => serde_json::json!({ "sinks": job.sinks, "plan": explain_json(&job.plan) }),
                }
            })
            .collect();
        output::line(&format!("{:#}", serde_json::json!({ "jobs": jobs })));
        return EXIT_OK;
    }
    let mut details = Vec::new();
    if args.cost {
        details.push(ExplainDetail::EstimatedCost);
    }
    if args.advice {
        details.push(ExplainDetail::PlanAdvice);
    }
    for (index, job) in planned.jobs.iter().enumerate() {
        if index > 0 {
            output::line("");
        }
        let what = match job.job.sinks.as_slice() {
            [] => "query".to_string(),
            sinks => format!("insert into {}", sinks.join(", ")),
        };
        output::line(&format!("== job {}: {what} ==", index + 1));
        output::line(job.job.explain(&details).trim_end());
    }
    EXIT_OK
}
