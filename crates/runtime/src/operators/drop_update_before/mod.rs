//! Leaves out `-U` rows that nobody behind needs: half the rows of an update stream on its way to an upsert sink.

use super::output::OutputQueue;
use crate::operator::{Operator, OperatorContext};
use arrow::array::UInt32Array;
use base::{ChangelogBatch, Result, RowKind};

/// Drops `-U`.
///
/// * input: any kinds
/// * output: the same without `-U`
/// * state: none
/// * late rows: pass
#[derive(Debug, Default)]
pub struct DropUpdateBefore {
    output: OutputQueue,
}

impl Operator for DropUpdateBefore {
    fn on_batch(&mut self, _input: usize, batch: ChangelogBatch, _context: &OperatorContext) -> Result<()> {
        let keep: UInt32Array = match batch.kinds() {
            Some(kinds) if kinds.contains(&RowKind::UpdateBefore) => {
                let kept = kinds.iter().enumerate().filter(|(_, kind)| **kind != RowKind::UpdateBefore);
                kept.map(|(row, _)| row as u32).collect::<Vec<_>>().into()
            }
            _ => {
                self.output.push(batch);
                return Ok(());
            }
        };
        self.output.push(batch.take(&keep)?);
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        Ok(self.output.next(context.rows_max))
    }
}
