//! Queries as structures: what is generated, evaluated, made smaller, and written as SQL.

use super::value::{Row, Type, Value};

/// An expression with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expr {
    /// Its type.
    pub of: Type,
    /// What it is.
    pub node: Node,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A slot: of this query, or of the query around it.
    Slot {
        /// 0: this query; 1: the one around it.
        outer: usize,
        /// Which.
        index: usize,
    },
    /// A constant.
    Literal(Value),
    /// `+`, `-` or `*`.
    Arithmetic(char, Box<Expr>, Box<Expr>),
    /// `MOD(a, n)`.
    Modulo(Box<Expr>, i128),
    /// `||`.
    Concat(Box<Expr>, Box<Expr>),
    /// `UPPER`.
    Upper(Box<Expr>),
    /// `CASE WHEN a THEN b ELSE c END`.
    Case(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `COALESCE`.
    Coalesce(Box<Expr>, Box<Expr>),
    /// `=`, `<>`, `<`, `<=`, `>`, `>=`.
    Compare(&'static str, Box<Expr>, Box<Expr>),
    /// `IS [NOT] DISTINCT FROM`.
    Distinct(Box<Expr>, Box<Expr>, bool),
    /// `IS [NOT] NULL`.
    IsNull(Box<Expr>, bool),
    /// `IS [NOT] TRUE`.
    IsTrue(Box<Expr>, bool),
    /// `AND`.
    And(Box<Expr>, Box<Expr>),
    /// `OR`.
    Or(Box<Expr>, Box<Expr>),
    /// `NOT`.
    Not(Box<Expr>),
    /// `BETWEEN`.
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `[NOT] IN (values)`.
    InList(Box<Expr>, Vec<Value>, bool),
    /// `[NOT] IN (query)`.
    InQuery(Box<Expr>, Box<Query>, bool),
    /// A comparison with ALL or ANY of the rows of a query.
    Quantified(&'static str, bool, Box<Expr>, Box<Query>),
    /// `[NOT] EXISTS (query)`.
    Exists(Box<Query>, bool),
    /// A query with one row.
    Scalar(Box<Query>),
}

/// A query. Its columns are `c0`, `c1`, ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// A table.
    Table(usize),
    /// A view of the case.
    View(usize),
    /// VALUES.
    Values(Vec<Type>, Vec<Row>),
    /// SELECT.
    Select(Box<Select>),
    /// UNION, INTERSECT, EXCEPT.
    Set(Box<SetOperation>),
}

/// A set operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetOperation {
    /// `UNION`, `INTERSECT`, `EXCEPT`.
    pub name: &'static str,
    /// Whether copies count.
    pub all: bool,
    /// Sides.
    pub left: Query,
    /// Sides.
    pub right: Query,
}

/// SELECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    /// FROM.
    pub from: From,
    /// WHERE, over the columns of FROM.
    pub filter: Option<Expr>,
    /// What is done with the rows.
    pub body: Body,
    /// The columns, over the slots of the body.
    pub items: Vec<Expr>,
    /// SELECT DISTINCT.
    pub distinct: bool,
    /// ORDER BY .. LIMIT.
    pub limit: Option<Limit>,
}

/// FROM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// A query with an alias.
    Relation(Query),
    /// A join.
    Join(Box<Join>),
    /// CROSS or LEFT JOIN UNNEST(ARRAY[..]): one more column.
    Unnest(Box<From>, Vec<Expr>, bool),
    /// CROSS or LEFT JOIN LATERAL: a SELECT whose WHERE names columns of what stands before it.
    Lateral(Box<From>, Query, bool),
}

/// A join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// `JOIN`, `LEFT JOIN`, `RIGHT JOIN`, `FULL JOIN`, `CROSS JOIN`.
    pub kind: &'static str,
    /// Sides.
    pub left: From,
    /// Sides.
    pub right: From,
    /// ON, over the columns of both; none for a cross join.
    pub on: Option<Expr>,
}

/// What is done with the rows of FROM and WHERE. Its slots are what the items of SELECT can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing. Slots: the columns of FROM.
    Plain,
    /// Grouping. Slots: keys, aggregates, and with sets one GROUPING_ID of all keys.
    Group(Group),
    /// OVER. Slots: the columns of FROM, then the calls.
    Over(Over),
    /// Top-N. Slots: the columns of FROM, then the rank.
    Top(Top),
}

