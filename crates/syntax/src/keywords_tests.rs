//! Tests of the list of reserved words.

use super::*;

#[test]
fn word_lists_are_sorted() {
    assert!(RESERVED.is_sorted());
    assert!(CLAUSE_WORDS.is_sorted());
    assert!(is_reserved("value") && !is_reserved("level"));
}
