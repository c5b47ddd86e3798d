//! Time zones as Java's `TimeZone` names them: regions, short names such as `PST`, and offsets such as `GMT+8`. A name that
//! is unknown is GMT there.

use base::text::{local_to_instant_ms, zone_offset_ms};
use chrono::{DateTime, TimeZone};
use chrono_tz::{OffsetName, Tz};

const DAY_MS: i64 = 86_400_000;
/// The largest offset of a `ZoneId`.
const OFFSET_MAX_MS: i64 = 18 * 3_600_000;

/// Short names of Java that are no regions of their own.
const SHORT_NAMES: [(&str, &str); 28] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("PDT", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
    ("CDT", "America/Chicago"),
    ("EDT", "America/New_York"),
];

/// A zone: a region with its rules, or an offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Zone {
    Region(Tz),
    /// Milliseconds to add to an instant.
    Offset(i64),
}

impl Zone {
    /// The zone of a name; `None` if it is unknown.
    pub fn parse(name: &str) -> Option<Zone> {
        if let Ok(region) = name.parse() {
            return Some(Zone::Region(region));
        }
        if let Some((_, region)) = SHORT_NAMES.iter().find(|(short, _)| *short == name) {
            return region.parse().ok().map(Zone::Region);
        }
        offset_ms(name.strip_prefix("GMT")?).map(Zone::Offset)
    }

    /// The zone of a name as `ZoneId` knows it: a region, or an offset such as `+08:00`, `GMT+8` and `UTC+08:00`.
    pub fn of_region(name: &str) -> Option<Zone> {
        if SHORT_NAMES.iter().any(|(short, _)| *short == name) || matches!(name, "EST" | "MST" | "HST") {
            return None;
        }
        if let Ok(region) = name.parse() {
            return Some(Zone::Region(region));
        }
        if name == "Z" {
            return Some(Zone::Offset(0));
        }
        let digits = ["GMT", "UTC", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        let offset = offset_ms(digits).filter(|offset| offset.abs() <= OFFSET_MAX_MS);
        offset.map(Zone::Offset)
    }

    /// The zone of a name, GMT if it is unknown.
    pub fn of(name: &str) -> Zone {
        Zone::parse(name).unwrap_or(Zone::Offset(0))
    }

    /// As Java's calendar, which takes an hour that comes twice for the second one.
    pub fn local_to_instant_ms(self, local: i64) -> i64 {
        match self {
            Zone::Region(region) => standard_to_instant_ms(region, local),
            Zone::Offset(offset) => local.saturating_sub(offset),
        }
    }

    pub fn offset_ms(self, instant: i64) -> i64 {
        match self {
            Zone::Region(region) => zone_offset_ms(region, instant),
            Zone::Offset(offset) => offset,
        }
    }
}

/// The instant of a wall clock's reading; the second one where there are two.
pub(crate) fn standard_to_instant_ms(region: Tz, local: i64) -> i64 {
    let first = local_to_instant_ms(region, local);
    // Where a clock is set back, the same reading comes again with another offset.
    let later = local.saturating_sub(zone_offset_ms(region, first.saturating_add(DAY_MS)));
    if later > first && later.saturating_add(zone_offset_ms(region, later)) == local { later } else { first }
}

/// `+8`, `+08:00`, `-0830`: signed hours, and minutes if there are any.
fn offset_ms(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = &text[1..];
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 && digits.is_ascii() => digits.split_at(digits.len() - 2),
        None => (digits, "0"),
    };
    let number = |text: &str, max: i64| text.parse::<i64>().ok().filter(|number| (0..=max).contains(number));
    Some(sign * (number(hours, 23)? * 60 + number(minutes, 59)?) * 60_000)
}

/// How a zone reads at an instant, for the letters `z`, `Z` and `X`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ZoneReading {
    pub offset_ms: i64,
    pub name: String,
}

impl ZoneReading {
    pub fn new(region: Tz, instant_ms: i64) -> ZoneReading {
        let at = DateTime::from_timestamp_millis(instant_ms).unwrap_or_default().naive_utc();
        let name = region.offset_from_utc_datetime(&at).abbreviation().unwrap_or("GMT").to_string();
        ZoneReading { offset_ms: zone_offset_ms(region, instant_ms), name }
    }
}

/// Reads the zone at the start of a text for the letter `z`, `Z` or `X`: its offset in milliseconds and what follows.
pub(crate) fn read_zone(text: &str, letter: char) -> Option<(i64, &str)> {
    if letter == 'X'
        && let Some(rest) = text.strip_prefix('Z')
    {
        return Some((0, rest));
    }
    let sign_at = if letter == 'z' { text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len()) } else { 0 };
    let name = &text[..sign_at];
    if text[sign_at..].starts_with(['+', '-']) && (name.is_empty() || name == "GMT") {
        let digits = text[sign_at + 1..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
        let end = sign_at + 1 + digits;
        return Some((offset_ms(&text[sign_at..end])?, &text[end..]));
    }
    // A short name means its usual offset, without daylight saving.
    let end = text.find(|c: char| !(c.is_ascii_alphabetic() || c == '/' || c == '_')).unwrap_or(text.len());
    let zone = if letter == 'z' { Zone::parse(&text[..end])? } else { return None };
    const MIDWINTER_MS: i64 = 1_704_067_200_000;
    Some((zone.offset_ms(MIDWINTER_MS), &text[end..]))
}
