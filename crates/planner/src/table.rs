//! CREATE TABLE: from the statement to a table of the catalog, with every problem of the definition at once.

use crate::binder::positions::{Positions, locate};
use crate::binder::{Binder, coerce::sql_type_of};
use crate::bridge::typed_schema;
use crate::catalog::{BoundWatermark, CatalogTable, Catalogs};
use crate::codes;
use crate::incomplete::Incomplete;
use crate::statement_codes;
use crate::table_codes;
use base::connector::{ConnectorContext, ConnectorFactory, ConnectorRegistry, Partitioning, TableDescription};
use base::function::FunctionContext;
use base::nearest::nearest;
use base::table::{Column, WatermarkDefinition};
use base::watermark_options::{self, WatermarkOptions};
use base::{
    ColumnKind, Error, Field, LogicalType, ObjectPath, Options, PartitionField, PartitionTransform, Result, RowType,
    SqlType, TableDefinition, TimeAttribute,
};
use datafusion_common::DFSchema;
use datafusion_expr::Expr;
use functions::CastSupport;
use std::collections::BTreeSet;
use std::sync::Arc;
use syntax::ast::{Spanned, visit_expressions};
use syntax::statement::{self, CreateTable};

/// What the definition of a table is checked against.
pub struct TableContext<'a> {
    /// The connectors.
    pub connectors: &'a ConnectorRegistry,
    /// For functions from SQL expressions.
    pub catalogs: &'a Catalogs,
    /// For calls of connectors.
    pub connector: &'a ConnectorContext,
    /// For casts.
    pub functions: &'a FunctionContext,
    /// Places in the script.
    pub positions: &'a Positions<'a>,
}

/// The table that a statement defines. LIKE and AS have been worked into its definition before.
///
/// # Errors
/// Every problem of the definition.
pub fn resolve(create: &CreateTable, path: ObjectPath, context: &TableContext<'_>) -> Result<CatalogTable> {
    refuse(create, context)?;
    let mut resolver = Resolver { create, context, errors: Vec::new(), table: path.name.clone() };
    let mut columns = resolver.columns();
    let primary_key = resolver.primary_key(&mut columns);
    let partitioned_by = resolver.partitions(&columns);
    let options = resolver.options();
    let watermark = resolver.watermark(&columns);
    resolver.finish()?;
    let mut definition = TableDefinition {
        path,
        columns,
        primary_key,
        watermark,
        partitioned_by,
        options,
        comment: create.definition.comment.clone(),
    };
    let computed = computed_columns(create, &mut definition, context)?;
    let (row, watermark) = rowtime(create, &definition, context)?;
    let (factory, incomplete) = connector(create, &definition, context)?;
    check_partitioning(create, &definition, factory.as_ref(), context)?;
    let description = describe(create, &definition, factory.as_ref(), context)?;
    let declared = Arc::new(create.definition.clone());
    let temporary = create.temporary;
    Ok(CatalogTable {
        definition,
        declared,
        factory,
        description,
        row,
        computed,
        watermark,
        temporary,
        incomplete,
        hinted: false,
    })
}

/// A table with other options for one query.
///
/// # Errors
/// Options that its connector does not take.
pub fn with_options(
    table: &CatalogTable,
    options: Vec<(String, String)>,
    context: &ConnectorContext,
) -> Result<CatalogTable> {
    check_complete(table)?;
    let mut changed = table.clone();
    changed.hinted = true;
    for (key, value) in options {
        if key == "connector" && value != table.factory.name() {
            let arguments: [(&'static str, &dyn std::fmt::Display); 2] =
                [("table", &table.definition.path.name), ("connector", &value)];
            return Err(Error::new(&statement_codes::HINTED_CONNECTOR, &arguments));
        }
        changed.definition.options.set(key, value);
    }
    changed.description = changed.factory.describe(&changed.definition, context)?;
    WatermarkOptions::from_options(&changed.definition.options)?;
    Ok(changed)
}

fn refuse(create: &CreateTable, context: &TableContext<'_>) -> Result<()> {
    let definition = &create.definition;
    if let Some(format) = &definition.using {
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] = [
            ("clause", &format!("USING {}", format.value)),
            ("table", &create.name),
            ("known", &context.connectors.names().join(", ")),
        ];
        let error = Error::new(&statement_codes::SPARK_TABLE, &arguments);
        return Err(locate(error, Some(context.positions), format.span));
    }
    match definition.distribution {
        Some(_) => Err(Error::unsupported("DISTRIBUTED BY")),
        None => Ok(()),
    }
}

/// Collects the problems of one definition.
struct Resolver<'a> {
    create: &'a CreateTable,
    context: &'a TableContext<'a>,
    errors: Vec<Error>,
    table: String,
}

