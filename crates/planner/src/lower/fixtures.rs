//! A connector, functions and tables for tests that plan by hand.

use super::{LowerContext, ResultSink, SinkQuery, SinkTarget, plan};
use crate::bridge::{aggregate_udf, scalar_udf};
use crate::catalog::{BoundWatermark, CatalogTable, DEFAULT_CATALOG, DEFAULT_DATABASE};
use crate::table_source::CatalogTableSource;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int32Array};
use arrow::datatypes::{FieldRef, Int32Type};
use base::changelog::RowKind;
use base::clock::ManualClock;
use base::config::JobConfig;
use base::connector::*;
use base::function::*;
use base::plan::{NotNullEnforcer, StreamPlan};
use base::table::{Column, ColumnKind, ObjectPath, TableDefinition, WatermarkDefinition};
use base::{
    BoxFuture, ChangelogMode, Domain, Error, ErrorCode, Field, LogicalType, OptionSpec, Options, Result, RowType,
    SqlType, Text, TimeAttribute,
};
use datafusion_expr::{Expr, LogicalPlan, LogicalPlanBuilder, col};
use std::sync::Arc;

/// A connector whose options say what it can do: `changelog` and `sink`.
#[derive(Debug)]
pub struct TestConnector;

impl ConnectorFactory for TestConnector {
    fn name(&self) -> &'static str {
        "test"
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    fn describe(&self, table: &TableDefinition, _context: &ConnectorContext) -> Result<TableDescription> {
        let changelog = match table.options.get("changelog") {
            Some("all") => ChangelogMode::ALL,
            Some("upsert") => ChangelogMode::UPSERT,
            _ => ChangelogMode::APPEND,
        };
        let input = match table.options.get("sink") {
            Some("append") => SinkInput::Append,
            Some("upsert") => SinkInput::Upsert,
            _ => SinkInput::Any,
        };
        let metadata =
            vec![MetadataColumn { key: "offset".into(), sql_type: LogicalType::BigInt.not_null(), writable: false }];
        Ok(TableDescription {
            source: Some(SourceDescription { changelog, bounded: true, replayable: true, metadata }),
            sink: Some(SinkDescription {
                input,
                guarantee: Guarantee::AtLeastOnce,
                guarantee_reason: "set 'sink.delivery-guarantee' to change it",
                parallelism_max: None,
            }),
            warnings: Vec::new(),
        })
    }

    fn source(
        &self,
        _table: &TableDefinition,
        _scan: &ScanSpec,
        _context: &ConnectorContext,
    ) -> Result<Arc<dyn SourceProvider>> {
        Ok(Arc::new(Nothing))
    }

    fn sink(
        &self,
        _table: &TableDefinition,
        _columns: &RowType,
        _context: &ConnectorContext,
    ) -> Result<Arc<dyn SinkProvider>> {
        Ok(Arc::new(Nothing))
    }
}

#[derive(Debug)]
struct Nothing;

impl SourceProvider for Nothing {
    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn reader(&self, _instance: Instance, _restored: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        Err(Error::unsupported("reading in tests"))
    }
}

impl SinkProvider for Nothing {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn writer(&self, _instance: Instance, _restored: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Err(Error::unsupported("writing in tests"))
    }
}

/// What [`Function`] raises.
pub const ZERO: ErrorCode = ErrorCode {
    code: "HW-T999",
    domain: Domain::Data,
    retry: false,
    en: Text { what: "a zero", why: "", fix: "" },
    zh: Text { what: "零", why: "", fix: "" },
};

