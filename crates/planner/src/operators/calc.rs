//! Rules of filter and projection.

use super::{OperatorRules, Shape, Use, union};
use base::plan::Calc;
use base::{ChangelogMode, RowKind};

/// The part of the rows that a filter keeps.
const FILTER_KEEPS: f64 = 0.5;

impl OperatorRules for Calc {
    fn name(&self) -> &'static str {
        "Calc"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let names = shape.names();
        let columns = self.projection.iter().zip(&names).map(|(expression, name)| {
            let sql = expression.sql();
            if sql == *name { sql } else { format!("{sql} AS {name}") }
        });
        let mut parts = vec![format!("select=[{}]", columns.collect::<Vec<_>>().join(", "))];
        if let Some(condition) = &self.condition {
            parts.push(format!("where=[{}]", condition.sql()));
        }
        parts
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        union(inputs)
    }

    /// A row that an update moves out of the filter is known by its `-U` only.
    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, readers_do: bool) -> bool {
        readers_do || self.condition.is_some()
    }

    /// A filter lets a row leave with a `-U`, and only that says so.
    fn gives_lone_update_before(&self, inherited: bool, mode: ChangelogMode) -> bool {
        inherited || (self.condition.is_some() && mode.contains(RowKind::UpdateBefore))
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        inputs.iter().sum::<f64>() * if self.condition.is_some() { FILTER_KEEPS } else { 1.0 }
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        if self.condition.as_ref().is_some_and(|condition| condition.columns().contains(&column)) {
            return Use::Content("a filter".into());
        }
        let places = self.projection.iter().enumerate().filter(|(_, one)| one.columns().contains(&column));
        Use::Passed(places.map(|(place, _)| place).collect())
    }
}
