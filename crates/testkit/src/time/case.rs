//! Rows, how they arrive, and how a case is run.

use super::evaluate;
use super::late;
use super::query::Query;
use crate::diff::compare::TextRows;
use crate::fuzz::Random;
use std::fmt::Write;

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Unique in its table.
    pub id: i64,
    /// The key.
    pub key: Option<i64>,
    /// A value.
    pub value: Option<i64>,
    /// Event time.
    pub time_ms: i64,
    /// Further than the bound allows behind the rows of its split.
    pub is_beyond: bool,
}

/// How the rowtime column is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A column of the table.
    Plain,
    /// Computed from a number, an instant in the session's zone.
    Instant,
    /// Computed from a text.
    Computed,
}

/// Which results windows give besides those at their end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Emit {
    /// Early ones, so long after the first row.
    pub early_s: Option<i64>,
    /// Corrections by rows that come so much too late.
    pub lateness_s: Option<i64>,
}

/// A set of rows and a query.
#[derive(Debug, Clone)]
pub struct Case {
    /// The rows of tables `a` and `b`.
    pub tables: [Vec<Row>; 2],
    /// How far the watermark stays behind.
    pub bound_s: i64,
    /// The rowtime column.
    pub form: Form,
    /// The session's zone.
    pub zone: chrono_tz::Tz,
    /// Whether rows come beyond the bound.
    pub is_late: bool,
    /// When windows give results.
    pub emit: Emit,
    /// What is asked.
    pub query: Query,
}

/// How a case is run.
#[derive(Debug, Clone)]
pub struct Way {
    /// Decides the order of arrival and the splits of rows.
    pub seed: u64,
    /// Splits per table.
    pub parts: usize,
    /// The most rows per batch.
    pub batch: usize,
    /// Instances of every operator.
    pub parallelism: usize,
    /// Rows that arrive at once.
    pub chunk: usize,
    /// The job comes to rest after so many arrivals; 0: never.
    pub rest_every: usize,
    /// A checkpoint and a restart after so many arrivals; 0: never.
    pub restart_every: usize,
    /// A split ends with its last row, not with the job.
    pub ends_early: bool,
}

/// A row that arrives.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Its table.
    pub table: usize,
    /// Its split.
    pub part: usize,
    /// The row.
    pub row: Row,
}

/// What a case should give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The final table, sorted.
    pub rows: TextRows,
    /// Rows that are dropped and counted.
    pub late: u64,
}

/// Days around which rows lie: some years, before 1970, and both changes of the clock in New York.
const BEGINNINGS: [i64; 4] = [1_704_067_200_000, -120_000, 1_710_053_820_000, 1_730_613_420_000];

