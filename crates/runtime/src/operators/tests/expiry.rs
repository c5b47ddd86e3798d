//! State whose TTL is over leaves the operator and the files of checkpoints, with a memory budget and without one.

use super::harness::{Case, batch_of_lines, case, stream};
use super::parted;
use super::stand_ins::call;
use super::{changelog_normalize, deduplicate, join, over_aggregate, rank, time_joins, upsert_materialize};
use crate::checkpoint::JobCheckpoint;
use crate::operator::{Operator, OperatorContext};
use crate::store::{CheckpointStore, JobLabel};
use base::config::JobConfig;
use base::connector::Instance;
use base::plan::*;
use base::{ChangelogMode, Epoch};
use state::Scope;
use std::collections::BTreeSet;
use std::time::Duration;

const TTL: Option<Duration> = Some(Duration::from_millis(1000));
const STEP_MS: i64 = 500;
const OLD: u32 = 300;
const NEW: u32 = 5;

/// An operator whose inputs have the columns `k:text n:int` and a third one.
struct Subject {
    name: &'static str,
    node: Node,
    inputs: Vec<Output>,
    /// Inputs whose rows stay for ever.
    keeps: Vec<usize>,
}

impl Subject {
    fn of(name: &'static str, case: Case) -> Subject {
        Subject { name, node: case.node, inputs: vec![case.input], keeps: vec![] }
    }

    fn operator(&self) -> Box<dyn Operator> {
        let inputs: Vec<&Output> = self.inputs.iter().collect();
        let instance = Instance { index: 0, parallelism: 1 };
        parted::create(&self.node, &inputs, instance, &JobConfig::default()).expect("an operator")
    }
}

fn subjects() -> Vec<Subject> {
    let (all, append) = (ChangelogMode::ALL, ChangelogMode::APPEND);
    let rows = || stream("k:text n:int ts:rowtime", append);
    let groups = GroupAggregate { keys: vec![0], calls: vec![call("COUNT", None)], merges: None, state_ttl: TTL };
    let groups = case(NodeKind::GroupAggregate(groups), rows(), stream("k:text c:int", all), &[0]);
    let first = |rowtime| deduplicate::deduplicate(Keep::First, rowtime, append, TTL);
    let last = |rowtime| deduplicate::deduplicate(Keep::Last, rowtime, all, TTL);
    let ranked = |strategy, ranks| rank::ranked(Rank { state_ttl: TTL, ..rank::rank(strategy, ranks, true) }, all);
    let over = |time, frame| {
        let calls = vec![over_aggregate::aggregate("SUM", Some(1), frame)];
        let node = OverAggregate { state_ttl: TTL, ..over_aggregate::node(time, frame, calls) };
        match time {
            OverTime::None => over_aggregate::over(node, all, all),
            _ => over_aggregate::over(node, append, append),
        }
    };
    let side = |left: Option<Duration>, right: Option<Duration>| {
        join::join(JoinKind::Left).change(|join| {
            (join.left.state_ttl, join.right.state_ttl) = (left, right);
        })
    };
    let joined = |name, left, right, keeps| {
        let join::Joined { node, inputs, .. } = side(left, right);
        Subject { name, node, inputs: inputs.into(), keeps }
    };
    let mut temporal = time_joins::temporal(true, None);
    if let NodeKind::TemporalJoin(join) = &mut temporal.node.kind {
        join.state_ttl = TTL;
    }
    vec![
        Subject::of("group aggregate", groups),
        Subject::of("changelog normalize", changelog_normalize::normalize(all, TTL)),
        Subject::of("first row", first(None)),
        Subject::of("first row by time", first(Some(2))),
        Subject::of("last row", last(None)),
        Subject::of("last row by time", last(Some(2))),
        Subject::of("top-n", ranked(RankStrategy::Append, (1, 2))),
        Subject::of("top-n of changes", ranked(RankStrategy::Retract, (1, 2))),
        Subject::of("upsert materialize", upsert_materialize::materialize(vec![], TTL)),
        Subject::of("upsert materialize by key", upsert_materialize::materialize(vec![1], TTL)),
        Subject::of("over all rows by time", over(OverTime::Rowtime(2), OverFrame::Range(None))),
        Subject::of("over some rows by time", over(OverTime::Rowtime(2), OverFrame::Rows(Some(5)))),
        Subject::of("over all rows as they come", over(OverTime::Proctime, OverFrame::Rows(None))),
        Subject::of("over all rows by value", over(OverTime::None, OverFrame::Rows(None))),
        joined("join", TTL, TTL, vec![]),
        joined("join that keeps the left side", None, TTL, vec![0]),
        joined("join that keeps the right side", TTL, None, vec![1]),
        Subject { name: "temporal join", node: temporal.node, inputs: temporal.inputs.into(), keeps: vec![] },
    ]
}

/// An operator, its clock, and the checkpoints that are taken of it.
struct Kept<'a> {
    subject: &'a Subject,
    operator: Box<dyn Operator>,
    context: OperatorContext,
    store: CheckpointStore,
    folder: tempfile::TempDir,
    epoch: u64,
}

