//! Connectors `datagen` and `faker`: generated rows, the same ones for the same seed at any parallelism.
//!
//! Both names take the same options. Every value is a function of seed, field and row number, so that a position is a
//! row number and no state has to be kept.

mod columns;
mod draw;
mod expression;
mod fields;
mod options;
mod schedule;
mod source;

use self::fields::{FieldGenerator, Integers, Values};
use self::options::{Ordering, TableOptions};
use crate::codes;
use crate::declared;
use base::connector::*;
use base::{ChangelogMode, Error, OptionSpec, Result, RowType, TableDefinition};
use std::sync::{Arc, Mutex};

const OWNER: &str = "connector 'datagen'";

/// The factory, under one of its names.
#[derive(Debug)]
pub(crate) struct Datagen(&'static str);

impl Datagen {
    /// `'connector' = 'datagen'`.
    pub fn generator() -> Datagen {
        Datagen("datagen")
    }

    /// `'connector' = 'faker'`.
    pub fn faker() -> Datagen {
        Datagen("faker")
    }
}

/// A checked definition.
struct Definition {
    options: TableOptions,
    fields: Vec<FieldGenerator>,
    /// Rows in all, from `number-of-rows` and the ends of sequences.
    rows: Option<u64>,
}

impl ConnectorFactory for Datagen {
    fn name(&self) -> &'static str {
        self.0
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::all()
    }

    fn describe(&self, table: &TableDefinition, _: &ConnectorContext) -> Result<TableDescription> {
        let definition = read(table)?;
        let changelog = matches!(definition.options.order, Ordering::Changelog { .. });
        Ok(TableDescription {
            source: Some(SourceDescription {
                changelog: if changelog { ChangelogMode::ALL } else { ChangelogMode::APPEND },
                bounded: definition.rows.is_some(),
                replayable: true,
                metadata: Vec::new(),
            }),
            sink: None,
            warnings: Vec::new(),
        })
    }

    fn source(
        &self,
        table: &TableDefinition,
        scan: &ScanSpec,
        context: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>> {
        let Definition { options, fields, rows } = read(table)?;
        let wanted = scan
            .physical
            .iter()
            .map(|name| {
                let field = fields.iter().find(|field| field.path == *name);
                let field = field.ok_or_else(|| Error::internal(format!("no generator for column {name}")))?;
                Ok((field.clone(), options.update_fields.contains(name)))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(source::DatagenSource {
            table: table.path.name.clone(),
            options,
            rows,
            parallelism: declared::positive(&table.options, &declared::SCAN_PARALLELISM)?,
            fields: Arc::new(wanted),
            output: scan.output.clone(),
            time_zone: context.time_zone,
            clock: context.clock.clone(),
            run: Mutex::new(None),
        }))
    }

    fn sink(&self, table: &TableDefinition, _: &RowType, _: &ConnectorContext) -> Result<Arc<dyn SinkProvider>> {
        Err(declared::wrong_direction(table, OWNER, "sink"))
    }
}

fn read(table: &TableDefinition) -> Result<Definition> {
    let (options, field_options) = options::read(table, &fields::paths(table))?;
    let (fields, sequence_rows) = fields::compile(table, &field_options)?;
    let rows = match (options.number_of_rows, sequence_rows) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    if matches!(options.order, Ordering::Changelog { .. }) {
        check_key(table, &fields)?;
    }
    let plan = schedule::Plan::new(options.order, options.event_step_ns, rows, 1, 0);
    if plan.reach() > schedule::WAITING_ROWS_MAX {
        let step = format!("{:?}", std::time::Duration::from_nanos(options.event_step_ns));
        return Err(Error::new(
            &codes::TOO_MUCH_DISORDER,
            &[("step", &step), ("rows", &plan.reach()), ("limit", &schedule::WAITING_ROWS_MAX)],
        ));
    }
    Ok(Definition { options, fields, rows })
}

/// A changelog needs a primary key, and one that does not repeat.
fn check_key(table: &TableDefinition, fields: &[FieldGenerator]) -> Result<()> {
    let Some(first) = table.primary_key.first() else {
        let reason = "'changelog' = 'true' updates and deletes rows by their key";
        return Err(Error::new(
            &codes::NEEDS_PRIMARY_KEY,
            &[("owner", &OWNER), ("reason", &reason), ("table", &table.path.name)],
        ));
    };
    let is_sequence = |field: &FieldGenerator| matches!(field.values, Values::Integer(Integers::Sequence { .. }));
    let unique = fields.iter().any(|field| table.primary_key.contains(&field.path) && is_sequence(field));
    if unique {
        return Ok(());
    }
    Err(Error::new(&codes::KEY_NOT_UNIQUE, &[("table", &table.path.name), ("column", first)]))
}

#[cfg(test)]
#[path = "datagen_tests.rs"]
mod tests;
