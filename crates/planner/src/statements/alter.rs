//! ALTER: a changed definition is checked like a new one.

use super::definitions::{TableChange, store_view};
use super::{database_name, object_path};
use crate::binder::positions::{Positions, locate};
use crate::catalog::{CatalogObject, CatalogTable, View};
use crate::codes;
use crate::session::{Outcome, Session};
use crate::statement_codes;
use base::nearest::nearest;
use base::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::Span;
use syntax::ast::{Expr, Ident, Spanned, visit_expressions};
use syntax::statement::{
    AlterOperation, AlterSpace, AlterTable, AlterView, Column, ColumnKind, ColumnPosition, ObjectKind, PartitionField,
    SpaceOperation, TableDefinition, ViewOperation,
};

/// ALTER TABLE.
pub fn table(
    session: &mut Session,
    alter: &AlterTable,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let path = object_path(session, &alter.name)?;
    if session.catalogs.get(&path).is_none() && alter.if_exists {
        return Ok(Outcome::Done);
    }
    let at_name = |error: Error| locate(error, Some(positions), alter.name.span());
    let table = session.catalogs.table(&path).map_err(at_name)?.clone();
    if let AlterOperation::RenameTable(name) = &alter.operation {
        let mut parts = super::name_parts(name);
        if parts.len() == 1 {
            // A plain name stays where the table is.
            parts = vec![path.catalog.clone(), path.database.clone(), parts.remove(0)];
        }
        let target = session.catalogs.path(&parts)?;
        if let Some(other) = session.catalogs.get(&target) {
            let error = Error::new(&codes::ALREADY_EXISTS, &[("kind", &other.kind()), ("name", &target.name)]);
            return Err(locate(error, Some(positions), name.span()));
        }
        let mut renamed = CatalogTable::clone(&table);
        renamed.definition.path = target.clone();
        session.catalogs.put(&target, CatalogObject::Table(Arc::new(renamed)))?;
        session.catalogs.remove(&path);
        return Ok(Outcome::Done);
    }
    let definition = Change { table: &table, alter, positions }.apply()?;
    let written = match &alter.operation {
        AlterOperation::SetOptions(options) => options.as_slice(),
        _ => &[],
    };
    let change = TableChange { name: &alter.name, path, definition, written, temporary: table.temporary };
    change.store(session, positions, warnings)
}

/// One ALTER TABLE.
struct Change<'a> {
    table: &'a CatalogTable,
    alter: &'a AlterTable,
    positions: &'a Positions<'a>,
}

