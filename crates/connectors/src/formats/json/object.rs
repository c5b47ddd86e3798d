//! Reads JSON values into columns, objects by guessing their key order.
//!
//! Producers write the keys of a record in the same order with the same blanks every time. So each object remembers the
//! bytes between its values (`{"id":`, `, "name": `) and compares them at once. Wherever the guess fails the object is read
//! key by key, which takes any order, and the guess goes on behind the key found. The result never depends on the guess.

use super::reader::{Fail, FailKind, Reader, Span, Syntax, unescape};
use crate::formats::column::{Column, Data, Refusal, TextRules};
use crate::formats::value::{self, TimestampStandard};
use base::{LogicalType, RowType, SqlType};
use std::collections::{HashMap, HashSet};

/// The most keys of an object that are remembered.
const STEPS_MAX: usize = 1024;
/// The longest text between two values that is remembered.
const GAP_BYTES_MAX: usize = 256;
/// The most objects with a failed guess until the next one is remembered instead.
const PATIENCE_MAX: u32 = 1024;
/// Up to this many entries of a map are compared one by one.
const FEW_ENTRIES: usize = 8;

/// How records are read.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// A bad field is NULL.
    pub ignore_errors: bool,
    /// A missing field is an error.
    pub fail_on_missing: bool,
    /// How timestamps are written.
    pub standard: TimestampStandard,
}

/// What is kept from record to record while reading.
#[derive(Debug)]
pub struct Scratch {
    /// How records are read.
    pub settings: Settings,
    /// A string without its escapes.
    text: Vec<u8>,
    /// Names of the fields around a failure, innermost first.
    pub path: Vec<String>,
    /// The type that refused a value.
    pub refused_by: Option<SqlType>,
}

impl Scratch {
    /// Nothing kept yet.
    pub fn new(settings: Settings) -> Scratch {
        Scratch { settings, text: Vec::new(), path: Vec::new(), refused_by: None }
    }

    /// After a failure.
    pub fn reset(&mut self) {
        self.path.clear();
        self.refused_by = None;
    }

    /// A failure is inside the field `name` of this type.
    #[cold]
    pub fn inside(&mut self, name: &str, sql_type: &SqlType) {
        self.path.push(name.to_string());
        self.refused_by.get_or_insert_with(|| sql_type.clone());
    }
}

/// The rows of one row type: a reader of objects with the columns that they fill.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<Column>,
    layout: Object,
    count: usize,
}

impl Rows {
    /// No rows of `row_type` yet.
    pub fn new(row_type: &RowType, standard: TimestampStandard) -> Rows {
        let fields = row_type.fields();
        Rows {
            columns: fields.iter().map(|field| Column::new(&field.sql_type, standard)).collect(),
            layout: Object::of(row_type),
            count: 0,
        }
    }

    /// Reads the object at the reader's place as a row. If it fails there is no trace of it.
    pub fn read(&mut self, reader: &mut Reader<'_>, scratch: &mut Scratch) -> Result<(), Fail> {
        match read_object(&mut self.columns, &mut self.layout, self.count, reader, scratch) {
            Ok(()) => {
                self.count += 1;
                Ok(())
            }
            Err(fail) => {
                self.forget_unfinished();
                Err(fail)
            }
        }
    }

    /// Reads the object at the reader's place over the last row, which there must be: the row takes the object's fields and
    /// keeps the others. If it fails the row is gone.
    pub fn read_over(
        &mut self,
        partial: &mut Partial,
        reader: &mut Reader<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Fail> {
        let last = self.count - 1;
        read_object(&mut self.columns, &mut partial.0, last, reader, scratch).inspect_err(|_| self.truncate(last))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Takes back the rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.count = len;
        self.forget_unfinished();
    }

    fn forget_unfinished(&mut self) {
        self.columns.iter_mut().for_each(|column| column.truncate(self.count));
    }

    /// The columns of all rows; there are no rows afterwards.
    pub fn finish(&mut self) -> base::Result<Vec<arrow::array::ArrayRef>> {
        self.count = 0;
        self.columns.iter_mut().map(Column::finish).collect()
    }
}

/// A reader of objects with some of the fields of a row type: they have another usual order than whole ones.
#[derive(Debug)]
pub struct Partial(Object);

impl Partial {
    /// For objects with fields of `row_type`.
    pub fn new(row_type: &RowType) -> Partial {
        Partial(Object::of(row_type))
    }
}

/// A column read value by value.
#[derive(Debug)]
pub struct Single {
    column: Column,
    layout: Layout,
}

impl Single {
    /// No values yet.
    pub fn new(sql_type: &SqlType, standard: TimestampStandard) -> Single {
        Single { column: Column::new(sql_type, standard), layout: Layout::new(sql_type) }
    }

