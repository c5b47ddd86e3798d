//! The values of expressions and aggregates.

use super::evaluate::{Evaluated, Evaluator, Trouble, scopes};
use super::query::{Aggregate, Expr, Group, Node};
use super::value::{Row, Type, Value};
use std::collections::BTreeMap;

/// The row of this query, then of the one around it.
pub(super) type Scopes<'r> = &'r [&'r [Value]];

/// Whether a condition holds: NULL does not.
pub(super) fn is_true(value: &Value) -> bool {
    *value == Value::Boolean(true)
}

fn checked(number: i128, of: Type) -> Evaluated<Value> {
    if of.holds(number) { Ok(Value::Number(number)) } else { Err(Trouble::OutOfRange) }
}

fn not(value: Value) -> Value {
    match value {
        Value::Boolean(value) => Value::Boolean(!value),
        other => other,
    }
}

fn negated_if(value: Value, negated: bool) -> Value {
    if negated { not(value) } else { value }
}

fn and(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Boolean(false), _) | (_, Value::Boolean(false)) => Value::Boolean(false),
        (Value::Boolean(true), Value::Boolean(true)) => Value::Boolean(true),
        _ => Value::Null,
    }
}

fn compare(op: &str, a: &Value, b: &Value) -> Value {
    if a.is_null() || b.is_null() {
        return Value::Null;
    }
    Value::Boolean(match op {
        "=" => a == b,
        "<>" => a != b,
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        _ => a >= b,
    })
}

/// `value IN (list)`.
fn is_in<'v>(value: &Value, list: impl Iterator<Item = &'v Value>) -> Value {
    let mut found = Value::Boolean(false);
    for other in list {
        match compare("=", value, other) {
            Value::Boolean(true) => return Value::Boolean(true),
            Value::Null => found = Value::Null,
            _ => {}
        }
    }
    found
}

