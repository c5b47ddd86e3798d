//! JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_STRING, JSON_OBJECT, JSON_ARRAY, JSON_QUOTE, JSON_UNQUOTE and IS JSON.

use super::clause::{Behaviour, Clause, Wrapper};
use super::output::push_json;
use super::path::{Found, Path};
use super::value::{Json, push_quoted};
use crate::call::{Call, Compiled, Signature, expand};
use crate::codes;
use arrow::array::*;
use base::{Error, LogicalType, Result, SqlType};
use std::sync::Arc;

fn signature_clause(signature: &Signature, index: usize) -> Result<Clause> {
    let text = if signature.arguments.len() > index {
        signature.constant_text(index).ok_or_else(|| signature.error())?
    } else {
        String::new()
    };
    Clause::parse(&text).map_err(|why| signature.error_because(&why))
}

fn call_clause(call: &Call, index: usize) -> Result<Clause> {
    let text = call.constant_text(index).unwrap_or_default();
    Clause::parse(text).map_err(|why| call.bad_value(&text, &why))
}

fn compile_path(call: &Call, text: &str) -> Result<Path> {
    Path::parse(text)
        .map_err(|why| Error::new(&codes::BAD_PATTERN, &[("function", &call.name), ("pattern", &text), ("why", &why)]))
}

pub(crate) fn value_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    signature.string(0)?;
    signature.string(1)?;
    let returning = signature_clause(signature, 2)?.returning.unwrap_or_else(SqlType::string);
    let known = returning.logical.is_string()
        || returning.logical.is_numeric()
        || matches!(returning.logical, LogicalType::Boolean);
    if known { Ok(returning) } else { Err(signature.error_because("this RETURNING type is not a scalar of JSON")) }
}

/// Applies one function of a document and a path to every row.
fn each_document<T>(
    call: &Call,
    mut apply: impl FnMut(std::result::Result<Found<'_>, String>, bool, &str) -> Result<Option<T>>,
    mut append: impl FnMut(Option<T>),
) -> Result<()> {
    let (documents, paths) = (call.texts(0)?, call.texts(1)?);
    let mut compiled = Compiled::new();
    for row in 0..call.rows {
        let (Some(document), Some(path)) = (documents.get(row), paths.get(row)) else {
            append(None);
            continue;
        };
        let path = compiled.get(path, |text| compile_path(call, text))?;
        let value = match Json::parse(document) {
            Ok(json) => apply(path.find(&json), path.lax, document)?,
            Err(why) => apply(Err(why), path.lax, document)?,
        };
        append(value);
    }
    Ok(())
}

/// What JSON_VALUE makes of a row: the text of a scalar, or a reason to apply ON EMPTY or ON ERROR.
enum Scalar {
    Text(String),
    Empty,
    Error(String),
}

fn scalar_of(found: std::result::Result<Found<'_>, String>, lax: bool) -> Scalar {
    match found {
        Err(why) => Scalar::Error(why),
        Ok(Found::Nothing | Found::One(Json::Null)) => Scalar::Empty,
        Ok(Found::One(json)) if json.is_scalar() => Scalar::Text(json.text()),
        Ok(_) if lax => Scalar::Empty,
        Ok(_) => Scalar::Error("the value is not a scalar".into()),
    }
}

/// A text fits RETURNING if it is written as that type; other texts are errors of the row.
fn fits(text: &str, sql_type: &SqlType) -> bool {
    use LogicalType as L;
    let integer = |min: i64, max: i64| !text.contains('.') && crate::cast::parse::integer(text, min, max).is_ok();
    match &sql_type.logical {
        L::Boolean => matches!(text, "true" | "false"),
        L::TinyInt => integer(i8::MIN.into(), i8::MAX.into()),
        L::SmallInt => integer(i16::MIN.into(), i16::MAX.into()),
        L::Int => integer(i32::MIN.into(), i32::MAX.into()),
        L::BigInt => integer(i64::MIN, i64::MAX),
        L::Float | L::Double => crate::cast::parse::double(text).is_ok(),
        L::Decimal { precision, scale } => crate::decimal::parse(text, *precision, *scale).is_ok(),
        _ => true,
    }
}

pub(crate) fn value(call: &Call) -> Result<ArrayRef> {
    let clause = call_clause(call, 2)?;
    let mut out = StringBuilder::with_capacity(call.rows, call.rows * 8);
    let behave = |behaviour: &Option<Behaviour>, document: &str, why: &str| match behaviour {
        None | Some(Behaviour::Null) => Ok(None),
        Some(Behaviour::Default(text)) => Ok(Some(text.clone())),
        Some(_) => Err(call.bad_value(&document, &why)),
    };
    let apply = |found: std::result::Result<Found<'_>, String>, lax: bool, document: &str| match scalar_of(found, lax) {
        Scalar::Text(text) if fits(&text, call.result) => Ok(Some(text)),
        Scalar::Text(text) => {
            let why = format!("'{text}' is not a {}", call.result.logical);
            behave(&clause.on_error, document, &why)
        }
        Scalar::Empty => behave(&clause.on_empty, document, "the path has no value"),
        Scalar::Error(why) => behave(&clause.on_error, document, &why),
    };
    each_document(call, apply, |value| out.append_option(value))?;
    let texts: ArrayRef = Arc::new(out.finish());
    crate::cast::cast(&texts, &SqlType::string(), call.result, false, call.context)
}