    /// Reads the value at the reader's place. If it fails, [`Single::truncate`] must follow.
    pub fn read(&mut self, reader: &mut Reader<'_>, scratch: &mut Scratch) -> Result<(), Fail> {
        read_field(&mut self.column, &mut self.layout, reader, scratch)
    }

    /// Appends NULL.
    pub fn append_null(&mut self) -> Result<(), Refusal> {
        self.column.append_null()
    }

    /// Takes back the values from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.column.truncate(len);
    }

    /// All values; there are none afterwards.
    pub fn finish(&mut self) -> base::Result<arrow::array::ArrayRef> {
        self.column.finish()
    }
}

/// What reading a column needs besides the column.
#[derive(Debug)]
enum Layout {
    Scalar,
    Element(Box<Layout>),
    Object(Object),
}

impl Layout {
    fn new(sql_type: &SqlType) -> Layout {
        match &sql_type.logical {
            LogicalType::Array(element) | LogicalType::Map(_, element) => {
                Layout::Element(Box::new(Layout::new(element)))
            }
            LogicalType::Multiset(_) => Layout::Element(Box::new(Layout::Scalar)),
            LogicalType::Row(fields) | LogicalType::Structured(_, fields) => {
                Layout::Object(Object::new(fields.iter().map(|(name, t)| (name.as_str(), t))))
            }
            _ => Layout::Scalar,
        }
    }
}

/// The bytes before a value and whose value it is.
#[derive(Debug, Clone)]
struct Step {
    gap: Box<[u8]>,
    field: Option<usize>,
}

/// The fields of an object and the guess of their order.
#[derive(Debug)]
struct Object {
    names: Vec<String>,
    positions: HashMap<Box<[u8]>, usize>,
    children: Vec<Layout>,
    guess: Vec<Step>,
    /// For each field the step behind its own.
    next_steps: Vec<usize>,
    /// Objects with a failed guess until the next one is remembered.
    patience: u32,
    /// The patience after that.
    next_patience: u32,
}

impl Object {
    fn of(row_type: &RowType) -> Object {
        Object::new(row_type.fields().iter().map(|field| (field.name.as_str(), &field.sql_type)))
    }

    fn new<'a>(fields: impl Iterator<Item = (&'a str, &'a SqlType)>) -> Object {
        let (names, children): (Vec<String>, Vec<Layout>) =
            fields.map(|(name, sql_type)| (name.to_string(), Layout::new(sql_type))).unzip();
        let positions = names.iter().enumerate().map(|(index, name)| (name.as_bytes().into(), index)).collect();
        let next_steps = vec![0; names.len()];
        Object { names, positions, children, guess: Vec::new(), next_steps, patience: 0, next_patience: 1 }
    }

    /// Whether the object read now shall be remembered, because the guess failed.
    #[cold]
    fn learns(&mut self) -> bool {
        if self.patience > 0 {
            self.patience -= 1;
            return false;
        }
        self.patience = self.next_patience;
        self.next_patience = (self.next_patience * 2).min(PATIENCE_MAX);
        true
    }

    #[cold]
    fn remember(&mut self, steps: Vec<Step>) {
        self.next_steps.fill(0);
        for (index, step) in steps.iter().enumerate() {
            if let Some(field) = step.field {
                self.next_steps[field] = index + 1;
            }
        }
        self.guess = steps;
    }

    fn position(&self, key: Span<'_>, scratch: &mut Scratch) -> Option<usize> {
        if !key.escaped {
            return self.positions.get(key.raw).copied();
        }
        scratch.text.clear();
        unescape(key.raw, &mut scratch.text);
        self.positions.get(scratch.text.as_slice()).copied()
    }
}

/// An object being remembered.
enum Learning {
    /// The guess has not failed.
    NotNeeded,
    Off,
    On(Vec<Step>),
}

impl Learning {
    #[cold]
    fn push(&mut self, gap: &[u8], field: Option<usize>) {
        if let Learning::On(steps) = self {
            if gap.len() > GAP_BYTES_MAX || steps.len() >= STEPS_MAX {
                *self = Learning::Off;
            } else {
                steps.push(Step { gap: gap.into(), field });
            }
        }
    }
}

