//! The tester itself: what queries mean, what a valid changelog is, and how cases are made smaller.

use super::case::{Case, Way};
use super::compare::{check, difference, doubled, materialise, materialise_by_key};
use super::cut::cut;
use super::data::{Change, Column, Mode, Step, Table, repair, rows_after};
use super::evaluate::Evaluator;
use super::expressions::is_true;
use super::query::*;
use super::run::Ran;
use super::value::{Row, Type, Value};
use crate::fuzz::Random;
use crate::oracle::{Change as Emitted, QUERY};
use base::RowKind;
use std::collections::{BTreeMap, BTreeSet};

fn number(value: i128) -> Value {
    Value::Number(value)
}

fn rows(values: &[&[Option<i128>]]) -> Vec<Row> {
    let row = |row: &&[Option<i128>]| row.iter().map(|value| value.map_or(Value::Null, Value::Number)).collect();
    values.iter().map(row).collect()
}

/// The rows of a query over two tables with two BIGINT columns each, sorted.
fn evaluated(query: &Query, left: &[&[Option<i128>]], right: &[&[Option<i128>]]) -> Vec<Row> {
    let types = vec![Type::BigInt, Type::BigInt];
    let names = Names { tables: vec![types.clone(), types], views: Vec::new(), grows: Vec::new() };
    let tables = [rows(left), rows(right)];
    let evaluator = Evaluator::new(&names, &tables, &[], false).expect("no views");
    let mut rows = evaluator.rows(query).expect("rows");
    rows.sort();
    rows
}

fn slot(index: usize) -> Expr {
    Expr::slot(index, Type::BigInt)
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::truth(Node::Compare("=", Box::new(left), Box::new(right)))
}

fn select(select: Select) -> Query {
    Query::Select(Box::new(select))
}

fn from_left() -> From {
    From::Relation(Query::Table(0))
}

#[test]
fn a_null_in_a_list_makes_not_in_unknown() {
    let inner = select(Select::plain(From::Relation(Query::Table(1)), vec![slot(0)]));
    let not_in = Expr::truth(Node::InQuery(Box::new(slot(0)), Box::new(inner), true));
    let query = select(Select { filter: Some(not_in), ..Select::plain(from_left(), vec![slot(0)]) });
    let left: &[&[Option<i128>]] = &[&[Some(1), None], &[Some(2), None], &[None, None]];
    assert_eq!(evaluated(&query, left, &[&[Some(2), None]]), rows(&[&[Some(1)]]));
    assert_eq!(evaluated(&query, left, &[&[None, None]]), rows(&[]));
    assert_eq!(evaluated(&query, left, &[]), rows(&[&[None], &[Some(1)], &[Some(2)]]));
}

#[test]
fn outer_joins_keep_rows_without_a_partner() {
    let join = |kind| {
        let on = Some(equal(slot(0), slot(2)));
        let join = Join { kind, left: from_left(), right: From::Relation(Query::Table(1)), on };
        select(Select::plain(From::Join(Box::new(join)), vec![slot(1), slot(3)]))
    };
    let left: &[&[Option<i128>]] = &[&[Some(1), Some(10)], &[None, Some(20)]];
    let right: &[&[Option<i128>]] = &[&[Some(1), Some(5)], &[None, Some(6)]];
    let pair: &[Option<i128>] = &[Some(10), Some(5)];
    assert_eq!(evaluated(&join("JOIN"), left, right), rows(&[pair]));
    assert_eq!(evaluated(&join("LEFT JOIN"), left, right), rows(&[pair, &[Some(20), None]]));
    assert_eq!(evaluated(&join("RIGHT JOIN"), left, right), rows(&[&[None, Some(6)], pair]));
    assert_eq!(evaluated(&join("FULL JOIN"), left, right), rows(&[&[None, Some(6)], pair, &[Some(20), None]]));
}

#[test]
fn set_operations_count_copies_if_they_should() {
    let set =
        |name, all| Query::Set(Box::new(SetOperation { name, all, left: Query::Table(0), right: Query::Table(1) }));
    let (one, two): (&[Option<i128>], &[Option<i128>]) = (&[Some(1), None], &[Some(2), None]);
    let (left, right) = ([one, one, one, two], [one, two, two]);
    assert_eq!(evaluated(&set("INTERSECT", true), &left, &right), rows(&[one, two]));
    assert_eq!(evaluated(&set("EXCEPT", true), &left, &right), rows(&[one, one]));
    assert_eq!(evaluated(&set("EXCEPT", false), &left, &right), rows(&[]));
    assert_eq!(evaluated(&set("UNION", false), &left, &right), rows(&[one, two]));
    assert_eq!(evaluated(&set("UNION", true), &left, &right).len(), 7);
}

