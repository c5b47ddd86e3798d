//! `table.optimizer.distinct-agg.split.enabled`: a group with DISTINCT is aggregated in parts first, one per hash of the
//! distinct value, and the parts are put together. One large group is then the work of all instances.

use super::aggregate::Call;
use super::builder::{Builder, Relation, columns};
use crate::expression::{self, Tree};
use arrow::array::{ArrayRef, Int32Array};
use base::function::{AggregateFunction, Argument, FunctionContext, ScalarFunction};
use base::key::hash_columns;
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;
use std::time::Duration;

/// The largest DECIMAL whose sum over a part cannot become NULL for lack of digits, which the sum over all might not.
const PRECISION_MAX: u8 = 28;

/// An aggregate in parts.
pub(super) struct Parts {
    /// The part of a row.
    part: Tree,
    /// The calls over the rows of a part, and what puts their results together.
    calls: Vec<(Call, Arc<dyn AggregateFunction>)>,
}

/// The part of a value: a hash below a number.
#[derive(Debug)]
struct Part(u32);

impl ScalarFunction for Part {
    fn name(&self) -> &str {
        "$PART"
    }

    fn return_type(&self, _arguments: &[Argument]) -> Result<SqlType> {
        Ok(LogicalType::Int.not_null())
    }

    fn evaluate(
        &self,
        arguments: &[ArrayRef],
        _types: &[SqlType],
        _result: &SqlType,
        rows: usize,
        _context: &FunctionContext,
    ) -> Result<ArrayRef> {
        // Other bits than those that spread rows over instances.
        let part = |hash: u64| (hash.rotate_left(32) % u64::from(self.0)) as i32;
        let rows = arguments.first().map_or(rows, |array| array.len());
        Ok(Arc::new(Int32Array::from_iter_values(hash_columns(arguments, rows)?.into_iter().map(part))))
    }
}

impl Builder<'_> {
    /// How to aggregate in parts, if that is wanted and every call can be.
    pub(super) fn split_distinct(&self, input: &Relation, keys: &[Tree], calls: &[Call]) -> Option<Parts> {
        let parts = self.context.distinct_parts.filter(|_| self.context.config.batch_rows > 1)?;
        let values: Vec<&Tree> =
            calls.iter().filter(|call| call.distinct).filter_map(|call| call.arguments.first()).collect();
        let first = values.first()?;
        let text = |tree: &Tree| expression::digest(tree, &[]);
        // Parts by one value keep it together, not others.
        if values.iter().any(|value| text(value) != text(first)) || keys.iter().any(|key| text(key) == text(first)) {
            return None;
        }
        let mut split = Vec::with_capacity(calls.len());
        for call in calls {
            let name = match call.function.name() {
                "COUNT" => "SUM0",
                name @ ("SUM" | "MIN" | "MAX") => name,
                _ => return None,
            };
            let types: Vec<SqlType> = call.arguments.iter().map(Tree::sql_type).collect();
            let overflows = matches!(types.first().map(|one| &one.logical),
                Some(LogicalType::Decimal { precision, .. }) if *precision > PRECISION_MAX);
            if name == "SUM"
                && (overflows || !functions::merges_exactly(call.function.as_ref(), &types, &Default::default()))
            {
                return None;
            }
            let whole = functions::aggregate(name)?;
            let result = call.function.return_type(&types).ok()?;
            // A group has parts, so what is NOT NULL in all of them is so in the whole.
            let whole = functions::grouped(whole);
            if whole.return_type(std::slice::from_ref(&result)).ok()? != result {
                return None;
            }
            let part = Call {
                function: call.function.clone(),
                arguments: call.arguments.clone(),
                filter: call.filter.clone(),
                distinct: call.distinct,
            };
            split.push((part, whole));
        }
        debug_assert!(!input.fields.is_empty());
        let function: Arc<dyn ScalarFunction> = Arc::new(Part(parts));
        let part = Tree::Call { function, arguments: vec![(*first).clone()], sql_type: LogicalType::Int.not_null() };
        Some(Parts { part, calls: split })
    }

    /// The keys in their order, then the calls: parts first, then what they make together.
    pub(super) fn in_parts(
        &mut self,
        input: Relation,
        keys: Vec<Tree>,
        parts: Parts,
        ttl: Option<Duration>,
    ) -> Result<Relation> {
        let width = keys.len();
        let (calls, wholes): (Vec<Call>, Vec<Arc<dyn AggregateFunction>>) = parts.calls.into_iter().unzip();
        let inner_keys = keys.into_iter().chain([parts.part]).collect();
        let inner = self.one_group_aggregate(input, inner_keys, calls, ttl)?;
        let all = columns(&inner.fields);
        if all.len() != width + 1 + wholes.len() {
            return Err(Error::internal("an aggregate in parts with other columns"));
        }
        let calls = wholes.into_iter().zip(&all[width + 1..]).map(|(function, part)| Call {
            function,
            arguments: vec![part.clone()],
            filter: None,
            distinct: false,
        });
        let calls = calls.collect();
        self.one_group_aggregate(inner, all[..width].to_vec(), calls, ttl)
    }
}
