//! JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_STRING, JSON_OBJECT, JSON_ARRAY, JSON_QUOTE, JSON_UNQUOTE and IS JSON.

use super::clause::{Behaviour, Clause, Wrapper};
use super::output::{JsonWriter, has_json};
use super::path::{BadPath, Found, Path};
use super::value::{Json, push_quoted};
use crate::call::{Call, Compiled, Signature, Texts};
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

/// The path, or why the row has an error; a path of a kind that is not built stops the job.
fn compile_path(call: &Call, text: &str) -> Result<std::result::Result<Path, String>> {
    match Path::parse(text) {
        Ok(path) => Ok(Ok(path)),
        Err(BadPath::Invalid(why)) => Ok(Err(why)),
        Err(BadPath::Unsupported(why)) => {
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("function", &call.name), ("pattern", &text), ("why", &why)];
            Err(Error::new(&codes::BAD_PATTERN, &arguments))
        }
    }
}

/// The first argument is a document: a text or a VARIANT.
fn check_document(signature: &Signature) -> Result<()> {
    signature.check(0, |logical| logical.is_string() || *logical == LogicalType::Variant)
}

fn documents(call: &Call) -> Result<Texts> {
    if call.types[0].logical != LogicalType::Variant {
        return call.texts(0);
    }
    let texts = arrow::compute::cast(&call.arguments[0], &arrow::datatypes::DataType::Utf8)?;
    Ok(Texts::of(texts.as_string::<i32>().clone(), call.rows))
}

pub(crate) fn value_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(2..=3)?;
    check_document(signature)?;
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
    let (documents, paths) = (documents(call)?, call.texts(1)?);
    let mut compiled = Compiled::new();
    for row in 0..call.rows {
        let (Some(document), Some(path)) = (documents.get(row), paths.get(row)) else {
            append(None);
            continue;
        };
        let path = compiled.get(path, |text| compile_path(call, text))?;
        let value = match (path, Json::parse(document)) {
            (Ok(_), Ok(Json::Null)) => apply(Err("the document is null".into()), false, document)?,
            (Ok(path), Ok(json)) => apply(path.find(&json), path.lax, document)?,
            // To a lax path, what is no JSON is empty.
            (Ok(path), Err(_)) if path.lax => apply(Ok(Found::Nothing), true, document)?,
            (Ok(_), Err(why)) => apply(Err(why), false, document)?,
            (Err(why), _) => apply(Err(why.clone()), false, document)?,
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
        Ok(Found::One(Json::Null)) if !lax => Scalar::Error("the value is null, and the path is strict".into()),
        Ok(Found::Nothing | Found::One(Json::Null)) => Scalar::Empty,
        Ok(Found::Made(json)) if json.is_scalar() => Scalar::Text(json.text()),
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
    check_document(signature)?;
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
            Ok(Found::One(Json::Null)) if !lax => {
                return behave(&clause.on_error, document, "the value is null, and the path is strict");
            }
            Ok(Found::Nothing | Found::One(Json::Null)) => {
                return behave(&clause.on_empty, document, "the path has no value");
            }
            Ok(Found::One(json)) => json.clone(),
            Ok(Found::Made(json)) => json,
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
    check_document(signature)?;
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
    check_json(signature, 0)?;
    signature.strict(LogicalType::STRING)
}

/// An argument whose values can be written as JSON.
fn check_json(signature: &Signature, index: usize) -> Result<()> {
    let sql_type = signature.sql_type(index);
    if has_json(sql_type) {
        return Ok(());
    }
    Err(signature.error_because(&format!("values of type {} have no form in JSON", sql_type.logical)))
}

pub(crate) fn string(call: &Call) -> Result<ArrayRef> {
    let array = call.full(0)?;
    let writer = JsonWriter::new(array.as_ref(), &call.types[0])?;
    call.write_texts(|row, out| {
        if array.is_null(row) || call.types[0].logical == LogicalType::Null {
            return Ok(false);
        }
        writer.push(out, row)?;
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
        check_json(signature, index + 1)?;
    }
    Ok(LogicalType::STRING.not_null())
}

/// `JSON_OBJECT(key, value, ...[, clause])`. The clause can name arguments that are JSON text: `FORMAT JSON 1 3`.
pub(crate) fn object(call: &Call) -> Result<ArrayRef> {
    let pairs = call.len() / 2;
    let clause = if call.len() % 2 == 1 { call_clause(call, call.len() - 1)? } else { call_clause(call, call.len())? };
    let absent = clause.absent_on_null.unwrap_or(false);
    let keys = (0..pairs).map(|pair| call.texts(pair * 2)).collect::<Result<Vec<_>>>()?;
    let arrays = (0..pairs).map(|pair| call.full(pair * 2 + 1)).collect::<Result<Vec<_>>>()?;
    let members = arrays.iter().enumerate().map(|(pair, array)| Member::new(call, &clause, pair * 2 + 1, array));
    let values = members.collect::<Result<Vec<_>>>()?;
    let mut order: Vec<usize> = Vec::with_capacity(pairs);
    call.write_texts(|row, out| {
        // By key, and of equal keys the last one, which is not looked at if it is absent.
        order.clear();
        for pair in (0..pairs).rev() {
            let key =
                keys[pair].get(row).ok_or_else(|| call.bad_value(&"NULL", &"a key of a JSON object cannot be NULL"))?;
            let known = order.iter().any(|known| keys[*known].get(row) == Some(key));
            let left_out = known || absent && values[pair].is_null(row);
            if !left_out {
                order.push(pair);
            }
        }
        order.sort_by(|a, b| keys[*a].get(row).cmp(&keys[*b].get(row)));
        out.push('{');
        for (index, pair) in order.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            push_quoted(out, keys[*pair].get(row).unwrap_or_default());
            out.push(':');
            values[*pair].push(row, out)?;
        }
        out.push('}');
        Ok(true)
    })
}

/// A value of JSON_OBJECT or JSON_ARRAY.
struct Member<'a> {
    call: &'a Call<'a>,
    array: &'a ArrayRef,
    writer: JsonWriter<'a>,
    is_json: bool,
}

