//! Our functions as DataFusion functions, and the way back.
//!
//! DataFusion calls them for types only: SQL types travel in the metadata of Arrow fields. Values are computed by the runtime
//! through [`base::function`], except for constants that the optimizer folds.
//!
//! In a bound plan every operator, cast and function call is a `ScalarFunction` or `AggregateFunction` made here. What stays
//! DataFusion's own: columns, literals (with the SQL type in their metadata), aliases, AND, OR, NOT, IS [NOT] NULL / TRUE /
//! FALSE / UNKNOWN, CASE without operand, IN lists; their branches have one common type.

use crate::literal::constant_of;
use arrow::array::Array;
use arrow::datatypes::{DataType, Field as ArrowField, FieldRef, Schema, SchemaRef};
use base::function::{AggregateFunction, Argument, FunctionContext, ScalarFunction};
use base::types::{TIME_KEY, TYPE_KEY};
use base::{LogicalType, RowType, SqlType};
use datafusion_common::{DFSchema, DataFusionError, ExprSchema, Result, ScalarValue, exec_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{
    AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, ExprSchemable, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use std::any::Any;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An Arrow field of this type with the SQL type in its metadata.
///
/// The text leaves NOT NULL out: the Arrow field says it, and fields that differ only there keep their metadata in a UNION.
pub fn typed_field(name: &str, sql_type: &SqlType) -> FieldRef {
    let metadata = [(TYPE_KEY.to_string(), sql_type.logical.to_string())].into();
    Arc::new(ArrowField::new(name, sql_type.arrow(), sql_type.nullable).with_metadata(metadata))
}

/// A field as a time attribute: `rowtime` or `proctime`.
pub fn with_time(field: &ArrowField, time: &str) -> FieldRef {
    let mut metadata = field.metadata().clone();
    metadata.insert(TIME_KEY.into(), time.into());
    Arc::new(field.clone().with_metadata(metadata))
}

/// The field of a call of this name and type.
///
/// A call that has the type of an argument in Flink is called a time attribute if that argument is one: `MAX(ts)` is a
/// `TIMESTAMP(3) *ROWTIME*` in a result and in DESCRIBE. That is all: what is computed is an ordinary column where time counts, and
/// only a group window (`GROUP BY TUMBLE(...)`) takes it. Lowered fields know the time attributes that are real.
pub fn call_field(name: &str, sql_type: &SqlType, arguments: &[FieldRef]) -> FieldRef {
    let field = typed_field(name, sql_type);
    let mut timestamps = arguments.iter().filter(|field| matches!(field.data_type(), DataType::Timestamp(..)));
    let time = |field: &FieldRef| field.metadata().get(TIME_KEY).cloned();
    let named = match name {
        _ if !sql_type.logical.is_timestamp() => None,
        "+" | "-" | "CEIL" | "COALESCE" | "FIRST_VALUE" | "FLOOR" | "IF" | "IFNULL" | "LAG" | "LAST_VALUE" | "LEAD"
        | "MAX" | "MIN" | "NULLIF" | "SINGLE_VALUE" => timestamps.next().and_then(time),
        "GREATEST" | "LEAST" => {
            let first = timestamps.next().and_then(time);
            first.filter(|first| timestamps.all(|other| time(other).as_ref() == Some(first)))
        }
        _ => None,
    };
    match named {
        Some(time) => with_time(&field, &time),
        None => field,
    }
}

/// The schema of a row in the same form, with time attributes.
pub fn typed_schema(row: &RowType) -> SchemaRef {
    let fields: Vec<FieldRef> = row
        .fields()
        .iter()
        .map(|field| {
            let mut arrow = field.arrow().as_ref().clone();
            let mut metadata = arrow.metadata().clone();
            metadata.insert(TYPE_KEY.into(), field.sql_type.logical.to_string());
            arrow.set_metadata(metadata);
            Arc::new(arrow)
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// Our error inside DataFusion's.
pub fn external(error: base::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The scalar function behind a DataFusion function.
pub fn flink_scalar(function: &ScalarUDF) -> Option<&Arc<dyn ScalarFunction>> {
    function.inner().as_any().downcast_ref::<BridgedScalar>().map(|bridged| &bridged.function)
}

/// The aggregate function behind a DataFusion function.
pub fn flink_aggregate(function: &AggregateUDF) -> Option<&Arc<dyn AggregateFunction>> {
    function.inner().as_any().downcast_ref::<BridgedAggregate>().map(|bridged| &bridged.function)
}

/// A scalar function for DataFusion. Two of them are equal if their names are.
pub fn scalar_udf(function: Arc<dyn ScalarFunction>, context: &FunctionContext) -> Arc<ScalarUDF> {
    let volatility = if function.is_deterministic() { Volatility::Immutable } else { Volatility::Volatile };
    let signature = Signature::user_defined(volatility);
    Arc::new(ScalarUDF::new_from_impl(BridgedScalar { function, signature, context: context.clone() }))
}

/// An aggregate function for DataFusion.
pub fn aggregate_udf(function: Arc<dyn AggregateFunction>) -> Arc<AggregateUDF> {
    let signature = Signature::user_defined(Volatility::Immutable);
    Arc::new(AggregateUDF::new_from_impl(BridgedAggregate { function, signature }))
}

/// The field of an expression: what [`ExprSchemable::to_field`] says without the name, which costs more than the type.
pub fn type_field(expr: &Expr, schema: &DFSchema) -> Result<FieldRef> {
    match expr {
        Expr::Alias(alias) if alias.metadata.is_none() => type_field(&alias.expr, schema),
        Expr::Column(column) => schema.field_from_column(column).cloned(),
        Expr::ScalarFunction(call) => {
            let fields = call.args.iter().map(|argument| type_field(argument, schema)).collect::<Result<Vec<_>>>()?;
            let values = call.args.iter().map(|argument| match argument {
                Expr::Literal(value, _) => Some(value),
                _ => None,
            });
            let values = values.collect::<Vec<_>>();
            call.func.return_field_from_args(ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &values })
        }
        other => other.to_field(schema).map(|(_, field)| field),
    }
}

#[derive(Debug)]
struct BridgedScalar {
    function: Arc<dyn ScalarFunction>,
    signature: Signature,
    context: FunctionContext,
}

impl PartialEq for BridgedScalar {
    fn eq(&self, other: &Self) -> bool {
        self.function.name() == other.function.name()
    }
}

impl Eq for BridgedScalar {}

impl Hash for BridgedScalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name().hash(state);
    }
}

impl ScalarUDFImpl for BridgedScalar {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.function.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// What DataFusion writes, without its way of writing maps, which takes longer than all the rest.
    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        let mut name = String::with_capacity(64);
        name.push_str(self.name());
        let mut separator = '(';
        for argument in arguments {
            name.push(separator);
            separator = ',';
            let written = match argument {
                Expr::Literal(value, Some(metadata)) if metadata.inner().len() == 1 => {
                    let mut entries = metadata.inner().iter();
                    let (key, text) = entries.next().map_or(("", ""), |(key, text)| (key.as_str(), text.as_str()));
                    write!(name, "{value:?} FieldMetadata {{ inner: {{{key:?}: {text:?}}} }}")
                }
                Expr::Column(column) => match &column.relation {
                    Some(relation) => write!(name, "{relation}.{}", column.name),
                    None => name.write_str(&column.name),
                },
                other => write!(name, "{}", other.schema_name()),
            };
            written.map_err(|error| external(base::Error::internal(error)))?;
        }
        name.push(')');
        Ok(name)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        exec_err!("the type of {} follows from its fields", self.name())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let fields = arguments.arg_fields;
        let values = arguments.scalar_arguments;
        let arguments =
            fields.iter().zip(values).map(|(field, value)| argument(field, *value)).collect::<Result<Vec<_>>>()?;
        let sql_type = self.function.return_type(&arguments).map_err(external)?;
        Ok(call_field(self.name(), &sql_type, fields))
    }

    /// Only constants come here, when the optimizer folds them.
    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types = arguments
            .arg_fields
            .iter()
            .map(|field| SqlType::from_arrow(field).map_err(external))
            .collect::<Result<Vec<_>>>()?;
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let result = SqlType::from_arrow(&arguments.return_field).map_err(external)?;
        let values =
            self.function.evaluate(&arrays, &types, &result, arguments.number_rows, &self.context).map_err(external)?;
        if values.len() == 1 && arguments.number_rows == 1 {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?));
        }
        Ok(ColumnarValue::Array(values))
    }
}