/// `>`, `=` and `INVERSE` of INT columns; `INVERSE` fails for zero.
#[derive(Debug)]
pub struct Function(pub &'static str);

impl ScalarFunction for Function {
    fn name(&self) -> &str {
        self.0
    }

    fn return_type(&self, arguments: &[Argument]) -> Result<SqlType> {
        let nullable = arguments.iter().any(|argument| argument.sql_type.nullable);
        Ok(match self.0 {
            "INVERSE" => LogicalType::Int,
            _ => LogicalType::Boolean,
        }
        .nullable()
        .with_nullable(nullable))
    }

    fn evaluate(
        &self,
        arguments: &[ArrayRef],
        _types: &[SqlType],
        _result: &SqlType,
        rows: usize,
        _context: &FunctionContext,
    ) -> Result<ArrayRef> {
        let value = |array: &ArrayRef, row: usize| {
            let array = array.as_primitive::<Int32Type>();
            let row = if array.len() == 1 { 0 } else { row };
            array.is_valid(row).then(|| array.value(row))
        };
        let left = |row| value(&arguments[0], row);
        if self.0 == "INVERSE" {
            let values: Vec<Option<i32>> = (0..rows).map(left).collect();
            if values.contains(&Some(0)) {
                return Err(Error::new(&ZERO, &[]));
            }
            return Ok(Arc::new(values.into_iter().map(|v| v.map(|v| 100 / v)).collect::<Int32Array>()));
        }
        let right = |row| value(&arguments[1], row);
        let compare = |row| {
            let (left, right) = (left(row)?, right(row)?);
            Some(if self.0 == ">" { left > right } else { left == right })
        };
        Ok(Arc::new((0..rows).map(compare).collect::<BooleanArray>()))
    }
}

/// COUNT, SUM and MAX, as far as planning goes.
#[derive(Debug)]
struct TestAggregate(&'static str);

impl AggregateFunction for TestAggregate {
    fn name(&self) -> &str {
        self.0
    }

    fn return_type(&self, arguments: &[SqlType]) -> Result<SqlType> {
        Ok(match (self.0, arguments) {
            ("COUNT", _) => LogicalType::BigInt.not_null(),
            (_, [one, ..]) => one.with_nullable(true),
            (name, []) => return Err(Error::internal(format!("{name} of nothing"))),
        })
    }

    fn accumulator(&self, _arguments: &[SqlType], _options: &AggregateOptions) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(TestAccumulator))
    }
}

#[derive(Debug)]
struct TestAccumulator;

