//! The queries.

use crate::fuzz::Random;

/// A window of event time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Size and offset.
    Tumble(i64, i64),
    /// Slide and size.
    Hop(i64, i64),
    /// Step and size.
    Cumulate(i64, i64),
    /// Gap.
    Session(i64),
}

/// Which rows of a join stay without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// None.
    Inner,
    /// Those of the left side.
    Left,
    /// Those of the right side.
    Right,
    /// All.
    Full,
}

impl Keep {
    fn sql(self) -> &'static str {
        match self {
            Keep::Inner => "JOIN",
            Keep::Left => "LEFT JOIN",
            Keep::Right => "RIGHT JOIN",
            Keep::Full => "FULL JOIN",
        }
    }

    /// Whether rows of the left side stay.
    pub fn left(self) -> bool {
        matches!(self, Keep::Left | Keep::Full)
    }

    /// Whether rows of the right side stay.
    pub fn right(self) -> bool {
        matches!(self, Keep::Right | Keep::Full)
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Aggregates per window.
    Window {
        /// The window.
        window: Window,
        /// In the clause GROUP BY, not as a table function.
        is_legacy: bool,
        /// Per key as well.
        by_key: bool,
        /// Over both tables.
        over_union: bool,
    },
    /// Aggregates of windows per key in larger windows.
    Cascade(i64, i64),
    /// The first rows per window and key by value.
    WindowTop(Window, usize),
    /// The joined rows of equal windows.
    WindowJoin(Window, Keep),
    /// A running aggregate per key.
    Over {
        /// RANGE, not ROWS.
        is_range: bool,
        /// Seconds or rows before; `None`: all.
        preceding: Option<i64>,
    },
    /// The first or last row per key.
    Deduplicate {
        /// The first.
        is_first: bool,
    },
    /// Rows of one key whose times are near each other: seconds before and after the other.
    IntervalJoin(Keep, i64, i64),
    /// Rows with the version of their key.
    TemporalJoin {
        /// Rows without a version stay.
        is_left: bool,
        /// The versions are the rows of a view that keeps the last one of each key.
        of_view: bool,
    },
    /// Two rows of a key and a third one behind them, within so many seconds.
    Match(i64),
    /// ORDER BY the rowtime.
    Sort,
}

impl Query {
    /// A random one.
    pub fn random(random: &mut Random, is_late: bool) -> Query {
        let keep = |random: &mut Random| *random.pick(&[Keep::Inner, Keep::Left, Keep::Right, Keep::Full]);
        let choices = if is_late { 7 } else { 16 };
        match random.below(choices) {
            0..5 => Query::Window {
                window: Window::random(random),
                is_legacy: random.once_in(3),
                by_key: random.once_in(2),
                over_union: !is_late && random.once_in(4),
            }
            .valid(),
            5 | 6 => {
                let is_range = random.once_in(2);
                let preceding = (!random.once_in(3)).then(|| 1 + random.below(8) as i64);
                // How long a bounded range remembers what it has given is its own affair.
                Query::Over { is_range, preceding: preceding.filter(|_| !(is_range && is_late)) }
            }
            7 => Query::Cascade(5, 15),
            8 => Query::WindowTop(Window::Tumble(*random.pick(&[5, 10]), 0), 1 + random.below(3)),
            9 => Query::WindowJoin(*random.pick(&[Window::Tumble(10, 0), Window::Hop(5, 10)]), keep(random)),
            10 | 11 => Query::Deduplicate { is_first: random.once_in(2) },
            12 => Query::IntervalJoin(keep(random), random.below(10) as i64, random.below(10) as i64),
            13 => Query::TemporalJoin { is_left: random.once_in(2), of_view: random.once_in(2) },
            14 => Query::Match(*random.pick(&[3, 10, 60])),
            _ => Query::Sort,
        }
    }

    /// There is no legacy CUMULATE, and no legacy offset here.
    fn valid(self) -> Query {
        match self {
            Query::Window {
                window: window @ (Window::Cumulate(..) | Window::Tumble(..)),
                by_key,
                over_union,
                is_legacy,
            } => {
                let window = match window {
                    Window::Tumble(size, _) if is_legacy => Window::Tumble(size, 0),
                    window => window,
                };
                let is_legacy = is_legacy && !matches!(window, Window::Cumulate(..));
                Query::Window { window, is_legacy, by_key, over_union }
            }
            query => query,
        }
    }

