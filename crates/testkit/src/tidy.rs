//! `tidy`: the rules of the repository that a machine can keep.
//!
//! Crate arrows, file heads, file lengths, tests in their own files, the error catalogue, one version of Arrow.

use base::ErrorCode;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The longest source file.
pub const FILE_LINES_MAX: usize = 1000;

/// Which of our crates each crate may depend on. A missing crate or arrow is a problem: the table of ARCHITECTURE.md.
pub const ARROWS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("syntax", &[]),
    ("functions", &["base"]),
    ("state", &["base"]),
    ("connectors", &["base"]),
    ("runtime", &["base", "state"]),
    ("savepoint", &["base", "state", "runtime"]),
    ("planner", &["base", "syntax", "functions"]),
    ("batch", &["base", "planner"]),
    ("highwater", &["base", "syntax", "functions", "state", "connectors", "runtime", "savepoint", "planner", "batch"]),
    ("testkit", &["base", "syntax", "functions", "state", "connectors", "runtime", "savepoint", "planner", "batch"]),
];

/// Crates that may name DataFusion.
const DATAFUSION_CRATES: &[&str] = &["planner", "batch"];

/// All problems of the repository at `root`.
pub fn problems(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    for crate_folder in folders(&root.join("crates")) {
        let name = file_name(&crate_folder);
        check_arrows(&name, &crate_folder, &mut problems);
        for file in rust_files(&crate_folder) {
            check_file(root, &name, &file, &mut problems);
        }
    }
    check_lockfile(root, &mut problems);
    problems
}

/// All problems of a catalogue of error codes: every code once, the same placeholders in both languages.
pub fn catalogue_problems(codes: &[&ErrorCode]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for code in codes {
        let name = code.code;
        if !seen.insert(name) {
            problems.push(format!("{name} is used twice"));
        }
        let well_formed = name.strip_prefix("HW-").is_some_and(|rest| {
            rest.starts_with(['S', 'P', 'T', 'C', 'F', 'R', 'X', 'L', 'I'])
                && rest.len() == 4
                && rest[1..].bytes().all(|b| b.is_ascii_digit())
        });
        if !well_formed {
            problems.push(format!("{name} is not HW-<area><three digits>"));
        }
        let english = [code.en.what, code.en.why, code.en.fix].concat();
        let chinese = [code.zh.what, code.zh.why, code.zh.fix].concat();
        if placeholders(&english) != placeholders(&chinese) {
            problems.push(format!(
                "{name}: English has {:?}, Chinese has {:?}",
                placeholders(&english),
                placeholders(&chinese)
            ));
        }
        if code.en.what.ends_with('.') || code.zh.what.ends_with('。') {
            problems.push(format!("{name}: what failed has no full stop"));
        }
        if code.zh.what.is_ascii() {
            problems.push(format!("{name}: the Chinese text is not Chinese"));
        }
    }
    problems
}

fn placeholders(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        found.insert(name.to_string());
        rest = after;
    }
    found
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(path)
        .map(|entries| entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
        .unwrap_or_default();
    found.sort();
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn check_arrows(name: &str, folder: &Path, problems: &mut Vec<String>) {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        problems.push(format!("crate {name} is not in the table of arrows"));
        return;
    };
    let ours: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    for section in sections(&manifest) {
        // Tests may look further than the code they test.
        let is_test = section.0.contains("dev-dependencies");
        for dependency in section.1 {
            if ours.contains(dependency) && !allowed.contains(&dependency) && !is_test {
                problems.push(format!("crate {name} must not depend on {dependency}"));
            }
            if dependency.starts_with("datafusion") && !DATAFUSION_CRATES.contains(&name) {
                problems.push(format!("crate {name} must not know {dependency}"));
            }
        }
    }
}

/// The dependency sections of a manifest with the names in them.
fn sections(manifest: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            sections.push((line, Vec::new()));
        } else if let Some((_, names)) = sections.last_mut().filter(|(head, _)| head.contains("dependencies")) {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            if !name.is_empty() && !name.starts_with('#') {
                names.push(name);
            }
        }
    }
    sections
}

fn check_file(root: &Path, crate_name: &str, path: &Path, problems: &mut Vec<String>) {
    let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let Ok(text) = std::fs::read_to_string(path) else {
        problems.push(format!("{shown} is not UTF-8"));
        return;
    };
    if !text.starts_with("//! ") {
        problems.push(format!("{shown} does not open with what it owns (//! ...)"));
    }
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        problems.push(format!("{shown} has {lines} lines, more than {FILE_LINES_MAX}: split it at one idea"));
    }
    if text.contains("\nmod tests {") {
        problems.push(format!("{shown}: tests live in their own file"));
    }
    if text.contains(concat!("#[", "ignore")) {
        problems.push(format!("{shown}: no ignored tests"));
    }
    let is_test = shown.contains("/tests/") || shown.ends_with("tests.rs");
    let may_name_it = is_test || DATAFUSION_CRATES.contains(&crate_name) || shown == "crates/testkit/src/tidy.rs";
    if !may_name_it && (text.contains("datafusion_") || text.contains("datafusion::")) {
        problems.push(format!("{shown} names DataFusion"));
    }
}

fn check_lockfile(root: &Path, problems: &mut Vec<String>) {
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in lock.lines().filter_map(|line| line.strip_prefix("name = ")) {
        *counts.entry(name.trim_matches('"')).or_default() += 1;
    }
    for name in ["arrow", "arrow-array", "parquet", "datafusion", "datafusion-expr", "sqlparser"] {
        if counts.get(name).is_some_and(|count| *count > 1) {
            problems.push(format!("Cargo.lock has {} versions of {name}", counts[name]));
        }
    }
}
