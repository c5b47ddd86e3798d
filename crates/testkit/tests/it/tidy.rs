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
