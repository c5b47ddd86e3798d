//! Matching: what a row does to the partial matches of its partition, and which matches are given.

use super::super::codes;
use super::automaton::{Automaton, END, StateId, Variable};
use super::partial::{Partial, Partition, Queue};
use super::paths::{NO_PATH, Paths};
use super::values::{Candidate, Rows, Values};
use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::SchemaRef;
use base::plan::{AfterMatch, MatchRecognize, PatternCondition};
use base::{Error, Expression, Result};
use state::EncodedRows;
use std::sync::Arc;

/// The most candidates that a condition is evaluated for at once.
const CANDIDATES_MAX: usize = 8192;

/// A row that is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// Its partition.
    pub slot: u32,
    /// Its place among the rows of the batch.
    pub row: u32,
    /// Its time.
    pub time_ms: i64,
    /// Its number: rows of a partition are numbered in the order in which they are looked at.
    pub number: u64,
}

/// A match to be given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Match {
    /// The partition.
    pub slot: u32,
    /// Its rows, which belong to it.
    pub path: u32,
    /// The time at which it is given.
    pub time_ms: i64,
}

/// The rows that are being looked at.
pub(super) struct Batch<'a> {
    /// Columns of the input.
    pub columns: &'a [ArrayRef],
    /// The columns that are kept of rows that are taken.
    pub encoded: &'a EncodedRows,
    /// By variable: which rows satisfy it, where that depends on the row alone.
    pub satisfied: Vec<Option<BooleanArray>>,
}

/// A condition of DEFINE.
#[derive(Debug)]
struct Condition {
    values: Values,
    expression: Arc<dyn Expression>,
}

/// The pattern, and the ways through it.
#[derive(Debug)]
pub(super) struct Matcher {
    automaton: Automaton,
    conditions: Vec<Option<Condition>>,
    within_ms: Option<i64>,
    skip: AfterMatch,
    names: Vec<String>,
    schema: SchemaRef,
    pub paths: Paths,
    edges: Vec<(Variable, StateId)>,
}

/// Which variables a row satisfies for a partial match.
type Answers<'a> = &'a [bool];

impl Matcher {
    /// The matcher of a pattern over rows with this schema.
    pub fn new(node: &MatchRecognize, schema: &SchemaRef) -> Result<Matcher> {
        let condition = |condition: &Option<PatternCondition>| match condition {
            None => Ok(None),
            Some(PatternCondition { reads, expression }) => {
                Ok(Some(Condition { values: Values::new(reads)?, expression: expression.clone() }))
            }
        };
        Ok(Matcher {
            automaton: Automaton::new(&node.variables),
            conditions: node.variables.iter().map(|variable| condition(&variable.condition)).collect::<Result<_>>()?,
            within_ms: node.within_ms,
            skip: node.skip,
            names: node.variables.iter().map(|variable| variable.name.clone()).collect(),
            schema: schema.clone(),
            paths: Paths::new(schema.fields().iter().cloned().collect())?,
            edges: Vec::new(),
        })
    }

    /// How long after its first row a partial match is given up.
    pub fn within_ms(&self) -> Option<i64> {
        self.within_ms
    }

    /// By variable: which of these rows satisfy it, where that depends on the row alone.
    ///
    /// A condition that fails is left to the rows that it is really asked for.
    pub fn satisfied(&self, columns: &[ArrayRef], rows: usize) -> Vec<Option<BooleanArray>> {
        let satisfied = |(variable, condition): (usize, &Option<Condition>)| {
            let condition = condition.as_ref()?;
            let own = condition.values.own_columns(variable as Variable)?;
            let own = own.iter().map(|&column| columns[column].clone()).collect();
            let batch = condition.values.batch(own, rows).ok()?;
            condition.expression.evaluate(&batch).ok()?.as_boolean_opt().cloned()
        };
        self.conditions.iter().enumerate().map(satisfied).collect()
    }

