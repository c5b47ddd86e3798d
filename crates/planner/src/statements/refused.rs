//! Statements that this version does not execute: each with its reason, and with what works instead.

use super::name_parts;
use crate::session::Session;
use crate::statement_codes as codes;
use base::{Error, ErrorCode};
use syntax::Statement;
use syntax::statement::ModifyKind;

/// Why a statement is refused.
pub fn refuse(session: &Session, statement: &Statement) -> Error {
    let named = |code: &'static ErrorCode, statement: &str| Error::new(code, &[("statement", &statement)]);
    match statement {
        Statement::Modify(modify) => named(
            &codes::ROW_CHANGE,
            match modify.kind {
                ModifyKind::Update => "UPDATE",
                ModifyKind::Delete => "DELETE",
                ModifyKind::Merge => "MERGE",
            },
        ),
        Statement::Call(call) => Error::new(&codes::PROCEDURE, &[("name", &call.name)]),
        Statement::LoadModule { name, .. } => Error::new(&codes::MODULE, &[("name", &name.value)]),
        Statement::UnloadModule(name) => Error::new(&codes::MODULE, &[("name", &name.value)]),
        Statement::Analyze { .. } => Error::new(&codes::STATISTICS, &[]),
        Statement::Truncate(table) => Error::new(&codes::TRUNCATE, &[("name", &name_parts(table).join("."))]),
        Statement::Other { keyword, text } => other(session, keyword, text),
        _ => Error::unsupported("this statement"),
    }
}

/// Statements that are known by their first words only.
fn other(session: &Session, keyword: &str, text: &str) -> Error {
    let mut words = keyword.split_whitespace().chain(text.split_whitespace()).map(str::to_uppercase);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let both = format!("{first} {second}").trim_end().to_string();
    let named = |code: &'static ErrorCode, statement: &str| Error::new(code, &[("statement", &statement)]);
    let client = |fix: &str| Error::new(&codes::CLIENT_COMMAND, &[("statement", &first), ("fix", &fix)]);
    match (first.as_str(), second.as_str()) {
        ("CREATE" | "ALTER" | "DROP" | "REFRESH", "MATERIALIZED" | "OR") => {
            named(&codes::MATERIALIZED_TABLE, &format!("{first} MATERIALIZED TABLE"))
        }
        (_, "MODEL") => named(&codes::MODEL, &both),
        (_, "CONNECTION") => named(&codes::CONNECTION, &both),
        ("ALTER", "FUNCTION" | "TEMPORARY") => Error::new(&codes::ALTER_FUNCTION, &[]),
        ("ADD" | "REMOVE", "JAR" | "JARS") => {
            let known = session.environment.connectors.names().join(", ");
            Error::new(&codes::JAR, &[("statement", &both), ("known", &known)])
        }
        ("COMPILE" | "EXECUTE", _) => named(&codes::SAVED_PLAN, &format!("{first} PLAN")),
        ("STOP" | "DESCRIBE", "JOB") => named(&codes::JOB_COMMAND, &both),
        ("QUIT" | "EXIT", _) => client("remove it: the run ends when its jobs end, or on Ctrl-C"),
        ("CLEAR", _) => client("remove it"),
        ("HELP", _) => client("remove it: highwater --help lists commands, docs/sql.md the statements"),
        ("SOURCE", _) => {
            client("paste the statements of that file into this script, or run the files one after the other")
        }
        ("ANALYZE", _) => Error::new(&codes::STATISTICS, &[]),
        _ => named(&codes::FOREIGN_STATEMENT, &first),
    }
}
