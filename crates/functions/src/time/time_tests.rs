//! Date patterns of both dialects.

use super::pattern::{Dialect, Pattern, Reading};

fn write(pattern: &str, dialect: Dialect, reading: Reading) -> String {
    let mut out = String::new();
    Pattern::compile(pattern, dialect).unwrap().write(reading, None, &mut out);
    out
}

/// 2024-03-02 (a Saturday) 13:04:05.678.
const READING: Reading = (19_784, (13 * 3_600 + 4 * 60 + 5) * 1_000_000_000 + 678_000_000);

#[test]
fn letters_are_javas() {
    let cases = [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2024-03-02T13:04:05.678"),
        ("yy/M/d h:m:s a", "24/3/2 1:4:5 PM"),
        ("EEE, EEEE, MMM, MMMM", "Sat, Saturday, Mar, March"),
        ("D Q QQQ kk KK", "62 1 Q1 13 01"),
        ("''yyyy'' SS S", "'2024' 67 6"),
        ("YYYY-ww e", "2024-09 7"),
        ("yyyy年MM月", "2024年03月"),
    ];
    for (pattern, expected) in cases {
        assert_eq!(write(pattern, Dialect::DateTimeFormatter, READING), expected, "{pattern}");
    }
    assert_eq!(write("u S SSSSS", Dialect::SimpleDateFormat, READING), "6 678 00678");
}

#[test]
fn strict_and_lenient_reading() {
    let read = |pattern: &str, dialect, text: &str| Pattern::compile(pattern, dialect).unwrap().parse(text);
    let day = |days: i64| Some((days, 0));
    use Dialect::{DateTimeFormatter as New, SimpleDateFormat as Old};
    assert_eq!(read("yyyy-MM-dd", New, "2024-03-02"), day(19_784));
    assert_eq!(read("yyyyMMdd", New, "20240302"), day(19_784));
    assert_eq!(read("yyyyMMdd", Old, "20240302"), day(19_784));
    assert_eq!(read("yyyy-MM-dd", New, "2024-3-2"), None);
    assert_eq!(read("yyyy-MM-dd", Old, "2024-3-2"), day(19_784));
    assert_eq!(read("yyyy-MM-dd", New, "2024-03-02 more"), None);
    assert_eq!(read("yyyy-MM-dd", Old, "2024-03-02 more"), day(19_784));
    assert_eq!(read("yyyy-MM-dd", New, "2024-02-30"), day(19_782));
    assert_eq!(read("yyyy-MM-dd", Old, "2024-02-30"), day(19_783));
    assert_eq!(read("yyyy-MM-dd", New, "2024-13-01"), None);
    assert_eq!(read("dd MMM yyyy", New, "02 Mar 2024"), day(19_784));
    assert_eq!(read("HH:mm", New, "01:30"), Some((0, 5_400_000_000_000)));
    assert_eq!(read("hh a", New, "12 AM"), day(0));
    assert_eq!(read("yyyy", New, "äöüß"), None);
}

#[test]
fn bad_patterns_are_refused() {
    for pattern in ["yyyy'", "P", "yyyy]", "VV", "HHH"] {
        assert!(Pattern::compile(pattern, Dialect::DateTimeFormatter).is_err(), "{pattern}");
    }
}