impl Resolver<'_> {
    fn error(&mut self, error: Error, span: syntax::Span) {
        self.errors.push(locate(error, Some(self.context.positions), span));
    }

    fn finish(self) -> Result<()> {
        Error::all(self.errors).map_or(Ok(()), Err)
    }

    fn columns(&mut self) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for column in &self.create.definition.columns {
            let name = column.name.value.clone();
            if columns.iter().any(|known| known.name == name) {
                self.error(Error::new(&table_codes::DUPLICATE_COLUMN, &[("name", &name)]), column.span);
                continue;
            }
            let (type_name, kind) = match &column.kind {
                statement::ColumnKind::Physical(type_name) => (Some(type_name), ColumnKind::Physical),
                statement::ColumnKind::Metadata { type_name, key, is_virtual } => {
                    let key = key.clone().unwrap_or_else(|| name.clone());
                    (Some(type_name), ColumnKind::Metadata { key, is_virtual: *is_virtual })
                }
                statement::ColumnKind::Computed(expr) => (None, ColumnKind::Computed { sql: expr.text.clone() }),
                statement::ColumnKind::Named => {
                    self.error(Error::unsupported("columns without a type"), column.span);
                    continue;
                }
            };
            let sql_type = match type_name.map(|type_name| (type_name.to_string().parse::<SqlType>(), type_name.span)) {
                Some((Ok(sql_type), _)) => sql_type,
                Some((Err(error), span)) => {
                    self.error(error, span);
                    continue;
                }
                // The type of a computed column is known once its expression is bound.
                None => LogicalType::Null.nullable(),
            };
            if let ColumnKind::Metadata { key, .. } = &kind
                && let Some(first) = columns
                    .iter()
                    .find(|known| matches!(&known.kind, ColumnKind::Metadata { key: other, .. } if other == key))
            {
                let error = Error::new(
                    &table_codes::DUPLICATE_METADATA,
                    &[("first", &first.name), ("second", &name), ("key", key)],
                );
                self.error(error, column.span);
                continue;
            }
            columns.push(Column { name, sql_type, kind, comment: column.comment.clone() });
        }
        columns
    }

    /// The primary key; its columns become NOT NULL.
    fn primary_key(&mut self, columns: &mut [Column]) -> Vec<String> {
        let Some(key) = &self.create.definition.primary_key else { return Vec::new() };
        let names: Vec<String> = key.columns.iter().map(|ident| ident.value.clone()).collect();
        if !key.not_enforced {
            let (table, columns) = (self.table.clone(), names.join(", "));
            self.error(Error::new(&table_codes::ENFORCED_KEY, &[("table", &table), ("columns", &columns)]), key.span);
        }
        for (index, ident) in key.columns.iter().enumerate() {
            let is_again = names[..index].contains(&ident.value);
            let why = match columns.iter_mut().find(|column| column.name == ident.value) {
                Some(_) if is_again => "it is listed twice",
                Some(column) if column.kind == ColumnKind::Physical => {
                    column.sql_type.nullable = false;
                    continue;
                }
                Some(Column { kind: ColumnKind::Computed { .. }, .. }) => "it is a computed column",
                Some(_) => "it is a metadata column",
                None => "the table has no such column",
            };
            let table = self.table.clone();
            let error =
                Error::new(&table_codes::KEY_COLUMN, &[("name", &ident.value), ("table", &table), ("why", &why)]);
            self.error(error, ident.span);
        }
        names
    }

    fn partitions(&mut self, columns: &[Column]) -> Vec<PartitionField> {
        let mut fields: Vec<PartitionField> = Vec::new();
        for written in &self.create.definition.partitioned_by {
            let ident = match written {
                statement::PartitionField::Column(ident) => ident,
                statement::PartitionField::Transform { column, .. } => column,
            };
            let Some(column) = columns.iter().find(|column| column.name == ident.value) else {
                let (table, known) = (self.table.clone(), column_names(columns));
                let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                    [("name", &ident.value), ("table", &table), ("columns", &known)];
                self.error(Error::new(&table_codes::PARTITION_COLUMN, &arguments), ident.span);
                continue;
            };
            match transform(written, column) {
                Ok(transform) => fields.push(PartitionField { column: ident.value.clone(), transform }),
                Err((text, why, span)) => {
                    let error = Error::new(&statement_codes::PARTITION_TRANSFORM, &[("text", &text), ("why", &why)]);
                    self.error(error, span);
                }
            }
        }
        fields
    }

    fn options(&mut self) -> Options {
        for option in &self.create.definition.options {
            if is_placeholder(&option.value) {
                let table = self.table.clone();
                let error = Error::new(
                    &table_codes::PLACEHOLDER_OPTION,
                    &[("key", &option.key), ("table", &table), ("value", &option.value)],
                );
                self.error(error, option.value_span);
            }
        }
        self.create.definition.options.iter().map(|option| (option.key.clone(), option.value.clone())).collect()
    }

    fn watermark(&mut self, columns: &[Column]) -> Option<WatermarkDefinition> {
        let watermark = self.create.definition.watermark.as_ref()?;
        let [ident] = watermark.column.as_slice() else {
            self.error(Error::unsupported("WATERMARK FOR a nested field"), watermark.span);
            return None;
        };
        if !columns.iter().any(|column| column.name == ident.value) {
            let (table, known) = (self.table.clone(), column_names(columns));
            let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
                [("name", &ident.value), ("table", &table), ("columns", &known)];
            self.error(Error::new(&table_codes::WATERMARK_COLUMN, &arguments), ident.span);
            return None;
        }
        Some(WatermarkDefinition { column: ident.value.clone(), sql: watermark.expression.text.clone() })
    }
}

