//! Smaller forms of a query: every way to leave one thing out.

use super::query::{Body, Expr, From, Names, Node, Query, Select};
use super::value::{Type, Value};

/// Applies the `wanted`-th way to make a query smaller. Inner queries keep their columns; the outermost may lose some.
#[derive(Debug)]
pub struct Cutter<'a> {
    names: &'a Names,
    views: &'a [Query],
    /// How many ways come before the wanted one.
    wanted: usize,
}

/// A query with its `wanted`-th part left out; `None` if there are not so many.
pub fn cut(query: &Query, names: &Names, views: &[Query], wanted: usize, keeps_columns: bool) -> Option<Query> {
    let mut smaller = query.clone();
    let mut cutter = Cutter { names, views, wanted };
    cutter.query(&mut smaller, keeps_columns).then_some(smaller)
}

fn null(of: Type) -> Expr {
    Expr::literal(Value::Null, of)
}

impl Cutter<'_> {
    /// Takes the wanted one of these forms, if it is among them.
    fn take<T>(&mut self, place: &mut T, mut forms: Vec<T>) -> bool {
        if self.wanted < forms.len() {
            *place = forms.swap_remove(self.wanted);
            return true;
        }
        self.wanted -= forms.len();
        false
    }

    fn query(&mut self, query: &mut Query, keeps_columns: bool) -> bool {
        let forms = match query {
            Query::Table(_) => Vec::new(),
            Query::Values(types, rows) => match rows.len() {
                1 => Vec::new(),
                _ => rows.iter().map(|row| Query::Values(types.clone(), vec![row.clone()])).collect(),
            },
            Query::View(view) => vec![self.views[*view].clone()],
            Query::Set(set) => {
                let mut more = set.clone();
                more.all = true;
                let mut forms = vec![set.left.clone(), set.right.clone()];
                if !set.all {
                    forms.push(Query::Set(more));
                }
                forms
            }
            Query::Select(select) => self.select_forms(select, keeps_columns),
        };
        if self.take(query, forms) {
            return true;
        }
        match query {
            Query::Table(_) | Query::View(_) | Query::Values(..) => false,
            Query::Set(set) => self.query(&mut set.left, true) || self.query(&mut set.right, true),
            Query::Select(select) => {
                self.from(&mut select.from) || select.exprs().into_iter().any(|expr| self.expr(expr))
            }
        }
    }

    fn from(&mut self, from: &mut From) -> bool {
        match from {
            From::Relation(query) => self.query(query, true),
            From::Unnest(input, ..) => self.from(input),
            From::Lateral(input, query, _) => self.from(input) || self.query(query, true),
            From::Join(join) => {
                let mut kinds = Vec::new();
                if !matches!(join.kind, "JOIN" | "CROSS JOIN") {
                    kinds.push("JOIN");
                }
                self.take(&mut join.kind, kinds) || self.from(&mut join.left) || self.from(&mut join.right)
            }
        }
    }

    fn expr(&mut self, expr: &mut Expr) -> bool {
        let of = expr.of;
        let (parts, _) = expr.parts();
        let forms: Vec<Expr> = parts.into_iter().filter(|part| part.of == of).map(|part| part.clone()).collect();
        if self.take(expr, forms) {
            return true;
        }
        let (parts, query) = expr.parts();
        if parts.into_iter().any(|part| self.expr(part)) {
            return true;
        }
        query.is_some_and(|query| self.query(query, true))
    }

    fn select_forms(&self, select: &Select, keeps_columns: bool) -> Vec<Query> {
        let mut forms: Vec<Select> = Vec::new();
        let mut relations = Vec::new();
        relations_of(&select.from, &mut relations);
        let types: Vec<Type> = select.items.iter().map(|item| item.of).collect();
        let mut queries: Vec<Query> = Vec::new();
        for relation in relations {
            let given = relation.types(self.names);
            if given == types {
                queries.push(relation.clone());
            } else if !is_simple(select) {
                let place = |of: &Type| given.iter().position(|other| other == of);
                let items = types.iter().map(|of| place(of).map_or(null(*of), |index| Expr::slot(index, *of)));
                let items = items.collect();
                queries.push(Query::Select(Box::new(Select::plain(From::Relation(relation.clone()), items))));
            }
        }
        if select.filter.is_some() {
            forms.push(Select { filter: None, ..select.clone() });
        }
        if select.distinct {
            forms.push(Select { distinct: false, ..select.clone() });
        }
        if select.limit.is_some() {
            forms.push(Select { limit: None, ..select.clone() });
        }
        forms.extend(self.without_body(select));
        self.smaller_bodies(select, &mut forms);
        self.smaller_from(select, &mut forms);
        if select.limit.is_none() {
            for index in 0..select.items.len() {
                let mut form = select.clone();
                if !keeps_columns && form.items.len() > 1 {
                    form.items.remove(index);
                } else if matches!(form.items[index].node, Node::Literal(Value::Null)) {
                    continue;
                } else {
                    form.items[index] = null(form.items[index].of);
                }
                forms.push(form);
            }
        }
        queries.extend(forms.into_iter().map(|select| Query::Select(Box::new(select))));
        queries
    }

    /// The same with plain rows: calls give NULL, keys and aggregates what they are made of.
    fn without_body(&self, select: &Select) -> Option<Select> {
        let width = select.from.width(self.names);
        let mut form = Select { body: Body::Plain, ..select.clone() };
        match &select.body {
            Body::Plain => return None,
            Body::Group(group) => {
                let mut inner: Vec<Expr> = group.keys.clone();
                inner.extend(group.aggregates.iter().map(|aggregate| match &aggregate.argument {
                    Some(argument) if argument.of == aggregate.of() => argument.clone(),
                    _ => null(aggregate.of()),
                }));
                inner.extend(group.sets.iter().map(|_| null(Type::BigInt)));
                form.items.iter_mut().for_each(|item| replace_slots(item, &|index| Some(inner[index].clone())));
            }
            Body::Over(_) | Body::Top(_) => {
                let of = select.slots(self.names);
                let lost = |index: usize| (index >= width).then(|| null(of[index]));
                form.items.iter_mut().for_each(|item| replace_slots(item, &lost));
            }
        }
        Some(form)
    }

    fn smaller_bodies(&self, select: &Select, forms: &mut Vec<Select>) {
        let mut push = |change: &dyn Fn(&mut Select)| {
            let mut form = select.clone();
            change(&mut form);
            if form != *select {
                forms.push(form);
            }
        };
        match &select.body {
            Body::Plain => {}
            Body::Group(group) => {
                let slots = select.slots(self.names);
                push(&|form| with_group(form, |group| group.having = None));
                if group.sets.is_some() {
                    push(&|form| {
                        drop_slot(form, slots.len() - 1, &slots);
                        with_group(form, |group| group.sets = None);
                    });
                }
                // Something is grouped by, or something is computed.
                let keys = match group.sets.is_some() || group.keys.len() + group.aggregates.len() < 2 {
                    true => 0,
                    false => group.keys.len(),
                };
                for key in 0..keys {
                    push(&|form| {
                        drop_slot(form, key, &slots);
                        with_group(form, |group| drop(group.keys.remove(key)));
                    });
                }
                for index in 0..group.aggregates.len() {
                    if group.keys.len() + group.aggregates.len() > 1 {
                        push(&|form| {
                            drop_slot(form, group.keys.len() + index, &slots);
                            with_group(form, |group| drop(group.aggregates.remove(index)));
                        });
                    }
                    push(&|form| with_group(form, |group| group.aggregates[index].filter = None));
                    push(&|form| with_group(form, |group| group.aggregates[index].distinct = false));
                }
            }
            Body::Over(over) => {
                for index in 0..over.partition.len() {
                    push(&|form| {
                        if let Body::Over(over) = &mut form.body {
                            over.partition.remove(index);
                        }
                    });
                }
            }
            Body::Top(top) => {
                push(&|form| {
                    if let Body::Top(top) = &mut form.body {
                        (top.start, top.end) = (1, 1);
                    }
                });
                for index in 0..top.partition.len() {
                    push(&|form| {
                        if let Body::Top(top) = &mut form.body {
                            top.partition.remove(index);
                        }
                    });
                }
            }
        }
    }

    /// Without one side of the outermost join, or without UNNEST.
    fn smaller_from(&self, select: &Select, forms: &mut Vec<Select>) {
        let width = select.from.width(self.names);
        match &select.from {
            From::Relation(_) => {}
            From::Unnest(input, ..) | From::Lateral(input, ..) => {
                let kept = input.width(self.names);
                forms.extend(self.narrowed(select, input, width, &|index| (index < kept).then_some(index)));
            }
            From::Join(join) => {
                let left = join.left.width(self.names);
                forms.extend(self.narrowed(select, &join.left, width, &|index| (index < left).then_some(index)));
                forms.extend(self.narrowed(select, &join.right, width, &|index| index.checked_sub(left)));
            }
        }
    }

    /// The same over a part of FROM, whose columns are where `place` says.
    fn narrowed(
        &self,
        select: &Select,
        from: &From,
        width: usize,
        place: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<Select> {
        let of = select.from.types(self.names);
        let rest = from.width(self.names);
        let moved = |index: usize| {
            Some(match place(index) {
                Some(index_now) => Expr::slot(index_now, of[index]),
                None => null(of[index]),
            })
        };
        let mut form = Select { from: from.clone(), ..select.clone() };
        form.filter.iter_mut().for_each(|filter| replace_slots(filter, &moved));
        form.body.inner_exprs().into_iter().for_each(|expr| replace_slots(expr, &moved));
        let columns = |columns: &mut Vec<usize>| *columns = columns.iter().filter_map(|&index| place(index)).collect();
        let slots = select.slots(self.names);
        let item_moved = |index: usize| match index.checked_sub(width) {
            Some(call) => Some(Expr::slot(rest + call, slots[index])),
            None => moved(index),
        };
        let order = match &mut form.body {
            Body::Plain => None,
            Body::Group(group) => {
                group.keys.iter_mut().for_each(|key| replace_slots(key, &moved));
                // A lost key would be a constant.
                let constant = |key: &Expr| matches!(key.node, Node::Literal(_));
                return (!group.keys.iter().any(constant)).then_some(form);
            }
            Body::Over(over) => {
                columns(&mut over.partition);
                Some(&mut over.order)
            }
            Body::Top(top) => {
                columns(&mut top.partition);
                Some(&mut top.order)
            }
        };
        if let Some(order) = order {
            order.retain(|sort| place(sort.column).is_some());
            order.iter_mut().for_each(|sort| sort.column = place(sort.column).unwrap_or(0));
            if order.is_empty() {
                return None;
            }
        }
        form.items.iter_mut().for_each(|item| replace_slots(item, &item_moved));
        Some(form)
    }
}

