//! What a run of the differential tester says, and failing cases as folders.

use super::case::Case;
use super::shrink::Failing;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What was found in a run.
#[derive(Debug, Default)]
pub struct DiffReport {
    /// Cases whose results were compared and right.
    pub same: u64,
    /// Of these, how many were also written into a table with a primary key.
    pub sunk: u64,
    /// Of these, how many have a result without rows.
    pub empty: u64,
    /// Of these, how many were also compared with batch mode.
    pub asked: u64,
    /// Cases whose results cannot be computed here.
    pub beyond: u64,
    /// Cases by what they would have needed: how many, and the first one.
    pub unsupported: BTreeMap<String, (u64, u64)>,
    /// Refused cases: by code, how many and the first one.
    pub refused: BTreeMap<&'static str, (u64, String)>,
    /// In how many compared plans every operator was.
    pub operators: BTreeMap<&'static str, u64>,
    /// Failing cases by seed.
    pub failing: Vec<(u64, Failing)>,
    /// Further cases that stop with an error that some failing cases have already shown.
    pub repeated: BTreeMap<String, u64>,
}

/// So many cases are made smaller for each error that a statement or job stops with.
const SHOWN_PER_ERROR: usize = 2;

impl DiffReport {
    /// All cases.
    pub fn cases(&self) -> u64 {
        let skipped = self.unsupported.values().map(|(times, _)| times).sum::<u64>()
            + self.refused.values().map(|(times, _)| times).sum::<u64>();
        self.compared() + self.beyond + skipped
    }

    /// Cases whose results were compared.
    pub fn compared(&self) -> u64 {
        self.same + self.wrong()
    }

    /// Cases that are wrong.
    pub fn wrong(&self) -> u64 {
        self.failing.len() as u64 + self.repeated.values().sum::<u64>()
    }

    /// Whether a kind of problem is an error that was shown already.
    pub(super) fn is_known(&self, kind: &str) -> bool {
        let shown = self.failing.iter().filter(|(_, failing)| failing.wrong.kind == kind).count();
        kind.contains(' ') && shown >= SHOWN_PER_ERROR
    }

    pub(super) fn repeat(&mut self, kind: &str) {
        *self.repeated.entry(kind.to_string()).or_default() += 1;
    }
}

impl fmt::Display for DiffReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (code, (times, first)) in &self.refused {
            writeln!(f, "{times} refused with {code}, first: {}", first.replace('\n', "\n  "))?;
        }
        for (feature, (times, first)) in &self.unsupported {
            writeln!(f, "{times} need {feature} (first: --seed {first})")?;
        }
        if self.beyond > 0 {
            writeln!(f, "{} are too long, or have numbers out of range", self.beyond)?;
        }
        for (kind, times) in &self.repeated {
            writeln!(f, "{times} more: {kind}")?;
        }
        let operators: Vec<String> = self.operators.iter().map(|(name, times)| format!("{name} {times}")).collect();
        writeln!(f, "operators of compared plans: {}", operators.join(", "))?;
        let share = |part: u64| 100.0 * part as f64 / self.cases().max(1) as f64;
        let skipped = self.cases() - self.compared();
        write!(
            f,
            "{} cases: {} compared ({:.1} %; {} also with batch mode, {} also through a keyed sink, {} without rows), {} skipped ({:.1} %), {} wrong",
            self.cases(),
            self.compared(),
            share(self.compared()),
            self.asked,
            self.sunk,
            self.empty,
            skipped,
            share(skipped),
            self.wrong()
        )
    }
}

/// The statements of a case.
pub fn case_sql(case: &Case) -> String {
    let statements = case.definitions().into_iter().chain([case.sql()]);
    statements.map(|statement| format!("{statement};\n")).collect()
}

/// The log of a case.
pub fn input_log(case: &Case) -> String {
    let events = case.events().into_iter();
    events
        .map(|(event, _)| {
            let kind = event.kind.map_or("*", base::RowKind::short);
            format!("{} {kind} {}\n", event.table, event.payload)
        })
        .collect()
}

/// The rows that a case should give, a JSON array a line.
pub fn expected_table(case: &Case) -> String {
    let rows = case.expected(case.steps.len(), false).unwrap_or_default();
    rows.into_iter().map(|row| format!("{}\n", serde_json::json!(row))).collect()
}

/// The first lines of a text.
fn head(text: &str) -> String {
    const LINES_MAX: usize = 40;
    let more = text.lines().count().saturating_sub(LINES_MAX);
    let mut lines: Vec<String> = text.lines().take(LINES_MAX).map(str::to_string).collect();
    if more > 0 {
        lines.push(format!("... {more} lines more"));
    }
    lines.join("\n")
}

/// A failing case with all that is needed to see it fail again.
pub fn reproduction(seed: u64, failing: &Failing) -> String {
    let Failing { case, wrong } = failing;
    format!(
        "--seed {seed}: {}\n{}\nrun as {:?}\ncase.sql:\n{}input.log:\n{}\nexpected.table:\n{}",
        wrong.kind,
        wrong.text,
        wrong.way,
        case_sql(case),
        head(&input_log(case)),
        head(&expected_table(case))
    )
}

/// Saves a failing case as a folder, and gives its path.
///
/// # Errors
/// A file that cannot be written.
pub fn save(folder: &Path, seed: u64, failing: &Failing) -> std::io::Result<PathBuf> {
    let case = &failing.case;
    let path = folder.join(format!("seed_{seed}"));
    std::fs::create_dir_all(&path)?;
    std::fs::write(path.join("case.sql"), case_sql(case))?;
    std::fs::write(path.join("input.log"), input_log(case))?;
    std::fs::write(path.join("expected.table"), expected_table(case))?;
    Ok(path)
}
