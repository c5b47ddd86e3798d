//! The fuzzer must be able to find something, and to make it small.

use super::*;

#[test]
fn the_same_number_gives_the_same_input() {
    let fuzzer = Fuzzer::new(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")));
    for target in [Target::Scripts, Target::Expressions] {
        assert_eq!(fuzzer.input(target, 7).text(), fuzzer.input(target, 7).text());
        assert_ne!(fuzzer.input(target, 7).text(), fuzzer.input(target, 8).text());
    }
}

#[test]
fn a_text_becomes_small() {
    let small = mutate::smaller("SELECT a + 'x y', PANIC FROM t WHERE b".into(), 200, |text| text.contains("PANIC"));
    assert_eq!(small, "PANIC");
}

#[test]
fn an_expression_becomes_small() {
    let grammar = expressions::Grammar::new();
    let mut random = Random::new(3);
    let large = (0..200).map(|_| grammar.of(&mut random, 's', 4)).find(|node| node.sql().contains("c_map"));
    let small =
        expressions::smaller(large.expect("an expression with a map"), 500, |node| node.sql().contains("c_map"));
    assert!(small.sql().len() < 40, "{}", small.sql());
}

#[test]
fn a_literal_stands_for_every_column_of_a_row() {
    let context = base::function::FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false };
    let rows = table::Rows::random(&mut Random::new(1), 4, &context);
    let constant = rows.constant("c_int + CHAR_LENGTH('c_str')", 0).expect("a literal");
    assert!(constant.contains("AS INT)") && constant.ends_with("CHAR_LENGTH('c_str')"), "{constant}");
}
