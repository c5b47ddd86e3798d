//! Every operator once more with a memory budget of one byte: after each step its state is cut into parts and put away, and
//! read back for the next one. And what is special about parts: rows that wait, and what waits with them.

use super::harness::{case, print, stream};
use super::stand_ins::call;
use crate::operator::{Operator, OperatorContext, OperatorStatistics};
use crate::parted::{Maker, MemoryBudget, MemoryOptions, PartedOperator, Share};
use arrow::array::*;
use base::config::JobConfig;
use base::connector::Instance;
use base::event::WATERMARK_MAX;
use base::plan::{GroupAggregate, Node, NodeKind, Output, Window, WindowAggregate, WindowEmit, WindowKind};
use base::{ChangelogBatch, ChangelogMode, Result, Warnings};
use state::{OperatorSnapshot, PartSnapshot, PartState, Scope};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

/// Whether operators are made with a budget now.
pub fn is_on() -> bool {
    IS_ON.get()
}

/// Runs a check with operators that have a budget.
pub fn once_more(check: impl FnOnce()) {
    IS_ON.set(true);
    check();
    IS_ON.set(false);
}

/// The operator of a node, with a budget if that is wanted.
pub fn create(node: &Node, inputs: &[&Output], instance: Instance, config: &JobConfig) -> Result<Box<dyn Operator>> {
    // Rows of a join without keys all meet in one instance, whatever the edges of a test say.
    let has_keys = !matches!(&node.kind, NodeKind::Join(join) if join.keys.is_empty());
    match (IS_ON.get() && has_keys).then(|| maker(node, inputs, config)).flatten() {
        None => super::super::create(node, inputs, instance, config),
        Some(maker) => Ok(Box::new(Settled(PartedOperator::new(maker, instance, &budget(1, Warnings::default()))?))),
    }
}

fn maker(node: &Node, inputs: &[&Output], config: &JobConfig) -> Option<Maker> {
    Maker::new(node, inputs, config, &(Arc::new(super::super::create) as Arc<crate::OperatorFactory>))
}

fn budget(budget_bytes: u64, warnings: Warnings) -> Arc<MemoryBudget> {
    MemoryBudget::new(&MemoryOptions { budget_bytes, cache: None }, warnings).expect("budget")
}

/// Nothing waits behind a step: so the output is that of an operator without a budget, but for the order of keys.
struct Settled(PartedOperator);

impl Operator for Settled {
    fn open(&mut self, restored: &[OperatorSnapshot]) -> Result<()> {
        self.0.open(restored)
    }

    fn on_batch(&mut self, input: usize, batch: ChangelogBatch, context: &OperatorContext) -> Result<()> {
        self.0.on_batch(input, batch, context)?;
        self.0.settle(context).map(drop)
    }

    fn on_watermark(&mut self, watermark_ms: i64, context: &OperatorContext) -> Result<()> {
        self.0.on_watermark(watermark_ms, context)?;
        self.0.settle(context).map(drop)
    }

    fn output_watermark(&self, watermark_ms: i64) -> i64 {
        self.0.output_watermark(watermark_ms)
    }

    fn on_processing_time(&mut self, context: &OperatorContext) -> Result<()> {
        self.0.on_processing_time(context)?;
        self.0.settle(context).map(drop)
    }

    fn on_end(&mut self, context: &OperatorContext) -> Result<()> {
        self.0.on_end(context)
    }

    fn next_output(&mut self, context: &OperatorContext) -> Result<Option<ChangelogBatch>> {
        self.0.next_output(context)
    }

    fn keep_late(&mut self) -> bool {
        self.0.keep_late()
    }

    fn take_late(&mut self) -> Vec<ChangelogBatch> {
        self.0.take_late()
    }

    fn snapshot_parts(&mut self, scope: Scope) -> Result<Vec<PartSnapshot>> {
        self.0.snapshot_parts(scope)
    }

    fn statistics(&self) -> OperatorStatistics {
        self.0.statistics()
    }
}

/// COUNT and SUM by key, with a budget.
struct Counted {
    operator: PartedOperator,
    context: OperatorContext,
    table: BTreeMap<String, i64>,
    batches: usize,
}

const KEYS: i64 = 4000;

fn groups() -> super::harness::Case {
    groups_for(None)
}

