//! UNNEST against Flink's recorded rows.

use super::harness::{Case, case, run_bounded, stream};
use super::stand_ins::is_positive;
use base::ChangelogMode;
use base::plan::{NodeKind, Unnest, UnnestKind};

fn unnest(node: Unnest, input: &str, output: &str) -> Case {
    let (input, output) = (stream(input, ChangelogMode::ALL), stream(output, ChangelogMode::ALL));
    Case { exact: true, ..case(NodeKind::Unnest(node), input, output, &[]) }
}

fn array(outer: bool) -> Unnest {
    Unnest { column: 1, kind: UnnestKind::Array, with_ordinality: false, outer, condition: None }
}

const ARRAYS: &str = "
    +I 1 [1,2,null]
    +I 2 []
    +I 3 null
    -U 1 [1,2,null]
    +U 1 [7]
    -D 2 []";

#[test]
fn elements_follow_their_row_with_its_kind() {
    unnest(array(false), "id:int a:ints", "id:int a:ints x:int").check(
        ARRAYS,
        "+I 1 [1,2,null] 1
         +I 1 [1,2,null] 2
         +I 1 [1,2,null] null
         -U 1 [1,2,null] 1
         -U 1 [1,2,null] 2
         -U 1 [1,2,null] null
         +U 1 [7]        7",
    );
}

#[test]
fn left_join_pads_rows_without_elements() {
    let node = Unnest { with_ordinality: true, ..array(true) };
    unnest(node, "id:int a:ints", "id:int a:ints x:int o:ordinal").check(
        ARRAYS,
        "+I 1 [1,2,null] 1    1
         +I 1 [1,2,null] 2    2
         +I 1 [1,2,null] null 3
         +I 2 []         null null
         +I 3 null       null null
         -U 1 [1,2,null] 1    1
         -U 1 [1,2,null] 2    2
         -U 1 [1,2,null] null 3
         +U 1 [7]        7    1
         -D 2 []         null null",
    );
}

#[test]
fn left_join_with_a_condition_pads_rows_without_a_true_pair() {
    let node = Unnest { condition: Some(is_positive(2)), ..array(true) };
    unnest(node, "id:int a:ints", "id:int a:ints x:int").check(
        "+I 1 [-1,2,null,3]
         +I 2 [-1]
         +I 3 null",
        "+I 1 [-1,2,null,3] 2
         +I 1 [-1,2,null,3] 3
         +I 2 [-1]          null
         +I 3 null          null",
    );
}

#[test]
fn a_multiset_gives_every_copy() {
    let node = Unnest { kind: UnnestKind::Multiset, with_ordinality: true, ..array(false) };
    unnest(node, "id:int a:texts", "id:int a:texts x:text o:ordinal").check(
        "+I 1 {p=2,q=1}
         +I 2 null",
        "+I 1 {p=2,q=1} p 1
         +I 1 {p=2,q=1} p 2
         +I 1 {p=2,q=1} q 3",
    );
}

#[test]
fn a_map_gives_keys_and_values() {
    let node = Unnest { kind: UnnestKind::Map, ..array(false) };
    unnest(node, "id:int a:texts", "id:int a:texts k:text v:ordinal")
        .check("+I 1 {p=2,q=1}", "+I 1 {p=2,q=1} p 2\n+I 1 {p=2,q=1} q 1");
}

#[test]
fn output_comes_in_bounded_batches() {
    let case = unnest(array(false), "id:int a:ints", "id:int a:ints x:int");
    let script: String = (0..20).map(|id| format!("+I {id} [1,2,3,4,5,6,7,8,9,10]\n")).collect();
    let run = run_bounded(&case, &script, 16);
    assert_eq!((run.output.len(), run.largest_batch), (200, 16));
}
