//! Tables of a case and the changes to them, valid for what each table says of itself.

use super::value::{Row, Type, Value};
use crate::fuzz::Random;
use crate::oracle::LogEvent;
use base::RowKind;

/// Which changes a table gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Inserts.
    Append,
    /// Inserts and deletes.
    Deletes,
    /// All kinds.
    All,
    /// Keyed changes without the old content.
    Upsert,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its type.
    pub of: Type,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// A table. Its columns are `c0`, `c1`, ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Columns.
    pub columns: Vec<Column>,
    /// The primary key; none without.
    pub key: Vec<usize>,
    /// Which changes it gives.
    pub mode: Mode,
}

/// A change of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new row.
    Insert(Row),
    /// Another content of a row; of a keyed table with the same key.
    Update(Row, Row),
    /// A row goes.
    Delete(Row),
}

/// One change of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The table's number.
    pub table: usize,
    /// The change.
    pub change: Change,
    /// Chooses between forms of the same change.
    pub form: u8,
}

impl Table {
    /// The types of its columns.
    pub fn types(&self) -> Vec<Type> {
        self.columns.iter().map(|column| column.of).collect()
    }

    /// The statement that creates it.
    pub fn create(&self, name: &str) -> String {
        let mut parts: Vec<String> = self
            .columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                format!("c{index} {}{}", column.of.sql(), if column.nullable { "" } else { " NOT NULL" })
            })
            .collect();
        if !self.key.is_empty() {
            let names: Vec<String> = self.key.iter().map(|column| format!("c{column}")).collect();
            parts.push(format!("PRIMARY KEY ({}) NOT ENFORCED", names.join(", ")));
        }
        let mode = match self.mode {
            Mode::Append => "I",
            Mode::Deletes => "I,D",
            Mode::All => "all",
            Mode::Upsert => "upsert",
        };
        let columns = parts.join(", ");
        format!("CREATE TABLE {name} ({columns}) WITH ('connector' = 'oracle', 'changelog-mode' = '{mode}')")
    }

    fn key_of<'r>(&self, row: &'r Row) -> Vec<&'r Value> {
        self.key.iter().map(|&column| &row[column]).collect()
    }

    /// The place of a row that a change means: by key, else an equal one.
    fn place(&self, rows: &[Row], row: &Row) -> Option<usize> {
        rows.iter().position(|one| if self.key.is_empty() { one == row } else { self.key_of(one) == self.key_of(row) })
    }

    /// Applies a change to the rows of the table, and gives the change that is valid there; `None` if it would do nothing.
    pub fn apply(&self, rows: &mut Vec<Row>, change: &Change) -> Option<Change> {
        match change {
            Change::Insert(row) if !self.key.is_empty() && self.place(rows, row).is_some() => None,
            Change::Insert(row) => {
                rows.push(row.clone());
                Some(change.clone())
            }
            Change::Update(old, new) => match self.place(rows, old) {
                Some(place) => {
                    let old = std::mem::replace(&mut rows[place], new.clone());
                    Some(Change::Update(old, new.clone()))
                }
                None => self.apply(rows, &Change::Insert(new.clone())),
            },
            Change::Delete(row) => {
                let place = self.place(rows, row)?;
                Some(Change::Delete(rows.remove(place)))
            }
        }
    }

    fn record(&self, row: &Row) -> String {
        let cells: Vec<String> = self
            .columns
            .iter()
            .zip(row)
            .enumerate()
            .map(|(index, (column, value))| format!("\"c{index}\":{}", value.json(column.of)))
            .collect();
        format!("{{{}}}", cells.join(","))
    }

    /// The changes as rows of a changelog.
    fn rows_of(&self, step: &Step) -> Vec<(RowKind, String)> {
        let upsert = self.mode == Mode::Upsert;
        match &step.change {
            Change::Insert(row) => {
                let kind = if upsert && step.form.is_multiple_of(2) { RowKind::UpdateAfter } else { RowKind::Insert };
                vec![(kind, self.record(row))]
            }
            Change::Update(_, new) if upsert => {
                let kind = if step.form.is_multiple_of(8) { RowKind::Insert } else { RowKind::UpdateAfter };
                vec![(kind, self.record(new))]
            }
            Change::Update(old, new) => {
                vec![(RowKind::UpdateBefore, self.record(old)), (RowKind::UpdateAfter, self.record(new))]
            }
            Change::Delete(row) if upsert && step.form.is_multiple_of(2) => {
                // Only the key of a deleted row is certain.
                let cells = row.iter().enumerate().map(|(index, value)| {
                    let known = self.key.contains(&index) || !self.columns[index].nullable;
                    if known { value.clone() } else { Value::Null }
                });
                vec![(RowKind::Delete, self.record(&cells.collect()))]
            }
            Change::Delete(row) => vec![(RowKind::Delete, self.record(row))],
        }
    }
}

/// The steps that are valid one after the other; those that would do nothing are left out.
pub fn repair(tables: &[Table], steps: &[Step]) -> Vec<Step> {
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); tables.len()];
    steps
        .iter()
        .filter_map(|step| {
            let change = tables[step.table].apply(&mut rows[step.table], &step.change)?;
            Some(Step { change, ..step.clone() })
        })
        .collect()
}

/// The rows of every table after these steps.
pub fn rows_after(tables: &[Table], steps: &[Step]) -> Vec<Vec<Row>> {
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); tables.len()];
    for step in steps {
        tables[step.table].apply(&mut rows[step.table], &step.change);
    }
    rows
}

