//! A topic against what a scenario expects of it. Every function gives the differences; none means equal.

use super::json::Json;
use super::steps::What;
use crate::services::Record;
use std::collections::{BTreeMap, BTreeSet};

/// Differences that are listed; the rest is counted.
const DIFFERENCES_MAX: usize = 20;

/// Compares `records`, in log order per partition, with the lines of an expected file.
pub fn check(records: &[Record], what: What, expected: &str, ignore: &[String]) -> Vec<String> {
    let lines: Result<Vec<Json>, String> =
        expected.lines().filter(|line| !line.trim().is_empty()).map(Json::parse).collect();
    let mut problems = lines
        .and_then(|lines| match what {
            What::Compacted => compacted(records, &lines, ignore),
            What::ExactLog => exact_log(records, &lines),
            What::Records => values(records, &lines, ignore),
            What::AllowedValues => allowed_values(records, &lines),
            What::Tombstones => tombstones(records, &lines),
        })
        .unwrap_or_else(|problem| vec![problem]);
    if problems.len() > DIFFERENCES_MAX {
        let more = problems.len() - DIFFERENCES_MAX;
        problems.truncate(DIFFERENCES_MAX);
        problems.push(format!("and {more} more"));
    }
    problems
}

/// The last record of every key that is not deleted, by key.
///
/// # Errors
/// A record without a key, or a key in two partitions: compaction knows neither.
pub fn live(records: &[Record]) -> Result<BTreeMap<&[u8], &Record>, String> {
    let mut live = BTreeMap::new();
    let mut partitions = BTreeMap::new();
    for record in records {
        let Some(key) = record.key.as_deref() else {
            return Err(format!("a record without a key: {}", shown(record)));
        };
        let partition = *partitions.entry(key).or_insert(record.partition);
        if partition != record.partition {
            return Err(format!(
                "key {} is in partition {} and in partition {}",
                String::from_utf8_lossy(key),
                partition.unwrap_or(-1),
                record.partition.unwrap_or(-1)
            ));
        }
        if record.value.is_some() {
            live.insert(key, record);
        } else {
            live.remove(key);
        }
    }
    Ok(live)
}

fn shown(record: &Record) -> String {
    format!(
        "partition {} offset {}: {} -> {}",
        record.partition.unwrap_or(-1),
        record.offset.unwrap_or(-1),
        record.key_text().unwrap_or_else(|| "null".into()),
        record.value_text().unwrap_or_else(|| "null".into()),
    )
}

/// Text that is not JSON compares as text.
fn canonical(bytes: &[u8], ignore: &[String]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match Json::parse(&text) {
        Ok(value) => value.without(ignore).canonical(),
        Err(_) => text.into_owned(),
    }
}

/// `key` as JSON or `key_text` as text, canonical; a missing or null one is `None`.
fn side(line: &Json, name: &str, ignore: &[String]) -> Option<String> {
    match (line.get(name), line.get(&format!("{name}_text"))) {
        (Some(Json::Null) | None, Some(Json::Text(text))) => Some(canonical(text.as_bytes(), ignore)),
        (Some(Json::Null) | None, _) => None,
        (Some(value), _) => Some(value.without(ignore).canonical()),
    }
}

fn compacted(records: &[Record], lines: &[Json], ignore: &[String]) -> Result<Vec<String>, String> {
    let mut actual = Vec::new();
    let mut problems = Vec::new();
    for (key, record) in live(records)? {
        let value = record.value.as_deref().unwrap_or_default();
        problems.extend(missing_fields(value, ignore));
        actual.push(format!("{} -> {}", canonical(key, ignore), canonical(value, ignore)));
    }
    let expected = lines.iter().map(|line| {
        let part = |name| side(line, name, ignore).unwrap_or_else(|| "null".into());
        format!("{} -> {}", part("key"), part("value"))
    });
    problems.extend(multiset_difference(expected, actual));
    Ok(problems)
}

