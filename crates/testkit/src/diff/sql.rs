//! Queries as SQL.

use super::query::{
    Aggregate, Arrival, Body, Expr, From, Group, Join, Limit, Names, Node, Over, OverCall, Query, Select, Sort, Top,
};
use super::value::{Row, Type, Value};

/// Writes queries with aliases that occur once.
#[derive(Debug)]
pub struct Writer<'a> {
    names: &'a Names,
    aliases: usize,
}

/// The texts of the slots: of this query, then of the one around it.
type Slots<'s> = &'s [&'s [String]];

impl Writer<'_> {
    /// A writer of queries over these tables.
    pub fn new(names: &Names) -> Writer<'_> {
        Writer { names, aliases: 0 }
    }

    /// A query as a statement.
    pub fn query(&mut self, query: &Query) -> String {
        self.nested(query, &[])
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("r{}", self.aliases)
    }

    fn nested(&mut self, query: &Query, outer: Slots) -> String {
        match query {
            Query::Table(table) => format!("SELECT * FROM t{table}"),
            Query::View(view) => format!("SELECT * FROM v{view}"),
            Query::Values(types, rows) => {
                format!("SELECT * FROM (VALUES {}) AS {}", values(types, rows), self.value_names(types.len()))
            }
            Query::Select(select) => self.select(select, outer),
            Query::Set(set) => {
                let (left, right) = (self.nested(&set.left, outer), self.nested(&set.right, outer));
                format!("({left}) {}{} ({right})", set.name, if set.all { " ALL" } else { "" })
            }
        }
    }

    fn select(&mut self, select: &Select, outer: Slots) -> String {
        let (mut from, columns) = self.from(&select.from, outer);
        if let (Body::Top(Top { arrival: Some(_), .. }), From::Relation(Query::Table(table))) =
            (&select.body, &select.from)
        {
            from = from.replacen(&format!("t{table} "), &format!("(SELECT *, PROCTIME() AS p FROM t{table}) "), 1);
        }
        let scopes: Vec<&[String]> = [columns.as_slice()].into_iter().chain(outer.iter().copied()).collect();
        let condition = select.filter.as_ref().map(|filter| format!(" WHERE {}", self.expr(filter, &scopes)));
        let condition = condition.unwrap_or_default();
        let mut text = match &select.body {
            Body::Plain => {
                let items = self.items(select, &scopes);
                format!("{items} FROM {from}{condition}")
            }
            Body::Group(group) => {
                let (slots, by) = self.group(group, &scopes);
                let slots = [slots.as_slice()];
                let items = self.items(select, &slots);
                let having = group.having.as_ref().map(|having| format!(" HAVING {}", self.expr(having, &slots)));
                // Without GROUP BY only a call makes it an aggregation.
                let calls = select.items.iter().any(|item| item.clone().has_slots());
                let having =
                    having.or_else(|| (group.keys.is_empty() && !calls).then(|| " HAVING COUNT(*) >= 0".to_string()));
                format!("{items} FROM {from}{condition}{by}{}", having.unwrap_or_default())
            }
            Body::Over(over) => {
                let slots = [columns.clone(), self.calls(over, &scopes)].concat();
                let items = self.items(select, &[slots.as_slice()]);
                format!("{items} FROM {from}{condition}")
            }
            Body::Top(top) => {
                let alias = self.alias();
                let inner: Vec<String> =
                    columns.iter().enumerate().map(|(index, column)| format!("{column} AS c{index}")).collect();
                let window = match top.arrival {
                    None => window(&top.partition, &top.order, &columns),
                    Some(arrival) => {
                        let way = if arrival == Arrival::Last { " DESC" } else { "" };
                        format!("{}ORDER BY p{way}", partition_by(&top.partition, &columns))
                    }
                };
                let slots: Vec<String> = (0..columns.len())
                    .map(|index| format!("{alias}.c{index}"))
                    .chain([format!("{alias}.rn")])
                    .collect();
                let items = self.items(select, &[slots.as_slice()]);
                let ranks = match (top.start, top.end) {
                    (1, 1) => "rn = 1".to_string(),
                    (1, end) => format!("rn <= {end}"),
                    (start, end) => format!("rn >= {start} AND rn <= {end}"),
                };
                format!(
                    "{items} FROM (SELECT {}, ROW_NUMBER() OVER ({window}) AS rn FROM {from}{condition}) AS {alias} WHERE {ranks}",
                    inner.join(", ")
                )
            }
        };
        if let Some(limit) = &select.limit {
            text.push_str(&limit_text(limit));
        }
        format!("SELECT {}{text}", if select.distinct { "DISTINCT " } else { "" })
    }

    fn items(&mut self, select: &Select, scopes: Slots) -> String {
        let items: Vec<String> = select
            .items
            .iter()
            .enumerate()
            .map(|(index, item)| format!("{} AS c{index}", self.expr(item, scopes)))
            .collect();
        items.join(", ")
    }

    /// FROM, and the texts of its columns.
    fn from(&mut self, from: &From, outer: Slots) -> (String, Vec<String>) {
        match from {
            From::Relation(query) => {
                let alias = self.alias();
                let columns = (0..query.types(self.names).len()).map(|index| format!("{alias}.c{index}")).collect();
                let text = match query {
                    Query::Table(table) => format!("t{table} AS {alias}"),
                    Query::View(view) => format!("v{view} AS {alias}"),
                    Query::Values(types, rows) => {
                        let names: Vec<String> = (0..types.len()).map(|index| format!("c{index}")).collect();
                        format!("(VALUES {}) AS {alias} ({})", values(types, rows), names.join(", "))
                    }
                    Query::Select(_) | Query::Set(_) => format!("({}) AS {alias}", self.nested(query, outer)),
                };
                (text, columns)
            }
            From::Join(join) => self.join(join, outer),
            From::Lateral(input, query, left) => {
                let (text, mut columns) = self.from(input, outer);
                let inner = self.nested(query, &[columns.as_slice()]);
                let alias = self.alias();
                let (kind, on) = if *left { ("LEFT", " ON TRUE") } else { ("CROSS", "") };
                columns.extend((0..query.types(self.names).len()).map(|index| format!("{alias}.c{index}")));
                (format!("{text} {kind} JOIN LATERAL ({inner}) AS {alias}{on}"), columns)
            }
            From::Unnest(input, elements, left) => {
                let (text, mut columns) = self.from(input, outer);
                let elements: Vec<String> =
                    elements.iter().map(|element| self.expr(element, &[columns.as_slice()])).collect();
                let alias = self.alias();
                let (kind, on) = if *left { ("LEFT", " ON TRUE") } else { ("CROSS", "") };
                let array = elements.join(", ");
                columns.push(format!("{alias}.c0"));
                (format!("{text} {kind} JOIN UNNEST(ARRAY[{array}]) AS {alias} (c0){on}"), columns)
            }
        }
    }

    /// An alias with names of columns.
    fn value_names(&mut self, width: usize) -> String {
        let names: Vec<String> = (0..width).map(|index| format!("c{index}")).collect();
        format!("{} ({})", self.alias(), names.join(", "))
    }

    fn join(&mut self, join: &Join, outer: Slots) -> (String, Vec<String>) {
        let (left, mut columns) = self.from(&join.left, outer);
        let (right, more) = self.from(&join.right, outer);
        columns.extend(more);
        let right = if matches!(join.right, From::Relation(_)) { right } else { format!("({right})") };
        let on = join.on.as_ref().map(|on| format!(" ON {}", self.expr(on, &[columns.as_slice()])));
        (format!("{left} {} {right}{}", join.kind, on.unwrap_or_default()), columns)
    }

    fn group(&mut self, group: &Group, scopes: Slots) -> (Vec<String>, String) {
        let keys: Vec<String> = group.keys.iter().map(|key| self.expr(key, scopes)).collect();
        let mut slots = keys.clone();
        slots
            .extend(group.aggregates.iter().map(|aggregate| self.aggregate(aggregate, scopes, "")).collect::<Vec<_>>());
        let by = match &group.sets {
            Some(sets) => {
                slots.push(format!("GROUPING_ID({})", keys.join(", ")));
                let sets: Vec<String> = sets
                    .iter()
                    .map(|set| {
                        let members: Vec<&str> = set.iter().map(|&key| keys[key].as_str()).collect();
                        format!("({})", members.join(", "))
                    })
                    .collect();
                format!(
                    " GROUP BY {}",
                    grouping(group, &keys).unwrap_or(format!("GROUPING SETS ({})", sets.join(", ")))
                )
            }
            None if keys.is_empty() => String::new(),
            None => format!(" GROUP BY {}", keys.join(", ")),
        };
        (slots, by)
    }

    /// `over` is the window, if it has one.
    fn aggregate(&mut self, aggregate: &Aggregate, scopes: Slots, over: &str) -> String {
        let argument = match &aggregate.argument {
            None => "*".to_string(),
            Some(argument) => self.expr(argument, scopes),
        };
        let distinct = if aggregate.distinct { "DISTINCT " } else { "" };
        let filter = aggregate.filter.as_ref().map(|filter| format!(" FILTER (WHERE {})", self.expr(filter, scopes)));
        let call = format!("{}({distinct}{argument}){}{over}", aggregate.name, filter.unwrap_or_default());
        match aggregate.name {
            // What they give depends on the order in which rows come.
            "LISTAGG" => format!("ARRAY_JOIN(ARRAY_SORT(SPLIT({call}, ',')), ',')"),
            "ARRAY_AGG" => format!("ARRAY_JOIN(ARRAY_SORT({call}), ',', '~')"),
            _ => call,
        }
    }

    fn calls(&mut self, over: &Over, scopes: Slots) -> Vec<String> {
        let plain = window(&over.partition, &over.order, scopes[0]);
        let frame = if over.rows { " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" } else { "" };
        over.calls
            .iter()
            .map(|call| match call {
                OverCall::Number(name) => format!("{name}() OVER ({plain})"),
                OverCall::Aggregate(aggregate) => self.aggregate(aggregate, scopes, &format!(" OVER ({plain}{frame})")),
            })
            .collect()
    }

    fn expr(&mut self, expr: &Expr, scopes: Slots) -> String {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match &expr.node {
            Node::Slot { outer, index } => scopes[*outer][*index].clone(),
            Node::Literal(value) => value.sql(expr.of),
            Node::Arithmetic(op, a, b) => format!("({} {op} {})", self.expr(a, scopes), self.expr(b, scopes)),
            Node::Modulo(a, n) => format!("MOD({}, {})", self.expr(a, scopes), Value::Number(*n).sql(expr.of)),
            Node::Concat(a, b) => format!("({} || {})", self.expr(a, scopes), self.expr(b, scopes)),
            Node::Upper(a) => format!("UPPER({})", self.expr(a, scopes)),
            Node::Case(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|part| self.expr(part, scopes));
                format!("CASE WHEN {a} THEN {b} ELSE {c} END")
            }
            Node::Coalesce(a, b) => format!("COALESCE({}, {})", self.expr(a, scopes), self.expr(b, scopes)),
            Node::Compare(op, a, b) => format!("({} {op} {})", self.expr(a, scopes), self.expr(b, scopes)),
            Node::Distinct(a, b, negated) => {
                format!("({} IS {}DISTINCT FROM {})", self.expr(a, scopes), not(negated), self.expr(b, scopes))
            }
            Node::IsNull(a, negated) => format!("({} IS {}NULL)", self.expr(a, scopes), not(negated)),
            Node::IsTrue(a, negated) => format!("({} IS {}TRUE)", self.expr(a, scopes), not(negated)),
            Node::And(a, b) => format!("({} AND {})", self.expr(a, scopes), self.expr(b, scopes)),
            Node::Or(a, b) => format!("({} OR {})", self.expr(a, scopes), self.expr(b, scopes)),
            Node::Not(a) => format!("(NOT {})", self.expr(a, scopes)),
            Node::Between(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|part| self.expr(part, scopes));
                format!("({a} BETWEEN {b} AND {c})")
            }
            Node::InList(a, values, negated) => {
                let list: Vec<String> = values.iter().map(|value| value.sql(a.of)).collect();
                format!("({} {}IN ({}))", self.expr(a, scopes), not(negated), list.join(", "))
            }
            Node::InQuery(a, query, negated) => {
                let tested = self.expr(a, scopes);
                format!("{tested} {}IN ({})", not(negated), self.nested(query, scopes))
            }
            Node::Quantified(op, all, a, query) => {
                let tested = self.expr(a, scopes);
                format!("({tested} {op} {} ({}))", if *all { "ALL" } else { "ANY" }, self.nested(query, scopes))
            }
            Node::Exists(query, negated) => format!("{}EXISTS ({})", not(negated), self.nested(query, scopes)),
            Node::Scalar(query) => format!("({})", self.nested(query, scopes)),
        }
    }
}

