//! Runs an operator over a text table.
//!
//! Columns are declared as `k:text v:int t:time`. An input line is a kind and one value per column (`+I a 1
//! 00:00:05`, `null` for NULL), a watermark (`wm 00:01`, `wm max`) or a processing time (`now 5000`, in
//! milliseconds).

use super::changes::{self, Histories, assert_shape};
use super::parted;
use crate::operator::{Operator, OperatorContext, OperatorStatistics};
use arrow::array::*;
use arrow::datatypes::*;
use base::config::JobConfig;
use base::connector::Instance;
use base::event::WATERMARK_MAX;
use base::key::{hash_columns, instance_of_group, key_group};
use base::plan::{Distribution, Edge, Node, NodeKind, Output};
use base::types::{Field, LogicalType, RowType, TimeAttribute};
use base::{ChangelogBatch, ChangelogMode, Result, RowKind};
use state::OperatorSnapshot;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One operator and what it reads and gives.
pub struct Case {
    /// The node.
    pub node: Node,
    /// Its input.
    pub input: Output,
    /// The columns by which rows are spread over instances.
    pub keys: Vec<usize>,
    /// Whether every batching gives the very same rows; else only the resulting table is the same.
    pub exact: bool,
    /// The leading columns of the output that identify a row, for outputs without `-U`.
    pub upsert_key: usize,
}

enum Step {
    Row(RowKind, Vec<String>),
    Watermark(i64),
    Now(i64),
}

/// A stream of these columns.
pub fn stream(columns: &str, changelog: ChangelogMode) -> Output {
    let field = |column: &str| {
        let (name, t) = column.split_once(':').expect("name:type");
        let (logical, time) = match t {
            "text" => (LogicalType::STRING, None),
            "int" => (LogicalType::BigInt, None),
            "bool" => (LogicalType::Boolean, None),
            "ordinal" => (LogicalType::Int, None),
            "ints" => (LogicalType::Array(Box::new(LogicalType::BigInt.nullable())), None),
            "texts" => (LogicalType::Multiset(Box::new(LogicalType::STRING.not_null())), None),
            "time" => (LogicalType::Timestamp(3), None),
            "rowtime" => (LogicalType::Timestamp(3), Some(TimeAttribute::Rowtime)),
            "instant" => (LogicalType::TimestampLtz(3), Some(TimeAttribute::Rowtime)),
            other => panic!("column type {other}"),
        };
        Field { name: name.to_string(), sql_type: logical.nullable(), time }
    };
    Output { row: RowType::new(columns.split_whitespace().map(field).collect()), changelog, upsert_keys: vec![] }
}

/// A case of an operator with one input.
pub fn case(kind: NodeKind, input: Output, output: Output, keys: &[usize]) -> Case {
    let inputs = vec![Edge { node: 0, distribution: Distribution::Hash(keys.to_vec()) }];
    let node = Node { operator_id: "test".into(), digest: "test".into(), kind, inputs, output };
    Case { node, input, keys: keys.to_vec(), exact: false, upsert_key: keys.len() }
}

impl Case {
    /// The operator of one instance.
    pub fn operator(&self, index: usize, parallelism: usize) -> Box<dyn Operator> {
        self.try_operator(Instance { index, parallelism }).expect("operator")
    }

    /// The operator of one instance, or why not.
    pub fn try_operator(&self, instance: Instance) -> Result<Box<dyn Operator>> {
        parted::create(&self.node, &[&self.input], instance, &JobConfig::default())
    }

    /// Checks the output of batches of one row exactly; with other batchings and with restores, the rows or the
    /// resulting table.
    pub fn check(&self, script: &str, expected: &str) {
        let expected: Vec<String> = tidy(expected);
        for restore in [false, true] {
            assert_eq!(self.run(script, 1, restore), expected, "batches of one row, restore {restore}");
        }
        for (rows, restore) in [(2, false), (2, true), (1000, false), (1000, true)] {
            let actual = self.run(script, rows, restore);
            match self.exact {
                true => assert_eq!(actual, expected, "batches of {rows} rows, restore {restore}"),
                false => assert_eq!(
                    self.table(&actual),
                    self.table(&expected),
                    "the table after batches of {rows} rows, restore {restore}: {actual:#?}"
                ),
            }
        }
        for (every, rows) in [(2, 1), (3, 1), (5, 1), (3, 2)] {
            changes::restarting_every(every, || {
                let actual = self.run(script, rows, true);
                assert_eq!(
                    self.table(&actual),
                    self.table(&expected),
                    "restarts from changes, every {every} batches of {rows} rows: {actual:#?}"
                );
                assert!(rows > 1 || actual == expected, "restarts from changes, every {every} rows: {actual:#?}");
            });
        }
        self.check_rescaled(script, &expected);
        parted::once_more(|| {
            for (rows, restore) in [(1, false), (1, true), (2, true), (1000, false)] {
                let actual = self.run(script, rows, restore);
                assert_eq!(
                    self.table(&actual),
                    self.table(&expected),
                    "the table within a budget, batches of {rows} rows, restore {restore}: {actual:#?}"
                );
            }
            self.check_rescaled(script, &expected);
        });
    }

