//! Rules of UNNEST.

use super::{OperatorRules, Shape, Use, name_at};
use base::plan::Unnest;
use base::{ChangelogMode, RowKind};

/// The elements of a collection, as a guess.
const ELEMENTS: f64 = 4.0;

impl OperatorRules for Unnest {
    fn name(&self) -> &'static str {
        "Correlate"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let collection = name_at(&shape.input_names(0), self.column).to_string();
        let ordinality = if self.with_ordinality { " WITH ORDINALITY" } else { "" };
        let join = if self.outer { "LEFT" } else { "INNER" };
        let condition = self.condition.as_ref().map(|condition| format!("where=[{}]", condition.sql()));
        [format!("correlate=[UNNEST({collection}){ordinality}]"), format!("joinType=[{join}]")]
            .into_iter()
            .chain(condition)
            .chain([format!("select=[{}]", shape.names().join(", "))])
            .collect()
    }

    fn changelog(&self, _shape: &Shape<'_>, inputs: &[ChangelogMode]) -> ChangelogMode {
        super::union(inputs)
    }

    fn makes_updates(&self) -> bool {
        false
    }

    fn needs_update_before(&self, _shape: &Shape<'_>, _input: usize, _readers_do: bool) -> bool {
        true
    }

    /// The new content of a row may have fewer elements than the old one.
    fn gives_lone_update_before(&self, inherited: bool, mode: ChangelogMode) -> bool {
        inherited || mode.contains(RowKind::UpdateBefore)
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        inputs.iter().sum::<f64>() * ELEMENTS
    }

    fn use_of(&self, shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        if self.condition.as_ref().is_some_and(|condition| condition.columns().contains(&column)) {
            return Use::Content("a join".into());
        }
        let (width, all) = (shape.input_names(0).len(), shape.names().len());
        match self.column == column {
            true => Use::Passed([column].into_iter().chain(width..all).collect()),
            false => Use::Passed(vec![column]),
        }
    }
}
