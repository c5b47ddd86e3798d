//! Aggregate functions: which there are, their result types, and which accumulator computes them.
//!
//! Adding one is a line in [`AGGREGATES`] and an accumulator. Accumulators keep one value per slot in plain vectors.

mod count;
mod distinct;
mod kind;
mod multiset;
mod numbers;
mod rows;
mod sequence;
mod single;
mod sum;
mod variance;

use crate::codes;
use base::function::{Accumulator, AggregateFunction, AggregateOptions};
use base::{Error, LogicalType, Result, SqlType};
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

impl Aggregate {
    fn error(&self, arguments: &[SqlType]) -> Error {
        let types: Vec<String> = arguments.iter().map(|t| t.logical.to_string()).collect();
        let types = format!("({})", types.join(", "));
        let forms = match self.computation {
            Computation::Count => format!("{}(*), {}(x)", self.name, self.name),
            Computation::Sum | Computation::Sum0 | Computation::Avg | Computation::Variance(_) => {
                format!("{}(number)", self.name)
            }
            Computation::ListAgg => "LISTAGG(STRING[, STRING])".to_string(),
            _ => format!("{}(x)", self.name),
        };
        let why = "";
        Error::new(
            &codes::WRONG_ARGUMENTS,
            &[("function", &self.name), ("types", &types), ("why", &why), ("forms", &forms)],
        )
    }

    /// Sums keep their type, but a DECIMAL gets all digits, and an average or variance at least 6 after the point.
    fn numeric_result(&self, argument: &LogicalType, scale_min: u8) -> LogicalType {
        match argument {
            LogicalType::Decimal { scale, .. } => {
                LogicalType::Decimal { precision: 38, scale: (*scale).max(scale_min) }
            }
            other => other.clone(),
        }
    }
}

fn is_comparable(logical: &LogicalType) -> bool {
    use LogicalType::*;
    !matches!(logical, Array(_) | Map(..) | Multiset(_) | Row(_))
}

impl AggregateFunction for Aggregate {
    fn name(&self) -> &str {
        self.name
    }

    fn return_type(&self, arguments: &[SqlType]) -> Result<SqlType> {
        if self.computation == Computation::Count {
            return Ok(LogicalType::BigInt.not_null());
        }
        let Some((first, others)) = arguments.split_first() else { return Err(self.error(arguments)) };
        let separator_fits = self.computation == Computation::ListAgg && others.iter().all(|t| t.logical.is_string());
        if !(others.is_empty() || others.len() == 1 && separator_fits) {
            return Err(self.error(arguments));
        }
        let number = first.logical.is_numeric();
        Ok(match self.computation {
            Computation::Sum if number => self.numeric_result(&first.logical, 0).nullable(),
            Computation::Sum0 if number => self.numeric_result(&first.logical, 0).not_null(),
            Computation::Avg | Computation::Variance(_) if number => self.numeric_result(&first.logical, 6).nullable(),
            Computation::Min | Computation::Max if is_comparable(&first.logical) => first.with_nullable(true),
            Computation::FirstValue | Computation::LastValue | Computation::SingleValue => first.with_nullable(true),
            Computation::ListAgg if first.logical.is_string() => first.with_nullable(true),
            Computation::ArrayAgg => LogicalType::Array(Box::new(first.clone())).nullable(),
            Computation::Collect => LogicalType::Multiset(Box::new(first.clone())).not_null(),
            _ => return Err(self.error(arguments)),
        })
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
        distinct::accumulator(arguments, self.accumulator(arguments, &plain)?)
    }
}

#[cfg(test)]
#[path = "aggregate_tests.rs"]
mod tests;
