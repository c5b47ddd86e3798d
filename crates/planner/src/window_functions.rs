//! Functions that exist with OVER only, as DataFusion window functions with Flink's types. Aggregates are window
//! functions too, as they are.

use crate::bridge::{call_field, external};
use arrow::datatypes::{DataType, FieldRef};
use base::{Error, LogicalType, SqlType};
use datafusion_common::{Result, exec_err};
use datafusion_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion_expr::{PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl};
use std::any::Any;
use std::sync::Arc;

/// A function that needs OVER.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowFunction {
    /// ROW_NUMBER().
    RowNumber,
    /// RANK().
    Rank,
    /// DENSE_RANK().
    DenseRank,
    /// PERCENT_RANK().
    PercentRank,
    /// CUME_DIST().
    CumeDist,
    /// NTILE(n).
    Ntile,
    /// LAG(value [, offset [, default]]).
    Lag,
    /// LEAD(value [, offset [, default]]).
    Lead,
}

impl WindowFunction {
    const ALL: [WindowFunction; 8] = [
        WindowFunction::RowNumber,
        WindowFunction::Rank,
        WindowFunction::DenseRank,
        WindowFunction::PercentRank,
        WindowFunction::CumeDist,
        WindowFunction::Ntile,
        WindowFunction::Lag,
        WindowFunction::Lead,
    ];

    /// By its name in upper case.
    pub fn from_name(name: &str) -> Option<WindowFunction> {
        WindowFunction::ALL.into_iter().find(|function| function.name() == name)
    }

    /// The name in upper case.
    pub fn name(self) -> &'static str {
        match self {
            WindowFunction::RowNumber => "ROW_NUMBER",
            WindowFunction::Rank => "RANK",
            WindowFunction::DenseRank => "DENSE_RANK",
            WindowFunction::PercentRank => "PERCENT_RANK",
            WindowFunction::CumeDist => "CUME_DIST",
            WindowFunction::Ntile => "NTILE",
            WindowFunction::Lag => "LAG",
            WindowFunction::Lead => "LEAD",
        }
    }

    /// How it is called.
    pub fn form(self) -> &'static str {
        match self {
            WindowFunction::RowNumber => "ROW_NUMBER()",
            WindowFunction::Rank => "RANK()",
            WindowFunction::DenseRank => "DENSE_RANK()",
            WindowFunction::PercentRank => "PERCENT_RANK()",
            WindowFunction::CumeDist => "CUME_DIST()",
            WindowFunction::Ntile => "NTILE(4)",
            WindowFunction::Lag => "LAG(value, 1, default)",
            WindowFunction::Lead => "LEAD(value, 1, default)",
        }
    }

    /// The function for DataFusion.
    pub fn udf(self) -> Arc<WindowUDF> {
        let signature = Signature::user_defined(Volatility::Immutable);
        Arc::new(WindowUDF::new_from_impl(BridgedWindow { function: self, signature }))
    }

    /// The type of a call.
    ///
    /// # Errors
    /// Arguments that do not fit.
    pub fn return_type(self, arguments: &[SqlType]) -> base::Result<SqlType> {
        use WindowFunction::{CumeDist, DenseRank, Lag, Lead, Ntile, PercentRank, Rank, RowNumber};
        match (self, arguments) {
            (RowNumber | Rank | DenseRank, []) => Ok(LogicalType::BigInt.not_null()),
            (PercentRank | CumeDist, []) => Ok(LogicalType::Double.not_null()),
            (Ntile, [buckets]) if is_integer(buckets) => Ok(LogicalType::BigInt.not_null()),
            (Lag | Lead, [value]) => Ok(value.with_nullable(true)),
            (Lag | Lead, [value, offset]) if is_integer(offset) => Ok(value.with_nullable(true)),
            // Where a row is missing the default stands, so that its type decides about NULL, even if the value has
            // NULLs.
            (Lag | Lead, [value, offset, default]) if is_integer(offset) => match fits(default, value) {
                true => Ok(value.with_nullable(default.nullable)),
                false => Err(self.wrong(arguments, "the default is not of the type of the value")),
            },
            (Lag | Lead, [_, _] | [_, _, _]) => Err(self.wrong(arguments, "the offset is a whole number")),
            _ => Err(self.wrong(arguments, "the number or the types of the arguments do not fit")),
        }
    }

    fn wrong(self, arguments: &[SqlType], why: &str) -> Error {
        let types: Vec<String> = arguments.iter().map(|one| one.logical.to_string()).collect();
        let types = format!("({})", types.join(", "));
        let (name, form) = (self.name(), self.form());
        Error::new(
            &functions::codes::WRONG_ARGUMENTS,
            &[("function", &name), ("types", &types), ("why", &why), ("forms", &form)],
        )
    }
}

fn is_integer(sql_type: &SqlType) -> bool {
    use LogicalType::{BigInt, Int, SmallInt, TinyInt};
    matches!(sql_type.logical, TinyInt | SmallInt | Int | BigInt)
}

/// Whether a default can stand for a value: of its type, or both are texts.
fn fits(default: &SqlType, value: &SqlType) -> bool {
    let is_text = |sql_type: &SqlType| matches!(sql_type.logical, LogicalType::Char(_) | LogicalType::VarChar(_));
    default.logical == value.logical || default.logical == LogicalType::Null || is_text(default) && is_text(value)
}

/// Which of our window functions a DataFusion function is.
pub fn flink_window(function: &WindowUDF) -> Option<WindowFunction> {
    function.inner().as_any().downcast_ref::<BridgedWindow>().map(|bridged| bridged.function)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct BridgedWindow {
    function: WindowFunction,
    signature: Signature,
}

impl WindowUDFImpl for BridgedWindow {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.function.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn field(&self, arguments: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let types = arguments
            .input_fields()
            .iter()
            .map(|field| match field.data_type() {
                DataType::Null => Ok(LogicalType::Null.nullable()),
                _ => SqlType::from_arrow(field).map_err(external),
            })
            .collect::<Result<Vec<_>>>()?;
        let sql_type = self.function.return_type(&types).map_err(external)?;
        let field = call_field(self.name(), &sql_type, arguments.input_fields());
        Ok(Arc::new(field.as_ref().clone().with_name(arguments.name())))
    }

    fn partition_evaluator(&self, _arguments: PartitionEvaluatorArgs<'_>) -> Result<Box<dyn PartitionEvaluator>> {
        exec_err!("{} runs in the streaming runtime only", self.name())
    }
}
