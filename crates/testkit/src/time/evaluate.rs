//! What a query means, computed in the plain way over all rows.

use super::case::{Case, Form, Row};
use super::query::{Keep, Query, Window};
use crate::diff::compare::TextRows;
use std::collections::BTreeMap;

type Cells = Vec<Option<String>>;
/// Rows by window and, if wanted, key.
pub type Groups<'r> = BTreeMap<(i64, i64, Option<i64>), Vec<&'r Row>>;

/// The rows of a case's result; sorted only if the query sorts them.
pub fn evaluate(case: &Case) -> TextRows {
    let [a, b] = &case.tables;
    match &case.query {
        Query::Window { window, by_key, over_union, .. } => {
            let rows: Vec<&Row> = a.iter().chain(b.iter().filter(|_| *over_union)).collect();
            let key = |row: &Row| row.key.filter(|_| *by_key);
            let groups = match window {
                Window::Session(gap) => sessions(&rows, 1000 * gap, key),
                _ => group(rows.into_iter(), *window, key, &|row| local_ms(case, row.time_ms)),
            };
            aggregate(&groups, *by_key)
        }
        Query::Cascade(small, large) => cascade(a, *small, *large),
        Query::WindowTop(window, top) => window_top(a, *window, *top),
        Query::WindowJoin(window, keep) => window_join(a, b, *window, *keep),
        Query::Over { is_range, preceding } => over(&a.iter().collect::<Vec<_>>(), *is_range, *preceding),
        Query::Deduplicate { is_first } => deduplicate(a, *is_first),
        Query::IntervalJoin(keep, before, after) => interval_join(a, b, *keep, 1000 * before, 1000 * after),
        Query::TemporalJoin { is_left, .. } => temporal_join(a, b, *is_left),
        Query::Match(seconds) => matches(a, 1000 * seconds),
        Query::Sort => {
            let mut rows: Vec<&Row> = a.iter().collect();
            rows.sort_by_key(|row| row.time_ms);
            rows.into_iter().map(|row| vec![number(Some(row.id)), number(row.value)]).collect()
        }
    }
}

fn number(value: Option<i64>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// The reading of a clock in the session's zone.
fn local_ms(case: &Case, time_ms: i64) -> i64 {
    /// New York had summer time between these instants in 2024; no row of another year lies in summer.
    const SUMMER_MS: std::ops::Range<i64> = 1_710_054_000_000..1_730_613_600_000;
    let hours_30 = match case.zone {
        chrono_tz::Asia::Kolkata => 11,
        chrono_tz::America::New_York if SUMMER_MS.contains(&time_ms) => -8,
        chrono_tz::America::New_York => -10,
        _ => 0,
    };
    if case.form == Form::Instant { time_ms + hours_30 * 1_800_000 } else { time_ms }
}

/// `2024-01-01 00:00:00.000`.
pub fn time_text(time_ms: i64) -> String {
    let mut text = String::new();
    let unit = arrow::datatypes::TimeUnit::Millisecond;
    base::text::push_timestamp(&mut text, time_ms, unit, ' ', base::text::Fraction::Fixed(3));
    text
}

fn group<'r>(
    rows: impl Iterator<Item = &'r Row>,
    window: Window,
    key: impl Fn(&Row) -> Option<i64>,
    time_ms: &dyn Fn(&Row) -> i64,
) -> Groups<'r> {
    let mut groups = Groups::new();
    for row in rows {
        for (start, end) in window.windows_of(time_ms(row)) {
            groups.entry((start, end, key(row))).or_default().push(row);
        }
    }
    groups
}

