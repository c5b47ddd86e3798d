//! One script through the parser and the planner: nothing is run.

use super::Fed;
use crate::oracle::CaseSession;
use base::{Error, Location};

/// More statements of one script are not looked at.
const STATEMENTS_MAX: usize = 60;

/// Executes the script in a new session.
pub fn check(text: &str) -> Fed {
    let mut case = CaseSession::planning();
    let script = syntax::Script::new("fuzz.sql", text);
    // Without the mark at its start.
    let text = script.text();
    let mut accepted = true;
    for statement in script.statements().take(STATEMENTS_MAX) {
        match case.session.execute(&script, &statement) {
            Ok(executed) => {
                if let Some(wrong) = executed.warnings.iter().find_map(|warning| wrong_error(warning, text)) {
                    return wrong;
                }
            }
            Err(error) => {
                accepted = false;
                if let Some(wrong) = wrong_error(&error, text) {
                    return wrong;
                }
            }
        }
    }
    if accepted { Fed::Accepted } else { Fed::Refused }
}

/// An error that should not be: of our own, or about a place that the script does not have.
fn wrong_error(error: &Error, text: &str) -> Option<Fed> {
    if super::is_internal(error) {
        return Some(Fed::Wrong(super::signature(error), error.to_string()));
    }
    let Some(Location::Sql { line, column, source_line, .. }) = error.location() else { return None };
    let lines: Vec<&str> = text.split('\n').collect();
    let Some(found) = (*line as usize).checked_sub(1).and_then(|index| lines.get(index)) else {
        return Some(Fed::Wrong("a line that the script does not have".into(), error.to_string()));
    };
    let columns = found.chars().count() as u64 + 1;
    if *column == 0 || *column > columns {
        return Some(Fed::Wrong("a column that the line does not have".into(), error.to_string()));
    }
    let same = |line: &str| line.trim_end_matches('\r') == found.trim_end_matches('\r');
    if source_line.as_deref().is_some_and(|line| !same(line)) {
        return Some(Fed::Wrong("another line than the one it names".into(), error.to_string()));
    }
    None
}