    /// The kind.
    pub fn name(&self) -> &'static str {
        match self {
            Query::Window { window, is_legacy, .. } => match (window, is_legacy) {
                (Window::Tumble(..), false) => "tumble",
                (Window::Hop(..), false) => "hop",
                (Window::Cumulate(..), _) => "cumulate",
                (Window::Session(..), false) => "session",
                (Window::Tumble(..), true) => "legacy tumble",
                (Window::Hop(..), true) => "legacy hop",
                (Window::Session(..), true) => "legacy session",
            },
            Query::Cascade(..) => "cascade",
            Query::WindowTop(..) => "window top",
            Query::WindowJoin(..) => "window join",
            Query::Over { is_range: true, .. } => "over range",
            Query::Over { is_range: false, .. } => "over rows",
            Query::Deduplicate { is_first: true } => "first row",
            Query::Deduplicate { is_first: false } => "last row",
            Query::IntervalJoin(..) => "interval join",
            Query::TemporalJoin { .. } => "temporal join",
            Query::Match(..) => "match",
            Query::Sort => "sort",
        }
    }

    /// Windows that follow the clock of a zone.
    pub fn is_plain_window(&self) -> bool {
        matches!(self, Query::Window { window: Window::Tumble(..) | Window::Hop(..) | Window::Cumulate(..), .. })
    }

    /// Rows of equal time would have no order.
    pub fn needs_unique_times(&self) -> bool {
        matches!(
            self,
            Query::Over { is_range: false, .. }
                | Query::Deduplicate { .. }
                | Query::TemporalJoin { .. }
                | Query::Match(..)
                | Query::Sort
        )
    }

    /// Whether `b` has a key and gives versions.
    pub fn has_keyed_table(&self) -> bool {
        matches!(self, Query::TemporalJoin { of_view: false, .. })
    }

    /// Whether results have an order.
    pub fn is_ordered(&self) -> bool {
        *self == Query::Sort
    }

    /// Views that it needs.
    pub fn views(&self) -> Vec<String> {
        match self {
            Query::Window { over_union: true, .. } => {
                vec!["CREATE VIEW u AS SELECT id, k, v, ts FROM a UNION ALL SELECT id, k, v, ts FROM b".into()]
            }
            Query::Cascade(small, _) => vec![format!(
                "CREATE VIEW w AS SELECT k, window_time AS rt, COUNT(*) AS c, SUM(v) AS s FROM \
                 TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '{small}' SECOND)) \
                 GROUP BY window_start, window_end, window_time, k"
            )],
            Query::TemporalJoin { of_view: true, .. } => vec![
                "CREATE VIEW latest AS SELECT id, k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n \
                 FROM b) WHERE n = 1"
                    .into(),
            ],
            _ => Vec::new(),
        }
    }

    /// The text.
    pub fn sql(&self) -> String {
        match self {
            Query::Window { window, is_legacy, by_key, over_union } => {
                let table = if *over_union { "u" } else { "a" };
                let calls =
                    "COUNT(*), SUM(v), MIN(id), MAX(v), COUNT(DISTINCT v), SUM(DISTINCT v) FILTER (WHERE id % 2 = 0)";
                let key = if *by_key { ", k" } else { "" };
                match window.legacy().filter(|_| *is_legacy) {
                    Some((name, arguments)) => format!(
                        "SELECT {name}_START(ts, {arguments}), {name}_END(ts, {arguments}){key}, {calls} FROM {table} \
                         GROUP BY {name}(ts, {arguments}){key}"
                    ),
                    None => {
                        let from = window.table_function(table, *by_key);
                        format!(
                            "SELECT window_start, window_end{key}, {calls} FROM {from} GROUP BY window_start, window_end{key}"
                        )
                    }
                }
            }
            Query::Cascade(_, large) => format!(
                "SELECT window_start, window_end, SUM(c), SUM(s), COUNT(*) FROM \
                 TABLE(TUMBLE(TABLE w, DESCRIPTOR(rt), INTERVAL '{large}' SECOND)) GROUP BY window_start, window_end"
            ),
            Query::WindowTop(window, rows) => format!(
                "SELECT window_start, k, id, n FROM (SELECT window_start, k, id, ROW_NUMBER() OVER (PARTITION BY window_start, \
                 window_end, k ORDER BY v DESC, id) AS n FROM {}) WHERE n <= {rows}",
                window.table_function("a", false)
            ),
            Query::WindowJoin(window, keep) => format!(
                "SELECT l.id, r.id FROM (SELECT * FROM {}) l {} (SELECT * FROM {}) r \
                 ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end",
                window.table_function("a", false),
                keep.sql(),
                window.table_function("b", false)
            ),
            Query::Over { is_range, preceding } => {
                let frame = match (is_range, preceding) {
                    (true, Some(seconds)) => format!("RANGE BETWEEN INTERVAL '{seconds}' SECOND PRECEDING"),
                    (true, None) => "RANGE BETWEEN UNBOUNDED PRECEDING".into(),
                    (false, Some(rows)) => format!("ROWS BETWEEN {rows} PRECEDING"),
                    (false, None) => "ROWS BETWEEN UNBOUNDED PRECEDING".into(),
                };
                format!(
                    "SELECT id, SUM(v) OVER w, COUNT(*) OVER w, MIN(v) OVER w FROM a \
                     WINDOW w AS (PARTITION BY k ORDER BY ts {frame} AND CURRENT ROW)"
                )
            }
            Query::Deduplicate { is_first } => format!(
                "SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts {}) AS n FROM a) WHERE n = 1",
                if *is_first { "ASC" } else { "DESC" }
            ),
            Query::IntervalJoin(keep, before, after) => format!(
                "SELECT a.id, b.id FROM a {} b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '{before}' SECOND \
                 AND b.ts + INTERVAL '{after}' SECOND",
                keep.sql()
            ),
            Query::TemporalJoin { is_left, of_view } => format!(
                "SELECT a.id, b.id FROM a {} {} FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k",
                if *is_left { "LEFT JOIN" } else { "JOIN" },
                if *of_view { "latest" } else { "b" }
            ),
            Query::Match(seconds) => format!(
                "SELECT f, l, s FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS f, B.id AS l, \
                 SUM(A.v) AS s ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A{{2}} B) \
                 WITHIN INTERVAL '{seconds}' SECOND DEFINE A AS A.v >= 0, B AS B.v < 4) AS m"
            ),
            Query::Sort => "SELECT id, v FROM a ORDER BY ts".into(),
        }
    }
}