/// The transform of an entry of PARTITIONED BY; else its text, what is wrong with it, and its place.
fn transform(
    written: &statement::PartitionField,
    of: &Column,
) -> Result<PartitionTransform, (String, String, syntax::Span)> {
    let statement::PartitionField::Transform { name, argument, column, span } = written else {
        return Ok(PartitionTransform::Identity);
    };
    let number = argument.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
    let text = match argument {
        Some(number) => format!("{name}({number}, {})", column.value),
        None => format!("{name}({})", column.value),
    };
    let time = matches!(name.as_str(), "year" | "years" | "month" | "months" | "day" | "days" | "hour" | "hours");
    let logical = &of.sql_type.logical;
    let divisible = logical.is_timestamp() || *logical == LogicalType::Date && !name.starts_with("hour");
    if time && !divisible {
        return Err((text, format!("{} is {logical}, not a time", column.value), *span));
    }
    Ok(match (name.as_str(), argument, number) {
        ("year" | "years", None, _) => PartitionTransform::Years,
        ("month" | "months", None, _) => PartitionTransform::Months,
        ("day" | "days", None, _) => PartitionTransform::Days,
        ("hour" | "hours", None, _) => PartitionTransform::Hours,
        ("bucket", Some(_), Some(count)) => PartitionTransform::Bucket(count),
        ("truncate", Some(_), Some(width)) => PartitionTransform::Truncate(width),
        ("bucket" | "truncate", ..) => {
            return Err((text, format!("{name} takes a number above 0 and a column"), *span));
        }
        _ if time => return Err((text, format!("{name} takes a column only"), *span)),
        _ => return Err((text, format!("there is no transform {name}"), *span)),
    })
}

