//! The error codes of the command line.

#[path = "../../src/codes.rs"]
mod codes;

#[test]
fn the_codes_are_complete_in_both_languages() {
    let problems = testkit::tidy::catalogue_problems(codes::CODES);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_codes_are_in_the_documentation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
    let page = std::fs::read_to_string(page).expect("docs/errors.md");
    for code in codes::CODES {
        let row = format!("| {} | {} | {} |", code.code, code.domain.name(), code.en.what);
        assert!(page.contains(&row), "docs/errors.md lacks: {row}");
    }
}
