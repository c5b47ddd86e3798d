//! Tests of text forms. The expected texts of numbers were printed by Java.

use super::*;

fn text(push: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    push(&mut out);
    out
}

#[test]
fn doubles_look_like_javas() {
    for (value, expected) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (0.00012345, "1.2345E-4"),
        (1e-7, "1.0E-7"),
        (123456789.0, "1.23456789E8"),
        (9999999.0, "9999999.0"),
        (9999999.5, "9999999.5"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (1e16, "1.0E16"),
        (1.2e300, "1.2E300"),
        (-1234.5, "-1234.5"),
        (100.0, "100.0"),
        (0.012, "0.012"),
        (f64::MAX, "1.7976931348623157E308"),
        (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (0.20000000000000004, "0.20000000000000004"),
        (9007199254740993.0, "9.007199254740992E15"),
    ] {
        assert_eq!(text(|out| push_double(out, value)), expected);
    }
    for (value, expected) in [(0.1f32, "0.1"), (1e10, "1.0E10"), (1e-3, "0.001"), (16777216.0, "1.6777216E7")] {
        assert_eq!(text(|out| push_float(out, value)), expected);
    }
}

#[test]
fn decimals_plain_and_like_javas() {
    for (unscaled, scale, plain, java) in [
        (123400, 4, "12.3400", "12.34"),
        (1000000, 4, "100.0000", "1E+2"),
        (100000, 0, "100000", "1E+5"),
        (1200, 0, "1200", "1.2E+3"),
        (1000, 10, "0.0000001000", "1E-7"),
        (1, 18, "0.000000000000000001", "1E-18"),
        (123, 9, "0.000000123", "1.23E-7"),
        (1, 6, "0.000001", "0.000001"),
        (-125, 1, "-12.5", "-12.5"),
        (-5, 2, "-0.05", "-0.05"),
        (0, 4, "0.0000", "0"),
        (7, 0, "7", "7"),
    ] {
        assert_eq!(text(|out| push_decimal(out, unscaled, scale)), plain);
        assert_eq!(text(|out| push_decimal_java(out, unscaled, scale)), java);
    }
}

#[test]
fn dates_and_times() {
    for (days, expected) in [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (19_723, "2024-01-01"),
        (-719_529, "-0001-12-31"),
        (-719_528, "0000-01-01"),
        (2_932_897, "10000-01-01"),
    ] {
        assert_eq!(text(|out| push_date(out, days)), expected);
    }
    assert_eq!(text(|out| push_time(out, 11_045_123, 0)), "03:04:05");
    assert_eq!(text(|out| push_time(out, 11_045_123, 2)), "03:04:05.12");
    assert_eq!(text(|out| push_time(out, 11_045_123, 3)), "03:04:05.123");
    for days in (-800_000..800_000).step_by(37) {
        let (year, month, day) = civil_from_days(days);
        assert_eq!(days_from_civil(year, month, day), days);
        assert!(day >= 1 && day <= days_of_month(year, month));
    }
}

#[test]
fn timestamps_in_every_unit() {
    let ms = 1_704_164_645_120;
    for (value, unit, fraction, expected) in [
        (ms, TimeUnit::Millisecond, Fraction::Trimmed, "2024-01-02 03:04:05.12"),
        (ms, TimeUnit::Millisecond, Fraction::Fixed(3), "2024-01-02 03:04:05.120"),
        (ms, TimeUnit::Millisecond, Fraction::Fixed(0), "2024-01-02 03:04:05"),
        (ms / 1000, TimeUnit::Second, Fraction::Trimmed, "2024-01-02 03:04:05"),
        (ms * 1000 + 1, TimeUnit::Microsecond, Fraction::Trimmed, "2024-01-02 03:04:05.120001"),
        (ms * 1_000_000 + 1, TimeUnit::Nanosecond, Fraction::Fixed(9), "2024-01-02 03:04:05.120000001"),
        (-1, TimeUnit::Millisecond, Fraction::Trimmed, "1969-12-31 23:59:59.999"),
    ] {
        assert_eq!(text(|out| push_timestamp(out, value, unit, ' ', fraction)), expected);
    }
    assert_eq!(
        text(|out| push_timestamp(out, 0, TimeUnit::Millisecond, 'T', Fraction::Trimmed)),
        "1970-01-01T00:00:00"
    );
    // The ends of the range do not panic.
    text(|out| push_timestamp(out, i64::MIN, TimeUnit::Millisecond, ' ', Fraction::Fixed(9)));
    text(|out| push_timestamp(out, i64::MAX, TimeUnit::Nanosecond, ' ', Fraction::Fixed(9)));
}

#[test]
fn zones_follow_javas_rules() {
    let hour = 3_600_000;
    let at = |y, m, d, h: i64, minute: i64| days_from_civil(y, m, d) * DAY_MS + h * hour + minute * 60_000;
    assert_eq!(zone_offset_ms(Tz::Asia__Shanghai, at(2024, 1, 1, 0, 0)), 8 * hour);
    assert_eq!(local_to_instant_ms(Tz::Asia__Shanghai, at(2024, 1, 1, 8, 0)), at(2024, 1, 1, 0, 0));
    let berlin = Tz::Europe__Berlin;
    assert_eq!(zone_offset_ms(berlin, at(2024, 7, 1, 0, 0)), 2 * hour);
    // 02:30 does not exist on 2024-03-31 and becomes 03:30+02:00.
    assert_eq!(local_to_instant_ms(berlin, at(2024, 3, 31, 2, 30)), at(2024, 3, 31, 1, 30));
    // 02:30 comes twice on 2024-10-27: the first, +02:00.
    assert_eq!(local_to_instant_ms(berlin, at(2024, 10, 27, 2, 30)), at(2024, 10, 27, 0, 30));
    // A whole day that Samoa skipped.
    assert_eq!(local_to_instant_ms(Tz::Pacific__Apia, at(2011, 12, 30, 12, 0)), at(2011, 12, 30, 22, 0));
    // The ends of the range do not panic.
    zone_offset_ms(berlin, i64::MIN);
    local_to_instant_ms(berlin, i64::MAX);
}
