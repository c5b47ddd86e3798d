//! The script of the benchmark.

use super::*;

#[test]
fn the_script_has_as_many_statements_as_asked_for() {
    let time = measure(&script(32)).expect("a script that plans");
    assert_eq!((time.statements, time.jobs), (32, 12));
}
