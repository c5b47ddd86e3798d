//! IGNORE NULLS and RESPECT NULLS of aggregate functions, inside or behind the parentheses.

use super::rewrite::call_arguments;
use base::{Error, Result};
use syntax::ast::{BinaryOperator, Expr, Function, FunctionArgumentClause, FunctionArguments, NullTreatment};

/// Takes the clause out of a call: what is the function's own way needs no clause, the other way becomes a FILTER.
///
/// # Errors
/// A function that has no such clause.
pub fn treat(name: &str, function: &mut Function) -> Result<()> {
    let mut treatment = function.null_treatment.take();
    if let FunctionArguments::List(list) = &mut function.args {
        list.clauses.retain(|clause| match clause {
            FunctionArgumentClause::IgnoreOrRespectNulls(inside) => {
                treatment = Some(*inside);
                false
            }
            _ => true,
        });
    }
    match (name, treatment) {
        (_, None)
        | ("ARRAY_AGG", Some(NullTreatment::RespectNulls))
        | ("FIRST_VALUE" | "LAST_VALUE", Some(NullTreatment::IgnoreNulls)) => Ok(()),
        ("ARRAY_AGG", Some(NullTreatment::IgnoreNulls)) => {
            let Some((_, argument)) = call_arguments(function).into_iter().next() else { return Ok(()) };
            let present = Expr::IsNotNull(Box::new(argument));
            let filter = match function.filter.take() {
                None => present,
                Some(filter) => Expr::BinaryOp { left: filter, op: BinaryOperator::And, right: Box::new(present) },
            };
            function.filter = Some(Box::new(filter));
            Ok(())
        }
        (_, Some(treatment)) => Err(Error::unsupported(format!("{treatment} in {name}"))),
    }
}
