//! State larger than memory: an operator instance as parts, each an operator of its own over some key groups, of which the
//! cold ones are put away in files.
//!
//! An instance begins as one part and is as fast as without a budget. A part that grows too large is cut in two. When the
//! state of the job is above its budget, the parts that get the fewest rows for their bytes are put away. Rows for such a
//! part wait until there are enough of them in all, or the clock, a barrier or the end wants them; then the part is read
//! back, works them off, and another one goes.
//!
//! Invariants: to its keys a part is an instance behind a channel: rows keep their order, they come under the watermark that
//! held when they arrived, and the watermark given on never overtakes rows that wait. At a barrier nothing waits. Without
//! a budget nothing of this is there.

mod budget;
mod part;
mod restore;

pub use budget::MemoryOptions;
pub(crate) use budget::{MemoryBudget, Share};

use crate::alignment::WATERMARK_NONE;
use crate::exchange::partition_by;
use crate::job::OperatorFactory;
use crate::operator::{Operator, OperatorContext, OperatorStatistics, Wakes};
use crate::operators::EXPIRE_SCAN_MAX;
use arrow::array::UInt32Array;
use base::config::JobConfig;
use base::connector::Instance;
use base::event::WATERMARK_MAX;
use base::key::{KEY_GROUPS, hash_columns, key_group};
use base::plan::{Distribution, Node, NodeKind, Output};
use base::{ChangelogBatch, Error, Result};
use part::{Part, Piece, Place, Wanted, add_counts, check_groups};
use state::{OperatorSnapshot, PartSnapshot, PartState, Scope, decode_snapshot, encode_snapshot};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// How much is read back at one tick of the clock for rows that have waited: the input goes on in between.
const TICK_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// What is left of a part's heat after a tick.
const HEAT_LEFT: f64 = 0.875;

/// What the operators of a node are made from.
pub(crate) struct Maker {
    node: Node,
    inputs: Vec<Output>,
    config: JobConfig,
    create: Arc<OperatorFactory>,
    /// By input: the columns by which its rows are spread.
    keys: Vec<Vec<usize>>,
}

impl Maker {
    /// `None` for a node whose rows are not spread by key.
    pub fn new(node: &Node, inputs: &[&Output], config: &JobConfig, create: &Arc<OperatorFactory>) -> Option<Maker> {
        if !is_spread_by_key(node) {
            return None;
        }
        let keys = node.inputs.iter().map(|edge| match &edge.distribution {
            Distribution::Hash(keys) => keys.clone(),
            Distribution::Forward | Distribution::Single => Vec::new(),
        });
        Some(Maker {
            keys: keys.collect(),
            node: node.clone(),
            inputs: inputs.iter().map(|input| (*input).clone()).collect(),
            config: config.clone(),
            create: create.clone(),
        })
    }

    fn make(&self, instance: Instance) -> Result<Box<dyn Operator>> {
        let inputs: Vec<&Output> = self.inputs.iter().collect();
        (self.create)(&self.node, &inputs, instance, &self.config)
    }
}

/// Whether the rows of all inputs of a node are spread by key, and so its state.
pub(crate) fn is_spread_by_key(node: &Node) -> bool {
    let by_key = |edge: &base::plan::Edge| matches!(&edge.distribution, Distribution::Hash(keys) if !keys.is_empty());
    let is_whole = matches!(node.kind, NodeKind::Sink(_)) || node.kind.waits_for_snapshot();
    !is_whole && !node.inputs.is_empty() && node.inputs.iter().all(by_key)
}

/// How long the state of a node is kept that is not written.
fn state_ttl(kind: &NodeKind) -> Option<Duration> {
    match kind {
        NodeKind::GroupAggregate(one) => one.state_ttl,
        NodeKind::Join(join) => join.left.state_ttl.into_iter().chain(join.right.state_ttl).min(),
        NodeKind::Rank(one) => one.state_ttl,
        NodeKind::Deduplicate(one) => one.state_ttl,
        NodeKind::OverAggregate(one) => one.state_ttl,
        NodeKind::UpsertMaterialize(one) => one.state_ttl,
        NodeKind::TemporalJoin(one) => one.state_ttl,
        NodeKind::ChangelogNormalize(one) => one.state_ttl,
        _ => None,
    }
}

