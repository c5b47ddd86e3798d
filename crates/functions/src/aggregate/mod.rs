//! Aggregate functions: which there are, their result types, and which accumulator computes them.
//!
//! Adding one is a line in [`AGGREGATES`], its result type in [`signature`] and an accumulator. Accumulators keep one
//! value per slot in plain vectors.

mod arrivals;
mod bitmap;
mod count;
mod distinct;
mod docs;
mod grouped;
mod json;
mod kind;
mod multiset;
mod numbers;
mod pane_values;
mod percentile;
mod rows;
mod sequence;
mod signature;
mod single;
mod sum;
mod variance;

pub use docs::aggregate_doc;
pub use grouped::grouped;

use base::function::{Accumulator, AggregateFunction, AggregateOptions};
use base::{Error, LogicalType, Result, SqlType};
use bitmap::{Operation, Output};
use std::sync::Arc;

/// How an aggregate is told to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Computation {
    Count,
    Sum,
    Sum0,
    Avg,
    Min,
    Max,
    FirstValue,
    LastValue,
    SingleValue,
    ListAgg,
    ArrayAgg,
    Collect,
    Variance(variance::Measure),
    Percentile,
    JsonArrayAgg,
    JsonObjectAgg,
    Bitmap(bitmap::Operation, bitmap::Output),
}

#[derive(Debug, Clone, Copy)]
struct Aggregate {
    name: &'static str,
    computation: Computation,
}

const fn line(name: &'static str, computation: Computation) -> Aggregate {
    Aggregate { name, computation }
}

/// Every aggregate function.
const AGGREGATES: &[Aggregate] = &[
    line("COUNT", Computation::Count),
    line("SUM", Computation::Sum),
    line("SUM0", Computation::Sum0),
    line("$SUM0", Computation::Sum0),
    line("AVG", Computation::Avg),
    line("MIN", Computation::Min),
    line("MAX", Computation::Max),
    line("FIRST_VALUE", Computation::FirstValue),
    line("LAST_VALUE", Computation::LastValue),
    line("SINGLE_VALUE", Computation::SingleValue),
    line("LISTAGG", Computation::ListAgg),
    line("ARRAY_AGG", Computation::ArrayAgg),
    line("COLLECT", Computation::Collect),
    line("STDDEV_POP", Computation::Variance(variance::Measure::STDDEV_POP)),
    line("STDDEV_SAMP", Computation::Variance(variance::Measure::STDDEV_SAMP)),
    line("STDDEV", Computation::Variance(variance::Measure::STDDEV_SAMP)),
    line("VAR_POP", Computation::Variance(variance::Measure::VAR_POP)),
    line("VAR_SAMP", Computation::Variance(variance::Measure::VAR_SAMP)),
    line("VARIANCE", Computation::Variance(variance::Measure::VAR_SAMP)),
    line("PERCENTILE", Computation::Percentile),
    line("JSON_ARRAYAGG", Computation::JsonArrayAgg),
    line("JSON_OBJECTAGG", Computation::JsonObjectAgg),
    line("BITMAP_BUILD_AGG", Computation::Bitmap(Operation::Build, Output::Bitmap)),
    line("BITMAP_BUILD_CARDINALITY_AGG", Computation::Bitmap(Operation::Build, Output::Cardinality)),
    line("BITMAP_AND_AGG", Computation::Bitmap(Operation::And, Output::Bitmap)),
    line("BITMAP_AND_CARDINALITY_AGG", Computation::Bitmap(Operation::And, Output::Cardinality)),
    line("BITMAP_OR_AGG", Computation::Bitmap(Operation::Or, Output::Bitmap)),
    line("BITMAP_OR_CARDINALITY_AGG", Computation::Bitmap(Operation::Or, Output::Cardinality)),
    line("BITMAP_XOR_AGG", Computation::Bitmap(Operation::Xor, Output::Bitmap)),
    line("BITMAP_XOR_CARDINALITY_AGG", Computation::Bitmap(Operation::Xor, Output::Cardinality)),
];

/// The aggregate function of this name, in any letter case.
pub fn aggregate(name: &str) -> Option<Arc<dyn AggregateFunction>> {
    let found = AGGREGATES.iter().find(|aggregate| aggregate.name.eq_ignore_ascii_case(name))?;
    Some(Arc::new(*found))
}