impl Case {
    /// The case of a number, and the ways to run it.
    pub fn random(seed: u64) -> (Case, Vec<Way>) {
        let mut random = Random::new(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
        let random = &mut random;
        let is_late = random.once_in(3);
        let query = Query::random(random, is_late);
        let is_window = query.is_plain_window();
        let form = match random.below(4) {
            0 if is_window && !is_late => Form::Instant,
            1 => Form::Computed,
            _ => Form::Plain,
        };
        let zone = match form {
            Form::Instant => *random.pick(&[chrono_tz::UTC, chrono_tz::Asia::Kolkata, chrono_tz::America::New_York]),
            _ => chrono_tz::UTC,
        };
        let begin_ms = *random.pick(&BEGINNINGS);
        let span_s = *random.pick(&[20, 60, 300]);
        let keys = *random.pick(&[1, 2, 4]);
        let mut tables = [Vec::new(), Vec::new()];
        for (table, rows) in tables.iter_mut().enumerate() {
            let count = 1 + random.below(60);
            for id in 0..count as i64 {
                let mut time_ms = begin_ms + 1000 * random.below(span_s) as i64;
                if query.needs_unique_times() || random.once_in(4) {
                    // No two rows of a table within one thousandth of a second.
                    time_ms += id + 1;
                }
                let nullable_key = !(table == 1 && query.has_keyed_table());
                rows.push(Row {
                    id: id + 1000 * table as i64,
                    key: (!nullable_key || !random.once_in(12)).then(|| random.below(keys) as i64),
                    value: (!random.once_in(8)).then(|| random.below(9) as i64 - 3),
                    time_ms,
                    is_beyond: is_late && random.once_in(6),
                });
            }
        }
        let emit = match is_window && random.once_in(4) {
            true => Emit {
                early_s: (!random.once_in(3)).then(|| *random.pick(&[0, 0, 1])),
                lateness_s: (!random.once_in(3)).then(|| *random.pick(&[5, 60])),
            },
            false => Emit::default(),
        };
        let case = Case { tables, bound_s: *random.pick(&[1, 5, 20]), form, zone, is_late, emit, query };
        let ways = (0..3).map(|_| Way::random(random, is_late)).collect();
        (case, ways)
    }

    /// Rows of all tables.
    pub fn rows_len(&self) -> usize {
        self.tables.iter().map(Vec::len).sum()
    }

    /// The case without `count` rows from `start` on, counted over both tables.
    pub fn without(&self, start: usize, count: usize) -> Case {
        let mut case = self.clone();
        let first = case.tables[0].len();
        let mut index = 0;
        let mut stays = |_: &Row| {
            index += 1;
            !(start + 1..=start + count).contains(&index)
        };
        case.tables[0].retain(&mut stays);
        debug_assert!(first <= self.rows_len());
        case.tables[1].retain(&mut stays);
        case
    }

    /// The rows in the order in which they arrive. A row within the bound comes after rows of its split that are less
    /// than the bound later, by two thousandths of a second: whether a session window that ends with the watermark
    /// takes the row behind it depends on the arrival, in Flink too.
    pub fn arrivals(&self, way: &Way) -> Vec<Arrival> {
        let mut all = Vec::new();
        for (table, rows) in self.tables.iter().enumerate() {
            for row in rows {
                let mut random =
                    Random::new(way.seed ^ ((row.id as u64) << 8 | table as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let part = random.below(way.parts);
                let bound_ms = 1000 * self.bound_s;
                let delay_ms = match row.is_beyond {
                    true => random.below(4 * bound_ms as usize + 60_000) as i64,
                    false => random.below(bound_ms as usize - 2) as i64,
                };
                // Splits are not equally fast.
                let lag_ms = Random::new(way.seed ^ (part as u64 + 7 * table as u64 + 1)).below(60_000) as i64;
                all.push((row.time_ms + delay_ms + lag_ms, table, Arrival { table, part, row: row.clone() }));
            }
        }
        all.sort_by_key(|(time_ms, table, arrival)| (*time_ms, *table, arrival.row.id));
        all.into_iter().map(|(_, _, arrival)| arrival).collect()
    }

    /// What it should give when it is run like this.
    pub fn expected(&self, way: &Way) -> Expected {
        if self.is_late {
            return late::evaluate(self, way);
        }
        let mut rows = evaluate::evaluate(self);
        rows.sort();
        Expected { rows, late: 0 }
    }

    /// The rows of an ordered result.
    pub fn ordered(&self) -> TextRows {
        evaluate::evaluate(self)
    }

    /// Statements that define the tables and views.
    pub fn definitions(&self) -> Vec<String> {
        let mut all = vec![format!("SET 'table.local-time-zone' = '{}'", self.zone)];
        let mut fires = |name: &str, delay_s: i64| {
            all.push(format!("SET 'table.exec.emit.{name}-fire.enabled' = 'true'"));
            all.push(format!("SET 'table.exec.emit.{name}-fire.delay' = '{delay_s} s'"));
        };
        if let Some(delay_s) = self.emit.early_s {
            fires("early", delay_s);
        }
        if let Some(lateness_s) = self.emit.lateness_s {
            fires("late", 0);
            all.push(format!("SET 'table.exec.emit.allow-lateness' = '{lateness_s} s'"));
        }
        for (number, name) in ["a", "b"].into_iter().enumerate() {
            let time = match self.form {
                Form::Plain => "ts TIMESTAMP(3)",
                Form::Instant => "e BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3)",
                Form::Computed => "t STRING, ts AS CAST(t AS TIMESTAMP(3))",
            };
            let (key, more) = match number == 1 && self.query.has_keyed_table() {
                true => (", PRIMARY KEY (k) NOT ENFORCED", ", 'upsert' = 'true'"),
                false => ("", ""),
            };
            all.push(format!(
                "CREATE TABLE {name} (id INT, k INT{}, v INT, {time}, WATERMARK FOR ts AS ts - INTERVAL '{}' SECOND{key}) \
                 WITH ('connector' = 'parts'{more})",
                if key.is_empty() { "" } else { " NOT NULL" },
                self.bound_s
            ));
        }
        all.extend(self.query.views());
        all
    }

    /// The query.
    pub fn sql(&self) -> String {
        self.query.sql()
    }

    /// Everything that is needed to see it again.
    pub fn text(&self, way: &Way) -> String {
        let mut text = String::new();
        for statement in self.definitions().into_iter().chain([self.sql()]) {
            let _ = writeln!(text, "{statement};");
        }
        for arrival in self.arrivals(way) {
            let Row { id, key, value, time_ms, .. } = &arrival.row;
            let null = |value: &Option<i64>| value.map_or("null".into(), |value| value.to_string());
            let _ = writeln!(
                text,
                "{} split {} id {id} k {} v {} ts {}",
                ["a", "b"][arrival.table],
                arrival.part,
                null(key),
                null(value),
                evaluate::time_text(*time_ms)
            );
        }
        text
    }
}

impl Way {
    fn random(random: &mut Random, is_late: bool) -> Way {
        Way {
            seed: random.next(),
            parts: 1 + random.below(4),
            batch: *random.pick(&[1, 2, 7, 64, 4096]),
            parallelism: 1 + random.below(4),
            chunk: *random.pick(&[1, 3, 10, 1000]),
            // Between splits, which rows are late depends on who is read first, unless the job is at rest.
            rest_every: if is_late { 1 } else { *random.pick(&[0, 0, 1, 5]) },
            restart_every: *random.pick(&[0, 0, 0, 1, 4]),
            ends_early: !is_late && random.once_in(3),
        }
    }
}