/// An operator instance in parts.
pub(crate) struct PartedOperator {
    maker: Maker,
    /// An operator without state, for what does not depend on state.
    template: Box<dyn Operator>,
    minds_time: bool,
    ttl_ms: Option<i64>,
    instance: Instance,
    parts: Vec<Part>,
    /// The part of each key group.
    owners: Vec<u32>,
    /// The next part's number in checkpoints.
    next_number: u32,
    /// The parts to be at work, in this order.
    agenda: VecDeque<usize>,
    /// The part that is at work, and what its operator may know.
    working: Option<(usize, OperatorContext)>,
    watermark_ms: Option<i64>,
    /// Parts that were ever wanted.
    wanted: u64,
    hot_bytes: u64,
    waiting_bytes: u64,
    share: Share,
    keeps_late: bool,
    late: Vec<ChangelogBatch>,
    loads: u64,
    evictions: u64,
}

impl PartedOperator {
    /// An instance within a budget.
    ///
    /// # Errors
    /// What an operator cannot be made of.
    pub fn new(maker: Maker, instance: Instance, budget: &Arc<MemoryBudget>) -> Result<PartedOperator> {
        let template = maker.make(instance)?;
        let mut operator = PartedOperator {
            minds_time: template.minds_time(),
            template,
            ttl_ms: state_ttl(&maker.node.kind).map(|ttl| ttl.as_millis() as i64),
            instance,
            parts: Vec::new(),
            owners: vec![0; KEY_GROUPS],
            next_number: 0,
            agenda: VecDeque::new(),
            working: None,
            watermark_ms: None,
            wanted: 0,
            hot_bytes: 0,
            waiting_bytes: 0,
            share: Share::new(budget),
            keeps_late: false,
            late: Vec::new(),
            loads: 0,
            evictions: 0,
            maker,
        };
        let first = operator.maker.make(instance)?;
        operator.add_part(instance, Place::Hot(first));
        Ok(operator)
    }

    fn add_part(&mut self, instance: Instance, place: Place) -> usize {
        let index = self.parts.len();
        let part = Part::new(self.next_number, instance, place);
        self.next_number += 1;
        part.groups().for_each(|group| self.owners[usize::from(group)] = index as u32);
        self.parts.push(part);
        index
    }

    /// Puts a part on the agenda.
    fn list(&mut self, index: usize) {
        let part = &mut self.parts[index];
        if !part.is_listed {
            part.is_listed = true;
            self.agenda.push_back(index);
        }
    }

    /// A part that was put away has something to do; `watermark_ms` is what has been given on.
    fn want(&mut self, index: usize, watermark_ms: Option<i64>) {
        self.wanted += 1;
        let since = self.wanted;
        self.parts[index].wanted.get_or_insert(Wanted { watermark_ms, since });
    }

    /// After a restart the watermark is that of the run before: state knows it, and is not told it again.
    fn know(&mut self, context: &OperatorContext) {
        if self.watermark_ms < context.watermark_ms {
            self.watermark_ms = context.watermark_ms;
            self.parts.iter_mut().for_each(|part| part.watermark_ms = context.watermark_ms);
        }
    }

    fn publish(&mut self) {
        self.share.set(self.hot_bytes + self.waiting_bytes);
    }