impl Evaluator<'_> {
    /// The value of an expression.
    pub(super) fn value(&self, expr: &Expr, scopes: Scopes) -> Evaluated<Value> {
        let number = |value: &Value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        };
        Ok(match &expr.node {
            Node::Slot { outer, index } => scopes[*outer][*index].clone(),
            Node::Literal(value) => value.clone(),
            Node::Arithmetic(op, a, b) => {
                match (number(&self.value(a, scopes)?), number(&self.value(b, scopes)?), op) {
                    (Some(a), Some(b), '+') => checked(a + b, expr.of)?,
                    (Some(a), Some(b), '-') => checked(a - b, expr.of)?,
                    (Some(a), Some(b), _) => checked(a * b, expr.of)?,
                    _ => Value::Null,
                }
            }
            Node::Modulo(a, n) => number(&self.value(a, scopes)?).map_or(Value::Null, |a| Value::Number(a % n)),
            Node::Concat(a, b) => match (self.value(a, scopes)?, self.value(b, scopes)?) {
                (Value::Text(a), Value::Text(b)) => Value::Text(a + &b),
                _ => Value::Null,
            },
            Node::Upper(a) => match self.value(a, scopes)? {
                Value::Text(text) => Value::Text(text.to_uppercase()),
                other => other,
            },
            Node::Case(a, b, c) => self.value(if is_true(&self.value(a, scopes)?) { b } else { c }, scopes)?,
            Node::Coalesce(a, b) => match self.value(a, scopes)? {
                Value::Null => self.value(b, scopes)?,
                other => other,
            },
            _ => self.truth(expr, scopes)?,
        })
    }

    fn truth(&self, expr: &Expr, scopes: Scopes) -> Evaluated<Value> {
        let value = |expr: &Expr| self.value(expr, scopes);
        Ok(match &expr.node {
            Node::Compare(op, a, b) => compare(op, &value(a)?, &value(b)?),
            Node::Distinct(a, b, negated) => Value::Boolean((value(a)? != value(b)?) != *negated),
            Node::IsNull(a, negated) => Value::Boolean(value(a)?.is_null() != *negated),
            Node::IsTrue(a, negated) => Value::Boolean(is_true(&value(a)?) != *negated),
            Node::And(a, b) => and(&value(a)?, &value(b)?),
            Node::Or(a, b) => not(and(&not(value(a)?), &not(value(b)?))),
            Node::Not(a) => not(value(a)?),
            Node::Between(a, b, c) => {
                let tested = value(a)?;
                and(&compare(">=", &tested, &value(b)?), &compare("<=", &tested, &value(c)?))
            }
            Node::InList(a, values, negated) => negated_if(is_in(&value(a)?, values.iter()), *negated),
            Node::InQuery(a, query, negated) => {
                let rows = self.subquery(query, scopes)?;
                self.step(rows.len())?;
                negated_if(is_in(&value(a)?, rows.iter().map(|row| &row[0])), *negated)
            }
            Node::Quantified(op, all, a, query) => {
                let rows = self.subquery(query, scopes)?;
                self.step(rows.len())?;
                let tested = value(a)?;
                // ANY is an OR of all comparisons, ALL an AND.
                let mut result = Value::Boolean(*all);
                for row in rows.iter() {
                    let compared = compare(op, &tested, &row[0]);
                    result = match all {
                        true => and(&result, &compared),
                        false => not(and(&not(result), &not(compared))),
                    };
                }
                result
            }
            Node::Exists(query, negated) => {
                let rows = self.subquery(query, scopes)?;
                Value::Boolean(rows.is_empty() == *negated)
            }
            Node::Scalar(query) => self.subquery(query, scopes)?.first().map_or(Value::Null, |row| row[0].clone()),
            _ => Value::Null,
        })
    }

    /// The slots of every group. `single`: without GROUP BY there is one in any case.
    pub(super) fn group(&self, group: &Group, rows: &[Row], outer: Scopes, single: bool) -> Evaluated<Vec<Row>> {
        let whole = vec![(0..group.keys.len()).collect::<Vec<_>>()];
        let mut results = Vec::new();
        for set in group.sets.as_ref().unwrap_or(&whole) {
            let mut groups: BTreeMap<Row, Vec<&[Value]>> = BTreeMap::new();
            for row in rows {
                self.step(1)?;
                let scopes = scopes(row, outer);
                let key =
                    group.keys.iter().enumerate().map(|(index, key)| {
                        if set.contains(&index) { self.value(key, &scopes) } else { Ok(Value::Null) }
                    });
                groups.entry(key.collect::<Evaluated<Row>>()?).or_default().push(row);
            }
            if single && group.keys.is_empty() && groups.is_empty() {
                groups.insert(vec![Value::Null; group.keys.len()], Vec::new());
            }
            for (key, members) in groups {
                let mut slots = key;
                for aggregate in &group.aggregates {
                    slots.push(self.aggregate(aggregate, &members, outer)?);
                }
                if group.sets.is_some() {
                    let left_out = (0..group.keys.len()).map(|index| i128::from(!set.contains(&index)));
                    slots.push(Value::Number(left_out.fold(0, |id, bit| id * 2 + bit)));
                }
                let keep = match &group.having {
                    Some(having) => is_true(&self.value(having, &[&slots])?),
                    None => true,
                };
                if keep {
                    results.push(slots);
                }
            }
        }
        Ok(results)
    }

    /// The value of an aggregate over rows.
    pub(super) fn aggregate(&self, aggregate: &Aggregate, rows: &[&[Value]], outer: Scopes) -> Evaluated<Value> {
        let mut values = Vec::new();
        self.step(rows.len())?;
        for row in rows {
            let scopes = scopes(row, outer);
            if let Some(filter) = &aggregate.filter
                && !is_true(&self.value(filter, &scopes)?)
            {
                continue;
            }
            match &aggregate.argument {
                None => values.push(Value::Boolean(true)),
                Some(argument) => values.push(self.value(argument, &scopes)?),
            }
        }
        if aggregate.name != "ARRAY_AGG" {
            values.retain(|value| !value.is_null());
        }
        if aggregate.distinct {
            values.sort();
            values.dedup();
        }
        let sum =
            || values.iter().map(|value| if let Value::Number(number) = value { *number } else { 0 }).sum::<i128>();
        Ok(match aggregate.name {
            "COUNT" => Value::Number(values.len() as i128),
            _ if values.is_empty() => Value::Null,
            "MIN" => values.iter().min().cloned().unwrap_or(Value::Null),
            "MAX" => values.iter().max().cloned().unwrap_or(Value::Null),
            "LISTAGG" | "ARRAY_AGG" => {
                values.sort();
                let text = |value: &Value| value.text(Type::Text).unwrap_or_else(|| "~".into());
                Value::Text(values.iter().map(text).collect::<Vec<_>>().join(","))
            }
            "SUM" => checked(sum(), aggregate.of())?,
            _ => average(sum(), values.len() as i128, aggregate)?,
        })
    }
}

/// Integers are cut, decimals rounded half away from zero.
fn average(sum: i128, count: i128, aggregate: &Aggregate) -> Evaluated<Value> {
    let scale = |of: Type| if let Type::Decimal(_, scale) = of { u32::from(scale) } else { 0 };
    let argument = aggregate.argument.as_ref().map_or(Type::BigInt, |argument| argument.of);
    // A sum that only passes the end of the argument's type may already have gone wrong.
    checked(sum, if argument.is_integer() { Type::BigInt } else { aggregate.of() })?;
    let more = scale(aggregate.of()) - scale(argument);
    let scaled = 10i128.checked_pow(more).and_then(|factor| sum.checked_mul(factor)).ok_or(Trouble::OutOfRange)?;
    if argument.is_integer() {
        return checked(scaled / count, aggregate.of());
    }
    let half = if scaled < 0 { -count } else { count };
    checked((scaled * 2 + half) / (count * 2), aggregate.of())
}