/// The events of the log, each with the number of steps that are complete after it.
pub fn events(tables: &[Table], steps: &[Step]) -> Vec<(LogEvent, Option<usize>)> {
    let mut offsets = vec![0; tables.len()];
    let mut events = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let rows = tables[step.table].rows_of(step);
        let last = rows.len() - 1;
        for (place, (kind, payload)) in rows.into_iter().enumerate() {
            let offset = offsets[step.table];
            offsets[step.table] += 1;
            let event = LogEvent { table: format!("t{}", step.table), kind: Some(kind), payload, offset };
            events.push((event, (place == last).then_some(index + 1)));
        }
    }
    events
}

/// How values of a case are drawn.
#[derive(Debug, Clone)]
pub struct Draw {
    /// Distinct values per type.
    domain: usize,
    /// One value in so many is NULL; 0: none.
    nulls: usize,
    /// Whether small values are far more frequent.
    skewed: bool,
}

const TEXTS: [&str; 8] = ["a", "b", "", "B", "ab", "Zoë", "好", "it's"];

impl Draw {
    /// A random way.
    pub fn new(random: &mut Random) -> Draw {
        Draw { domain: *random.pick(&[2, 3, 4, 6, 10]), nulls: *random.pick(&[0, 3, 6, 12]), skewed: random.once_in(2) }
    }

    fn index(&self, random: &mut Random) -> usize {
        if self.skewed {
            let unit = random.below(1000) as f64 / 1000.0;
            (unit.powi(3) * self.domain as f64) as usize
        } else {
            random.below(self.domain)
        }
    }

    /// A value that is not NULL.
    pub fn value(&self, of: Type, random: &mut Random) -> Value {
        let index = self.index(random);
        match of {
            Type::BigInt => Value::Number(index as i128),
            Type::Int => Value::Number(index as i128 - 1),
            Type::Decimal(..) => Value::Number([0, 150, -25, 1000, 1, 99, -300, 12_345][index % 8]),
            Type::Text => Value::Text(TEXTS[index % TEXTS.len()].into()),
            Type::Boolean => Value::Boolean(random.once_in(2)),
            Type::Timestamp => Value::Number([0, 1, 60_000, 3_600_500, 86_400_000, 90_061_120][index % 6]),
        }
    }

    fn cell(&self, column: Column, random: &mut Random) -> Value {
        if column.nullable && self.nulls > 0 && random.once_in(self.nulls) {
            return Value::Null;
        }
        self.value(column.of, random)
    }

    fn row(&self, table: &Table, random: &mut Random) -> Row {
        table.columns.iter().map(|column| self.cell(*column, random)).collect()
    }
}

/// A random table.
pub fn table(random: &mut Random) -> Table {
    const TYPES: [Type; 8] =
        [Type::BigInt, Type::Int, Type::Text, Type::MONEY, Type::Boolean, Type::Timestamp, Type::BigInt, Type::Text];
    let width = 2 + random.below(3);
    let nullable = !random.once_in(6);
    let mut columns: Vec<Column> =
        (0..width).map(|_| Column { of: *random.pick(&TYPES), nullable: nullable && !random.once_in(5) }).collect();
    // Every table can be joined and added up.
    columns[0].of = *random.pick(&[Type::BigInt, Type::BigInt, Type::BigInt, Type::Int, Type::Text]);
    let mode =
        *random.pick(&[Mode::Append, Mode::Deletes, Mode::All, Mode::All, Mode::All, Mode::Upsert, Mode::Upsert]);
    let key: Vec<usize> = match (mode, random.below(4)) {
        (Mode::Append, _) => Vec::new(),
        (Mode::Upsert, 0 | 1) | (_, 0) => vec![0],
        (Mode::Upsert, 2) => vec![1],
        (Mode::Upsert, _) | (_, 1) => vec![0, 1],
        _ => Vec::new(),
    };
    key.iter().for_each(|&column| columns[column].nullable = false);
    Table { columns, key, mode }
}

/// Random changes.
pub fn steps(tables: &[Table], draw: &Draw, count: usize, random: &mut Random) -> Vec<Step> {
    let burst = *random.pick(&[1, 2, 8, 40]);
    let inserts = *random.pick(&[2, 3, 5]);
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); tables.len()];
    let mut steps = Vec::new();
    let mut table = 0;
    for _ in 0..count {
        if random.once_in(burst) {
            table = random.below(tables.len());
        }
        let change = change(&tables[table], &rows[table], draw, inserts, random);
        let form = random.below(256) as u8;
        if let Some(change) = tables[table].apply(&mut rows[table], &change) {
            steps.push(Step { table, change, form });
        }
    }
    steps
}

/// A change of a row that is there, or a new row: two of so many.
fn change(table: &Table, rows: &[Row], draw: &Draw, inserts: usize, random: &mut Random) -> Change {
    let new = draw.row(table, random);
    if rows.is_empty() || table.mode == Mode::Append || random.below(inserts) < 2 {
        // A row that is there already becomes an update of its key.
        return match table.place(rows, &new) {
            Some(place) if !table.key.is_empty() && table.mode != Mode::Deletes => {
                Change::Update(rows[place].clone(), new)
            }
            _ => Change::Insert(new),
        };
    }
    let old = random.pick(rows).clone();
    if table.mode == Mode::Deletes || random.once_in(3) {
        return Change::Delete(old);
    }
    let mut changed = old.clone();
    let all = random.once_in(4);
    let one = random.below(table.columns.len());
    for column in 0..table.columns.len() {
        if !table.key.contains(&column) && (all || column == one) {
            changed[column] = new[column].clone();
        }
    }
    Change::Update(old, changed)
}
