//! Tests of the raw format.

use super::*;
use crate::formats::support::*;
use arrow::array::Array;

#[test]
fn text_is_the_record() {
    let decoded = decode(&Raw, "s STRING", &[], &["line one", "", "two"]).expect("decoded");
    assert_eq!(decoded.batch.num_rows(), 3);
    assert_eq!(encode(&Raw, &row_type("s STRING"), &[], &decoded.batch), ["line one", "", "two"]);
    let mut decoder = decoder(&Raw, &row_type("s STRING"), &[]).expect("decoder");
    let decoded = decoder.decode(&records(&[b"a\xff".as_slice()])).expect("decoded");
    assert_eq!(encode(&Raw, &row_type("s STRING"), &[], &decoded.batch), ["a\u{FFFD}"]);
}

#[test]
fn numbers_are_binary() {
    for (order, record) in [("big-endian", [0, 0, 1, 2]), ("little-endian", [2, 1, 0, 0])] {
        let pairs = [("raw.endianness", order)];
        let columns = row_type("i INT");
        let decoded = decoder(&Raw, &columns, &pairs).expect("decoder").decode(&records(&[record])).expect("decoded");
        let mut out = Records::default();
        encoder(&Raw, &columns, &pairs).encode(&decoded.batch, &mut out).expect("encoded");
        assert_eq!(out.get(0), record);
        let failure = decoder(&Raw, &columns, &pairs).expect("decoder").decode(&records(&[b"xyz"]));
        assert_eq!(failure.expect_err("a failure").error.code(), "HW-F002");
    }
}

#[test]
fn one_plain_column_is_needed() {
    assert_eq!(decoder(&Raw, &row_type("a INT, b INT"), &[]).expect_err("refused").code(), "HW-F010");
    assert_eq!(decoder(&Raw, &row_type("a ARRAY<INT>"), &[]).expect_err("refused").code(), "HW-F007");
    assert_eq!(decoder(&Raw, &row_type("a STRING"), &[("raw.charset", "GBK")]).expect_err("refused").code(), "HW-I002");
}

#[test]
fn null_is_a_null_record() {
    let mut nulls = Records::default();
    nulls.push(b"a");
    nulls.push_null();
    nulls.push(b"");
    for (fields, expected) in [("s STRING", [false, true, false]), ("b BYTES", [false, true, false])] {
        let columns = row_type(fields);
        let decoded = decoder(&Raw, &columns, &[]).expect("decoder").decode(&nulls).expect("decoded");
        let column = decoded.batch.records().column(0).clone();
        assert_eq!([0, 1, 2].map(|row| column.is_null(row)), expected);
        let mut out = Records::default();
        encoder(&Raw, &columns, &[]).encode(&decoded.batch, &mut out).expect("encoded");
        assert_eq!([0, 1, 2].map(|record| out.is_null(record)), expected);
        assert_eq!((out.get(0), out.get(2)), (b"a".as_slice(), b"".as_slice()));
    }
    let failure = decoder(&Raw, &row_type("s STRING NOT NULL"), &[]).expect("decoder").decode(&nulls);
    let failure = failure.expect_err("a failure");
    assert_eq!((failure.record, failure.error.code()), (1, "HW-F005"));
}
