//! One expression, evaluated in several ways that must agree: all rows at once, row by row, and with constants instead of
//! columns.

use super::random::Random;
use super::table::{self, Rows};
use super::{Fed, is_internal, signature};
use crate::oracle::CaseSession;
use arrow::array::{Array, ArrayRef, RecordBatch};
use base::function::FunctionContext;
use base::plan::NodeKind;
use base::{Error, Expression, RowType};
use planner::Outcome;
use std::cell::RefCell;
use std::sync::Arc;

/// Rows of the table.
const ROWS: usize = 24;
/// Rows that are computed from constants too: each is planned anew.
const CONSTANT_ROWS: usize = 3;
/// The rows are the same for every expression and every run.
const ROWS_SEED: u64 = 20_240_229;

/// Functions that say whether their argument can be NULL, which of a constant is known.
const CONSTANTS_MATTER: &[&str] = &["TYPEOF"];

/// Plans and evaluates expressions over the table.
pub struct Checker {
    case: RefCell<CaseSession>,
    rows: Rows,
    context: FunctionContext,
}

/// An expression and the columns that it reads.
struct Planned {
    expression: Arc<dyn Expression>,
    input: RowType,
}

/// What became of planning.
enum Plan {
    Ready(Planned),
    /// A column, or a value that only the runtime knows.
    NothingToEvaluate,
    Failed(Error),
}

impl Checker {
    /// A session with the table.
    pub fn new() -> Checker {
        let context = FunctionContext { time_zone: table::ZONE.parse().expect("a zone"), legacy_cast: false };
        let mut case = CaseSession::planning();
        let setup = format!("SET 'table.local-time-zone' = '{}';\n{}", table::ZONE, table::definition("oracle"));
        let script = syntax::Script::new("setup.sql", &setup);
        for statement in script.statements() {
            case.session.execute(&script, &statement).expect("the table of the fuzzer");
        }
        let rows = Rows::random(&mut Random::new(ROWS_SEED), ROWS, &context);
        Checker { case: RefCell::new(case), rows, context }
    }

    /// Checks one expression.
    pub fn check(&self, text: &str) -> Fed {
        let planned = match self.plan(text) {
            Plan::Failed(error) if is_internal(&error) => return Fed::Wrong(signature(&error), error.to_string()),
            Plan::Failed(_) => return Fed::Refused,
            Plan::NothingToEvaluate => return Fed::Accepted,
            Plan::Ready(planned) => planned,
        };
        let Some(batch) = self.rows.batch(&planned.input) else {
            return Fed::Wrong("a plan with other columns".into(), format!("{:?}", planned.input));
        };
        self.compare(text, &planned, &batch).unwrap_or_else(|(what, details)| Fed::Wrong(what, details))
    }

    fn compare(&self, text: &str, planned: &Planned, batch: &RecordBatch) -> Result<Fed, (String, String)> {
        let whole = evaluate(planned, batch)?;
        let mut failed_alone = None;
        for row in 0..batch.num_rows() {
            let alone = evaluate(planned, &batch.slice(row, 1))?;
            match (&whole, &alone) {
                (_, Err(error)) => failed_alone = Some(error.to_string()),
                (Ok(whole), Ok(alone)) if whole.slice(row, 1).to_data() != alone.to_data() => {
                    let details = format!("row {row}: {:?} with others, {alone:?} alone", whole.slice(row, 1));
                    return Err(("another value alone than with others".into(), details));
                }
                _ => {}
            }
        }
        match (&whole, failed_alone) {
            (Ok(_), Some(why)) => return Err(("fails alone, but not with others".into(), why)),
            (Err(error), None) => return Err(("fails with others, but not alone".into(), error.to_string())),
            _ => {}
        }
        let constants_matter =
            super::mutate::tokens(text).iter().any(|token| CONSTANTS_MATTER.contains(&token.as_str()));
        for row in (0..if constants_matter { 0 } else { batch.num_rows() }).step_by(batch.num_rows() / CONSTANT_ROWS) {
            self.compare_constant(text, planned, &batch.slice(row, 1), row)?;
        }
        Ok(if whole.is_ok() { Fed::Accepted } else { Fed::Refused })
    }

