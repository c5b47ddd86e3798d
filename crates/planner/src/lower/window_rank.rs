//! Rankings of windows: ROW_NUMBER per window and a filter on its number give final rows when the window is over.

use super::builder::Builder;
use super::rank::{Ordered, Parts, order_text, pick};
use super::time_join::window_text;
use super::window_codes as codes;
use base::plan::{Distribution, NodeId, NodeKind, Rank, RankEnd, Window, WindowProperty, WindowRank};
use base::{Error, Field, Result, TimeAttribute};

/// The window that rows are ranked by.
#[derive(Debug, Clone)]
pub struct RankedWindow {
    /// The window.
    pub window: Window,
    /// The column window_start.
    pub start: usize,
    /// The column window_end.
    pub end: usize,
    /// Whether it is a deduplication: the last row by time.
    pub keeps_last: bool,
}

impl Builder<'_> {
    /// The window by whose start and end a ranking is partitioned, if it is.
    ///
    /// # Errors
    /// Rows that are taken back, numbers up to a column, windows by processing time.
    pub(super) fn ranked_window(&self, ordered: &Ordered, end: RankEnd, number: &str) -> Result<Option<RankedWindow>> {
        let find = |wanted: WindowProperty| {
            ordered.partition.iter().find_map(|&column| match self.present_window_of(ordered.node, column) {
                Some((window, property)) if property == wanted => Some((column, window)),
                _ => None,
            })
        };
        let (Some((start, window)), Some((window_end, other))) =
            (find(WindowProperty::Start), find(WindowProperty::End))
        else {
            return Ok(None);
        };
        if window != other && !super::time_join::is_same_window(&window, &other) {
            return Ok(None);
        }
        if !self.output(ordered.node).changelog.is_append_only() {
            return Err(Error::new(&codes::WINDOW_RANK_UPDATES, &[]));
        }
        let end = match end {
            RankEnd::Constant(end) => end,
            RankEnd::Column(_) | RankEnd::All => {
                return Err(Error::new(&codes::WINDOW_RANK_END, &[("column", &number)]));
            }
        };
        if window.is_processing_time {
            return Err(Error::unsupported("ROW_NUMBER() per window by processing time"));
        }
        let by_time = match ordered.order.as_slice() {
            [key] => self.fields(ordered.node)[key.column].time == Some(TimeAttribute::Rowtime) && key.descending,
            _ => false,
        };
        Ok(Some(RankedWindow { window, start, end: window_end, keeps_last: by_time && end == 1 }))
    }

    /// Whether the rows of a node are what windows give when they are over.
    fn has_results_of_windows(&self, node: NodeId) -> bool {
        let node = &self.drafts[node].node;
        match &node.kind {
            NodeKind::WindowAggregate(_) | NodeKind::WindowJoin(_) | NodeKind::WindowRank(_) => true,
            NodeKind::Calc(_) => node.inputs.first().is_some_and(|edge| self.has_results_of_windows(edge.node)),
            _ => false,
        }
    }

    /// The node of a ranking of a window.
    pub(super) fn window_rank_node(
        &mut self,
        input: NodeId,
        rank: Rank,
        ranked: RankedWindow,
        number: Option<Field>,
    ) -> NodeId {
        let keys = self.rank_keys(input, &rank);
        let mut fields = self.fields(input).to_vec();
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        fields.extend(number.filter(|_| rank.with_rank));
        let partition: Vec<usize> =
            rank.partition.iter().copied().filter(|column| ![ranked.start, ranked.end].contains(column)).collect();
        let end = match rank.end {
            RankEnd::Constant(end) => end,
            RankEnd::Column(_) | RankEnd::All => u64::MAX,
        };
        let by_content = self.has_results_of_windows(input);
        let below = &self.identity(input).columns;
        let text = format!(
            "{}..{end} by [{}] per [{}] of window [{}]{}",
            rank.start,
            order_text(&rank.order, below),
            pick(&partition, below),
            pick(&[ranked.start, ranked.end], below),
            if ranked.keeps_last { " last" } else { "" }
        );
        let kind = NodeKind::WindowRank(WindowRank {
            window_start: ranked.start,
            window_end: ranked.end,
            time_zone: ranked.window.time_zone,
            window: window_text(&ranked.window, &names[ranked.start], &names[ranked.end]),
            partition: partition.clone(),
            order: rank.order,
            start: rank.start,
            end,
            last_of_equals: ranked.keeps_last,
            by_content,
            with_rank: rank.with_rank,
        });
        // Windows are told apart by their start: several of them can be worked on side by side.
        let edge = Distribution::Hash([partition, vec![ranked.start]].concat());
        self.ranking_node(input, Parts { name: "window-rank", text, kind, fields, keys }, edge)
    }
}
