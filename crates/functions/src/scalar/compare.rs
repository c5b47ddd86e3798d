//! Comparisons: both sides become the type in which they are compared, then Arrow compares whole columns.

use super::map_order::comparable;
use crate::call::{Call, Signature, expand, union_nulls};
use crate::cast::cast;
use crate::codes;
use crate::decimal::pow10_wide;
use crate::types::{comparison_type, exact_digits};
use arrow::array::*;
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::and_kleene;
use arrow::compute::kernels::cmp;
use arrow::datatypes::*;
use arrow::row::{RowConverter, SortField};
use base::function::FunctionContext;
use base::{Error, LogicalType, Result, SqlType};
use std::cmp::Ordering;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Distinct,
    NotDistinct,
}

use Comparison::*;

impl Comparison {
    fn is_equality(self) -> bool {
        matches!(self, Equal | NotEqual | Distinct | NotDistinct)
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Equal | NotDistinct => order.is_eq(),
            NotEqual | Distinct => order.is_ne(),
            Less => order.is_lt(),
            LessOrEqual => order.is_le(),
            Greater => order.is_gt(),
            GreaterOrEqual => order.is_ge(),
        }
    }
}

fn is_nested(logical: &LogicalType) -> bool {
    use LogicalType::*;
    matches!(logical, Array(_) | Map(..) | Multiset(_) | Row(_) | Structured(..) | Variant | Bitmap)
}

/// Whether values have an order, and not only equality.
pub(crate) fn is_ordered(logical: &LogicalType) -> bool {
    !is_nested(logical)
}

/// The type in which two values are compared. By order, a text is compared as the number next to it; by equality it is
/// not.
fn type_of(comparison: Comparison, left: &SqlType, right: &SqlType) -> Option<SqlType> {
    let nullable = left.nullable || right.nullable;
    match (&left.logical, &right.logical) {
        (text, number) | (number, text) if !comparison.is_equality() && text.is_string() && number.is_numeric() => {
            Some(number.clone().nullable().with_nullable(nullable))
        }
        _ => comparison_type(left, right),
    }
}

fn check(comparison: Comparison, signature: &Signature) -> Result<()> {
    signature.arity(2..=2)?;
    let (left, right) = (signature.sql_type(0), signature.sql_type(1));
    match type_of(comparison, left, right) {
        Some(common) if !is_nested(&common.logical) || comparison.is_equality() => Ok(()),
        Some(_) => Err(signature.error()),
        None => Err(Error::new(&codes::WRONG_COMPARISON, &[("left", &left.logical), ("right", &right.logical)])),
    }
}

pub(crate) fn comparison_result(signature: &Signature) -> Result<SqlType> {
    // The six symbols only: nested values have no order.
    let ordered = !matches!(signature.function.name, "=" | "<>");
    check(if ordered { Less } else { Equal }, signature)?;
    let nullable =
        signature.any_nullable() || signature.arguments.iter().any(|side| has_nullable_field(&side.sql_type));
    Ok(LogicalType::Boolean.nullable().with_nullable(nullable))
}

/// Whether a row can have a NULL in it.
fn has_nullable_field(sql_type: &SqlType) -> bool {
    match &sql_type.logical {
        LogicalType::Row(fields) => fields.iter().any(|(_, field)| field.nullable || has_nullable_field(field)),
        _ => false,
    }
}

pub(crate) fn distinct_result(signature: &Signature) -> Result<SqlType> {
    check(Distinct, signature)?;
    Ok(LogicalType::Boolean.not_null())
}

macro_rules! comparisons {
    ($($name:ident => $comparison:expr),*) => {$(
        pub(crate) fn $name(call: &Call) -> Result<ArrayRef> {
            let sides = [(&call.arguments[0], &call.types[0]), (&call.arguments[1], &call.types[1])];
            Ok(Arc::new(compare($comparison, sides, call.rows, call.context)?))
        }
    )*};
}

comparisons!(
    equal => Equal,
    not_equal => NotEqual,
    less => Less,
    less_or_equal => LessOrEqual,
    greater => Greater,
    greater_or_equal => GreaterOrEqual,
    distinct => Distinct,
    not_distinct => NotDistinct
);