pub(crate) fn query_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    signature.string(0)?;
    signature.string(1)?;
    let returning = signature_clause(signature, 2)?.returning.unwrap_or_else(SqlType::string);
    match &returning.logical {
        LogicalType::Array(element) if element.logical.is_string() => Ok(returning),
        logical if logical.is_string() => Ok(returning),
        _ => Err(signature.error_because("RETURNING takes STRING or ARRAY<STRING>")),
    }
}

pub(crate) fn query(call: &Call) -> Result<ArrayRef> {
    let clause = call_clause(call, 2)?;
    let behave = |behaviour: &Option<Behaviour>, document: &str, why: &str| match behaviour {
        None | Some(Behaviour::Null) => Ok(None),
        Some(Behaviour::EmptyArray) => Ok(Some(Json::Array(Vec::new()))),
        Some(Behaviour::EmptyObject) => Ok(Some(Json::Object(Vec::new()))),
        Some(_) => Err(call.bad_value(&document, &why)),
    };
    let apply = |found: std::result::Result<Found<'_>, String>, lax: bool, document: &str| {
        let json = match found {
            Err(why) => return behave(&clause.on_error, document, &why),
            Ok(Found::Nothing | Found::One(Json::Null)) => {
                return behave(&clause.on_empty, document, "the path has no value");
            }
            Ok(Found::One(json)) => json.clone(),
            Ok(Found::Many(values)) => Json::Array(values.into_iter().cloned().collect()),
        };
        let json = match (clause.wrapper, json) {
            (Wrapper::Unconditional, json) => Json::Array(vec![json]),
            (Wrapper::Conditional, json @ Json::Array(_)) => json,
            (Wrapper::Conditional, json) => Json::Array(vec![json]),
            (Wrapper::Without, json) => json,
        };
        match json.is_scalar() {
            false => Ok(Some(json)),
            true if lax => behave(&clause.on_empty, document, "the value is a scalar"),
            true => behave(&clause.on_error, document, "the value is a scalar"),
        }
    };
    if call.result.logical.is_string() {
        let mut out = StringBuilder::new();
        each_document(call, apply, |json: Option<Json>| out.append_option(json.map(|json| json.to_json())))?;
        let texts: ArrayRef = Arc::new(out.finish());
        return crate::cast::cast(&texts, &SqlType::string(), call.result, false, call.context);
    }
    let LogicalType::Array(element) = &call.result.logical else { return Err(Error::internal("not an array")) };
    let mut out = ListBuilder::new(StringBuilder::new()).with_field(element.arrow_field("item"));
    each_document(call, apply, |json: Option<Json>| match json {
        Some(Json::Array(values)) => {
            for value in values {
                out.values().append_option((value != Json::Null).then(|| value.text()));
            }
            out.append(true);
        }
        _ => out.append_null(),
    })?;
    Ok(Arc::new(out.finish()))
}

pub(crate) fn exists_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    signature.string(0)?;
    signature.string(1)?;
    signature_clause(signature, 2)?;
    Ok(LogicalType::Boolean.nullable())
}

/// A JSON null does not exist.
pub(crate) fn exists(call: &Call) -> Result<ArrayRef> {
    let clause = call_clause(call, 2)?;
    let mut out = BooleanBuilder::with_capacity(call.rows);
    let apply = |found: std::result::Result<Found<'_>, String>, _: bool, document: &str| match found {
        Ok(Found::Nothing | Found::One(Json::Null)) => Ok(Some(false)),
        Ok(_) => Ok(Some(true)),
        Err(why) => match clause.on_error {
            None | Some(Behaviour::False) => Ok(Some(false)),
            Some(Behaviour::True) => Ok(Some(true)),
            Some(Behaviour::Unknown | Behaviour::Null) => Ok(None),
            Some(_) => Err(call.bad_value(&document, &why)),
        },
    };
    each_document(call, apply, |value| out.append_option(value))?;
    Ok(Arc::new(out.finish()))
}

pub(crate) fn string_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.strict(LogicalType::STRING)
}

pub(crate) fn string(call: &Call) -> Result<ArrayRef> {
    let array = call.full(0)?;
    call.write_texts(|row, out| {
        if array.is_null(row) || call.types[0].logical == LogicalType::Null {
            return Ok(false);
        }
        push_json(out, array.as_ref(), &call.types[0], row, call.context.time_zone)?;
        Ok(true)
    })
}

/// Whether the last argument is the clause of JSON_OBJECT or JSON_ARRAY.
fn is_clause(text: Option<&str>) -> bool {
    text.is_some_and(|text| {
        let upper = text.to_ascii_uppercase();
        ["NULL ON NULL", "ABSENT ON NULL", "FORMAT JSON"].iter().any(|start| upper.starts_with(start))
            && Clause::parse(text).is_ok()
    })
}

