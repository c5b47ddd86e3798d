//! JSON paths: `lax $.a.b[0]`, `$['b c']`, `$[*].x`, `$..x`.
//! Without a prefix a path is strict: what is missing is an error.

use super::value::Json;

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    /// The field at any depth.
    Deep(String),
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
    /// All matches of a path that can have several: an array to SQL.
    Many(Vec<&'a Json>),
    /// Nothing, in lax mode.
    Nothing,
}

impl Path {
    /// The error is the reason.
    pub fn parse(text: &str) -> Result<Path, String> {
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
                }
            }
            many |= matches!(step, Step::All | Step::Deep(_));
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

fn step(text: &str) -> Result<(Step, &str), String> {
    if let Some(rest) = text.strip_prefix("..") {
        let (name, rest) = name(rest)?;
        return Ok((Step::Deep(name), rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        if let Some(rest) = rest.strip_prefix('*') {
            return Ok((Step::All, rest));
        }
        let (name, rest) = name(rest)?;
        return Ok((Step::Field(name), rest));
    }
    let Some(inside) = text.strip_prefix('[') else { return Err(format!("unexpected '{text}'")) };
    let inside = inside.trim_start();
    if let Some(quote) = inside.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let (name, rest) = quoted(&inside[1..], quote)?;
        let rest = rest.trim_start().strip_prefix(']').ok_or("a bracket is not closed")?;
        return Ok((Step::Field(name), rest));
    }
    let (inside, rest) = inside.split_once(']').ok_or("a bracket is not closed")?;
    let inside = inside.trim();
    if inside == "*" {
        return Ok((Step::All, rest));
    }
    let index = inside.parse().map_err(|_| format!("'[{inside}]' in a path is not supported"))?;
    Ok((Step::Index(index), rest))
}

fn name(text: &str) -> Result<(String, &str), String> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let name = text[..end].trim();
    if name.is_empty() {
        return Err("a name is missing".into());
    }
    if name.contains(['(', '?', '@']) {
        return Err(format!("'{name}' in a path is not supported"));
    }
    Ok((name.to_string(), &text[end..]))
}

fn quoted(text: &str, quote: char) -> Result<(String, &str), String> {
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