    /// Rows of a part come.
    fn wait(&mut self, index: usize, input: usize, batch: ChangelogBatch, watermark_ms: Option<i64>) {
        let bytes = batch.bytes() as u64;
        let part = &mut self.parts[index];
        part.heat += batch.num_rows() as f64;
        part.waiting.push_back(Piece { input, batch, bytes, watermark_ms });
        part.waiting_bytes += bytes;
        self.waiting_bytes += bytes;
        if self.parts[index].is_hot() || self.share.budget().has_room(self.parts[index].bytes) {
            self.list(index);
        }
        if !self.parts[index].is_hot() {
            self.want(index, watermark_ms);
        }
    }

    /// When too many rows wait, the parts with the most of them go to work.
    fn list_crowded(&mut self) {
        let waiting_max = self.share.budget().waiting_bytes_max();
        if self.waiting_bytes <= waiting_max {
            return;
        }
        let mut crowded: Vec<usize> =
            (0..self.parts.len()).filter(|&index| !self.parts[index].waiting.is_empty()).collect();
        crowded.sort_by_key(|&index| std::cmp::Reverse(self.parts[index].waiting_bytes));
        let mut left = self.waiting_bytes;
        for index in crowded {
            if left <= waiting_max / 2 {
                break;
            }
            left -= self.parts[index].waiting_bytes;
            self.list(index);
        }
    }

    /// The parts that are wanted go to work, those that have waited longest first, until so many bytes are read back.
    fn list_wanted(&mut self, bytes_max: u64) {
        let since = |index: &usize| self.parts[*index].wanted.map(|wanted| wanted.since);
        let mut wanted: Vec<usize> = (0..self.parts.len()).filter(|index| since(index).is_some()).collect();
        wanted.sort_by_key(since);
        let mut bytes = 0;
        for index in wanted {
            if bytes > bytes_max {
                break;
            }
            bytes += self.parts[index].bytes;
            self.list(index);
        }
    }

    /// Gives the part that is at work what comes next; `false` if there is no more for it.
    fn advance(&mut self, index: usize, context: &OperatorContext) -> Result<bool> {
        let (minds_time, latest_ms) = (self.minds_time, self.watermark_ms);
        let part = &mut self.parts[index];
        let reached_ms = part.waiting.front().map_or(latest_ms, |piece| piece.watermark_ms);
        let mut known = OperatorContext { watermark_ms: part.watermark_ms, ..*context };
        if let Some(watermark_ms) = reached_ms.filter(|_| minds_time && reached_ms > part.watermark_ms) {
            part.watermark_ms = reached_ms;
            let operator = part.operator()?;
            if operator.wakes().is_due(watermark_ms) {
                part.uncounted += 1;
                part.change();
            }
            part.operator()?.on_watermark(watermark_ms, &known)?;
            known.watermark_ms = reached_ms;
        } else if let Some(piece) = part.next_piece(context.rows_max, minds_time)? {
            self.waiting_bytes -= piece.bytes;
            part.uncounted += piece.batch.num_rows() as u64;
            part.change();
            known.watermark_ms = piece.watermark_ms;
            part.operator()?.on_batch(piece.input, piece.batch, &known)?;
        } else if part.ticks > 0 {
            part.ticks -= 1;
            part.visited_ms = context.processing_time_ms;
            if self.ttl_ms.is_some() || part.operator()?.wakes().processing_time_ms <= context.processing_time_ms {
                part.uncounted += 1;
                part.change();
            }
            known.watermark_ms = latest_ms;
            part.operator()?.on_processing_time(&known)?;
        } else {
            return Ok(false);
        }
        self.working = Some((index, known));
        Ok(true)
    }

    /// A part has done its work.
    fn finish(&mut self, index: usize) -> Result<()> {
        let part = &mut self.parts[index];
        part.is_listed = false;
        part.wanted = None;
        if part.is_count_due() {
            self.count(index);
        }
        self.split_large(index)?;
        self.publish();
        self.make_room()
    }

    fn count(&mut self, index: usize) {
        let part = &mut self.parts[index];
        let Place::Hot(operator) = &part.place else { return };
        let OperatorStatistics { state_bytes, state_entries, .. } = operator.statistics();
        self.hot_bytes = self.hot_bytes - part.bytes + state_bytes;
        (part.bytes, part.entries, part.uncounted) = (state_bytes, state_entries, 0);
    }

