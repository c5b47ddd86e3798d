//! Rows that are too late for a window, on their way to a table.

use super::builder::{Builder, Draft, Identity, duration, short_hash, window_sql};
use super::scan::table_name;
use super::sink::SinkDraft;
use super::window_codes as codes;
use crate::catalog::CatalogTable;
use crate::operators::rules;
use base::plan::{Distribution, Edge, Keep, LateRows, Node, NodeId, NodeKind, Output, OverTime, Window, WindowKind};
use base::{Error, Result};
use std::sync::Arc;

/// Where late rows go.
#[derive(Debug, Clone)]
pub struct LateTarget {
    /// The table.
    pub table: Arc<CatalogTable>,
    /// What its columns are among those of the window's input.
    pub columns: Vec<usize>,
}

impl LateTarget {
    fn is_same(&self, other: &LateTarget) -> bool {
        self.table.identity() == other.table.identity() && self.columns == other.columns
    }

    /// The error that rows of this window are looked at by another operator.
    pub fn refused(&self, kind: &WindowKind) -> Error {
        let (name, size_ms) = match kind {
            WindowKind::Tumble { size_ms } => ("TUMBLE", size_ms),
            WindowKind::Hop { size_ms, .. } => ("HOP", size_ms),
            WindowKind::Cumulate { size_ms, .. } => ("CUMULATE", size_ms),
            WindowKind::Session { gap_ms } => ("SESSION", gap_ms),
        };
        self.refused_of(&format!("{name} of {} that no aggregate groups by", duration(*size_ms)))
    }

    /// The error that this gives no late rows.
    pub fn refused_of(&self, what: &str) -> Error {
        Error::new(&codes::LATE_TABLE_PLACE, &[("table", &self.table.definition.path.name), ("what", &what)])
    }
}

impl Builder<'_> {
    /// Sends the rows that are too late for the operator `window` to their table.
    ///
    /// # Errors
    /// What the table refuses.
    pub fn late_rows(&mut self, window: NodeId, late: &LateTarget) -> Result<()> {
        let Some(edge) = self.drafts[window].node.inputs.first().cloned() else { return Ok(()) };
        let text = match &self.drafts[window].node.kind {
            NodeKind::WindowAggregate(aggregate) => self.window_text(&aggregate.window, edge.node),
            NodeKind::WindowTable(table) => self.window_text(&table.window, edge.node),
            kind => return Err(Error::internal(format!("late rows of a {}", kind.name()))),
        };
        let spread = match edge.distribution {
            Distribution::Hash(columns) => Some(columns),
            _ => None,
        };
        let below = self.output(edge.node).clone();
        let Identity { anchor, .. } = self.identity(window).clone();
        let columns = self.identity(edge.node).columns.clone();
        let digest = format!("LateRows(columns=[{}], window={anchor})", columns.join(", "));
        let anchor = format!("late-{}", short_hash(&anchor));
        let draft = Draft {
            spread,
            identity: Identity { rows: short_hash(&digest), columns, anchor: anchor.clone() },
            node: Node {
                operator_id: anchor,
                digest,
                kind: NodeKind::LateRows(LateRows { changelog: below.changelog, window: text }),
                inputs: vec![Edge { node: window, distribution: Distribution::Forward }],
                output: Output { row: below.row, changelog: below.changelog, upsert_keys: below.upsert_keys },
            },
        };
        let node = self.push(draft, true);
        // Two queries of a job with the same window have the same late rows.
        let same = |(other, target): &(NodeId, LateTarget)| *other == node && target.is_same(late);
        if !self.late.iter().any(same) {
            self.late.push((node, late.clone()));
        }
        Ok(())
    }

    /// The sinks of late rows.
    ///
    /// # Errors
    /// What their tables refuse.
    pub fn late_sinks(&mut self) -> Result<Vec<SinkDraft>> {
        self.warn_of_late_rows();
        let mut sinks = Vec::new();
        for (node, LateTarget { table, columns }) in std::mem::take(&mut self.late) {
            let mut relation = self.relation(node);
            relation.fields = columns.iter().map(|&column| relation.fields[column].clone()).collect();
            relation.projection = columns.iter().map(|&column| relation.projection[column].clone()).collect();
            sinks.push(self.table_sink(relation, &table)?);
        }
        Ok(sinks)
    }

    fn window_text(&self, window: &Window, input: NodeId) -> String {
        let time = self.fields(input).get(window.time_column).map_or("?", |field| field.name.as_str());
        window_sql(window, time)
    }

    /// Says which operators drop late rows although a table takes those of windows.
    fn warn_of_late_rows(&mut self) {
        let Some((_, target)) = self.late.first() else { return };
        let drops = |kind: &NodeKind| match kind {
            NodeKind::MatchRecognize(pattern) => pattern.rowtime.is_some(),
            NodeKind::OverAggregate(over) => matches!(over.time, OverTime::Rowtime(_)),
            NodeKind::Deduplicate(deduplicate) => deduplicate.rowtime.is_some() && deduplicate.keep == Keep::First,
            NodeKind::TemporalSort(sort) => sort.rowtime.is_some(),
            NodeKind::IntervalJoin(join) => join.rowtimes.is_some(),
            _ => false,
        };
        let table = table_name(&target.table.definition.path);
        let kinds = self.drafts.iter().map(|draft| &draft.node.kind).filter(|kind| drops(kind));
        let mut names: Vec<&str> = kinds.map(|kind| rules(kind).name()).collect();
        names.sort_unstable();
        names.dedup();
        let warnings: Vec<Error> = names
            .into_iter()
            .map(|name| Error::new(&codes::LATE_TABLE_OTHERS, &[("table", &table), ("operator", &name)]))
            .collect();
        self.warnings.extend(warnings);
    }
}