fn groups_for(state_ttl: Option<Duration>) -> super::harness::Case {
    let calls = vec![call("COUNT", None), call("SUM", Some(1))];
    let node = GroupAggregate { keys: vec![0], calls, merges: None, state_ttl };
    let input = stream("k:int v:int", ChangelogMode::APPEND);
    case(NodeKind::GroupAggregate(node), input, stream("k:int c:int s:int", ChangelogMode::ALL), &[0])
}

fn windows() -> super::harness::Case {
    let window = Window {
        kind: WindowKind::Tumble { size_ms: 60_000 },
        offset_ms: 0,
        time_column: 1,
        time_zone: None,
        is_processing_time: false,
    };
    let node = WindowAggregate {
        window,
        is_attached: false,
        keys: vec![0],
        calls: vec![call("COUNT", None)],
        properties: vec![base::plan::WindowProperty::End],
        emit: WindowEmit::default(),
    };
    let input = stream("k:int t:rowtime", ChangelogMode::APPEND);
    case(NodeKind::WindowAggregate(node), input, stream("k:int c:int e:time", ChangelogMode::APPEND), &[0])
}

fn parted(case: &super::harness::Case, budget: &Arc<MemoryBudget>) -> PartedOperator {
    let maker = maker(&case.node, &[&case.input], &JobConfig::default()).expect("spread by key");
    PartedOperator::new(maker, Instance { index: 0, parallelism: 1 }, budget).expect("operator")
}

fn rows(case: &super::harness::Case, values: impl Iterator<Item = (i64, i64)>) -> ChangelogBatch {
    let (keys, others): (Vec<i64>, Vec<i64>) = values.unzip();
    let fields = case.input.row.arrow();
    let other: ArrayRef = match fields.field(1).data_type() {
        arrow::datatypes::DataType::Int64 => Arc::new(Int64Array::from(others)),
        _ => Arc::new(TimestampMillisecondArray::from(others)),
    };
    let records = RecordBatch::try_new(fields.clone(), vec![Arc::new(Int64Array::from(keys)), other]);
    ChangelogBatch::inserts(records.expect("batch"))
}

impl Counted {
    fn new(operator: PartedOperator) -> Counted {
        let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 4096 };
        Counted { operator, context, table: BTreeMap::new(), batches: 0 }
    }

    /// Takes the output; gives the number of its rows.
    fn drain(&mut self) -> usize {
        let mut count = 0;
        while let Some(batch) = self.operator.next_output(&self.context).expect("output") {
            self.batches += 1;
            count += batch.num_rows();
            for (line, row) in print(&batch).into_iter().zip(0..) {
                let row_text = line.split_once(' ').expect("kind and row").1.to_string();
                *self.table.entry(row_text).or_default() += batch.kind(row).sign();
            }
        }
        count
    }

    fn give(&mut self, batch: ChangelogBatch) -> usize {
        self.operator.on_batch(0, batch, &self.context).expect("rows");
        self.drain()
    }

    fn tick(&mut self) -> usize {
        self.context.processing_time_ms += 1000;
        self.operator.on_processing_time(&self.context).expect("tick");
        self.drain()
    }

    fn settle(&mut self) -> usize {
        self.operator.settle(&self.context).expect("settle");
        self.drain()
    }

    /// Advances the watermark; gives what is given on before the output, as the task asks for it, and the rows.
    fn watermark(&mut self, watermark_ms: i64) -> (i64, usize) {
        let given = self.operator.output_watermark(watermark_ms);
        self.operator.on_watermark(watermark_ms, &self.context).expect("watermark");
        self.context.watermark_ms = Some(watermark_ms);
        (given, self.drain())
    }

    fn result(&self) -> Vec<&str> {
        self.table.iter().filter(|(_, count)| **count != 0).map(|(row, _)| row.as_str()).collect()
    }
}

/// Fills the state of `rounds` rows per key.
fn filled(budget_bytes: u64, rounds: i64) -> (super::harness::Case, Counted) {
    let groups = groups();
    let mut run = Counted::new(parted(&groups, &budget(budget_bytes, Warnings::default())));
    for round in 0..rounds {
        for start in (0..KEYS).step_by(500) {
            run.give(rows(&groups, (start..start + 500).map(|key| (key * 7919 % KEYS, round))));
        }
    }
    (groups, run)
}

fn expected(rounds: i64) -> Vec<String> {
    let sum: i64 = (0..rounds).sum();
    let mut rows: Vec<String> = (0..KEYS).map(|key| format!("{key} {rounds} {sum}")).collect();
    rows.sort();
    rows
}

