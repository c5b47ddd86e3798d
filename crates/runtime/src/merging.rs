//! Background merging: of a part whose changes have become many, one section is made, while the job goes on.
//!
//! Nothing is named by a checkpoint before the next one takes it over; a merge that fails or is cut short leaves a file that
//! is removed later. So merging adds no moment at which a crash could lose anything.

use crate::manifest::{Manifest, PartEntry, PartKey, SectionEntry};
use base::{Result, fault};
use state::{CheckpointFolder, Files, SectionReader, SegmentWriter, merge_sections, write_snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// When sections are merged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MergeRules {
    /// More changes of one part than this are made one, however small they are.
    pub sections_max: usize,
    /// After so many checkpoints a part that has changes is written anew: what is gone does not stay on the disk for ever.
    pub age_max: u64,
    /// Below so many bytes of changes a part is not written anew because of their size.
    pub bytes_min: u64,
    /// So many rows may be in files although they are gone; more of them must not outnumber those that count.
    pub dead_max: u64,
}

impl Default for MergeRules {
    fn default() -> Self {
        // Where a test asks for faults, merging must come soon enough to meet them.
        match std::env::var_os(fault::VARIABLE) {
            Some(_) => MergeRules { sections_max: 1, age_max: 8, bytes_min: 0, dead_max: 0 },
            None => MergeRules { sections_max: 16, age_max: 360, bytes_min: 1 << 20, dead_max: 16 },
        }
    }
}

/// Sections of a part that become one.
#[derive(Debug, Clone)]
struct Run {
    key: PartKey,
    /// The place of the first one in the part's list.
    start: usize,
    sections: Vec<SectionEntry>,
}

/// A section that was made of others.
#[derive(Debug)]
pub(crate) struct Merged {
    run: Run,
    section: SectionEntry,
}

/// A merge under way.
#[derive(Debug)]
pub(crate) struct Merging {
    /// The file that it writes.
    pub file: String,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Merged>>>,
}

impl MergeRules {
    /// What is to be merged of a part; `is_sparse` tells whether a file is mostly of no use any more.
    fn run(&self, epoch: u64, key: &PartKey, part: &PartEntry, is_sparse: impl Fn(&str) -> bool) -> Option<Run> {
        let [whole, changes @ ..] = part.sections.as_slice() else { return None };
        let bytes: u64 = changes.iter().map(|section| section.bytes).sum();
        let is_large = bytes > whole.bytes.max(self.bytes_min);
        let is_many = changes.len() > self.sections_max;
        let is_old = CheckpointFolder::segment_epoch(&whole.file).is_some_and(|begun| begun + self.age_max < epoch);
        let is_sparse = part.sections.iter().any(|section| is_sparse(&section.file));
        let (all, dead) = part.rows();
        let is_dead = dead > all / 2 + self.dead_max || (dead == all && dead > 0);
        let start = match (is_large || is_old || is_sparse || is_dead, is_many) {
            (true, _) => 0,
            // Small changes beside much that stays: it is not written again for them.
            (false, true) if bytes * 4 < whole.bytes => 1,
            (false, true) => 0,
            (false, false) => return None,
        };
        Some(Run { key: key.clone(), start, sections: part.sections[start..].to_vec() })
    }
}

/// Starts merging what a checkpoint's sections need, in a place with these files; `None` if that is nothing.
pub(crate) fn start(
    rules: MergeRules,
    folder: &CheckpointFolder,
    manifest: &Manifest,
    files: &Files,
) -> Option<Merging> {
    let mut used: BTreeMap<&str, u64> = BTreeMap::new();
    manifest.sections().for_each(|section| *used.entry(&section.file).or_default() += section.bytes);
    let is_sparse = |file: &str| {
        let used = used.get(file).copied().unwrap_or(0);
        files.get(file).is_some_and(|bytes| *bytes > rules.bytes_min && used * 2 < *bytes)
    };
    let runs: Vec<Run> =
        manifest.parts().filter_map(|(key, part)| rules.run(manifest.epoch, &key, part, is_sparse)).collect();
    if runs.is_empty() {
        return None;
    }
    let segment = folder.merged_segment(manifest.epoch);
    let (file, reader) = (segment.name().to_string(), folder.reader());
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let work = move || merge(runs, &reader, segment, &stopped);
    let thread = std::thread::Builder::new().name("merge".into()).spawn(work).ok()?;
    Some(Merging { file, stop, thread })
}

fn merge(runs: Vec<Run>, reader: &SectionReader, mut segment: SegmentWriter, stop: &AtomicBool) -> Result<Vec<Merged>> {
    let mut merged = Vec::with_capacity(runs.len());
    for run in runs {
        if stop.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        fault::MERGE_READ.check()?;
        let sections = run.sections.iter().map(SectionEntry::section).collect::<Result<Vec<_>>>()?;
        let snapshot = merge_sections(reader, &sections, run.start == 0)?;
        let section = segment.write_with(|mut out| write_snapshot(&snapshot, &mut out))?;
        merged.push(Merged { run, section: SectionEntry::of(section).with(&snapshot) });
    }
    segment.finish()?;
    Ok(merged)
}

impl Merging {
    /// Whether the result can be had without waiting.
    pub(crate) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// The result. A merge that has failed is done again some time; until then there are more sections to read.
    pub(crate) fn finish(self) -> Vec<Merged> {
        match self.thread.join() {
            Ok(Ok(merged)) => merged,
            Ok(Err(error)) => {
                tracing::warn!("sections stay unmerged: {error}");
                Vec::new()
            }
            Err(_) => {
                tracing::warn!("sections stay unmerged: merging panicked");
                Vec::new()
            }
        }
    }

    /// Waits until it has ended; what it made is of no use.
    pub(crate) fn cancel(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.finish();
    }
}

/// Puts merged sections in the place of what they are made of, where that is still the case.
pub(crate) fn adopt(merged: Vec<Merged>, manifest: &mut Manifest) -> Result<()> {
    for Merged { run, section } in merged {
        fault::MERGE_ADOPT.check()?;
        let Some(part) = manifest.part_mut(&run.key) else { continue };
        let range = run.start..run.start + run.sections.len();
        if part.sections.get(range.clone()) == Some(&run.sections[..]) {
            part.sections.splice(range, [section]);
        }
    }
    Ok(())
}