/// Reads an object into `columns`, which have `row` values each before and one more afterwards.
fn read_object(
    columns: &mut [Column],
    layout: &mut Object,
    row: usize,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    let mut learning = Learning::NotNeeded;
    let mut step = 0;
    let mut filled = 0;
    let mut first = true;
    let start = reader.position;
    loop {
        let field = match layout.guess.get(step) {
            Some(guessed) if reader.eat_text(&guessed.gap) => {
                step += 1;
                if matches!(learning, Learning::On(_)) {
                    learning.push(&guessed.gap, guessed.field);
                }
                guessed.field
            }
            guessed => {
                let expects_unknown = guessed.is_some_and(|guessed| guessed.field.is_none());
                let gap_start = reader.position;
                let Some(key) = reader.next_key(first)? else { break };
                let field = layout.position(key, scratch);
                if matches!(learning, Learning::NotNeeded) {
                    let begun = layout.guess[..step].to_vec();
                    learning = if layout.learns() { Learning::On(begun) } else { Learning::Off };
                }
                learning.push(reader.since(gap_start), field);
                step = field.map_or(step + usize::from(expects_unknown), |field| layout.next_steps[field]);
                field
            }
        };
        first = false;
        let Some(field) = field else {
            reader.skip_value()?;
            continue;
        };
        let column = &mut columns[field];
        if column.len() > row {
            // A repeated key: the last one counts.
            column.truncate(row);
        } else {
            filled += 1;
        }
        if let Err(fail) = read_field(column, &mut layout.children[field], reader, scratch) {
            scratch.inside(&layout.names[field], column.sql_type());
            return Err(fail);
        }
    }
    if let Learning::On(steps) = learning {
        layout.remember(steps);
    }
    if filled == columns.len() { Ok(()) } else { fill_missing(columns, layout, row, start, scratch) }
}

/// Gives NULL to the columns without a value.
fn fill_missing(
    columns: &mut [Column],
    layout: &Object,
    row: usize,
    at: usize,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    for (column, name) in columns.iter_mut().zip(&layout.names) {
        if column.len() > row {
            continue;
        }
        let done = if scratch.settings.fail_on_missing {
            Err(FailKind::Missing)
        } else {
            column.append_null().map_err(FailKind::Refused)
        };
        if let Err(kind) = done {
            scratch.inside(name, column.sql_type());
            return Err(Fail { kind, at });
        }
    }
    Ok(())
}

/// Reads a value; if it is refused and errors are ignored, it is NULL.
#[inline]
fn read_field(
    column: &mut Column,
    layout: &mut Layout,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    let start = reader.position;
    let len = column.len();
    match read_value(column, layout, reader, scratch) {
        Ok(()) => Ok(()),
        Err(fail) => recover(column, len, start, fail, reader, scratch),
    }
}

#[cold]
fn recover(
    column: &mut Column,
    len: usize,
    start: usize,
    mut fail: Fail,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    column.truncate(len);
    if !matches!(fail.kind, FailKind::Syntax(_)) {
        if scratch.settings.ignore_errors {
            reader.position = start;
            reader.skip_value()?;
            if column.append_null().is_ok() {
                scratch.reset();
                return Ok(());
            }
        }
        if matches!(fail.kind, FailKind::Refused(_)) {
            // The innermost value knows its place best.
            fail.at = fail.at.max(start);
        }
    }
    Err(fail)
}

#[inline]
fn read_value(
    column: &mut Column,
    layout: &mut Layout,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    // What most values look like.
    match column.data() {
        Data::Int64(values) => {
            if let Some(number) = reader.small_integer() {
                values.push(number);
                column.appended();
                return Ok(());
            }
        }
        Data::Int32(values) => {
            let start = reader.position;
            if let Some(number) = reader.small_integer() {
                if let Ok(number) = i32::try_from(number) {
                    values.push(number);
                    column.appended();
                    return Ok(());
                }
                reader.position = start;
            }
        }
        Data::Text(bytes) => {
            if let Some(text) = reader.plain_string() {
                bytes.push(text)?;
                column.appended();
                return Ok(());
            }
        }
        Data::Timestamp { values, shape, cache } => {
            if let Some(text) = reader.plain_string() {
                values.push(value::timestamp(text, shape, cache).map_err(Refusal::from)?);
                column.appended();
                return Ok(());
            }
        }
        _ => {}
    }
    read_any(column, layout, reader, scratch)
}