/// The names of all aggregate functions.
pub fn aggregate_names() -> Vec<&'static str> {
    AGGREGATES.iter().map(|aggregate| aggregate.name).collect()
}

/// Whether states of batches, merged in any order, make the state of all rows, even where a batch only takes rows away of
/// others: what two-phase aggregation needs. Floating-point sums depend on the order in which they are added up.
pub fn merges_exactly(function: &dyn AggregateFunction, arguments: &[SqlType], options: &AggregateOptions) -> bool {
    let Some(known) = AGGREGATES.iter().find(|aggregate| aggregate.name == function.name()) else { return false };
    let is_floating = |argument: &SqlType| matches!(argument.logical, LogicalType::Float | LogicalType::Double);
    if arguments.iter().any(is_floating) {
        return known.computation == Computation::Count && !options.distinct;
    }
    use Computation::{Avg, Count, Max, Min, Sum, Sum0};
    matches!(known.computation, Count | Sum | Sum0 | Avg | Min | Max)
}

impl AggregateFunction for Aggregate {
    fn name(&self) -> &str {
        self.name
    }

    fn return_type(&self, arguments: &[SqlType]) -> Result<SqlType> {
        signature::result(self, arguments)
    }

    fn accumulator(&self, arguments: &[SqlType], options: &AggregateOptions) -> Result<Box<dyn Accumulator>> {
        // DISTINCT does not change the extremes, and they need no second set of values.
        if options.distinct && !matches!(self.computation, Computation::Min | Computation::Max) {
            return self.distinct(arguments, options);
        }
        let result = self.return_type(arguments)?;
        let retract = options.retract;
        let Some(first) = arguments.first() else { return Ok(Box::new(count::Count::default())) };
        match self.computation {
            Computation::Count => Ok(Box::new(count::Count::default())),
            Computation::Sum => sum::accumulator(first, sum::Output::Sum, result),
            Computation::Sum0 => sum::accumulator(first, sum::Output::Sum0, result),
            Computation::Avg => sum::accumulator(first, sum::Output::Avg, result),
            Computation::Min if retract => multiset::accumulator(first, multiset::Output::Min),
            Computation::Max if retract => multiset::accumulator(first, multiset::Output::Max),
            Computation::Min => single::accumulator(first, single::Keep::Least),
            Computation::Max => single::accumulator(first, single::Keep::Greatest),
            Computation::FirstValue if !retract => single::accumulator(first, single::Keep::First),
            Computation::LastValue if !retract => single::accumulator(first, single::Keep::Last),
            Computation::FirstValue => sequence::accumulator(first, sequence::Output::First),
            Computation::LastValue => sequence::accumulator(first, sequence::Output::Last),
            Computation::SingleValue => sequence::accumulator(first, sequence::Output::Single),
            Computation::ArrayAgg => sequence::accumulator(first, sequence::Output::Array),
            Computation::ListAgg => Ok(Box::new(sequence::ListAgg::new(retract))),
            Computation::Collect => multiset::accumulator(first, multiset::Output::Collect),
            Computation::Variance(measure) => variance::accumulator(first, measure, result),
            Computation::Percentile => Ok(percentile::accumulator(arguments)),
            Computation::JsonArrayAgg => Ok(Box::new(json::ArrayAgg::new(first))),
            Computation::JsonObjectAgg => Ok(Box::new(json::ObjectAgg::new(&arguments[1]))),
            Computation::Bitmap(operation, output) => Ok(bitmap::accumulator(operation, output, retract)),
        }
    }
}

impl Aggregate {
    fn distinct(&self, arguments: &[SqlType], options: &AggregateOptions) -> Result<Box<dyn Accumulator>> {
        if self.computation == Computation::Count && arguments.len() != 1 {
            return Err(Error::unsupported(format!("COUNT(DISTINCT) of {} columns", arguments.len())));
        }
        self.return_type(arguments)?;
        let plain = AggregateOptions { distinct: false, retract: options.retract };
        let nulls_count =
            matches!(self.computation, Computation::ArrayAgg | Computation::JsonArrayAgg | Computation::JsonObjectAgg);
        distinct::accumulator(arguments, nulls_count, self.accumulator(arguments, &plain)?)
    }
}

#[cfg(test)]
#[path = "aggregate_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod arguments_tests;

#[cfg(test)]
#[path = "retraction_tests.rs"]
mod retraction_tests;