#[test]
fn groups_of_several_sets() {
    let sum = Aggregate { name: "SUM", argument: Some(slot(1)), distinct: false, filter: None };
    let group = Group { keys: vec![slot(0)], sets: Some(vec![vec![0], vec![]]), aggregates: vec![sum], having: None };
    let query =
        select(Select { body: Body::Group(group), ..Select::plain(from_left(), vec![slot(0), slot(1), slot(2)]) });
    let left: &[&[Option<i128>]] = &[&[Some(1), Some(3)], &[Some(1), Some(4)], &[None, None]];
    let expected = rows(&[&[None, None, Some(0)], &[None, Some(7), Some(1)], &[Some(1), Some(7), Some(0)]]);
    assert_eq!(evaluated(&query, left, &[]), expected);
    assert_eq!(evaluated(&query, &[], &[]), rows(&[]));
}

#[test]
fn rank_and_limit_follow_the_order_with_null_lowest() {
    let sort = |column, descending| Sort { column, descending, nulls_first: None };
    let top = Top { partition: vec![0], order: vec![sort(1, true)], arrival: None, start: 1, end: 1 };
    let query = select(Select { body: Body::Top(top), ..Select::plain(from_left(), vec![slot(0), slot(1), slot(2)]) });
    let left: &[&[Option<i128>]] = &[&[Some(1), None], &[Some(1), Some(4)], &[Some(2), None]];
    assert_eq!(evaluated(&query, left, &[]), rows(&[&[Some(1), Some(4), Some(1)], &[Some(2), None, Some(1)]]));
    let limit = Limit { order: vec![sort(0, false)], offset: 1, limit: 1 };
    let query = select(Select { limit: Some(limit), ..Select::plain(from_left(), vec![slot(1)]) });
    assert_eq!(evaluated(&query, &[&[None, Some(5)], &[None, None], &[None, Some(7)]], &[]), rows(&[&[Some(5)]]));
}

#[test]
fn averages_are_cut_or_rounded() {
    let average = |of| Aggregate { name: "AVG", argument: Some(Expr::slot(0, of)), distinct: false, filter: None };
    let names = Names::default();
    let evaluator = Evaluator::new(&names, &[], &[], false).expect("no views");
    let value = |of, values: &[i128]| {
        let rows: Vec<Row> = values.iter().map(|value| vec![number(*value)]).collect();
        let rows: Vec<&[Value]> = rows.iter().map(Vec::as_slice).collect();
        let aggregate = average(of);
        evaluator.aggregate(&aggregate, &rows, &[]).expect("a value").text(aggregate.of())
    };
    assert_eq!(value(Type::BigInt, &[-1, -2]).as_deref(), Some("-1"));
    assert_eq!(value(Type::MONEY, &[100, 100, 0]).as_deref(), Some("0.666667"));
    assert_eq!(value(Type::MONEY, &[-100, -100, 0]).as_deref(), Some("-0.666667"));
    assert!(!is_true(&Value::Null));
}

fn emitted(kind: RowKind, cells: &[&str], step: usize) -> Emitted {
    Emitted { kind, cells: cells.iter().map(|cell| Some(cell.to_string())).collect(), step }
}

#[test]
fn a_changelog_removes_only_what_is_there() {
    use RowKind::*;
    let right =
        [emitted(Insert, &["1", "a"], 0), emitted(UpdateBefore, &["1", "a"], 0), emitted(UpdateAfter, &["1", "b"], 0)];
    assert_eq!(materialise(&right), Ok(vec![vec![Some("1".into()), Some("b".into())]]));
    let wrong = [emitted(Insert, &["1", "a"], 0), emitted(Delete, &["1", "b"], 0)];
    assert!(materialise(&wrong).expect_err("not there").contains("-D (1, b)"));
    let keyed =
        [emitted(Insert, &["1", "a"], 0), emitted(UpdateAfter, &["1", "b"], 0), emitted(Insert, &["2", "c"], 0)];
    assert_eq!(materialise_by_key(&keyed, &[0]).len(), 2);
    assert_eq!(materialise_by_key(&[&keyed[..], &[emitted(Delete, &["2", "x"], 0)]].concat(), &[0]).len(), 1);
}

#[test]
fn a_wrong_row_a_wrong_key_and_a_wrong_look_are_noticed() {
    let changes = vec![emitted(RowKind::Insert, &["1", "a"], 0), emitted(RowKind::Insert, &["1", "b"], 1)];
    let ran = Ran {
        changes: BTreeMap::from([(QUERY.to_string(), changes)]),
        looks: vec![1, 2],
        upsert_keys: Vec::new(),
        operators: BTreeSet::new(),
    };
    let row = |text: &str| vec![Some("1".to_string()), Some(text.to_string())];
    let expected = |steps: usize| Some(vec![row("a"), row("b")][..steps].to_vec());
    assert_eq!(check(&ran, QUERY, &[vec![1]], &expected), Ok(()));
    let early = check(&ran, QUERY, &[], &|_| Some(vec![row("a"), row("b")])).expect_err("one row too early");
    assert_eq!(early, "after 1 steps: missing [(1, b)]; too many []");
    assert!(check(&ran, QUERY, &[], &|_| Some(vec![row("a")])).expect_err("a row too many").contains("(1, b)"));
    assert!(check(&ran, QUERY, &[vec![0]], &expected).expect_err("two rows of a key").contains("upsert key"));
    assert_eq!(doubled(&vec![row("a"), row("b")], &[0]).expect("doubled"), "key [0]: (1, a) and (1, b)");
    assert_eq!(difference(&vec![row("a"), row("a")], &vec![row("a")]), "missing [(1, a)]; too many []");
}