/// Reads a value of any kind.
fn read_any(
    column: &mut Column,
    layout: &mut Layout,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    reader.skip_space();
    match reader.peek() {
        b'n' => {
            reader.literal("null")?;
            column.append_null()?;
        }
        b'"' => {
            let span = reader.string()?;
            if span.escaped {
                scratch.text.clear();
                unescape(span.raw, &mut scratch.text);
                column.append_text(&scratch.text, TextRules::Json)?;
            } else {
                column.append_text(span.raw, TextRules::Json)?;
            }
        }
        b'-' | b'0'..=b'9' => {
            let number = reader.number()?;
            column.append_number(number)?;
        }
        b't' => {
            reader.literal("true")?;
            column.append_boolean(true)?;
        }
        b'f' => {
            reader.literal("false")?;
            column.append_boolean(false)?;
        }
        b'{' | b'[' => read_nested(column, layout, reader, scratch)?,
        _ => return Err(reader.syntax(Syntax::Expected("a value"))),
    }
    Ok(())
}

/// Reads an object or array.
fn read_nested(
    column: &mut Column,
    layout: &mut Layout,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    let row = column.len();
    let object = reader.peek() == b'{';
    match (column.data(), layout) {
        (Data::Row(fields), Layout::Object(layout)) if object => read_object(fields, layout, row, reader, scratch)?,
        (Data::Map { offsets, key, value }, Layout::Element(layout)) if object => {
            read_map(key, value, layout, reader, scratch)?;
            offsets.push(i32::try_from(key.len()).map_err(|_| Refusal::TooLong)?);
        }
        (Data::Array { offsets, element }, Layout::Element(layout)) if !object => {
            let mut first = true;
            while reader.next_element(first)? {
                read_field(element, layout, reader, scratch)?;
                first = false;
            }
            offsets.push(i32::try_from(element.len()).map_err(|_| Refusal::TooLong)?);
        }
        (Data::Text(bytes), _) => bytes.push_with(|out| reader.compact_value(out))?,
        _ => return Err(Refusal::Value.into()),
    }
    column.appended();
    Ok(())
}

/// Reads an object into the entries of a map. Of a repeated key the last value counts.
fn read_map(
    key: &mut Column,
    value: &mut Column,
    layout: &mut Layout,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
) -> Result<(), Fail> {
    let start = reader.position;
    let base = key.len();
    read_entries(key, value, layout, reader, scratch, None)?;
    if let Some(keep) = last_of_each(key, base) {
        key.truncate(base);
        value.truncate(base);
        reader.position = start;
        read_entries(key, value, layout, reader, scratch, Some(&keep))?;
    }
    Ok(())
}

fn read_entries(
    key: &mut Column,
    value: &mut Column,
    layout: &mut Layout,
    reader: &mut Reader<'_>,
    scratch: &mut Scratch,
    keep: Option<&[bool]>,
) -> Result<(), Fail> {
    let mut index = 0;
    while let Some(span) = reader.next_key(index == 0)? {
        let kept = keep.is_none_or(|keep| keep.get(index).copied().unwrap_or(true));
        index += 1;
        if !kept {
            reader.skip_value()?;
            continue;
        }
        if span.escaped {
            scratch.text.clear();
            unescape(span.raw, &mut scratch.text);
            key.append_text(&scratch.text, TextRules::Json)?;
        } else {
            key.append_text(span.raw, TextRules::Json)?;
        }
        read_field(value, layout, reader, scratch)?;
    }
    Ok(())
}

/// Which entries from `base` on to keep so that every key is there once; `None` if that is so already.
fn last_of_each(key: &mut Column, base: usize) -> Option<Vec<bool>> {
    let count = key.len() - base;
    let Data::Text(keys) = key.data() else { return None };
    let of = |index: usize| keys.get(base + index);
    let repeated = if count <= FEW_ENTRIES {
        (1..count).any(|index| (0..index).any(|other| of(other) == of(index)))
    } else {
        let mut seen = HashSet::with_capacity(count);
        (0..count).any(|index| !seen.insert(of(index)))
    };
    if !repeated {
        return None;
    }
    let mut seen = HashSet::with_capacity(count);
    let mut keep: Vec<bool> = (0..count).rev().map(|index| seen.insert(of(index))).collect();
    keep.reverse();
    Some(keep)
}