impl Change<'_> {
    fn error<T>(&self, problem: String, why: &str, fix: String, span: Span) -> Result<T> {
        let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
            [("table", &self.table.definition.path.name), ("problem", &problem), ("why", &why), ("fix", &fix)];
        Err(locate(Error::new(&statement_codes::ALTER_COLUMN, &arguments), Some(self.positions), span))
    }

    fn apply(&self) -> Result<TableDefinition> {
        let mut definition = TableDefinition::clone(&self.table.declared);
        let here = self.alter.name.span();
        match &self.alter.operation {
            AlterOperation::SetOptions(options) => {
                for option in options {
                    definition.options.retain(|known| known.key != option.key);
                    definition.options.push(option.clone());
                }
            }
            AlterOperation::ResetOptions(keys) => {
                for key in keys {
                    if key == "connector" {
                        return self.error(
                            "option 'connector' cannot be reset".into(),
                            "a table without a connector can be neither read nor written",
                            "set another one: SET ('connector' = '...')".into(),
                            here,
                        );
                    }
                    definition.options.retain(|known| known.key != *key);
                }
            }
            AlterOperation::Add(added) => self.add(&mut definition, added)?,
            AlterOperation::Modify(changed) => self.modify(&mut definition, changed)?,
            AlterOperation::RenameColumn { from, to } => self.rename(&mut definition, from, to)?,
            AlterOperation::DropColumns(names) => self.drop_columns(&mut definition, names)?,
            AlterOperation::DropPrimaryKey => self.drop_key(&mut definition, None)?,
            AlterOperation::DropConstraint(name) => self.drop_key(&mut definition, Some(name))?,
            AlterOperation::DropWatermark => {
                if definition.watermark.take().is_none() {
                    return self.error("it has no WATERMARK to drop".into(), "", String::new(), here);
                }
            }
            AlterOperation::SetPartitionSpec(fields) => definition.partitioned_by = fields.clone(),
            AlterOperation::DropDistribution => definition.distribution = None,
            AlterOperation::RenameTable(_) => return Err(Error::internal("a renamed table has the same definition")),
            AlterOperation::Other(text) => {
                let words: Vec<&str> = text.split_whitespace().take(2).collect();
                return Err(locate(
                    Error::unsupported(format!("ALTER TABLE ... {}", words.join(" "))),
                    Some(self.positions),
                    here,
                ));
            }
        }
        Ok(definition)
    }

    fn place(&self, definition: &TableDefinition, name: &Ident) -> Result<usize> {
        if let Some(place) = definition.columns.iter().position(|column| column.name.value == name.value) {
            return Ok(place);
        }
        let names: Vec<&str> = definition.columns.iter().map(|column| column.name.value.as_str()).collect();
        let fix = match nearest(&name.value, names.iter().copied()).first() {
            Some(near) => format!("did you mean {near}?"),
            None => format!("columns: {}", names.join(", ")),
        };
        self.error(format!("it has no column {}", name.value), "column names are case-sensitive", fix, name.span)
    }

    fn insert(&self, definition: &mut TableDefinition, column: &Column) -> Result<()> {
        let place = match &column.position {
            Some(ColumnPosition::First) => 0,
            Some(ColumnPosition::After(name)) => self.place(definition, name)? + 1,
            None => definition.columns.len(),
        };
        definition.columns.insert(place, Column { position: None, ..column.clone() });
        Ok(())
    }

    fn add(&self, definition: &mut TableDefinition, added: &TableDefinition) -> Result<()> {
        for column in &added.columns {
            let name = &column.name.value;
            if definition.columns.iter().any(|known| known.name.value == *name) {
                let fix = format!("change it: ALTER TABLE {} MODIFY {name} ...", self.alter.name);
                return self.error(format!("it has a column {name} already"), "", fix, column.span);
            }
            self.insert(definition, column)?;
        }
        if let Some(key) = &added.primary_key {
            if let Some(known) = &definition.primary_key {
                let names: Vec<&str> = known.columns.iter().map(|column| column.value.as_str()).collect();
                let fix = "drop it first, or write MODIFY PRIMARY KEY".to_string();
                let problem = format!("it has the PRIMARY KEY ({}) already", names.join(", "));
                return self.error(problem, "", fix, key.span);
            }
            definition.primary_key = Some(key.clone());
        }
        if let Some(watermark) = &added.watermark {
            if definition.watermark.is_some() {
                let fix = "write MODIFY WATERMARK".to_string();
                return self.error("it has a WATERMARK already".into(), "", fix, watermark.span);
            }
            definition.watermark = Some(watermark.clone());
        }
        if added.distribution.is_some() {
            definition.distribution = added.distribution.clone();
        }
        Ok(())
    }

    fn modify(&self, definition: &mut TableDefinition, changed: &TableDefinition) -> Result<()> {
        for column in &changed.columns {
            let place = self.place(definition, &column.name)?;
            match column.position {
                None => definition.columns[place] = column.clone(),
                Some(_) => {
                    definition.columns.remove(place);
                    self.insert(definition, column)?;
                }
            }
        }
        let here = self.alter.name.span();
        if changed.primary_key.is_some() {
            if definition.primary_key.is_none() {
                let fix = "write ADD PRIMARY KEY (...) NOT ENFORCED".to_string();
                return self.error("it has no PRIMARY KEY to modify".into(), "", fix, here);
            }
            definition.primary_key = changed.primary_key.clone();
        }
        if changed.watermark.is_some() {
            if definition.watermark.is_none() {
                let fix = "write ADD WATERMARK FOR ...".to_string();
                return self.error("it has no WATERMARK to modify".into(), "", fix, here);
            }
            definition.watermark = changed.watermark.clone();
        }
        if changed.distribution.is_some() {
            definition.distribution = changed.distribution.clone();
        }
        Ok(())
    }

    fn rename(&self, definition: &mut TableDefinition, from: &[Ident], to: &Ident) -> Result<()> {
        let [name] = from else { return Err(Error::unsupported("RENAME of a nested field")) };
        let place = self.place(definition, name)?;
        if definition.columns.iter().any(|column| column.name.value == to.value) {
            return self.error(format!("it has a column {} already", to.value), "", String::new(), to.span);
        }
        self.refuse_used(definition, &[&name.value], "renamed", name.span)?;
        definition.columns[place].name = to.clone();
        let rename = |ident: &mut Ident| {
            if ident.value == name.value {
                *ident = to.clone();
            }
        };
        definition.primary_key.iter_mut().flat_map(|key| &mut key.columns).for_each(rename);
        definition.partitioned_by.iter_mut().for_each(|field| match field {
            PartitionField::Column(ident) | PartitionField::Transform { column: ident, .. } => rename(ident),
        });
        Ok(())
    }

    fn drop_columns(&self, definition: &mut TableDefinition, names: &[Ident]) -> Result<()> {
        let dropped: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
        for name in names {
            self.place(definition, name)?;
            let in_key = definition.primary_key.iter().flat_map(|key| &key.columns).any(|one| one.value == name.value);
            if in_key {
                let problem = format!("column {} is part of the PRIMARY KEY", name.value);
                return self.error(problem, "", "DROP PRIMARY KEY first".into(), name.span);
            }
            let in_partitions = definition.partitioned_by.iter().any(|field| match field {
                PartitionField::Column(ident) | PartitionField::Transform { column: ident, .. } => {
                    ident.value == name.value
                }
            });
            if in_partitions {
                let problem = format!("column {} is in PARTITIONED BY", name.value);
                return self.error(problem, "", "create the table anew".into(), name.span);
            }
            self.refuse_used(definition, &dropped, "dropped", name.span)?;
        }
        definition.columns.retain(|column| !dropped.contains(&column.name.value.as_str()));
        match definition.columns.is_empty() {
            true => self.error("no column would be left".into(), "", String::new(), self.alter.name.span()),
            false => Ok(()),
        }
    }

    /// Refuses what a computed column or the watermark uses, unless that is dropped too.
    fn refuse_used(&self, definition: &TableDefinition, names: &[&str], done: &str, span: Span) -> Result<()> {
        for column in &definition.columns {
            if let ColumnKind::Computed(text) = &column.kind
                && !names.contains(&column.name.value.as_str())
                && let Some(used) = used(&text.expr, names)
            {
                let problem = format!("column {used} cannot be {done}: computed column {} uses it", column.name.value);
                return self.error(problem, "", format!("change {} first", column.name.value), span);
            }
        }
        if let Some(watermark) = &definition.watermark {
            let own = watermark.column.first().map(|ident| ident.value.as_str());
            let own = own.filter(|own| names.contains(own)).map(str::to_string);
            if let Some(used) = own.or_else(|| used(&watermark.expression.expr, names)) {
                let problem = format!("column {used} cannot be {done}: the WATERMARK uses it");
                return self.error(problem, "", "DROP WATERMARK first".into(), span);
            }
        }
        Ok(())
    }

    fn drop_key(&self, definition: &mut TableDefinition, name: Option<&Ident>) -> Result<()> {
        let here = name.map_or_else(|| self.alter.name.span(), |name| name.span);
        let Some(key) = &definition.primary_key else {
            return self.error("it has no PRIMARY KEY to drop".into(), "", String::new(), here);
        };
        let known =
            key.name.as_ref().map(|name| name.value.clone()).unwrap_or_else(|| {
                super::show_create::key_name(key.columns.iter().map(|column| column.value.as_str()))
            });
        if let Some(name) = name
            && name.value != known
        {
            return self.error(format!("it has no constraint {}", name.value), "", format!("its key is {known}"), here);
        }
        definition.primary_key = None;
        Ok(())
    }
}