fn column_names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Values that people paste from templates.
fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    matches!(value, "..." | "…") || value.starts_with('<') && value.ends_with('>') && !value.contains(' ')
}

/// Binds the computed columns and gives them their types.
fn computed_columns(
    create: &CreateTable,
    definition: &mut TableDefinition,
    context: &TableContext<'_>,
) -> Result<Vec<Option<Expr>>> {
    let stored: Vec<Field> = definition
        .columns
        .iter()
        .filter(|column| !matches!(column.kind, ColumnKind::Computed { .. }))
        .map(|column| Field::new(column.name.clone(), column.sql_type.clone()))
        .collect();
    let row = RowType::new(stored);
    let computed_names: BTreeSet<&str> = create
        .definition
        .columns
        .iter()
        .filter(|column| matches!(column.kind, statement::ColumnKind::Computed(_)))
        .map(|column| column.name.value.as_str())
        .collect();
    let binder = Binder::new(context.catalogs, context.functions.clone(), Some(context.positions));
    let schema = plain_schema(&row)?;
    let mut bound = Vec::with_capacity(definition.columns.len());
    let mut errors = Vec::new();
    for (column, written) in definition.columns.iter_mut().zip(&create.definition.columns) {
        let statement::ColumnKind::Computed(text) = &written.kind else {
            bound.push(None);
            continue;
        };
        let result = refers_to(&text.expr, &computed_names)
            .map_or(Ok(()), |other| {
                Err(Error::new(&codes::COMPUTED_COLUMN, &[("name", &column.name), ("other", &other)]))
            })
            .and_then(|()| binder.expression(&text.expr, &row));
        match result {
            Ok(expr) => {
                column.sql_type = sql_type_of(&expr, &schema).map_err(Error::internal)?;
                bound.push(Some(expr));
            }
            Err(error) => {
                errors.push(locate(error, Some(context.positions), text.span));
                bound.push(None);
            }
        }
    }
    Error::all(errors).map_or(Ok(bound), Err)
}

/// The first of `names` that an expression uses as a column.
fn refers_to(expr: &syntax::ast::Expr, names: &BTreeSet<&str>) -> Option<String> {
    let mut found = None;
    let _ = visit_expressions(expr, |part| {
        if let syntax::ast::Expr::Identifier(ident) = part
            && names.contains(ident.value.as_str())
        {
            found = Some(ident.value.clone());
            return std::ops::ControlFlow::Break(());
        }
        std::ops::ControlFlow::Continue(())
    });
    found
}

/// The schema of a row without qualifiers.
pub fn plain_schema(row: &RowType) -> Result<DFSchema> {
    DFSchema::try_from(typed_schema(row).as_ref().clone()).map_err(Error::internal)
}

