//! An entry counts while it is true, and is reported when it rots.

use super::*;

fn list() -> Differences {
    let text = "# comment\nexpr\t1 / 0\tfails\tINT \"0\"\twe like it\nc1\t3\tloses a row\ttable a; b\tright\n\
                c1\t4\tmini-batch\tchanges +I a\tno mini-batch\n";
    Differences::parse(text).expect("a list")
}

fn judged(list: &mut Differences, case: &str, verdict: Verdict, sequence: bool) -> Standing {
    let mut verdict = verdict;
    list.judge(case, &mut verdict, sequence);
    verdict.standing
}

#[test]
fn a_listed_result_differs_on_purpose() {
    let mut list = list();
    let value = || Verdict { expression: true, ..Verdict::fail("1 / 0", "value", "no") };
    assert_eq!(judged(&mut list, "b1", value().found("INT \"0\""), true), Standing::Differs("we like it".into()));
    let other = judged(&mut list, "b1", value().found("INT \"1\""), true);
    assert!(matches!(&other, Standing::Failed(why) if why.contains("INT \"1\"")), "{other:?}");
    assert_eq!(list.unmet(), ["c1#3", "c1#4"]);
}

#[test]
fn a_listed_result_that_agrees_is_reported() {
    let mut list = list();
    assert_eq!(judged(&mut list, "c2", Verdict::pass("3", "table"), true), Standing::Passed);
    assert_eq!(judged(&mut list, "c1", Verdict::pass("3", "table"), true), Standing::Passed);
    assert_eq!(judged(&mut list, "c1", Verdict::pass("4", "table"), false), Standing::Passed);
    assert_eq!(list.stale(), ["c1#3"]);
    let differs = Verdict::fail("3", "table", "no").found("table a; b");
    assert_eq!(judged(&mut list, "c1", differs, true), Standing::Differs("right".into()));
    assert_eq!(list.stale(), [""; 0]);
}

#[test]
fn an_expression_is_no_statement() {
    let mut list = Differences::parse("expr\t3\ta\tb\tc").expect("a list");
    let verdict = Verdict::fail("3", "table", "no").found("b");
    assert_eq!(judged(&mut list, "c1", verdict, true), Standing::Failed("no".into()));
}

#[test]
fn a_wrong_list_is_refused() {
    for text in ["a\tb\tc\td", "a\tb\tc\t\te", "a\tb\tc\td\te\na\tb\tc\tx\ty"] {
        assert!(Differences::parse(text).is_err(), "{text}");
    }
}
