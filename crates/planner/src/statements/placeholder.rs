//! `...` in a WITH clause: the statement is read as if it were not there, to tell what belongs in its place.

use super::object_path;
use crate::binder::positions::Positions;
use crate::session::Session;
use crate::syntax_codes::PLACEHOLDER_WITH;
use crate::table::{self, TableContext, missing_options};
use base::Error;
use std::collections::BTreeSet;
use syntax::statement::CreateTable;
use syntax::{RawStatement, Statement, SyntaxError, SyntaxErrorKind};

/// The most placeholders that are taken out of one statement.
const PLACEHOLDERS_MAX: usize = 16;

/// A better error for a placeholder in CREATE TABLE; `None` if there is nothing better to say.
pub fn explain(
    session: &Session,
    statement: &RawStatement,
    error: &SyntaxError,
    positions: &Positions<'_>,
) -> Option<Error> {
    if !matches!(error.kind, SyntaxErrorKind::Placeholder) {
        return None;
    }
    let create = without_placeholders(statement, error)?;
    let option = |key: &str| create.definition.options.iter().find(|option| option.key == key);
    let connector = option("connector")?.value.clone();
    let factory = session.environment.connectors.get(&connector)?;
    let path = object_path(session, &create.name).ok()?;
    let context = TableContext {
        connectors: &session.environment.connectors,
        catalogs: &session.catalogs,
        connector: &session.connector_context().ok()?,
        functions: &session.function_context().ok()?,
        positions,
    };
    let refusal = table::resolve(&create, path.clone(), &context).err();
    let mut required: BTreeSet<&str> =
        factory.options().iter().filter(|spec| spec.required).map(|spec| spec.key).collect();
    required.extend(refusal.as_ref().and_then(missing_options).into_iter().flatten());
    let list = |keys: &mut dyn Iterator<Item = &str>| keys.map(|key| format!("'{key}'")).collect::<Vec<_>>().join(", ");
    let missing: Vec<String> =
        required.iter().filter(|key| option(key).is_none()).map(|key| format!("'{key}' = '...'")).collect();
    let missing = if missing.is_empty() { "-".to_string() } else { missing.join(", ") };
    let error_at = positions.at(error.line, error.column);
    let error = Error::new(
        &PLACEHOLDER_WITH,
        &[
            ("connector", &connector),
            ("required", &list(&mut required.iter().copied())),
            ("table", &path.name),
            ("missing", &missing),
        ],
    );
    // What misses is told; what else is wrong with the table is told as well.
    let others = refusal.into_iter().filter(|refusal| missing_options(refusal).is_none());
    Some(error.at(error_at).and(others))
}

/// The CREATE TABLE without its placeholders.
fn without_placeholders(statement: &RawStatement, error: &SyntaxError) -> Option<CreateTable> {
    let mut raw = statement.clone();
    let mut place = (error.line, error.column);
    for _ in 0..PLACEHOLDERS_MAX {
        let offset = offset(&raw, place)?;
        raw.text = cut(&raw.text, offset)?;
        match syntax::parse(&raw) {
            Ok(Statement::CreateTable(create)) => return Some(*create),
            Err(next) if matches!(next.kind, SyntaxErrorKind::Placeholder) => place = (next.line, next.column),
            _ => return None,
        }
    }
    None
}

/// The byte in the text of a statement at a line and column of the script.
fn offset(statement: &RawStatement, (line, column): (u64, u64)) -> Option<usize> {
    let lines_before = line.checked_sub(statement.line)? as usize;
    let first_column = if lines_before == 0 { statement.column } else { 1 };
    let characters = column.checked_sub(first_column)? as usize;
    let start = match lines_before {
        0 => 0,
        count => statement.text.match_indices('\n').nth(count - 1)?.0 + 1,
    };
    let rest = statement.text.get(start..)?;
    rest.char_indices().nth(characters).map(|(index, _)| start + index)
}

/// The text without the dots at `offset` and without the comma that set them apart.
fn cut(text: &str, offset: usize) -> Option<String> {
    let (before, after) = (text.get(..offset)?, text.get(offset..)?);
    let after = after.trim_start_matches(['.', '…']);
    let trimmed = before.trim_end();
    let (before, after) = match (trimmed.strip_suffix(','), after.trim_start().strip_prefix(',')) {
        (Some(before), _) => (before, after),
        (None, Some(after)) => (before, after),
        (None, None) => (before, after),
    };
    Some(format!("{before} {after}"))
}
