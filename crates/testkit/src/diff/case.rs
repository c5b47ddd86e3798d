//! A generated case: tables, changes, views, a query, and how it is run.

use super::data::{Draw, Mode, Step, Table, events, repair, rows_after, steps, table};
use super::evaluate::{Evaluated, Evaluator, Trouble};
use super::generate::Generator;
use super::query::{Names, Query};
use super::sql::Writer;
use super::value::Type;
use crate::fuzz::Random;
use crate::oracle::LogEvent;
use std::collections::BTreeSet;

/// Rows of a result as text, sorted.
pub type TextRows = Vec<Vec<Option<String>>>;

/// A case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Options that are set, without effect on the result.
    pub settings: Vec<&'static str>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Changes of the tables.
    pub steps: Vec<Step>,
    /// Views; each may read those before it.
    pub views: Vec<Query>,
    /// Whether views are written as WITH.
    pub with: bool,
    /// The query.
    pub query: Query,
}

/// One way to run a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Events fed at once, and rows per batch.
    pub batch: usize,
    /// Parallel instances.
    pub parallelism: usize,
    /// Wait for rest after this many feeds; 0: only where something is looked at.
    pub rest_every: usize,
    /// Checkpoint and restart after these numbers of steps.
    pub restarts: Vec<usize>,
    /// Look at the result after these numbers of steps; at the end always.
    pub looks: Vec<usize>,
}

impl Way {
    /// One event after the other.
    pub fn plain() -> Way {
        Way { batch: 1, parallelism: 1, rest_every: 1, restarts: Vec::new(), looks: Vec::new() }
    }

    /// A random way for this many steps.
    pub fn random(steps: usize, random: &mut Random) -> Way {
        let looks = places(steps, 4, random);
        let restarts = if random.once_in(2) { places(steps, 3, random) } else { Vec::new() };
        Way {
            batch: *random.pick(&[1, 1, 2, 3, 7, 20, 4096]),
            parallelism: 1 + random.below(4),
            rest_every: *random.pick(&[0, 0, 1, 3]),
            restarts,
            looks,
        }
    }
}

/// Up to `most` numbers of steps.
fn places(steps: usize, most: usize, random: &mut Random) -> Vec<usize> {
    let mut places: Vec<usize> = (0..random.below(most + 1)).map(|_| 1 + random.below(steps.max(1))).collect();
    places.retain(|place| *place <= steps);
    places.sort_unstable();
    places.dedup();
    places
}

/// Options that choose between plans of the same meaning.
const SETTINGS: &[&str] = &[
    "'table.optimizer.agg-phase-strategy' = 'ONE_PHASE'",
    "'table.optimizer.agg-phase-strategy' = 'TWO_PHASE'",
    "'table.optimizer.distinct-agg.split.enabled' = 'true'",
    "'table.optimizer.distinct-agg.split.bucket-num' = '3'",
    "'table.exec.mini-batch.enabled' = 'true'",
    "'table.exec.mini-batch.allow-latency' = '1 s'",
    "'table.exec.mini-batch.size' = '5'",
];

/// Rows that are looked at to evaluate a query, times the changes that change its result, at most.
const WORK_MAX: u64 = 400_000;

