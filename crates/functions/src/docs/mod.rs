//! The descriptions of all scalar functions, operators and forms with a syntax of their own, by topic.

mod collections;
mod json;
mod numbers;
mod operators;
mod strings;
mod times;

use crate::doc::{Category, FunctionDoc};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A name and what is said about it.
type Entry = (&'static str, FunctionDoc);

const fn entry(
    category: Category,
    name: &'static str,
    en: &'static str,
    zh: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> Entry {
    (name, FunctionDoc { category, en, zh, examples })
}

const TOPICS: &[&[Entry]] = &[
    operators::COMPARISON,
    operators::LOGIC,
    operators::CONDITIONAL,
    operators::CONVERSION,
    numbers::ARITHMETIC,
    strings::STRING,
    strings::HASH,
    times::TIME,
    collections::COLLECTION,
    collections::BITMAP,
    json::JSON,
    json::VARIANT,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static FunctionDoc>> =
    LazyLock::new(|| TOPICS.iter().flat_map(|topic| topic.iter()).map(|(name, doc)| (*name, doc)).collect());

/// The description of a scalar function or operator by its upper-case name; also of what only the planner knows, such as CASE.
pub fn scalar_doc(name: &str) -> Option<&'static FunctionDoc> {
    BY_NAME.get(name).copied()
}

/// Every description with its name, in the order of the page.
pub fn scalar_docs() -> impl Iterator<Item = (&'static str, &'static FunctionDoc)> {
    TOPICS.iter().flat_map(|topic| topic.iter()).map(|(name, doc)| (*name, doc))
}

#[cfg(test)]
#[path = "docs_tests.rs"]
mod tests;
