//! Filters, projections, hidden columns, and dropping `-U`.

use super::harness::{Case, batch_of_lines, case, print, stream};
use super::stand_ins::{Closure, column};
use crate::operator::OperatorContext;
use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::compute::kernels::numeric::add;
use arrow::datatypes::{DataType, Int64Type};
use base::expression::HiddenColumn;
use base::plan::{Calc, NodeKind};
use base::types::LogicalType;
use base::{ChangelogMode, Expression};
use std::collections::BTreeSet;
use std::sync::Arc;

fn big_int() -> base::types::SqlType {
    LogicalType::BigInt.nullable()
}

/// SELECT id, amt + 1 WHERE status = 'paid', unknown for a NULL status.
fn paid() -> Case {
    let is_paid = |batch: &RecordBatch| {
        let status = batch.column(1).as_string::<i32>();
        Arc::new(status.iter().map(|text| text.map(|text| text == "paid")).collect::<BooleanArray>()) as ArrayRef
    };
    let plus_one = |batch: &RecordBatch| {
        assert!(batch.num_rows() == 0 || batch.column(2).data_type() == &DataType::Int64);
        add(&batch.column(2), &Int64Array::new_scalar(1)).expect("add")
    };
    let condition = Closure { columns: vec![1], sql_type: LogicalType::Boolean.nullable(), function: is_paid };
    let projection: Vec<Arc<dyn Expression>> =
        vec![column(0, big_int()), Arc::new(Closure { columns: vec![2], sql_type: big_int(), function: plus_one })];
    let calc = Calc { condition: Some(Arc::new(condition)), projection, hidden: vec![] };
    let input = stream("id:int status:text amt:int", ChangelogMode::ALL);
    Case { exact: true, ..case(NodeKind::Calc(calc), input, stream("id:int amt:int", ChangelogMode::ALL), &[]) }
}

#[test]
fn a_filter_leaves_kinds_as_they_are() {
    paid().check(
        "+I 1 new 10
         +I 2 paid 20
         -U 1 new 10
         +U 1 paid 10
         -U 2 paid 20
         +U 2 refund 20
         +I 3 null 5
         -U 1 paid 10
         +U 1 paid 15
         -D 1 paid 15",
        "+I 2 21
         +U 1 11
         -U 2 21
         -U 1 11
         +U 1 16
         -D 1 16",
    );
    paid().check("+I 1 paid 1 \n +I 2 paid 2", "+I 1 2 \n +I 2 3");
    paid().check("+I 1 new 1 \n +I 2 new 2", "");
}

#[test]
fn rows_without_columns_are_still_counted() {
    let mut count_only = paid();
    if let NodeKind::Calc(calc) = &mut count_only.node.kind {
        calc.projection.clear();
    }
    count_only.node.output = stream("", ChangelogMode::ALL);
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 100 };
    let mut operator = count_only.operator(0, 1);
    let batch = batch_of_lines(&count_only.input.row, "+I 1 paid 1 \n -D 2 new 1 \n -D 3 paid 1");
    operator.on_batch(0, batch, &context).expect("batch");
    let output = operator.next_output(&context).expect("output").expect("rows");
    assert_eq!(print(&output), ["+I", "-D"]);
    assert_eq!(output.take(&vec![1].into()).expect("take").num_rows(), 1);
}

fn hidden(columns: Vec<HiddenColumn>) -> Case {
    let input = stream("id:int", ChangelogMode::APPEND);
    let projection = (0..columns.len()).map(|index| column(index + 1, columns[index].sql_type())).collect();
    let fields = columns.iter().map(|column| base::types::Field::new("h", column.sql_type())).collect();
    let mut output = stream("", ChangelogMode::APPEND);
    output.row = base::types::RowType::new(fields);
    case(NodeKind::Calc(Calc { condition: None, projection, hidden: columns }), input, output, &[])
}

#[test]
fn time_and_watermark_come_from_the_context() {
    let times = hidden(vec![HiddenColumn::ProcessingTime, HiddenColumn::Watermark]);
    let script = "now 60000 \n +I 1 \n wm 0:05 \n +I 2";
    assert_eq!(times.run(script, 1, false), ["+I 00:01:00 null", "+I 00:01:00 00:05:00"]);
}

#[test]
fn random_numbers_differ_between_rows_and_instances_and_can_be_repeated() {
    let random = hidden(vec![HiddenColumn::Random, HiddenColumn::Random]);
    let context = OperatorContext { watermark_ms: None, processing_time_ms: 5, rows_max: 100 };
    let numbers = |index: usize| {
        let mut operator = random.operator(index, 2);
        let batch = batch_of_lines(&random.input.row, "+I 1 \n +I 2 \n +I 3");
        operator.on_batch(0, batch, &context).expect("batch");
        let output = operator.next_output(&context).expect("output").expect("rows");
        let columns = output.records().columns().iter();
        columns.flat_map(|c| c.as_primitive::<Int64Type>().values().to_vec()).collect::<Vec<i64>>()
    };
    let all: BTreeSet<i64> = numbers(0).into_iter().chain(numbers(1)).collect();
    assert_eq!(all.len(), 12);
    assert_eq!(numbers(0), numbers(0));
}

#[test]
fn update_before_is_left_out() {
    let stateless = case(
        NodeKind::DropUpdateBefore,
        stream("id:int", ChangelogMode::ALL),
        stream("id:int", ChangelogMode::UPSERT),
        &[],
    );
    let stateless = Case { exact: true, upsert_key: 1, ..stateless };
    stateless.check("+I 1 \n -U 1 \n +U 2 \n -D 3 \n -U 5", "+I 1 \n +U 2 \n -D 3");
    stateless.check("-U 1", "");
    assert_eq!(print(&batch_of_lines(&stateless.input.row, "-U 1")), ["-U 1"]);
}