fn sessions<'r>(rows: &[&'r Row], gap_ms: i64, key: impl Fn(&Row) -> Option<i64>) -> Groups<'r> {
    let mut by_key: BTreeMap<Option<i64>, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| by_key.entry(key(row)).or_default().push(row));
    let mut groups = Groups::new();
    for (key, mut rows) in by_key {
        rows.sort_by_key(|row| row.time_ms);
        let mut open: Vec<&Row> = Vec::new();
        let mut close = |open: &mut Vec<&'r Row>| {
            if let (Some(first), Some(last)) = (open.first(), open.last()) {
                groups.insert((first.time_ms, last.time_ms + gap_ms, key), std::mem::take(open));
            }
        };
        for row in rows {
            if open.last().is_some_and(|last| row.time_ms > last.time_ms + gap_ms) {
                close(&mut open);
            }
            open.push(row);
        }
        close(&mut open);
    }
    groups
}

/// Bounds, key and aggregates of groups.
pub fn aggregate(groups: &Groups<'_>, by_key: bool) -> TextRows {
    let line = |((start, end, key), rows): (&(i64, i64, Option<i64>), &Vec<&Row>)| {
        let values = || rows.iter().filter_map(|row| row.value);
        let mut distinct: Vec<i64> = values().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut filtered: Vec<i64> = rows.iter().filter(|row| row.id % 2 == 0).filter_map(|row| row.value).collect();
        filtered.sort_unstable();
        filtered.dedup();
        let mut cells = vec![Some(time_text(*start)), Some(time_text(*end))];
        cells.extend(by_key.then(|| number(*key)));
        cells.extend([
            number(Some(rows.len() as i64)),
            number(values().reduce(|sum, value| sum + value)),
            number(rows.iter().map(|row| row.id).min()),
            number(values().max()),
            number(Some(distinct.len() as i64)),
            number(filtered.into_iter().reduce(|sum, value| sum + value)),
        ]);
        cells
    };
    groups.iter().map(line).collect()
}

fn cascade(rows: &[Row], small: i64, large: i64) -> TextRows {
    let inner = group(rows.iter(), Window::Tumble(small, 0), |row| row.key, &|row| row.time_ms);
    let mut outer: BTreeMap<(i64, i64), (i64, Option<i64>, i64)> = BTreeMap::new();
    for ((_, end, _), rows) in &inner {
        for bounds in Window::Tumble(large, 0).windows_of(end - 1) {
            let sums = outer.entry(bounds).or_default();
            sums.0 += rows.len() as i64;
            let sum = rows.iter().filter_map(|row| row.value).reduce(|sum, value| sum + value);
            sums.1 = match (sums.1, sum) {
                (Some(sum), Some(more)) => Some(sum + more),
                (sum, more) => sum.or(more),
            };
            sums.2 += 1;
        }
    }
    let line = |((start, end), (count, sum, groups)): ((i64, i64), (i64, Option<i64>, i64))| {
        vec![Some(time_text(start)), Some(time_text(end)), number(Some(count)), number(sum), number(Some(groups))]
    };
    outer.into_iter().map(line).collect()
}

fn window_top(rows: &[Row], window: Window, top: usize) -> TextRows {
    let groups = group(rows.iter(), window, |row| row.key, &|row| row.time_ms);
    let mut lines = Vec::new();
    for ((start, _, key), mut rows) in groups {
        // NULL is the smallest value.
        rows.sort_by_key(|row| (std::cmp::Reverse(row.value), row.id));
        for (place, row) in rows.into_iter().take(top).enumerate() {
            let cells = vec![Some(time_text(start)), number(key), number(Some(row.id)), number(Some(place as i64 + 1))];
            lines.push(cells);
        }
    }
    lines
}

fn window_join(a: &[Row], b: &[Row], window: Window, keep: Keep) -> TextRows {
    let times = |rows: &[Row]| -> Vec<(Row, (i64, i64))> {
        rows.iter().flat_map(|row| window.windows_of(row.time_ms).into_iter().map(|one| (row.clone(), one))).collect()
    };
    let (left, right) = (times(a), times(b));
    join(
        &left,
        &right,
        keep,
        |(a, window), (b, other)| window == other && a.key.is_some() && a.key == b.key,
        |one| one.0.id,
    )
}

