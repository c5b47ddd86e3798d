//! Trees as text: SQL for people, and digests that are equal only for equal meanings.

use super::{Test, Tree};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DurationMillisecondType, IntervalYearMonthType};
use base::expression::HiddenColumn;
use base::{LogicalType, SqlType};

/// Who reads the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// People: casts of literals and types of functions are left out.
    Sql,
    /// Comparison: literals carry their types.
    Digest,
}

pub(super) fn render(tree: &Tree, names: &[String], form: Form) -> String {
    write(tree, names, form, Strength::None)
}

/// How tightly the surroundings bind: an operand that binds less tightly stands in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    None,
    Or,
    And,
    Not,
    Compare,
    Add,
    Multiply,
    Operand,
}

fn strength(operator: &str) -> Option<Strength> {
    Some(match operator {
        "=" | "<>" | "<" | "<=" | ">" | ">=" | "LIKE" | "NOT LIKE" | "SIMILAR TO" => Strength::Compare,
        "+" | "-" | "||" => Strength::Add,
        "*" | "/" | "%" => Strength::Multiply,
        _ => return None,
    })
}

fn write(tree: &Tree, names: &[String], form: Form, outer: Strength) -> String {
    let text = |tree: &Tree| write(tree, names, form, Strength::None);
    let operand = |tree: &Tree, outer: Strength| write(tree, names, form, outer);
    let wrap =
        |own: Strength, text: String| if own <= outer && outer != Strength::None { format!("({text})") } else { text };
    match tree {
        Tree::Column { index, .. } => names.get(*index).cloned().unwrap_or_else(|| format!("${index}")),
        Tree::Hidden { column, call, .. } => match column {
            HiddenColumn::ProcessingTime => "PROCTIME()".into(),
            HiddenColumn::Watermark => "CURRENT_WATERMARK()".into(),
            HiddenColumn::Random if form == Form::Sql || *call == 0 => "$random".into(),
            HiddenColumn::Random => format!("$random{call}"),
        },
        Tree::Literal { value, sql_type } => literal(value, sql_type, form),
        Tree::Call { function, arguments, sql_type } => {
            let name = function.name();
            match (strength(name), arguments.as_slice()) {
                (Some(own), [left, right]) => {
                    // Left-associative: the left operand may bind as tightly as the operator.
                    let left_outer = if own == Strength::Compare { own } else { previous(own) };
                    wrap(own, format!("{} {name} {}", operand(left, left_outer), operand(right, own)))
                }
                _ => call(name, arguments, sql_type, &text, &|tree| operand(tree, Strength::Operand)),
            }
        }
        Tree::Cast { input, sql_type, try_cast } => {
            let name = if *try_cast { "TRY_CAST" } else { "CAST" };
            format!("{name}({} AS {})", text(input), sql_type.logical)
        }
        Tree::And(parts) => wrap(Strength::And, joined(parts, " AND ", &|tree| operand(tree, Strength::And))),
        Tree::Or(parts) => wrap(Strength::Or, joined(parts, " OR ", &|tree| operand(tree, Strength::Or))),
        Tree::Not(input) => wrap(Strength::Not, format!("NOT {}", operand(input, Strength::Not))),
        Tree::Is { input, test } => {
            let test = match test {
                Test::Null => "NULL",
                Test::NotNull => "NOT NULL",
                Test::True => "TRUE",
                Test::NotTrue => "NOT TRUE",
                Test::False => "FALSE",
                Test::NotFalse => "NOT FALSE",
            };
            wrap(Strength::Compare, format!("{} IS {test}", operand(input, Strength::Compare)))
        }
        Tree::Case { branches, otherwise, .. } => {
            let mut out = String::from("CASE");
            for (condition, result) in branches {
                out.push_str(&format!(" WHEN {} THEN {}", text(condition), text(result)));
            }
            if let Some(otherwise) = otherwise {
                out.push_str(&format!(" ELSE {}", text(otherwise)));
            }
            out + " END"
        }
    }
}