#[test]
fn state_of_several_times_the_budget_gives_the_same_result() {
    let (_, mut unbounded) = filled(u64::MAX, 3);
    assert_eq!(unbounded.settle(), 0, "nothing waits without need");
    let needed = unbounded.operator.statistics();
    assert_eq!((needed.evictions, needed.loads, needed.evicted_bytes), (0, 0, 0));
    let limit = needed.state_bytes / 6;
    let (_, mut run) = filled(limit, 3);
    run.settle();
    assert_eq!(run.result(), expected(3));
    assert_eq!(run.result(), unbounded.result());
    let statistics = run.operator.statistics();
    assert_eq!(statistics.state_entries, KEYS as u64);
    assert!(statistics.state_bytes <= limit, "{statistics:?} within {limit}");
    assert!(statistics.evicted_bytes > 0 && statistics.loads > 10 && statistics.evictions > statistics.loads);
}

#[test]
fn rows_for_parts_that_were_put_away_wait_for_the_clock() {
    let (groups, mut run) = filled(60_000, 2);
    run.settle();
    let mut waiting = Vec::new();
    for key in 0..30 {
        if run.give(rows(&groups, std::iter::once((key, 5)))) == 0 {
            waiting.push(key);
        }
    }
    assert!(waiting.len() > 10, "{} of 30 rows wait", waiting.len());
    assert!(run.tick() >= waiting.len(), "the clock brings them");
    assert_eq!(run.settle(), 0, "and nothing is left for a barrier");
}

#[test]
fn many_rows_do_not_wait_for_the_clock() {
    let (groups, mut run) = filled(60_000, 1);
    let mut rows_out = 0;
    for start in (0..KEYS).step_by(500) {
        rows_out += run.give(rows(&groups, (start..start + 500).map(|key| (key, 1))));
    }
    assert!(rows_out > KEYS as usize / 2, "{rows_out} changes");
}

#[test]
fn rows_that_wait_hold_back_the_watermark() {
    let (groups, mut run) = filled(60_000, 2);
    run.settle();
    assert_eq!(run.watermark(1000), (1000, 0));
    let cold = (0..KEYS).find(|&key| run.give(rows(&groups, std::iter::once((key, 5)))) == 0).expect("a cold key");
    assert_eq!(run.watermark(2000), (1000, 0), "the row of key {cold} came before 2000 and is not out");
    assert!(run.tick() > 0);
    assert_eq!(run.operator.output_watermark(2000), 2000, "it is given on when the row is out");
    assert_eq!(run.watermark(3000), (3000, 0));
    run.give(rows(&groups, std::iter::once((cold, 5))));
    let (given, _) = run.watermark(WATERMARK_MAX);
    assert_eq!((given, run.settle()), (WATERMARK_MAX, 0), "at the end nothing waits");
}

/// Minute windows of all keys, filled beyond the budget.
fn filled_windows(budget_bytes: u64, minutes: i64) -> (super::harness::Case, Counted) {
    let windows = windows();
    let mut run = Counted::new(parted(&windows, &budget(budget_bytes, Warnings::default())));
    for minute in 0..minutes {
        for start in (0..KEYS).step_by(500) {
            run.give(rows(&windows, (start..start + 500).map(|key| (key, minute * 60_000))));
        }
    }
    (windows, run)
}

#[test]
fn windows_of_cold_keys_fire() {
    let (_, mut run) = filled_windows(60_000, 2);
    assert_eq!(run.settle(), 0);
    assert_eq!(run.watermark(50_000), (50_000, 0), "cold parts sleep until their first window ends");
    let loads = run.operator.statistics().loads;
    assert_eq!(run.watermark(51_000), (51_000, 0));
    assert_eq!(run.operator.statistics().loads, loads);
    let (given, fired) = run.watermark(59_999);
    assert!(fired < KEYS as usize && given == 51_000, "{fired} windows, watermark {given}");
    assert_eq!(fired + run.tick(), KEYS as usize, "the others come with the clock");
    assert_eq!(run.operator.output_watermark(59_999), 59_999);
    let (_, fired) = run.watermark(WATERMARK_MAX);
    assert_eq!(fired, KEYS as usize);
    assert_eq!(run.operator.statistics().state_entries, 0);
}

