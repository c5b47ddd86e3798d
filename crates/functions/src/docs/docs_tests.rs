//! Every function is described, once and in both languages.

use super::scalar_docs;
use crate::{scalar_doc, scalar_names};
use std::collections::HashSet;

/// Functions that only the planner calls.
const INTERNAL: [&str; 1] = ["JSON TEXT"];
/// What has no example because it needs a stream.
const WITHOUT_EXAMPLE: [&str; 1] = ["CURRENT_WATERMARK"];

#[test]
fn every_function_is_described() {
    let missing: Vec<&str> =
        scalar_names().into_iter().filter(|name| scalar_doc(name).is_none() && !INTERNAL.contains(name)).collect();
    assert!(missing.is_empty(), "not described: {missing:?}");
}

#[test]
fn descriptions_are_complete() {
    let mut seen = HashSet::new();
    for (name, doc) in scalar_docs() {
        assert!(seen.insert(name), "{name} is described twice");
        assert!(doc.en.ends_with('.') && doc.zh.ends_with('。'), "{name}");
        assert!(!doc.zh.is_ascii() && doc.en != doc.zh, "{name}");
        assert!(!doc.examples.is_empty() || WITHOUT_EXAMPLE.contains(&name), "{name} has no example");
    }
}