fn previous(strength: Strength) -> Strength {
    match strength {
        Strength::Multiply => Strength::Add,
        _ => Strength::Compare,
    }
}

fn joined(trees: &[Tree], separator: &str, text: &dyn Fn(&Tree) -> String) -> String {
    trees.iter().map(text).collect::<Vec<_>>().join(separator)
}

fn call(
    name: &str,
    arguments: &[Tree],
    sql_type: &SqlType,
    text: &dyn Fn(&Tree) -> String,
    operand: &dyn Fn(&Tree) -> String,
) -> String {
    match (name, arguments) {
        ("NEG", [input]) => format!("-{}", operand(input)),
        ("IS NULL" | "IS NOT NULL", [input]) => format!("{} {name}", operand(input)),
        ("CAST" | "TRY_CAST", [input]) => format!("{name}({} AS {})", text(input), sql_type.logical),
        (_, [input]) if name.starts_with("CAST AS ") || name.starts_with("TRY_CAST AS ") => {
            let function = name.split(' ').next().unwrap_or(name);
            format!("{function}({} AS {})", text(input), sql_type.logical)
        }
        _ => format!("{name}({})", joined(arguments, ", ", text)),
    }
}

fn literal(value: &ArrayRef, sql_type: &SqlType, form: Form) -> String {
    let plain = literal_sql(value, &sql_type.logical);
    let known = matches!(
        sql_type.logical,
        LogicalType::Int | LogicalType::Boolean | LogicalType::Char(_) | LogicalType::IntervalDayTime
    );
    match form {
        Form::Digest if !known || value.is_null(0) => format!("{plain}:{}", sql_type.logical),
        _ => plain,
    }
}

fn literal_sql(value: &ArrayRef, logical: &LogicalType) -> String {
    if value.is_null(0) {
        return "NULL".into();
    }
    let shown = arrow::util::display::array_value_to_string(value, 0).unwrap_or_else(|_| "?".into());
    match logical {
        LogicalType::Boolean => shown.to_uppercase(),
        LogicalType::Char(_) | LogicalType::VarChar(_) => format!("'{}'", shown.replace('\'', "''")),
        LogicalType::Binary(_) | LogicalType::VarBinary(_) => format!("x'{shown}'"),
        LogicalType::Date => format!("DATE '{shown}'"),
        LogicalType::Time(_) => format!("TIME '{shown}'"),
        LogicalType::Timestamp(_) => format!("TIMESTAMP '{}'", shown.replace('T', " ")),
        LogicalType::TimestampLtz(_) => format!("TIMESTAMP_LTZ '{}'", shown.replace('T', " ")),
        LogicalType::IntervalDayTime => match value.as_primitive_opt::<DurationMillisecondType>() {
            Some(array) => interval(array.value(0)),
            None => shown,
        },
        LogicalType::IntervalYearMonth => match value.as_primitive_opt::<IntervalYearMonthType>() {
            Some(array) if array.value(0) % 12 == 0 => format!("INTERVAL '{}' YEAR", array.value(0) / 12),
            Some(array) => format!("INTERVAL '{}' MONTH", array.value(0)),
            None => shown,
        },
        _ => shown,
    }
}

/// An interval in the largest unit that divides it.
fn interval(milliseconds: i64) -> String {
    for (unit, size) in [("DAY", 86_400_000), ("HOUR", 3_600_000), ("MINUTE", 60_000), ("SECOND", 1_000)] {
        if milliseconds != 0 && milliseconds % size == 0 {
            return format!("INTERVAL '{}' {unit}", milliseconds / size);
        }
    }
    let sign = if milliseconds < 0 { "-" } else { "" };
    let all = milliseconds.unsigned_abs();
    if all == 0 {
        return "INTERVAL '0' SECOND".into();
    }
    format!("INTERVAL '{sign}{}.{:03}' SECOND", all / 1_000, all % 1_000)
}