/// An ignored field may hold anything but nothing.
fn missing_fields(value: &[u8], ignore: &[String]) -> Vec<String> {
    let text = String::from_utf8_lossy(value);
    let Ok(value) = Json::parse(&text) else { return Vec::new() };
    let missing = ignore.iter().filter(|name| matches!(value.get(name), None | Some(Json::Null)));
    missing.map(|name| format!("no {name} in {text}")).collect()
}

fn values(records: &[Record], lines: &[Json], ignore: &[String]) -> Result<Vec<String>, String> {
    let actual = records.iter().map(|record| match record.value.as_deref() {
        Some(value) => canonical(value, ignore),
        None => "null".into(),
    });
    let expected = lines.iter().map(|line| line.without(ignore).canonical());
    Ok(multiset_difference(expected, actual.collect()))
}

fn multiset_difference(expected: impl Iterator<Item = String>, actual: Vec<String>) -> Vec<String> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for line in expected {
        *counts.entry(line).or_default() += 1;
    }
    for line in actual {
        *counts.entry(line).or_default() -= 1;
    }
    let different = counts.into_iter().filter(|(_, count)| *count != 0);
    let named = different.map(|(line, count)| match count {
        1.. => format!("missing x{count}: {line}"),
        _ => format!("extra   x{}: {line}", -count),
    });
    named.collect()
}

fn exact_log(records: &[Record], lines: &[Json]) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let longest = records.len().max(lines.len());
    for index in 0..longest {
        let actual = records.get(index).map(|record| (hex(record.key.as_deref()), hex(record.value.as_deref())));
        let expected = match lines.get(index) {
            Some(line) => Some((bytes(line, "key")?, bytes(line, "value")?)),
            None => None,
        };
        if actual != expected {
            let expected = lines.get(index).map_or("nothing".into(), Json::compact);
            let actual = records.get(index).map_or("nothing".into(), shown);
            problems.push(format!("record {index}: expected {expected}, found {actual}"));
        }
    }
    Ok(problems)
}

fn hex(bytes: Option<&[u8]>) -> Option<String> {
    bytes.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// `key_hex`, or the bytes of `key_text`.
fn bytes(line: &Json, name: &str) -> Result<Option<String>, String> {
    match (line.get(&format!("{name}_hex")), line.get(&format!("{name}_text"))) {
        (Some(Json::Text(text)), _) => Ok(Some(text.clone())),
        (Some(Json::Null), _) | (None, Some(Json::Null)) => Ok(None),
        (None, Some(Json::Text(text))) => Ok(hex(Some(text.as_bytes()))),
        _ => Err(format!("no {name}_hex or {name}_text in {}", line.compact())),
    }
}

fn allowed_values(records: &[Record], lines: &[Json]) -> Result<Vec<String>, String> {
    let mut allowed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in lines {
        let (Some(key), Some(Json::Array(values))) = (line.get("key"), line.get("values")) else {
            return Err(format!("no key and values in {}", line.compact()));
        };
        allowed.entry(key.canonical()).or_default().extend(values.iter().map(Json::canonical));
    }
    let mut problems = Vec::new();
    for record in records {
        // A deletion is always allowed.
        let Some(value) = record.value_text() else { continue };
        let value = match Json::parse(&value)? {
            Json::Object(fields) if fields.len() == 1 => fields[0].1.canonical(),
            other => other.canonical(),
        };
        let key = canonical(record.key.as_deref().unwrap_or_default(), &[]);
        if !allowed.get(&key).is_some_and(|values| values.contains(&value)) {
            problems.push(format!("not allowed: {}", shown(record)));
        }
    }
    Ok(problems)
}

fn tombstones(records: &[Record], lines: &[Json]) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for line in lines {
        let wanted = line.canonical();
        let of_key =
            records.iter().filter(|record| record.key.as_deref().is_some_and(|key| canonical(key, &[]) == wanted));
        let values: Vec<bool> = of_key.map(|record| record.value.is_some()).collect();
        if !values.contains(&true) {
            problems.push(format!("never written: {}", line.compact()));
        } else if values.last() == Some(&true) {
            problems.push(format!("not deleted: {}", line.compact()));
        }
    }
    Ok(problems)
}

#[cfg(test)]
#[path = "topic_tests.rs"]
mod tests;
