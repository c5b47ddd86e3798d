//! The details of EXPLAIN.

use crate::session::{Outcome, Session};
use crate::test_support::{execute, session};

const TABLES: &str = "CREATE TABLE orders (id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) \
    WITH ('connector' = 'test'); \
    CREATE TABLE totals (k STRING, s INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'test');";
const QUERY: &str = "INSERT INTO totals SELECT k, SUM(v) FROM orders WHERE v > 1 GROUP BY k;";

fn explained(details: &str) -> String {
    let mut session: Session = session();
    execute(&mut session, TABLES).expect("tables");
    let executed = execute(&mut session, &format!("EXPLAIN {details} {QUERY}")).expect("plan");
    match executed.outcome {
        Outcome::Text(text) => text,
        other => panic!("no text: {other:?}"),
    }
}

#[test]
fn costs_follow_fixed_rules() {
    let text = explained("ESTIMATED_COST");
    let costs: Vec<&str> = text.lines().filter_map(|line| line.split_once(". cost: ")).map(|(_, cost)| cost).collect();
    let expected = [
        "rows=[5.0E6], rows read=[5.0E6]",
        "rows=[5.0E6], rows read=[5.0E6]",
        "rows=[5.0E6], rows read=[5.0E7]",
        "rows=[5.0E7], rows read=[5.0E7]",
        "rows=[5.0E7], rows read=[1.0E8]",
        "rows=[1.0E8]",
    ];
    assert_eq!(costs, expected, "{text}");
    assert!(!explained("CHANGELOG_MODE").contains("cost:"));
}

#[test]
fn the_json_plan_has_every_operator_with_its_inputs_before_it() {
    let text = explained("CHANGELOG_MODE, JSON_EXECUTION_PLAN");
    let (tree, json) = text.split_once("== execution plan ==").expect("a JSON plan");
    let plan: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let nodes = plan["nodes"].as_array().expect("nodes");
    let types: Vec<&str> = nodes.iter().filter_map(|node| node["type"].as_str()).collect();
    let expected = ["Source: orders", "Calc", "LocalGroupAggregate", "GroupAggregate", "Calc", "Sink: totals"];
    assert_eq!(types, expected);
    for (index, node) in nodes.iter().enumerate() {
        assert_eq!(node["id"], index + 1);
        assert!(tree.contains(node["contents"].as_str().expect("contents")), "{node}");
        for predecessor in node["predecessors"].as_array().into_iter().flatten() {
            assert!(predecessor["id"].as_u64().expect("id") <= index as u64, "{node}");
        }
    }
    assert_eq!(nodes[3]["predecessors"][0]["ship_strategy"], "HASH");
    assert_eq!(nodes[3]["predecessors"][0]["columns"], "k");
    assert_eq!(nodes[3]["upsert_keys"], serde_json::json!([["k"]]));
}

#[test]
fn advice_names_what_is_kept_and_the_setting() {
    let text = explained("PLAN_ADVICE");
    let (_, advice) = text.split_once("== advice ==").expect("advice");
    assert!(advice.contains("advice[1]: GroupAggregate keeps every (k) for ever"), "{advice}");
    assert!(advice.contains("table.exec.state.ttl"), "{advice}");
}
