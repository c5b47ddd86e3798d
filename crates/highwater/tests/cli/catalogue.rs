//! The error codes of the command line.

#[path = "../../src/codes.rs"]
mod codes;

#[test]
fn the_codes_are_complete_in_both_languages() {
    let problems = testkit::tidy::catalogue_problems(codes::CODES);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
