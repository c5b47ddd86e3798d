//! The generating source: stripes of rows, given at the wanted rate.

use super::columns::{self, Rows, Run};
use super::fields::FieldGenerator;
use super::options::TableOptions;
use super::schedule::{Plan, Step, Stripe, StripePosition};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use base::clock::Clock;
use base::connector::*;
use base::text::{local_to_instant_ms, zone_offset_ms};
use base::{BoxFuture, ChangelogBatch, Error, Result, RowKind, RowType};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The shortest pause between two batches: a fast source gives batches, not single rows.
const PAUSE: Duration = Duration::from_millis(5);

/// A generating source of one table.
#[derive(Debug)]
pub(super) struct DatagenSource {
    pub table: String,
    pub options: TableOptions,
    /// Rows in all; `None` without an end.
    pub rows: Option<u64>,
    /// `scan.parallelism`.
    pub parallelism: Option<usize>,
    /// The wanted columns, each with whether an update draws it again.
    pub fields: Arc<Vec<(FieldGenerator, bool)>>,
    pub output: RowType,
    pub time_zone: chrono_tz::Tz,
    pub clock: Arc<dyn Clock>,
    pub run: Mutex<Option<Run>>,
}

impl DatagenSource {
    fn plan(&self, stripes: u64, seed: u64) -> Plan {
        Plan::new(self.options.order, self.options.event_step_ns, self.rows, stripes, seed)
    }

    /// The positions of a first start: as many stripes as readers.
    fn beginning(&self, parallelism: usize) -> Result<Vec<StripePosition>> {
        let run = *self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let run = run.ok_or_else(|| Error::internal("the source was not started"))?;
        let stripes = parallelism as u64;
        let position = |stripe| StripePosition {
            stripe,
            stripes,
            next: 0,
            last: None,
            given: 0,
            seed: run.seed,
            start_wall_ms: run.start_wall_ms,
            start_instant_ms: run.start_instant_ms,
        };
        Ok((0..stripes).map(position).collect())
    }
}

impl SourceProvider for DatagenSource {
    fn splits_max(&self) -> Option<usize> {
        self.parallelism
    }

    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async move {
            let now = self.clock.now_ms();
            // Any number will do where the user gave none; the log tells which, so that the run can be repeated.
            let seed = self.options.seed.unwrap_or(now as u64);
            if self.options.seed.is_none() {
                tracing::info!(table = %self.table, seed, "generating with a new seed");
            }
            let (start_wall_ms, start_instant_ms) = match self.options.event_start_ms {
                Some(wall) => (wall, local_to_instant_ms(self.time_zone, wall)),
                None => (now + zone_offset_ms(self.time_zone, now), now),
            };
            let run = Run { seed, start_wall_ms, start_instant_ms };
            *self.run.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
            Ok(Vec::new())
        })
    }

    fn reader(&self, instance: Instance, restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        let positions = match restored {
            [] => self.beginning(instance.parallelism)?,
            restored => restored.iter().map(StripePosition::decode).collect::<Result<Vec<_>>>()?,
        };
        let Some(first) = positions.first() else { return Err(Error::internal("a source has at least one reader")) };
        let run =
            Run { seed: first.seed, start_wall_ms: first.start_wall_ms, start_instant_ms: first.start_instant_ms };
        let all = first.stripes;
        let plan = self.plan(all, run.seed);
        let mut events = VecDeque::new();
        let mut stripes = Vec::new();
        for position in positions {
            if position.stripe % instance.parallelism as u64 != instance.index as u64 {
                continue;
            }
            let id: SplitId = format!("{}/{}", position.stripe, position.stripes).into();
            let stripe = Stripe::new(position, &plan);
            if !stripe.is_finished(&plan) {
                events.push_back(SourceEvent::SplitStarted(id.clone()));
            }
            stripes.push((id, stripe));
        }
        Ok(Box::new(DatagenReader {
            rate: self.options.rows_per_second * stripes.len() as f64 / all as f64,
            fields: self.fields.clone(),
            output: self.output.clone(),
            bounded: self.rows.is_some(),
            plan,
            run,
            stripes,
            events,
            began: None,
            given: 0,
            idle: false,
            statistics: SourceStatistics::default(),
        }))
    }
}

struct DatagenReader {
    plan: Plan,
    run: Run,
    fields: Arc<Vec<(FieldGenerator, bool)>>,
    output: RowType,
    bounded: bool,
    stripes: Vec<(SplitId, Stripe)>,
    events: VecDeque<SourceEvent>,
    /// Steps in a second.
    rate: f64,
    /// When the first batch was wanted, and the last one given.
    began: Option<(Instant, Option<Instant>)>,
    /// Steps given since then.
    given: u64,
    idle: bool,
    statistics: SourceStatistics,
}