pub(crate) fn object_result(signature: &Signature) -> Result<SqlType> {
    let count = signature.arguments.len();
    if count % 2 == 1 && !is_clause(signature.constant_text(count - 1).as_deref()) {
        return Err(signature.error());
    }
    for index in (0..count - count % 2).step_by(2) {
        signature.string(index)?;
    }
    Ok(LogicalType::STRING.not_null())
}

/// `JSON_OBJECT(key, value, ...[, clause])`. The clause can name arguments that are JSON text: `FORMAT JSON 1 3`.
pub(crate) fn object(call: &Call) -> Result<ArrayRef> {
    let pairs = call.len() / 2;
    let clause = if call.len() % 2 == 1 { call_clause(call, call.len() - 1)? } else { call_clause(call, call.len())? };
    let absent = clause.absent_on_null.unwrap_or(false);
    let keys = (0..pairs).map(|pair| call.texts(pair * 2)).collect::<Result<Vec<_>>>()?;
    let values = (0..pairs).map(|pair| call.full(pair * 2 + 1)).collect::<Result<Vec<_>>>()?;
    call.write_texts(|row, out| {
        out.push('{');
        for (pair, (keys, values)) in keys.iter().zip(&values).enumerate() {
            let index = pair * 2 + 1;
            if absent && is_null(call, values, index, row) {
                continue;
            }
            let key = keys.get(row).ok_or_else(|| call.bad_value(&"NULL", &"a key of a JSON object cannot be NULL"))?;
            if out.len() > 1 {
                out.push(',');
            }
            push_quoted(out, key);
            out.push(':');
            push_value(call, &clause, values, index, row, out)?;
        }
        out.push('}');
        Ok(true)
    })
}

fn is_null(call: &Call, values: &ArrayRef, index: usize, row: usize) -> bool {
    values.is_null(row) || call.types[index].logical == LogicalType::Null
}

fn push_value(
    call: &Call,
    clause: &Clause,
    values: &ArrayRef,
    index: usize,
    row: usize,
    out: &mut String,
) -> Result<()> {
    if clause.json_arguments.contains(&index) && values.is_valid(row) && call.types[index].logical.is_string() {
        let text = values.as_string::<i32>().value(row);
        let json = Json::parse(text).map_err(|why| call.bad_value(&text, &why))?;
        out.push_str(&json.to_json());
        return Ok(());
    }
    push_json(out, values.as_ref(), &call.types[index], row, call.context.time_zone)
}

pub(crate) fn array_result(signature: &Signature) -> Result<SqlType> {
    let _ = signature;
    Ok(LogicalType::STRING.not_null())
}

/// `JSON_ARRAY(value, ...[, clause])`; NULLs are left out unless the clause says `NULL ON NULL`.
pub(crate) fn array(call: &Call) -> Result<ArrayRef> {
    let has_clause = call.len() > 0 && is_clause(call.constant_text(call.len() - 1)) && {
        // A column could hold such a text, but the clause is a constant.
        call.rows == 1 || call.arguments[call.len() - 1].len() == 1
    };
    let count = call.len() - usize::from(has_clause);
    let clause = call_clause(call, count)?;
    let absent = clause.absent_on_null.unwrap_or(true);
    let values = (0..count).map(|index| expand(&call.arguments[index], call.rows)).collect::<Result<Vec<_>>>()?;
    call.write_texts(|row, out| {
        out.push('[');
        for (index, values) in values.iter().enumerate() {
            if absent && is_null(call, values, index, row) {
                continue;
            }
            if out.len() > 1 {
                out.push(',');
            }
            push_value(call, &clause, values, index, row, out)?;
        }
        out.push(']');
        Ok(true)
    })
}

pub(crate) fn quote(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.write_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(false) };
        push_quoted(out, text);
        Ok(true)
    })
}

/// A JSON string as text; anything else stays as it is.
pub(crate) fn unquote(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.write_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(false) };
        match Json::parse(text) {
            Ok(Json::Text(inner)) if text.starts_with('"') => out.push_str(&inner),
            _ => out.push_str(text),
        }
        Ok(true)
    })
}

pub(crate) fn is_json_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.string(0)?;
    Ok(LogicalType::Boolean.nullable().with_nullable(signature.any_nullable()))
}

pub(crate) fn is_json(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let (negated, kind) = match call.name.strip_prefix("IS NOT JSON") {
        Some(kind) => (true, kind.trim()),
        None => (false, call.name.strip_prefix("IS JSON").unwrap_or_default().trim()),
    };
    call.map_booleans(|row| {
        let Some(text) = texts.get(row) else { return Ok(None) };
        let holds = Json::parse(text).is_ok_and(|json| match kind {
            "OBJECT" => matches!(json, Json::Object(_)),
            "ARRAY" => matches!(json, Json::Array(_)),
            "SCALAR" => json.is_scalar(),
            _ => true,
        });
        Ok(Some(holds != negated))
    })
}