    /// Lets rows of different partitions be taken. Matches are added to `out`.
    ///
    /// # Errors
    /// Conditions that fail, and a row to skip to that does not exist.
    pub fn take(
        &mut self,
        arrivals: &[Arrival],
        batch: &Batch<'_>,
        partitions: &mut [Partition],
        out: &mut Vec<Match>,
    ) -> Result<()> {
        for arrival in arrivals {
            let partition = &mut partitions[arrival.slot as usize];
            if partition.partial.is_empty() {
                partition.partial.push(Partial::not_started(self.automaton.start()));
            }
            self.advance(arrival.slot, arrival.time_ms, partition, out)?;
        }
        let answers = self.answers(arrivals, batch, partitions)?;
        let mut rest = answers.as_slice();
        let variables = self.conditions.len();
        for arrival in arrivals {
            let partition = &mut partitions[arrival.slot as usize];
            let (own, others) = rest.split_at(partition.partial.len() * variables);
            rest = others;
            self.take_one(arrival, batch, own, partition, out)?;
        }
        Ok(())
    }

    /// Gives up the partial matches of a partition that are too long at `time_ms`. Matches that waited for them are added to
    /// `out`.
    ///
    /// # Errors
    /// A row to skip to that does not exist.
    pub fn advance(&mut self, slot: u32, time_ms: i64, partition: &mut Partition, out: &mut Vec<Match>) -> Result<()> {
        let Some(within_ms) = self.within_ms else { return Ok(()) };
        // One end after the other, so that it does not matter how far the time has gone at once.
        loop {
            let started = partition.partial.as_slice().iter().filter(|partial| partial.is_started());
            let ends = started.map(|partial| partial.start_ms.saturating_add(within_ms));
            let Some(end_ms) = ends.min().filter(|end_ms| *end_ms <= time_ms) else { return Ok(()) };
            let is_over =
                |partial: &&Partial| partial.is_started() && partial.start_ms.saturating_add(within_ms) <= end_ms;
            let (over, kept): (Vec<&Partial>, Vec<&Partial>) = partition.partial.as_slice().iter().partition(is_over);
            over.iter().for_each(|partial| self.paths.release(partial.path));
            partition.partial = kept.into_iter().copied().collect();
            self.give(slot, end_ms, partition, out)?;
        }
    }

    /// By partial match of the arrivals' partitions, in their order, and variable: whether the row satisfies it. What
    /// nobody asks for is false.
    fn answers(&mut self, arrivals: &[Arrival], batch: &Batch<'_>, partitions: &[Partition]) -> Result<Vec<bool>> {
        let variables = self.conditions.len();
        let mut answers: Vec<bool> = Vec::new();
        let mut open: Vec<(Vec<Candidate>, Vec<usize>)> = vec![Default::default(); variables];
        for arrival in arrivals {
            for partial in partitions[arrival.slot as usize].partial.as_slice() {
                let first = answers.len();
                answers.resize(first + variables, false);
                for &variable in self.automaton.questions(partial.state) {
                    let place = first + variable as usize;
                    match (&self.conditions[variable as usize], &batch.satisfied[variable as usize]) {
                        (None, _) => answers[place] = true,
                        (Some(_), Some(rows)) => answers[place] = is_true(rows, arrival.row as usize),
                        (Some(_), None) => {
                            let (candidates, places) = &mut open[variable as usize];
                            let next = Some((arrival.row, variable));
                            candidates.push(Candidate { path: partial.path, next, time_ms: arrival.time_ms });
                            places.push(place);
                        }
                    }
                }
            }
        }
        for (variable, (candidates, places)) in open.into_iter().enumerate() {
            let Some(condition) = &mut self.conditions[variable] else { continue };
            let rows = Rows { paths: &self.paths, current: batch.columns, schema: &self.schema };
            for (candidates, places) in candidates.chunks(CANDIDATES_MAX).zip(places.chunks(CANDIDATES_MAX)) {
                let columns = condition.values.columns(candidates, rows)?;
                let values = condition.expression.evaluate(&condition.values.batch(columns, candidates.len())?)?;
                let values = values.as_boolean_opt().ok_or_else(|| Error::internal("a DEFINE that is no BOOLEAN"))?;
                places.iter().enumerate().for_each(|(row, &place)| answers[place] = is_true(values, row));
            }
        }
        Ok(answers)
    }

