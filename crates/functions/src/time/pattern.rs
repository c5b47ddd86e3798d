//! Java's date patterns (`yyyy-MM-dd HH:mm:ss.SSS`), compiled once, and writing with them.
//!
//! DATE_FORMAT and TO_TIMESTAMP use the rules of `DateTimeFormatter`, the UNIX time functions and TO_DATE those of the
//! older `SimpleDateFormat`; the two differ in some letters and in how strictly they read.

use super::zone::ZoneReading;
use base::text::{civil_from_days, days_from_civil};
use std::fmt::Write;

/// Whose rules a pattern follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `java.time.format.DateTimeFormatter`.
    DateTimeFormatter,
    /// `java.text.SimpleDateFormat`.
    SimpleDateFormat,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Literal(String),
    Field {
        letter: char,
        count: usize,
    },
    /// What may be missing when a text is read.
    Optional(Vec<Item>),
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(super) items: Vec<Item>,
    pub(super) dialect: Dialect,
}

/// Days since 1970-01-01 and nanoseconds of the day.
pub(crate) type Reading = (i64, i64);

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(crate) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Pattern {
    /// Compiles a pattern; the error is the reason.
    pub fn compile(text: &str, dialect: Dialect) -> Result<Pattern, String> {
        let mut items: Vec<Item> = Vec::new();
        // The items before each bracket that is open.
        let mut outer: Vec<Vec<Item>> = Vec::new();
        let mut chars = text.chars().peekable();
        let literal = |items: &mut Vec<Item>, c: char| match items.last_mut() {
            Some(Item::Literal(text)) => text.push(c),
            _ => items.push(Item::Literal(c.to_string())),
        };
        while let Some(c) = chars.next() {
            if c == '\'' {
                if chars.next_if_eq(&'\'').is_some() {
                    literal(&mut items, '\'');
                    continue;
                }
                loop {
                    match chars.next() {
                        None => return Err("a quote is not closed".into()),
                        Some('\'') if chars.next_if_eq(&'\'').is_some() => literal(&mut items, '\''),
                        Some('\'') => break,
                        Some(c) => literal(&mut items, c),
                    }
                }
            } else if c.is_ascii_alphabetic() {
                let mut count = 1;
                while chars.next_if_eq(&c).is_some() {
                    count += 1;
                }
                Self::check(c, count, dialect)?;
                items.push(Item::Field { letter: c, count });
            } else if c == '[' && dialect == Dialect::DateTimeFormatter {
                outer.push(std::mem::take(&mut items));
            } else if c == ']' && dialect == Dialect::DateTimeFormatter {
                let before = outer.pop().ok_or("a bracket is not open")?;
                let inside = std::mem::replace(&mut items, before);
                items.push(Item::Optional(inside));
            } else if matches!(c, '{' | '}' | '#') && dialect == Dialect::DateTimeFormatter {
                return Err(format!("'{c}' in a date pattern is not supported"));
            } else {
                literal(&mut items, c);
            }
        }
        while let Some(before) = outer.pop() {
            let inside = std::mem::replace(&mut items, before);
            items.push(Item::Optional(inside));
        }
        Ok(Pattern { items, dialect })
    }

    fn check(letter: char, count: usize, dialect: Dialect) -> Result<(), String> {
        let known = match dialect {
            Dialect::DateTimeFormatter => "GyuYMLdDEecaHhKkmsSAnNQqwWFzZX",
            Dialect::SimpleDateFormat => "GyuYMLdDEaHhKkmsSwWFzZX",
        };
        let numeric_max = if matches!(letter, 'd' | 'H' | 'h' | 'K' | 'k' | 'm' | 's' | 'w') { 2 } else { 19 };
        if !known.contains(letter) {
            return Err(format!("the letter '{letter}' is not supported in a date pattern"));
        }
        let numeric_max = if letter == 'a' { 1 } else { numeric_max };
        if dialect == Dialect::DateTimeFormatter && count > numeric_max {
            return Err(format!("too many letters '{letter}' in a date pattern"));
        }
        Ok(())
    }

    /// Whether writing needs a zone.
    pub fn has_zone(&self) -> bool {
        fn any(items: &[Item]) -> bool {
            items.iter().any(|item| match item {
                Item::Field { letter, .. } => matches!(letter, 'z' | 'Z' | 'X'),
                Item::Optional(items) => any(items),
                Item::Literal(_) => false,
            })
        }
        any(&self.items)
    }

    /// Appends a wall-clock reading; without a zone its letters write nothing.
    pub fn write(&self, reading: Reading, zone: Option<&ZoneReading>, out: &mut String) {
        self.write_items(&self.items, reading, zone, out);
    }

    fn write_items(&self, items: &[Item], (days, nanos): Reading, zone: Option<&ZoneReading>, out: &mut String) {
        let (year, month, day) = civil_from_days(days);
        let seconds = nanos / 1_000_000_000;
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let fraction = nanos % 1_000_000_000;
        for item in items {
            let (letter, count) = match item {
                Item::Literal(text) => {
                    out.push_str(text);
                    continue;
                }
                Item::Optional(items) => {
                    self.write_items(items, (days, nanos), zone, out);
                    continue;
                }
                Item::Field { letter, count } => (*letter, *count),
            };
            match letter {
                'G' => out.push_str(if year > 0 { "AD" } else { "BC" }),
                'u' if self.dialect == Dialect::SimpleDateFormat => padded(out, (days + 3).rem_euclid(7) + 1, count),
                'y' | 'u' | 'Y' => {
                    let year = match letter {
                        'Y' => week_of_year(days).0,
                        'y' if year <= 0 => 1 - year,
                        _ => year,
                    };
                    padded(out, if count == 2 { year.rem_euclid(100) } else { year }, count);
                }
                'M' | 'L' => named_or_number(out, i64::from(month), count, MONTHS[month as usize - 1]),
                'Q' | 'q' => {
                    let quarter = (month - 1) / 3 + 1;
                    match count {
                        3 => drop(write!(out, "Q{quarter}")),
                        4 => out.push_str(
                            ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"][quarter as usize - 1],
                        ),
                        _ => padded(out, i64::from(quarter), count),
                    }
                }
                'd' => padded(out, i64::from(day), count),
                'D' => padded(out, days - days_from_civil(year, 1, 1) + 1, count),
                // The place in a row of seven days, or which such weekday of its month it is.
                'F' if self.dialect == Dialect::DateTimeFormatter => padded(out, i64::from((day - 1) % 7 + 1), count),
                'F' => padded(out, i64::from((day - 1) / 7 + 1), count),
                'W' => {
                    let first_weekday = (days - i64::from(day) + 5).rem_euclid(7);
                    padded(out, (i64::from(day) - 1 + first_weekday) / 7 + 1, count);
                }
                'z' | 'Z' | 'X' => push_zone(out, letter, count, zone),
                'w' => padded(out, week_of_year(days).1, count),
                'E' | 'e' | 'c' => {
                    let weekday = (days + 4).rem_euclid(7);
                    let count = if letter == 'E' { count.max(3) } else { count };
                    named_or_number(out, weekday + 1, count, DAYS[weekday as usize]);
                }
                'a' => out.push_str(if hour < 12 { "AM" } else { "PM" }),
                'H' => padded(out, hour, count),
                'k' => padded(out, if hour == 0 { 24 } else { hour }, count),
                'K' => padded(out, hour % 12, count),
                'h' => padded(out, if hour % 12 == 0 { 12 } else { hour % 12 }, count),
                'm' => padded(out, minute, count),
                's' => padded(out, second, count),
                'S' if self.dialect == Dialect::SimpleDateFormat => padded(out, fraction / 1_000_000, count),
                'S' => {
                    let digits = count.min(9);
                    padded(out, fraction / 10i64.pow(9 - digits as u32), digits);
                    out.extend(std::iter::repeat_n('0', count - digits));
                }
                'A' => padded(out, nanos / 1_000_000, count),
                'n' => padded(out, fraction, count),
                _ => padded(out, nanos, count),
            }
        }
    }
}

