//! Random expressions, conditions and subqueries.

use super::generate::{Generator, slot};
use super::query::{Aggregate, Body, Expr, From, Group, Limit, Node, Query, Select};
use super::value::{Type, Value};

impl Generator<'_> {
    /// Some slot.
    pub(super) fn slot(&mut self, types: &[Type]) -> Expr {
        slot(types, self.random.below(types.len()))
    }

    /// A slot of this type, else a constant.
    pub(super) fn slot_or_literal(&mut self, of: Type, types: &[Type]) -> Expr {
        let fitting: Vec<usize> = (0..types.len()).filter(|&index| types[index] == of).collect();
        if fitting.is_empty() { self.literal(of) } else { slot(types, *self.random.pick(&fitting)) }
    }

    fn literal(&mut self, of: Type) -> Expr {
        let value = if self.random.once_in(12) { Value::Null } else { self.draw.value(of, self.random) };
        Expr::literal(value, of)
    }

    /// A slot, or something computed from slots.
    pub(super) fn any(&mut self, types: &[Type]) -> Expr {
        let base = self.slot(types);
        if self.random.once_in(2) {
            return base;
        }
        let of = base.of;
        let base = Box::new(base);
        let node = match (of, self.random.below(6)) {
            (Type::BigInt | Type::Int, 0 | 1) => {
                let other = match self.random.once_in(2) {
                    true => self.slot_or_literal(of, types),
                    false => Expr::literal(Value::Number(2 + self.random.below(2) as i128), Type::Int),
                };
                let op = if matches!(other.node, Node::Literal(_)) { '*' } else { *self.random.pick(&['+', '-']) };
                Node::Arithmetic(op, base, Box::new(other))
            }
            (Type::BigInt | Type::Int, 2) => Node::Modulo(base, 2 + self.random.below(2) as i128),
            (Type::MONEY, 0..=2) => {
                let other = self.slot_or_literal(of, types);
                let node = Node::Arithmetic(*self.random.pick(&['+', '-']), base, Box::new(other));
                return Expr { of: Type::Decimal(11, 2), node };
            }
            (Type::Text, 0 | 1) => Node::Concat(base, Box::new(self.slot_or_literal(of, types))),
            (Type::Text, 2) => Node::Upper(base),
            (_, 3) => return self.simple_condition(types),
            (_, 4) => {
                let condition = Box::new(self.simple_condition(types));
                Node::Case(condition, base, Box::new(self.slot_or_literal(of, types)))
            }
            _ => Node::Coalesce(base, Box::new(self.slot_or_literal(of, types))),
        };
        Expr { of, node }
    }

    /// A condition without subqueries.
    pub(super) fn simple_condition(&mut self, types: &[Type]) -> Expr {
        let a = Box::new(self.slot(types));
        let negated = self.random.once_in(2);
        Expr::truth(match self.random.below(12) {
            0 => Node::IsNull(a, negated),
            1 => {
                let b = Box::new(self.slot_or_literal(a.of, types));
                Node::Distinct(a, b, negated)
            }
            2 => Node::And(Box::new(self.simple_condition(types)), Box::new(self.simple_condition(types))),
            3 => Node::Or(Box::new(self.simple_condition(types)), Box::new(self.simple_condition(types))),
            4 => Node::Not(Box::new(self.simple_condition(types))),
            5 => {
                let (low, high) = (self.slot_or_literal(a.of, types), self.literal(a.of));
                Node::Between(a, Box::new(low), Box::new(high))
            }
            6 => {
                let values = (0..2).map(|_| self.draw.value(a.of, self.random)).collect();
                Node::InList(a, values, negated)
            }
            7 => Node::IsTrue(Box::new(self.comparison(types)), negated),
            _ => return self.comparison(types),
        })
    }

    fn comparison(&mut self, types: &[Type]) -> Expr {
        let a = self.slot(types);
        let fitting: Vec<usize> = (0..types.len()).filter(|&index| types[index].compares_with(a.of)).collect();
        let b = match self.random.once_in(3) {
            true => slot(types, *self.random.pick(&fitting)),
            false => Expr::literal(self.draw.value(a.of, self.random), a.of),
        };
        let op = self.random.pick(&["=", "=", "<>", "<", "<=", ">", ">="]);
        Expr::truth(Node::Compare(op, Box::new(a), Box::new(b)))
    }

    /// A condition of WHERE.
    pub(super) fn condition(&mut self, types: &[Type], depth: usize) -> Expr {
        if !self.random.once_in(3) {
            return self.simple_condition(types);
        }
        let subquery = self.subquery_condition(types, depth);
        match self.random.below(6) {
            0 | 1 => Expr::and(self.simple_condition(types), subquery),
            2 => Expr::truth(Node::Or(Box::new(self.simple_condition(types)), Box::new(subquery))),
            3 if self.random.once_in(2) => Expr::truth(Node::Not(Box::new(subquery))),
            _ => subquery,
        }
    }

    fn subquery_condition(&mut self, types: &[Type], depth: usize) -> Expr {
        let negated = self.random.once_in(2);
        match self.random.below(11) {
            0..=3 => {
                let tested = self.slot(types);
                let query = self.values_subquery(tested.of, types, depth);
                Expr::truth(Node::InQuery(Box::new(tested), Box::new(query), negated))
            }
            4..=7 => {
                let mut select = self.inner_select(types, depth, 3);
                if self.random.once_in(3) && select.body == Body::Plain {
                    let more = self.simple_condition(&select.from.types(self.names));
                    select.filter = Some(match select.filter {
                        Some(filter) => Expr::and(filter, more),
                        None => more,
                    });
                }
                select.items = vec![Expr::literal(Value::Number(1), Type::Int)];
                Expr::truth(Node::Exists(Box::new(Query::Select(Box::new(select))), negated))
            }
            8 => {
                let tested = self.slot(types);
                let query = self.values_subquery(tested.of, types, depth);
                let op = *self.random.pick(&["=", "<>", "<", "<=", ">", ">="]);
                Expr::truth(Node::Quantified(op, negated, Box::new(tested), Box::new(query)))
            }
            _ => {
                let scalar = self.scalar_subquery(types, depth);
                let other = self.slot_or_literal(scalar.of, types);
                let op = self.random.pick(&["=", "<>", "<", ">="]);
                Expr::truth(Node::Compare(op, Box::new(other), Box::new(scalar)))
            }
        }
    }

    /// A SELECT of a subquery without items: correlated two times of so many, now and then grouped or ranked.
    fn inner_select(&mut self, types: &[Type], depth: usize, of: usize) -> Select {
        let inner = self.input(depth);
        let given = inner.types(self.names);
        let correlated = if self.random.below(of) < 2 { self.correlated(inner.clone(), &given, types) } else { None };
        let (from, filter) = correlated.unwrap_or((From::Relation(inner), None));
        let mut select = Select { filter, ..Select::plain(from, Vec::new()) };
        match self.random.below(12) {
            0 | 1 => select.body = Body::Group(self.plain_group(&given, 1)),
            2 => select.body = Body::Top(self.top(&given)),
            _ => {}
        }
        select
    }

    /// A subquery with one column of this type.
    fn values_subquery(&mut self, of: Type, types: &[Type], depth: usize) -> Query {
        let mut select = self.inner_select(types, depth, 6);
        let slots = select.slots(self.names);
        select.items = vec![self.slot_or_literal(of, &slots)];
        if select.filter.is_none() && select.body == Body::Plain && self.random.once_in(6) {
            select.filter = Some(self.simple_condition(&slots));
        }
        select.distinct = self.random.once_in(8);
        Query::Select(Box::new(select))
    }

    /// A comparison of a column of a subquery with one of the query around it.
    pub(super) fn correlation(&mut self, inner: &[Type], outer: &[Type]) -> Option<Expr> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (one, of) in inner.iter().enumerate() {
            pairs.extend((0..outer.len()).filter(|&other| of.compares_with(outer[other])).map(|other| (one, other)));
        }
        if pairs.is_empty() {
            return None;
        }
        let (one, other) = if self.random.once_in(2) { pairs[0] } else { *self.random.pick(&pairs) };
        let around = Expr { of: outer[other], node: Node::Slot { outer: 1, index: other } };
        let op = self.random.pick(&["=", "=", "=", "=", "=", "<", ">="]);
        Some(Expr::truth(Node::Compare(op, Box::new(slot(inner, one)), Box::new(around))))
    }

    /// A subquery with one row: an aggregate without GROUP BY, or the first row of an order.
    pub(super) fn scalar_subquery(&mut self, types: &[Type], depth: usize) -> Expr {
        let inner = self.input(depth);
        let given = inner.types(self.names);
        let correlated = if self.random.once_in(3) { self.correlated(inner.clone(), &given, types) } else { None };
        let (from, filter) = correlated.unwrap_or((From::Relation(inner), None));
        let mut select = Select { filter, ..Select::plain(from, Vec::new()) };
        if self.random.once_in(5) {
            let item = self.slot(&given);
            let of = item.of;
            select.items = vec![item];
            select.limit = Some(Limit { limit: 1, ..self.limit(1) });
            return Expr { of, node: Node::Scalar(Box::new(Query::Select(Box::new(select)))) };
        }
        let aggregate = self.aggregate(&given);
        let of = Aggregate::of(&aggregate);
        select.items = vec![Expr::slot(0, of)];
        select.body = Body::Group(Group { keys: Vec::new(), sets: None, aggregates: vec![aggregate], having: None });
        Expr { of, node: Node::Scalar(Box::new(Query::Select(Box::new(select)))) }
    }
}