    fn take_one(
        &mut self,
        arrival: &Arrival,
        batch: &Batch<'_>,
        answers: Answers<'_>,
        partition: &mut Partition,
        out: &mut Vec<Match>,
    ) -> Result<()> {
        let before = std::mem::take(&mut partition.partial);
        let mut complete = Queue::default();
        let mut edges = std::mem::take(&mut self.edges);
        let mut kept_row: Option<u32> = None;
        for (partial, answers) in before.as_slice().iter().zip(answers.chunks(self.conditions.len())) {
            let is = |variable: Variable| answers[variable as usize];
            self.automaton.takes(partial.state, &is, &mut edges);
            for &(variable, state) in &edges {
                let row = *kept_row.get_or_insert_with(|| {
                    let Arrival { row, number, slot, .. } = *arrival;
                    self.paths.add_row(batch.encoded, row as usize, number, slot)
                });
                let path = self.paths.extend(partial.path, variable, row);
                let (start, start_ms) = match partial.is_started() {
                    true => (partial.start, partial.start_ms),
                    false => (arrival.number, arrival.time_ms),
                };
                let taken = Partial { state, path, start, start_ms };
                if state == END {
                    complete.push(taken);
                    continue;
                }
                partition.partial.push(taken);
                if self.automaton.is_complete(state, &is) {
                    self.paths.retain(path);
                    complete.push(Partial { state: END, ..taken });
                }
            }
            match partial.is_started() {
                true => self.paths.release(partial.path),
                false => partition.partial.push(*partial),
            }
        }
        self.edges = edges;
        complete.as_slice().iter().for_each(|partial| partition.complete.push(*partial));
        self.give(arrival.slot, arrival.time_ms, partition, out)
    }

    /// Gives the complete matches that no partial match began before.
    fn give(&mut self, slot: u32, time_ms: i64, partition: &mut Partition, out: &mut Vec<Match>) -> Result<()> {
        while let Some(earliest) = partition.complete.first()
            && partition.partial.first().is_none_or(|partial| earliest.start <= partial.start)
        {
            let Some(given) = partition.complete.pop() else { break };
            // Matches that begin before this row are given up.
            let from = self.resume(&given)?;
            let is_kept = |partial: &Partial| !partial.is_started() || partial.start >= from;
            let mut removed = Vec::new();
            partition.partial.retain(is_kept, &mut removed);
            partition.complete.retain(is_kept, &mut removed);
            removed.iter().for_each(|partial| self.paths.release(partial.path));
            out.push(Match { slot, path: given.path, time_ms });
        }
        Ok(())
    }

    /// The number of the row at which matching goes on after a match.
    fn resume(&self, given: &Partial) -> Result<u64> {
        let number = |row: u32| self.paths.number(row);
        let (variable, is_first) = match self.skip {
            AfterMatch::ToNextRow => return Ok(given.start + 1),
            AfterMatch::PastLastRow => {
                let last = self.paths.backwards(given.path).next();
                return Ok(last.map_or(0, |(_, _, row)| number(row) + 1));
            }
            AfterMatch::ToFirst(variable) => (variable, true),
            AfterMatch::ToLast(variable) => (variable, false),
        };
        let mut rows = self.paths.backwards(given.path).filter(|(_, at, _)| *at as usize == variable);
        let row = if is_first { rows.last() } else { rows.next() };
        let name = self.names.get(variable).map_or("?", String::as_str);
        match row.map(|(_, _, row)| number(row)) {
            None => Err(Error::new(&codes::SKIP_NO_ROW, &[("variable", &name)])),
            Some(row) if row == given.start => Err(Error::new(&codes::SKIP_TO_START, &[("variable", &name)])),
            Some(row) => Ok(row),
        }
    }

    /// Whether a partition has nothing to keep.
    pub fn forget(&mut self, partition: &mut Partition) {
        for partial in partition.partial.as_slice().iter().chain(partition.complete.as_slice()) {
            if partial.path != NO_PATH {
                self.paths.release(partial.path);
            }
        }
        *partition = Partition::default();
    }
}

fn is_true(values: &BooleanArray, row: usize) -> bool {
    use arrow::array::Array;
    values.is_valid(row) && values.value(row)
}
