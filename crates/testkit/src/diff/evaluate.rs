//! What a query means, computed the plain way: nested loops over rows, one value after the other.
//!
//! It shares nothing with the engine, so that a wrong rewriting of a query does not hide behind itself.

use super::expressions::{Scopes, is_true};
use super::query::{Arrival, Body, From, Join, Limit, Names, Over, Query, Select, SetOperation, Sort, Top};
use super::value::{Row, Value};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Why a query has no value here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It needs too many steps.
    TooLong,
    /// A number does not fit its type.
    OutOfRange,
}

/// The outcome of an evaluation.
pub type Evaluated<T> = Result<T, Trouble>;

/// Rows looked at, at most.
const STEPS_MAX: u64 = 60_000;

/// Tables and views with their rows.
#[derive(Debug)]
pub struct Evaluator<'a> {
    names: &'a Names,
    tables: &'a [Vec<Row>],
    views: Vec<Vec<Row>>,
    /// Whether an aggregate of nothing without GROUP BY is a row: in batch, not in streaming.
    pub(super) row_of_nothing: bool,
    steps: Cell<u64>,
    /// Results of subqueries that do not depend on the row around them, by their address.
    subqueries: RefCell<HashMap<usize, Rc<Vec<Row>>>>,
}

impl<'a> Evaluator<'a> {
    /// The evaluator over these tables. Views may read earlier ones.
    ///
    /// # Errors
    /// A view without a value.
    pub fn new(
        names: &'a Names,
        tables: &'a [Vec<Row>],
        views: &[Query],
        row_of_nothing: bool,
    ) -> Evaluated<Evaluator<'a>> {
        let mut evaluator = Evaluator {
            names,
            tables,
            views: Vec::new(),
            row_of_nothing,
            steps: Cell::new(0),
            subqueries: RefCell::default(),
        };
        for view in views {
            let rows = evaluator.rows(view)?;
            evaluator.views.push(rows);
        }
        Ok(evaluator)
    }

    /// The rows of a query.
    ///
    /// # Errors
    /// A query without a value.
    pub fn rows(&self, query: &Query) -> Evaluated<Vec<Row>> {
        self.rows_in(query, &[])
    }

    /// The rows of a query inside a row of the query around it.
    pub(super) fn rows_in(&self, query: &Query, outer: Scopes) -> Evaluated<Vec<Row>> {
        match query {
            Query::Table(table) => Ok(self.tables[*table].clone()),
            Query::View(view) => Ok(self.views[*view].clone()),
            Query::Values(_, rows) => Ok(rows.clone()),
            Query::Select(select) => self.select(select, outer),
            Query::Set(set) => self.set(set, outer),
        }
    }

    /// The rows of a subquery of an expression.
    pub(super) fn subquery(&self, query: &Query, outer: Scopes) -> Evaluated<Rc<Vec<Row>>> {
        if query.is_correlated() {
            return Ok(Rc::new(self.rows_in(query, outer)?));
        }
        let address = std::ptr::from_ref(query) as usize;
        if let Some(rows) = self.subqueries.borrow().get(&address) {
            return Ok(rows.clone());
        }
        let rows = Rc::new(self.rows(query)?);
        self.subqueries.borrow_mut().insert(address, rows.clone());
        Ok(rows)
    }

    /// Rows looked at so far.
    pub fn steps_done(&self) -> u64 {
        self.steps.get()
    }

    pub(super) fn step(&self, steps: usize) -> Evaluated<()> {
        self.steps.set(self.steps.get() + steps as u64);
        if self.steps.get() > STEPS_MAX { Err(Trouble::TooLong) } else { Ok(()) }
    }

    fn select(&self, select: &Select, outer: Scopes) -> Evaluated<Vec<Row>> {
        let mut rows = Vec::new();
        for row in self.from(&select.from, outer)? {
            self.step(1)?;
            let keep = match &select.filter {
                Some(filter) => is_true(&self.value(filter, &scopes(&row, outer))?),
                None => true,
            };
            if keep {
                rows.push(row);
            }
        }
        let slots = match &select.body {
            Body::Plain => rows,
            Body::Group(group) => {
                // A correlated aggregate has a value for every row around it, whatever the mode.
                let single = self.row_of_nothing || select.is_correlated();
                self.group(group, &rows, outer, single)?
            }
            Body::Over(over) => self.over(over, rows)?,
            Body::Top(top) => top_rows(top, rows),
        };
        let mut results = Vec::with_capacity(slots.len());
        for row in slots {
            let scopes = scopes(&row, outer);
            results.push(select.items.iter().map(|item| self.value(item, &scopes)).collect::<Evaluated<Row>>()?);
        }
        if select.distinct {
            results.sort();
            results.dedup();
        }
        if let Some(limit) = &select.limit {
            results = limited(limit, results);
        }
        Ok(results)
    }

    fn from(&self, from: &From, outer: Scopes) -> Evaluated<Vec<Row>> {
        match from {
            From::Relation(query) => self.rows_in(query, outer),
            From::Join(join) => self.join(join, outer),
            From::Lateral(input, query, left) => {
                let mut rows = Vec::new();
                for row in self.from(input, outer)? {
                    let mut found = self.rows_in(query, &[&row])?;
                    self.step(1 + found.len())?;
                    if found.is_empty() && *left {
                        found.push(vec![Value::Null; query.types(self.names).len()]);
                    }
                    rows.extend(found.into_iter().map(|other| [row.as_slice(), &other].concat()));
                }
                Ok(rows)
            }
            From::Unnest(input, elements, _) => {
                let mut rows = Vec::new();
                for row in self.from(input, outer)? {
                    self.step(elements.len())?;
                    for element in elements {
                        let mut longer = row.clone();
                        longer.push(self.value(element, &[&row])?);
                        rows.push(longer);
                    }
                }
                Ok(rows)
            }
        }
    }

    fn join(&self, join: &Join, outer: Scopes) -> Evaluated<Vec<Row>> {
        let (left, right) = (self.from(&join.left, outer)?, self.from(&join.right, outer)?);
        let nulls = |from: &From| vec![Value::Null; from.width(self.names)];
        let mut matched = vec![false; right.len()];
        let mut rows = Vec::new();
        for one in &left {
            let mut alone = true;
            self.step(right.len())?;
            for (other, matched) in right.iter().zip(&mut matched) {
                let pair = [one.as_slice(), other].concat();
                let fits = match &join.on {
                    Some(on) => is_true(&self.value(on, &[&pair])?),
                    None => true,
                };
                if fits {
                    alone = false;
                    *matched = true;
                    rows.push(pair);
                }
            }
            if alone && matches!(join.kind, "LEFT JOIN" | "FULL JOIN") {
                rows.push([one.as_slice(), &nulls(&join.right)].concat());
            }
        }
        if matches!(join.kind, "RIGHT JOIN" | "FULL JOIN") {
            let alone = right.iter().zip(&matched).filter(|(_, matched)| !**matched);
            rows.extend(alone.map(|(other, _)| [nulls(&join.left).as_slice(), other].concat()));
        }
        Ok(rows)
    }

    fn over(&self, over: &Over, rows: Vec<Row>) -> Evaluated<Vec<Row>> {
        let mut results = Vec::new();
        for mut part in partitions(&over.partition, rows) {
            part.sort_by(|a, b| by(&over.order, a, b));
            self.step(part.len() * part.len())?;
            let is_peer = |a: &Row, b: &Row| by(&over.order, a, b) == Ordering::Equal;
            for (place, row) in part.iter().enumerate() {
                let peers_end = (place..part.len()).take_while(|&other| is_peer(row, &part[other])).count() + place;
                let first_peer = part.iter().position(|other| is_peer(row, other)).unwrap_or(place);
                let distinct_before = (1..=place).filter(|&at| !is_peer(&part[at - 1], &part[at])).count();
                let frame = &part[..if over.rows { place + 1 } else { peers_end }];
                let mut result = row.clone();
                for call in &over.calls {
                    use super::query::OverCall::*;
                    result.push(match call {
                        Number("ROW_NUMBER") => Value::Number(place as i128 + 1),
                        Number("RANK") => Value::Number(first_peer as i128 + 1),
                        Number(_) => Value::Number(distinct_before as i128 + 1),
                        Aggregate(aggregate) => self.aggregate(
                            aggregate,
                            frame.iter().map(Vec::as_slice).collect::<Vec<_>>().as_slice(),
                            &[],
                        )?,
                    });
                }
                results.push(result);
            }
        }
        Ok(results)
    }

    fn set(&self, set: &SetOperation, outer: Scopes) -> Evaluated<Vec<Row>> {
        let (mut left, right) = (self.rows_in(&set.left, outer)?, self.rows_in(&set.right, outer)?);
        self.step(left.len() + right.len())?;
        if set.name == "UNION" {
            left.extend(right);
            if !set.all {
                left.sort();
                left.dedup();
            }
            return Ok(left);
        }
        let count = |rows: Vec<Row>| {
            let mut counts: BTreeMap<Row, usize> = BTreeMap::new();
            rows.into_iter().for_each(|row| *counts.entry(row).or_default() += 1);
            counts
        };
        let others = count(right);
        let mut rows = Vec::new();
        for (row, copies) in count(left) {
            let other = others.get(&row).copied().unwrap_or(0);
            let kept = match (set.name, set.all) {
                ("INTERSECT", true) => copies.min(other),
                ("INTERSECT", false) => usize::from(other > 0),
                (_, true) => copies.saturating_sub(other),
                (_, false) => usize::from(other == 0),
            };
            rows.extend(std::iter::repeat_n(row, kept));
        }
        Ok(rows)
    }
}