/// Compares two columns, each with one value per row or a constant.
pub(crate) fn compare(
    comparison: Comparison,
    [(left, left_type), (right, right_type)]: [(&ArrayRef, &SqlType); 2],
    rows: usize,
    context: &FunctionContext,
) -> Result<BooleanArray> {
    let common = type_of(comparison, left_type, right_type).ok_or_else(|| {
        Error::new(&codes::WRONG_COMPARISON, &[("left", &left_type.logical), ("right", &right_type.logical)])
    })?;
    if left_type.logical != right_type.logical
        && let (Some((p1, s1)), Some((p2, s2))) = (exact_digits(&left_type.logical), exact_digits(&right_type.logical))
        && (p1 - s1).max(p2 - s2) + s1.max(s2) > 38
    {
        return compare_wide(comparison, [(left, left_type), (right, right_type)], rows, context);
    }
    let to = common.with_nullable(true);
    let (left, right) = (cast(left, left_type, &to, false, context)?, cast(right, right_type, &to, false, context)?);
    match common.logical {
        LogicalType::Null if comparison == Distinct || comparison == NotDistinct => {
            Ok(BooleanArray::from(vec![comparison == NotDistinct; rows]))
        }
        LogicalType::Null => Ok(BooleanArray::new_null(rows)),
        LogicalType::Float => floats::<Float32Type>(comparison, &left, &right, rows),
        LogicalType::Double => floats::<Float64Type>(comparison, &left, &right, rows),
        LogicalType::Row(ref fields) if comparison == Equal => row_equality([&left, &right], fields, rows, context),
        ref logical if is_nested(logical) => nested(comparison, &left, &right, rows),
        _ => flat(comparison, &left, &right, rows),
    }
}

fn flat(comparison: Comparison, left: &ArrayRef, right: &ArrayRef, rows: usize) -> Result<BooleanArray> {
    let (left_constant, right_constant) = (left.len() == 1 && rows != 1, right.len() == 1 && rows != 1);
    if left_constant && right_constant {
        let one: ArrayRef = Arc::new(flat(comparison, left, right, 1)?);
        return Ok(expand(&one, rows)?.as_boolean().clone());
    }
    let (left_scalar, right_scalar) =
        (left_constant.then(|| Scalar::new(left)), right_constant.then(|| Scalar::new(right)));
    let left: &dyn Datum = left_scalar.as_ref().map_or(left, |scalar| scalar);
    let right: &dyn Datum = right_scalar.as_ref().map_or(right, |scalar| scalar);
    Ok(match comparison {
        Equal => cmp::eq(left, right),
        NotEqual => cmp::neq(left, right),
        Less => cmp::lt(left, right),
        LessOrEqual => cmp::lt_eq(left, right),
        Greater => cmp::gt(left, right),
        GreaterOrEqual => cmp::gt_eq(left, right),
        Distinct => cmp::distinct(left, right),
        NotDistinct => cmp::not_distinct(left, right),
    }?)
}

/// One boolean per row; DISTINCT sees NULL as a value.
fn per_row(
    comparison: Comparison,
    left: &dyn Array,
    right: &dyn Array,
    rows: usize,
    holds: impl Fn(usize, usize) -> bool,
) -> BooleanArray {
    let (left_step, right_step) = (usize::from(left.len() == rows), usize::from(right.len() == rows));
    if matches!(comparison, Distinct | NotDistinct) {
        let values = BooleanBuffer::collect_bool(rows, |row| {
            let (l, r) = (row * left_step, row * right_step);
            match (left.is_valid(l), right.is_valid(r)) {
                (true, true) => holds(l, r),
                (l, r) => (l != r) == (comparison == Distinct),
            }
        });
        return BooleanArray::new(values, None);
    }
    let values = BooleanBuffer::collect_bool(rows, |row| holds(row * left_step, row * right_step));
    BooleanArray::new(values, union_nulls(&[left, right], rows))
}