    /// The value of a row with literals instead of columns.
    fn compare_constant(
        &self,
        text: &str,
        planned: &Planned,
        batch: &RecordBatch,
        row: usize,
    ) -> Result<(), (String, String)> {
        let Some(constant) = self.rows.constant(text, row) else { return Ok(()) };
        let of_column = evaluate(planned, batch)?;
        let of_constant = match self.plan(&constant) {
            Plan::NothingToEvaluate => return Ok(()),
            Plan::Failed(error) if is_internal(&error) => return Err((signature(&error), error.to_string())),
            // A constant that cannot be right is refused while planning; in a column it is NULL.
            Plan::Failed(_) if matches!(&of_column, Ok(value) if value.is_null(0)) => return Ok(()),
            Plan::Failed(error) => Err(error),
            Plan::Ready(constant) => {
                let (column_type, constant_type) = (plain(&planned.expression), plain(&constant.expression));
                if column_type != constant_type {
                    let details = format!("{column_type} for columns, {constant_type} for constants");
                    return Err(("another type for constants than for columns".into(), details));
                }
                let Some(batch) = self.rows.batch(&constant.input) else { return Ok(()) };
                evaluate(&constant, &batch.slice(row, 1))?
            }
        };
        let details = |column: &str, of_constant: &str| {
            (
                "another value for constants than for columns".to_string(),
                format!("row {row}: {column} for columns, {of_constant} for {constant}"),
            )
        };
        match (of_column, of_constant) {
            (Ok(column), Ok(value)) => {
                let texts = [self.text(&column, planned)?, self.text(&value, planned)?];
                if texts[0] == texts[1] { Ok(()) } else { Err(details(&texts[0], &texts[1])) }
            }
            // Some uses are only built for constants.
            (Err(_), _) => Ok(()),
            // Of constants it is known that they are NOT NULL, and a function may break that inside of a nested value.
            (Ok(_), Err(error)) if error.code() == functions::codes::NULL_INSIDE.code => Ok(()),
            (Ok(column), Err(error)) => Err(details(&self.text(&column, planned)?, &error.to_string())),
        }
    }

    fn text(&self, array: &ArrayRef, planned: &Planned) -> Result<String, (String, String)> {
        let texts = functions::to_text(array, planned.expression.sql_type(), self.context.time_zone)
            .map_err(|error| ("a value without a text".to_string(), error.to_string()))?;
        Ok(if texts.is_null(0) { "NULL".into() } else { format!("{:?}", texts.value(0)) })
    }

    fn plan(&self, text: &str) -> Plan {
        let mut case = self.case.borrow_mut();
        let script = syntax::Script::new("fuzz.sql", format!("SELECT {text} FROM t"));
        let Some(statement) = script.statements().next() else { return Plan::NothingToEvaluate };
        let job = match case.session.execute(&script, &statement) {
            Err(error) => return Plan::Failed(error),
            Ok(executed) => match executed.outcome {
                Outcome::Job(job) => job,
                _ => return Plan::NothingToEvaluate,
            },
        };
        // Scan, calc, sink; anything else is no plain expression.
        let nodes = &job.plan.nodes;
        let Some(calc) = nodes.iter().rev().find(|node| matches!(node.kind, NodeKind::Calc(_))) else {
            return Plan::NothingToEvaluate;
        };
        match (&calc.kind, calc.inputs.as_slice()) {
            (NodeKind::Calc(calc), [input]) if calc.hidden.is_empty() && calc.projection.len() == 1 => {
                let scan = &nodes[input.node];
                if !matches!(scan.kind, NodeKind::Scan(_)) {
                    return Plan::NothingToEvaluate;
                }
                Plan::Ready(Planned { expression: calc.projection[0].clone(), input: scan.output.row.clone() })
            }
            _ => Plan::NothingToEvaluate,
        }
    }
}

/// Evaluates, and checks what an operator relies on: the declared type, and a value per row. The outer error is a problem,
/// the inner one a refusal.
fn evaluate(planned: &Planned, batch: &RecordBatch) -> Result<Result<ArrayRef, Error>, (String, String)> {
    let array = match planned.expression.evaluate(batch) {
        Ok(array) => array,
        Err(error) if is_internal(&error) => return Err((signature(&error), error.to_string())),
        Err(error) => return Ok(Err(error)),
    };
    let declared = planned.expression.sql_type();
    if array.data_type() != &declared.arrow() {
        let details = format!("declared {declared}, found {}", array.data_type());
        return Err(("another type than declared".into(), details));
    }
    if array.len() != batch.num_rows() {
        let details = format!("{} values for {} rows", array.len(), batch.num_rows());
        return Err(("another number of values than rows".into(), details));
    }
    Ok(Ok(array))
}

/// The type without nullability, which constants know better.
fn plain(expression: &Arc<dyn Expression>) -> String {
    expression.sql_type().logical.to_string().replace(" NOT NULL", "")
}