    /// Cuts a part in two while it is too large and has more than one key group.
    fn split_large(&mut self, index: usize) -> Result<()> {
        let mut large = vec![index];
        while let Some(index) = large.pop() {
            let part = &self.parts[index];
            let is_large = part.bytes > self.share.budget().part_bytes_max();
            if is_large && part.groups().len() > 1 {
                let [first, second] = self.split(index)?;
                large.extend([first, second]);
            } else if self.share.is_hopeless(part.bytes) {
                self.share.budget().warn(self.maker.node.kind.name(), part.bytes);
            }
        }
        Ok(())
    }

    fn split(&mut self, index: usize) -> Result<[usize; 2]> {
        let part = &mut self.parts[index];
        let groups = part.groups();
        let snapshot = [part.operator()?.snapshot(Scope::Full)?];
        check_groups(&snapshot[0], &groups)?;
        let Instance { index: place, parallelism } = part.instance;
        let halves = [2 * place, 2 * place + 1].map(|index| Instance { index, parallelism: 2 * parallelism });
        self.hot_bytes -= part.bytes;
        // The old operator goes before the new ones come.
        let before = part.counted();
        part.place = Place::Cold(Wakes::ALWAYS);
        let operators = [self.opened(halves[0], &snapshot)?, self.opened(halves[1], &snapshot)?];
        drop(snapshot);
        let old = &mut self.parts[index];
        let (watermark_ms, visited_ms, heat) = (old.watermark_ms, old.visited_ms, old.heat / 2.0);
        let [first, second] = operators.map(Place::Hot);
        let mut half = Part::new(self.next_number, halves[0], first);
        self.next_number += 1;
        half.before = before;
        self.parts[index] = half;
        let other = self.add_part(halves[1], second);
        for half in [index, other] {
            let part = &mut self.parts[half];
            (part.watermark_ms, part.visited_ms, part.heat) = (watermark_ms, visited_ms, heat);
            self.count(half);
        }
        Ok([index, other])
    }

    fn opened(&self, instance: Instance, snapshots: &[OperatorSnapshot]) -> Result<Box<dyn Operator>> {
        let mut operator = self.maker.make(instance)?;
        operator.open(snapshots)?;
        if self.keeps_late {
            operator.keep_late();
        }
        Ok(operator)
    }

    /// Puts parts away while there is too much: first those with the fewest rows for their bytes.
    fn make_room(&mut self) -> Result<()> {
        while self.share.is_over() {
            let cold = |index: &usize| {
                let part = &self.parts[*index];
                part.heat / part.bytes.max(1) as f64
            };
            let free = (0..self.parts.len()).filter(|&index| {
                let part = &self.parts[index];
                part.is_hot() && !part.is_listed && part.bytes > 0
            });
            let Some(coldest) = free.min_by(|a, b| cold(a).total_cmp(&cold(b))) else { break };
            self.put_away(coldest)?;
        }
        Ok(())
    }

    fn put_away(&mut self, index: usize) -> Result<()> {
        self.count(index);
        let cache = self.share.budget().cache.clone();
        let part = &mut self.parts[index];
        let groups = part.groups();
        let is_saved = part.files.len() == 1;
        let operator = part.operator()?;
        let wakes = operator.wakes();
        if !is_saved {
            let snapshot = operator.snapshot(Scope::Full)?;
            check_groups(&snapshot, &groups)?;
            part.files = vec![Arc::new(cache.put(&encode_snapshot(&snapshot)?)?)];
        }
        part.before = part.counted();
        part.place = Place::Cold(if self.minds_time { wakes } else { Wakes::NEVER });
        self.hot_bytes -= part.bytes;
        self.evictions += 1;
        self.publish();
        Ok(())
    }

