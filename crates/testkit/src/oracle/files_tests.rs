//! The comparison of files must be able to fail.

use super::*;
use crate::oracle::Standing;

fn compared(wanted: &[&str], found: &[&str], sequence: bool) -> Verdict {
    let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
    compare_lines("f", lines(wanted), lines(found), sequence)
}

fn passes(wanted: &[&str], found: &[&str], sequence: bool) -> bool {
    compared(wanted, found, sequence).standing == Standing::Passed
}

/// A row that is added and one that is taken away, in each format.
const PAIRS: [[&str; 2]; 4] = [
    [r#"{"before":null,"after":{"k":@},"op":"c"}"#, r#"{"before":{"k":@},"after":null,"op":"d"}"#],
    [r#"{"before":null,"after":{"k":@},"op_type":"I"}"#, r#"{"before":{"k":@},"after":null,"op_type":"D"}"#],
    [r#"{"data":[{"k":@}],"type":"INSERT"}"#, r#"{"data":[{"k":@}],"type":"DELETE"}"#],
    [r#"{"data":{"k":@},"type":"insert"}"#, r#"{"data":{"k":@},"type":"delete"}"#],
];

#[test]
fn change_records_are_compared_one_by_one_or_as_the_rows_left() {
    for pair in PAIRS {
        let [add_1, add_2] = ["1", "2"].map(|k| pair[0].replace('@', k));
        let [remove_1, remove_2] = ["1", "2"].map(|k| pair[1].replace('@', k));
        let wanted = [add_1.as_str(), &remove_1, &add_2];
        assert!(passes(&wanted, &wanted, true));
        assert!(!passes(&wanted, &[&remove_1, &add_1, &add_2], true), "another order");
        assert!(!passes(&wanted, &[&add_2], true), "changes are missing");
        assert!(passes(&wanted, &[&add_2], false), "changes are folded");
        assert!(passes(&wanted, &[&add_2, &remove_1, &add_1], false), "writers have no order");
        assert!(passes(&wanted[..2], &[], false), "nothing is left");
        for found in [
            vec![add_1.as_str()],
            vec![&add_2, &add_2],
            vec![&add_2, &remove_1],
            vec![&add_2, &add_1, &remove_2],
            vec![&add_2, "{}"],
            vec![],
        ] {
            assert!(!passes(&wanted, &found, false), "{found:?}");
        }
    }
}

#[test]
fn the_formats_are_not_the_same() {
    let [debezium, ogg, ..] = PAIRS.map(|pair| pair[0].replace('@', "1"));
    assert!(!passes(&[&debezium], &[&ogg], true));
    assert_eq!(compared(&[&debezium], &[&debezium], true).what, "sequence");
}

#[test]
fn other_lines_have_no_order() {
    for sequence in [true, false] {
        assert!(passes(&["a", "b"], &["b", "a"], sequence));
        assert!(!passes(&["a", "b"], &["a"], sequence));
        assert!(!passes(&[], &["a"], sequence));
    }
}

#[test]
fn the_files_of_a_writer_are_read_in_the_order_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let [add, remove] = PAIRS[0].map(|line| line.replace('@', "1"));
    std::fs::create_dir(folder.path().join("t")).expect("a folder");
    for (name, line) in [("part-2-0-0", &remove), ("part-1-0-10", &add), ("part-1-0-9", &remove), ("part-1-0-2", &add)]
    {
        std::fs::write(folder.path().join("t").join(name), format!("{line}\n")).expect("written");
    }
    let body = |lines: &[&String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let expected = |body| BTreeMap::from([("t/part-X".to_string(), body)]);
    let right = expected(body(&[&add, &remove, &add, &remove]));
    assert_eq!(compare_files(folder.path(), &right, true), [Verdict::pass("file t/part-X", "sequence")]);
    let wrong = expected(body(&[&add, &add, &remove, &remove]));
    assert_ne!(compare_files(folder.path(), &wrong, true)[0].standing, Standing::Passed);
    assert_eq!(compare_files(folder.path(), &wrong, false)[0].standing, Standing::Passed);
}
