//! The shape of state: which columns the saved rows of an operator have, and what becomes of them when the operator of a
//! changed script has others.
//!
//! A column is known by what it holds ([`COLUMN_ID_KEY`]), and what an operator keeps for itself by its name, never by the
//! place: so rows are taken over by an operator that needs fewer columns, has them in another order, or wider. Keys stay as
//! they are: they decide where rows belong.

use crate::key_table::LAST_WRITE;
use crate::snapshot::{OperatorSnapshot, TableSnapshot};
use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{Field, FieldRef, Schema};
use base::types::{COLUMN_CALL_KEY, COLUMN_ID_KEY, TYPE_KEY};
use base::{Error, LogicalType, Result, SqlType};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The role of columns that are no keys, before the dot of their names.
const VALUE: &str = "value.";
/// The call whose state is the number of rows, and the column of operators that count them anyway.
const COUNT_CALL: &str = "COUNT(*)";
const ROWS: &str = "value.rows";

/// The tables of an operator and their columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateShape {
    /// By the name of the table.
    pub tables: BTreeMap<String, Vec<StateColumn>>,
}

/// A column of saved rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateColumn {
    /// Its name with its role: `key.user_id`, `value.0.SUM.sum`.
    pub name: String,
    /// What it holds; `None` for what the operator keeps for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The call whose state it is, as SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Its Arrow type as text.
    pub data_type: String,
    /// Its SQL type, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql_type: Option<String>,
}

/// What becomes of saved rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// They are taken as they are.
    Same,
    /// Their columns are taken by what they hold.
    Migrated(Vec<String>),
    /// They do not have what is needed.
    Lacking(Vec<String>),
}

/// Where a wanted column is among the saved ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    index: usize,
    is_wider: bool,
}

impl StateShape {
    /// The shape of a snapshot.
    pub fn of(snapshot: &OperatorSnapshot) -> StateShape {
        let columns = |table: &TableSnapshot| (table.name.clone(), columns_of(&table.rows));
        StateShape { tables: snapshot.tables.iter().map(columns).collect() }
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// What becomes of rows of this shape where `wanted` is needed.
    pub fn fit(&self, wanted: &StateShape) -> Fit {
        let (mut lacks, mut changes) = (Vec::new(), Vec::new());
        let mut is_same = self.tables.len() == wanted.tables.len();
        let mut used = Vec::new();
        for (name, wanted) in &wanted.tables {
            let Some((from, saved)) = self.table(name, wanted) else {
                return Fit::Lacking(vec!["it is kept in another form".into()]);
            };
            used.push(from);
            match places(saved, wanted) {
                Err(mut found) => lacks.append(&mut found),
                Ok(places) => {
                    let own = |index: &usize| saved[*index].name != LAST_WRITE;
                    let taken = places.iter().map(|place| place.index).filter(own);
                    is_same &= from == name
                        && taken.eq((0..saved.len()).filter(own))
                        && places.iter().all(|place| !place.is_wider);
                    changes.extend(differences(saved, wanted, &places));
                }
            }
        }
        for (_, columns) in self.tables.iter().filter(|(name, _)| !used.contains(name)) {
            changes.extend(columns.iter().filter(|column| column.call.is_some()).map(StateColumn::left_out));
        }
        match (lacks.is_empty(), is_same) {
            (false, _) => Fit::Lacking(without_repeats(lacks)),
            (true, true) => Fit::Same,
            (true, false) => Fit::Migrated(without_repeats(changes)),
        }
    }

    /// The table that holds what `wanted` needs: the one of its name, or of several that are numbered the one that fits.
    fn table(&self, name: &str, wanted: &[StateColumn]) -> Option<(&String, &Vec<StateColumn>)> {
        let kind = |name: &str| name.split('.').next().map(str::to_string);
        let alike = || self.tables.iter().filter(|(known, _)| kind(known) == kind(name));
        alike().find(|(_, saved)| places(saved, wanted).is_ok()).or_else(|| alike().next())
    }
}

impl StateColumn {
    fn of(field: &Field) -> StateColumn {
        let metadata = |key: &str| field.metadata().get(key).cloned();
        StateColumn {
            name: field.name().clone(),
            id: metadata(COLUMN_ID_KEY),
            call: metadata(COLUMN_CALL_KEY),
            data_type: field.data_type().to_string(),
            sql_type: metadata(TYPE_KEY),
        }
    }

