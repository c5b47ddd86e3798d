//! The task of a chain whose head is a source: reads, computes columns, makes watermarks, sends barriers.

use crate::alignment::WATERMARK_NONE;
use crate::chain::Chain;
use crate::channel_task::send;
use crate::checkpoint::{SourceCheckpoint, TaskSnapshot};
use crate::codes;
use crate::input_wait::{InputWait, InputWaker};
use crate::operators::calc::CalcEvaluator;
use crate::quiescence::InFlight;
use crate::shared::{Command, Control, Report, Shared, TaskId, until};
use crate::source_group::Member;
use crate::upkeep::Upkeep;
use crate::waiting::{ReaderProgress, WaitingWatch};
use crate::watermark::{Change, Piece, SplitWatermarks};
use arrow::array::{Array, Int64Array};
use base::connector::{ReadRequest, SourceEvent, SourceReader, SplitId};
use base::event::WATERMARK_MAX;
use base::plan::WatermarkStrategy;
use base::time::epoch_ms;
use base::{ChangelogBatch, Error, Event, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Commands that wait for a source task: one barrier, one completion and one stop, with room to spare.
pub(crate) const COMMANDS_MAX: usize = 8;

/// How a source makes watermarks.
pub(crate) struct RowTime {
    pub strategy: WatermarkStrategy,
    /// The name of the rowtime column.
    pub column: String,
    /// Whether a row that is removed may be known by its key alone.
    pub has_bare_deletes: bool,
    /// Whether rows without a time are left out.
    pub drops_nulls: bool,
}

/// Rows left out because they have no time.
#[derive(Debug, Default)]
pub(crate) struct Dropped {
    rows: u64,
    sample: Option<Error>,
}

/// Says now and then how far the splits of this reader are.
pub(crate) struct Watched {
    pub watch: Arc<WaitingWatch>,
    /// The place of the source in the watch.
    pub source: usize,
    /// Which reader of the source this is.
    pub reader: usize,
    pub due: Instant,
}

/// The way to the end of what a table held when the job started.
#[derive(Debug, Default)]
pub(crate) struct CatchingUp {
    /// That many records have been read then; unknown before the reader knows how much waits.
    records: Option<u64>,
}

impl CatchingUp {
    /// How often a reader without rows is looked at.
    const INTERVAL: Duration = Duration::from_millis(50);

    /// Whether the end has been reached: everything has been read at some moment, or as much as waited at the start.
    fn is_done(&mut self, reader: &dyn SourceReader, has_nothing: bool) -> bool {
        let statistics = reader.statistics();
        match statistics.lag {
            Some(0) => true,
            Some(lag) => statistics.records >= *self.records.get_or_insert(statistics.records + lag),
            None => has_nothing && reader.holds_nothing_back(),
        }
    }
}

/// The parts of such a task.
pub(crate) struct SourceTask {
    pub id: TaskId,
    /// Table name for people.
    pub table: String,
    pub reader: Box<dyn SourceReader>,
    pub projection: Option<CalcEvaluator>,
    pub row_time: Option<RowTime>,
    pub dropped: Dropped,
    pub watermarks: SplitWatermarks,
    /// The sources that this one waits for.
    pub member: Option<Member>,
    pub watched: Option<Watched>,
    /// Until it has given what its table held when the job started; only if somebody waits for that.
    pub catching_up: Option<CatchingUp>,
    pub chain: Chain,
    pub control: mpsc::Receiver<Control>,
    pub shared: Arc<Shared>,
    /// Held always except while the reader waits for input.
    pub busy: Option<InFlight>,
    pub input: Arc<InputWaker>,
}

impl RowTime {
    /// What becomes of a batch in which rows have no time: those that need one are left out, or are an error. The others
    /// get the lowest one.
    fn check_nulls(
        &self,
        table: &str,
        batch: ChangelogBatch,
        rowtimes_ms: &mut Int64Array,
        dropped: &mut Dropped,
    ) -> Result<ChangelogBatch> {
        let times = rowtimes_ms.clone();
        // Which time the delete of a bare key is about is known where the key is looked up: it may be any.
        let names_a_time =
            |row: &usize| times.is_valid(*row) || (self.has_bare_deletes && !batch.kind(*row).is_addition());
        let kept: Vec<usize> = (0..batch.num_rows()).filter(names_a_time).collect();
        *rowtimes_ms = kept.iter().map(|&row| if times.is_valid(row) { times.value(row) } else { i64::MIN }).collect();
        if kept.len() == batch.num_rows() {
            return Ok(batch);
        }
        let error = || {
            Error::new(
                &codes::NULL_ROWTIME,
                &[("table", &table), ("column", &self.column), ("expression", &self.strategy.expression.sql())],
            )
        };
        if !self.drops_nulls {
            return Err(error());
        }
        dropped.rows += (batch.num_rows() - kept.len()) as u64;
        dropped.sample.get_or_insert_with(error);
        batch.take(&kept.into_iter().map(|row| row as u32).collect())
    }
}

enum Happened {
    Read(SourceEvent),
    Told(Control),
    /// The reader has nothing at hand for the first time.
    Settled,
    Nothing,
}

impl SourceTask {
    /// Runs until the source has ended, it was told to stop, or the final barrier was sent.
    pub(crate) async fn run(&mut self, reports: &mpsc::Sender<Report>) -> Result<TaskSnapshot> {
        let mut upkeep = Upkeep::new(&self.chain);
        let mut pieces = Vec::new();
        if let Some(watermark_ms) = self.watermarks.sent_ms() {
            // The channels of a restored job know nothing: what holds time back must not look silent to them.
            self.chain.process(0, Event::Watermark(watermark_ms)).await?;
        }
        self.tell(self.watermarks.active_ms());
        loop {
            let (happened, now) = self.wait(&upkeep).await?;
            let is_event = !matches!(happened, Happened::Nothing);
            let has_nothing = matches!(happened, Happened::Nothing | Happened::Settled);
            match happened {
                Happened::Nothing => {}
                Happened::Settled => {
                    let change = self.watermarks.settle();
                    self.apply(change).await?;
                }
                Happened::Read(SourceEvent::End) => return self.end().await,
                Happened::Read(event) => self.read(event, &mut pieces).await?,
                Happened::Told(Control { command, in_flight: _in_flight }) => {
                    if let Some(last) = self.obey(command, reports).await? {
                        return Ok(last);
                    }
                }
            }
            self.catch_up(has_nothing).await?;
            let now = if is_event { Instant::now() } else { now };
            if is_event {
                upkeep.on_event(now);
            }
            self.tell(self.watermarks.active_ms());
            self.report(now);
            if upkeep.run(&mut self.chain, now).await? {
                self.publish();
            }
            // A reader that never waits lets the other tasks of its thread run.
            tokio::task::yield_now().await;
        }
    }

    /// Waits for rows, a command or a timer.
    async fn wait(&mut self, upkeep: &Upkeep) -> Result<(Happened, Instant)> {
        if self.member.as_ref().is_some_and(Member::is_ahead) {
            return Ok((self.pause(upkeep).await, Instant::now()));
        }
        let begin = Instant::now();
        let idle = self.watermarks.until_idle().map(|time| begin + time);
        let look = self.catching_up.as_ref().map(|_| begin + CatchingUp::INTERVAL);
        let deadline = [upkeep.deadline(), idle, self.report_due(), look].into_iter().flatten().min();
        let request = ReadRequest { rows_max: self.shared.rows_max, watermarks: self.watermarks.known() };
        let happened = tokio::select! {
            biased;
            Some(control) = self.control.recv() => Happened::Told(control),
            event = InputWait::new(self.reader.next(request), &mut self.busy, &self.input) => {
                Happened::Read(event?)
            }
            () = std::future::ready(()), if !self.watermarks.is_settled() => Happened::Settled,
            () = until(deadline) => Happened::Nothing,
        };
        let now = Instant::now();
        let change = self.watermarks.waited(now - begin);
        self.apply(change).await?;
        Ok((happened, now))
    }

    /// Says once that what the table held at the start has been read.
    async fn catch_up(&mut self, has_nothing: bool) -> Result<()> {
        let reader = self.reader.as_ref();
        if !self.catching_up.as_mut().is_some_and(|catching_up| catching_up.is_done(reader, has_nothing)) {
            return Ok(());
        }
        self.catching_up = None;
        self.chain.process(0, Event::CaughtUp).await
    }

    /// Reads nothing while the sources that it waits for are behind. Nobody is silent meanwhile.
    async fn pause(&mut self, upkeep: &Upkeep) -> Happened {
        let deadline = [upkeep.deadline(), self.report_due()].into_iter().flatten().min();
        let Some(member) = &self.member else { return Happened::Nothing };
        tokio::select! {
            biased;
            Some(control) = self.control.recv() => Happened::Told(control),
            () = InputWait::new(Box::pin(member.caught_up()), &mut self.busy, &self.input) => Happened::Nothing,
            () = until(deadline) => Happened::Nothing,
        }
    }

    /// When it says next how far its splits are.
    fn report_due(&self) -> Option<Instant> {
        self.watched.as_ref().map(|watched| watched.due)
    }

    /// Tells the sources that wait for this one where it is.
    fn tell(&mut self, watermark_ms: Option<i64>) {
        if let Some(member) = &mut self.member {
            member.tell(watermark_ms);
        }
    }

    /// Says how far the splits are if that is due, and warns of what results wait for.
    fn report(&mut self, now: Instant) {
        let Some(watched) = self.watched.as_mut().filter(|watched| watched.due <= now) else { return };
        watched.due = now + watched.watch.interval();
        let waits_for = self.member.as_ref().and_then(Member::waits_for);
        let progress = ReaderProgress { waits_for, ..self.watermarks.progress() };
        let warnings = watched.watch.report(watched.source, watched.reader, progress, self.shared.clock.now_ms());
        warnings.into_iter().for_each(|warning| self.shared.warn(warning));
    }

    async fn read(&mut self, event: SourceEvent, pieces: &mut Vec<Piece>) -> Result<()> {
        match event {
            SourceEvent::Batch { split, batch } => self.rows(&split, batch, pieces).await,
            SourceEvent::SplitStarted(split) => {
                let was_idle = self.watermarks.started(&split);
                self.wake(was_idle, self.watermarks.sent_ms()).await
            }
            SourceEvent::SplitFinished(split) => {
                let change = self.watermarks.finished(&split);
                self.apply(change).await
            }
            SourceEvent::Idle => {
                let change = self.watermarks.no_split();
                self.apply(change).await
            }
            SourceEvent::End => Err(Error::internal("the end of a source is not a read")),
        }
    }

    async fn rows(&mut self, split: &SplitId, batch: ChangelogBatch, pieces: &mut Vec<Piece>) -> Result<()> {
        let sent_ms = self.watermarks.sent_ms();
        let mut batch = match &mut self.projection {
            None => batch,
            Some(projection) => projection.apply(&batch, sent_ms, self.shared.clock.now_ms())?,
        };
        let Some(row_time) = &self.row_time else {
            let was_idle = self.watermarks.started(split);
            self.wake(was_idle, sent_ms).await?;
            return self.chain.process(0, Event::Data(batch)).await;
        };
        let mut rowtimes_ms = epoch_ms(batch.records().column(row_time.strategy.column))?;
        if rowtimes_ms.null_count() > 0 {
            batch = row_time.check_nulls(&self.table, batch, &mut rowtimes_ms, &mut self.dropped)?;
        }
        let watermarks_ms = epoch_ms(&row_time.strategy.expression.evaluate(batch.records())?)?;
        let was_idle = self.watermarks.rows(split, &rowtimes_ms, &watermarks_ms, pieces);
        self.wake(was_idle, sent_ms).await?;
        for piece in pieces.drain(..) {
            if !piece.rows.is_empty() {
                let rows = batch.slice(piece.rows.start, piece.rows.len());
                self.chain.process(0, Event::Data(rows)).await?;
            }
            if let Some(watermark_ms) = piece.watermark_ms {
                self.chain.process(0, Event::Watermark(watermark_ms)).await?;
            }
        }
        Ok(())
    }

    /// After an [`Event::Idle`], readers must wait for this source again.
    async fn wake(&mut self, was_idle: bool, sent_ms: Option<i64>) -> Result<()> {
        if was_idle {
            self.chain.process(0, Event::Watermark(sent_ms.unwrap_or(WATERMARK_NONE))).await?;
        }
        Ok(())
    }

    async fn apply(&mut self, change: Change) -> Result<()> {
        if let Some(watermark_ms) = change.watermark_ms {
            self.chain.process(0, Event::Watermark(watermark_ms)).await?;
        }
        if change.idle {
            self.chain.process(0, Event::Idle).await?;
        }
        Ok(())
    }

    async fn obey(&mut self, command: Command, reports: &mpsc::Sender<Report>) -> Result<Option<TaskSnapshot>> {
        match command {
            Command::Complete(epoch) => self.reader.checkpoint_complete(epoch),
            Command::Drain => return self.end().await.map(Some),
            Command::Barrier(epoch) => {
                let state = self.state()?;
                let snapshot = self.chain.barrier(epoch, Some(state)).await?;
                if self.shared.is_final(epoch) {
                    self.publish_all();
                    return Ok(Some(snapshot));
                }
                send(reports, Report::Snapshot { task: self.id, epoch, snapshot }).await?;
            }
        }
        Ok(None)
    }

    async fn end(&mut self) -> Result<TaskSnapshot> {
        self.tell(None);
        if let Some(watched) = &self.watched {
            let over = ReaderProgress { holds_nothing: true, ..ReaderProgress::default() };
            // What is said now is about the end, and of no use.
            let _ = watched.watch.report(watched.source, watched.reader, over, self.shared.clock.now_ms());
        }
        if self.catching_up.take().is_some() {
            self.chain.process(0, Event::CaughtUp).await?;
        }
        self.chain.process(0, Event::Watermark(WATERMARK_MAX)).await?;
        self.chain.process(0, Event::End).await?;
        let state = self.state()?;
        let snapshot = self.chain.last_snapshot(self.shared.next_epoch(), Some(state)).await?;
        self.publish_all();
        Ok(snapshot)
    }

    fn state(&mut self) -> Result<SourceCheckpoint> {
        self.publish();
        Ok(SourceCheckpoint { splits: self.reader.snapshot()?, watermarks: self.watermarks.known().clone() })
    }

    fn publish(&self) {
        let mut statistics = self.reader.statistics();
        statistics.rejected += self.dropped.rows;
        statistics.rejected_samples.extend(self.dropped.sample.iter().cloned());
        self.chain.head().counters.set_source(statistics);
    }

    fn publish_all(&mut self) {
        self.publish();
        self.chain.refresh_counters();
    }
}