    fn load(&mut self, index: usize) -> Result<()> {
        if self.parts[index].is_hot() {
            return Ok(());
        }
        let files = &self.parts[index].files;
        let snapshots = files.iter().map(|file| decode_snapshot(&file.read()?)).collect::<Result<Vec<_>>>()?;
        let operator = self.opened(self.parts[index].instance, &snapshots)?;
        self.parts[index].place = Place::Hot(operator);
        // What it had in memory before does not count: it is not there.
        self.parts[index].bytes = 0;
        self.count(index);
        self.loads += 1;
        self.publish();
        Ok(())
    }

    /// Rows by the part that they belong to.
    fn spread(&self, input: usize, batch: ChangelogBatch) -> Result<Vec<(usize, ChangelogBatch)>> {
        if self.parts.len() == 1 {
            return Ok(vec![(0, batch)]);
        }
        let keys = self.maker.keys.get(input).ok_or_else(|| Error::internal("rows of an unknown input"))?;
        let columns: Vec<_> = keys.iter().map(|&key| batch.records().column(key).clone()).collect();
        let hashes = hash_columns(&columns, batch.num_rows())?;
        let owner = |hash: u64| self.owners[usize::from(key_group(hash))] as usize;
        let (rows, ends) = partition_by(&hashes, self.parts.len(), owner);
        let mut spread = Vec::new();
        let mut start = 0;
        for (index, end) in ends.into_iter().enumerate() {
            if end - start == batch.num_rows() {
                return Ok(vec![(index, batch)]);
            }
            if end > start {
                spread.push((index, batch.take(&UInt32Array::new(rows.slice(start, end - start), None))?));
            }
            start = end;
        }
        Ok(spread)
    }

    /// Everything that is wanted goes to work.
    fn list_all(&mut self) {
        self.list_wanted(u64::MAX);
    }
}

