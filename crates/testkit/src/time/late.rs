//! Which rows are late, row by row as they arrive, and what the others give.

use super::case::{Case, Expected, Row, Way};
use super::evaluate::{Groups, aggregate, over};
use super::query::{Query, Window};
use std::collections::BTreeMap;

/// Follows the watermark of table `a`.
struct Watermark {
    bound_ms: i64,
    /// The latest row per split.
    latest: Vec<Option<i64>>,
    watermark_ms: i64,
}

impl Watermark {
    /// After a row; whether it has advanced.
    fn follow(&mut self, part: usize, time_ms: i64) -> bool {
        self.latest[part] = self.latest[part].max(Some(time_ms));
        let lowest = self.latest.iter().min().copied().flatten();
        let watermark_ms = lowest.map_or(i64::MIN, |time_ms| time_ms - self.bound_ms);
        let advances = watermark_ms > self.watermark_ms;
        self.watermark_ms = self.watermark_ms.max(watermark_ms);
        advances
    }
}

/// The result and the late rows of a case in one way.
pub fn evaluate(case: &Case, way: &Way) -> Expected {
    let arrivals = case.arrivals(way);
    let rows: Vec<(usize, &Row)> =
        arrivals.iter().filter(|one| one.table == 0).map(|one| (one.part, &one.row)).collect();
    let watermark = Watermark { bound_ms: 1000 * case.bound_s, latest: vec![None; way.parts], watermark_ms: i64::MIN };
    let (mut rows, late) = match &case.query {
        Query::Window { window: Window::Session(gap), by_key, .. } => {
            let (groups, late) = sessions(&rows, watermark, 1000 * gap, *by_key);
            (aggregate(&groups, *by_key), late)
        }
        Query::Window { window, by_key, .. } => {
            let lateness_ms = 1000 * case.emit.lateness_s.unwrap_or(0);
            let (groups, late) = windows(&rows, watermark, *window, *by_key, lateness_ms);
            (aggregate(&groups, *by_key), late)
        }
        Query::Over { is_range, preceding } => {
            let (kept, late) = frames(&rows, watermark, preceding.is_some());
            (over(&kept, *is_range, *preceding), late)
        }
        _ => (Vec::new(), 0),
    };
    rows.sort();
    Expected { rows, late }
}

/// A row counts in its windows that still take rows, and is counted as late if none of them does.
fn windows<'r>(
    rows: &[(usize, &'r Row)],
    mut watermark: Watermark,
    window: Window,
    by_key: bool,
    lateness_ms: i64,
) -> (Groups<'r>, u64) {
    let mut groups = Groups::new();
    let mut late = 0;
    for &(part, row) in rows {
        let is_open = |(_, end): &(i64, i64)| end - 1 + lateness_ms > watermark.watermark_ms;
        let open: Vec<(i64, i64)> = window.windows_of(row.time_ms).into_iter().filter(is_open).collect();
        late += u64::from(open.is_empty());
        for (start, end) in open {
            groups.entry((start, end, row.key.filter(|_| by_key))).or_default().push(row);
        }
        watermark.follow(part, row.time_ms);
    }
    (groups, late)
}

/// A row joins the sessions that it touches and that have not fired, and is late if its own would have fired already.
fn sessions<'r>(rows: &[(usize, &'r Row)], mut watermark: Watermark, gap_ms: i64, by_key: bool) -> (Groups<'r>, u64) {
    type Session<'r> = (i64, i64, Vec<&'r Row>);
    let mut open: BTreeMap<Option<i64>, Vec<Session<'r>>> = BTreeMap::new();
    let mut groups = Groups::new();
    let mut late = 0;
    for &(part, row) in rows {
        let key = row.key.filter(|_| by_key);
        let sessions = open.entry(key).or_default();
        let mut merged = (row.time_ms, row.time_ms + gap_ms, vec![row]);
        let (touched, mut others): (Vec<_>, Vec<_>) =
            std::mem::take(sessions).into_iter().partition(|one| one.0 <= merged.1 && one.1 >= merged.0);
        for (start, end, rows) in touched {
            merged.0 = merged.0.min(start);
            merged.1 = merged.1.max(end);
            merged.2.extend(rows);
        }
        if merged.1 - 1 <= watermark.watermark_ms {
            late += 1;
        } else {
            others.push(merged);
        }
        *sessions = others;
        if watermark.follow(part, row.time_ms) {
            for (key, sessions) in &mut open {
                let (fired, kept): (Vec<_>, Vec<_>) =
                    std::mem::take(sessions).into_iter().partition(|one| one.1 - 1 <= watermark.watermark_ms);
                *sessions = kept;
                groups.extend(fired.into_iter().map(|(start, end, rows)| ((start, end, *key), rows)));
            }
        }
    }
    for (key, sessions) in open {
        groups.extend(sessions.into_iter().map(|(start, end, rows)| ((start, end, key), rows)));
    }
    (groups, late)
}

/// The rows that are not late: behind the watermark a bounded frame takes a row that is later than what its key has
/// given so far.
fn frames<'r>(rows: &[(usize, &'r Row)], mut watermark: Watermark, is_bounded: bool) -> (Vec<&'r Row>, u64) {
    let mut kept: Vec<&Row> = Vec::new();
    let mut given: BTreeMap<Option<i64>, i64> = BTreeMap::new();
    let mut late = 0;
    for &(part, row) in rows {
        let last = given.get(&row.key).copied().unwrap_or(i64::MIN);
        let limit = if is_bounded { last } else { watermark.watermark_ms };
        if row.time_ms <= limit {
            late += 1;
        } else {
            kept.push(row);
        }
        if watermark.follow(part, row.time_ms) {
            for row in kept.iter().filter(|row| row.time_ms <= watermark.watermark_ms) {
                let given = given.entry(row.key).or_insert(i64::MIN);
                *given = row.time_ms.max(*given);
            }
        }
    }
    (kept, late)
}