/// The row of the table with its time attributes, and the bound watermark.
fn rowtime(
    create: &CreateTable,
    definition: &TableDefinition,
    context: &TableContext<'_>,
) -> Result<(RowType, Option<BoundWatermark>)> {
    let mut fields: Vec<Field> = definition
        .columns
        .iter()
        .zip(&create.definition.columns)
        .map(|(column, written)| {
            let mut field = Field::new(column.name.clone(), column.sql_type.clone());
            if is_proctime(&written.kind) {
                field.time = Some(TimeAttribute::Proctime);
            }
            field
        })
        .collect();
    let Some((clause, written)) = definition.watermark.as_ref().zip(create.definition.watermark.as_ref()) else {
        return Ok((RowType::new(fields), None));
    };
    let row = RowType::new(fields.clone());
    let column = row.index_of(&clause.column).ok_or_else(|| Error::internal("the watermark column was not checked"))?;
    let sql_type = &fields[column].sql_type;
    // Flink stops at precision 3; any precision works here, watermarks are rounded down to milliseconds.
    if !sql_type.logical.is_timestamp() {
        let error = watermark_type(&clause.column, &sql_type.logical);
        return Err(locate(error, Some(context.positions), written.span));
    }
    let binder = Binder::new(context.catalogs, context.functions.clone(), Some(context.positions));
    let expression = binder
        .expression(&written.expression.expr, &row)
        .map_err(|error| locate(error, Some(context.positions), written.expression.span))?;
    let result = sql_type_of(&expression, &plain_schema(&row)?).map_err(Error::internal)?;
    if !result.logical.is_timestamp() {
        let error =
            Error::new(&table_codes::WATERMARK_EXPRESSION, &[("name", &clause.column), ("type", &result.logical)]);
        return Err(locate(error, Some(context.positions), written.expression.span));
    }
    fields[column].time = Some(TimeAttribute::Rowtime);
    Ok((RowType::new(fields), Some(BoundWatermark { column, expression, sql: clause.sql.clone() })))
}

fn watermark_type(name: &str, logical: &LogicalType) -> Error {
    let fix = match logical {
        logical if logical.is_string() => {
            format!("add a column: ts AS TO_TIMESTAMP({name}), and write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND")
        }
        LogicalType::BigInt => {
            format!(
                "add a column: ts AS TO_TIMESTAMP_LTZ({name}, 3), and write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
            )
        }
        _ => format!("declare it as {name} TIMESTAMP(3)"),
    };
    Error::new(&table_codes::WATERMARK_TYPE, &[("name", &name), ("type", logical), ("fix", &fix)])
}

/// `c AS PROCTIME()`.
fn is_proctime(kind: &statement::ColumnKind) -> bool {
    match kind {
        statement::ColumnKind::Computed(text) => match &text.expr {
            syntax::ast::Expr::Function(function) => function.name.to_string().eq_ignore_ascii_case("PROCTIME"),
            _ => false,
        },
        _ => false,
    }
}

