//! JSON functions: a parser that keeps numbers as they are written, paths, and the SQL/JSON functions.

pub(crate) mod clause;
pub(crate) mod functions;
mod output;
mod path;
mod value;
pub(crate) mod variant;

pub(crate) use output::push_json;
pub(crate) use value::push_quoted;

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