/// A row before the rows around it.
pub(super) fn scopes<'r>(row: &'r [Value], outer: &[&'r [Value]]) -> Vec<&'r [Value]> {
    [row].into_iter().chain(outer.iter().copied()).collect()
}

fn by(order: &[Sort], a: &Row, b: &Row) -> Ordering {
    order
        .iter()
        .map(|sort| {
            let (a, b) = (&a[sort.column], &b[sort.column]);
            match (sort.nulls_first, a.is_null() == b.is_null()) {
                (Some(first), false) if first == a.is_null() => Ordering::Less,
                (Some(_), false) => Ordering::Greater,
                _ if sort.descending => b.cmp(a),
                _ => a.cmp(b),
            }
        })
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn partitions(columns: &[usize], rows: Vec<Row>) -> Vec<Vec<Row>> {
    let mut parts: BTreeMap<Row, Vec<Row>> = BTreeMap::new();
    for row in rows {
        parts.entry(columns.iter().map(|&column| row[column].clone()).collect()).or_default().push(row);
    }
    parts.into_values().collect()
}

fn top_rows(top: &Top, rows: Vec<Row>) -> Vec<Row> {
    let mut results = Vec::new();
    for mut part in partitions(&top.partition, rows) {
        match top.arrival {
            Some(Arrival::Last) => part.reverse(),
            Some(Arrival::First) => {}
            None => part.sort_by(|a, b| by(&top.order, a, b)),
        }
        let ranked = part.into_iter().enumerate().take(top.end).skip(top.start - 1);
        results.extend(ranked.map(|(place, mut row)| {
            row.push(Value::Number(place as i128 + 1));
            row
        }));
    }
    results
}

fn limited(limit: &Limit, mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by(|a, b| by(&limit.order, a, b));
    rows.into_iter().skip(limit.offset).take(limit.limit).collect()
}
