//! The list of results that differ from Flink's on purpose: `differences.tsv`, read by the runner and by the documentation.
//!
//! A listed result counts as a deliberate difference only while it is exactly what the list says, so that an entry can rot
//! and is reported then: when the result has become something else, and when it has become Flink's.

use super::{Standing, Verdict};

/// The list, part of the program so that every run knows it.
const LIST: &str = include_str!("../../differences.tsv");

/// The case name that stands for an expression in whatever case.
pub const EXPRESSION: &str = "expr";

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The case, or [`EXPRESSION`].
    pub case: String,
    /// The number of the statement (`4`, `4.sink`), or the expression.
    pub result: String,
    /// What Flink does, for people.
    pub flink: String,
    /// What is found here: type and value, `planning error HW-P001`, `accepted`, `table a, 1; b, 2`, `changes +I a, 1`.
    pub ours: String,
    /// Why.
    pub reason: String,
}

/// What became of an entry in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Met {
    Never,
    /// Only by results that are as recorded.
    Agreeing,
    /// By a result that differs, or may differ unseen.
    Differing,
}

/// All entries, and which of them were met.
#[derive(Debug)]
pub struct Differences {
    entries: Vec<(Difference, Met)>,
}

impl Differences {
    /// The list of the program.
    ///
    /// # Errors
    /// A line that has not five parts, or an entry that is there twice.
    pub fn load() -> Result<Differences, String> {
        Differences::parse(LIST)
    }

    /// Reads `case TAB result TAB flink TAB ours TAB reason`; lines that begin with `#` are comments.
    ///
    /// # Errors
    /// A line that has not five parts, or an entry that is there twice.
    pub fn parse(text: &str) -> Result<Differences, String> {
        let mut entries: Vec<(Difference, Met)> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let parts: Vec<String> = line.split('\t').map(|part| part.trim().to_string()).collect();
            let [case, result, flink, ours, reason]: [String; 5] = parts
                .try_into()
                .map_err(|parts: Vec<String>| format!("differences.tsv: {} parts, not 5: {line}", parts.len()))?;
            if ours.is_empty() || reason.is_empty() {
                return Err(format!("differences.tsv: without a result or a reason: {line}"));
            }
            if entries.iter().any(|(known, _)| known.case == case && known.result == result) {
                return Err(format!("differences.tsv: {case} {result} is there twice"));
            }
            entries.push((Difference { case, result, flink, ours, reason }, Met::Never));
        }
        Ok(Differences { entries })
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &Difference> {
        self.entries.iter().map(|(entry, _)| entry)
    }

    /// Changes the verdict of a result that is listed. `sequence` says whether sequences of changes were compared.
    pub fn judge(&mut self, case: &str, verdict: &mut Verdict, sequence: bool) {
        let is_it = |entry: &Difference| {
            entry.result == verdict.result && (entry.case == case || entry.case == EXPRESSION && verdict.expression)
        };
        let Some((entry, met)) = self.entries.iter_mut().find(|(entry, _)| is_it(entry)) else { return };
        let ours = &entry.ours;
        match &verdict.standing {
            // One expression can stand under several settings, so that it is no mistake if one of them agrees. Where only
            // tables are compared, a difference of sequences does not show.
            Standing::Passed => {
                let may_differ = !sequence && ours.starts_with("changes ");
                if may_differ || *met == Met::Differing {
                    *met = Met::Differing;
                } else {
                    *met = Met::Agreeing;
                }
            }
            Standing::Differs(_) => {}
            _ if verdict.found == *ours => {
                *met = Met::Differing;
                verdict.standing = Standing::Differs(entry.reason.clone());
            }
            Standing::Failed(why) | Standing::NeedsFeature(why) => {
                *met = Met::Differing;
                let why = format!("listed in differences.tsv as {ours}, found {}: {why}", verdict.found);
                verdict.standing = Standing::Failed(why);
            }
        }
    }

    /// The entries that no result has met.
    pub fn unmet(&self) -> Vec<String> {
        self.named(Met::Never)
    }

    /// The entries that are not so any more: every result is as recorded.
    pub fn stale(&self) -> Vec<String> {
        self.named(Met::Agreeing)
    }

    fn named(&self, wanted: Met) -> Vec<String> {
        let found = self.entries.iter().filter(|(_, met)| *met == wanted);
        found.map(|(entry, _)| format!("{}#{}", entry.case, entry.result)).collect()
    }
}

#[cfg(test)]
#[path = "differences_tests.rs"]
mod tests;