    fn is_value(&self) -> bool {
        self.name.starts_with(VALUE)
    }

    /// How messages call it.
    fn text(&self) -> String {
        let own = self.name.split_once('.').map_or(self.name.as_str(), |(_, own)| own);
        self.call.clone().unwrap_or_else(|| own.to_string())
    }

    fn left_out(&self) -> String {
        format!("without {}", self.text())
    }

    fn logical(&self) -> Option<LogicalType> {
        Some(self.sql_type.as_ref()?.parse::<SqlType>().ok()?.logical)
    }

    fn type_text(&self) -> String {
        self.logical().map_or_else(|| self.data_type.clone(), |logical| logical.to_string())
    }

    /// Whether its values are those of `wanted`, and whether they have to be made wider; `None` if they are others.
    fn widens_to(&self, wanted: &StateColumn) -> Option<bool> {
        let is_same = self.data_type == wanted.data_type;
        match (self.logical(), wanted.logical()) {
            (Some(from), Some(to)) if from != to => (self.call.is_none() && from.widens_to(&to)).then_some(!is_same),
            _ => is_same.then_some(false),
        }
    }
}

fn columns_of(rows: &RecordBatch) -> Vec<StateColumn> {
    rows.schema().fields().iter().map(|field| StateColumn::of(field)).collect()
}

fn without_repeats(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = Vec::new();
    texts.retain(|text| {
        let is_new = !seen.contains(text);
        seen.push(text.clone());
        is_new
    });
    texts
}

/// Where the wanted columns are among the saved ones: first everything that is no value, as it was saved.
fn places(saved: &[StateColumn], wanted: &[StateColumn]) -> std::result::Result<Vec<Place>, Vec<String>> {
    let mut lacks = Vec::new();
    let is_own = |column: &&StateColumn| !column.is_value() && column.name != LAST_WRITE;
    let keys: Vec<(&StateColumn, &StateColumn)> =
        saved.iter().filter(is_own).zip(wanted.iter().filter(is_own)).collect();
    if saved.iter().filter(is_own).count() != wanted.iter().filter(is_own).count() {
        lacks.push("its keys are others".to_string());
    }
    let of_other_type = keys.iter().filter(|(saved, wanted)| saved.data_type != wanted.data_type);
    lacks.extend(of_other_type.map(|(saved, wanted)| {
        format!("key {}: {}, saved as {}", wanted.text(), wanted.type_text(), saved.type_text())
    }));
    let head = saved.iter().enumerate().filter(|(_, column)| !column.is_value());
    let mut places: Vec<Place> = head.map(|(index, _)| Place { index, is_wider: false }).collect();
    for column in wanted.iter().filter(|column| column.is_value()) {
        // Two calls may keep the same.
        let is_itself = |known: &StateColumn| known.name == column.name && known.id == column.id;
        let is_alike = |known: &StateColumn| known.is_value() && column.id.is_some() && known.id == column.id;
        let counted = |known: &StateColumn| {
            column.call.as_deref() == Some(COUNT_CALL) && known.id.is_none() && known.name == ROWS
        };
        let found = saved.iter().position(is_itself).or_else(|| saved.iter().position(is_alike));
        let found = found.or_else(|| saved.iter().position(counted));
        let Some(index) = found else {
            lacks.push(format!("no saved state of {}", column.text()));
            continue;
        };
        match saved[index].widens_to(column) {
            Some(is_wider) => places.push(Place { index, is_wider }),
            None => {
                lacks.push(format!("{}: {}, saved as {}", column.text(), column.type_text(), saved[index].type_text()));
            }
        }
    }
    if lacks.is_empty() { Ok(places) } else { Err(lacks) }
}

/// What of a table is left out, and what is wider.
fn differences(saved: &[StateColumn], wanted: &[StateColumn], places: &[Place]) -> Vec<String> {
    let is_taken = |index: usize| places.iter().any(|place| place.index == index);
    let is_wanted = |text: &String| wanted.iter().any(|column| column.text() == *text);
    let left = saved.iter().enumerate().filter(|(index, column)| column.is_value() && !is_taken(*index));
    let left = left.map(|(_, column)| column).filter(|column| !is_wanted(&column.text()));
    let mut texts: Vec<String> = left.map(StateColumn::left_out).collect();
    for (column, place) in wanted.iter().filter(|column| column.is_value()).zip(&places[values_at(saved)..]) {
        if place.is_wider {
            texts.push(format!("{}: {} to {}", column.text(), saved[place.index].type_text(), column.type_text()));
        }
    }
    texts
}

/// How many columns of saved rows are no values.
fn values_at(saved: &[StateColumn]) -> usize {
    saved.iter().filter(|column| !column.is_value()).count()
}

/// Makes the rows that an operator needs of saved ones.
#[derive(Debug)]
pub struct Migration {
    /// By table: the columns that are needed.
    tables: BTreeMap<String, Vec<FieldRef>>,
}

impl Migration {
    /// Into rows like those of `wanted`.
    pub fn new(wanted: &OperatorSnapshot) -> Migration {
        let fields = |table: &TableSnapshot| (table.name.clone(), table.rows.schema().fields().to_vec());
        Migration { tables: wanted.tables.iter().map(fields).collect() }
    }