fn push_zone(out: &mut String, letter: char, count: usize, zone: Option<&ZoneReading>) {
    let Some(zone) = zone else { return };
    if letter == 'z' {
        out.push_str(if zone.name == "UTC" && count > 3 { "Coordinated Universal Time" } else { &zone.name });
        return;
    }
    if letter == 'X' && zone.offset_ms == 0 {
        out.push('Z');
        return;
    }
    let minutes = zone.offset_ms.abs() / 60_000;
    let sign = if zone.offset_ms < 0 { '-' } else { '+' };
    let _ = match (letter, count) {
        ('X', 1) => write!(out, "{sign}{:02}", minutes / 60),
        ('X', 3) => write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60),
        _ => write!(out, "{sign}{:02}{:02}", minutes / 60, minutes % 60),
    };
}

fn padded(out: &mut String, value: i64, width: usize) {
    // Writing to a String cannot fail.
    let _ = write!(out, "{value:0width$}");
}

fn named_or_number(out: &mut String, value: i64, count: usize, name: &str) {
    match count {
        1 | 2 => padded(out, value, count),
        3 => out.push_str(&name[..3]),
        4 => out.push_str(name),
        _ => out.push_str(&name[..1]),
    }
}

/// Year and week where weeks start on Sunday and the first one holds January 1st: the rules of the US locale.
fn week_of_year(days: i64) -> (i64, i64) {
    let start_of_week = |days: i64| days - (days + 4).rem_euclid(7);
    let (year, _, _) = civil_from_days(days);
    let next = start_of_week(days_from_civil(year + 1, 1, 1));
    if days >= next {
        return (year + 1, 1);
    }
    (year, (days - start_of_week(days_from_civil(year, 1, 1))) / 7 + 1)
}