impl DatagenReader {
    /// The stripe that is furthest behind.
    fn choose(&self) -> Option<usize> {
        (0..self.stripes.len())
            .filter(|&index| !self.stripes[index].1.is_finished(&self.plan))
            .min_by_key(|&index| self.stripes[index].1.position.given)
    }

    /// Waits until a row is due; gives how many are.
    async fn due(&mut self) -> u64 {
        let (began, last) = *self.began.get_or_insert_with(|| (Instant::now(), None));
        let wait = Duration::try_from_secs_f64(self.given as f64 / self.rate).unwrap_or(Duration::MAX / 4);
        let wanted = began.checked_add(wait);
        let earliest = last.map_or(began, |last| last + PAUSE);
        let now = Instant::now();
        match wanted {
            Some(wanted) if wanted > now => tokio::time::sleep_until(wanted.max(earliest)).await,
            Some(_) => {}
            // Slower than time can tell.
            None => std::future::pending().await,
        }
        let due = (began.elapsed().as_secs_f64() * self.rate).floor() as u64 + 1;
        due.saturating_sub(self.given).max(1)
    }

    fn generate(&mut self, index: usize, steps_max: u64, rows_max: usize) -> Result<SourceEvent> {
        let (id, stripe) = &mut self.stripes[index];
        let mut output = Output::default();
        let mut steps = 0;
        // The halves of an update stay together, even if that is one row more than wanted.
        while steps < steps_max && output.kinds.len() < rows_max.max(1) {
            let Some(step) = stripe.next(&self.plan) else { break };
            output.add(step, &self.plan);
            steps += 1;
        }
        let id = id.clone();
        let finished = stripe.is_finished(&self.plan);
        let columns = self
            .fields
            .iter()
            .map(|(field, changes)| {
                columns::column(field, if *changes { &output.changed } else { &output.inserted }, &self.run)
            })
            .collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(output.kinds.len()));
        let records = RecordBatch::try_new_with_options(self.output.arrow().clone(), columns, &options)?;
        self.given += steps;
        self.statistics.records += steps;
        if let Some((_, last)) = &mut self.began {
            *last = Some(Instant::now());
        }
        if finished {
            self.events.push_back(SourceEvent::SplitFinished(id.clone()));
        }
        Ok(SourceEvent::Batch { split: id, batch: ChangelogBatch::new(records, output.kinds) })
    }
}

/// The rows of a batch, as their steps come.
#[derive(Default)]
struct Output {
    kinds: Vec<RowKind>,
    /// For columns that updates draw again.
    changed: Rows,
    /// For columns that stay as inserted.
    inserted: Rows,
}

impl Output {
    fn add(&mut self, step: Step, plan: &Plan) {
        if step.version == 0 {
            return self.push(RowKind::Insert, step.row, 0, step.row, plan);
        }
        let life = plan.life(step.row);
        let version = step.version;
        // When the content of a version was made.
        let made = |version: u32| match version {
            0 => step.row,
            version => life.updates[version as usize - 1],
        };
        if version as usize <= life.updates.len() {
            self.push(RowKind::UpdateBefore, step.row, version - 1, made(version - 1), plan);
            self.push(RowKind::UpdateAfter, step.row, version, made(version), plan);
        } else {
            self.push(RowKind::Delete, step.row, version - 1, made(version - 1), plan);
        }
    }

    fn push(&mut self, kind: RowKind, row: u64, version: u32, made: u64, plan: &Plan) {
        self.kinds.push(kind);
        self.changed.push(row, version, made.saturating_mul(plan.step_ns()));
        self.inserted.push(row, 0, row.saturating_mul(plan.step_ns()));
    }
}

impl SourceReader for DatagenReader {
    fn next<'a>(&'a mut self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<SourceEvent>> {
        Box::pin(async move {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            let Some(index) = self.choose() else {
                if self.bounded {
                    return Ok(SourceEvent::End);
                }
                if !std::mem::replace(&mut self.idle, true) {
                    return Ok(SourceEvent::Idle);
                }
                return std::future::pending().await;
            };
            let due = self.due().await;
            // Several stripes share what is due.
            let share = due.div_ceil(self.stripes.len() as u64);
            self.generate(index, share, request.rows_max)
        })
    }

    fn snapshot(&mut self) -> Result<Vec<SplitState>> {
        let state =
            |(id, stripe): &(SplitId, Stripe)| SplitState { split: id.clone(), position: stripe.position.encode() };
        Ok(self.stripes.iter().map(state).collect())
    }

    fn statistics(&self) -> SourceStatistics {
        self.statistics.clone()
    }
}
