//! Rows given several times: grouping sets, UNNEST, INTERSECT ALL and EXCEPT ALL.
//!
//! Each adds a column of lists and unnests it.

use super::{Lowering, Rows, all_columns, plain_schema, project};
use crate::expression::{Computed, Typed, plain_field, record_batch};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch, StructArray, UInt32Array,
    new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{filter, nullif, take};
use arrow::datatypes::{DataType, Field as ArrowField, Fields, Int32Type, Int64Type, SchemaRef, UInt32Type};
use base::{Error, LogicalType, Result, SqlType};
use datafusion_common::UnnestOptions;
use datafusion_expr::UserDefinedLogicalNodeCore;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_plan::unnest::{ListUnnest, UnnestExec};
use planner::batch::from_datafusion;
use planner::nodes::expand::ExpandNode;
use planner::nodes::replicate::ReplicateNode;
use planner::nodes::unnest::UnnestNode;
use std::sync::Arc;

impl Lowering<'_> {
    /// GROUPING SETS, CUBE, ROLLUP: every row once per set, without the keys that the set leaves out.
    pub(super) fn expand(&self, node: &ExpandNode) -> Result<Rows> {
        let input = self.lower(&node.input)?;
        let width = input.types.len();
        let ids: Vec<i64> = node.sets.iter().map(|set| set.id).collect();
        let list = DataType::List(plain_field("item", DataType::Int64));
        let text = format!("sets({ids:?})");
        let each = Computed::new(text, list, move |batch| {
            let rows = batch.num_rows();
            let all: Int64Array = (0..rows).flat_map(|_| ids.iter().copied()).collect();
            lists(vec![ids.len(); rows], None, Arc::new(all))
        });
        let mut types = input.types.clone();
        types.push(LogicalType::BigInt.not_null());
        let with_sets = unnested(&input, each, None, &types, node.schema(), false)?;
        let mut columns = all_columns(&with_sets);
        for (position, column) in node.columns.iter().enumerate() {
            let place = node.input.schema().index_of_column(column).map_err(from_datafusion)?;
            let kept: Vec<i64> =
                node.sets.iter().filter(|set| set.kept.contains(&position)).map(|set| set.id).collect();
            let (key, name) = &mut columns[place];
            let text = format!("{name} in sets {kept:?}");
            let data_type = key.sql_type.arrow();
            key.sql_type = key.sql_type.with_nullable(true);
            key.expr = Computed::new(text, data_type, move |batch| {
                let sets = batch.column(width).as_primitive::<Int64Type>();
                let gone: BooleanArray = sets.iter().map(|set| set.map(|set| !kept.contains(&set))).collect();
                Ok(nullif(batch.column(place), &gone)?)
            });
        }
        project(&with_sets, columns)
    }

    /// Every row as often as a column says.
    pub(super) fn replicate(&self, node: &ReplicateNode) -> Result<Rows> {
        let input = self.lower(&node.input)?;
        let place = node.input.schema().index_of_column(&node.count).map_err(from_datafusion)?;
        let list = DataType::List(plain_field("item", DataType::Boolean));
        let copies = Computed::new(format!("copies(#{place})"), list, move |batch| {
            let counts = batch.column(place).as_primitive::<Int64Type>();
            let lengths: Vec<usize> = counts.iter().map(|count| count.unwrap_or(0).max(0) as usize).collect();
            let all = BooleanArray::from(vec![true; lengths.iter().sum()]);
            lists(lengths, None, Arc::new(all))
        });
        let mut types = input.types.clone();
        types.push(LogicalType::Boolean.not_null());
        let copied = unnested(&input, copies, None, &types, node.input.schema(), false)?;
        let mut columns = all_columns(&copied);
        columns.truncate(input.types.len());
        columns.remove(place);
        project(&copied, columns)
    }

    /// UNNEST: every row once per element.
    pub(super) fn unnest(&self, node: &UnnestNode) -> Result<Rows> {
        let input = self.lower(&node.input)?;
        let collection = self.compile(&input, node.input.schema(), &node.collection)?;
        let own = node.elements.iter().map(|(_, field)| SqlType::from_arrow(field)).collect::<Result<Vec<_>>>()?;
        let fields: Fields =
            (own.iter().enumerate()).map(|(index, one)| plain_field(&format!("e{index}"), one.arrow())).collect();
        let types: Vec<SqlType> = input.types.iter().cloned().chain(own).collect();
        let output = plain_schema(node.schema().fields().iter().map(|field| field.as_ref()), &types);
        let condition = match &node.condition {
            None => None,
            Some(condition) => {
                let compiled = self.scope(node.schema(), &types).compile(condition)?;
                Some((Typed::new(compiled, &output, &self.moment).expr, output))
            }
        };
        let elements = Elements {
            condition,
            collection: collection.expr.clone(),
            is_multiset: matches!(collection.sql_type.logical, LogicalType::Multiset(_)),
            with_ordinality: node.with_ordinality,
            outer: node.outer,
            fields: fields.clone(),
        };
        let list = DataType::List(Arc::new(ArrowField::new("item", DataType::Struct(fields), true)));
        let text = format!("elements({})", collection.expr);
        let each = Computed::new(text, list, move |batch| elements.of(batch));
        unnested(&input, each, Some(input.types.len()), &types, node.schema(), node.outer)
    }
}

