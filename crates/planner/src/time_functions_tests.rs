//! Tests of functions of random numbers and the clock.

use super::*;

fn evaluate(name: &str, arguments: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let function = hidden_function(name).expect(name);
    let context = FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false };
    let result = LogicalType::BigInt.not_null();
    function.evaluate(arguments, &[], &result, rows, &context)
}

#[test]
fn random_numbers_stay_in_their_range() {
    let random: ArrayRef = Arc::new(Int64Array::from(vec![0, -1, i64::MIN, 1 << 62]));
    let numbers = evaluate(RAND, std::slice::from_ref(&random), 4).unwrap();
    let numbers = numbers.as_primitive::<Float64Type>().values().to_vec();
    assert_eq!((numbers[0], numbers[2], numbers[3]), (0.0, 0.5, 0.25));
    assert!(numbers[1] < 1.0);
    let bound: ArrayRef = Arc::new(Int32Array::from(vec![10]));
    let integers = evaluate(RAND_INTEGER, &[bound, random.clone()], 4).unwrap();
    assert_eq!(integers.as_primitive::<Int32Type>().values().to_vec(), [0, 9, 5, 2]);
    let bound: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(1), Some(0)]));
    assert_eq!(
        evaluate(RAND_INTEGER, &[bound.clone(), random.clone()], 4).unwrap_err().code(),
        codes::RANDOM_BOUND.code
    );
    assert!(evaluate(RAND_INTEGER, &[bound.slice(0, 2), random.slice(0, 2)], 2).unwrap().is_null(1));
}

#[test]
fn a_uuid_has_version_4() {
    let random: ArrayRef = Arc::new(Int64Array::from(vec![0, -1]));
    let texts = evaluate(UUID, &[random.clone(), random], 2).unwrap();
    let texts: Vec<_> = texts.as_string::<i32>().iter().flatten().map(str::to_string).collect();
    assert_eq!(texts, ["00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-bfff-ffffffffffff"]);
}
