//! Compares the files that sinks left with those of Flink.
//!
//! Lines are compared sorted: their order is only fixed with one writer. Files of change records are different: one by one
//! their order matters, and with larger batches changes that a batch takes back at once are missing, so there only the rows
//! that are left count.

use super::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Lines by file.
type Files = BTreeMap<String, Vec<String>>;

/// What is around the row in a change record as Flink writes it, and whether the row is added.
const FRAMES: [(&str, &str, bool); 8] = [
    (r#"{"before":null,"after":"#, r#","op":"c"}"#, true),
    (r#"{"before":"#, r#","after":null,"op":"d"}"#, false),
    (r#"{"before":null,"after":"#, r#","op_type":"I"}"#, true),
    (r#"{"before":"#, r#","after":null,"op_type":"D"}"#, false),
    (r#"{"data":["#, r#"],"type":"INSERT"}"#, true),
    (r#"{"data":["#, r#"],"type":"DELETE"}"#, false),
    (r#"{"data":"#, r#","type":"insert"}"#, true),
    (r#"{"data":"#, r#","type":"delete"}"#, false),
];

/// Compares the files in a folder; `sequence` compares change records one by one.
pub fn compare_files(out: &Path, expected: &BTreeMap<String, String>, sequence: bool) -> Vec<Verdict> {
    let mut paths = Vec::new();
    collect_paths(out, &mut paths);
    paths.sort_by_cached_key(|path| (path.parent().map(Path::to_path_buf), written_order(path)));
    let mut found = Files::new();
    for path in paths {
        let lines = std::fs::read_to_string(&path).unwrap_or_default();
        found.entry(normal_name(out, &path)).or_default().extend(lines.lines().map(str::to_string));
    }
    let lines = |(name, body): (&String, &String)| (name.clone(), body.lines().map(str::to_string).collect());
    let wanted: Files = expected.iter().map(lines).collect();
    let names: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
    let of = |files: &Files, name: &String| files.get(name).cloned().unwrap_or_default();
    names.into_iter().map(|name| compare_lines(name, of(&wanted, name), of(&found, name), sequence)).collect()
}

fn compare_lines(name: &str, mut wanted: Vec<String>, mut found: Vec<String>, sequence: bool) -> Verdict {
    let name = format!("file {name}");
    let is_changes = !wanted.is_empty() && wanted.iter().all(|line| change(line).is_some());
    if is_changes && !sequence {
        return match (rows_left(&wanted), rows_left(&found)) {
            (Ok(wanted), Ok(found)) if wanted == found => Verdict::pass(name, "table"),
            (Ok(wanted), Ok(found)) => {
                Verdict::fail(name, "table", format!("rows left: expected {wanted:?}; found {found:?}"))
            }
            (Err(line), _) | (_, Err(line)) => Verdict::fail(name, "table", format!("no change record: {line}")),
        };
    }
    if !is_changes {
        wanted.sort();
        found.sort();
    }
    let what = if is_changes { "sequence" } else { "table" };
    if wanted == found {
        Verdict::pass(name, what)
    } else {
        Verdict::fail(name, what, format!("expected {wanted:?}; found {found:?}"))
    }
}

/// The row of a change record, and whether it is added; `None` if the line is none.
fn change(line: &str) -> Option<(&str, bool)> {
    FRAMES.iter().find_map(|(before, behind, added)| Some((line.strip_prefix(before)?.strip_suffix(behind)?, *added)))
}

/// How often each row is left: below zero if it was taken away more often than added. The order of writers does not matter.
fn rows_left(lines: &[String]) -> Result<BTreeMap<&str, i64>, &str> {
    let mut rows = BTreeMap::new();
    for line in lines {
        let (row, added) = change(line).ok_or(line.as_str())?;
        *rows.entry(row).or_default() += if added { 1 } else { -1 };
    }
    rows.retain(|_, count| *count != 0);
    Ok(rows)
}

fn collect_paths(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect_paths(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The numbers of `part-<run>-<instance>-<n>`: the order in which one writer wrote its files.
fn written_order(path: &Path) -> Vec<u64> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split('-').filter_map(|part| part.parse().ok()).collect()
}

/// The path with the part's name made equal: `json_default/part-X`.
fn normal_name(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let is_part = relative.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("part-"));
    if is_part { relative.with_file_name("part-X") } else { relative.to_path_buf() }.display().to_string()
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