/// Rows beside each element of a list; a struct element becomes a column per field. With `keep` a row whose list is
/// NULL is given once.
fn unnested(
    input: &Rows,
    list: Arc<dyn PhysicalExpr>,
    structs: Option<usize>,
    types: &[SqlType],
    names: &datafusion_common::DFSchema,
    keep: bool,
) -> Result<Rows> {
    let width = input.types.len();
    let mut columns = all_columns(input);
    columns.push((Typed { expr: list, sql_type: LogicalType::Null.nullable() }, "$list".into()));
    let with_list = project(input, columns)?;
    let schema = input.schema();
    let own: Vec<ArrowField> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
    let more = (width..types.len()).map(|index| match names.fields().get(index) {
        Some(field) => field.as_ref().clone(),
        None => ArrowField::new(format!("$element{index}"), DataType::Null, true),
    });
    let fields: Vec<ArrowField> = own.into_iter().chain(more).collect();
    let output = plain_schema(fields.iter(), types);
    let lists = vec![ListUnnest { index_in_input_schema: width, depth: 1 }];
    let options = UnnestOptions::new().with_preserve_nulls(keep);
    let plan = UnnestExec::new(with_list.plan, lists, structs.into_iter().collect(), output, options);
    Ok(Rows { plan: Arc::new(plan.map_err(from_datafusion)?), types: types.to_vec() })
}

/// Lists of these lengths over all their elements.
fn lists(lengths: Vec<usize>, nulls: Option<NullBuffer>, elements: ArrayRef) -> Result<ArrayRef> {
    let item = plain_field("item", elements.data_type().clone());
    Ok(Arc::new(ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), elements, nulls)?))
}

/// The elements of collections, as lists of rows.
struct Elements {
    collection: Arc<dyn PhysicalExpr>,
    is_multiset: bool,
    with_ordinality: bool,
    outer: bool,
    fields: Fields,
    /// What must be true of a row and its element, and the columns of both.
    condition: Option<(Arc<dyn PhysicalExpr>, SchemaRef)>,
}

impl Elements {
    fn of(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let rows = batch.num_rows();
        let value = self.collection.evaluate(batch).map_err(from_datafusion)?;
        let collections = value.into_array(rows).map_err(from_datafusion)?;
        let (columns, offsets, copies, whole): (Vec<ArrayRef>, &[i32], Option<ArrayRef>, Option<StructArray>) =
            match (collections.as_list_opt::<i32>(), collections.as_map_opt()) {
                (Some(list), _) => {
                    let (columns, whole) = element_columns(list.values());
                    (columns, list.value_offsets(), None, whole)
                }
                (None, Some(map)) if self.is_multiset => {
                    let (columns, whole) = element_columns(map.keys());
                    (columns, map.value_offsets(), Some(map.values().clone()), whole)
                }
                (None, Some(map)) => (vec![map.keys().clone(), map.values().clone()], map.value_offsets(), None, None),
                (None, None) => {
                    return Err(Error::internal(format!("UNNEST of {}", collections.data_type())));
                }
            };
        let copies = copies.as_ref().map(|copies| copies.as_primitive::<Int32Type>());
        let (mut places, mut ordinals, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..rows {
            let range = if collections.is_null(row) { 0..0 } else { offsets[row]..offsets[row + 1] };
            let mut ordinal = 0;
            for place in range {
                for _ in 0..copies.map_or(1, |copies| copies.value(place as usize)) {
                    ordinal += 1;
                    // A ROW that is NULL is no element, as in Flink.
                    if whole.as_ref().is_none_or(|whole| whole.is_valid(place as usize)) {
                        places.push(place as u32);
                        ordinals.push(ordinal);
                        owners.push(row as u32);
                    }
                }
            }
        }
        let places = UInt32Array::from(places);
        let mut taken =
            columns.iter().map(|column| Ok(take(column, &places, None)?)).collect::<Result<Vec<ArrayRef>>>()?;
        if self.with_ordinality {
            taken.push(Arc::new(Int32Array::from(ordinals)));
        }
        let taken = taken
            .into_iter()
            .zip(&self.fields)
            .map(|(column, field)| match column.data_type() {
                DataType::Null => new_null_array(field.data_type(), column.len()),
                _ => column,
            })
            .collect::<Vec<ArrayRef>>();
        let elements = StructArray::try_new_with_length(self.fields.clone(), taken, None, places.len())?;
        let (owners, elements) = self.select(batch, UInt32Array::from(owners), elements)?;
        let mut lengths = vec![0; rows];
        owners.values().iter().for_each(|&row| lengths[row as usize] += 1);
        // Outer: a row without elements has NULL in the place of its list, and is kept.
        let nulls = self.outer.then(|| NullBuffer::from_iter(lengths.iter().map(|&length| length > 0)));
        lists(lengths, nulls, Arc::new(elements))
    }

    /// The elements for which the condition is true, and their rows.
    fn select(
        &self,
        batch: &RecordBatch,
        owners: UInt32Array,
        elements: StructArray,
    ) -> Result<(UInt32Array, StructArray)> {
        let Some((condition, schema)) = &self.condition else { return Ok((owners, elements)) };
        let mut columns =
            batch.columns().iter().map(|column| Ok(take(column, &owners, None)?)).collect::<Result<Vec<_>>>()?;
        columns.extend(elements.columns().iter().cloned());
        let pairs = record_batch(schema, columns, owners.len())?;
        let holds = condition.evaluate(&pairs).and_then(|value| value.into_array(owners.len()));
        let holds = holds.map_err(from_datafusion)?.as_boolean().clone();
        let kept = (filter(&owners, &holds)?, filter(&elements, &holds)?);
        Ok((kept.0.as_primitive::<UInt32Type>().clone(), kept.1.as_struct().clone()))
    }
}

/// The columns of elements: one, or those of a ROW.
fn element_columns(elements: &ArrayRef) -> (Vec<ArrayRef>, Option<StructArray>) {
    match elements.as_struct_opt() {
        Some(rows) => (rows.columns().to_vec(), Some(rows.clone())),
        None => (vec![elements.clone()], None),
    }
}