    fn check_rescaled(&self, script: &str, expected: &[String]) {
        for (before, after) in [(1, 2), (2, 1), (3, 4)] {
            let actual = self.run_rescaled(script, before, after);
            assert_eq!(self.table(&actual), self.table(expected), "rescaled from {before} to {after}: {actual:#?}");
        }
    }

    /// The output for batches of at most `rows` rows.
    pub fn run(&self, script: &str, rows: usize, restore: bool) -> Vec<String> {
        let mut run = Run::new(self, 1, vec![]);
        for batch in batches(&parse(script), rows) {
            run.batch(batch);
            if restore {
                run.restart(1);
            }
        }
        run.output
    }

    /// The statistics at the end, in one run with batches of one row.
    pub fn statistics(&self, script: &str) -> OperatorStatistics {
        let mut run = Run::new(self, 1, vec![]);
        batches(&parse(script), 1).into_iter().for_each(|batch| run.batch(batch));
        run.operators[0].statistics()
    }

    /// Drives one instance with batches of at most `rows` rows; `after` sees it after each.
    pub fn drive(&self, script: &str, rows: usize, mut after: impl FnMut(&mut dyn Operator)) {
        let mut run = Run::new(self, 1, vec![]);
        for batch in batches(&parse(script), rows) {
            run.batch(batch);
            after(run.operators[0].as_mut());
        }
    }

    fn run_rescaled(&self, script: &str, before: usize, after: usize) -> Vec<String> {
        let steps = parse(script);
        let batches = batches(&steps, 1);
        let mut run = Run::new(self, before, vec![]);
        let half = batches.len() / 2;
        for (index, batch) in batches.into_iter().enumerate() {
            if index == half {
                run.restart(after);
            }
            run.batch(batch);
        }
        run.output
    }

    /// The table that a changelog makes, sorted.
    pub fn table(&self, changelog: &[String]) -> Vec<String> {
        if !self.node.output.changelog.contains(RowKind::UpdateBefore)
            && self.node.output.changelog != ChangelogMode::APPEND
        {
            let mut table = BTreeMap::new();
            for line in changelog {
                let (kind, row) = line.split_once(' ').expect("kind and row");
                let key: Vec<&str> = row.split(' ').take(self.upsert_key).collect();
                match RowKind::parse(kind).expect("kind").is_addition() {
                    true => table.insert(key, row),
                    false => table.remove(&key),
                };
            }
            return table.into_values().map(str::to_string).collect();
        }
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        for line in changelog {
            let (kind, row) = line.split_once(' ').unwrap_or((line, ""));
            *counts.entry(row).or_default() += RowKind::parse(kind).expect("kind").sign();
        }
        counts.into_iter().filter(|(_, count)| *count != 0).map(|(row, count)| format!("{count} x {row}")).collect()
    }
}

/// Instances of an operator that is being driven.
pub struct Run<'a> {
    case: &'a Case,
    pub operators: Vec<Box<dyn Operator>>,
    pub context: OperatorContext,
    pub output: Vec<String>,
    pub largest_batch: usize,
    histories: Histories,
}

/// What is given to the operator in one call.
pub enum Call<'a> {
    Rows(Vec<(&'a RowKind, &'a [String])>),
    Watermark(i64),
    Now(i64),
}

