//! LIMIT without ORDER BY over inserts: rows are only counted.

use super::super::output::OutputQueue;
use crate::operator::{Operator, OperatorContext, OperatorStatistics};
use base::plan::{Rank, RankEnd, RankStrategy};
use base::{ChangelogBatch, Result};
use state::{OperatorSnapshot, Scope};

/// The name of the count in snapshots.
const COUNT: &str = "rows";

/// Gives the first rows, in the order of their arrival.
///
/// * input, output: inserts
/// * state: the number of rows so far
/// * late rows: count like all others
#[derive(Debug)]
pub struct LimitOperator {
    /// Rows that are left out at the beginning.
    skip: u64,
    /// The number of rows behind which none is given.
    end: u64,
    count: u64,
    output: OutputQueue,
}

impl LimitOperator {
    /// The operator, if counting is enough.
    pub fn new(node: &Rank) -> Option<Self> {
        let counts = node.order.is_empty() && node.partition.is_empty() && !node.with_rank;
        let end = match node.end {
            RankEnd::Constant(end) => end,
            RankEnd::All => u64::MAX,
            RankEnd::Column(_) => return None,
        };
        (counts && node.strategy == RankStrategy::Append).then(|| LimitOperator {
            skip: node.start.saturating_sub(1),
            end,
            count: 0,
            output: OutputQueue::default(),
        })
    }
}

impl Operator for LimitOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        // All rows went through one instance.
        let counts = restored.iter().filter_map(|snapshot| snapshot.values.get(COUNT));
        self.count = counts.max().map_or(0, |&count| count as u64);
        Ok(())
    }

    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, _context: &OperatorContext) -> Result<()> {
        let rows = batch.num_rows() as u64;
        let from = self.skip.saturating_sub(self.count).min(rows);
        let to = self.end.saturating_sub(self.count).clamp(from, rows);
        self.count = self.end.min(self.count + rows);
        self.output.push(batch.slice(from as usize, (to - from) as usize));
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }

    fn snapshot(&mut self, _scope: Scope) -> Result<OperatorSnapshot> {
        let values = [(COUNT.to_string(), self.count as i64)].into();
        Ok(OperatorSnapshot { values, ..Default::default() })
    }

    fn statistics(&self) -> OperatorStatistics {
        OperatorStatistics { state_entries: 1, state_bytes: 8, ..Default::default() }
    }
}