/// An argument as a function sees it. A bare NULL has the type NULL.
fn argument(field: &FieldRef, value: Option<&ScalarValue>) -> Result<Argument> {
    let sql_type = match field.data_type() {
        DataType::Null => LogicalType::Null.nullable(),
        _ => SqlType::from_arrow(field).map_err(external)?,
    };
    let constant = match value {
        Some(value) => Some(value.to_array_of_size(1)?),
        None => constant_of(field),
    };
    Ok(Argument { sql_type, constant })
}

#[derive(Debug)]
struct BridgedAggregate {
    function: Arc<dyn AggregateFunction>,
    signature: Signature,
}

impl PartialEq for BridgedAggregate {
    fn eq(&self, other: &Self) -> bool {
        self.function.name() == other.function.name()
    }
}

impl Eq for BridgedAggregate {}

impl Hash for BridgedAggregate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name().hash(state);
    }
}

impl AggregateUDFImpl for BridgedAggregate {
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

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        exec_err!("the type of {} follows from its fields", self.name())
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        let types = fields
            .iter()
            .map(|field| argument(field, None).map(|argument| argument.sql_type))
            .collect::<Result<Vec<_>>>()?;
        let sql_type = self.function.return_type(&types).map_err(external)?;
        Ok(call_field(self.name(), &sql_type, fields))
    }

    fn supports_null_handling_clause(&self) -> bool {
        false
    }

    fn accumulator(&self, _arguments: AccumulatorArgs<'_>) -> Result<Box<dyn datafusion_expr::Accumulator>> {
        exec_err!("{} runs in the streaming runtime only", self.name())
    }

    fn state_fields(&self, _arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        exec_err!("{} runs in the streaming runtime only", self.name())
    }
}