impl<'a> Run<'a> {
    fn new(case: &'a Case, parallelism: usize, snapshots: Vec<OperatorSnapshot>) -> Run<'a> {
        let context = OperatorContext { watermark_ms: None, processing_time_ms: 0, rows_max: 4096 };
        let mut run =
            Run { case, operators: vec![], context, output: vec![], largest_batch: 0, histories: Histories::default() };
        run.start(parallelism, snapshots);
        run
    }

    fn start(&mut self, parallelism: usize, snapshots: Vec<OperatorSnapshot>) {
        self.operators = (0..parallelism).map(|index| self.case.operator(index, parallelism)).collect();
        for operator in &mut self.operators {
            operator.open(&snapshots).expect("open");
        }
    }

    fn restart(&mut self, parallelism: usize) {
        let Some(snapshots) = self.histories.chance(&mut self.operators) else { return };
        self.start(1, vec![]);
        assert_shape(&snapshots, self.operators[0].as_mut());
        // Whoever is not told where time was must know it; parts that were put away are told.
        if !parted::is_on() {
            self.context.watermark_ms = None;
        }
        self.start(parallelism, snapshots);
    }

    fn batch(&mut self, call: Call<'_>) {
        match call {
            Call::Rows(rows) => {
                let batch = batch_of(&self.case.input.row, &rows);
                let keys: Vec<_> = self.case.keys.iter().map(|&key| batch.records().column(key).clone()).collect();
                let hashes = hash_columns(&keys, batch.num_rows()).expect("hash");
                for index in 0..self.operators.len() {
                    let owner = |hash: u64| instance_of_group(key_group(hash), self.operators.len());
                    let mine = (0..rows.len()).filter(|row| owner(hashes[*row]) == index).map(|row| row as u32);
                    let mine = batch.take(&mine.collect::<Vec<_>>().into()).expect("take");
                    self.operators[index].on_batch(0, mine, &self.context).expect("batch");
                    self.drain(index);
                }
            }
            Call::Watermark(watermark_ms) => {
                for index in 0..self.operators.len() {
                    self.operators[index].on_watermark(watermark_ms, &self.context).expect("watermark");
                    self.drain(index);
                }
                self.context.watermark_ms = Some(watermark_ms);
            }
            Call::Now(now_ms) => {
                self.context.processing_time_ms = now_ms;
                for index in 0..self.operators.len() {
                    self.operators[index].on_processing_time(&self.context).expect("processing time");
                    self.drain(index);
                }
            }
        }
    }

    fn drain(&mut self, index: usize) {
        while let Some(batch) = self.operators[index].next_output(&self.context).expect("output") {
            assert!(!batch.is_empty(), "an empty batch is no output");
            assert_eq!(batch.records().schema(), *self.case.node.output.row.arrow());
            self.largest_batch = self.largest_batch.max(batch.num_rows());
            self.output.extend(print(&batch));
        }
    }
}

/// Drives one instance with a limit for output batches.
pub fn run_bounded<'a>(case: &'a Case, script: &str, rows_max: usize) -> Run<'a> {
    let mut run = Run::new(case, 1, vec![]);
    run.context.rows_max = rows_max;
    batches(&parse(script), 1000).into_iter().for_each(|batch| run.batch(batch));
    run
}

/// A batch from lines, for tests that call an operator themselves.
pub fn batch_of_lines(row: &RowType, lines: &str) -> ChangelogBatch {
    let steps = parse(lines);
    match batches(&steps, usize::MAX).pop() {
        Some(Call::Rows(rows)) => batch_of(row, &rows),
        _ => panic!("expected rows"),
    }
}

fn tidy(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

fn parse(script: &str) -> Vec<Step> {
    let step = |line: &String| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "wm" if rest == "max" => Step::Watermark(WATERMARK_MAX),
            "wm" => Step::Watermark(parse_time(rest)),
            "now" => Step::Now(rest.parse().expect("milliseconds")),
            kind => Step::Row(RowKind::parse(kind).expect("a row kind"), rest.split(' ').map(str::to_string).collect()),
        }
    };
    tidy(script).iter().map(step).collect()
}

fn batches(steps: &[Step], rows_max: usize) -> Vec<Call<'_>> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    for step in steps {
        match step {
            Step::Watermark(time) => calls.push(Call::Watermark(*time)),
            Step::Now(time) => calls.push(Call::Now(*time)),
            Step::Row(kind, values) => match calls.last_mut() {
                Some(Call::Rows(rows)) if rows.len() < rows_max => rows.push((kind, values)),
                _ => calls.push(Call::Rows(vec![(kind, values)])),
            },
        }
    }
    calls
}

/// A time of day in milliseconds.
pub fn parse_time(text: &str) -> i64 {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let mut parts = text.split(':');
    let mut next = || parts.next().unwrap_or("0");
    let (hours, minutes, seconds): (i64, i64, f64) =
        (next().parse().expect("h"), next().parse().expect("m"), next().parse().expect("s"));
    sign * (hours * 3_600_000 + minutes * 60_000 + (seconds * 1000.0).round() as i64)
}

