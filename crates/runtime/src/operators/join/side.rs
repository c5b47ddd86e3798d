//! What a join keeps of one input, and which of its rows matter when they have no partner.

use super::TABLES;
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::FieldRef;
use base::Result;
use base::plan::{Join, JoinKind, JoinRows, JoinSide, Output};
use state::{RowChains, RowChainsSpec, RowIdentity};

/// Where a column of a kept row comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// It is this key.
    Key(usize),
    /// It is kept with the row, in this place.
    Stored(usize),
}

/// One side.
#[derive(Debug)]
pub(super) struct Side {
    /// The key columns of the input.
    pub keys: Vec<usize>,
    /// By key: whether NULL equals nothing.
    strict: Vec<bool>,
    /// The columns of the input that are kept, in this order; keys are kept once for both sides.
    pub stored: Vec<usize>,
    /// By column of the input.
    pub sources: Vec<Source>,
    /// The rows.
    pub chains: RowChains,
    /// Whether rows without a partner are given, padded with NULL.
    pub is_outer: bool,
    /// Whether rows know how many partners they have.
    pub counts_matches: bool,
    /// Whether rows expire.
    pub expires: bool,
}

impl Side {
    pub fn left(node: &Join, input: &Output) -> Result<Side> {
        let keys = node.keys.iter().map(|key| key.left).collect();
        let is_outer = matches!(node.kind, JoinKind::Left | JoinKind::Full);
        let is_counted = is_outer || matches!(node.kind, JoinKind::Semi | JoinKind::Anti);
        Side::new(TABLES[0], node, &node.left, input, keys, (is_outer, is_counted))
    }

    pub fn right(node: &Join, input: &Output) -> Result<Side> {
        let keys = node.keys.iter().map(|key| key.right).collect();
        let is_outer = matches!(node.kind, JoinKind::Right | JoinKind::Full);
        Side::new(TABLES[1], node, &node.right, input, keys, (is_outer, is_outer))
    }

    fn new(
        name: &'static str,
        node: &Join,
        side: &JoinSide,
        input: &Output,
        keys: Vec<usize>,
        (is_outer, counts_matches): (bool, bool),
    ) -> Result<Side> {
        let (mut stored, identity) = match &side.rows {
            // What is never retracted never needs to be found.
            JoinRows::Any if input.changelog.is_append_only() => (Vec::new(), RowIdentity::Arrival),
            JoinRows::Any => (Vec::new(), RowIdentity::Content),
            JoinRows::One => (Vec::new(), RowIdentity::Slot),
            JoinRows::ByKey(columns) => {
                let columns: Vec<usize> = columns.iter().copied().filter(|column| !keys.contains(column)).collect();
                let identity = RowIdentity::Leading(columns.len());
                (columns, identity)
            }
        };
        for column in 0..input.row.len() {
            if !keys.contains(&column) && !stored.contains(&column) {
                stored.push(column);
            }
        }
        let source = |column: usize| match keys.iter().position(|key| *key == column) {
            Some(key) => Source::Key(key),
            None => Source::Stored(stored.iter().position(|other| *other == column).unwrap_or_default()),
        };
        let fields: Vec<FieldRef> = stored.iter().map(|&column| input.row.arrow().fields()[column].clone()).collect();
        let ttl_ms = side.state_ttl.map(|ttl| ttl.as_millis() as i64);
        Ok(Side {
            strict: node.keys.iter().map(|key| !key.null_safe).collect(),
            sources: (0..input.row.len()).map(source).collect(),
            chains: RowChains::new(RowChainsSpec { name, fields, identity, counts_matches, ttl_ms })?,
            keys,
            stored,
            is_outer,
            counts_matches,
            expires: ttl_ms.is_some(),
        })
    }

    /// The rows of a batch that have a NULL in a key that equals nothing.
    pub fn unmatchable(&self, keys: &[ArrayRef]) -> Option<Vec<bool>> {
        let strict = keys.iter().zip(&self.strict).filter(|(key, strict)| **strict && key.null_count() > 0);
        let mut unmatchable: Option<Vec<bool>> = None;
        for (key, _) in strict {
            let rows = unmatchable.get_or_insert_with(|| vec![false; key.len()]);
            rows.iter_mut().enumerate().for_each(|(row, is)| *is |= key.is_null(row));
        }
        unmatchable
    }
}
