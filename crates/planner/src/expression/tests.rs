//! Compiled expressions: laziness, constants, text.

use super::*;
use crate::lower::fixtures::{Function, ZERO, function_context};
use arrow::array::{AsArray, BooleanArray, Int32Array};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};

fn column(index: usize) -> Tree {
    Tree::Column { index, sql_type: LogicalType::Int.nullable() }
}

fn int(value: i32) -> Tree {
    Tree::Literal { value: Arc::new(Int32Array::from(vec![value])), sql_type: LogicalType::Int.not_null() }
}

fn call(name: &'static str, arguments: Vec<Tree>) -> Tree {
    let logical = if name == "INVERSE" { LogicalType::Int } else { LogicalType::Boolean };
    Tree::Call { function: Arc::new(Function(name)), arguments, sql_type: logical.nullable() }
}

fn batch(values: Vec<Option<i32>>) -> RecordBatch {
    let schema = Schema::new(vec![Field::new("a", DataType::Int32, true)]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int32Array::from(values))]).unwrap()
}

fn run(tree: Tree, batch: &RecordBatch) -> Result<ArrayRef> {
    let names = vec!["a".to_string()];
    Compiled::new(tree, &names, &names, &function_context()).evaluate(batch)
}

#[test]
fn a_guard_keeps_rows_away_from_what_would_fail() {
    let batch = batch(vec![Some(1), Some(0), None, Some(50)]);
    let zero = call("=", vec![column(0), int(0)]);
    let inverse = call(">", vec![call("INVERSE", vec![column(0)]), int(10)]);
    assert_eq!(run(inverse.clone(), &batch).unwrap_err().code(), ZERO.code);

    let and = Tree::And(vec![Tree::Not(Box::new(zero.clone())), inverse.clone()]);
    let and = run(and, &batch).unwrap();
    assert_eq!(and.as_boolean(), &BooleanArray::from(vec![Some(true), Some(false), None, Some(false)]));

    let or = run(Tree::Or(vec![zero.clone(), inverse]), &batch).unwrap();
    assert_eq!(or.as_boolean(), &BooleanArray::from(vec![Some(true), Some(true), None, Some(false)]));

    let case = Tree::Case {
        branches: vec![(zero, int(-1))],
        otherwise: Some(Box::new(call("INVERSE", vec![column(0)]))),
        sql_type: LogicalType::Int.nullable(),
    };
    let case = run(case, &batch).unwrap();
    assert_eq!(case.as_primitive::<Int32Type>(), &Int32Array::from(vec![Some(100), Some(-1), None, Some(2)]));
}

#[test]
fn tests_of_null_and_truth() {
    let batch = batch(vec![Some(1), Some(0), None]);
    let is = |test| Tree::Is { input: Box::new(call("=", vec![column(0), int(1)])), test };
    for (test, wanted) in [
        (Test::Null, [false, false, true]),
        (Test::NotNull, [true, true, false]),
        (Test::True, [true, false, false]),
        (Test::NotTrue, [false, true, true]),
        (Test::False, [false, true, false]),
        (Test::NotFalse, [true, false, true]),
    ] {
        assert_eq!(run(is(test), &batch).unwrap().as_boolean(), &BooleanArray::from(wanted.to_vec()), "{test:?}");
    }
}

#[test]
fn constants_fill_the_batch() {
    let batch = batch(vec![None; 3]);
    assert_eq!(run(int(7), &batch).unwrap().as_primitive::<Int32Type>(), &Int32Array::from(vec![7; 3]));
    let folded = run(call("INVERSE", vec![int(5)]), &batch).unwrap();
    assert_eq!(folded.as_primitive::<Int32Type>(), &Int32Array::from(vec![20; 3]));
}

#[test]
fn a_hidden_column_is_read_where_the_operator_put_it() {
    let schema = Schema::new(vec![
        Field::new("a", DataType::Int32, true),
        Field::new("", HiddenColumn::Random.sql_type().arrow(), false),
    ]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![1])), Arc::new(arrow::array::Int64Array::from(vec![42]))];
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let tree = Tree::Hidden { column: HiddenColumn::Random, call: 0, position: Some(1) };
    assert_eq!(run(tree, &batch).unwrap().as_primitive::<arrow::datatypes::Int64Type>().value(0), 42);
}

#[test]
fn text_has_the_parentheses_it_needs() {
    let names = vec!["a".to_string(), "b".to_string()];
    let greater = |left: Tree, right: Tree| call(">", vec![left, right]);
    let a = || greater(column(0), int(5));
    let b = || greater(column(1), int(7));
    assert_eq!(sql(&a(), &names), "a > 5");
    assert_eq!(sql(&Tree::And(vec![a(), Tree::Or(vec![a(), b()])]), &names), "a > 5 AND (a > 5 OR b > 7)");
    assert_eq!(sql(&Tree::Or(vec![a(), Tree::And(vec![a(), b()])]), &names), "a > 5 OR a > 5 AND b > 7");
    assert_eq!(sql(&greater(a(), b()), &names), "(a > 5) > (b > 7)");
    assert_eq!(sql(&Tree::Not(Box::new(a())), &names), "NOT a > 5");
}

#[test]
fn digests_tell_types_apart() {
    let small = int(1);
    let big = Tree::Literal {
        value: Arc::new(arrow::array::Int64Array::from(vec![1])),
        sql_type: LogicalType::BigInt.not_null(),
    };
    assert_eq!(sql(&small, &[]), sql(&big, &[]));
    assert_ne!(digest(&small, &[]), digest(&big, &[]));
}
