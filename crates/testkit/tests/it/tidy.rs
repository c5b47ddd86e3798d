//! The repository keeps its own rules.

use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_repository_is_tidy() {
    let problems = testkit::tidy::problems(root());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_error_catalogue_is_complete_in_both_languages() {
    let codes = testkit::codes();
    let problems = testkit::tidy::catalogue_problems(&codes);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(codes.len() > 50, "only {} codes were collected", codes.len());
}

#[test]
fn a_wrong_catalogue_is_noticed() {
    use base::{Domain, ErrorCode, Text};
    const BAD: ErrorCode = ErrorCode {
        code: "HW-Q1",
        domain: Domain::User,
        retry: false,
        en: Text { what: "a {b}.", why: "", fix: "" },
        zh: Text { what: "plain", why: "", fix: "" },
    };
    assert_eq!(testkit::tidy::catalogue_problems(&[&BAD, &BAD]).len(), 9);
}

#[test]
fn generated_pages_are_up_to_date() {
    let stale = testkit::docs::stale(root());
    assert!(stale.is_empty(), "run `cargo run -p testkit -- docs`: {stale:?}");
}

#[test]
fn the_examples_of_functions_have_their_values() {
    let wrong = testkit::docs_functions::wrong_examples().expect("a session");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_function_is_described() {
    use testkit::docs_functions::documented;
    let functions = documented();
    let lacking: Vec<&str> = functions.iter().filter(|function| function.doc.is_none()).map(|f| f.name).collect();
    assert!(lacking.is_empty(), "without a description: {lacking:?}");
}

#[test]
fn expressions_with_a_syntax_of_their_own_are_planned() {
    let refused = testkit::docs_functions::refused_expressions().expect("a session");
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