fn values(types: &[Type], rows: &[Row]) -> String {
    let row = |row: &Row| {
        let cells: Vec<String> = row.iter().zip(types).map(|(value, of)| value.sql(*of)).collect();
        format!("({})", cells.join(", "))
    };
    rows.iter().map(row).collect::<Vec<_>>().join(", ")
}

fn sorts(order: &[Sort], columns: &[String]) -> String {
    let keys: Vec<String> = order
        .iter()
        .map(|sort| {
            let nulls = match sort.nulls_first {
                None => "",
                Some(true) => " NULLS FIRST",
                Some(false) => " NULLS LAST",
            };
            format!("{}{}{nulls}", columns[sort.column], if sort.descending { " DESC" } else { "" })
        })
        .collect();
    format!("ORDER BY {}", keys.join(", "))
}

fn partition_by(partition: &[usize], columns: &[String]) -> String {
    let by: Vec<&str> = partition.iter().map(|&column| columns[column].as_str()).collect();
    if by.is_empty() { String::new() } else { format!("PARTITION BY {} ", by.join(", ")) }
}

fn window(partition: &[usize], order: &[Sort], columns: &[String]) -> String {
    format!("{}{}", partition_by(partition, columns), sorts(order, columns))
}

/// CUBE or ROLLUP, if the sets are those.
fn grouping(group: &Group, keys: &[String]) -> Option<String> {
    let sets = group.sets.as_ref()?;
    let has_all = |wanted: &[Vec<usize>]| wanted.len() == sets.len() && wanted.iter().all(|set| sets.contains(set));
    let subsets: Vec<Vec<usize>> =
        (0..1usize << keys.len()).map(|bits| (0..keys.len()).filter(|key| bits >> key & 1 == 1).collect()).collect();
    let prefixes: Vec<Vec<usize>> = (0..=keys.len()).map(|end| (0..end).collect()).collect();
    let name = if has_all(&prefixes) {
        "ROLLUP"
    } else if has_all(&subsets) {
        "CUBE"
    } else {
        return None;
    };
    Some(format!("{name} ({})", keys.join(", ")))
}

fn limit_text(limit: &Limit) -> String {
    let columns: Vec<String> = (0..limit.order.len()).map(|index| format!("c{index}")).collect();
    let order = sorts(&limit.order, &columns);
    let offset = if limit.offset > 0 { format!(" OFFSET {}", limit.offset) } else { String::new() };
    format!(" {order} LIMIT {}{offset}", limit.limit)
}
