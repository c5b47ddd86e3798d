//! The filesystem source: files dealt to readers, read line by line, decoded batch by batch.
//!
//! Files are read with plain blocking calls of about a megabyte, which a local file system answers at once; the only
//! await point is the wait for the next look at a growing folder. So a dropped `next` never loses anything.

use super::lines::{LastLine, LineReader, Lines, shrank};
use super::listing::{self, FileEntry};
use super::options::FilesystemOptions;
use super::split::{Position, Split};
use super::{ColumnFrom, Layout};
use arrow::array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray, TimestampMillisecondArray, UInt32Array,
};
use base::connector::*;
use base::format::{DecodeError, Decoded, Decoder};
use base::types::INSTANT_ZONE;
use base::{BoxFuture, ChangelogBatch, Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Files that one reader keeps open at a time.
const OPEN_FILES_MAX: usize = 16;
/// Reasons of rejected records that are kept for the job summary.
const SAMPLES_MAX: usize = 5;

/// The source of one table.
#[derive(Debug)]
pub(super) struct FilesystemSource(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: FilesystemOptions,
    layout: Layout,
    /// Whether the table has a watermark: then every known file holds it back from the start.
    has_watermark: bool,
    files: Mutex<Files>,
}

/// The files known so far, and who reads them.
#[derive(Debug, Default)]
struct Files {
    /// As first listed, in name order.
    initial: Vec<FileEntry>,
    /// The latest size and time of every file, and the instance that reads it.
    owners: BTreeMap<PathBuf, (FileEntry, usize)>,
    /// Files found later, to be dealt in turn.
    discovered: usize,
    /// When the folder was listed last.
    listed: Option<Instant>,
    /// How often that was: a reader looks only when it has changed.
    listings: u64,
}

impl Shared {
    fn files(&self) -> MutexGuard<'_, Files> {
        // The lock only guards plain assignments, which a panic cannot tear.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a growing folder again unless another reader has just done so.
    fn refresh(&self, parallelism: usize) -> Result<()> {
        let Some(interval) = self.options.monitor_interval else { return Ok(()) };
        if self.files().listed.is_some_and(|listed| listed.elapsed() < interval) {
            return Ok(());
        }
        let listed = listing::list(&self.options)?;
        let mut files = self.files();
        files.listed = Some(Instant::now());
        files.listings += 1;
        for file in listed {
            let next = files.discovered;
            match files.owners.get_mut(&file.path) {
                Some((known, _)) => *known = file,
                None => {
                    files.owners.insert(file.path.clone(), (file, next % parallelism));
                    files.discovered += 1;
                }
            }
        }
        Ok(())
    }
}

impl FilesystemSource {
    pub fn new(options: FilesystemOptions, layout: Layout, has_watermark: bool) -> Result<FilesystemSource> {
        Ok(FilesystemSource(Arc::new(Shared { options, layout, has_watermark, files: Mutex::default() })))
    }
}

impl SourceProvider for FilesystemSource {
    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async move {
            let listed = listing::list(&self.0.options)?;
            for file in &listed {
                std::fs::File::open(&file.path).map_err(|cause| listing::read_error(&file.path, &cause))?;
            }
            let mut files = self.0.files();
            files.initial = listed;
            files.listed = Some(Instant::now());
            Ok(Vec::new())
        })
    }

    fn splits_max(&self) -> Option<usize> {
        let files = self.0.files();
        // The files of a bounded source are known once it is started; more readers would find nothing.
        let files =
            files.listed.filter(|_| self.0.options.monitor_interval.is_none()).map(|_| files.initial.len().max(1));
        match (files, self.0.options.scan_parallelism) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn reader(&self, instance: Instance, restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        let shared = self.0.clone();
        let layout = &shared.layout;
        let decoder = shared.options.format.factory.decoder(&shared.options.format.options, &layout.decode)?;
        let mut positions = restored
            .iter()
            .map(|state| Ok((state.split.clone(), Position::decode(state)?)))
            .collect::<Result<BTreeMap<SplitId, Position>>>()?;
        let mut reader = FileReader {
            instance,
            decoder,
            splits: Vec::new(),
            lines: Lines::default(),
            events: VecDeque::new(),
            failed: None,
            idle: false,
            reads: 0,
            listings: 0,
            statistics: SourceStatistics::default(),
            shared: shared.clone(),
        };
        let mut files = shared.files();
        let initial = files.initial.clone();
        for (index, file) in initial.into_iter().enumerate() {
            let owner = index % instance.parallelism;
            files.owners.insert(file.path.clone(), (file.clone(), owner));
            let id: SplitId = file.path.to_string_lossy().into();
            let position = positions.remove(&id).unwrap_or(Position::START);
            if owner == instance.index {
                reader.add(file, id, position)?;
            }
        }
        drop(files);
        match positions.into_iter().find(|(_, position)| !position.finished) {
            None => Ok(Box::new(reader)),
            Some((split, position)) => {
                Err(Error::new(&crate::codes::SPLIT_GONE, &[("path", &split), ("position", &position.place.byte)]))
            }
        }
    }
}

