//! Compiling bound expressions.

use super::{HIDDEN_FUNCTIONS, Test, Tree};
use crate::bridge::{flink_scalar, type_field};
use crate::codes;
use crate::literal::as_literal;
use base::expression::HiddenColumn;
use base::function::Argument;
use base::{Error, LogicalType, Result, SqlType};
use datafusion_common::{DFSchema, DataFusionError};
use datafusion_expr::expr::{BinaryExpr, InList};
use datafusion_expr::{Expr, ExprSchemable, Operator};

/// Compiles expressions over one input.
#[derive(Debug)]
pub struct Compiler<'a> {
    /// The columns as DataFusion names them.
    pub schema: &'a DFSchema,
    /// The types of the columns.
    pub types: &'a [SqlType],
    /// The number of calls that needed a random column so far.
    pub random_calls: &'a std::cell::Cell<usize>,
}

/// Our error out of DataFusion's: one of ours comes back as it was.
pub fn from_datafusion(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::new(&codes::BIND, &[("reason", &other)]),
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_datafusion(*inner),
        DataFusionError::Shared(inner) => match std::sync::Arc::try_unwrap(inner) {
            Ok(inner) => from_datafusion(inner),
            Err(shared) => match shared.as_ref() {
                DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
                    Some(error) => error.clone(),
                    None => Error::new(&codes::BIND, &[("reason", inner)]),
                },
                other => Error::new(&codes::BIND, &[("reason", other)]),
            },
        },
        other => Error::new(&codes::BIND, &[("reason", &other.strip_backtrace())]),
    }
}