/// The first of some columns that an expression uses.
fn used(expr: &Expr, names: &[&str]) -> Option<String> {
    let mut found = None;
    let _ = visit_expressions(expr, |part| {
        let name = match part {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.first(),
            _ => None,
        };
        match name.filter(|ident| names.contains(&ident.value.as_str())) {
            Some(ident) => {
                found = Some(ident.value.clone());
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    });
    found
}

/// ALTER VIEW.
pub fn view(
    session: &mut Session,
    alter: &AlterView,
    positions: &Positions<'_>,
    warnings: &mut Vec<Error>,
) -> Result<Outcome> {
    let path = object_path(session, &alter.name)?;
    let at_name = |error: Error| locate(error, Some(positions), alter.name.span());
    let view = match session.catalogs.get(&path) {
        None if alter.if_exists => return Ok(Outcome::Done),
        Some(CatalogObject::View(view)) => view.clone(),
        Some(_) => {
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("name", &path.name), ("kind", &"a table"), ("wanted", &"view")];
            return Err(at_name(Error::new(&codes::NOT_A_TABLE, &arguments)));
        }
        None => return session.catalogs.object(&path).map(|_| Outcome::Done).map_err(at_name),
    };
    match &alter.operation {
        ViewOperation::Rename(name) => {
            let mut parts = super::name_parts(name);
            if parts.len() == 1 {
                parts = vec![path.catalog.clone(), path.database.clone(), parts.remove(0)];
            }
            let target = session.catalogs.path(&parts)?;
            if let Some(other) = session.catalogs.get(&target) {
                let error = Error::new(&codes::ALREADY_EXISTS, &[("kind", &other.kind()), ("name", &target.name)]);
                return Err(locate(error, Some(positions), name.span()));
            }
            let renamed = View { path: target.clone(), ..View::clone(&view) };
            session.catalogs.put(&target, CatalogObject::View(Arc::new(renamed)))?;
            session.catalogs.remove(&path);
        }
        ViewOperation::Query(query) => {
            let home =
                (session.catalogs.current_catalog().to_string(), session.catalogs.current_database().to_string());
            let changed = View { query: query.query.clone(), sql: query.text.clone(), home, ..View::clone(&view) };
            return store_view(session, changed, &alter.name, positions, warnings);
        }
    }
    Ok(Outcome::Done)
}

/// ALTER CATALOG and ALTER DATABASE.
pub fn space(session: &mut Session, alter: &AlterSpace, positions: &Positions<'_>) -> Result<Outcome> {
    let at_name = |error: Error| locate(error, Some(positions), alter.name.span());
    if let SpaceOperation::Set(options) = &alter.operation
        && alter.kind == ObjectKind::Catalog
    {
        super::spaces::check_options(options, positions)?;
    }
    let properties = match alter.kind {
        ObjectKind::Catalog => session.catalogs.catalog_properties(&super::name_parts(&alter.name).join(".")),
        _ => {
            let (catalog, database) = database_name(session, &alter.name)?;
            session.catalogs.database_properties(&catalog, &database)
        }
    }
    .map_err(at_name)?;
    match &alter.operation {
        SpaceOperation::Set(options) => {
            for option in options {
                properties.options.set(&option.key, &option.value);
            }
        }
        SpaceOperation::Reset(keys) => {
            for key in keys.iter().filter(|key| *key != "type") {
                properties.options.remove(key);
            }
        }
        SpaceOperation::Comment(comment) => properties.comment = Some(comment.clone()),
    }
    Ok(Outcome::Done)
}
