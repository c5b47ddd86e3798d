//! Tests of single values. What is accepted was tried with Java's own parsers.

use super::*;

fn read_timestamp(
    text: &str,
    standard: TimestampStandard,
    precision: u8,
    instant: bool,
) -> Result<i64, TimestampFailure> {
    let unit = base::LogicalType::timestamp_unit(precision);
    timestamp(text.as_bytes(), &TimestampShape { standard, unit, precision, instant }, &mut DateCache::default())
}

#[test]
fn whole_numbers() {
    for (text, expected) in [
        ("0", Some(0)),
        ("-0", Some(0)),
        ("+1", Some(1)),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("", None),
        ("-", None),
        ("1.0", None),
        ("1 ", None),
    ] {
        assert_eq!(integer(text.as_bytes()), expected, "{text}");
    }
    for (text, expected) in [
        ("3.9", Some(3)),
        ("-3.9", Some(-3)),
        ("1e3", Some(1000)),
        ("12345e-3", Some(12)),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("1e99", None),
        ("1e-999999999999999999999", Some(0)),
        ("0e999999999999999999999", Some(0)),
    ] {
        assert_eq!(whole_part(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn floating_numbers() {
    for (text, expected) in [
        ("1e3", Some(1000.0)),
        (".5", Some(0.5)),
        ("5.", Some(5.0)),
        ("+1", Some(1.0)),
        ("1f", Some(1.0)),
        ("1d", Some(1.0)),
        ("Infinity", Some(f64::INFINITY)),
        ("-Infinity", Some(f64::NEG_INFINITY)),
        ("1e400", Some(f64::INFINITY)),
        ("inf", None),
        ("nan", None),
        ("", None),
        ("f", None),
        ("-", None),
        ("1e", None),
    ] {
        assert_eq!(float::<f64>(text.as_bytes()), expected, "{text}");
    }
    assert!(float::<f64>(b"NaN").is_some_and(f64::is_nan));
    assert!(float::<f32>(b"-NaN").is_some_and(f32::is_nan));
}

#[test]
fn decimals_are_exact_and_rounded_half_up() {
    for (text, precision, scale, expected) in [
        ("1.239", 10, 2, Some(Some(124))),
        ("1.235", 10, 2, Some(Some(124))),
        ("-1.235", 10, 2, Some(Some(-124))),
        ("1.2349999999999999999999", 10, 2, Some(Some(123))),
        ("0.1", 38, 18, Some(Some(100_000_000_000_000_000))),
        ("123456789.99", 10, 2, Some(None)),
        ("99999999.995", 10, 2, Some(None)),
        ("99999999.994", 10, 2, Some(Some(9_999_999_999))),
        ("1E+2", 10, 2, Some(Some(10_000))),
        ("1e-400", 10, 2, Some(Some(0))),
        ("0.0049", 10, 2, Some(Some(0))),
        ("0.005", 10, 2, Some(Some(1))),
        ("0.0005", 10, 2, Some(Some(0))),
        ("5e-3", 10, 2, Some(Some(1))),
        ("0000000000000000000000000000000000000000000001", 10, 2, Some(Some(100))),
        (
            "99999999999999999999999999999999999999",
            38,
            0,
            Some(Some(99_999_999_999_999_999_999_999_999_999_999_999_999)),
        ),
        ("100000000000000000000000000000000000000", 38, 0, Some(None)),
        ("99999999999999999999999999999999999999.5", 38, 0, Some(None)),
        ("1e400", 38, 0, Some(None)),
        ("0e400", 38, 0, Some(Some(0))),
        ("1.", 10, 2, Some(Some(100))),
        ("", 10, 2, None),
        (".", 10, 2, None),
        ("1_0", 10, 2, None),
        ("1e", 10, 2, None),
        ("0x1", 10, 2, None),
    ] {
        assert_eq!(decimal(text.as_bytes(), precision, scale), expected, "{text}");
    }
}

#[test]
fn timestamps_as_java_reads_them() {
    use TimestampStandard::*;
    let at = 1_704_164_645_000; // 2024-01-02 03:04:05
    let day = days_from_civil(2024, 2, 29) * DAY_MS;
    for (text, standard, precision, instant, expected) in [
        ("2024-01-02 03:04:05.1234", Either, 3, false, Some(at + 123)),
        ("2024-01-02T03:04:05.1234", Either, 3, false, Some(at + 123)),
        ("2024-01-02 03:04:05.999", Either, 0, false, Some(at)),
        ("2024-01-02 03:04:05.129", Either, 2, false, Some(at + 120)),
        ("2024-01-02 03:04:05.", Sql, 3, false, Some(at)),
        ("2024-01-02T03:04", Iso, 3, false, Some(at - 5000)),
        ("2024-01-02 03:04", Sql, 3, false, None),
        ("2024-02-30 00:00:00", Sql, 3, false, Some(day)),
        ("2024-02-30T00:00:00", Iso, 3, false, None),
        ("2024-02-30T00:00:00Z", Iso, 3, true, Some(day)),
        ("2024-02-28 24:00:00", Sql, 3, false, Some(day)),
        ("2024-02-28 24:00:01", Sql, 3, false, None),
        ("2024-02-28T24:00:00", Iso, 3, false, None),
        ("2024-01-32 00:00:00", Sql, 3, false, None),
        ("2024-13-01 00:00:00", Sql, 3, false, None),
        ("2024-00-01 00:00:00", Sql, 3, false, None),
        ("2024-01-02 03:04:60", Sql, 3, false, None),
        ("2024-01-02 03:04:05.1234567890", Sql, 3, false, None),
        ("2024-01-02 03:04:05Z", Either, 3, false, None),
        ("2024-01-02 03:04:05", Either, 3, true, None),
        ("2024-01-02 03:04:05.5Z", Sql, 3, true, Some(at + 500)),
        ("2024-01-02T03:04:05.5Z", Either, 3, true, Some(at + 500)),
        ("9999-12-31 23:59:59.999", Sql, 9, false, None),
        ("", Sql, 3, false, None),
    ] {
        assert_eq!(read_timestamp(text, standard, precision, instant).ok(), expected, "{text}");
    }
    assert_eq!(read_timestamp("2024-01-02T03:04:05", Sql, 3, false), Err(TimestampFailure::OtherStandard));
    assert_eq!(read_timestamp("2024-01-02 03:04:05", Iso, 3, false), Err(TimestampFailure::OtherStandard));
    assert_eq!(read_timestamp("2024-01-02T03:04:99", Sql, 3, false), Err(TimestampFailure::Bad));
}

#[test]
fn a_clamped_date_is_not_remembered_for_the_strict_form() {
    let shape = TimestampShape {
        standard: TimestampStandard::Either,
        unit: TimeUnit::Millisecond,
        precision: 3,
        instant: false,
    };
    let mut cache = DateCache::default();
    assert!(timestamp(b"2023-02-29 00:00:00", &shape, &mut cache).is_ok());
    assert!(timestamp(b"2023-02-29T00:00:00", &shape, &mut cache).is_err());
}

#[test]
fn dates_and_times() {
    assert_eq!(date(b"1969-12-31"), Some(-1));
    assert_eq!(date(b"2024-02-30"), None);
    assert_eq!(date(b"2024-1-2"), None);
    assert_eq!(loose_date(b"2024-1-2"), date(b"2024-01-02"));
    assert_eq!(loose_date(b"2024-1-2-3"), None);
    assert_eq!(loose_date(b"2024-+1-2"), None);
    assert_eq!(time(b"03:04:05.1239", 3, false), Some(11_045_123));
    assert_eq!(time(b"03:04:05.9", 0, false), Some(11_045_000));
    assert_eq!(time(b"03:04", 0, false), None);
    assert_eq!(time(b"03:04", 0, true), Some(11_040_000));
    assert_eq!(time(b"24:00:00", 0, false), None);
}