#[test]
fn any_part_of_the_changes_can_be_made_valid() {
    for seed in 1..60 {
        let (case, _) = Case::random(seed);
        assert_eq!(repair(&case.tables, &case.steps), case.steps, "seed {seed}");
        let mut random = Random::new(seed);
        let part: Vec<Step> = case.steps.iter().filter(|_| random.once_in(2)).cloned().collect();
        let repaired = repair(&case.tables, &part);
        assert_eq!(repair(&case.tables, &repaired), repaired, "seed {seed}");
        for (table, rows) in case.tables.iter().zip(rows_after(&case.tables, &repaired)) {
            let keys: BTreeSet<Vec<&Value>> =
                rows.iter().map(|row| table.key.iter().map(|&column| &row[column]).collect()).collect();
            assert!(table.key.is_empty() || keys.len() == rows.len(), "seed {seed}: a key twice");
        }
    }
}

#[test]
fn a_seed_always_gives_the_same_case() {
    for seed in [1, 2, 77] {
        let ((case, ways), (again, ways_again)) = (Case::random(seed), Case::random(seed));
        assert_eq!((&case, &ways), (&again, &ways_again));
        assert_eq!(case.sql(), again.sql());
        assert_ne!(case, Case::random(seed + 1).0);
    }
}

#[test]
fn every_smaller_query_is_a_query() {
    let mut forms = 0;
    for seed in 1..120 {
        let (case, _) = Case::random(seed);
        let mut wanted = 0;
        while let Some(query) = cut(&case.query, &case.names(), &case.views, wanted, true) {
            assert_eq!(query.types(&case.names()), case.types(), "seed {seed}, form {wanted}");
            let smaller = Case { query, ..case.clone() };
            smaller.sql();
            // No slot is out of place; the rows themselves may be others, or too many.
            let _ = smaller.expected(smaller.steps.len(), false);
            wanted += 1;
        }
        forms += wanted;
    }
    assert!(forms > 1000, "only {forms} forms");
}

#[test]
fn upsert_tables_give_no_old_content() {
    let columns = vec![Column { of: Type::BigInt, nullable: false }, Column { of: Type::Text, nullable: true }];
    let table = |mode| Table { columns: columns.clone(), key: vec![0], mode };
    let row = |text: &str| vec![number(1), Value::Text(text.into())];
    let changes = [Change::Insert(row("a")), Change::Update(row("a"), row("b")), Change::Delete(row("b"))];
    let steps: Vec<Step> = changes.into_iter().map(|change| Step { table: 0, change, form: 1 }).collect();
    let log = |mode, form: u8| -> Vec<String> {
        let steps: Vec<Step> = steps.iter().map(|step| Step { form, ..step.clone() }).collect();
        let events = super::data::events(&[table(mode)], &steps);
        events.into_iter().map(|(event, _)| format!("{} {}", event.kind.expect("a kind"), event.payload)).collect()
    };
    let all =
        [r#"+I {"c0":1,"c1":"a"}"#, r#"-U {"c0":1,"c1":"a"}"#, r#"+U {"c0":1,"c1":"b"}"#, r#"-D {"c0":1,"c1":"b"}"#];
    assert_eq!(log(Mode::All, 1), all);
    assert_eq!(log(Mode::Upsert, 1), [all[0], all[2], all[3]]);
    let keyed = [r#"+U {"c0":1,"c1":"a"}"#, r#"+U {"c0":1,"c1":"b"}"#, r#"-D {"c0":1,"c1":null}"#];
    assert_eq!(log(Mode::Upsert, 2), keyed);
}

#[test]
fn values_have_their_forms() {
    assert_eq!(number(-25).text(Type::MONEY).as_deref(), Some("-0.25"));
    assert_eq!(number(90_061_120).text(Type::Timestamp).as_deref(), Some("2024-01-02 01:01:01.120"));
    assert_eq!(Value::Text("it's".into()).sql(Type::Text), "CAST('it''s' AS STRING)");
    assert_eq!(Value::Null.json(Type::MONEY), "null");
    assert_eq!(Way::plain().parallelism, 1);
}