struct FileReader {
    shared: Arc<Shared>,
    instance: Instance,
    decoder: Box<dyn Decoder>,
    splits: Vec<Split>,
    /// Kept between reads for its memory.
    lines: Lines,
    /// Events to give before anything is read.
    events: VecDeque<SourceEvent>,
    /// The error that follows the rows before a bad record.
    failed: Option<Error>,
    idle: bool,
    reads: u64,
    /// The listing that was taken over last.
    listings: u64,
    statistics: SourceStatistics,
}

impl FileReader {
    fn growing(&self) -> bool {
        self.shared.options.monitor_interval.is_some()
    }

    fn add(&mut self, file: FileEntry, id: SplitId, position: Position) -> Result<()> {
        let options = &self.shared.options;
        if file.size < position.place.byte {
            return Err(shrank(&file.path, position.place.byte, file.size));
        }
        let partitions = listing::partition_values(&file.path, &self.shared.layout.partitions, options)?;
        let seen = position.place.byte;
        self.splits.push(Split { id, file, position, seen, started: false, partitions, reader: None, used: 0 });
        let last = self.splits.len() - 1;
        // A single file that grows never ends, so it holds the watermark back even while there is nothing to read.
        let holds_back = self.splits[last].readable(self.growing()) || (self.growing() && self.is_single_file(last));
        if self.shared.has_watermark && holds_back {
            self.begin(last);
        }
        Ok(())
    }

    /// Whether the table is this one file.
    fn is_single_file(&self, index: usize) -> bool {
        self.shared.options.path == self.splits[index].file.path
    }

    /// Tells the job that the split counts, unless it knows.
    fn begin(&mut self, index: usize) {
        let split = &mut self.splits[index];
        if !split.started {
            split.started = true;
            split.position.finished = false;
            self.idle = false;
            self.events.push_back(SourceEvent::SplitStarted(split.id.clone()));
        }
    }

    /// Takes over new files and new sizes of a growing folder.
    fn discover(&mut self) -> Result<()> {
        self.shared.refresh(self.instance.parallelism)?;
        let shared = self.shared.clone();
        let mine: Vec<FileEntry> = {
            let files = shared.files();
            if self.listings == files.listings {
                return Ok(());
            }
            self.listings = files.listings;
            let mine = files.owners.values().filter(|(_, owner)| *owner == self.instance.index);
            mine.map(|(file, _)| file.clone()).collect()
        };
        let known: BTreeMap<PathBuf, usize> =
            self.splits.iter().enumerate().map(|(index, split)| (split.file.path.clone(), index)).collect();
        for file in mine {
            match known.get(&file.path) {
                Some(&index) => {
                    let split = &mut self.splits[index];
                    if file.size < split.position.place.byte {
                        return Err(shrank(&file.path, split.position.place.byte, file.size));
                    }
                    if file.inode != split.file.inode && split.seen > 0 {
                        return Err(Error::new(&crate::codes::FILE_REPLACED, &[("path", &split.id)]));
                    }
                    split.file = file;
                    if split.readable(true) {
                        self.begin(index);
                    }
                }
                None => {
                    let id: SplitId = file.path.to_string_lossy().into();
                    self.add(file, id, Position::START)?;
                }
            }
        }
        Ok(())
    }

    /// The split to read: the one furthest behind if splits have watermarks, else the first.
    fn choose(&self, watermarks: &BTreeMap<SplitId, i64>) -> Option<usize> {
        let growing = self.growing();
        let mut readable = (0..self.splits.len()).filter(|&index| self.splits[index].readable(growing));
        if watermarks.is_empty() {
            return readable.next();
        }
        readable.min_by_key(|&index| watermarks.get(&self.splits[index].id).copied().unwrap_or(i64::MIN))
    }

    /// Opens the split if it is not open; closes the one that was not read longest if there are too many.
    fn open(&mut self, index: usize) -> Result<()> {
        self.reads += 1;
        self.splits[index].used = self.reads;
        if self.splits[index].reader.is_some() {
            return Ok(());
        }
        let open = || self.splits.iter().enumerate().filter(|(_, split)| split.reader.is_some());
        if open().count() >= OPEN_FILES_MAX
            && let Some((oldest, _)) = open().min_by_key(|(_, split)| split.used)
        {
            self.splits[oldest].reader = None;
        }
        let split = &mut self.splits[index];
        split.reader = Some(LineReader::open(&split.file.path, split.position.place)?);
        Ok(())
    }

