//! OVER windows: a row in, the row with what its window gives out.
//!
//! * [`by_time`]: the order is time. Rows are only added, every row is given once
//! * [`by_value`]: the order is any other column. Rows can come and go anywhere in the order, which changes the results
//!   of the rows behind them
//!
//! Both compute aggregates as programs ([`steps`]) for the accumulators, which are columns by partition.

mod by_time;
mod by_value;
mod calls;
mod frames;
mod steps;

use crate::operator::Operator;
use base::Result;
use base::config::JobConfig;
use base::connector::Instance;
use base::plan::{Output, OverAggregate, OverTime};

/// The operator of one instance.
///
/// # Errors
/// Functions that need rows which have not come yet.
pub fn create(
    node: &OverAggregate,
    input: &Output,
    output: &Output,
    instance: Instance,
    config: &JobConfig,
) -> Result<Box<dyn Operator>> {
    Ok(match node.time {
        OverTime::Rowtime(_) | OverTime::Proctime => {
            Box::new(by_time::OverByTime::new(node, input, output, instance, config)?)
        }
        OverTime::None => Box::new(by_value::OverByValue::new(node, input, output, instance)?),
    })
}
