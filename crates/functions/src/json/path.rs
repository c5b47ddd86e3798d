//! JSON paths: `lax $.a.b[0]`, `$['b c']`, `$[*].x`, `$..x`, `$[0,2]`, `$[1:3]`, `$['a','b']`, `$.a.length()`.
//! Without a prefix a path is strict: what is missing is an error.

use super::value::Json;

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    /// Elements by their places.
    Indexes(Vec<i64>),
    /// Elements from a place up to another, without that one.
    Slice(Option<i64>, Option<i64>),
    /// An object of some of the fields; nothing follows.
    Fields(Vec<String>),
    /// The number of elements or fields; nothing follows.
    Length,
    /// The field at any depth.
    Deep(String),
}

/// Why a path cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum BadPath {
    /// It is no path: Flink applies ON ERROR.
    Invalid(String),
    /// A path of a kind that is not built.
    Unsupported(String),
}

impl From<&str> for BadPath {
    fn from(why: &str) -> BadPath {
        BadPath::Invalid(why.into())
    }
}

/// A compiled path.
#[derive(Debug, Clone)]
pub(super) struct Path {
    steps: Vec<Step>,
    pub lax: bool,
}

/// What a path finds.
pub(super) enum Found<'a> {
    One(&'a Json),
    /// A value that the path itself makes.
    Made(Json),
    /// All matches of a path that can have several: an array to SQL.
    Many(Vec<&'a Json>),
    /// Nothing, in lax mode.
    Nothing,
}

impl Path {
    /// Reads a path.
    pub fn parse(text: &str) -> Result<Path, BadPath> {
        let text = text.trim();
        let mode = |name: &str| {
            let head = text.get(..name.len())?;
            let rest = &text[name.len()..];
            (head.eq_ignore_ascii_case(name) && rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
        };
        let (lax, rest) = match (mode("lax"), mode("strict")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => (false, text),
        };
        let mut steps = Vec::new();
        let mut rest = match rest.strip_prefix('$') {
            Some(rest) => rest,
            None if rest.is_empty() => return Err("the path is empty".into()),
            // A bare name is a field of the root.
            None => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                steps.push(Step::Field(rest[..end].to_string()));
                &rest[end..]
            }
        };
        while !rest.is_empty() {
            let (step, after) = step(rest)?;
            steps.push(step);
            rest = after;
        }
        let last_only = |step: &Step| matches!(step, Step::Fields(_) | Step::Length);
        if let Some((_, before)) = steps.split_last()
            && before.iter().any(|step| last_only(step) || matches!(step, Step::All | Step::Deep(_) | Step::Slice(..)))
            && steps.iter().any(last_only)
        {
            return Err(BadPath::Unsupported(format!("'{text}' with several names or length() in a path of many")));
        }
        Ok(Path { steps, lax })
    }

    /// Follows the path; the error says what is missing, in strict mode only.
    pub fn find<'a>(&self, root: &'a Json) -> Result<Found<'a>, String> {
        let mut current = vec![root];
        let mut many = false;
        for step in &self.steps {
            let mut next = Vec::new();
            for value in current {
                match step {
                    Step::Field(name) => next.extend(field(value, name)),
                    Step::Index(index) => next.extend(element(value, *index)),
                    Step::All => match value {
                        Json::Array(values) => next.extend(values),
                        Json::Object(fields) => next.extend(fields.iter().map(|(_, value)| value)),
                        _ => {}
                    },
                    Step::Deep(name) => deep(value, name, &mut next),
                    Step::Indexes(indexes) => next.extend(indexes.iter().filter_map(|index| element(value, *index))),
                    Step::Slice(from, to) => next.extend(slice(value, *from, *to)),
                    Step::Fields(_) | Step::Length => {
                        if let Some(made) = make(step, value) {
                            return Ok(Found::Made(made));
                        }
                    }
                }
            }
            many |= matches!(step, Step::All | Step::Deep(_) | Step::Indexes(_) | Step::Slice(..));
            if next.is_empty() && !many {
                return if self.lax {
                    Ok(Found::Nothing)
                } else {
                    Err(format!("no result for the path step {step:?}"))
                };
            }
            current = next;
        }
        if many {
            return Ok(Found::Many(current));
        }
        Ok(current.first().map_or(Found::Nothing, |value| Found::One(value)))
    }
}

fn field<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    match value {
        Json::Object(fields) => fields.iter().find(|(known, _)| known == name).map(|(_, value)| value),
        _ => None,
    }
}