impl Accumulator for TestAccumulator {
    fn resize(&mut self, _slots: usize) {}
    fn update(
        &mut self,
        _slots: &[u32],
        _kinds: Option<&[RowKind]>,
        _arguments: &[ArrayRef],
        _selected: Option<&BooleanArray>,
    ) -> Result<()> {
        Ok(())
    }
    fn values(&self, _slots: &[u32]) -> Result<ArrayRef> {
        Err(Error::unsupported("values in tests"))
    }
    fn reset(&mut self, _slots: &[u32]) {}
    fn state_fields(&self) -> Vec<FieldRef> {
        Vec::new()
    }
    fn state(&self, _slots: &[u32]) -> Result<Vec<ArrayRef>> {
        Ok(Vec::new())
    }
    fn restore(&mut self, _slots: &[u32], _state: &[ArrayRef]) -> Result<()> {
        Ok(())
    }
    fn merge(&mut self, _slots: &[u32], _state: &[ArrayRef]) -> Result<()> {
        Ok(())
    }
    fn merging(&self) -> Merging {
        Merging::Exact
    }
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// UTC.
pub fn function_context() -> FunctionContext {
    FunctionContext { time_zone: chrono_tz::UTC, legacy_cast: false }
}

/// A call of a test function.
pub fn call(name: &'static str, arguments: Vec<Expr>) -> Expr {
    scalar_udf(Arc::new(Function(name)), &function_context()).call(arguments)
}

/// A call of a test aggregate.
pub fn agg(name: &'static str, arguments: Vec<Expr>) -> Expr {
    aggregate_udf(Arc::new(TestAggregate(name))).call(arguments)
}

/// COUNT(*) as DataFusion writes it.
pub fn count_star() -> Expr {
    agg("COUNT", vec![datafusion_expr::lit(1i64)])
}

/// A table of the test connector: `k STRING`, options `changelog=all`, key columns, rowtime column.
pub fn table(
    name: &str,
    columns: &[&str],
    key: &[&str],
    rowtime: Option<&str>,
    options: &[(&str, &str)],
) -> Arc<CatalogTable> {
    let mut definition_columns = Vec::new();
    let mut fields = Vec::new();
    for column in columns {
        let (column, sql_type) = column.split_once(' ').unwrap();
        let (sql_type, kind) = match sql_type.split_once(" METADATA ") {
            Some((sql_type, key)) => (sql_type, ColumnKind::Metadata { key: key.into(), is_virtual: true }),
            None => (sql_type, ColumnKind::Physical),
        };
        let mut sql_type: SqlType = sql_type.parse().unwrap();
        if key.contains(&column) {
            sql_type.nullable = false;
        }
        let time = (rowtime == Some(column)).then_some(TimeAttribute::Rowtime);
        definition_columns.push(Column { name: column.into(), sql_type: sql_type.clone(), kind, comment: None });
        fields.push(Field { time, ..Field::new(column, sql_type) });
    }
    let mut bag = Options::default();
    for (key, value) in options {
        bag.set(*key, *value);
    }
    let row = RowType::new(fields);
    let sql = |column: &str| format!("{column} - INTERVAL '5' SECOND");
    let definition = TableDefinition {
        path: ObjectPath { catalog: DEFAULT_CATALOG.into(), database: DEFAULT_DATABASE.into(), name: name.into() },
        columns: definition_columns,
        primary_key: key.iter().map(|key| key.to_string()).collect(),
        watermark: rowtime.map(|column| WatermarkDefinition { column: column.into(), sql: sql(column) }),
        partitioned_by: Vec::new(),
        options: bag,
        comment: None,
    };
    let factory: Arc<dyn ConnectorFactory> = Arc::new(TestConnector);
    let description = factory.describe(&definition, &connector_context()).unwrap();
    let watermark = rowtime.map(|column| BoundWatermark {
        column: row.index_of(column).unwrap(),
        expression: col(column),
        sql: sql(column),
    });
    let computed = vec![None; row.len()];
    Arc::new(CatalogTable {
        definition,
        declared: Arc::default(),
        factory,
        description,
        row,
        computed,
        watermark,
        incomplete: None,
        hinted: false,
        temporary: false,
    })
}

/// A scan of all columns.
pub fn scan(table: &Arc<CatalogTable>) -> LogicalPlanBuilder {
    scan_columns(table, None)
}

/// A scan of some columns.
pub fn scan_columns(table: &Arc<CatalogTable>, columns: Option<Vec<usize>>) -> LogicalPlanBuilder {
    let source = Arc::new(CatalogTableSource::new(table.clone()));
    LogicalPlanBuilder::scan(table.definition.path.name.as_str(), source, columns).unwrap()
}

fn connector_context() -> ConnectorContext {
    ConnectorContext {
        formats: Arc::default(),
        time_zone: chrono_tz::UTC,
        clock: Arc::new(ManualClock::default()),
        warnings: Default::default(),
    }
}

/// Lowers queries into tables, or to the terminal where there is none.
pub fn lower(queries: Vec<(LogicalPlan, Option<&Arc<CatalogTable>>)>) -> Result<(StreamPlan, Vec<Error>)> {
    let context = LowerContext {
        config: JobConfig::default(),
        connector: connector_context(),
        functions: function_context(),
        enforcer: NotNullEnforcer::Error,
        strict_updates: false,
        cdc_duplicates: false,
        upsert_materialize: crate::lower::UpsertMaterialization::Auto,
        phases: crate::lower::AggregatePhases::One,
        distinct_parts: None,
    };
    let result: ResultSink = Arc::new(|_, _| Arc::new(Nothing));
    let queries = queries
        .into_iter()
        .map(|(logical, table)| SinkQuery {
            logical,
            sink: table.map_or_else(|| SinkTarget::Result(result.clone()), |table| SinkTarget::Table(table.clone())),
        })
        .collect();
    plan(queries, &context)
}