impl Window {
    fn random(random: &mut Random) -> Window {
        match random.below(5) {
            0 | 1 => Window::Tumble(*random.pick(&[1, 7, 10, 60]), *random.pick(&[0, 0, 3])),
            2 => *random.pick(&[
                Window::Hop(5, 10),
                Window::Hop(2, 6),
                Window::Hop(10, 10),
                Window::Hop(1, 20),
                Window::Hop(1, 60),
                Window::Hop(2, 120),
            ]),
            3 => *random.pick(&[
                Window::Cumulate(5, 20),
                Window::Cumulate(2, 6),
                Window::Cumulate(10, 60),
                Window::Cumulate(1, 60),
            ]),
            _ => Window::Session(*random.pick(&[1, 3, 10])),
        }
    }

    fn table_function(self, table: &str, by_key: bool) -> String {
        let part = if by_key && matches!(self, Window::Session(_)) { " PARTITION BY k" } else { "" };
        let (name, lengths) = match self {
            Window::Tumble(size, 0) => ("TUMBLE", vec![size]),
            Window::Tumble(size, offset) => ("TUMBLE", vec![size, offset]),
            Window::Hop(slide, size) => ("HOP", vec![slide, size]),
            Window::Cumulate(step, size) => ("CUMULATE", vec![step, size]),
            Window::Session(gap) => ("SESSION", vec![gap]),
        };
        let lengths: String = lengths.iter().map(|length| format!(", INTERVAL '{length}' SECOND")).collect();
        format!("TABLE({name}(TABLE {table}{part}, DESCRIPTOR(ts){lengths}))")
    }

    fn legacy(self) -> Option<(&'static str, String)> {
        let second = |length: i64| format!("INTERVAL '{length}' SECOND");
        match self {
            Window::Tumble(size, _) => Some(("TUMBLE", second(size))),
            Window::Hop(slide, size) => Some(("HOP", format!("{}, {}", second(slide), second(size)))),
            Window::Session(gap) => Some(("SESSION", second(gap))),
            Window::Cumulate(..) => None,
        }
    }

    /// The windows of a time, as beginning and end; not of a session window.
    pub fn windows_of(self, time_ms: i64) -> Vec<(i64, i64)> {
        let floor = |size_ms: i64, offset_ms: i64| (time_ms - offset_ms).div_euclid(size_ms) * size_ms + offset_ms;
        match self {
            Window::Tumble(size, offset) => {
                let start = floor(1000 * size, 1000 * offset);
                vec![(start, start + 1000 * size)]
            }
            Window::Hop(slide, size) => {
                let last = floor(1000 * slide, 0);
                (0..size / slide)
                    .map(|back| last - 1000 * slide * back)
                    .map(|start| (start, start + 1000 * size))
                    .collect()
            }
            Window::Cumulate(step, size) => {
                let start = floor(1000 * size, 0);
                let ends = (1..=size / step).map(|steps| start + 1000 * step * steps);
                ends.filter(|end| *end > time_ms).map(|end| (start, end)).collect()
            }
            Window::Session(_) => Vec::new(),
        }
    }
}