    /// Reads a batch of the split; `None` if its lines gave no row.
    fn read(&mut self, index: usize, rows_max: usize) -> Result<Option<SourceEvent>> {
        self.open(index)?;
        let growing = self.growing();
        let single_file = self.is_single_file(index);
        let split = &mut self.splits[index];
        let Some(reader) = &mut split.reader else { return Err(Error::internal("the split was just opened")) };
        let last = if growing { LastLine::Wait } else { LastLine::Read };
        let before = split.position.place.byte;
        let ended = reader.read(&mut split.position.place, rows_max, last, &mut self.lines)?;
        if ended {
            split.seen = split.position.place.byte + reader.partial_bytes();
            split.file.size = split.file.size.max(split.seen);
        }
        self.statistics.bytes += split.position.place.byte - before;
        self.statistics.records += self.lines.records.len() as u64;
        let batch = if self.lines.records.is_empty() { None } else { self.decode(index)? };
        let split = &mut self.splits[index];
        let waits_for_line_end = split.seen > split.position.place.byte;
        if ended && self.failed.is_none() && (!growing || !(single_file || waits_for_line_end)) {
            split.position.finished = true;
            split.started = false;
            split.reader = None;
            self.events.push_back(SourceEvent::SplitFinished(split.id.clone()));
        }
        Ok(batch.map(|batch| SourceEvent::Batch { split: self.splits[index].id.clone(), batch }))
    }

    fn decode(&mut self, index: usize) -> Result<Option<ChangelogBatch>> {
        let decoded = match self.decoder.decode(&self.lines.records) {
            Ok(decoded) => decoded,
            Err(DecodeError { record, error, before }) => {
                let split = &mut self.splits[index];
                // A restart begins with the bad record again; the rows before it count.
                split.position.place = self.lines.places[record];
                split.reader = None;
                self.statistics.records -= (self.lines.records.len() - record) as u64;
                self.failed = Some(error.at(self.lines.places[record].location(&split.file.path)));
                *before
            }
        };
        let split = &self.splits[index];
        self.statistics.rejected += decoded.rejected.len() as u64;
        for (record, error) in &decoded.rejected {
            if self.statistics.rejected_samples.len() == SAMPLES_MAX {
                break;
            }
            let place = self.lines.places[*record as usize];
            self.statistics.rejected_samples.push(error.clone().at(place.location(&split.file.path)));
        }
        let batch = self.assemble(split, decoded)?;
        Ok((!batch.is_empty()).then_some(batch))
    }

    /// Adds partition and metadata columns to what the decoder gave.
    fn assemble(&self, split: &Split, decoded: Decoded) -> Result<ChangelogBatch> {
        let layout = &self.shared.layout;
        if layout.columns.len() == layout.decode.columns.len() {
            return Ok(decoded.batch);
        }
        let rows = decoded.batch.num_rows();
        let repeat = |text: &str| Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows))) as ArrayRef;
        let columns = layout
            .columns
            .iter()
            .map(|column| {
                Ok(match column {
                    ColumnFrom::Decoded(index) => decoded.batch.records().column(*index).clone(),
                    ColumnFrom::Partition(index) => {
                        let first = UInt32Array::from(vec![0; rows]);
                        arrow::compute::take(&split.partitions[*index], &first, None)?
                    }
                    ColumnFrom::Path => repeat(&split.id),
                    ColumnFrom::Name => repeat(&split.file.path.file_name().unwrap_or_default().to_string_lossy()),
                    ColumnFrom::Size => Arc::new(Int64Array::from_value(split.file.size as i64, rows)),
                    ColumnFrom::ModificationTime => Arc::new(
                        TimestampMillisecondArray::from_value(split.file.modified_ms, rows).with_timezone(INSTANT_ZONE),
                    ),
                })
            })
            .collect::<Result<Vec<ArrayRef>>>()?;
        let count = RecordBatchOptions::new().with_row_count(Some(rows));
        let records = RecordBatch::try_new_with_options(layout.output.arrow().clone(), columns, &count)?;
        Ok(decoded.batch.with_records(records))
    }

    /// The next event that needs no waiting.
    fn ready(&mut self, request: &ReadRequest<'_>) -> Result<Option<SourceEvent>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.growing() {
                self.discover()?;
                if !self.events.is_empty() {
                    continue;
                }
            }
            let Some(index) = self.choose(request.watermarks) else { return Ok(self.nothing_to_read()) };
            if !self.splits[index].started {
                self.begin(index);
                continue;
            }
            if let Some(batch) = self.read(index, request.rows_max)? {
                return Ok(Some(batch));
            }
        }
    }

    fn nothing_to_read(&mut self) -> Option<SourceEvent> {
        if !self.growing() {
            return Some(SourceEvent::End);
        }
        if self.idle || self.splits.iter().any(|split| split.started) {
            return None;
        }
        self.idle = true;
        Some(SourceEvent::Idle)
    }
}

impl SourceReader for FileReader {
    fn next<'a>(&'a mut self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        Box::pin(async move {
            loop {
                if let Some(event) = self.ready(&request)? {
                    return Ok(event);
                }
                let interval = self.shared.options.monitor_interval.unwrap_or_default();
                tokio::time::sleep(interval).await;
            }
        })
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        let touched = self.splits.iter().filter(|split| split.position != Position::START);
        Ok(touched.map(|split| SplitState { split: split.id.clone(), position: split.position.encode() }).collect())
    }

    fn statistics(&self) -> SourceStatistics {
        let lag = self.splits.iter().filter(|split| !split.position.finished).map(Split::lag).sum();
        SourceStatistics { lag: Some(lag), ..self.statistics.clone() }
    }
}
