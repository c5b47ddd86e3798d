//! Rules of grouping sets.

use super::{OperatorRules, Shape, Use, name_at};
use base::ChangelogMode;
use base::config::JobConfig;
use base::plan::Expand;

impl OperatorRules for Expand {
    fn name(&self) -> &'static str {
        "Expand"
    }

    fn describe(&self, shape: &Shape<'_>) -> Vec<String> {
        let (below, names) = (shape.input_names(0), shape.names());
        let set_column = name_at(&names, below.len());
        let projects: Vec<String> = self
            .sets
            .iter()
            .map(|(kept, id)| {
                let left_out = |column: &usize| self.columns.contains(column) && !kept.contains(column);
                let columns = below.iter().enumerate().map(|(column, name)| match left_out(&column) {
                    true => format!("null AS {name}"),
                    false => name.clone(),
                });
                let columns: Vec<String> = columns.chain([format!("{id} AS {set_column}")]).collect();
                format!("{{{}}}", columns.join(", "))
            })
            .collect();
        vec![format!("projects=[{}]", projects.join(", "))]
    }

    fn notes(&self, _shape: &Shape<'_>, _config: &JobConfig) -> Vec<String> {
        vec![format!("every row {} times, once per grouping set; no state", self.sets.len())]
    }

    fn rows(&self, inputs: &[f64]) -> f64 {
        inputs.iter().sum::<f64>() * self.sets.len() as f64
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

    fn gives_lone_update_before(&self, inherited: bool, _mode: ChangelogMode) -> bool {
        inherited
    }

    fn use_of(&self, _shape: &Shape<'_>, _input: usize, column: usize) -> Use {
        Use::Passed(vec![column])
    }
}