fn relations_of<'f>(from: &'f From, found: &mut Vec<&'f Query>) {
    match from {
        From::Relation(query) => found.push(query),
        From::Unnest(input, ..) | From::Lateral(input, ..) => relations_of(input, found),
        From::Join(join) => {
            relations_of(&join.left, found);
            relations_of(&join.right, found);
        }
    }
}

/// Whether only columns of one relation are chosen.
fn is_simple(select: &Select) -> bool {
    let plain = |item: &Expr| matches!(item.node, Node::Slot { .. } | Node::Literal(Value::Null));
    matches!(select.from, From::Relation(_))
        && select.filter.is_none()
        && select.body == Body::Plain
        && !select.distinct
        && select.limit.is_none()
        && select.items.iter().all(plain)
}

fn replace_slots(expr: &mut Expr, with: &dyn Fn(usize) -> Option<Expr>) {
    expr.visit_slots(0, &mut |slot| {
        let Node::Slot { outer, index } = slot.node else { return };
        if let Some(new) = with(index) {
            *slot = new;
            // Inside a subquery the slot still belongs to the query around it.
            if let Node::Slot { outer: place, .. } = &mut slot.node {
                *place = outer;
            }
        }
    });
}

fn with_group(select: &mut Select, change: impl FnOnce(&mut super::query::Group)) {
    if let Body::Group(group) = &mut select.body {
        change(group);
    }
}

/// Items and HAVING without a slot: it gives NULL, and those behind it move up.
fn drop_slot(select: &mut Select, lost: usize, types: &[Type]) {
    let moved = |index: usize| match index.cmp(&lost) {
        std::cmp::Ordering::Less => None,
        std::cmp::Ordering::Equal => Some(null(types[lost])),
        std::cmp::Ordering::Greater => Some(Expr::slot(index - 1, types[index])),
    };
    select.items.iter_mut().for_each(|item| replace_slots(item, &moved));
    if let Body::Group(group) = &mut select.body {
        group.having.iter_mut().for_each(|having| replace_slots(having, &moved));
    }
}
