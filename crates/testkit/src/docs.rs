//! Documentation made from the code: the error catalogue, session options, functions, deliberate differences, and the
//! option tables of connector pages.
//!
//! A page keeps its hand-written text; what stands between `<!-- generated -->` and `<!-- end -->` is replaced.

use crate::oracle::differences::{Differences, EXPRESSION};
use base::config::{Effect, SESSION_OPTIONS};
use base::{OptionKind, OptionSpec};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- generated -->";
const END: &str = "<!-- end -->";

/// Every generated part: the page below the repository's root, and its text.
pub fn generated() -> Vec<(PathBuf, String)> {
    let (connectors, formats) = crate::registries();
    let mut pages = vec![
        (PathBuf::from("docs/errors.md"), errors()),
        (PathBuf::from("docs/options.md"), session_options()),
        (PathBuf::from("docs/functions.md"), crate::docs_functions::page()),
        (PathBuf::from("docs/flink-differences.md"), differences()),
    ];
    for connector in connectors.iter() {
        pages.push((format!("docs/connectors/{}.md", connector.name()).into(), option_table(connector.options())));
    }
    for name in formats.names() {
        if let Some(format) = formats.get(name) {
            pages.push((format!("docs/connectors/format-{name}.md").into(), option_table(format.options())));
        }
    }
    pages
}

/// Writes every generated part into its page.
///
/// # Errors
/// A page that is missing or has no markers.
pub fn write(root: &Path) -> Result<(), String> {
    for (page, text) in generated() {
        write_part(&root.join(&page), &text)?;
    }
    Ok(())
}

/// Writes the generated part of one page.
///
/// # Errors
/// A page that is missing or has no markers.
pub fn write_part(path: &Path, text: &str) -> Result<(), String> {
    let old = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let new = replaced(&old, text).ok_or_else(|| format!("{} has no {BEGIN} ... {END}", path.display()))?;
    std::fs::write(path, new).map_err(|error| format!("{}: {error}", path.display()))
}

/// The pages that are missing or out of date.
pub fn stale(root: &Path) -> Vec<String> {
    generated()
        .into_iter()
        .filter(|(page, text)| {
            let old = std::fs::read_to_string(root.join(page)).unwrap_or_default();
            replaced(&old, text).is_none_or(|new| new != old)
        })
        .map(|(page, _)| page.display().to_string())
        .collect()
}

fn replaced(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{text}{END}{after}"))
}

/// Text inside a table cell.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', "<br>")
}

fn kind_text(kind: OptionKind) -> String {
    match kind {
        OptionKind::Text => "text".into(),
        OptionKind::Boolean => "boolean".into(),
        OptionKind::Integer => "integer".into(),
        OptionKind::Number => "number".into(),
        OptionKind::Duration => "duration".into(),
        OptionKind::Memory => "memory".into(),
        OptionKind::OneOf(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
    }
}

fn option_table(options: &[OptionSpec]) -> String {
    let mut out = String::from("| option | value | default | meaning | 说明 |\n|---|---|---|---|---|\n");
    for spec in options {
        let default = match (spec.required, spec.default) {
            (true, _) => "required".to_string(),
            (false, Some(default)) => format!("`{default}`"),
            (false, None) => String::new(),
        };
        out.push_str(&format!(
            "| `{}` | {} | {default} | {} | {} |\n",
            spec.key,
            cell(&kind_text(spec.kind)),
            cell(spec.en),
            cell(spec.zh)
        ));
    }
    out
}

fn session_options() -> String {
    let used: Vec<OptionSpec> =
        SESSION_OPTIONS.iter().filter(|option| option.effect == Effect::Used).map(|option| option.spec).collect();
    let mut out = option_table(&used);
    out.push_str("\nAccepted so that scripts run unchanged, without an effect:\n\n");
    out.push_str("| option | why | 原因 |\n|---|---|---|\n");
    for option in SESSION_OPTIONS {
        if let Effect::NoEffect { en, zh } = option.effect {
            out.push_str(&format!("| `{}` | {} | {} |\n", option.spec.key, cell(en), cell(zh)));
        }
    }
    out
}

/// The recorded results that differ on purpose; of expressions that differ in one way, the first. A broken list is
/// reported by its own tests.
fn differences() -> String {
    let mut out =
        String::from("| expression, or statement of a case | Flink 2.3 | Highwater | why |\n|---|---|---|---|\n");
    let list = Differences::load();
    let all: Vec<_> = list.iter().flat_map(Differences::iter).collect();
    let mut shown = BTreeSet::new();
    for difference in &all {
        let way = (&difference.flink, &difference.reason);
        let place = match difference.case.as_str() {
            EXPRESSION if !shown.insert(way) => continue,
            EXPRESSION => {
                let like = all.iter().filter(|other| other.case == EXPRESSION && (&other.flink, &other.reason) == way);
                let more = match like.count() - 1 {
                    0 => String::new(),
                    more => format!(" and {more} like it"),
                };
                format!("`{}`{more}", cell(&difference.result))
            }
            case => format!("{case}, {}", cell(&difference.result)),
        };
        let ours = cell(&shortened(&difference.ours));
        out.push_str(&format!("| {place} | {} | {ours} | {} |\n", cell(&difference.flink), cell(&difference.reason)));
    }
    out
}

/// The beginning of a long result.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 100;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_string(),
    }
}

fn errors() -> String {
    let mut codes = crate::codes();
    codes.sort_by_key(|code| code.code);
    let mut out = String::from("| code | who acts | message | why | fix | 中文 |\n|---|---|---|---|---|---|\n");
    for code in codes {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            code.code,
            code.domain.name(),
            cell(code.en.what),
            cell(code.en.why),
            cell(code.en.fix),
            cell(code.zh.what)
        ));
    }
    out
}