fn interval_join(a: &[Row], b: &[Row], keep: Keep, before_ms: i64, after_ms: i64) -> TextRows {
    let near = |a: &Row, b: &Row| (b.time_ms - before_ms..=b.time_ms + after_ms).contains(&a.time_ms);
    join(a, b, keep, |a, b| a.key.is_some() && a.key == b.key && near(a, b), |row| row.id)
}

fn join<T>(a: &[T], b: &[T], keep: Keep, fits: impl Fn(&T, &T) -> bool, id: impl Fn(&T) -> i64) -> TextRows {
    let mut lines: Vec<Cells> = Vec::new();
    for left in a {
        let before = lines.len();
        lines.extend(
            b.iter()
                .filter(|right| fits(left, right))
                .map(|right| vec![number(Some(id(left))), number(Some(id(right)))]),
        );
        if lines.len() == before && keep.left() {
            lines.push(vec![number(Some(id(left))), None]);
        }
    }
    if keep.right() {
        let alone = b.iter().filter(|right| !a.iter().any(|left| fits(left, right)));
        lines.extend(alone.map(|right| vec![None, number(Some(id(right)))]));
    }
    lines
}

fn temporal_join(a: &[Row], b: &[Row], is_left: bool) -> TextRows {
    let version = |row: &Row| {
        let versions = b.iter().filter(|one| row.key.is_some() && one.key == row.key && one.time_ms <= row.time_ms);
        versions.max_by_key(|one| one.time_ms).map(|one| one.id)
    };
    let pairs = a.iter().map(|row| (row.id, version(row)));
    let kept = pairs.filter(|(_, version)| is_left || version.is_some());
    kept.map(|(id, version)| vec![number(Some(id)), number(version)]).collect()
}

/// `A{2} B` with `A.v >= 0` and `B.v < 4`, one match after the other.
fn matches(rows: &[Row], within_ms: i64) -> TextRows {
    let mut by_key: BTreeMap<Option<i64>, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| by_key.entry(row.key).or_default().push(row));
    let mut lines = Vec::new();
    for rows in by_key.values_mut() {
        rows.sort_by_key(|row| row.time_ms);
        let mut next = 0;
        while let Some([first, second, third]) = rows.get(next..next + 3) {
            let (one, other, last) = (first.value, second.value, third.value);
            let is_near = third.time_ms - first.time_ms < within_ms;
            next += 1;
            if let (Some(one), Some(other), Some(last)) = (one, other, last)
                && one >= 0
                && other >= 0
                && last < 4
                && is_near
            {
                lines.push(vec![number(Some(first.id)), number(Some(third.id)), number(Some(one + other))]);
                next += 2;
            }
        }
    }
    lines
}

fn deduplicate(rows: &[Row], is_first: bool) -> TextRows {
    let mut best: BTreeMap<Option<i64>, &Row> = BTreeMap::new();
    for row in rows {
        let best = best.entry(row.key).or_insert(row);
        if if is_first { row.time_ms < best.time_ms } else { row.time_ms > best.time_ms } {
            *best = row;
        }
    }
    best.into_values().map(|row| vec![number(Some(row.id)), number(row.key), number(row.value)]).collect()
}

/// A running aggregate over all rows.
pub fn over(rows: &[&Row], is_range: bool, preceding: Option<i64>) -> TextRows {
    let mut lines = Vec::new();
    for row in rows {
        let mut before: Vec<&&Row> =
            rows.iter().filter(|one| one.key == row.key && one.time_ms <= row.time_ms).collect();
        before.sort_by_key(|one| one.time_ms);
        match preceding {
            Some(seconds) if is_range => before.retain(|one| one.time_ms >= row.time_ms - 1000 * seconds),
            Some(count) => {
                let more = before.len().saturating_sub(count as usize + 1);
                before.drain(..more);
            }
            None => {}
        }
        let values = || before.iter().filter_map(|one| one.value);
        lines.push(vec![
            number(Some(row.id)),
            number(values().reduce(|sum, value| sum + value)),
            number(Some(before.len() as i64)),
            number(values().min()),
        ]);
    }
    lines
}