impl Compiler<'_> {
    /// The tree of an expression.
    ///
    /// # Errors
    /// An expression that this version cannot run.
    pub fn compile(&self, expr: &Expr) -> Result<Tree> {
        Ok(match expr {
            Expr::Alias(alias) => self.compile(&alias.expr)?,
            Expr::Column(column) => {
                let index = self.schema.index_of_column(column).map_err(from_datafusion)?;
                let sql_type =
                    self.types.get(index).ok_or_else(|| Error::internal(format!("column {column} has no type")))?;
                Tree::Column { index, sql_type: sql_type.clone() }
            }
            Expr::Literal(value, _) => {
                let sql_type = self.type_of(expr)?.with_nullable(value.is_null());
                let array = value.to_array_of_size(1).map_err(from_datafusion)?;
                Tree::Literal { value: super::evaluate::conform(array, &sql_type.arrow())?, sql_type }
            }
            Expr::ScalarFunction(call) => self.call(expr, call)?,
            Expr::BinaryExpr(binary) => self.binary(binary)?,
            Expr::Not(input) => Tree::Not(Box::new(self.compile(input)?)),
            Expr::IsNull(input) => self.test(input, Test::Null)?,
            Expr::IsNotNull(input) => self.test(input, Test::NotNull)?,
            Expr::IsTrue(input) => self.test(input, Test::True)?,
            Expr::IsNotTrue(input) => self.test(input, Test::NotTrue)?,
            Expr::IsFalse(input) => self.test(input, Test::False)?,
            Expr::IsNotFalse(input) => self.test(input, Test::NotFalse)?,
            Expr::IsUnknown(input) => self.test(input, Test::Null)?,
            Expr::IsNotUnknown(input) => self.test(input, Test::NotNull)?,
            Expr::Between(between) => {
                let value = self.compile(&between.expr)?;
                let low = self.operator(">=", vec![value.clone(), self.compile(&between.low)?])?;
                let high = self.operator("<=", vec![value, self.compile(&between.high)?])?;
                let both = Tree::And(vec![low, high]);
                if between.negated { Tree::Not(Box::new(both)) } else { both }
            }
            Expr::Case(case) => {
                let operand = case.expr.as_ref().map(|operand| self.compile(operand)).transpose()?;
                let mut branches = Vec::with_capacity(case.when_then_expr.len());
                for (when, then) in &case.when_then_expr {
                    let when = self.compile(when)?;
                    let when = match &operand {
                        None => when,
                        Some(operand) => self.operator("=", vec![operand.clone(), when])?,
                    };
                    branches.push((when, self.compile(then)?));
                }
                let otherwise = case.else_expr.as_ref().map(|otherwise| self.compile(otherwise)).transpose()?;
                self.case(branches, otherwise)?
            }
            Expr::InList(list) => self.in_list(list)?,
            Expr::Cast(cast) => self.cast(expr, &cast.expr, false)?,
            Expr::TryCast(cast) => self.cast(expr, &cast.expr, true)?,
            Expr::Exists(_) => return Err(Error::unsupported("EXISTS in this place")),
            Expr::InSubquery(_) => return Err(Error::unsupported("IN (SELECT ...) in this place")),
            Expr::ScalarSubquery(_) => return Err(Error::unsupported("a scalar subquery in this place")),
            Expr::WindowFunction(_) => return Err(Error::unsupported("OVER aggregation")),
            other => return Err(Error::unsupported(format!("the expression {other}"))),
        })
    }

    fn call(&self, expr: &Expr, call: &datafusion_expr::expr::ScalarFunction) -> Result<Tree> {
        let name = call.func.name();
        if let Some((_, column)) = HIDDEN_FUNCTIONS.iter().find(|(hidden, _)| *hidden == name) {
            // Two readings of the clock in one row are equal, two random numbers are not.
            let call = match column {
                HiddenColumn::Random => self.random_calls.replace(self.random_calls.get() + 1),
                _ => 0,
            };
            return Ok(Tree::Hidden { column: *column, call, position: None });
        }
        if let Some(literal) = as_literal(&call.func) {
            return self.compile(&literal.to_expr());
        }
        let function = flink_scalar(&call.func)
            .ok_or_else(|| Error::internal(format!("function {name} is not one of ours")))?
            .clone();
        let arguments = call.args.iter().map(|argument| self.compile(argument)).collect::<Result<Vec<_>>>()?;
        Ok(Tree::Call { function, arguments, sql_type: self.type_of(expr)? })
    }

    /// An operator that DataFusion itself made while it simplified.
    fn binary(&self, binary: &BinaryExpr) -> Result<Tree> {
        let sides = vec![self.compile(&binary.left)?, self.compile(&binary.right)?];
        let name = match binary.op {
            Operator::And => return Ok(Tree::and(sides)),
            Operator::Or => return Ok(Tree::or(sides)),
            Operator::Eq => "=",
            Operator::NotEq => "<>",
            Operator::Lt => "<",
            Operator::LtEq => "<=",
            Operator::Gt => ">",
            Operator::GtEq => ">=",
            Operator::IsDistinctFrom => "IS DISTINCT FROM",
            Operator::IsNotDistinctFrom => "IS NOT DISTINCT FROM",
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
            other => return Err(Error::unsupported(format!("the operator {other}"))),
        };
        self.operator(name, sides)
    }

    fn operator(&self, name: &str, arguments: Vec<Tree>) -> Result<Tree> {
        let function = functions::scalar(name).ok_or_else(|| Error::internal(format!("no operator {name}")))?;
        let types: Vec<Argument> = arguments
            .iter()
            .map(|tree| Argument {
                sql_type: tree.sql_type(),
                constant: match tree {
                    Tree::Literal { value, .. } => Some(value.clone()),
                    _ => None,
                },
            })
            .collect();
        let sql_type = function.return_type(&types)?;
        Ok(Tree::Call { function, arguments, sql_type })
    }

    fn test(&self, input: &Expr, test: Test) -> Result<Tree> {
        Ok(Tree::Is { input: Box::new(self.compile(input)?), test })
    }

    fn in_list(&self, list: &InList) -> Result<Tree> {
        let value = self.compile(&list.expr)?;
        let mut parts = Vec::with_capacity(list.list.len());
        for item in &list.list {
            parts.push(self.operator("=", vec![value.clone(), self.compile(item)?])?);
        }
        let any = match parts.len() {
            1 => parts.remove(0),
            _ => Tree::Or(parts),
        };
        Ok(if list.negated { Tree::Not(Box::new(any)) } else { any })
    }

    /// CASE over branches of one common type; nullable if a branch is or if ELSE is missing.
    fn case(&self, mut branches: Vec<(Tree, Tree)>, mut otherwise: Option<Tree>) -> Result<Tree> {
        let results = || branches.iter().map(|(_, then)| then).chain(&otherwise);
        let nullable = otherwise.is_none() || results().any(|tree| tree.sql_type().nullable);
        let types: Vec<SqlType> = results().map(Tree::sql_type).collect();
        let typed: Vec<&SqlType> = types.iter().filter(|sql_type| sql_type.logical != LogicalType::Null).collect();
        let common = match typed.split_first() {
            None => LogicalType::Null.nullable(),
            Some((first, rest)) if rest.iter().all(|other| other.logical == first.logical) => (*first).clone(),
            Some(_) => functions::common_type(&types).ok_or_else(|| {
                let list: Vec<String> = types.iter().map(|sql_type| sql_type.logical.to_string()).collect();
                Error::new(
                    &codes::NO_COMMON_TYPE,
                    &[("where", &"CASE"), ("types", &list.join(", ")), ("example", &types[0].logical)],
                )
            })?,
        }
        .with_nullable(nullable);
        for tree in branches.iter_mut().map(|(_, then)| then).chain(&mut otherwise) {
            if tree.sql_type().logical != common.logical {
                let input = Box::new(tree.clone());
                let sql_type = common.with_nullable(input.sql_type().nullable);
                *tree = Tree::Cast { input, sql_type, try_cast: false };
            }
        }
        Ok(Tree::Case { branches, otherwise: otherwise.map(Box::new), sql_type: common })
    }

    fn cast(&self, whole: &Expr, input: &Expr, try_cast: bool) -> Result<Tree> {
        let input = self.compile(input)?;
        let (_, field) = whole.to_field(self.schema).map_err(from_datafusion)?;
        // The metadata of the operand survives DataFusion's cast, so only the Arrow type says what the target is.
        let from = input.sql_type();
        let logical = match from.arrow() == *field.data_type() {
            true => from.logical.clone(),
            false => LogicalType::from_arrow_type(field.data_type())?,
        };
        let sql_type = logical.nullable().with_nullable(from.nullable || try_cast);
        if from == sql_type {
            return Ok(input);
        }
        Ok(Tree::Cast { input: Box::new(input), sql_type, try_cast })
    }

    fn type_of(&self, expr: &Expr) -> Result<SqlType> {
        let field = type_field(expr, self.schema).map_err(from_datafusion)?;
        SqlType::from_arrow(&field)
    }
}