impl Operator for PartedOperator {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        let parts: Vec<_> = restored.iter().cloned().map(PartSnapshot::whole).collect();
        self.open_parts(&parts)
    }

    fn open_parts(&mut self, restored: &[PartSnapshot]) -> Result<()> {
        self.restore(restored)
    }

    fn on_batch(&mut self, input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.know(context);
        for (index, rows) in self.spread(input, batch)? {
            self.wait(index, input, rows, self.watermark_ms);
        }
        self.list_crowded();
        self.publish();
        Ok(())
    }

    fn on_watermark(&mut self, watermark_ms: i64, context: &OperatorContext) -> Result<()> {
        self.know(context);
        let before_ms = self.watermark_ms;
        self.watermark_ms = before_ms.max(Some(watermark_ms));
        if self.minds_time {
            for index in 0..self.parts.len() {
                match &self.parts[index].place {
                    Place::Hot(_) => self.list(index),
                    Place::Cold(wakes) if wakes.is_due(watermark_ms) => self.want(index, before_ms),
                    Place::Cold(_) => {}
                }
            }
        }
        if watermark_ms == WATERMARK_MAX {
            self.list_all();
        }
        Ok(())
    }

    fn output_watermark(&self, watermark_ms: i64) -> i64 {
        if watermark_ms == WATERMARK_MAX {
            return self.template.output_watermark(watermark_ms);
        }
        let held = self.parts.iter().filter_map(|part| match (&part.place, part.wanted) {
            (_, Some(wanted)) => Some(wanted.watermark_ms),
            (Place::Cold(wakes), None) if self.minds_time && wakes.watermark_ms <= watermark_ms => {
                Some(self.watermark_ms)
            }
            _ => None,
        });
        match held.fold(Some(watermark_ms), std::cmp::min) {
            Some(watermark_ms) => self.template.output_watermark(watermark_ms),
            None => WATERMARK_NONE,
        }
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        let now_ms = context.processing_time_ms;
        self.know(context);
        for index in 0..self.parts.len() {
            let part = &mut self.parts[index];
            part.heat *= HEAT_LEFT;
            match &part.place {
                Place::Hot(_) => {
                    part.ticks = part.ticks.max(1);
                    self.list(index);
                }
                Place::Cold(wakes) => {
                    let is_due = wakes.processing_time_ms <= now_ms;
                    // Expired state leaves the disk as well.
                    let is_visited = self.ttl_ms.is_some_and(|ttl| part.visited_ms.saturating_add(ttl / 2) <= now_ms);
                    if is_due || is_visited {
                        // It may be put away right afterwards: then every entry has been looked at.
                        part.ticks = 1 + 2 * part.entries / EXPIRE_SCAN_MAX as u64;
                        self.want(index, self.watermark_ms);
                    }
                }
            }
        }
        self.list_wanted(TICK_BYTES_MAX);
        Ok(())
    }

    fn settle(&mut self, _context: &OperatorContext) -> Result<bool> {
        self.list_all();
        Ok(!self.agenda.is_empty())
    }

    fn on_end(&mut self, _context: &OperatorContext) -> Result<()> {
        self.list_all();
        Ok(())
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        loop {
            if let Some((index, known)) = self.working {
                let known = OperatorContext { rows_max: context.rows_max, ..known };
                let operator = self.parts[index].operator()?;
                if let Some(batch) = operator.next_output(&known)? {
                    return Ok(Some(batch));
                }
                if self.keeps_late {
                    self.late.extend(self.parts[index].operator()?.take_late());
                }
                self.working = None;
                if !self.advance(index, context)? {
                    self.finish(index)?;
                }
                continue;
            }
            let Some(index) = self.agenda.pop_front() else {
                self.publish();
                self.make_room()?;
                return Ok(None);
            };
            self.load(index)?;
            if !self.advance(index, context)? {
                self.finish(index)?;
            }
        }
    }

    fn keep_late(&mut self) -> bool {
        self.keeps_late = self.template.keep_late();
        for part in &mut self.parts {
            if let Place::Hot(operator) = &mut part.place {
                operator.keep_late();
            }
        }
        self.keeps_late
    }

    fn take_late(&mut self) -> Vec<ChangelogBatch> {
        std::mem::take(&mut self.late)
    }

    fn snapshot_parts(&mut self, scope: Scope) -> Result<Vec<PartSnapshot>> {
        let mut snapshots = Vec::with_capacity(self.parts.len());
        for index in 0..self.parts.len() {
            if !self.parts[index].waiting.is_empty() {
                return Err(Error::internal("rows wait at a barrier"));
            }
            // What was restored from several pieces becomes one.
            let in_pieces = !self.parts[index].is_hot() && self.parts[index].files.len() > 1;
            let is_known = scope == Scope::Changes && !self.parts[index].is_changed;
            if in_pieces && !is_known {
                self.load(index)?;
                self.put_away(index)?;
            }
            let part = &mut self.parts[index];
            part.is_changed = false;
            let state = match &mut part.place {
                _ if is_known => PartState::Unchanged,
                Place::Hot(operator) => PartState::Rows(Arc::new(operator.snapshot(scope)?)),
                Place::Cold(_) => match &part.files[..] {
                    [file] => PartState::Cached(file.clone()),
                    _ => PartState::Rows(Arc::default()),
                },
            };
            snapshots.push(PartSnapshot { part: part.number, state });
        }
        Ok(snapshots)
    }

    fn statistics(&self) -> OperatorStatistics {
        let mut statistics = OperatorStatistics {
            state_bytes: self.hot_bytes + self.waiting_bytes,
            loads: self.loads,
            evictions: self.evictions,
            ..Default::default()
        };
        for part in &self.parts {
            add_counts(&mut statistics, &part.counted());
            statistics.state_entries += part.entries;
            if !part.is_hot() {
                statistics.evicted_bytes += part.files.iter().map(|file| file.bytes()).sum::<u64>();
            }
        }
        statistics
    }
}
