//! Reading text with Java's date patterns.

use super::pattern::{DAYS, Dialect, Item, MONTHS, Pattern, Reading};
use super::zone::read_zone;
use base::text::{days_from_civil, days_of_month};

const DAY_NS: i64 = 86_400_000_000_000;

/// What a text said; missing fields are those of 1970-01-01 00:00:00.
#[derive(Debug, Clone, Copy)]
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: Option<i64>,
    hour: i64,
    /// Hour of a half day, with `afternoon`.
    half_day_hour: Option<i64>,
    afternoon: bool,
    minute: i64,
    second: i64,
    nanos: i64,
    /// Sunday is 0.
    weekday: Option<usize>,
    /// What the text's zone adds to an instant.
    offset_ms: Option<i64>,
}

impl Pattern {
    /// Reads a wall-clock reading; `None` if the text does not fit.
    pub fn parse(&self, text: &str) -> Option<Reading> {
        self.parse_zoned(text).map(|(reading, _)| reading)
    }

    /// As [`Pattern::parse`], with the offset of the zone that the text names.
    pub fn parse_zoned(&self, text: &str) -> Option<(Reading, Option<i64>)> {
        let mut fields = Fields {
            year: 1970,
            month: 1,
            day: 1,
            day_of_year: None,
            hour: 0,
            half_day_hour: None,
            afternoon: false,
            minute: 0,
            second: 0,
            nanos: 0,
            weekday: None,
            offset_ms: None,
        };
        let rest = self.items(&self.items, &mut fields, text)?;
        let reading = match self.dialect {
            Dialect::DateTimeFormatter if !rest.is_empty() => return None,
            Dialect::DateTimeFormatter => fields.resolve_smart()?,
            // What follows is ignored.
            Dialect::SimpleDateFormat => fields.resolve_lenient(),
        };
        Some((reading, fields.offset_ms))
    }

    /// Reads items one after the other; what is left of the text.
    fn items<'a>(&self, items: &[Item], fields: &mut Fields, text: &'a str) -> Option<&'a str> {
        let mut rest = text;
        for (index, item) in items.iter().enumerate() {
            match item {
                Item::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Item::Optional(inside) => {
                    let mut tried = *fields;
                    if let Some(after) = self.items(inside, &mut tried, rest) {
                        (*fields, rest) = (tried, after);
                    }
                }
                Item::Field { letter, count } => {
                    let next_is_number = matches!(items.get(index + 1), Some(Item::Field { letter, count })
                        if !(matches!(letter, 'G' | 'a' | 'E' | 'z' | 'Z' | 'X') || *letter == 'M' && *count > 2));
                    rest = self.field(fields, *letter, *count, rest, next_is_number)?;
                }
            }
        }
        Some(rest)
    }

    fn field<'a>(
        &self,
        fields: &mut Fields,
        letter: char,
        count: usize,
        text: &'a str,
        next_is_number: bool,
    ) -> Option<&'a str> {
        let simple = self.dialect == Dialect::SimpleDateFormat;
        match letter {
            'G' => return text.strip_prefix("AD"),
            'a' => {
                let half = text.get(..2)?;
                let matches = |name: &str| if simple { half.eq_ignore_ascii_case(name) } else { half == name };
                fields.afternoon = matches("PM");
                return (fields.afternoon || matches("AM")).then(|| &text[2..]);
            }
            'E' => {
                let (weekday, rest) = name(text, &DAYS, count, simple)?;
                fields.weekday = Some(weekday);
                return Some(rest);
            }
            'z' | 'Z' | 'X' => {
                let (offset_ms, rest) = read_zone(text, letter)?;
                fields.offset_ms = Some(offset_ms);
                return Some(rest);
            }
            'M' | 'L' if count > 2 => {
                let (index, rest) = name(text, &MONTHS, count, simple)?;
                fields.month = index as i64 + 1;
                return Some(rest);
            }
            _ => {}
        }
        let text = if simple { text.trim_start() } else { text };
        let available = text.bytes().take_while(u8::is_ascii_digit).count();
        let digits = match (simple, letter) {
            (false, _) if count == 1 && letter != 'S' => available.min(if next_is_number { 1 } else { 19 }),
            (false, _) => count,
            (true, _) if next_is_number => count.min(available),
            (true, _) => available.min(18),
        };
        if digits == 0 || digits > available || digits > 18 {
            return None;
        }
        let value: i64 = text[..digits].parse().ok()?;
        fields.set(letter, count, digits, value, simple)?;
        Some(&text[digits..])
    }
}

