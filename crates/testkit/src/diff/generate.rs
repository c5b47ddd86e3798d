//! Random queries.

use super::data::Draw;
use super::query::{
    Aggregate, Arrival, Body, Expr, From, Group, Join, Limit, Names, Node, Over, OverCall, Query, Select, SetOperation,
    Sort, Top,
};
use super::value::Type;
use crate::fuzz::Random;

/// Generates queries over some tables and views.
#[derive(Debug)]
pub struct Generator<'a> {
    /// Choices.
    pub random: &'a mut Random,
    /// What there is.
    pub names: &'a Names,
    /// Constants are drawn like the data.
    pub draw: &'a Draw,
    /// How many more queries may be nested.
    nodes: usize,
}

impl Generator<'_> {
    /// A generator.
    pub fn new<'a>(random: &'a mut Random, names: &'a Names, draw: &'a Draw) -> Generator<'a> {
        let nodes = *random.pick(&[2, 3, 4, 6, 9]);
        Generator { random, names, draw, nodes }
    }

    /// A query, and inside it queries to this depth. The outermost is never a mere table.
    pub fn query(&mut self, depth: usize) -> Query {
        if self.random.once_in(8) { self.set(depth) } else { Query::Select(Box::new(self.select(depth))) }
    }

    /// A query inside another.
    pub(super) fn input(&mut self, depth: usize) -> Query {
        if depth == 0 || self.nodes == 0 || self.random.once_in(3) {
            if self.random.once_in(16) {
                return self.values();
            }
            let views = self.names.views.len();
            return match views > 0 && self.random.once_in(2) {
                true => Query::View(self.random.below(views)),
                false => Query::Table(self.random.below(self.names.tables.len())),
            };
        }
        self.nodes -= 1;
        self.query(depth - 1)
    }

    fn values(&mut self) -> Query {
        let types: Vec<Type> =
            (0..1 + self.random.below(2)).map(|_| *self.random.pick(&[Type::BigInt, Type::Int, Type::Text])).collect();
        let rows = (0..1 + self.random.below(3)).map(|_| {
            let cell = |of: &Type| self.draw.value(*of, self.random);
            types.iter().map(cell).collect()
        });
        let rows = rows.collect();
        Query::Values(types, rows)
    }

    /// A query inside another, with exactly these columns.
    pub(super) fn input_of(&mut self, types: &[Type], depth: usize) -> Query {
        let input = self.input(depth);
        let given = input.types(self.names);
        if given == types {
            return input;
        }
        let items = types.iter().map(|of| self.slot_or_literal(*of, &given)).collect();
        Query::Select(Box::new(Select::plain(From::Relation(input), items)))
    }

    fn set(&mut self, depth: usize) -> Query {
        let left = self.input(depth);
        let types = left.types(self.names);
        let right = self.input_of(&types, depth);
        let name = *self.random.pick(&["UNION", "UNION", "INTERSECT", "EXCEPT"]);
        Query::Set(Box::new(SetOperation { name, all: self.random.once_in(2), left, right }))
    }

    fn select(&mut self, depth: usize) -> Select {
        let from = self.from(depth);
        let columns = from.types(self.names);
        let filter = self.random.once_in(3).then(|| self.condition(&columns, depth));
        let body = match self.random.below(20) {
            0..=6 => Body::Plain,
            7..=14 => Body::Group(self.group(&columns)),
            15 | 16 => Body::Over(self.over(&columns)),
            _ if self.grows(&from) && self.random.once_in(2) => Body::Top(self.deduplication(&columns)),
            _ => Body::Top(self.top(&columns)),
        };
        let mut select = Select { from, filter, body, items: Vec::new(), distinct: false, limit: None };
        let slots = select.slots(self.names);
        select.items = self.items(&select.body, &slots, depth);
        select.distinct = self.random.once_in(10);
        if self.random.once_in(14) {
            select.limit = Some(self.limit(select.items.len()));
        }
        select
    }

    /// Whether rows come from a table itself, one after the other, and stay.
    fn grows(&self, from: &From) -> bool {
        matches!(from, From::Relation(Query::Table(table)) if self.names.grows[*table])
    }

    pub(super) fn limit(&mut self, width: usize) -> Limit {
        let order = self.total_order(width);
        let offset = if self.random.once_in(4) { 1 } else { 0 };
        Limit { order, offset, limit: 1 + self.random.below(4) }
    }

    fn items(&mut self, body: &Body, slots: &[Type], depth: usize) -> Vec<Expr> {
        let mut items: Vec<Expr> = Vec::new();
        match body {
            Body::Group(group) => {
                // Mostly all of them: then the keys of the result are known.
                for (index, of) in slots.iter().enumerate() {
                    if index >= group.keys.len() || !self.random.once_in(6) {
                        items.push(Expr::slot(index, *of));
                    }
                }
            }
            Body::Plain if self.random.once_in(3) => {
                items.extend(slots.iter().enumerate().map(|(index, of)| Expr::slot(index, *of)));
                items.truncate(5);
            }
            Body::Plain => {}
            Body::Over(over) => {
                let calls = over.calls.len();
                items.extend((slots.len() - calls..slots.len()).map(|index| Expr::slot(index, slots[index])));
            }
            Body::Top(_) => {
                let rank = slots.len() - 1;
                let mut columns: Vec<usize> = (0..rank).collect();
                columns.truncate(4);
                items.extend(columns.into_iter().map(|index| Expr::slot(index, slots[index])));
                if self.random.once_in(2) {
                    items.push(Expr::slot(rank, slots[rank]));
                }
                return items;
            }
        }
        let more = if items.is_empty() { 1 + self.random.below(3) } else { self.random.below(2) };
        for _ in 0..more {
            let subquery = matches!(body, Body::Plain) && self.random.once_in(16);
            items.push(if subquery { self.scalar_subquery(slots, depth) } else { self.any(slots) });
        }
        items
    }

    fn from(&mut self, depth: usize) -> From {
        let mut from = From::Relation(self.input(depth));
        let joins = *self.random.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3]);
        for _ in 0..joins {
            let left = from;
            let right = if self.random.once_in(8)
                && let From::Relation(query) = &left
            {
                From::Relation(query.clone())
            } else {
                From::Relation(self.input(depth))
            };
            from = From::Join(Box::new(self.join(left, right)));
        }
        if self.random.once_in(16) {
            from = self.lateral(from, depth);
        }
        if self.random.once_in(20) {
            let columns = from.types(self.names);
            let of = *self.random.pick(&columns);
            let elements = (0..2).map(|_| self.slot_or_literal(of, &columns)).collect();
            from = From::Unnest(Box::new(from), elements, self.random.once_in(3));
        }
        from
    }

    /// `from` joined with a SELECT that depends on its rows.
    fn lateral(&mut self, from: From, depth: usize) -> From {
        let columns = from.types(self.names);
        let input = self.input(depth);
        let given = input.types(self.names);
        let Some((relation, filter)) = self.correlated(input, &given, &columns) else { return from };
        let mut select = Select { filter, ..Select::plain(relation, Vec::new()) };
        let padded = self.random.once_in(3);
        match self.random.below(8) {
            0 | 1 => {
                let keys = self.random.below(2);
                select.body = Body::Group(self.plain_group(&given, keys));
            }
            2 => select.body = Body::Top(self.top(&given)),
            _ => {}
        }
        let slots = select.slots(self.names);
        select.items = slots.iter().enumerate().map(|(index, of)| Expr::slot(index, *of)).take(3).collect();
        if select.body == Body::Plain {
            if self.random.once_in(6) {
                select.distinct = true;
            } else if self.random.once_in(3) {
                select.limit = Some(self.limit(select.items.len()));
            } else if !padded && self.random.once_in(4) {
                let index = self.random.below(columns.len());
                select.items.push(Expr { of: columns[index], node: Node::Slot { outer: 1, index } });
            }
        }
        From::Lateral(Box::new(from), Query::Select(Box::new(select)), padded)
    }

    /// What a subquery reads, with a condition on the query around it in the subquery's WHERE or in that of a query in FROM.
    pub(super) fn correlated(&mut self, input: Query, given: &[Type], outer: &[Type]) -> Option<(From, Option<Expr>)> {
        let condition = self.correlation(given, outer)?;
        if !self.random.once_in(4) {
            return Some((From::Relation(input), Some(condition)));
        }
        let slots: Vec<Expr> = given.iter().enumerate().map(|(index, of)| Expr::slot(index, *of)).collect();
        let inner = |input: Query| {
            let select = Select::plain(From::Relation(input), slots.clone());
            Query::Select(Box::new(Select { filter: Some(condition.clone()), ..select }))
        };
        let mut query = inner(input);
        if self.random.once_in(3) {
            let other = self.input_of(given, 0);
            let (all, name) = (self.random.once_in(2), "UNION");
            query = Query::Set(Box::new(SetOperation { name, all, left: query, right: inner(other) }));
        }
        Some((From::Relation(query), None))
    }

    /// GROUP BY of so many columns.
    pub(super) fn plain_group(&mut self, columns: &[Type], keys: usize) -> Group {
        let mut group = Group { keys: Vec::new(), sets: None, aggregates: Vec::new(), having: None };
        group.keys.extend((0..keys).map(|_| self.slot(columns)));
        group.aggregates.extend((0..1 + self.random.below(2)).map(|_| self.aggregate(columns)));
        if keys > 0 && self.random.once_in(2) {
            let mut slots: Vec<Type> = group.keys.iter().map(|key| key.of).collect();
            slots.extend(group.aggregates.iter().map(Aggregate::of));
            group.having = Some(self.simple_condition(&slots));
        }
        group
    }

    fn join(&mut self, left: From, right: From) -> Join {
        let (columns, more) = (left.types(self.names), right.types(self.names));
        let all = [columns.as_slice(), &more].concat();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (one, of) in columns.iter().enumerate() {
            pairs.extend((0..more.len()).filter(|&other| of.compares_with(more[other])).map(|other| (one, other)));
        }
        let kind = *self.random.pick(&[
            "JOIN",
            "JOIN",
            "JOIN",
            "LEFT JOIN",
            "LEFT JOIN",
            "RIGHT JOIN",
            "FULL JOIN",
            "CROSS JOIN",
        ]);
        if kind == "CROSS JOIN" || (pairs.is_empty() && kind != "JOIN") {
            return Join { kind: "CROSS JOIN", left, right, on: None };
        }
        let mut on: Option<Expr> = None;
        let without = pairs.is_empty() || (kind == "JOIN" && self.random.once_in(10));
        if !without {
            for _ in 0..1 + self.random.below(5) / 4 {
                // The first columns are alike most of the time.
                let pair = if self.random.once_in(2) { pairs[0] } else { *self.random.pick(&pairs) };
                let (a, b) = (slot(&all, pair.0), slot(&all, columns.len() + pair.1));
                let node = match self.random.once_in(10) {
                    true => Node::Distinct(Box::new(a), Box::new(b), true),
                    false => Node::Compare("=", Box::new(a), Box::new(b)),
                };
                let equality = Expr::truth(node);
                on = Some(match on {
                    Some(on) => Expr::and(on, equality),
                    None => equality,
                });
            }
        }
        if on.is_none() || self.random.once_in(4) {
            let more = self.simple_condition(&all);
            on = Some(match on {
                Some(on) => Expr::and(on, more),
                None => more,
            });
        }
        Join { kind, left, right, on }
    }

    fn group(&mut self, columns: &[Type]) -> Group {
        let count = *self.random.pick(&[0, 1, 1, 1, 1, 1, 2, 2, 3]);
        let mut keys: Vec<Expr> = Vec::new();
        let mut plain = true;
        for _ in 0..count {
            let key = if self.random.once_in(7) { self.any(columns) } else { self.slot(columns) };
            plain &= matches!(key.node, Node::Slot { .. });
            // A constant in GROUP BY means a column by its number.
            if !keys.contains(&key) && !matches!(key.node, Node::Literal(_)) {
                keys.push(key);
            }
        }
        let sets = (plain && !keys.is_empty() && self.random.once_in(7)).then(|| self.sets(keys.len()));
        let aggregates = (0..1 + self.random.below(3)).map(|_| self.aggregate(columns)).collect();
        let mut group = Group { keys, sets, aggregates, having: None };
        if self.random.once_in(5) {
            let mut slots: Vec<Type> = group.keys.iter().map(|key| key.of).collect();
            slots.extend(group.aggregates.iter().map(Aggregate::of));
            group.having = Some(self.simple_condition(&slots));
        }
        group
    }

    fn sets(&mut self, keys: usize) -> Vec<Vec<usize>> {
        let all: Vec<Vec<usize>> =
            (0..1usize << keys).map(|bits| (0..keys).filter(|key| bits >> key & 1 == 1).collect()).collect();
        let mut sets: Vec<Vec<usize>> = all.iter().filter(|_| self.random.once_in(2)).cloned().collect();
        // Every key is in some set.
        let whole: Vec<usize> = (0..keys).collect();
        if !sets.contains(&whole) {
            sets.push(whole);
        }
        sets
    }

    pub(super) fn aggregate(&mut self, columns: &[Type]) -> Aggregate {
        let name = *self.random.pick(&["COUNT", "COUNT", "SUM", "SUM", "MIN", "MAX", "AVG"]);
        let numbers = |of: &Type| of.is_integer() || matches!(of, Type::Decimal(..));
        let filter = self.random.once_in(8).then(|| self.simple_condition(columns));
        if name == "COUNT" && self.random.once_in(2) {
            return Aggregate { name, argument: None, distinct: false, filter };
        }
        let argument = match self.random.once_in(6) {
            true => self.any(columns),
            false => self.slot(columns),
        };
        if matches!(name, "SUM" | "AVG") && !numbers(&argument.of) {
            return Aggregate { name: "COUNT", argument: Some(argument), distinct: self.random.once_in(2), filter };
        }
        let distinct = self.random.once_in(5);
        if argument.of == Type::Text && matches!(name, "COUNT" | "MIN") && self.random.once_in(3) {
            let (name, distinct) = if self.random.once_in(2) { ("LISTAGG", distinct) } else { ("ARRAY_AGG", false) };
            return Aggregate { name, argument: Some(argument), distinct, filter };
        }
        Aggregate { name, argument: Some(argument), distinct, filter }
    }

    fn over(&mut self, columns: &[Type]) -> Over {
        let partition = self.some_columns(columns.len());
        let mut order = self.total_order(columns.len());
        // One column, ascending: what a stream can be ordered by besides time. Rows with the same value share a result, so
        // only the numbering of a single column is the same however rows arrive.
        order.truncate(1);
        order[0] = Sort { column: order[0].column, descending: false, nulls_first: None };
        let numbering: &[&'static str] =
            if columns.len() == 1 { &["ROW_NUMBER", "RANK"] } else { &["RANK", "DENSE_RANK"] };
        let calls: Vec<OverCall> = match self.random.below(4) {
            0 => {
                let name: &&'static str = self.random.pick(numbering);
                vec![OverCall::Number(name)]
            }
            _ => (0..1 + self.random.below(2))
                .map(|_| {
                    let aggregate = self.aggregate(columns);
                    OverCall::Aggregate(Aggregate { distinct: false, filter: None, ..aggregate })
                })
                .collect(),
        };
        let rows = columns.len() == 1 && self.random.once_in(2);
        Over { partition, order, rows, calls }
    }

    pub(super) fn top(&mut self, columns: &[Type]) -> Top {
        let partition = self.some_columns(columns.len());
        let start = if self.random.once_in(8) { 2 } else { 1 };
        let end = start + self.random.below(3);
        Top { partition, order: self.total_order(columns.len()), arrival: None, start, end }
    }

    /// The first or the last row that has come of every partition.
    fn deduplication(&mut self, columns: &[Type]) -> Top {
        let arrival = Some(*self.random.pick(&[Arrival::First, Arrival::Last]));
        Top { partition: self.some_columns(columns.len()), order: Vec::new(), arrival, start: 1, end: 1 }
    }

    fn some_columns(&mut self, width: usize) -> Vec<usize> {
        let mut columns: Vec<usize> =
            (0..*self.random.pick(&[0, 1, 1, 1, 2])).map(|_| self.random.below(width)).collect();
        columns.dedup();
        columns
    }

    /// All columns in some order.
    fn total_order(&mut self, width: usize) -> Vec<Sort> {
        let mut rest: Vec<usize> = (0..width).collect();
        let mut order = Vec::new();
        while !rest.is_empty() {
            let column = rest.swap_remove(self.random.below(rest.len()));
            let nulls_first = if self.random.once_in(8) { Some(self.random.once_in(2)) } else { None };
            order.push(Sort { column, descending: self.random.once_in(2), nulls_first });
        }
        order
    }
}

/// A slot of these.
pub(super) fn slot(types: &[Type], index: usize) -> Expr {
    Expr::slot(index, types[index])
}
