//! Rules of OVER windows.

use super::{OperatorRules, Shape, Use, name_at, pick, ttl};
use crate::lower::builder::duration;
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::{OverAggregate, OverFrame, OverFunction, OverTime};

/// The frame in Flink's words.
fn frame_text(frame: OverFrame) -> String {
    let (units, start) = match frame {
        OverFrame::Rows(rows) => ("ROWS", rows.map(|rows| rows.to_string())),
        OverFrame::Range(range) => ("RANGE", range.map(|range| range.to_string())),
    };
    format!(" {units} BETWEEN {} PRECEDING AND CURRENT ROW", start.unwrap_or_else(|| "UNBOUNDED".into()))
}

/// The columns by whose content rows are told or computed.
fn reads(over: &OverAggregate, column: usize) -> bool {
    over.partition.contains(&column)
        || over.order.iter().any(|key| key.column == column)
        || over.calls.iter().any(|call| match &call.function {
            OverFunction::Aggregate(call) => call.arguments.contains(&column) || call.filter == Some(column),
            OverFunction::Shift { argument, default, .. } => *argument == column || *default == Some(column),
            _ => false,
        })
}

impl OperatorRules for OverAggregate {
    fn name(&self) -> &'static str {
        "OverAggregate"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let below = shape.input_names(0);
        let order: Vec<String> = self
            .order
            .iter()
            .map(|key| {
                let nulls = if key.nulls_first { "" } else { " NULLS LAST" };
                format!("{} ASC{nulls}", name_at(&below, key.column))
            })
            .collect();
        let names = shape.names();
        let calls = self.calls.iter().zip(names.iter().skip(below.len()));
        let calls = calls.map(|(call, name)| format!("{} AS {name}", call.sql));
        let select: Vec<String> = below.iter().cloned().chain(calls).collect();
        let partition =
            (!self.partition.is_empty()).then(|| format!("partitionBy=[{}]", pick(&self.partition, &below)));
        let rest = [
            format!("orderBy=[{}]", order.join(", ")),
            format!("window=[{}]", frame_text(self.frame)),
            format!("select=[{}]", select.join(", ")),
        ];
        partition.into_iter().chain(rest).collect()
    }

    fn notes(&self, shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        let per = match self.partition.is_empty() {
            true => "for all rows".to_string(),
            false => format!("per ({})", pick(&self.partition, &shape.input_names(0))),
        };
        let kept = match (self.time, self.frame) {
            (OverTime::None, _) => format!("all rows and their results {per}"),
            (_, OverFrame::Rows(None) | OverFrame::Range(None)) => format!("one row of results {per}"),
            (_, OverFrame::Rows(Some(rows))) => format!("the last {} rows {per}", rows.saturating_add(1)),
            (_, OverFrame::Range(Some(range))) => format!("the rows of the last {} {per}", duration(range)),
        };
        let mut notes = vec![format!("state: {kept}; {}", ttl(self.state_ttl))];
        if let OverTime::Rowtime(column) = self.time {
            notes.push(format!(
                "a row is given when the watermark reaches its {}; late rows are dropped and counted",
                name_at(&shape.input_names(0), column)
            ));
        }
        if self.time == OverTime::None {
            notes.push("a row changes the results of all rows behind it in the order, which are given anew".into());
        }
        notes
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        if self.time == OverTime::None { ChangelogMode::ALL } else { super::union(inputs) }
    }

    fn makes_updates(&self) -> bool {
        self.time == OverTime::None
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    fn gives_lone_update_before(&self, inherited: bool, _mode: ChangelogMode) -> bool {
        inherited && self.time != OverTime::None
    }

    fn as_cause(&self, shape: &Shape<'_>) -> String {
        let below = shape.input_names(0);
        let order: Vec<&str> = self.order.iter().map(|key| name_at(&below, key.column)).collect();
        format!("OVER (ORDER BY {})", order.join(", "))
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        // Rows are taken back by their whole content.
        match self.time == OverTime::None || reads(self, column) {
            true => Use::Content("an OVER window".into()),
            false => Use::Passed(vec![column]),
        }
    }
}
