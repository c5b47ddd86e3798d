//! Rules of MATCH_RECOGNIZE.

use super::{OperatorRules, Shape, Use, name_at, pick};
use crate::lower::builder::duration;
use crate::lower::order_text;
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::{AfterMatch, MatchRecognize, PatternReference, PatternValue};

/// The share of rows that end a match, as a guess.
const MATCHES: f64 = 0.1;

/// The columns of the input that a reference reads.
fn reads(reference: &PatternReference) -> Vec<usize> {
    match &reference.value {
        PatternValue::Rowtime => Vec::new(),
        PatternValue::First { column, .. } | PatternValue::Last { column, .. } => vec![*column],
        PatternValue::Aggregate { arguments, .. } => arguments.iter().flat_map(|argument| argument.columns()).collect(),
    }
}

impl OperatorRules for MatchRecognize {
    fn name(&self) -> &'static str {
        "Match"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        let partition =
            (!self.partition.is_empty()).then(|| format!("partitionBy=[{}]", pick(&self.partition, &below)));
        let time = self.rowtime.map_or_else(|| "PROCTIME ASC".into(), |time| format!("{} ASC", name_at(&below, time)));
        let order = match self.order.is_empty() {
            true => time,
            false => format!("{time}, {}", order_text(&self.order, &below)),
        };
        let name = |variable: usize| self.variables.get(variable).map_or("?", |variable| variable.name.as_str());
        let after = match self.skip {
            AfterMatch::PastLastRow => "SKIP PAST LAST ROW".into(),
            AfterMatch::ToNextRow => "SKIP TO NEXT ROW".into(),
            AfterMatch::ToFirst(variable) => format!("SKIP TO FIRST {}", name(variable)),
            AfterMatch::ToLast(variable) => format!("SKIP TO LAST {}", name(variable)),
        };
        let within = self.within_ms.map(|within_ms| format!("within=[{}]", duration(within_ms)));
        let rest = [
            format!("orderBy=[{order}]"),
            format!("measures=[{}]", self.text.measures.join(", ")),
            "rowsPerMatch=[ONE ROW PER MATCH]".into(),
            format!("after=[{after}]"),
            format!("pattern=[{}]", self.text.pattern),
        ];
        let define = format!("define=[{{{}}}]", self.text.define.join(", "));
        partition.into_iter().chain(rest).chain(within).chain([define]).collect()
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let below = shape.input_names(0);
        let per = match self.partition.is_empty() {
            true => String::new(),
            false => format!(" per ({})", pick(&self.partition, &below)),
        };
        let kept = match (self.within_ms, self.rowtime) {
            (None, _) => "a partial match is kept until a row ends it: without WITHIN that may be for ever".to_string(),
            (Some(within_ms), Some(time)) => format!(
                "a partial match is dropped when the watermark reaches {} of its first row + {} (WITHIN)",
                name_at(&below, time),
                duration(within_ms)
            ),
            (Some(within_ms), None) => {
                format!("a partial match is dropped {} after its first row came (WITHIN)", duration(within_ms))
            }
        };
        let waiting = if self.rowtime.is_some() { "the rows that wait for the watermark, and " } else { "" };
        let mut notes = vec![format!("state{per}: {waiting}the rows of partial matches; {kept}")];
        if let Some(time) = self.rowtime {
            notes.push(format!(
                "a row is looked at when the watermark reaches its {}; late rows are dropped and counted",
                name_at(&below, time)
            ));
        }
        notes
    }

    fn changelog(&self, _shape: &Shape<'_>, _inputs: &[ChangelogMode]) -> ChangelogMode {
        ChangelogMode::APPEND
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, _inherited: bool, _mode: ChangelogMode) -> bool {
        false
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        inputs.iter().sum::<f64>() * MATCHES
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        let conditions = self.variables.iter().filter_map(|variable| variable.condition.as_ref());
        let by_content = conditions.flat_map(|condition| &condition.reads).any(|read| reads(read).contains(&column));
        if by_content || self.partition.contains(&column) || self.rowtime == Some(column) {
            return Use::Content("MATCH_RECOGNIZE".into());
        }
        let given = self.output.iter().enumerate().filter(|(_, reference)| reads(reference).contains(&column));
        Use::Passed(given.map(|(index, _)| self.partition.len() + index).collect())
    }
}
