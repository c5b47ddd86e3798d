//! What readers see of a sink in the end, against what must be there.

use super::job::{CrashJob, Sink};
use crate::play::live;
use crate::services::KafkaClient;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows of a kind in a message.
const SHOWN_MAX: usize = 5;

/// Compares. `place` is the topic or the folder of the results.
///
/// # Errors
/// Rows that are missing, or there too often; what cannot be read.
pub fn check(job: &CrashJob, place: &str, client: Option<&KafkaClient>) -> Result<(), String> {
    let found = match (job.sink, client) {
        (Sink::Filesystem, _) => files(Path::new(place))?,
        // The client reads committed records only.
        (Sink::Kafka, Some(client)) => {
            let records = client.read(place)?;
            records.iter().map(|record| parse(record.value.as_deref())).collect::<Result<_, _>>()?
        }
        (Sink::UpsertKafka, Some(client)) => {
            let records = client.read(place)?;
            let rows = live(&records)?.into_values().map(|record| parse(record.value.as_deref()));
            rows.collect::<Result<_, _>>()?
        }
        (_, None) => return Err("no broker".into()),
    };
    compare(&job.expected(), &found)
}

/// Two bags of rows.
pub(super) fn compare(expected: &[Value], found: &[Value]) -> Result<(), String> {
    let mut balance: BTreeMap<String, i64> = BTreeMap::new();
    expected.iter().for_each(|row| *balance.entry(row.to_string()).or_default() += 1);
    found.iter().for_each(|row| *balance.entry(row.to_string()).or_default() -= 1);
    let of = |sign: i64| {
        let rows: Vec<(&String, i64)> =
            balance.iter().filter(|(_, count)| **count * sign > 0).map(|(row, count)| (row, count * sign)).collect();
        let total: i64 = rows.iter().map(|(_, count)| count).sum();
        let shown: Vec<String> = rows.iter().take(SHOWN_MAX).map(|(row, count)| format!("  {count} x {row}")).collect();
        (total, shown.join("\n"))
    };
    let ((lost, lost_rows), (doubled, doubled_rows)) = (of(1), of(-1));
    if lost == 0 && doubled == 0 {
        return Ok(());
    }
    let (expected, found) = (expected.len(), found.len());
    Err(format!(
        "{found} rows for {expected}: {lost} lost, {doubled} too many or wrong\nlost:\n{lost_rows}\ntoo many:\n{doubled_rows}"
    ))
}

fn parse(value: Option<&[u8]>) -> Result<Value, String> {
    let value = value.ok_or("a record without a value")?;
    serde_json::from_slice(value).map_err(|cause| format!("{}: {cause}", String::from_utf8_lossy(value)))
}

/// The rows of all files that a reader sees. Hidden ones do not count: a run that was killed before its first checkpoint
/// leaves some that nobody can know to be of no use.
fn files(folder: &Path) -> Result<Vec<Value>, String> {
    let problem = |cause: std::io::Error| format!("{}: {cause}", folder.display());
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        let text = std::fs::read(&path).map_err(problem)?;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            rows.push(parse(Some(line))?);
        }
    }
    Ok(rows)
}
