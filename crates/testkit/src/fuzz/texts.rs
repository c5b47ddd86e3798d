//! The SQL that is in the repository, as a start for mutations.

use std::path::{Path, PathBuf};

/// Longer texts are cut: they only make a step slow.
const TEXT_BYTES_MAX: usize = 4_000;

/// All files below a folder with this extension, in order of their paths.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Scripts of cases, scenarios and examples, and the SQL blocks of the documentation below `root`.
pub fn sql_texts(root: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["crates/testkit/cases", "crates/testkit/scenarios", "crates/testkit/corpus/scripts", "examples"] {
        for path in files(&root.join(folder), "sql") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if path.ends_with("exprs.sql") {
                texts.extend(text.lines().filter(|line| !line.starts_with("--")).map(|line| format!("SELECT {line};")));
            } else {
                texts.push(text);
            }
        }
    }
    let mut pages = files(&root.join("docs"), "md");
    pages.push(root.join("README.md"));
    for page in pages {
        texts.extend(blocks(&std::fs::read_to_string(page).unwrap_or_default()));
    }
    texts.retain(|text| !text.trim().is_empty());
    for text in &mut texts {
        let end = text.char_indices().map(|(index, _)| index).take_while(|&index| index <= TEXT_BYTES_MAX).last();
        if text.len() > TEXT_BYTES_MAX {
            text.truncate(end.unwrap_or(0));
        }
    }
    texts.push("SELECT 1;".into());
    texts
}

/// The bodies of ```sql blocks.
fn blocks(page: &str) -> Vec<String> {
    page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).map(str::to_string).collect()
}
