//! A checkpoint on its way to the disk: which sections it names, which of them are new, and the writing of these, several at
//! once.

use crate::checkpoint::JobCheckpoint;
use crate::manifest::{Manifest, NodeEntry, PartEntry, PartKey, SectionEntry, SourceEntry, sink_snapshot};
use base::{Error, Result};
use state::{
    CacheFile, CheckpointFolder, Files, OperatorSnapshot, PartSnapshot, PartState, SegmentWriter, SnapshotKind,
    encode_snapshot, key_groups, write_snapshot,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A smaller section is written again rather than referred to.
const REUSE_BYTES_MIN: u64 = 4096;
/// Below so many bytes in memory there is one segment.
const SHARED_BYTES_MIN: usize = 8 << 20;
/// Larger state that is written as a whole is not compared with what is there: that needs its bytes in memory.
const COMPARED_BYTES_MAX: usize = 64 << 20;
/// How many segments are written at once.
const WRITERS_MAX: usize = 4;

/// The sections of the last checkpoint by size and checksum: bytes that are there already are not written again.
pub(crate) struct Known(BTreeMap<(u64, String), SectionEntry>);

impl Known {
    /// Of a segment that is mostly of no use any more, nothing is taken over: it would never go.
    pub(crate) fn new(last: Option<&Manifest>, files: &Files) -> Known {
        let Some(manifest) = last else { return Known(BTreeMap::new()) };
        let mut used: BTreeMap<&str, u64> = BTreeMap::new();
        manifest.sections().for_each(|section| *used.entry(&section.file).or_default() += section.bytes);
        let is_useful =
            |file: &str| files.get(file).is_some_and(|bytes| used.get(file).copied().unwrap_or(0) * 2 >= *bytes);
        let useful: BTreeSet<&str> = used.keys().copied().filter(|file| is_useful(file)).collect();
        let taken = manifest
            .sections()
            .filter(|section| section.bytes >= REUSE_BYTES_MIN && useful.contains(section.file.as_str()));
        Known(taken.map(|section| ((section.bytes, section.xxh3.clone()), section.clone())).collect())
    }
}

/// Something to be written.
enum Content<'a> {
    Rows(Cow<'a, OperatorSnapshot>),
    Bytes(Cow<'a, [u8]>),
    /// Read when its turn comes: all of them together may be larger than memory.
    File(&'a CacheFile),
}

impl Content<'_> {
    fn bytes(&self) -> usize {
        match self {
            Content::Rows(snapshot) => {
                snapshot.tables.iter().map(|table| table.rows.get_array_memory_size()).sum::<usize>()
            }
            Content::Bytes(bytes) => bytes.len(),
            Content::File(file) => file.bytes() as usize,
        }
    }

    /// Whether it may be just what was written before.
    fn may_be_known(&self) -> bool {
        match self {
            Content::Rows(snapshot) => {
                snapshot.tables.iter().any(|table| table.ids.is_none()) && self.bytes() <= COMPARED_BYTES_MAX
            }
            Content::Bytes(_) | Content::File(_) => true,
        }
    }
}

/// The checkpoint, its folder and the one before.
pub(crate) struct Writing<'a> {
    folder: &'a CheckpointFolder,
    checkpoint: &'a JobCheckpoint,
    /// Whether the state of operators is written.
    keeps_state: bool,
    last: Option<&'a Manifest>,
    known: Known,
    contents: Vec<Content<'a>>,
}

/// A part of an operator whose new section, if there is one, is not written yet.
struct Planned {
    entry: PartEntry,
    content: Option<usize>,
}

impl<'a> Writing<'a> {
    pub(crate) fn new(
        folder: &'a CheckpointFolder,
        checkpoint: &'a JobCheckpoint,
        keeps_state: bool,
        last: Option<&'a Manifest>,
        known: Known,
    ) -> Writing<'a> {
        Writing { folder, checkpoint, keeps_state, last, known, contents: Vec::new() }
    }

    /// Writes what is new. Gives the entries of the manifest, and the bytes written.
    pub(crate) fn nodes(mut self) -> Result<(BTreeMap<String, NodeEntry>, u64)> {
        let mut planned: BTreeMap<&str, (Vec<Vec<Planned>>, Option<usize>)> = BTreeMap::new();
        for key in self.checkpoint.digests.keys() {
            let mut operator = Vec::new();
            let instances = self.checkpoint.operators.get(key).filter(|_| self.keeps_state);
            for (instance, parts) in instances.into_iter().flatten().enumerate() {
                let parts = parts.iter().map(|part| self.part((key.clone(), instance, part.part), part));
                operator.push(parts.collect::<Result<Vec<_>>>()?);
            }
            let sink = match self.checkpoint.sinks.get(key) {
                None => None,
                Some(sink) => Some(self.content(Content::Bytes(encode_snapshot(&sink_snapshot(sink)?)?.into()))),
            };
            planned.insert(key, (operator, sink));
        }
        let (sections, bytes) = self.write()?;
        let written =
            |content: usize| sections[content].clone().ok_or_else(|| Error::internal("a section that was not written"));
        let mut nodes = BTreeMap::new();
        for (key, (operator, sink)) in planned {
            let checkpoint = self.checkpoint;
            let part = |Planned { mut entry, content }: Planned| {
                entry.sections.extend(content.map(written).transpose()?);
                Ok(entry)
            };
            let parts = |parts: Vec<Planned>| parts.into_iter().map(part).collect::<Result<Vec<_>>>();
            let node = NodeEntry {
                name: checkpoint.names.get(key).cloned().unwrap_or_default(),
                digest: checkpoint.digests.get(key).cloned().unwrap_or_default(),
                watermarks_ms: checkpoint.watermarks.get(key).cloned().unwrap_or_default(),
                counts: checkpoint.counts.get(key).copied().unwrap_or_default(),
                state: checkpoint.shapes.get(key).cloned().unwrap_or_default(),
                operator: operator.into_iter().map(parts).collect::<Result<_>>()?,
                source: checkpoint.sources.get(key).map(SourceEntry::of),
                sink: sink.map(written).transpose()?,
            };
            nodes.insert(key.to_string(), node);
        }
        Ok((nodes, bytes))
    }

    fn content(&mut self, content: Content<'a>) -> usize {
        self.contents.push(content);
        self.contents.len() - 1
    }

    fn part(&mut self, key: PartKey, part: &'a PartSnapshot) -> Result<Planned> {
        let before = self.last.and_then(|last| last.part(&key));
        let missing = || Error::internal(format!("changes of {key:?} without what they change"));
        let unchanged =
            |entry: Option<&PartEntry>| Ok(Planned { entry: entry.cloned().ok_or_else(missing)?, content: None });
        let snapshot = match &part.state {
            PartState::Unchanged => return unchanged(before),
            PartState::Encoded(bytes) => return Ok(self.encoded(&key, Content::Bytes(Cow::Borrowed(bytes)))),
            PartState::Cached(file) => return Ok(self.encoded(&key, Content::File(file))),
            PartState::Stored(stored) => Cow::Owned(stored.load()?),
            PartState::Rows(snapshot) => Cow::Borrowed(snapshot.as_ref()),
        };
        let is_whole = |kind: &SnapshotKind| matches!(kind, SnapshotKind::Full);
        if snapshot.tables.iter().all(|table| is_whole(&table.kind)) {
            let entry = PartEntry {
                part: key.2,
                key_groups: key_groups(&snapshot),
                values: snapshot.values.clone(),
                sections: Vec::new(),
            };
            let is_empty = snapshot.tables.iter().all(|table| table.rows.num_rows() == 0);
            let content = (!is_empty).then(|| self.content(Content::Rows(snapshot)));
            return Ok(Planned { entry, content });
        }
        let has_changes = snapshot.tables.iter().any(|table| match &table.kind {
            SnapshotKind::Full => true,
            SnapshotKind::Rows { gone } | SnapshotKind::Keys { gone } => table.rows.num_rows() > 0 || !gone.is_empty(),
        });
        let Some(before) = before else { return Err(missing()) };
        if !has_changes && before.values == snapshot.values {
            return unchanged(Some(before));
        }
        let mut entry = before.clone();
        entry.values.clone_from(&snapshot.values);
        entry.key_groups = match (before.sections.is_empty(), before.key_groups, key_groups(&snapshot)) {
            (true, _, changed) => changed,
            (false, Some(known), Some(changed)) => Some((known.0.min(changed.0), known.1.max(changed.1))),
            // Changes without rows.
            (false, known, None) if snapshot.tables.iter().all(|table| table.rows.num_rows() == 0) => known,
            (false, ..) => None,
        };
        let content = self.content(Content::Rows(snapshot));
        Ok(Planned { entry, content: Some(content) })
    }

    /// A part that was put away.
    fn encoded(&mut self, key: &PartKey, content: Content<'a>) -> Planned {
        let entry = PartEntry { part: key.2, key_groups: None, values: BTreeMap::new(), sections: Vec::new() };
        Planned { entry, content: Some(self.content(content)) }
    }

    /// Writes all contents; gives their sections in the same order.
    fn write(&mut self) -> Result<(Vec<Option<SectionEntry>>, u64)> {
        let contents = std::mem::take(&mut self.contents);
        let total: usize = contents.iter().map(Content::bytes).sum();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let writers = if total < SHARED_BYTES_MIN { 1 } else { WRITERS_MAX.min(cores).min(contents.len()).max(1) };
        let sections = Mutex::new(vec![None; contents.len()]);
        let next = AtomicUsize::new(0);
        let (folder, epoch, known) = (self.folder, self.checkpoint.epoch.0, &self.known);
        let write = |writer: usize| -> Result<u64> {
            let mut segment = folder.segment(epoch, writer);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(content) = contents.get(index) else { break };
                let section = put(&mut segment, content, known)?;
                sections.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(section);
            }
            segment.finish()
        };
        let bytes = std::thread::scope(|scope| {
            let write = &write;
            let threads: Vec<_> = (1..writers).map(|writer| scope.spawn(move || write(writer))).collect();
            let mut all = vec![write(0)];
            let panicked = |_| Err(Error::internal("a writer of state panicked"));
            all.extend(threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)));
            all.into_iter().sum::<Result<u64>>()
        })?;
        Ok((sections.into_inner().unwrap_or_else(PoisonError::into_inner), bytes))
    }
}

fn put(segment: &mut SegmentWriter, content: &Content<'_>, known: &Known) -> Result<SectionEntry> {
    let encoded;
    let bytes: &[u8] = match content {
        Content::Rows(snapshot) if !content.may_be_known() => {
            let section = segment.write_with(|mut out| write_snapshot(snapshot, &mut out))?;
            return Ok(SectionEntry::of(section).with(snapshot));
        }
        Content::Rows(snapshot) => {
            encoded = encode_snapshot(snapshot)?;
            &encoded
        }
        Content::Bytes(bytes) => bytes,
        Content::File(file) => {
            encoded = file.read()?;
            &encoded
        }
    };
    let entry = SectionEntry::of(segment.section(bytes));
    let described = |entry: SectionEntry| match content {
        Content::Rows(snapshot) => entry.with(snapshot),
        Content::Bytes(_) | Content::File(_) => entry,
    };
    if let Some(known) = known.0.get(&(entry.bytes, entry.xxh3.clone())) {
        return Ok(known.clone());
    }
    Ok(described(SectionEntry::of(segment.write(bytes)?)))
}