impl Kept<'_> {
    fn new(subject: &Subject) -> Kept<'_> {
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            CheckpointStore::open(&folder.path().into(), JobLabel::default(), 1).expect("open").merging_after(2);
        let mut operator = subject.operator();
        operator.open(&[]).expect("open");
        let context = OperatorContext { watermark_ms: None, processing_time_ms: 1000, rows_max: 4096 };
        Kept { subject, operator, context, store, folder, epoch: 0 }
    }

    fn drain(&mut self) {
        while self.operator.next_output(&self.context).expect("output").is_some() {}
    }

    /// Rows of these keys come on every input, and event time reaches them.
    fn rows(&mut self, name: &str, keys: u32, step: u32) {
        for (input, output) in self.subject.inputs.iter().enumerate() {
            let third = match output.row.fields().get(2) {
                None => String::new(),
                Some(field) if field.time.is_some() => format!("0:00:{step:02}"),
                Some(_) => step.to_string(),
            };
            let first = if name == "old" { 0 } else { 1000 };
            let lines: String =
                (0..keys).map(|key| format!("+I {name}-{input}-{key}- {} {third}\n", first + key)).collect();
            let batch = batch_of_lines(&output.row, &lines);
            self.operator.on_batch(input, batch, &self.context).expect("rows");
            self.drain();
        }
        let watermark_ms = i64::from(step) * 1000;
        self.operator.on_watermark(watermark_ms, &self.context).expect("a watermark");
        self.context.watermark_ms = Some(watermark_ms);
        self.drain();
    }

    fn tick(&mut self) {
        self.context.processing_time_ms += STEP_MS;
        self.operator.on_processing_time(&self.context).expect("the time");
        self.drain();
    }

    /// Takes a checkpoint; gives the bytes of all files.
    fn save(&mut self) -> u64 {
        self.epoch += 1;
        let scope = if self.epoch == 1 { Scope::Full } else { Scope::Changes };
        let mut checkpoint = JobCheckpoint::new(Epoch(self.epoch));
        checkpoint.digests.insert("operator".into(), "digest".into());
        checkpoint.operators.insert("operator".into(), vec![self.operator.snapshot_parts(scope).expect("a snapshot")]);
        let saved = self.store.save(&checkpoint).expect("saved");
        self.store.wait_for_merging();
        saved.state_bytes
    }

    /// How many keys of an input are in the files: those of which the text `name-input-key-` is.
    fn on_disk(&self, name: &str, input: usize) -> usize {
        let prefix = format!("{name}-{input}-").into_bytes();
        let mut keys = BTreeSet::new();
        for file in std::fs::read_dir(self.folder.path()).expect("the folder").flatten() {
            let bytes = std::fs::read(file.path()).expect("a file");
            let places = bytes.windows(prefix.len()).enumerate().filter(|(_, window)| *window == prefix);
            for (place, _) in places {
                keys.extend(bytes[place + prefix.len()..].split(|byte| *byte == b'-').next().map(<[u8]>::to_vec));
            }
        }
        keys.len()
    }

    fn entries(&self) -> u64 {
        self.operator.statistics().state_entries
    }
}

fn check(subject: &Subject, within: &str) {
    let name = format!("{}{within}", subject.name);
    let mut kept = Kept::new(subject);
    kept.rows("old", OLD, 1);
    let (before, entries) = (kept.save(), kept.entries());
    let inputs = 0..subject.inputs.len();
    let on_disk = |kept: &Kept<'_>, name: &str| inputs.clone().map(|input| kept.on_disk(name, input)).max();
    assert_eq!(on_disk(&kept, "old"), Some(OLD as usize), "{name}: state is in the checkpoint");
    let mut bytes = before;
    // Others come all the time.
    for step in 2..14 {
        kept.tick();
        kept.rows("new", NEW, step);
        bytes = kept.save();
    }
    for input in inputs.clone() {
        let stays = if subject.keeps.contains(&input) { OLD as usize } else { 0 };
        assert_eq!(kept.on_disk("old", input), stays, "{name}: keys of input {input} on the disk");
    }
    assert_eq!(on_disk(&kept, "new"), Some(NEW as usize), "{name}: what is written stays");
    // The manifest and empty tables of many parts outweigh so few rows.
    let is_less = kept.entries() < entries / 2 && (parted::is_on() || bytes < before * 2 / 3);
    let (left, keeps) = (kept.entries(), &subject.keeps);
    assert!(is_less || !keeps.is_empty(), "{name}: {left} of {entries} entries, {bytes} of {before} bytes");
}

#[test]
fn expired_state_leaves_memory_and_disk() {
    for subject in subjects() {
        check(&subject, "");
        parted::once_more(|| check(&subject, ", within a budget"));
    }
}

/// With nothing else going on, the clock alone empties state and files.
#[test]
fn what_nobody_touches_expires_too() {
    for subject in subjects().into_iter().filter(|subject| subject.keeps.is_empty()) {
        let run = |within: &str| {
            let mut kept = Kept::new(&subject);
            kept.rows("old", OLD, 1);
            kept.save();
            for _ in 0..12 {
                kept.tick();
                kept.save();
            }
            let left: usize = (0..subject.inputs.len()).map(|input| kept.on_disk("old", input)).sum();
            assert_eq!((kept.entries(), left), (0, 0), "{}{within}: entries, and keys on the disk", subject.name);
        };
        run("");
        parted::once_more(|| run(", within a budget"));
    }
}