impl<'a> Member<'a> {
    fn new(call: &'a Call<'a>, clause: &Clause, index: usize, array: &'a ArrayRef) -> Result<Member<'a>> {
        let sql_type = &call.types[index];
        let is_json = clause.json_arguments.contains(&index) && sql_type.logical.is_string();
        Ok(Member { call, array, writer: JsonWriter::new(array.as_ref(), sql_type)?, is_json })
    }

    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || self.array.data_type().is_null()
    }

    fn push(&self, row: usize, out: &mut String) -> Result<()> {
        if !self.is_json || self.is_null(row) {
            return self.writer.push(out, row);
        }
        let text = self.array.as_string::<i32>().value(row);
        if text.trim().is_empty() {
            out.push_str("null");
            return Ok(());
        }
        let json = Json::parse(text).map_err(|why| self.call.bad_value(&text, &why))?;
        out.push_str(&json.to_json());
        Ok(())
    }
}

pub(crate) fn array_result(signature: &Signature) -> Result<SqlType> {
    for index in 0..signature.arguments.len() {
        check_json(signature, index)?;
    }
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
    let arrays = (0..count).map(|index| call.full(index)).collect::<Result<Vec<_>>>()?;
    let members = arrays.iter().enumerate().map(|(index, array)| Member::new(call, &clause, index, array));
    let values = members.collect::<Result<Vec<_>>>()?;
    call.write_texts(|row, out| {
        out.push('[');
        for values in &values {
            if absent && values.is_null(row) {
                continue;
            }
            if out.len() > 1 {
                out.push(',');
            }
            values.push(row, out)?;
        }
        out.push(']');
        Ok(true)
    })
}

/// `JSON(text)`: a text that JSON_OBJECT and JSON_ARRAY take as JSON; the planner tells them.
pub(crate) fn json_result(signature: &Signature) -> Result<SqlType> {
    signature.arity(1..=1)?;
    signature.string(0)?;
    if signature.function.name == "JSON" {
        return Err(signature.error_because("it stands only as a value of JSON_OBJECT or JSON_ARRAY"));
    }
    Ok(signature.sql_type(0).clone())
}

pub(crate) fn json(call: &Call) -> Result<ArrayRef> {
    call.full(0)
}

pub(crate) fn quote(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.write_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(false) };
        push_quoted_ascii(out, text);
        Ok(true)
    })
}

/// A JSON string of ASCII only: other characters and the slash are escaped.
fn push_quoted_ascii(out: &mut String, text: &str) {
    use std::fmt::Write;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
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
    Ok(LogicalType::Boolean.not_null())
}

pub(crate) fn is_json(call: &Call) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let (negated, kind) = match call.name.strip_prefix("IS NOT JSON") {
        Some(kind) => (true, kind.trim()),
        None => (false, call.name.strip_prefix("IS JSON").unwrap_or_default().trim()),
    };
    call.map_booleans(|row| {
        // NULL is no JSON.
        let Some(text) = texts.get(row) else { return Ok(Some(negated)) };
        let holds = Json::parse(text).is_ok_and(|json| match kind {
            "OBJECT" => matches!(json, Json::Object(_)),
            "ARRAY" => matches!(json, Json::Array(_)),
            "SCALAR" => json.is_scalar(),
            _ => true,
        });
        Ok(Some(holds != negated))
    })
}