/// The name at the start of `text`: short (three letters) or full.
fn name<'a>(text: &'a str, names: &[&str], count: usize, simple: bool) -> Option<(usize, &'a str)> {
    let starts = |name: &str| {
        text.get(..name.len()).is_some_and(|head| if simple { head.eq_ignore_ascii_case(name) } else { head == name })
    };
    let full = if count >= 4 || simple { names.iter().position(|name| starts(name)) } else { None };
    if let Some(index) = full {
        return Some((index, &text[names[index].len()..]));
    }
    if count >= 4 && !simple {
        return None;
    }
    names.iter().position(|name| starts(&name[..3])).map(|index| (index, &text[3..]))
}

impl Fields {
    fn set(&mut self, letter: char, count: usize, digits: usize, value: i64, simple: bool) -> Option<()> {
        match letter {
            'Y' | 'Q' | 'q' => {}
            'y' | 'u' if simple && letter == 'u' => {}
            'y' | 'u' => {
                self.year = match (count, digits) {
                    // SimpleDateFormat's century ends 20 years from now: two digits below 46 are this one.
                    (1 | 2, 2) if simple => value + if value < 46 { 2000 } else { 1900 },
                    (2, 2) => value + 2000,
                    _ => value,
                }
            }
            'M' | 'L' => self.month = value,
            'd' => self.day = value,
            'D' => self.day_of_year = Some(value),
            'H' => self.hour = value,
            'k' => self.hour = value % 24,
            'h' => self.half_day_hour = Some(value % 12),
            'K' => self.half_day_hour = Some(value),
            'm' => self.minute = value,
            's' => self.second = value,
            'S' if simple => self.nanos = value.checked_mul(1_000_000)?,
            'S' if digits <= 9 => self.nanos = value * 10i64.pow(9 - digits as u32),
            'n' => self.nanos = value,
            'A' => self.set_time(value.checked_mul(1_000_000)?)?,
            'N' => self.set_time(value)?,
            // The day follows from the date; SimpleDateFormat ignores it too when a date is there.
            'F' | 'w' | 'W' | 'e' | 'c' => {}
            _ => return None,
        }
        Some(())
    }

    fn set_time(&mut self, nanos: i64) -> Option<()> {
        if !(0..DAY_NS).contains(&nanos) {
            return None;
        }
        let seconds = nanos / 1_000_000_000;
        self.hour = seconds / 3_600;
        self.minute = seconds / 60 % 60;
        self.second = seconds % 60;
        self.nanos = nanos % 1_000_000_000;
        Some(())
    }

    fn hour_of_day(&self) -> i64 {
        self.half_day_hour.map_or(self.hour, |hour| hour + if self.afternoon { 12 } else { 0 })
    }

    /// Values out of range do not fit, but a day after the end of its month becomes the last one.
    fn resolve_smart(self) -> Option<Reading> {
        let mut hour = self.hour_of_day();
        // 24:00 is the midnight after the day.
        let next_day = hour == 24 && self.minute == 0 && self.second == 0 && self.nanos == 0;
        if next_day {
            hour = 0;
        }
        if !(1..=12).contains(&self.month)
            || !(1..=31).contains(&self.day)
            || !(0..24).contains(&hour)
            || !(0..60).contains(&self.minute)
            || !(0..60).contains(&self.second)
            || !(0..1_000_000_000).contains(&self.nanos)
        {
            return None;
        }
        let days = match self.day_of_year {
            Some(day) => {
                let days = days_from_civil(self.year, 1, 1) + day - 1;
                (day >= 1 && days < days_from_civil(self.year + 1, 1, 1)).then_some(days)?
            }
            None => {
                let month = self.month as u32;
                let day = self.day.min(i64::from(days_of_month(self.year, month)));
                days_from_civil(self.year, month, day as u32)
            }
        };
        if self.weekday.is_some_and(|weekday| weekday as i64 != (days + 4).rem_euclid(7)) {
            return None;
        }
        let days = days + i64::from(next_day);
        Some((days, ((hour * 60 + self.minute) * 60 + self.second) * 1_000_000_000 + self.nanos))
    }

    /// Values out of range roll over into the next larger field.
    fn resolve_lenient(self) -> Reading {
        let bounded = |value: i64| value.clamp(-1_000_000, 1_000_000);
        let months = bounded(self.year) * 12 + bounded(self.month) - 1;
        let first = days_from_civil(months.div_euclid(12), months.rem_euclid(12) as u32 + 1, 1);
        let days = match self.day_of_year {
            Some(day) => days_from_civil(bounded(self.year), 1, 1) + bounded(day) - 1,
            None => first + bounded(self.day) - 1,
        };
        let seconds = (bounded(self.hour_of_day()) * 60 + bounded(self.minute)) * 60
            + bounded(self.second)
            + self.nanos.div_euclid(1_000_000_000);
        let nanos = self.nanos.rem_euclid(1_000_000_000);
        (days + seconds.div_euclid(86_400), seconds.rem_euclid(86_400) * 1_000_000_000 + nanos)
    }
}