fn print_time(time: i64) -> String {
    let sign = if time < 0 { "-" } else { "" };
    let time = time.abs();
    let (hours, minutes, seconds, ms) = (time / 3_600_000, time / 60_000 % 60, time / 1000 % 60, time % 1000);
    let fraction = if ms == 0 { String::new() } else { format!(".{ms:03}") };
    format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}")
}

fn batch_of(row: &RowType, rows: &[(&RowKind, &[String])]) -> ChangelogBatch {
    let column = |index: usize, t: &DataType| -> ArrayRef {
        let values = rows.iter().map(|(_, values)| Some(values[index].as_str()).filter(|value| *value != "null"));
        match t {
            DataType::Utf8 => Arc::new(values.collect::<StringArray>()),
            DataType::Int64 => Arc::new(values.map(|v| v.map(|v| v.parse().expect("int"))).collect::<Int64Array>()),
            DataType::Boolean => Arc::new(values.map(|v| v.map(|v| v == "true")).collect::<BooleanArray>()),
            DataType::List(element) => lists(element.clone(), values),
            DataType::Map(entries, _) => multisets(entries.clone(), values),
            DataType::Timestamp(TimeUnit::Millisecond, zone) => Arc::new(
                values
                    .map(|v| v.map(parse_time))
                    .collect::<TimestampMillisecondArray>()
                    .with_timezone_opt(zone.clone()),
            ),
            other => panic!("column type {other}"),
        }
    };
    let columns = row.arrow().fields().iter().enumerate().map(|(index, f)| column(index, f.data_type())).collect();
    let records = RecordBatch::try_new(row.arrow().clone(), columns).expect("batch");
    ChangelogBatch::new(records, rows.iter().map(|(kind, _)| **kind).collect::<Vec<_>>())
}

/// `[1,null,2]`
fn lists<'v>(element: FieldRef, values: impl Iterator<Item = Option<&'v str>>) -> ArrayRef {
    let mut builder = ListBuilder::new(Int64Builder::new()).with_field(element);
    for value in values {
        for item in value.unwrap_or_default().trim_matches(['[', ']']).split(',').filter(|item| !item.is_empty()) {
            builder.values().append_option((item != "null").then(|| item.parse().expect("int")));
        }
        builder.append(value.is_some());
    }
    Arc::new(builder.finish())
}

/// `{a=2,b=1}`
fn multisets<'v>(entries: FieldRef, values: impl Iterator<Item = Option<&'v str>>) -> ArrayRef {
    let DataType::Struct(fields) = entries.data_type().clone() else { panic!("entries") };
    let (mut keys, mut counts, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for value in values {
        let before = keys.len();
        for entry in value.unwrap_or_default().trim_matches(['{', '}']).split(',').filter(|entry| !entry.is_empty()) {
            let (key, count) = entry.split_once('=').expect("key=count");
            keys.push(key.to_string());
            counts.push(count.parse::<i32>().expect("count"));
        }
        lengths.push(keys.len() - before);
        valid.push(value.is_some());
    }
    let columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(keys)), Arc::new(Int32Array::from(counts))];
    let offsets = arrow::buffer::OffsetBuffer::from_lengths(lengths);
    let entry_rows = StructArray::new(fields, columns, None);
    Arc::new(MapArray::new(entries, offsets, entry_rows, Some(valid.into()), false))
}

/// The rows of a batch as lines.
pub fn print(batch: &ChangelogBatch) -> Vec<String> {
    let cell = |column: &ArrayRef, row: usize| match column.data_type() {
        _ if column.is_null(row) => "null".to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items = items.as_primitive::<Int64Type>();
            let items: Vec<String> =
                items.iter().map(|item| item.map_or("null".to_string(), |item| item.to_string())).collect();
            format!("[{}]", items.join(","))
        }
        DataType::Map(..) => {
            let entries = column.as_map().value(row);
            let (keys, counts) =
                (entries.column(0).as_string::<i32>().clone(), entries.column(1).as_primitive::<Int32Type>().clone());
            let entries: Vec<String> =
                (0..keys.len()).map(|at| format!("{}={}", keys.value(at), counts.value(at))).collect();
            format!("{{{}}}", entries.join(","))
        }
        DataType::Timestamp(..) => print_time(column.as_primitive::<TimestampMillisecondType>().value(row)),
        other => panic!("column type {other}"),
    };
    let line = |row: usize| {
        let cells = batch.records().columns().iter().map(|column| cell(column, row));
        [batch.kind(row).short().to_string()].into_iter().chain(cells).collect::<Vec<_>>().join(" ")
    };
    (0..batch.num_rows()).map(line).collect()
}

/// Numbers that depend on the seed only.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