/// Java's comparison: 0.0 equals -0.0 and NaN equals nothing, which Arrow's total order does not say.
fn floats<T: ArrowPrimitiveType>(
    comparison: Comparison,
    left: &ArrayRef,
    right: &ArrayRef,
    rows: usize,
) -> Result<BooleanArray>
where
    T::Native: PartialOrd,
{
    let (left, right) = (left.as_primitive::<T>(), right.as_primitive::<T>());
    let (l, r) = (left.values(), right.values());
    macro_rules! with {
        ($op:tt) => { per_row(comparison, left, right, rows, |a, b| l[a] $op r[b]) };
    }
    Ok(match comparison {
        Equal | NotDistinct => with!(==),
        NotEqual | Distinct => with!(!=),
        Less => with!(<),
        LessOrEqual => with!(<=),
        Greater => with!(>),
        GreaterOrEqual => with!(>=),
    })
}

/// Exact numbers whose common type would need more than 38 digits.
fn compare_wide(
    comparison: Comparison,
    sides: [(&ArrayRef, &SqlType); 2],
    rows: usize,
    context: &FunctionContext,
) -> Result<BooleanArray> {
    let mut columns = Vec::with_capacity(2);
    for (array, sql_type) in sides {
        let (precision, scale) = exact_digits(&sql_type.logical).unwrap_or((38, 0));
        let to = LogicalType::Decimal { precision, scale }.nullable();
        let decimals = cast(array, sql_type, &to, false, context)?;
        columns.push((decimals.as_primitive::<Decimal128Type>().clone(), scale));
    }
    let ((left, left_scale), (right, right_scale)) = (&columns[0], &columns[1]);
    let common = left_scale.max(right_scale);
    let (up_left, up_right) = (pow10_wide(u32::from(common - left_scale)), pow10_wide(u32::from(common - right_scale)));
    Ok(per_row(comparison, left, right, rows, |l, r| {
        let l = i256::from_i128(left.value(l)).wrapping_mul(up_left);
        let r = i256::from_i128(right.value(r)).wrapping_mul(up_right);
        comparison.holds(l.cmp(&r))
    }))
}

/// For Flink, `a = b` of rows is `a.x = b.x AND a.y = b.y`, which a NULL inside leaves open. To `<>`, and in rows inside of
/// rows, NULL is a value.
fn row_equality(
    sides: [&ArrayRef; 2],
    fields: &[(String, SqlType)],
    rows: usize,
    context: &FunctionContext,
) -> Result<BooleanArray> {
    let [left, right] = [expand(sides[0], rows)?, expand(sides[1], rows)?];
    let (left, right) = (left.as_struct(), right.as_struct());
    let mut found: Option<BooleanArray> = None;
    for (index, (_, sql_type)) in fields.iter().enumerate() {
        let (l, r) = (left.column(index), right.column(index));
        let field = match is_nested(&sql_type.logical) {
            true => nested(Equal, l, r, rows)?,
            false => compare(Equal, [(l, sql_type), (r, sql_type)], rows, context)?,
        };
        found = Some(match found {
            None => field,
            Some(before) => and_kleene(&before, &field)?,
        });
    }
    let found = found.unwrap_or_else(|| BooleanArray::from(vec![true; rows]));
    let nulls = NullBuffer::union(found.nulls(), union_nulls(&[left, right], rows).as_ref());
    Ok(BooleanArray::new(found.values().clone(), nulls))
}

fn nested(comparison: Comparison, left: &ArrayRef, right: &ArrayRef, rows: usize) -> Result<BooleanArray> {
    let (left, right) = (&comparable(left)?, &comparable(right)?);
    let data_type = left.data_type().clone();
    let field = SortField::new(data_type.clone());
    let converter = RowConverter::new(vec![field])?;
    let right = if *right.data_type() == data_type { right.clone() } else { arrow::compute::cast(right, &data_type)? };
    let (left_rows, right_rows) = (
        converter.convert_columns(std::slice::from_ref(left))?,
        converter.convert_columns(std::slice::from_ref(&right))?,
    );
    Ok(per_row(comparison, left, &right, rows, |l, r| comparison.holds(left_rows.row(l).cmp(&right_rows.row(r)))))
}