    /// The rows of a snapshot of all there is. Tables that are not needed any more are left out.
    ///
    /// # Errors
    /// Rows of a shape that does not fit.
    pub fn apply(&self, snapshot: OperatorSnapshot) -> Result<OperatorSnapshot> {
        let shape = StateShape::of(&snapshot);
        let mut tables = Vec::with_capacity(self.tables.len());
        for (name, fields) in &self.tables {
            let columns: Vec<StateColumn> = fields.iter().map(|field| StateColumn::of(field)).collect();
            let Some((from, _)) = shape.table(name, &columns) else { continue };
            for table in snapshot.tables.iter().filter(|table| table.name == *from) {
                let rows = migrated(&table.rows, fields)?;
                tables.push(TableSnapshot { name: name.clone(), rows, ..table.clone() });
            }
        }
        Ok(OperatorSnapshot { tables, values: snapshot.values })
    }
}

fn migrated(rows: &RecordBatch, wanted: &[FieldRef]) -> Result<RecordBatch> {
    let saved = columns_of(rows);
    let columns: Vec<StateColumn> = wanted.iter().map(|field| StateColumn::of(field)).collect();
    let places = places(&saved, &columns)
        .map_err(|lacks| Error::internal(format!("saved rows do not fit: {}", lacks.join(", "))))?;
    let (head, values) = places.split_at(values_at(&saved));
    let (mut fields, mut arrays) = (Vec::with_capacity(places.len()), Vec::with_capacity(places.len()));
    for place in head {
        fields.push(rows.schema().fields()[place.index].clone());
        arrays.push(rows.column(place.index).clone());
    }
    let wanted = wanted.iter().zip(&columns).filter(|(_, column)| column.is_value());
    for ((field, _), place) in wanted.zip(values) {
        fields.push(Arc::new(field.as_ref().clone().with_nullable(true)));
        let column = rows.column(place.index);
        arrays.push(if place.is_wider { cast(column, field.data_type())? } else { column.clone() });
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