fn element(value: &Json, index: i64) -> Option<&Json> {
    match value {
        Json::Array(values) => {
            let index = if index < 0 { values.len() as i64 + index } else { index };
            values.get(usize::try_from(index).ok()?)
        }
        _ => None,
    }
}

fn slice(value: &Json, from: Option<i64>, to: Option<i64>) -> &[Json] {
    let Json::Array(values) = value else { return &[] };
    let length = values.len() as i64;
    let place = |index: i64| if index < 0 { length + index } else { index }.clamp(0, length) as usize;
    let (from, to) = (place(from.unwrap_or(0)), place(to.unwrap_or(length)));
    if from < to { &values[from..to] } else { &[] }
}

/// The value of a step that makes one.
fn make(step: &Step, value: &Json) -> Option<Json> {
    match (step, value) {
        (Step::Length, Json::Array(values)) => Some(Json::Number(values.len().to_string())),
        (Step::Length, Json::Object(fields)) => Some(Json::Number(fields.len().to_string())),
        (Step::Fields(names), Json::Object(fields)) => {
            Some(Json::Object(fields.iter().filter(|(name, _)| names.contains(name)).cloned().collect()))
        }
        _ => None,
    }
}

fn deep<'a>(value: &'a Json, name: &str, out: &mut Vec<&'a Json>) {
    match value {
        Json::Object(fields) => {
            out.extend(field(value, name));
            fields.iter().for_each(|(_, value)| deep(value, name, out));
        }
        Json::Array(values) => values.iter().for_each(|value| deep(value, name, out)),
        _ => {}
    }
}

fn step(text: &str) -> Result<(Step, &str), BadPath> {
    if let Some(rest) = text.strip_prefix("..") {
        let (name, rest) = name(rest)?;
        return Ok((Step::Deep(name), rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        if let Some(rest) = rest.strip_prefix('*') {
            return Ok((Step::All, rest));
        }
        if let Some(rest) = rest.strip_prefix("length()") {
            return Ok((Step::Length, rest));
        }
        let (name, rest) = name(rest)?;
        return Ok((Step::Field(name), rest));
    }
    let Some(inside) = text.strip_prefix('[') else {
        return Err(BadPath::Invalid(format!("unexpected '{text}'")));
    };
    let mut inside = inside.trim_start();
    let mut names = Vec::new();
    while let Some(quote) = inside.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let (name, rest) = quoted(&inside[1..], quote)?;
        names.push(name);
        let rest = rest.trim_start();
        if let Some(rest) = rest.strip_prefix(']') {
            let step = if names.len() == 1 { Step::Field(names.remove(0)) } else { Step::Fields(names) };
            return Ok((step, rest));
        }
        inside = rest.strip_prefix(',').ok_or("a bracket is not closed")?.trim_start();
    }
    let (inside, rest) = inside.split_once(']').ok_or("a bracket is not closed")?;
    let inside = inside.trim();
    if inside == "*" {
        return Ok((Step::All, rest));
    }
    if inside.starts_with(['?', '(', '@']) {
        return Err(BadPath::Unsupported(format!("the filter '[{inside}]' in a path is not supported")));
    }
    let number = |text: &str| {
        text.trim().parse::<i64>().map_err(|_| BadPath::Invalid(format!("'[{inside}]' is no place in an array")))
    };
    if let Some((from, to)) = inside.split_once(':') {
        let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
        return Ok((Step::Slice(bound(from)?, bound(to)?), rest));
    }
    if inside.contains(',') {
        return Ok((Step::Indexes(inside.split(',').map(number).collect::<Result<_, _>>()?), rest));
    }
    Ok((Step::Index(number(inside)?), rest))
}

fn name(text: &str) -> Result<(String, &str), BadPath> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let name = text[..end].trim();
    if name.is_empty() {
        return Err("a name is missing".into());
    }
    if name.contains(['(', '?']) {
        return Err(BadPath::Unsupported(format!("'{name}' in a path is not supported")));
    }
    Ok((name.to_string(), &text[end..]))
}

fn quoted(text: &str, quote: char) -> Result<(String, &str), BadPath> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Ok((name, &text[at + 1..]));
        }
        if c == '\\' {
            name.extend(chars.next().map(|(_, c)| c));
        } else {
            name.push(c);
        }
    }
    Err("a quote is not closed".into())
}
