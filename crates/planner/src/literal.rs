//! Literals with Flink's types.
//!
//! DataFusion would type `1` as BIGINT, `0.1` as DECIMAL(1, 1) and `'a'` as an unbounded string. So the binder replaces every
//! literal of the syntax tree by a call of a function without arguments that has the literal's name, type and value, and
//! after binding replaces the calls by plain literals that carry the SQL type.

use crate::bridge::typed_field;
use arrow::array::{ArrayRef, BooleanArray, DurationMillisecondArray, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field as ArrowField, FieldRef};
use base::types::TYPE_KEY;
use base::{LogicalType, SqlType};
use datafusion_common::metadata::FieldMetadata;
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Metadata of a field that is a constant while a statement is bound: its value as text.
const CONSTANT_KEY: &str = "flink.constant";

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// The literal as SQL; equal literals of equal types have equal text, and no others.
    pub sql: String,
    /// The value, of the Arrow type of [`Self::sql_type`].
    pub value: ScalarValue,
    /// The type, NOT NULL unless the value is NULL.
    pub sql_type: SqlType,
}

impl Literal {
    /// A literal of a type.
    pub fn new(sql: impl Into<String>, value: ScalarValue, logical: LogicalType) -> Literal {
        let nullable = value.is_null();
        Literal { sql: sql.into(), value, sql_type: logical.nullable().with_nullable(nullable) }
    }

    /// A string: CHAR of its length.
    pub fn string(text: &str) -> Literal {
        // Java counts UTF-16 units here.
        let length = text.encode_utf16().count() as u32;
        let sql = format!("'{}'", text.replace('\'', "''"));
        Literal::new(sql, ScalarValue::Utf8(Some(text.into())), LogicalType::Char(length))
    }

    /// INT.
    pub fn int(value: i32) -> Literal {
        Literal::new(value.to_string(), ScalarValue::Int32(Some(value)), LogicalType::Int)
    }

    /// BOOLEAN.
    pub fn boolean(value: bool) -> Literal {
        let sql = if value { "TRUE" } else { "FALSE" };
        Literal::new(sql, ScalarValue::Boolean(Some(value)), LogicalType::Boolean)
    }

    /// INTERVAL DAY TO SECOND.
    pub fn day_time(milliseconds: i64) -> Literal {
        let sql = format!("INTERVAL '{}' SECOND", Seconds(milliseconds));
        Literal::new(sql, ScalarValue::DurationMillisecond(Some(milliseconds)), LogicalType::IntervalDayTime)
    }

    /// INTERVAL YEAR TO MONTH.
    pub fn year_month(months: i32) -> Literal {
        let sql = format!("INTERVAL '{months}' MONTH");
        Literal::new(sql, ScalarValue::IntervalYearMonth(Some(months)), LogicalType::IntervalYearMonth)
    }

    /// The literal as an expression of a bound plan.
    pub fn to_expr(&self) -> Expr {
        let metadata: BTreeMap<String, String> = [(TYPE_KEY.into(), self.sql_type.logical.to_string())].into();
        Expr::Literal(self.value.clone(), Some(FieldMetadata::from(metadata)))
    }

    /// The function that stands for the literal while a statement is bound.
    pub fn marker(self) -> Arc<ScalarUDF> {
        let mut field = typed_field(&self.sql, &self.sql_type).as_ref().clone();
        if let Some(text) = constant_text(&self.value) {
            let mut metadata = field.metadata().clone();
            metadata.insert(CONSTANT_KEY.into(), text);
            field.set_metadata(metadata);
        }
        let signature = Signature::user_defined(Volatility::Immutable);
        let name = self.to_expr().schema_name().to_string();
        Arc::new(ScalarUDF::new_from_impl(Marker { literal: self, name, field: Arc::new(field), signature }))
    }
}

/// Milliseconds as seconds: `60`, `0.5`.
struct Seconds(i64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (seconds, rest) = (self.0.unsigned_abs() / 1000, self.0.unsigned_abs() % 1000);
        write!(f, "{sign}{seconds}")?;
        if rest == 0 { Ok(()) } else { write!(f, ".{rest:03}") }
    }
}

/// The literal behind a marker call.
pub fn as_literal(function: &ScalarUDF) -> Option<&Literal> {
    function.inner().as_any().downcast_ref::<Marker>().map(|marker| &marker.literal)
}

/// Text from which [`constant_of`] makes the value again, for the types that functions want to see as constants.
fn constant_text(value: &ScalarValue) -> Option<String> {
    Some(match value {
        ScalarValue::Utf8(Some(text)) => text.clone(),
        ScalarValue::Int32(Some(number)) => number.to_string(),
        ScalarValue::Int64(Some(number)) => number.to_string(),
        ScalarValue::Boolean(Some(boolean)) => boolean.to_string(),
        ScalarValue::DurationMillisecond(Some(milliseconds)) => milliseconds.to_string(),
        _ => return None,
    })
}

/// The value of a field that comes from a marker.
pub fn constant_of(field: &ArrowField) -> Option<ArrayRef> {
    let text = field.metadata().get(CONSTANT_KEY)?;
    Some(match field.data_type() {
        DataType::Utf8 => Arc::new(StringArray::from(vec![text.as_str()])),
        DataType::Int32 => Arc::new(Int32Array::from(vec![text.parse::<i32>().ok()?])),
        DataType::Int64 => Arc::new(Int64Array::from(vec![text.parse::<i64>().ok()?])),
        DataType::Boolean => Arc::new(BooleanArray::from(vec![text == "true"])),
        DataType::Duration(_) => Arc::new(DurationMillisecondArray::from(vec![text.parse::<i64>().ok()?])),
        _ => return None,
    })
}

#[derive(Debug)]
struct Marker {
    literal: Literal,
    /// The name of the plain literal as a column: it is asked for often, and is long.
    name: String,
    field: FieldRef,
    signature: Signature,
}

impl PartialEq for Marker {
    fn eq(&self, other: &Self) -> bool {
        self.literal == other.literal
    }
}

impl Eq for Marker {}

impl Hash for Marker {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.literal.sql.hash(state);
    }
}

impl ScalarUDFImpl for Marker {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        &self.literal.sql
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn schema_name(&self, _arguments: &[Expr]) -> Result<String> {
        // The name of the plain literal, so that replacing the marker changes no column name.
        Ok(self.name.clone())
    }

    fn display_name(&self, _arguments: &[Expr]) -> Result<String> {
        Ok(self.literal.sql.clone())
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(self.field.data_type().clone())
    }

    fn return_field_from_args(&self, _arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(self.field.clone())
    }

    fn invoke_with_args(&self, _arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        exec_err!("literal {} was not replaced", self.literal.sql)
    }
}

#[cfg(test)]
#[path = "literal_tests.rs"]
mod tests;