/// GROUP BY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Keys.
    pub keys: Vec<Expr>,
    /// GROUPING SETS, as numbers of keys.
    pub sets: Option<Vec<Vec<usize>>>,
    /// Aggregates.
    pub aggregates: Vec<Aggregate>,
    /// HAVING, over the slots.
    pub having: Option<Expr>,
}

/// An aggregate call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate {
    /// `COUNT`, `SUM`, `AVG`, `MIN`, `MAX`, `LISTAGG`, `ARRAY_AGG`: the last two as sorted texts with commas.
    pub name: &'static str,
    /// None for `COUNT(*)`.
    pub argument: Option<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// FILTER.
    pub filter: Option<Expr>,
}

/// OVER with one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Over {
    /// Columns of FROM.
    pub partition: Vec<usize>,
    /// The order.
    pub order: Vec<Sort>,
    /// ROWS instead of RANGE.
    pub rows: bool,
    /// Calls.
    pub calls: Vec<OverCall>,
}

/// A call of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverCall {
    /// `ROW_NUMBER`, `RANK`, `DENSE_RANK`.
    Number(&'static str),
    /// An aggregate.
    Aggregate(Aggregate),
}

/// Top-N.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Top {
    /// Columns of FROM.
    pub partition: Vec<usize>,
    /// A total order; none if rows come in the order of their arrival.
    pub order: Vec<Sort>,
    /// The first or the last row that has come, of a table that only grows.
    pub arrival: Option<Arrival>,
    /// The first rank.
    pub start: usize,
    /// The last rank.
    pub end: usize,
}

/// Which row of several stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The first one.
    First,
    /// The last one.
    Last,
}

/// A column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// Which.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
    /// NULLS FIRST or LAST; else NULL is the lowest.
    pub nulls_first: Option<bool>,
}

/// ORDER BY all columns with LIMIT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// All columns in some order.
    pub order: Vec<Sort>,
    /// OFFSET.
    pub offset: usize,
    /// LIMIT.
    pub limit: usize,
}

/// The types of the tables and views that queries read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Types of the tables' columns.
    pub tables: Vec<Vec<Type>>,
    /// Types of the views' columns.
    pub views: Vec<Vec<Type>>,
    /// Whether a table only grows.
    pub grows: Vec<bool>,
}

impl Query {
    /// The types of its columns.
    pub fn types(&self, names: &Names) -> Vec<Type> {
        match self {
            Query::Table(table) => names.tables[*table].clone(),
            Query::View(view) => names.views[*view].clone(),
            Query::Values(types, _) => types.clone(),
            Query::Select(select) => select.items.iter().map(|item| item.of).collect(),
            Query::Set(set) => set.left.types(names),
        }
    }
}

impl Query {
    /// Visits every slot in it that belongs to the query `outer` levels around it: WHERE and SELECT name them, here and in
    /// the queries of FROM.
    pub fn visit_outer(&mut self, outer: usize, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Query::Table(_) | Query::View(_) | Query::Values(..) => {}
            Query::Set(set) => {
                set.left.visit_outer(outer, visit);
                set.right.visit_outer(outer, visit);
            }
            Query::Select(select) => select.visit_outer(outer, visit),
        }
    }

    /// Whether it names columns of the query around it.
    pub fn is_correlated(&self) -> bool {
        let mut any = false;
        self.clone().visit_outer(1, &mut |_| any = true);
        any
    }
}

impl From {
    fn visit_outer(&mut self, outer: usize, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            From::Relation(query) => query.visit_outer(outer, visit),
            From::Unnest(input, ..) | From::Lateral(input, ..) => input.visit_outer(outer, visit),
            From::Join(join) => {
                join.left.visit_outer(outer, visit);
                join.right.visit_outer(outer, visit);
            }
        }
    }

    /// The types of its columns.
    pub fn types(&self, names: &Names) -> Vec<Type> {
        match self {
            From::Relation(query) => query.types(names),
            From::Join(join) => [join.left.types(names), join.right.types(names)].concat(),
            From::Unnest(input, elements, _) => {
                let mut types = input.types(names);
                types.push(elements[0].of);
                types
            }
            From::Lateral(input, query, _) => [input.types(names), query.types(names)].concat(),
        }
    }

    /// The number of its columns.
    pub fn width(&self, names: &Names) -> usize {
        self.types(names).len()
    }
}

impl Select {
    /// A plain one.
    pub fn plain(from: From, items: Vec<Expr>) -> Select {
        Select { from, filter: None, body: Body::Plain, items, distinct: false, limit: None }
    }

