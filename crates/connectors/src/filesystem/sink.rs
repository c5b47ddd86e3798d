//! The filesystem sink: hidden part files, made readable when their checkpoint is durable.

use super::options::FilesystemOptions;
use super::part_files::{self, PartFile, Pending, WriterState, write_error};
use crate::codes;
use base::clock::Clock;
use base::connector::*;
use base::format::{Encoder, Records};
use base::{BoxFuture, ChangelogBatch, Epoch, Error, Result, RowType, fault};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes gathered before they are handed to the file system.
const BUFFER_BYTES: usize = 1 << 20;

/// The sink of one table.
#[derive(Debug)]
pub(super) struct FilesystemSink {
    options: FilesystemOptions,
    columns: RowType,
    time_zone: chrono_tz::Tz,
    clock: Arc<dyn Clock>,
    header: Option<Vec<u8>>,
    run: Mutex<Run>,
}

/// The run of the sink: a new number, or that of the run that is continued.
#[derive(Debug, Default, Clone, Copy)]
struct Run {
    /// The number whose reservation this sink holds.
    reserved: Option<u64>,
    /// The number in use, once the first writer is made.
    number: Option<u64>,
}

impl FilesystemSink {
    pub fn new(options: FilesystemOptions, columns: RowType, context: &ConnectorContext) -> Result<FilesystemSink> {
        let format = &options.format;
        // Column types that the format cannot write are reported before anything is opened.
        format.factory.encoder(&format.options, &columns, context.time_zone)?;
        let header = format.factory.file_header(&format.options, &columns)?;
        Ok(FilesystemSink {
            options,
            columns,
            time_zone: context.time_zone,
            clock: context.clock.clone(),
            header,
            run: Mutex::default(),
        })
    }

    fn run(&self) -> std::sync::MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part_writer(&self, instance: Instance, restored: &[Vec<u8>]) -> Result<PartWriter> {
        let states = restored.iter().map(|state| WriterState::decode(state)).collect::<Result<Vec<_>>>()?;
        let continued = states.iter().map(|state| state.run).max();
        let first_writer = self.run().number.is_none();
        if let (Some(run), true) = (continued, first_writer) {
            let keep: BTreeSet<PartFile> = states.iter().flat_map(|state| state.pending.iter().copied()).collect();
            part_files::remove_leftovers(&self.options.path, run, &keep)?;
            self.release()?;
        }
        let run = {
            let mut state = self.run();
            let run = continued.or(state.reserved).ok_or_else(|| Error::internal("the sink was not started"))?;
            state.number = Some(run);
            // A continued run may have left its reservation behind: it is given back at the end.
            state.reserved = Some(run);
            run
        };
        let format = &self.options.format;
        Ok(PartWriter {
            encoder: format.factory.encoder(&format.options, &self.columns, self.time_zone)?,
            folder: self.options.path.clone(),
            header: self.header.clone(),
            roll_bytes: self.options.roll_bytes,
            roll_ms: i64::try_from(self.options.roll_interval.as_millis()).unwrap_or(i64::MAX),
            clock: self.clock.clone(),
            instance: instance.index as u64,
            // Numbers are shared by all writers of the last run, because their count may have changed.
            state: WriterState {
                run,
                next: states.iter().map(|state| state.next).max().unwrap_or(0),
                pending: Vec::new(),
            },
            records: Records::default(),
            buffer: Vec::new(),
            open: None,
            closed: Vec::new(),
        })
    }

    /// Gives the reserved number back; files that use it keep it taken.
    fn release(&self) -> Result<()> {
        let Some(reserved) = self.run().reserved.take() else { return Ok(()) };
        let path = part_files::reservation(&self.options.path, reserved);
        match std::fs::remove_file(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(write_error(&path, &cause)),
            _ => Ok(()),
        }
    }
}

impl SinkProvider for FilesystemSink {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async move {
            let folder = &self.options.path;
            if folder.is_file() {
                return Err(Error::new(&codes::SINK_PATH_IS_FILE, &[("path", &folder.display())]));
            }
            std::fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder.display(), &cause))?;
            // A job that goes on after a failure begins like one that is started.
            self.release()?;
            // Writing the reservation also shows that the folder is writable.
            let reserved = Some(part_files::reserve_run(folder)?);
            *self.run() = Run { reserved, number: None };
            Ok(Vec::new())
        })
    }

    fn writer(&self, instance: Instance, restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Ok(Box::new(self.part_writer(instance, restored)?))
    }

    fn commit<'a>(&'a self, _epoch: Epoch, committables: &'a [Committable]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for committable in committables {
                Pending::decode(&committable.0)?.commit(&self.options.path)?;
            }
            if committables.is_empty() {
                return Ok(());
            }
            fault::PART_FOLDER_SYNC.check()?;
            part_files::sync_folder(&self.options.path)
        })
    }

    fn finish<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.release() })
    }
}