/// The connector; a table without one can be completed by LIKE, ALTER TABLE or nothing at all, but not be used.
fn connector(
    create: &CreateTable,
    definition: &TableDefinition,
    context: &TableContext<'_>,
) -> Result<(Arc<dyn ConnectorFactory>, Option<Error>)> {
    let known = context.connectors.names();
    let list = known.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let Some(option) = create.definition.options.iter().find(|option| option.key == "connector") else {
        let name = &definition.path.name;
        let error = Error::new(&table_codes::MISSING_CONNECTOR, &[("table", name), ("known", &list)]);
        let error = locate(error, Some(context.positions), create.name.span());
        return Ok((Arc::new(Incomplete), Some(error)));
    };
    let name = option.value.as_str();
    if let Some(factory) = context.connectors.get(name) {
        return Ok((factory.clone(), None));
    }
    let elsewhere = match name {
        cdc if cdc.ends_with("-cdc") => Some(&table_codes::CDC_CONNECTOR),
        other => {
            let is_of_flink = FLINK_CONNECTORS.iter().any(|known| other.starts_with(known));
            is_of_flink.then_some(&table_codes::FLINK_CONNECTOR)
        }
    };
    if let Some(code) = elsewhere {
        let error = Error::new(code, &[("connector", &name), ("known", &list)]);
        return Err(locate(error, Some(context.positions), option.value_span));
    }
    let hint = match nearest(name, known.iter().copied()).first() {
        Some(near) => format!("'connector' = '{near}'"),
        None => format!("'connector' = {}", list.replace(", ", " / ")),
    };
    let table = &definition.path.name;
    let arguments: [(&'static str, &dyn std::fmt::Display); 4] =
        [("table", table), ("connector", &name), ("known", &list), ("hint", &hint)];
    Err(locate(Error::new(&table_codes::UNKNOWN_CONNECTOR, &arguments), Some(context.positions), option.value_span))
}

/// What the names of connectors begin with that people use with Flink and this version does not have.
const FLINK_CONNECTORS: [&str; 20] = [
    "clickhouse",
    "delta",
    "doris",
    "dynamodb",
    "elasticsearch",
    "firehose",
    "hbase",
    "hive",
    "hudi",
    "iceberg",
    "kinesis",
    "kudu",
    "mongodb",
    "opensearch",
    "paimon",
    "pulsar",
    "rabbitmq",
    "redis",
    "rocketmq",
    "starrocks",
];

/// PARTITIONED BY against what the connector has.
fn check_partitioning(
    create: &CreateTable,
    definition: &TableDefinition,
    factory: &dyn ConnectorFactory,
    context: &TableContext<'_>,
) -> Result<()> {
    let wanted = match definition.partitioned_by.iter().all(|field| field.transform == PartitionTransform::Identity) {
        _ if definition.partitioned_by.is_empty() => Partitioning::None,
        true => Partitioning::Columns,
        false => Partitioning::Transforms,
    };
    if wanted <= factory.partitioning() {
        return Ok(());
    }
    let (table, connector) = (&definition.path.name, factory.name());
    let error = match factory.partitioning() {
        Partitioning::Columns => {
            Error::unsupported(format!("transforms in PARTITIONED BY with connector '{connector}'"))
        }
        _ => Error::new(&statement_codes::NO_PARTITIONS, &[("table", table), ("connector", &connector)]),
    };
    let span = create.definition.partitioned_by.first().map_or(syntax::Span::empty(), |field| match field {
        statement::PartitionField::Column(ident) => ident.span,
        statement::PartitionField::Transform { span, .. } => *span,
    });
    Err(locate(error, Some(context.positions), span))
}

/// What the connector makes of the table, with every problem of its options and metadata columns.
fn describe(
    create: &CreateTable,
    definition: &TableDefinition,
    factory: &dyn ConnectorFactory,
    context: &TableContext<'_>,
) -> Result<TableDescription> {
    let (description, mut errors) = match factory.describe(definition, context.connector) {
        Ok(description) => (Some(description), Vec::new()),
        Err(refusal) => describe_completed(definition, refusal, factory, context),
    };
    let complete = errors.is_empty();
    errors.extend(check_watermark_options(create, definition, complete, context).err());
    if let Some(description) = &description {
        errors.extend(check_metadata(create, definition, description, factory.name(), context).err());
    }
    match (Error::all(errors), description) {
        (None, Some(description)) => Ok(description),
        (error, _) => Err(error.unwrap_or_else(|| Error::internal("a connector refused a table without a reason"))),
    }
}

/// How often a table is completed: one missing option may hide others.
const COMPLETED_MAX: usize = 4;

/// What the connector would make of the table with the options that it misses, and everything that it misses: what else is
/// wrong with the table is known from that.
fn describe_completed(
    definition: &TableDefinition,
    refusal: Error,
    factory: &dyn ConnectorFactory,
    context: &TableContext<'_>,
) -> (Option<TableDescription>, Vec<Error>) {
    let mut completed = definition.clone();
    let mut errors = vec![refusal];
    for _ in 0..COMPLETED_MAX {
        let Some(missing) = errors.last().and_then(missing_options) else { break };
        for key in missing {
            completed.options.set(key, "?");
        }
        match factory.describe(&completed, context.connector) {
            Ok(description) => return (Some(description), errors),
            Err(refusal) if missing_options(&refusal).is_some() => errors.push(refusal),
            // It may be about the stand-ins.
            Err(_) => break,
        }
    }
    (None, errors)
}

/// The options that a refusal is about, if nothing but missing options is wrong.
pub fn missing_options(refusal: &Error) -> Option<Vec<&str>> {
    let is_missing = refusal.code() == base::options::MISSING_OPTION.code;
    let mut missing = vec![refusal.argument("key").filter(|_| is_missing)?];
    for other in refusal.others() {
        missing.extend(missing_options(other)?);
    }
    Some(missing)
}

/// `scan.watermark.*`. `complete` says that the connector has found nothing wrong with any option.
fn check_watermark_options(
    create: &CreateTable,
    definition: &TableDefinition,
    complete: bool,
    context: &TableContext<'_>,
) -> Result<()> {
    let known = |key: &str| watermark_options::OPTIONS.iter().any(|option| option.key == key);
    let Some(option) = create.definition.options.iter().find(|option| known(&option.key)) else { return Ok(()) };
    let result = if definition.watermark.is_none() {
        let timestamps = definition.physical().find(|column| column.sql_type.logical.is_timestamp());
        let column = timestamps.map_or("ts", |column| column.name.as_str());
        let arguments: [(&'static str, &dyn std::fmt::Display); 3] =
            [("key", &option.key), ("table", &definition.path.name), ("column", &column)];
        Err(Error::new(&table_codes::WATERMARK_OPTION, &arguments))
    } else if complete {
        WatermarkOptions::from_options(&definition.options).map(|_| ())
    } else {
        Ok(())
    };
    result.map_err(|error| locate(error, Some(context.positions), option.key_span))
}

/// Metadata columns against what the connector offers.
fn check_metadata(
    create: &CreateTable,
    definition: &TableDefinition,
    description: &TableDescription,
    connector: &str,
    context: &TableContext<'_>,
) -> Result<()> {
    let offered = description.source.as_ref().map(|source| source.metadata.as_slice()).unwrap_or_default();
    let mut errors = Vec::new();
    for (column, written) in definition.columns.iter().zip(&create.definition.columns) {
        let ColumnKind::Metadata { key, .. } = &column.kind else { continue };
        let error = match offered.iter().find(|metadata| metadata.key == *key) {
            None => {
                let names: Vec<&str> = offered.iter().map(|metadata| metadata.key.as_str()).collect();
                unknown_metadata(&definition.path.name, key, connector, &names)
            }
            Some(metadata) => {
                if !matches!(functions::can_cast(&metadata.sql_type, &column.sql_type), CastSupport::No) {
                    continue;
                }
                Error::new(
                    &table_codes::METADATA_TYPE,
                    &[
                        ("column", &column.name),
                        ("declared", &column.sql_type.logical),
                        ("key", key),
                        ("actual", &metadata.sql_type.logical),
                    ],
                )
            }
        };
        errors.push(locate(error, Some(context.positions), written.span));
    }
    Error::all(errors).map_or(Ok(()), Err)
}

fn unknown_metadata(table: &str, key: &str, connector: &str, names: &[&str]) -> Error {
    let known = match names {
        [] => "no metadata".to_string(),
        names => names.join(", "),
    };
    // A key that was put too deep or too high is near, too: value.source.op for value.op.
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_string();
    let same_end = names.iter().copied().find(|name| last(name) == last(key));
    let hint = match same_end.or_else(|| nearest(key, names.iter().copied()).first().copied()) {
        Some(near) => format!("did you mean METADATA FROM '{near}'?"),
        None if names.is_empty() => "remove the column".to_string(),
        None => "use one of these keys".to_string(),
    };
    Error::new(
        &table_codes::UNKNOWN_METADATA,
        &[("table", &table), ("key", &key), ("connector", &connector), ("known", &known), ("hint", &hint)],
    )
}

/// Whether a table can be the source of a query.
///
/// # Errors
/// Its connector only writes.
pub fn check_readable(table: &CatalogTable) -> Result<()> {
    check_complete(table)?;
    if table.description.source.is_some() {
        return Ok(());
    }
    Err(Error::new(
        &codes::NOT_A_SOURCE,
        &[("table", &table.definition.path.name), ("connector", &table.factory.name())],
    ))
}

/// Whether a table has a connector.
///
/// # Errors
/// It has none yet.
pub fn check_complete(table: &CatalogTable) -> Result<()> {
    table.incomplete.clone().map_or(Ok(()), Err)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