    fn visit_outer(&mut self, outer: usize, visit: &mut dyn FnMut(&mut Expr)) {
        self.from.visit_outer(outer, visit);
        self.filter.iter_mut().chain(&mut self.items).for_each(|expr| expr.visit_slots(outer, visit));
    }

    /// Whether it names columns of the query around it.
    pub fn is_correlated(&self) -> bool {
        let mut any = false;
        self.clone().visit_outer(1, &mut |_| any = true);
        any
    }

    /// The types of the slots of its body.
    pub fn slots(&self, names: &Names) -> Vec<Type> {
        let columns = || self.from.types(names);
        match &self.body {
            Body::Plain => columns(),
            Body::Group(group) => {
                let aggregates = group.aggregates.iter().map(Aggregate::of);
                let id = group.sets.iter().map(|_| Type::BigInt);
                group.keys.iter().map(|key| key.of).chain(aggregates).chain(id).collect()
            }
            Body::Over(over) => columns().into_iter().chain(over.calls.iter().map(OverCall::of)).collect(),
            Body::Top(_) => columns().into_iter().chain([Type::BigInt]).collect(),
        }
    }
}

impl Aggregate {
    /// The type of its result.
    pub fn of(&self) -> Type {
        match (self.name, &self.argument) {
            ("COUNT", _) | (_, None) => Type::BigInt,
            ("LISTAGG" | "ARRAY_AGG", _) => Type::Text,
            ("SUM", Some(Expr { of: Type::Decimal(_, scale), .. })) => Type::Decimal(38, *scale),
            ("AVG", Some(Expr { of: Type::Decimal(_, scale), .. })) => Type::Decimal(38, (*scale).max(6)),
            (_, Some(argument)) => argument.of,
        }
    }
}

impl OverCall {
    /// The type of its result.
    pub fn of(&self) -> Type {
        match self {
            OverCall::Number(_) => Type::BigInt,
            OverCall::Aggregate(aggregate) => aggregate.of(),
        }
    }
}

impl Expr {
    /// A slot of this query.
    pub fn slot(index: usize, of: Type) -> Expr {
        Expr { of, node: Node::Slot { outer: 0, index } }
    }

    /// A constant.
    pub fn literal(value: Value, of: Type) -> Expr {
        Expr { of, node: Node::Literal(value) }
    }

    /// A truth value.
    pub fn truth(node: Node) -> Expr {
        Expr { of: Type::Boolean, node }
    }

    /// `left AND right`.
    pub fn and(left: Expr, right: Expr) -> Expr {
        Expr::truth(Node::And(Box::new(left), Box::new(right)))
    }

    /// The expressions and queries directly inside.
    pub fn parts(&mut self) -> (Vec<&mut Expr>, Option<&mut Query>) {
        match &mut self.node {
            Node::Slot { .. } | Node::Literal(_) => (vec![], None),
            Node::Arithmetic(_, a, b)
            | Node::Concat(a, b)
            | Node::Coalesce(a, b)
            | Node::Compare(_, a, b)
            | Node::Distinct(a, b, _)
            | Node::And(a, b)
            | Node::Or(a, b) => (vec![a, b], None),
            Node::Modulo(a, _)
            | Node::Upper(a)
            | Node::IsNull(a, _)
            | Node::IsTrue(a, _)
            | Node::Not(a)
            | Node::InList(a, ..) => (vec![a], None),
            Node::Case(a, b, c) | Node::Between(a, b, c) => (vec![a, b, c], None),
            Node::InQuery(a, query, _) | Node::Quantified(_, _, a, query) => (vec![a], Some(query)),
            Node::Exists(query, _) | Node::Scalar(query) => (vec![], Some(query)),
        }
    }

    /// Whether it names a slot of its query.
    pub fn has_slots(mut self) -> bool {
        let mut any = false;
        self.visit_slots(0, &mut |_| any = true);
        any
    }

    /// Visits every slot of this expression that belongs to the query `outer` levels around it.
    pub fn visit_slots(&mut self, outer: usize, visit: &mut dyn FnMut(&mut Expr)) {
        if matches!(self.node, Node::Slot { outer: found, .. } if found == outer) {
            return visit(self);
        }
        let (exprs, query) = self.parts();
        exprs.into_iter().for_each(|expr| expr.visit_slots(outer, visit));
        if let Some(query) = query {
            query.visit_outer(outer + 1, visit);
        }
    }
}
