//! Window table functions: each row with the windows that it belongs to.
//!
//! A column of lists is added and unnested: every list holds the windows of its row.

use super::{Lowering, Rows, all_columns, plain_schema, project};
use crate::expression::{Computed, Typed, plain_field};
use arrow::array::{Array, ArrayRef, ListArray, RecordBatch, StructArray, TimestampMillisecondArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field as ArrowField, FieldRef, Fields};
use base::plan::WindowKind;
use base::text::{local_to_instant_ms, zone_offset_ms};
use base::types::{INSTANT_ZONE, TimeAttribute};
use base::{Error, LogicalType, Result};
use datafusion_common::UnnestOptions;
use datafusion_expr::UserDefinedLogicalNodeCore;
use datafusion_physical_plan::unnest::{ListUnnest, UnnestExec};
use planner::batch::from_datafusion;
use planner::nodes::{WINDOW_COLUMNS, WindowTableNode};
use std::sync::Arc;

impl Lowering<'_> {
    /// TUMBLE, HOP, CUMULATE.
    pub(super) fn window_table(&self, node: &WindowTableNode) -> Result<Rows> {
        if matches!(node.kind, WindowKind::Session { .. }) {
            return Err(Error::unsupported("SESSION windows in batch mode"));
        }
        let input = self.lower(&node.input)?;
        let time = node.input.schema().index_of_column(&node.time).map_err(from_datafusion)?;
        if base::Field::from_arrow(node.input.schema().field(time))?.time == Some(TimeAttribute::Proctime) {
            return Err(Error::unsupported("windows by processing time in batch mode"));
        }
        let is_instant = matches!(input.types[time].logical, LogicalType::TimestampLtz(_));
        let assign = AssignWindows {
            time,
            kind: node.kind.clone(),
            offset_ms: node.offset_ms,
            zone: is_instant.then_some(self.functions.time_zone),
        };
        let width = input.types.len();
        let mut columns = all_columns(&input);
        let (text, list) = (format!("{assign:?}"), assign.list_type().1);
        let expr = Computed::new(text, list, move |batch| assign.assign(batch));
        columns.push((Typed { expr, sql_type: LogicalType::Null.nullable() }, "$windows".into()));
        let with_windows = project(&input, columns)?;
        let mut types = input.types;
        let end_type = if is_instant { LogicalType::TimestampLtz(3) } else { LogicalType::Timestamp(3) };
        types.extend([LogicalType::Timestamp(3).not_null(), LogicalType::Timestamp(3).not_null()]);
        types.push(end_type.nullable().with_nullable(node.legacy));
        let list = ListUnnest { index_in_input_schema: width, depth: 1 };
        let output = plain_schema(node.schema().fields().iter().map(|field| field.as_ref()), &types);
        let options = UnnestOptions::new().with_preserve_nulls(false);
        let plan = UnnestExec::new(with_windows.plan, vec![list], vec![width], output, options);
        Ok(Rows { plan: Arc::new(plan.map_err(from_datafusion)?), types })
    }
}

/// The windows of a row, as a list of (start, end, time).
#[derive(Debug)]
struct AssignWindows {
    time: usize,
    kind: WindowKind,
    offset_ms: i64,
    /// For TIMESTAMP_LTZ: windows are cut by the clock of this zone.
    zone: Option<chrono_tz::Tz>,
}

impl AssignWindows {
    fn window_fields(&self) -> Fields {
        let plain = DataType::Timestamp(arrow::datatypes::TimeUnit::Millisecond, None);
        let end = match self.zone {
            Some(_) => DataType::Timestamp(arrow::datatypes::TimeUnit::Millisecond, Some(INSTANT_ZONE.into())),
            None => plain.clone(),
        };
        let [start_name, end_name, time_name] = WINDOW_COLUMNS;
        Fields::from(vec![
            plain_field(start_name, plain.clone()),
            plain_field(end_name, plain),
            plain_field(time_name, end),
        ])
    }

    fn list_type(&self) -> (FieldRef, DataType) {
        let item: FieldRef = Arc::new(ArrowField::new("item", DataType::Struct(self.window_fields()), true));
        (item.clone(), DataType::List(item))
    }

    /// The windows of a moment, as (start, end) on the clock of the window.
    fn windows(&self, time: i64, add: &mut dyn FnMut(i64, i64)) {
        let time = match self.zone {
            Some(zone) => time + zone_offset_ms(zone, time),
            None => time,
        };
        let floor = |size: i64| time - (time - self.offset_ms).rem_euclid(size);
        match self.kind {
            WindowKind::Tumble { size_ms } => add(floor(size_ms), floor(size_ms) + size_ms),
            WindowKind::Hop { slide_ms, size_ms } => {
                let mut start = floor(slide_ms);
                while start + size_ms > time {
                    add(start, start + size_ms);
                    start -= slide_ms;
                }
            }
            WindowKind::Cumulate { step_ms, size_ms } => {
                let start = floor(size_ms);
                let ends = (1..=size_ms / step_ms).map(|step| start + step * step_ms);
                ends.filter(|&end| end > time).for_each(|end| add(start, end));
            }
            // Refused before.
            WindowKind::Session { .. } => {}
        }
    }

    fn assign(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let times = base::time::epoch_ms(batch.column(self.time))?;
        if times.null_count() > 0 {
            let schema = batch.schema();
            let column = schema.field(self.time).name();
            return Err(Error::new(&crate::codes::WINDOW_TIME_NULL, &[("column", column)]));
        }
        let (mut starts, mut ends, mut lengths) = (Vec::new(), Vec::new(), Vec::with_capacity(times.len()));
        for &time in times.values() {
            let before = starts.len();
            self.windows(time, &mut |start, end| {
                starts.push(start);
                ends.push(end);
            });
            lengths.push(starts.len() - before);
        }
        let last = |end: &i64| self.zone.map_or(end - 1, |zone| local_to_instant_ms(zone, end - 1));
        let window_times = TimestampMillisecondArray::from_iter_values(ends.iter().map(last));
        let window_times: ArrayRef = match self.zone {
            Some(_) => Arc::new(window_times.with_timezone(INSTANT_ZONE)),
            None => Arc::new(window_times),
        };
        let starts: ArrayRef = Arc::new(TimestampMillisecondArray::from(starts));
        let ends: ArrayRef = Arc::new(TimestampMillisecondArray::from(ends));
        let windows = StructArray::try_new(self.window_fields(), vec![starts, ends, window_times], None)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        Ok(Arc::new(ListArray::try_new(self.list_type().0, offsets, Arc::new(windows), None)?))
    }
}