#[test]
fn rows_come_under_the_watermark_that_held_when_they_arrived() {
    let (windows, mut run) = filled_windows(60_000, 1);
    // Each is in time for the first window when it comes, and waits there while that ends; later ones are late.
    let in_time = (0..KEYS).step_by(10).map(|key| (key, 1000));
    let mut fired = run.give(rows(&windows, in_time));
    fired += run.watermark(60_000).1;
    fired += run.give(rows(&windows, (0..100).map(|key| (key, 2000))));
    fired += run.settle();
    assert_eq!(fired, KEYS as usize);
    assert_eq!(run.operator.statistics().late_rows, 100);
    let twice = run.result().into_iter().filter(|row| row.split(' ').nth(1) == Some("2")).count();
    assert_eq!(twice, KEYS as usize / 10);
}

#[test]
fn cold_state_is_in_the_checkpoint_and_only_what_changed_is_written_again() {
    let (groups, mut run) = filled(60_000, 2);
    run.settle();
    let all = run.operator.snapshot_parts(Scope::Full).expect("snapshot");
    let cached = |part: &&PartSnapshot| matches!(part.state, PartState::Cached(_));
    assert!(all.iter().filter(cached).count() > all.len() / 2, "most parts are files already");
    let again = run.operator.snapshot_parts(Scope::Changes).expect("snapshot");
    assert!(again.iter().all(|part| matches!(part.state, PartState::Unchanged)));
    let cold = (0..KEYS).find(|&key| run.give(rows(&groups, std::iter::once((key, 5)))) == 0).expect("a cold key");
    run.settle();
    let changed = run.operator.snapshot_parts(Scope::Changes).expect("snapshot");
    let changed: Vec<u32> =
        changed.iter().filter(|part| !matches!(part.state, PartState::Unchanged)).map(|part| part.part).collect();
    assert!(!changed.is_empty() && changed.len() < all.len(), "{changed:?} of {} parts for key {cold}", all.len());
    // Numbers stay as long as parts are not cut.
    let numbers = |parts: &[PartSnapshot]| parts.iter().map(|part| part.part).collect::<Vec<_>>();
    assert_eq!(numbers(&all), numbers(&again));
}

#[test]
fn large_state_is_restored_within_the_budget_and_without_one() {
    let (groups, mut run) = filled(60_000, 2);
    run.settle();
    let saved = run.operator.snapshot_parts(Scope::Full).expect("snapshot");
    let plain: Vec<OperatorSnapshot> = saved.iter().map(|part| part.load().expect("rows")).collect();
    for budget_bytes in [60_000, 1, u64::MAX] {
        let mut next = Counted::new(parted(&groups, &budget(budget_bytes, Warnings::default())));
        next.table.clone_from(&run.table);
        next.operator.open_parts(&saved).expect("open");
        let kept = next.operator.snapshot_parts(Scope::Full).expect("snapshot");
        assert!(kept.iter().all(|part| part.load().is_ok()));
        next.give(rows(&groups, (0..KEYS).map(|key| (key, 2))));
        next.settle();
        assert_eq!(next.result(), expected(3), "budget of {budget_bytes}");
    }
    let mut operator = groups.operator(0, 1);
    operator.open(&plain).expect("open");
    assert_eq!(operator.statistics().state_entries, KEYS as u64);
}

#[test]
fn a_part_that_was_put_away_is_looked_through_for_expired_state() {
    let groups = groups_for(Some(Duration::from_millis(1000)));
    let limit = 8 << 20;
    let budget = budget(limit, Warnings::default());
    // Another operator takes all memory: what this one has goes away at once, in one piece.
    let mut other = Share::fixed(&budget, "other".into());
    other.set(2 * limit);
    let mut run = Counted::new(parted(&groups, &budget));
    run.give(rows(&groups, (0..KEYS).map(|key| (key, 1))));
    run.settle();
    let statistics = run.operator.statistics();
    assert_eq!((statistics.state_entries, statistics.state_bytes), (KEYS as u64, 0));
    assert_eq!(run.operator.snapshot_parts(Scope::Full).expect("snapshot").len(), 1);
    run.tick();
    let statistics = run.operator.statistics();
    assert_eq!((statistics.state_entries, statistics.loads), (0, 1), "one visit is enough");
}

#[test]
fn state_of_one_key_that_is_too_large_is_said() {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let listener = texts.clone();
    let warnings = Warnings::new(move |warning| listener.lock().expect("lock").push(warning.code()));
    let groups = groups();
    let mut run = Counted::new(parted(&groups, &budget(1, warnings)));
    run.give(rows(&groups, (0..10).map(|value| (1, value))));
    run.give(rows(&groups, (0..10).map(|value| (1, value))));
    assert_eq!(run.result(), ["1 20 90"]);
    assert_eq!(*texts.lock().expect("lock"), ["HW-R013"], "once");
}
