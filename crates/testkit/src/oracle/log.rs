//! `input.log`: the events of a case in their global order.

use base::{ChangelogMode, RowKind};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEvent {
    /// Name of the table in the log.
    pub table: String,
    /// The row kind; `None` if the format of the payload decides (`*`).
    pub kind: Option<RowKind>,
    /// The record.
    pub payload: String,
    /// Position among the events of the same table, from 0.
    pub offset: i64,
}

/// Reads a log. `!sleep` lines have no meaning here: events wait for the job to come to rest anyway.
///
/// # Errors
/// A line that is no event.
pub fn parse(text: &str) -> Result<Vec<LogEvent>, String> {
    let mut events: Vec<LogEvent> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') || line.starts_with("!sleep") {
            continue;
        }
        let mut parts = line.splitn(2, char::is_whitespace);
        let table = parts.next().unwrap_or_default().to_string();
        let rest = parts.next().unwrap_or_default().trim_start();
        let (op, payload) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let kind = match op {
            "*" => None,
            short => {
                Some(RowKind::parse(short).ok_or_else(|| format!("input.log line {}: no row kind {op}", number + 1))?)
            }
        };
        let offset = events.iter().filter(|event| event.table == table).count() as i64;
        events.push(LogEvent { table, kind, payload: payload.trim_start().to_string(), offset });
    }
    Ok(events)
}

/// The changelog mode that a table's events show: `-U` means all kinds, `+U` without `-U` upsert, `-D` alone inserts and
/// deletes; `None` without any of them.
pub fn inferred_mode(events: &[LogEvent], table: &str) -> Option<ChangelogMode> {
    let has = |kind| events.iter().any(|event| event.table == table && event.kind == Some(kind));
    let (before, after, delete) = (has(RowKind::UpdateBefore), has(RowKind::UpdateAfter), has(RowKind::Delete));
    if before {
        Some(ChangelogMode::ALL)
    } else if after {
        Some(ChangelogMode::UPSERT)
    } else if delete {
        Some(ChangelogMode::of(&[RowKind::Insert, RowKind::Delete]))
    } else {
        None
    }
}

/// Reads the option `changelog-mode`: `all`, `upsert`, or kinds such as `I,UA,D`.
pub fn declared_mode(text: &str) -> Option<ChangelogMode> {
    match text {
        "all" => Some(ChangelogMode::ALL),
        "upsert" => Some(ChangelogMode::UPSERT),
        kinds => kinds
            .split(',')
            .map(|kind| match kind.trim() {
                "I" => Some(RowKind::Insert),
                "UB" => Some(RowKind::UpdateBefore),
                "UA" => Some(RowKind::UpdateAfter),
                "D" => Some(RowKind::Delete),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()
            .map(|kinds| ChangelogMode::of(&kinds)),
    }
}