impl Drop for FilesystemSink {
    /// A job that fails or is cancelled gives the number back as well.
    fn drop(&mut self) {
        let _ = self.release();
    }
}

/// A hidden part file that takes rows.
struct OpenPart {
    part: PartFile,
    path: PathBuf,
    file: File,
    size: u64,
    opened_ms: i64,
}

struct PartWriter {
    encoder: Box<dyn Encoder>,
    folder: PathBuf,
    header: Option<Vec<u8>>,
    roll_bytes: u64,
    roll_ms: i64,
    clock: Arc<dyn Clock>,
    instance: u64,
    state: WriterState,
    /// Kept between batches for its memory.
    records: Records,
    /// Bytes for the open file.
    buffer: Vec<u8>,
    open: Option<OpenPart>,
    /// Files that were closed since the last barrier.
    closed: Vec<Pending>,
}

impl PartWriter {
    fn append(&mut self, batch: &ChangelogBatch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.records.clear();
        self.encoder.encode(batch, &mut self.records)?;
        for index in 0..self.records.len() {
            if self.open.is_none() {
                self.open_part()?;
            }
            self.buffer.extend_from_slice(self.records.get(index));
            self.buffer.push(b'\n');
            if self.buffer.len() >= BUFFER_BYTES {
                self.write_out()?;
            }
            if self.open.as_ref().is_some_and(|open| open.size + self.buffer.len() as u64 >= self.roll_bytes) {
                self.close_part()?;
            }
        }
        let age = self.open.as_ref().map_or(0, |open| self.clock.now_ms() - open.opened_ms);
        if age >= self.roll_ms { self.close_part() } else { Ok(()) }
    }

    fn open_part(&mut self) -> Result<()> {
        let mut part = PartFile { run: self.state.run, instance: self.instance, number: self.state.next };
        // Whatever has these names is not ours: it is never overwritten.
        while self.folder.join(part.hidden_name()).exists() || self.folder.join(part.name()).exists() {
            part.number += 1;
        }
        let path = self.folder.join(part.hidden_name());
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|cause| Error::io("create", path.display(), &cause))?;
        self.state.next = part.number + 1;
        self.open = Some(OpenPart { part, path, file, size: 0, opened_ms: self.clock.now_ms() });
        if let Some(header) = &self.header {
            self.buffer.extend_from_slice(header);
        }
        Ok(())
    }

    fn write_out(&mut self) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let written = fault::PART_WRITE.pass().and_then(|()| open.file.write_all(&self.buffer));
        written.map_err(|cause| write_error(&open.path, &cause))?;
        open.size += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn close_part(&mut self) -> Result<()> {
        self.write_out()?;
        let Some(open) = self.open.take() else { return Ok(()) };
        self.closed.push(Pending { part: open.part, size: open.size });
        let synced = fault::PART_SYNC.pass().and_then(|()| open.file.sync_all());
        synced.map_err(|cause| write_error(&open.path, &cause))
    }
}

impl SinkWriter for PartWriter {
    fn write<'a>(&'a mut self, batch: &'a ChangelogBatch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.append(batch) })
    }

    fn flush<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.write_out() })
    }

    fn prepare_commit<'a>(&'a mut self, _epoch: Epoch) -> BoxFuture<'a, Result<Vec<Committable>>> {
        Box::pin(async move {
            self.close_part()?;
            if !self.closed.is_empty() {
                // The hidden names must survive a power failure before the checkpoint may rely on them.
                part_files::sync_folder(&self.folder)?;
            }
            let closed = std::mem::take(&mut self.closed);
            self.state.pending = closed.iter().map(|pending| pending.part).collect();
            Ok(closed.into_iter().map(Pending::encode).collect())
        })
    }

    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Ok(self.state.encode())
    }

    fn abort<'a>(&'a mut self) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // Files of a barrier that has passed stay: their checkpoint may be durable.
            let open = self.open.take().map(|open| open.part);
            let closed = std::mem::take(&mut self.closed).into_iter().map(|pending| pending.part);
            for part in open.into_iter().chain(closed) {
                let _ = std::fs::remove_file(self.folder.join(part.hidden_name()));
            }
            self.buffer.clear();
        })
    }
}

#[cfg(test)]
#[path = "sink_tests.rs"]
mod tests;