impl Case {
    /// The case of a seed, and two ways to run it.
    pub fn random(seed: u64) -> (Case, Vec<Way>) {
        let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(17));
        let random = &mut random;
        let tables: Vec<Table> = (0..2 + random.below(3)).map(|_| table(random)).collect();
        let draw = Draw::new(random);
        let most = *random.pick(&[12, 12, 25, 25, 60, 60, 150, 600]);
        let count = 3 + random.below(most);
        let steps = steps(&tables, &draw, count, random);
        let settings = SETTINGS.iter().filter(|_| random.once_in(6)).copied().collect();
        let with = random.once_in(3);
        let mut case = Case { settings, tables, steps, views: Vec::new(), with, query: Query::Table(0) };
        // Few of the queries without rows say anything.
        for _ in 0..if random.once_in(8) { 1 } else { 6 } {
            case.draw_query(&draw, random);
            if case.expected(case.steps.len(), false).is_ok_and(|rows| !rows.is_empty()) {
                break;
            }
        }
        let read = case.tables_read();
        case.steps.retain(|step| read.contains(&step.table));
        while case.is_too_long() && !case.steps.is_empty() {
            case.steps.truncate(case.steps.len() / 2);
        }
        let ways = vec![Way::random(case.steps.len(), random), Way::random(case.steps.len(), random)];
        (case, ways)
    }

    /// Other views and another query over the same tables.
    fn draw_query(&mut self, draw: &Draw, random: &mut Random) {
        self.views.clear();
        let mut names = self.names();
        for _ in 0..*random.pick(&[0, 0, 0, 1, 1, 2]) {
            let view = Generator::new(random, &names, draw).query(1);
            names.views.push(view.types(&names));
            self.views.push(view);
        }
        let depth = *random.pick(&[0, 0, 1, 1, 2, 3]);
        self.query = Generator::new(random, &names, draw).query(depth);
        self.drop_unused_views();
    }

    /// The types of tables and views.
    pub fn names(&self) -> Names {
        let mut names = Names {
            tables: self.tables.iter().map(Table::types).collect(),
            views: Vec::new(),
            grows: self.tables.iter().map(|table| table.mode == Mode::Append).collect(),
        };
        for view in &self.views {
            let types = view.types(&names);
            names.views.push(types);
        }
        names
    }

    /// The types of the result.
    pub fn types(&self) -> Vec<Type> {
        self.query.types(&self.names())
    }

    /// Views after the last one that is read are of no use; neither are their names.
    pub fn drop_unused_views(&mut self) {
        let mut used = super::visit::views_read(&self.query);
        for view in (0..self.views.len()).rev() {
            if used.contains(&view) {
                used.extend(super::visit::views_read(&self.views[view]));
            }
        }
        while let Some(last) = self.views.len().checked_sub(1).filter(|last| !used.contains(last)) {
            self.views.truncate(last);
        }
    }

    /// Whether the engine would need too long to follow the result through all changes.
    fn is_too_long(&self) -> bool {
        let names = self.names();
        let tables = rows_after(&self.tables, &self.steps);
        let evaluated = Evaluator::new(&names, &tables, &self.views, false).and_then(|evaluator| {
            evaluator.rows(&self.query)?;
            Ok(evaluator.steps_done())
        });
        match evaluated {
            Ok(once) => once * self.steps.len() as u64 > WORK_MAX,
            Err(trouble) => trouble == Trouble::TooLong,
        }
    }

    /// Whether the result depends on the order in which rows come.
    pub fn minds_arrival(&self) -> bool {
        self.views.iter().chain([&self.query]).any(super::visit::minds_arrival)
    }

    /// The tables that are read, by views too.
    fn tables_read(&self) -> BTreeSet<usize> {
        self.views.iter().chain([&self.query]).flat_map(super::visit::tables_read).collect()
    }

    /// The statements that define tables and views.
    pub fn definitions(&self) -> Vec<String> {
        let mut statements: Vec<String> = self.settings.iter().map(|setting| format!("SET {setting}")).collect();
        statements.extend(self.tables_read().into_iter().map(|index| self.tables[index].create(&format!("t{index}"))));
        if !self.with {
            statements
                .extend(self.view_texts().into_iter().map(|(name, text)| format!("CREATE VIEW {name} AS {text}")));
        }
        statements
    }

    fn view_texts(&self) -> Vec<(String, String)> {
        let names = self.names();
        self.views
            .iter()
            .enumerate()
            .map(|(index, view)| (format!("v{index}"), Writer::new(&names).query(view)))
            .collect()
    }

    /// The query as SQL.
    pub fn sql(&self) -> String {
        let query = Writer::new(&self.names()).query(&self.query);
        if !self.with || self.views.is_empty() {
            return query;
        }
        let views: Vec<String> =
            self.view_texts().into_iter().map(|(name, text)| format!("{name} AS ({text})")).collect();
        format!("WITH {} {query}", views.join(", "))
    }

    /// The events, each with the number of steps that are complete after it.
    pub fn events(&self) -> Vec<(LogEvent, Option<usize>)> {
        events(&self.tables, &self.steps)
    }

    /// The same with other steps, made valid.
    pub fn with_steps(&self, steps: &[Step]) -> Case {
        Case { steps: repair(&self.tables, steps), ..self.clone() }
    }

    /// What the query gives after this many steps.
    ///
    /// # Errors
    /// A result that cannot be computed here.
    pub fn expected(&self, steps: usize, batch: bool) -> Evaluated<TextRows> {
        let names = self.names();
        let tables = rows_after(&self.tables, &self.steps[..steps]);
        let rows = Evaluator::new(&names, &tables, &self.views, batch)?.rows(&self.query)?;
        let types = self.types();
        let mut texts: TextRows =
            rows.into_iter().map(|row| row.iter().zip(&types).map(|(value, of)| value.text(*of)).collect()).collect();
        texts.sort();
        Ok(texts)
    }
}
